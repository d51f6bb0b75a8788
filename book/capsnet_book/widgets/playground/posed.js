// Drawings turned, enlarged and moved: of a few, many pictures.
import { PIXELS, SIDE } from "./sizes.js";

const FINE = 2; // points along a side of a pixel, whose mean it is: no jagged edges
const MIDDLE = SIDE / 2;

/**
 * @typedef {object} Pose
 * @property {number} angle  in radians
 * @property {number} size  the drawing is so many times as large
 * @property {number} right  in pixels of the picture
 * @property {number} down
 *
 * @typedef {object} Spread  how far poses differ
 * @property {number} turn  radians either way, at most
 * @property {number[]} sizes  the least and the largest
 * @property {number} shift  pixels either way, at most
 */

/** Return a pose. @param {() => number} random @param {Spread} spread @returns {Pose} */
export function randomPose(random, { turn, sizes: [least, most], shift }) {
  const either = (/** @type {number} */ far) => far * (2 * random() - 1);
  return {
    angle: either(turn),
    size: least + (most - least) * random(),
    right: either(shift),
    down: either(shift),
  };
}

/** Return the grey between four pixels; around a drawing there is no ink. */
function greyAt(/** @type {ArrayLike<number>} */ drawing, side, x, y) {
  const left = Math.floor(x);
  const top = Math.floor(y);
  let grey = 0;
  for (let row = Math.max(0, top); row <= Math.min(side - 1, top + 1); row++) {
    for (let column = Math.max(0, left); column <= Math.min(side - 1, left + 1); column++) {
      const share = (1 - Math.abs(x - column)) * (1 - Math.abs(y - row));
      grey += share * drawing[row * side + column];
    }
  }
  return grey;
}

/**
 * Return a picture of a drawing, [784].
 * @param {ArrayLike<number>} drawing  greys [side · side]; its middle becomes the picture's
 * @param {number} side  pixels
 * @param {Pose} pose
 */
export function posed(drawing, side, { angle, size, right, down }) {
  const scale = side / SIDE / size; // pixels of the drawing in one of the picture
  const across = scale * Math.cos(angle);
  const along = scale * Math.sin(angle);
  const picture = new Float32Array(PIXELS);
  for (let k = 0; k < PIXELS * FINE * FINE; k++) {
    const column = k % (SIDE * FINE);
    const row = Math.floor(k / (SIDE * FINE));
    const x = (column + 0.5) / FINE - MIDDLE - right;
    const y = (row + 0.5) / FINE - MIDDLE - down;
    const fromX = across * x + along * y + side / 2 - 0.5;
    const fromY = across * y - along * x + side / 2 - 0.5;
    const pixel = Math.floor(row / FINE) * SIDE + Math.floor(column / FINE);
    picture[pixel] += greyAt(drawing, side, fromX, fromY) / FINE ** 2;
  }
  return picture;
}
