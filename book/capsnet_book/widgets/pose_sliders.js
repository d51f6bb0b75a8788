// Sixteen sliders that bend a digit: a large one for the number that changes the drawing most, and
// fifteen more. The network reads the digit once; each move of a slider runs the decoder.
import { rangeInput } from "./shared/controls.js";
import { asWritten, digitAt, digitFigure, digitRow, greysOf, thumbnail } from "./shared/digits.js";
import { defineWidget } from "./shared/stage.js";
import { element, format, memoized, pushButton, rowOf } from "./shared/ui.js";

const REACH = 0.25; // the paper moves each number this far, either way

/**
 * Adds offsets [D] to the capsule of class `j`. -> capsules [J, D]
 * @param {Float32Array} capsules @param {number} j @param {number[]} offsets
 */
export function withOffsets(capsules, j, offsets) {
  const moved = capsules.slice();
  for (let d = 0; d < offsets.length; d++) moved[j * offsets.length + d] += offsets[d];
  return moved;
}

/** Counts the pixels that differ by more than a tenth of full ink. */
const pixelsChanged = (/** @type {Float32Array} */ p, /** @type {Float32Array} */ q) =>
  p.reduce((count, grey, k) => count + Number(Math.abs(grey - q[k]) > 0.1), 0);

/**
 * One of the numbers: the drawing at its low end, the slider, the drawing at its high end.
 * @param {number} d  which number @param {(offset: number) => void} set
 */
function makeSlider(d, set) {
  const oninput = () => set(input.valueAsNumber);
  const limits = { min: -REACH, max: REACH, step: 0.01 };
  const { input, show: showInput } = rangeInput({ ...limits, "data-dimension": d, oninput });
  const low = thumbnail({ class: "end", onclick: () => set(-REACH) });
  const high = thumbnail({ class: "end", onclick: () => set(REACH) });
  const number = element("b", {}, `number ${d + 1}`);
  const name = element("span", { class: "name" });
  const value = element("output", { "aria-hidden": "true" });
  const caption = element("div", { class: "caption" }, number, name, value);
  const track = element("div", { class: "track" }, low, input, high);

  function show(/** @type {number} */ offset) {
    const text = format(offset, 2, true);
    value.textContent = text;
    value.classList.toggle("moved", offset !== 0);
    showInput(offset, text);
  }

  function rename(/** @type {string} */ text) {
    name.textContent = text;
    name.title = text;
    input.setAttribute("aria-label", text ? `Dimension ${d + 1}, ${text}` : `Dimension ${d + 1}`);
  }

  /**
   * Paints both ends: draw(offset) -> the drawing there. Returns the number of pixels that change
   * between them.
   */
  function showEnds(/** @type {(offset: number) => Float32Array} */ draw, painter) {
    const first = draw(-REACH);
    const last = draw(REACH);
    painter.paint(low, first);
    painter.paint(high, last);
    return pixelsChanged(first, last);
  }

  return { row: element("div", { class: "slider" }, caption, track), show, rename, showEnds };
}

/**
 * Says what has been done to the digit.
 * @param {number} label @param {number[]} offsets @param {Record<number, string> | undefined} names
 * @param {number} changed  pixels
 */
function inWords(label, offsets, names, changed) {
  const moved = [...offsets.keys()].filter((d) => offsets[d]);
  if (moved.length === 0) {
    const sixteen = `Sixteen numbers, read from the ${label}`;
    return `${sixteen}, and the ${label} drawn from them again. Move one.`;
  }
  const pixels = `${changed} pixel${changed === 1 ? "" : "s"} of the ${label} changed.`;
  if (moved.length > 1) return `${moved.length} numbers moved: ${pixels}`;
  const [d] = moved;
  const name = names?.[d] ? ` (${names[d]})` : "";
  return `Number ${d + 1}${name} moved by ${format(offsets[d], 2, true)}: ${pixels}`;
}

const LABEL = "Bend a digit: sixteen sliders move the numbers of its capsule";

export default defineWidget("PoseSliders", LABEL, async (widget) => {
  const { root, get, set, layOut, painter, host } = widget;
  const network = await widget.network();
  const isReadersOwn = (await host.getModel(get("network"))).get("own");
  const names = () => (isReadersOwn ? {} : get("names")); // names belong to the book's network
  const images = greysOf(get("images")); // [N, 784]
  const labels = get("labels");
  const none = new Array(network.D_out).fill(0);

  const original = digitFigure("original");
  const redrawn = digitFigure("redrawn", "result");
  redrawn.name("drawn from 16 numbers", "The digit redrawn from the 16 numbers");
  const choose = (/** @type {number} */ index) => set({ index, offsets: none });
  const digits = digitRow(labels, images, (label) => `Bend the handwritten ${label}`, choose);
  const sliders = none.map((_, d) =>
    makeSlider(d, (offset) => set({ offsets: get("offsets").with(d, offset) })),
  );
  const large = element("div", { class: "large" });
  const others = element("div", { class: "sliders" });
  const reset = rowOf(pushButton("reset", "Reset", () => choose(get("index"))));
  const { say, rest } = layOut({
    stage: element("div", { class: "bent-digit" }, redrawn.node, original.node),
    hands: [large, digits.row, reset],
    more: [others],
    about: "Fifteen more",
    beside: true,
  });
  root.dataset.sticks = "";
  rest.open = Object.keys(names()).length > 0; // whoever names numbers wants to see them

  let capsules; // [J, D], zero but for the label's capsule
  let straight; // the drawing with no offset
  let primary = 0; // the number that changes the drawing most

  /** Reads a new digit: its sixteen numbers become the middle of the sliders. */
  const read = memoized((/** @type {number} */ index) => {
    const image = digitAt(images, index);
    const label = labels[index];
    capsules = network.mask(network.forward(image).capsules, label);
    straight = network.decode(capsules);
    painter.paint(original.canvas, image);
    original.name(...asWritten(label));
    const changes = sliders.map((slider, d) => {
      const draw = (offset) => network.decode(withOffsets(capsules, label, none.with(d, offset)));
      slider.rename(names()[label]?.[d] ?? "");
      return slider.showEnds(draw, painter);
    });
    primary = changes.indexOf(Math.max(...changes));
    Object.assign(root.dataset, { index, label, primary });
    large.replaceChildren(sliders[primary].row);
    others.replaceChildren(...sliders.filter((_, d) => d !== primary).map(({ row }) => row));
  });

  return () => {
    const index = get("index");
    const offsets = get("offsets");
    const label = labels[index];
    read([index, painter.shades()], index);
    digits.show(index, painter);
    if (offsets.some((offset, d) => offset && d !== primary)) rest.open = true;
    const bent = network.decode(withOffsets(capsules, label, offsets));
    painter.paint(redrawn.canvas, bent);
    sliders.forEach((slider, d) => slider.show(offsets[d]));
    say(inWords(label, offsets, names()[label], pixelsChanged(bent, straight)));
  };
});
