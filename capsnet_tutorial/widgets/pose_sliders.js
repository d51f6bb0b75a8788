// Sixteen sliders that bend a digit. The network reads the digit once; each move of a slider runs the decoder.
import { rangeInput } from "./shared/controls.js";
import { makeNetwork } from "./shared/core.js";
import { makeStepper } from "./shared/stepper.js";
import {
  digitAt,
  digitCanvas,
  element,
  format,
  greysOf,
  listen,
  makeAnnouncer,
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

/** Offsets with that of dimension `d` replaced. */
const replaced = (d, offset, /** @type {Float64Array} */ offsets) =>
  offsets.map((other, k) => (k === d ? offset : other));

/**
 * One dimension: what it draws at its low end, the slider, what it draws at its high end.
 * @param {number} d
 * @param {number[]} range  low and high
 * @param {{ move(offset: number): void, set(offset: number): void, done(): void }} _  move: while it is dragged
 */
function makeSlider(d, [low, high], { move, set, done }) {
  const oninput = () => move(input.valueAsNumber);
  const { input, show: showInput } = rangeInput({
    min: low,
    max: high,
    step: 0.01,
    zero: 0,
    reset: () => set(0),
    "data-dimension": d,
    oninput,
    onchange: done,
  });
  const end = (side, offset) => thumbnail({ class: `end ${side}`, onclick: () => set(offset) });
  const ends = [end("low", low), end("high", high)];
  const name = element("span", { class: "name" });
  const value = element("output", { "aria-hidden": "true" });
  const row = element(
    "div",
    { class: "slider" },
    element("div", { class: "caption" }, element("span", { class: "number" }, String(d + 1)), name, value),
    element("div", { class: "track" }, ends[0], input, ends[1]),
  );

  function show(offset) {
    const text = format(offset, 2, true);
    showInput(offset, text);
    value.textContent = text;
    value.classList.toggle("moved", offset !== 0);
  }

  /** `draw(canvas, offset)` paints what an end draws. */
  function showEnds(text, draw) {
    name.textContent = name.title = text;
    input.setAttribute("aria-label", text ? `Dimension ${d + 1}, ${text}` : `Dimension ${d + 1}`);
    draw(ends[0], low);
    draw(ends[1], high);
  }

  return { row, show, showEnds };
}

/** The digit as written, and as it is drawn. */
function makePair() {
  const original = digitCanvas("original", "");
  const redrawn = digitCanvas("redrawn", "The digit redrawn from the 16 numbers");
  const caption = element("figcaption");
  const pair = element(
    "div",
    { class: "pair" },
    element("figure", {}, original, caption),
    element("figure", { class: "result" }, redrawn, element("figcaption", {}, "drawn from 16 numbers")),
  );
  const name = (label) => {
    caption.textContent = `${withArticle(label)}, as written`;
    setAttributes(original, { "aria-label": `The digit as it was written: ${label}` });
  };
  return { pair, original, redrawn, name };
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

  const { pair, original, redrawn, name } = makePair();
  const { stepper, show: showCounter } = makeStepper((by) => choose(index + by));
  const reset = pushButton("reset", "Reset", () => setOffsets(new Float64Array(D)));
  const sliders = model.get("ranges").map((range, d) =>
    makeSlider(d, range, {
      move: (offset) => {
        offsets[d] = offset;
        model.set("offsets", Array.from(offsets));
        schedule();
      },
      set: (offset) => setOffsets(replaced(d, offset, offsets)),
      done: () => model.save_changes(),
    }),
  );
  root.append(
    element(
      "div",
      { class: "poses" },
      element("div", { class: "stage" }, pair, element("div", { class: "bar" }, stepper, reset)),
      element("div", { class: "sliders" }, ...sliders.map(({ row }) => row)),
    ),
  );
  const announce = makeAnnouncer(root);
  const { paint, refresh } = makePainter(root);

  function choose(to) {
    index = (to + labels.length) % labels.length;
    offsets = new Float64Array(D);
    save(model, { index, offsets: Array.from(offsets) });
    showDigit();
  }

  function setOffsets(values) {
    offsets = values;
    save(model, { offsets: Array.from(offsets) });
    schedule();
  }

  function draw() {
    paint(redrawn, network.decode(withOffsets(capsules, labels[index], offsets)));
    sliders.forEach(({ show }, d) => show(offsets[d]));
  }
  const schedule = oncePerFrame(draw);

  /** A new digit: the network reads it, and its 16 numbers become the middle of the sliders. */
  function showDigit() {
    const image = digitAt(images, index);
    const label = labels[index];
    capsules = network.mask(network.forward(image).capsules, label);
    paint(original, image);
    name(label);
    showCounter(index, labels.length);
    Object.assign(root.dataset, { index, label });
    const straight = new Float64Array(D);
    const names = model.get("names")[label];
    sliders.forEach(({ showEnds }, d) => {
      const drawEnd = (canvas, offset) =>
        paint(canvas, network.decode(withOffsets(capsules, label, replaced(d, offset, straight))));
      showEnds(names ? names[d] : "", drawEnd);
    });
    draw();
    announce(`Digit ${index + 1} of ${labels.length}: ${label}`);
  }

  const stopListening = listen(model, {
    index: () => {
      if (model.get("index") === index) return;
      index = model.get("index");
      showDigit();
    },
    offsets: () => {
      offsets = Float64Array.from(model.get("offsets"));
      schedule();
    },
  });
  const stopWatching = whenThemeChanges(() => {
    refresh();
    showDigit();
  });
  showDigit();
  return [stopListening, stopWatching, schedule.cancel, announce.cancel];
}

function render({ model, el, host }) {
  const root = makeRoot("PoseSliders", "Bend a digit: sixteen sliders move the numbers of its capsule");
  return mount(el, root, () => build(root, model, host));
}

export default { render };
