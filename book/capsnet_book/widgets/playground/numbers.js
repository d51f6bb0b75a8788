// The sixteen numbers of the longest capsule, a slider each: its value, and what its two ends draw.
import { rangeInput } from "../shared/controls.js";
import { drawnBy } from "../shared/core.js";
import { PIXELS, thumbnail } from "../shared/digits.js";
import { element, format, memoized, setAttributes } from "../shared/ui.js";
import { D } from "./sizes.js";

const REACH = 0.25; // how far the paper moves each number
const NONE = new Array(D).fill(0);

/**
 * @typedef {object} Reading  what a network made of one image
 * @property {Float32Array} capsules  [J · D]
 * @property {Float32Array} lengths  [J]
 * @property {Uint8Array} answers  [1]
 * @property {any} decoder  its layers (shared/core.js), or false where it learns no drawing
 */

/**
 * Return what the longest capsule stands for with `offsets` added to its sixteen numbers.
 * @param {Reading} reading
 * @param {number[]} offsets  [D]
 * @returns {Float32Array} [784]
 */
function drawingOf({ capsules, answers, decoder }, offsets) {
  if (!decoder) return new Float32Array(PIXELS);
  const isLongest = (k) => Math.floor(k / D) === answers[0];
  const masked = capsules.map((x, k) => (isLongest(k) ? x + offsets[k % D] : 0));
  return drawnBy(decoder, masked);
}

/** Make the slider of the d-th number. @param {(offset: number) => void} set */
function makeSlider(d, set) {
  const name = `number ${d + 1}`;
  const { input, show } = rangeInput({
    min: -REACH,
    max: REACH,
    step: 0.01,
    "aria-label": `Number ${d + 1} of its capsule`,
    oninput: () => set(input.valueAsNumber),
  });
  const low = thumbnail({ class: "end", onclick: () => set(-REACH) });
  const high = thumbnail({ class: "end", onclick: () => set(REACH) });
  const value = element("output", { "aria-hidden": "true" });
  const caption = element("div", { class: "caption" }, element("span", {}, name), value);
  const track = element("div", { class: "track" }, low, input, high);
  return {
    node: element("div", { class: "slider" }, caption, track),
    input,
    low,
    high,
    show(/** @type {number} */ offset) {
      const text = format(offset, 2, true);
      value.textContent = text;
      value.classList.toggle("moved", offset !== 0);
      show(offset, text);
    },
  };
}

/**
 * Make the sliders, and paint what they draw onto `canvas`.
 * @param {any} widget
 * @param {HTMLCanvasElement} canvas
 */
export function makeNumbers(widget, canvas) {
  let offsets = NONE;
  /** @type {Reading | undefined} */
  let reading;
  const sliders = NONE.map((_, d) => makeSlider(d, (offset) => slide(offsets.with(d, offset))));
  const node = element("div", { class: "sixteen" }, ...sliders.map((slider) => slider.node));

  function paint(target, to) {
    const picture = reading ? drawingOf(reading, to) : new Float32Array(PIXELS);
    widget.painter.paint(target, picture);
  }

  const paintEnds = memoized(() => {
    sliders.forEach(({ low, high }, d) => {
      paint(low, NONE.with(d, -REACH));
      paint(high, NONE.with(d, REACH));
    });
  });

  function slide(/** @type {number[]} */ to) {
    if (!reading) return; // nothing was read: there is nothing to slide
    offsets = to;
    refresh();
  }

  function refresh() {
    sliders.forEach(({ show, input }, d) => {
      show(offsets[d]);
      input.disabled = !reading;
    });
    paint(canvas, offsets);
    const open = node.checkVisibility(); // thirty-two drawings are made only for one who looks
    if (open) paintEnds([reading, widget.colours]);
    setAttributes(node, { "data-drawn": open && reading !== undefined });
  }

  return {
    node,
    refresh,
    /** Take another reading; of another image, the sliders begin in their middle. */
    take(/** @type {Reading | undefined} */ newReading, /** @type {boolean} */ isSameImage) {
      reading = newReading;
      if (!isSameImage) offsets = NONE;
      refresh();
    },
  };
}
