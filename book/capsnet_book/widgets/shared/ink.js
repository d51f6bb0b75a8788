// From strokes to 28×28 pixels, as MNIST was made: the ink is fitted into a box of 20×20, and its
// centre of mass is put into the middle.

/** @typedef {number[][]} Stroke  points [x, y]: in the unit square of the pad, or in pixels */

const SIZE = 28;
const BOX = 20;
const CENTRE = 14.5; // of MNIST's digits: where their centre of mass lies, both ways
/** The width of a line in pixels of the 28×28; MNIST's lines are about this wide. */
export const PEN = 2.3;
const LEAST_EXTENT = 0.25; // of the pad; smaller drawings stay small, so that a dot stays a dot

/** Strokes in the unit square -> 784 numbers in [0, 1]. @param {Stroke[]} strokes */
export function toImage(strokes) {
  const points = strokes.flat();
  if (points.length === 0) return new Float32Array(SIZE * SIZE);
  const [left, right] = extent(points.map(([x]) => x));
  const [top, bottom] = extent(points.map(([, y]) => y));
  const scale = (BOX - PEN) / Math.max(right - left, bottom - top, LEAST_EXTENT);
  const fitted = strokes.map((stroke) =>
    stroke.map(([x, y]) => [
      CENTRE + (x - (left + right) / 2) * scale,
      CENTRE + (y - (top + bottom) / 2) * scale,
    ]),
  );
  const [x, y] = centreOfMass(rasterised(fitted));
  const dx = CENTRE - x;
  const dy = CENTRE - y;
  return rasterised(fitted.map((stroke) => stroke.map(([px, py]) => [px + dx, py + dy])));
}

/**
 * Strokes in pixels -> 784 numbers: lines of the pen's width with soft edges. A pixel's middle lies
 * at a half.
 * @param {Stroke[]} strokes
 */
function rasterised(strokes) {
  const grey = new Float32Array(SIZE * SIZE);
  for (const stroke of strokes) {
    stroke.forEach((point, k) => addSegment(grey, stroke[Math.max(k - 1, 0)], point));
  }
  return grey;
}

/**
 * Adds the line between two points, by each pixel's distance from it.
 * @param {Float32Array} grey @param {number[]} start @param {number[]} end
 */
function addSegment(grey, [x0, y0], [x1, y1]) {
  const reach = PEN / 2 + 0.5;
  const dx = x1 - x0;
  const dy = y1 - y0;
  const squared = dx * dx + dy * dy;
  const first = (a, b) => Math.max(0, Math.floor(Math.min(a, b) - reach));
  const last = (a, b) => Math.min(SIZE - 1, Math.ceil(Math.max(a, b) + reach));
  for (let row = first(y0, y1); row <= last(y0, y1); row++) {
    for (let column = first(x0, x1); column <= last(x0, x1); column++) {
      const px = column + 0.5 - x0;
      const py = row + 0.5 - y0;
      const t = squared === 0 ? 0 : Math.min(1, Math.max(0, (px * dx + py * dy) / squared));
      const distance = Math.sqrt((px - t * dx) ** 2 + (py - t * dy) ** 2);
      const k = row * SIZE + column;
      grey[k] = Math.max(grey[k], Math.min(1, Math.max(0, reach - distance)));
    }
  }
}

/** The ink's centre of mass [x, y], in pixels. */
function centreOfMass(/** @type {Float32Array} */ grey) {
  let mass = 0;
  let x = 0;
  let y = 0;
  grey.forEach((ink, k) => {
    mass += ink;
    x += ink * ((k % SIZE) + 0.5);
    y += ink * (Math.floor(k / SIZE) + 0.5);
  });
  return [x / mass, y / mass];
}

const extent = (/** @type {number[]} */ numbers) => [Math.min(...numbers), Math.max(...numbers)];
