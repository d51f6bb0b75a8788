// Sixteen sliders that bend a digit: one large, the one that changes the drawing most, and fifteen more. The network
// reads the digit once; each move of a slider runs the decoder.
import { rangeInput, wantsCalm } from "./shared/controls.js";
import { makeNetwork } from "./shared/core.js";
import { withPrompts } from "./shared/prompts.js";
import { layOut } from "./shared/stage.js";
import {
  digitAt,
  digitCanvas,
  digitRow,
  element,
  format,
  greysOf,
  listen,
  makePainter,
  makeRoot,
  mount,
  oncePerFrame,
  pushButton,
  save,
  setAttributes,
  sharedWeights,
  thumbnail,
  whenThemeChanges,
  withArticle,
} from "./shared/ui.js";

const REACH = 0.25; // so far the paper moves each number

/**
 * Capsules with numbers added to that of one class, [J, D].
 * @param {Float32Array} capsules  [J, D]
 * @param {number} j
 * @param {ArrayLike<number>} offsets  [D]
 */
export function withOffsets(capsules, j, offsets) {
  const moved = capsules.slice();
  for (let d = 0; d < offsets.length; d++) moved[j * offsets.length + d] += offsets[d];
  return moved;
}

/** The angle between two vectors, in degrees. @param {ArrayLike<number>} p @param {ArrayLike<number>} q */
export function angleBetween(p, q) {
  let [dot, pp, qq] = [0, 0, 0];
  for (let d = 0; d < p.length; d++) {
    dot += p[d] * q[d];
    pp += p[d] * p[d];
    qq += q[d] * q[d];
  }
  const cosine = dot / Math.sqrt(pp * qq || 1);
  return (Math.acos(Math.min(1, Math.max(-1, cosine))) * 180) / Math.PI;
}

/** How many pixels differ by more than a tenth of full ink. */
export const pixelsChanged = (/** @type {Float32Array} */ p, /** @type {Float32Array} */ q) =>
  p.reduce((count, grey, k) => count + Number(Math.abs(grey - q[k]) > 0.1), 0);

/** Offsets with that of dimension `d` replaced. */
const replaced = (d, offset, /** @type {Float64Array} */ offsets) =>
  offsets.map((other, k) => (k === d ? offset : other));

/**
 * One dimension: what it draws at its low end, the slider, what it draws at its high end.
 * @param {number} d
 * @param {{ move(d: number, offset: number): void, set(d: number, offset: number): void, done(): void }} _
 *   move: while it is dragged
 */
function makeSlider(d, { move, set, done }) {
  const oninput = () => move(d, input.valueAsNumber);
  const { input, show: showInput } = rangeInput({
    min: -REACH,
    max: REACH,
    step: 0.01,
    zero: 0,
    reset: () => set(d, 0),
    "data-dimension": d,
    oninput,
    onchange: done,
  });
  const end = (side, offset) => thumbnail({ class: `end ${side}`, onclick: () => set(d, offset) });
  const ends = [end("low", -REACH), end("high", REACH)];
  const name = element("span", { class: "name" });
  const value = element("output", { "aria-hidden": "true" });
  const row = element(
    "div",
    { class: "slider" },
    element("div", { class: "caption" }, element("span", { class: "number" }, `number ${d + 1}`), name, value),
    element("div", { class: "track" }, ends[0], input, ends[1]),
  );

  function show(offset) {
    const text = format(offset, 2, true);
    showInput(offset, text);
    value.textContent = text;
    value.classList.toggle("moved", offset !== 0);
  }

  /** `draw(canvas, offset)` paints what an end draws, and returns it. -> how many pixels change between the ends */
  function showEnds(text, draw) {
    name.textContent = name.title = text;
    input.setAttribute("aria-label", text ? `Dimension ${d + 1}, ${text}` : `Dimension ${d + 1}`);
    return pixelsChanged(draw(ends[0], -REACH), draw(ends[1], REACH));
  }

  return { row, show, showEnds };
}

/** The digit as it is drawn, and as it was written. */
function makePicture() {
  const original = digitCanvas("original", "");
  const redrawn = digitCanvas("redrawn", "The digit redrawn from the 16 numbers");
  const caption = element("figcaption");
  const picture = element(
    "div",
    { class: "bent-digit" },
    element("figure", { class: "result" }, redrawn, element("figcaption", {}, "drawn from 16 numbers")),
    element("figure", {}, original, caption),
  );
  const name = (label) => {
    caption.textContent = `${withArticle(label)}, as written`;
    setAttributes(original, { "aria-label": `The digit as it was written: ${label}` });
  };
  return { picture, original, redrawn, name };
}

/**
 * A button that lets a slider sway between its ends, in the page's time, until anyone takes hold of the widget.
 * @param {{ root: HTMLElement, sway(share: number): void, settled(): void }} _  share: from -1 to 1
 */
function makeSway({ root, sway, settled }) {
  const PERIOD = 5000; // milliseconds to and fro
  let frame = 0;
  let began;
  let seen = true; // out of the window nothing moves
  const watcher = new IntersectionObserver(([{ isIntersecting }]) => (seen = isIntersecting));
  watcher.observe(root);
  const button = pushButton("play", "", () => (frame ? stop() : start()), { class: "play" });

  function step(now) {
    frame = requestAnimationFrame(step);
    began ??= now;
    if (seen) sway(Math.sin((2 * Math.PI * (now - began)) / PERIOD));
  }
  function show() {
    button.textContent = frame ? "❚❚" : "▶";
    button.setAttribute("aria-label", frame ? "Pause" : "Play: the slider moves by itself");
    root.dataset.playing = String(frame !== 0);
  }
  function start() {
    began = undefined;
    frame = requestAnimationFrame(step);
    show();
  }
  function stop() {
    if (!frame) return;
    cancelAnimationFrame(frame);
    frame = 0;
    settled();
    show();
  }
  const takeHold = ({ target }) => !button.contains(target) && stop();
  for (const hand of ["pointerdown", "keydown"]) root.addEventListener(hand, takeHold, { capture: true });
  show();
  const remove = () => {
    stop();
    watcher.disconnect();
  };
  return { button, start, stop, remove };
}

/**
 * What the hand has done to the digit.
 * @param {{ label: number, offsets: Float64Array, last: number | null, name: string | undefined, changed: number,
 *   degrees: number }} _  last: the dimension that moved last, and its name; changed: so many pixels
 */
function inWords({ label, offsets, last, name, changed, degrees }) {
  const count = offsets.reduce((sum, offset) => sum + Number(offset !== 0), 0);
  if (count === 0) return `Sixteen numbers, read from the ${label}, and the ${label} drawn from them again. Move one.`;
  const alone = count === 1 && last !== null && offsets[last] !== 0;
  const called = name ? ` (${name})` : "";
  const who = alone
    ? `Number ${last + 1}${called} moved by ${format(offsets[last], 2, true)}`
    : `${count} number${count === 1 ? "" : "s"} moved`;
  const pixels = `${changed} pixel${changed === 1 ? "" : "s"} of the ${label} changed`;
  return `${who}: the capsule turned ${format(degrees, 0)}°, and ${pixels}.`;
}

async function build(root, model, host) {
  const network = makeNetwork(await sharedWeights(model, host));
  const images = greysOf(model.get("images")); // [N, 784]
  const labels = model.get("labels");
  const D = network.D_out;

  // What is shown: a digit, its capsule as the network saw it, and what the sliders add to that.
  let index = model.get("index");
  let offsets = Float64Array.from(model.get("offsets"));
  let capsules; // [J, D], zero but for the label's capsule
  let straight; // what it draws when nothing is added
  let primary = 0; // the dimension that changes the drawing most
  let last = null; // the dimension that moved last

  const { picture, original, redrawn, name } = makePicture();
  const digits = digitRow(labels, "Handwritten digits", (label) => `Bend the handwritten ${label}`, choose);
  const reset = pushButton("reset", "Reset", () => setOffsets(new Float64Array(D), null));
  const setOne = (d, offset) => setOffsets(replaced(d, offset, offsets), d);
  const hand = { move, set: setOne, done: () => model.save_changes() };
  const sliders = Array.from({ length: D }, (_, d) => makeSlider(d, hand));
  const sway = makeSway({
    root,
    sway: (share) => bend(primary, share * REACH),
    settled: () => save(model, { offsets: Array.from(offsets) }),
  });
  const large = element("div", { class: "large" });
  const others = element("div", { class: "sliders" });
  const {
    say,
    rest,
    stop: stopSaying,
  } = layOut(root, {
    stage: picture,
    hands: [element("div", { class: "sway" }, sway.button, large), digits.row, element("div", { class: "bar" }, reset)],
    more: [others],
    about: "Fifteen more",
    beside: true,
  });
  root.dataset.sticks = "";
  const painter = makePainter(root);

  function choose(to) {
    index = to;
    offsets = new Float64Array(D);
    save(model, { index, offsets: Array.from(offsets) });
    showDigit();
  }

  /** Draws without telling the model: prompts in the text add to what a reader did, not to a demonstration. */
  function bend(d, offset) {
    last = d;
    offsets[d] = offset;
    schedule();
  }

  function move(d, offset) {
    bend(d, offset);
    model.set("offsets", Array.from(offsets));
  }

  function setOffsets(values, moved) {
    last = moved;
    offsets = values;
    save(model, { offsets: Array.from(offsets) });
    schedule();
  }

  const ofLabel = (all) => all.subarray(labels[index] * D, (labels[index] + 1) * D);

  function draw() {
    const moved = withOffsets(capsules, labels[index], offsets);
    const drawn = network.decode(moved);
    painter.paint(redrawn, drawn);
    sliders.forEach(({ show }, d) => show(offsets[d]));
    const degrees = angleBetween(ofLabel(capsules), ofLabel(moved));
    const name = model.get("names")[labels[index]]?.[last];
    say(inWords({ label: labels[index], offsets, last, name, changed: pixelsChanged(drawn, straight), degrees }));
  }
  const schedule = oncePerFrame(draw);

  /** A new digit: the network reads it, and its 16 numbers become the middle of the sliders. */
  function showDigit() {
    const image = digitAt(images, index);
    const label = labels[index];
    capsules = network.mask(network.forward(image).capsules, label);
    straight = network.decode(capsules).slice();
    painter.paint(original, image);
    name(label);
    digits.show(index);
    Object.assign(root.dataset, { index, label });
    const none = new Float64Array(D);
    const names = model.get("names")[label];
    const effects = sliders.map(({ showEnds }, d) =>
      showEnds(names ? names[d] : "", (canvas, offset) => {
        const drawn = network.decode(withOffsets(capsules, label, replaced(d, offset, none))).slice();
        painter.paint(canvas, drawn);
        return drawn;
      }),
    );
    last = null;
    primary = effects.indexOf(Math.max(...effects));
    root.dataset.primary = String(primary);
    large.replaceChildren(sliders[primary].row);
    others.replaceChildren(...sliders.filter((_, d) => d !== primary).map(({ row }) => row));
    draw();
  }

  const stopListening = listen(model, {
    index: () => {
      if (model.get("index") === index) return;
      index = model.get("index");
      showDigit();
    },
    offsets: () => {
      const came = Float64Array.from(model.get("offsets"));
      const changed = came.findIndex((offset, d) => offset !== offsets[d]);
      if (changed < 0) return; // our own
      offsets = came;
      last = changed;
      sway.stop();
      if (offsets.some((offset, d) => offset !== 0 && d !== primary)) rest.open = true;
      schedule();
    },
  });
  const refresh = () => {
    painter.refresh();
    digits.paint(painter, images);
    showDigit();
  };
  const stopWatching = whenThemeChanges(refresh);
  refresh();
  rest.open = Object.keys(model.get("names")).length > 0; // who names them wants all in view
  if (model.get("sways") && !wantsCalm()) sway.start();
  return [stopListening, stopWatching, sway.remove, schedule.cancel, stopSaying];
}

function render({ model, el, host }) {
  const root = makeRoot("PoseSliders", "Bend a digit: sixteen sliders move the numbers of its capsule");
  return mount(el, root, () => build(root, model, host));
}

export default { render: withPrompts(render) };
