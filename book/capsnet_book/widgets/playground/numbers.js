// The sixteen numbers of the longest capsule, a slider each: its value, and what its two ends draw.
import { drawnBy } from "../shared/core.js";
import { PIXELS, SIDE } from "../shared/digits.js";
import { effectOf } from "../shared/effects.js";
import { makeNumber, REACH } from "../shared/numbers.js";
import { element, memoized, setAttributes } from "../shared/ui.js";
import { D } from "./sizes.js";

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

/**
 * Make the sliders, and paint what they draw onto `canvas`.
 * @param {any} widget
 * @param {HTMLCanvasElement} canvas
 */
export function makeNumbers(widget, canvas) {
  let offsets = NONE;
  /** @type {Reading | undefined} */
  let reading;
  const sliders = NONE.map((_, d) => makeNumber(d, (offset) => slide(offsets.with(d, offset))));
  const node = element("div", { class: "sixteen" }, ...sliders.map((slider) => slider.node));

  function paint(target, to) {
    const picture = reading ? drawingOf(reading, to) : new Float32Array(PIXELS);
    widget.painter.paint(target, picture);
  }

  const paintEnds = memoized(() => {
    sliders.forEach(({ low, high, rename }, d) => {
      paint(low, NONE.with(d, -REACH));
      paint(high, NONE.with(d, REACH));
      if (!reading) return rename("");
      const first = drawingOf(reading, NONE.with(d, -REACH));
      const last = drawingOf(reading, NONE.with(d, REACH));
      rename(effectOf(first, last, SIDE).names.join(", "));
    });
  });

  function slide(/** @type {number[]} */ to) {
    if (!reading) return; // nothing was read: there is nothing to slide
    offsets = to;
    refresh();
  }

  function showSliders() {
    sliders.forEach(({ show, input }, d) => {
      const number = reading?.capsules[reading.answers[0] * D + d] ?? 0;
      show(offsets[d], number + offsets[d]);
      input.disabled = !reading;
    });
    paintEnds([reading, widget.colours]);
  }

  function refresh() {
    paint(canvas, offsets);
    // Thirty-two drawings are made only for one who looks. (checkVisibility() would force a layout
    // at each stroke.)
    const open = node.closest("details").open;
    if (open) showSliders();
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
