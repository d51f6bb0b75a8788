// Bending a digit, as capsnet_tutorial/augmentation.py does it: scale, shear, turn about the centre, then shift.
import { PIXELS, SIDE } from "./digits.js";

/** Nothing done to a digit. Turn: degrees, anticlockwise; shear: pixels a row, the top to the right; shifts: pixels. */
export const STRAIGHT = { turn: 0, shear: 0, size: 1, right: 0, down: 0 };

/** image [SIDE · SIDE] -> the bent image. Each pixel asks where it came from and mixes the four that lie there. */
export function bendDigit(image, { turn, shear, size, right, down }) {
  const [cos, sin] = [Math.cos((turn * Math.PI) / 180), Math.sin((turn * Math.PI) / 180)];
  const bent = new Float32Array(PIXELS);
  const middle = (SIDE - 1) / 2;
  for (let row = 0, k = 0; row < SIDE; row++) {
    for (let column = 0; column < SIDE; column++, k++) {
      const [x, y] = [column - middle - right, row - middle - down];
      const [turnedX, turnedY] = [cos * x - sin * y, sin * x + cos * y]; // y points down: the turn's inverse
      bent[k] = between(
        image,
        (turnedX + shear * turnedY) / size + middle,
        turnedY / size + middle,
      );
    }
  }
  return bent;
}

/** Bilinear: what lies at (x, y), in pixels; paper beyond the border. */
function between(image, x, y) {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const [dx, dy] = [x - left, y - top];
  return (
    (1 - dy) * ((1 - dx) * pixel(image, left, top) + dx * pixel(image, left + 1, top)) +
    dy * ((1 - dx) * pixel(image, left, top + 1) + dx * pixel(image, left + 1, top + 1))
  );
}

const pixel = (image, x, y) => (x >= 0 && x < SIDE && y >= 0 && y < SIDE ? image[y * SIDE + x] : 0);
