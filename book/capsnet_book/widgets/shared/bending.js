// Bends a digit as capsnet_tutorial/augment.py does: scale, shear, rotate about the centre, shift.
import { PIXELS, SIDE } from "./digits.js";

/**
 * @typedef {{ turn: number, shear: number, size: number, right: number, down: number }} Bend
 *   turn: degrees anticlockwise; shear: pixels a row, the top to the right; right, down: pixels
 */

/** The bend that leaves a digit as it is. @type {Bend} */
export const STRAIGHT = { turn: 0, shear: 0, size: 1, right: 0, down: 0 };

/**
 * image [SIDE · SIDE] -> the bent image. For each pixel of the result the inverse bend finds the
 * place in the original, and the four pixels around that place are mixed.
 * @param {Float32Array} image @param {Bend} bend
 */
export function bendDigit(image, { turn, shear, size, right, down }) {
  const cos = Math.cos((turn * Math.PI) / 180);
  const sin = Math.sin((turn * Math.PI) / 180);
  const bent = new Float32Array(PIXELS);
  const middle = (SIDE - 1) / 2;
  for (let row = 0, k = 0; row < SIDE; row++) {
    for (let column = 0; column < SIDE; column++, k++) {
      const x = column - middle - right;
      const y = row - middle - down; // y points down, which makes this rotation the inverse one
      const rotatedX = cos * x - sin * y;
      const rotatedY = sin * x + cos * y;
      const sourceX = (rotatedX + shear * rotatedY) / size + middle;
      const sourceY = rotatedY / size + middle;
      bent[k] = between(image, sourceX, sourceY);
    }
  }
  return bent;
}

/** The image at (x, y) in pixels, bilinear; beyond the border lies paper, 0. */
function between(/** @type {Float32Array} */ image, x, y) {
  const left = Math.floor(x);
  const top = Math.floor(y);
  const dx = x - left;
  const dy = y - top;
  const above = (1 - dx) * pixel(image, left, top) + dx * pixel(image, left + 1, top);
  const below = (1 - dx) * pixel(image, left, top + 1) + dx * pixel(image, left + 1, top + 1);
  return (1 - dy) * above + dy * below;
}

const pixel = (image, x, y) => (x >= 0 && x < SIDE && y >= 0 && y < SIDE ? image[y * SIDE + x] : 0);
