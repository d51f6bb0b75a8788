// An animal in colour, drawn by a decoder from the sixteen numbers of its capsule, and sliders that
// move these numbers. The capsules were computed beforehand; each move runs the decoder.
import { namedSlider } from "./shared/controls.js";
import { drawnBy, layer, lengthsOf, readSafetensors } from "./shared/core.js";
import { defineWidget } from "./shared/stage.js";
import { bytesOf, element, figure, format, memoized, pushButton, rowOf } from "./shared/ui.js";

const SIDE = 32;
const PIXELS = 3 * SIDE * SIDE; // red, green and blue
const REACH = 0.25; // as in PoseSliders
const ANIMALS = [
  "a bear",
  "a cat",
  "a cow",
  "a dog",
  "a frog",
  "a koala",
  "a monkey",
  "a mouse",
  "a panda",
  "a pig",
  "a rabbit",
  "a tiger",
];

/**
 * The decoder of a weights file: its layers, first to last.
 * @param {ArrayBuffer | ArrayBufferView} weights
 */
export function decoderOf(weights) {
  const { tensors } = readSafetensors(weights);
  const names = Object.keys(tensors).filter((name) => name.endsWith(".weight"));
  names.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
  return names.map((name) => layer(tensors, name.replace(".weight", "")));
}

/**
 * Draws from the capsule of class `j` alone, its numbers moved. -> colours [3 · side · side]
 * @param {any[]} decoder  of decoderOf @param {Float32Array} capsules  [J · D] @param {number} j
 * @param {number[]} offsets  [D]
 */
export function drawBent(decoder, capsules, j, offsets) {
  const D = offsets.length;
  const masked = new Float32Array(capsules.length);
  for (let d = 0; d < D; d++) masked[j * D + d] = capsules[j * D + d] + offsets[d];
  return drawnBy(decoder, masked);
}

/** The class with the longest capsule. @param {Float32Array} lengths */
const longestOf = (lengths) => lengths.indexOf(Math.max(...lengths));

/** How different two drawings are: the sum of all differences. */
const difference = (/** @type {Float32Array} */ p, /** @type {Float32Array} */ q) =>
  p.reduce((sum, colour, k) => sum + Math.abs(colour - q[k]), 0);

/**
 * Paints colours from 0 to 1, red, green and blue one after another.
 * @param {HTMLCanvasElement} canvas @param {Float32Array} colours  [3 · side · side]
 */
function paint(canvas, colours) {
  const { width, height } = canvas;
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const places = width * height;
  for (let place = 0; place < places; place++) {
    for (let channel = 0; channel < 3; channel++)
      image.data[4 * place + channel] = Math.round(255 * colours[channel * places + place]);
    image.data[4 * place + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}

/** A canvas with a caption. name(words) sets the caption, which is the canvas's label, too. */
function animalFigure(role, kind) {
  const about = { class: "wide", width: SIDE, height: SIDE, role: "img", "data-role": role };
  const canvas = element("canvas", about);
  const caption = element("figcaption");
  const name = (/** @type {string} */ words) => {
    caption.textContent = words;
    canvas.setAttribute("aria-label", words);
  };
  return { canvas, node: figure(kind, canvas, caption), name };
}

/** A row of buttons, an animal on each. show(index) marks the chosen one. */
function animalRow(labels, images, choose) {
  const buttons = images.map((image, n) => {
    const canvas = element("canvas", { width: SIDE, height: SIDE, "aria-hidden": "true" });
    paint(canvas, image);
    const label = `Bend this animal: ${ANIMALS[labels[n]]}`;
    const about = { type: "button", "aria-label": label, onclick: () => choose(n) };
    return element("button", about, canvas);
  });
  const about = { class: "samples", role: "group", "aria-label": "Animals to choose from" };
  const row = element("div", about, ...buttons);
  const show = (/** @type {number} */ index) =>
    buttons.forEach((button, n) => button.setAttribute("aria-pressed", String(n === index)));
  return { row, show };
}

/**
 * Says what the network reads, and what has been done to the animal.
 * @param {number} label @param {number} prediction @param {number} length  of its capsule
 * @param {number[]} offsets
 */
function inWords(label, prediction, length, offsets) {
  const moved = offsets.filter((offset) => offset !== 0).length;
  const reads = `It reads ${ANIMALS[prediction]}; that capsule is ${format(length)} long.`;
  if (prediction !== label) {
    const truth = `The artist drew ${ANIMALS[label]}.`;
    return `${reads} ${truth} The decoder draws what the network takes it for.`;
  }
  if (moved === 0) return `${reads} From its sixteen numbers the decoder draws it again.`;
  if (moved === 1) return `${reads} One number is moved, and the drawing follows.`;
  return `${reads} ${moved} numbers are moved, and the drawing follows.`;
}

const LABEL = "Bend an animal: sixteen sliders move the numbers of its capsule";

export default defineWidget("BendAnimal", LABEL, async (widget) => {
  const { root, get, set, layOut } = widget;
  const decoder = decoderOf(await widget.weights("network"));
  const labels = get("labels");
  const bytes = bytesOf(get("images"));
  const images = labels.map((_, n) =>
    Float32Array.from(bytes.subarray(n * PIXELS, (n + 1) * PIXELS), (colour) => colour / 255),
  );
  const numbers = new Float32Array(bytesOf(get("capsules")).slice().buffer); // [N · J · D]
  const D = get("offsets").length;
  const J = ANIMALS.length;
  const none = new Array(D).fill(0);
  const capsulesOf = (n) => numbers.subarray(n * J * D, (n + 1) * J * D);

  const original = animalFigure("original", "");
  const redrawn = animalFigure("redrawn", "result");
  const choose = (/** @type {number} */ index) => set({ index, offsets: none });
  const animals = animalRow(labels, images, choose);
  const sliders = none.map((_, d) => {
    const oninput = (event) => set({ offsets: get("offsets").with(d, event.target.valueAsNumber) });
    return namedSlider(`number ${d + 1}`, { min: -REACH, max: REACH, step: 0.01, oninput });
  });
  const large = element("div", { class: "large" });
  const others = element("div", { class: "sliders" });
  const reset = rowOf(pushButton("reset", "Reset", () => choose(get("index"))));
  const { say, rest } = layOut({
    stage: element("div", { class: "bent-animal" }, redrawn.node, original.node),
    hands: [large, animals.row, reset],
    more: [others],
    about: "Fifteen more",
    beside: true,
  });

  let prediction = 0;
  let length = 0;
  let primary = 0; // the number that changes the drawing most

  /** Chooses an animal: its sixteen numbers become the middle of the sliders. */
  const read = memoized((/** @type {number} */ index) => {
    const capsules = capsulesOf(index);
    const lengths = lengthsOf(capsules, J, D);
    prediction = longestOf(lengths);
    length = lengths[prediction];
    paint(original.canvas, images[index]);
    original.name(`${ANIMALS[labels[index]]}, as the artist drew it`);
    const changes = none.map((_, d) =>
      difference(
        drawBent(decoder, capsules, prediction, none.with(d, -REACH)),
        drawBent(decoder, capsules, prediction, none.with(d, REACH)),
      ),
    );
    primary = changes.indexOf(Math.max(...changes));
    Object.assign(root.dataset, { index, prediction, primary });
    large.replaceChildren(sliders[primary].node);
    others.replaceChildren(...sliders.filter((_, d) => d !== primary).map(({ node }) => node));
  });

  return () => {
    const index = get("index");
    const offsets = get("offsets");
    read([index], index);
    animals.show(index);
    if (offsets.some((offset, d) => offset && d !== primary)) rest.open = true;
    paint(redrawn.canvas, drawBent(decoder, capsulesOf(index), prediction, offsets));
    redrawn.name("drawn from 16 numbers");
    sliders.forEach(({ show }, d) => show(offsets[d], format(offsets[d], 2, true)));
    say(inWords(labels[index], prediction, length, offsets));
  };
});
