// A pad to draw on. With every step of the pen the network reads the drawing anew: ten lengths, and what it would draw.
import { LONG, makeBars } from "./shared/bars.js";
import { measure } from "./shared/controls.js";
import { makeNetwork } from "./shared/core.js";
import { makePad, tiePad } from "./shared/pad.js";
import { layOut } from "./shared/stage.js";
import {
  bytesOf,
  digitAt,
  digitCanvas,
  digitRow,
  element,
  format,
  listen,
  makePainter,
  makeRoot,
  mount,
  oncePerFrame,
  setAttributes,
  sharedWeights,
  themeColours,
  whenThemeChanges,
  withArticle,
} from "./shared/ui.js";

/** The digits whose capsules are long, the longest first. @param {ArrayLike<number>} lengths */
export const longDigits = (lengths) =>
  Array.from(lengths, (_, j) => j)
    .filter((j) => lengths[j] >= LONG)
    .sort((p, q) => lengths[q] - lengths[p]);

/** What the lengths say, honestly: nothing, one digit, or several. */
function inWords(lengths, empty) {
  const long = longDigits(lengths);
  const [best, next] = Array.from(lengths.keys()).sort((p, q) => lengths[q] - lengths[p]);
  const length = (j) => format(lengths[j]);
  if (empty) return `Nothing drawn yet. Of the empty page it thinks: ${withArticle(best)}, ${length(best)} long.`;
  if (long.length === 0) return `I see no digit: the longest capsule, ${best}, is only ${length(best)} long.`;
  if (long.length === 1)
    return `I see ${withArticle(best)}: its capsule is ${length(best)} long, the next, ${next}, ${length(next)}.`;
  if (long.length === 2) return `Two? I see ${withArticle(long[0])} and ${withArticle(long[1])}.`;
  return `Several? ${long.length} capsules are long.`;
}

/** What the network sees, and what it draws of it. */
function makePair() {
  const seen = digitCanvas("seen", "The 28 by 28 pixels that the network sees");
  const reconstruction = digitCanvas("reconstruction", "");
  const caption = element("figcaption");
  const pair = element(
    "div",
    { class: "pair" },
    element("figure", {}, seen, element("figcaption", {}, "the network sees")),
    element("figure", { class: "result" }, reconstruction, caption),
  );

  function show(image, { prediction, lengths, reconstruction: drawn }, painter) {
    painter.paint(seen, image);
    painter.paint(reconstruction, drawn);
    reconstruction.classList.toggle("faint", lengths[prediction] < LONG);
    caption.textContent = `capsule ${prediction} draws`;
    setAttributes(reconstruction, { "aria-label": `What the longest capsule, ${prediction}, draws` });
  }

  return { pair, show };
}

async function build(root, model, host) {
  const network = makeNetwork(await sharedWeights(model, host));
  const samples = bytesOf(model.get("samples"));
  let colours;

  const pad = makePad({
    drawn: () => schedule(),
    settled: () => tie.share(),
    loaded: () => showLoaded(),
    say: (words) => say(words),
  });
  const digits = digitRow(
    Array.from({ length: network.J }, (_, digit) => digit),
    "Handwritten digits to load",
    (digit) => `Load a handwritten ${digit}`,
    (digit) => showPixels(digitAt(samples, digit)),
  );
  const bars = makeBars("Lengths of the ten digit capsules");
  const { pair, show: showPair } = makePair();
  const { say, stop: stopSaying } = layOut(root, {
    stage: element(
      "div",
      { class: "drawing" },
      element("div", { class: "left" }, pad.frame, pad.buttons),
      bars.list,
      pair,
    ),
    hands: [digits.row],
  });
  const painter = makePainter(root);

  /** Exactly these pixels, as they are. */
  function showPixels(bytes) {
    pad.show(bytes);
    showLoaded();
  }

  function showLoaded() {
    tie.share();
    update();
  }

  function update() {
    const answer = network.forward(pad.image());
    const { lengths, prediction } = answer;
    root.dataset.prediction = prediction;
    root.dataset.lengths = Array.from(lengths, (length) => length.toFixed(6)).join(",");
    pad.paint(painter, colours);
    bars.show(lengths, prediction, (length) => length >= LONG);
    showPair(pad.image(), answer, painter);
    say(inWords(lengths, pad.empty()));
  }
  const schedule = oncePerFrame(update);

  root.addEventListener("capsnet:image", ({ detail }) => showPixels(detail));
  const tie = tiePad(pad, model, showPixels);
  const stopListening = listen(model, { digit: () => showPixels(digitAt(samples, model.get("digit"))) });
  const refresh = () => {
    painter.refresh();
    colours = themeColours(root);
    digits.paint(painter, samples, 255);
    update();
  };
  const stopWatching = whenThemeChanges(refresh);
  const size = measure(root, schedule);
  pad.show(bytesOf(model.get("image")));
  refresh();
  return [tie.stop, stopListening, stopWatching, size.stop, schedule.cancel, stopSaying];
}

function render({ model, el, host }) {
  const root = makeRoot("DrawDigit", "Draw a digit and watch a capsule network read it");
  return mount(el, root, () => build(root, model, host));
}

export default { render };
