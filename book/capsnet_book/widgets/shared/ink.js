// From strokes to 28×28 pixels, as MNIST was made: the ink is fitted into a box of 20×20 and its centre of mass
// put into the middle. A stroke is a list of points [x, y] in the unit square of the pad.

const SIZE = 28;
const BOX = 20;
const CENTRE = 14.5; // where the centre of mass of MNIST's digits lies, both ways
export const PEN = 2.3; // width of a line in pixels of the 28×28; MNIST's are about this wide
const LEAST = 0.25; // smaller drawings than this part of the pad are not blown up any further: a dot stays a dot

/** strokes -> 784 numbers in [0, 1] */
export function toImage(strokes) {
  const points = strokes.flat();
  if (points.length === 0) return new Float32Array(SIZE * SIZE);
  const [left, right] = extent(points.map(([x]) => x));
  const [top, bottom] = extent(points.map(([, y]) => y));
  const scale = (BOX - PEN) / Math.max(right - left, bottom - top, LEAST);
  const fitted = strokes.map((stroke) =>
    stroke.map(([x, y]) => [
      CENTRE + (x - (left + right) / 2) * scale,
      CENTRE + (y - (top + bottom) / 2) * scale,
    ]),
  );
  const [x, y] = centreOfMass(inked(fitted));
  const [dx, dy] = [CENTRE - x, CENTRE - y];
  return inked(fitted.map((stroke) => stroke.map(([px, py]) => [px + dx, py + dy])));
}

/** Lines of the pen's width with soft edges; points are in pixels, and a pixel's middle lies at a half. */
function inked(strokes) {
  const grey = new Float32Array(SIZE * SIZE);
  for (const stroke of strokes)
    for (let k = 0; k < stroke.length; k++) addSegment(grey, stroke[Math.max(k - 1, 0)], stroke[k]);
  return grey;
}

function addSegment(grey, [x0, y0], [x1, y1]) {
  const reach = PEN / 2 + 0.5;
  const [dx, dy] = [x1 - x0, y1 - y0];
  const squared = dx * dx + dy * dy;
  const from = (a, b) => Math.max(0, Math.floor(Math.min(a, b) - reach));
  const to = (a, b) => Math.min(SIZE - 1, Math.ceil(Math.max(a, b) + reach));
  for (let row = from(y0, y1); row <= to(y0, y1); row++) {
    for (let column = from(x0, x1); column <= to(x0, x1); column++) {
      const [px, py] = [column + 0.5 - x0, row + 0.5 - y0];
      const t = squared === 0 ? 0 : Math.min(1, Math.max(0, (px * dx + py * dy) / squared));
      const distance = Math.sqrt((px - t * dx) ** 2 + (py - t * dy) ** 2);
      const k = row * SIZE + column;
      grey[k] = Math.max(grey[k], Math.min(1, Math.max(0, reach - distance)));
    }
  }
}

/** Where the ink balances, in pixels. */
function centreOfMass(grey) {
  let [mass, x, y] = [0, 0, 0];
  grey.forEach((ink, k) => {
    mass += ink;
    x += ink * ((k % SIZE) + 0.5);
    y += ink * (Math.floor(k / SIZE) + 0.5);
  });
  return [x / mass, y / mass];
}

const extent = (numbers) => [Math.min(...numbers), Math.max(...numbers)];
