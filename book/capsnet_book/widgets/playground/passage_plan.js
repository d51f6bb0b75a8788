// Where the parts of the network's picture stand, and what lies at a place of it: what
// glass/layout.js is to the glass network.
import { curvePoints, nearestOf, rowAt, strongestNear } from "../glass/layout.js";
import { FILTERS, filterShown } from "./reading.js";
import { J, PLACES } from "./sizes.js";

/** @import { Box } from "../glass/pen.js" */

const BETWEEN = 4; // pixels between two filters

/**
 * Return the box of the n-th filter that is shown: four in a row.
 * @param {Box} box @returns {Box}
 */
export function filterIn({ x, y, w, h }, /** @type {number} */ n) {
  const side = Math.min(w, h) / 4;
  return {
    x: x + (n % 4) * side,
    y: y + (h - 4 * side) / 2 + Math.floor(n / 4) * side,
    w: side - BETWEEN,
    h: side - BETWEEN,
  };
}

/**
 * Return how many of `count` capsules stand in a row of a box, in full rows, so that the cells are
 * as large as they can be: an arrow needs width and height.
 */
export function columnsIn({ w, h }, /** @type {number} */ count) {
  const sizeOf = (/** @type {number} */ columns) => Math.min(w / columns, (h * columns) / count);
  const choices = Array.from({ length: count }, (_, n) => n + 1).filter((n) => count % n === 0);
  return choices.reduce((best, columns) => (sizeOf(columns) > sizeOf(best) ? columns : best));
}

/** Return the cells of all capsules; those of a type lie together. @param {Box} box */
export function cellsIn({ x, y, w, h }, /** @type {number} */ types) {
  const count = types * PLACES;
  const columns = columnsIn({ w, h }, count);
  const across = w / columns;
  const down = (h * columns) / count;
  return Array.from({ length: count }, (_, i) => ({
    x: x + (i % columns) * across,
    y: y + Math.floor(i / columns) * down,
    w: across,
    h: down,
  }));
}

/** Return what gives both ends of a vote in a box. @param {Box} box @param {number} types */
export const endsIn =
  ({ x, y, w, h }, types) =>
  (/** @type {number} */ k) => [
    [x, y + ((Math.floor(k / J) + 0.5) / (types * PLACES)) * h],
    [x + w, y + (((k % J) + 0.5) / J) * h],
  ];

/** Return the plan of the picture. @param {Record<string, Box>} boxes @param {number} types */
export function planOf(boxes, types) {
  const { maps, predictions, classes } = boxes;
  const C = 8 * types;
  const cells = cellsIn(boxes.primary, types);
  const middles = cells.map(({ x, y, w, h }) => [x + w / 2, y + h / 2]);
  const ends = endsIn(predictions, types);
  const bend = predictions.x + predictions.w / 2;
  const curves = Array.from({ length: cells.length * J }, (_, k) => curvePoints(ends(k), bend));
  const row = classes.h / J;
  const unit = C / FILTERS;
  const square = (/** @type {number} */ c) => filterIn(maps, Math.floor(c / unit));
  const squares = Array.from({ length: FILTERS }, (_, n) => filterIn(maps, n));
  const filterAt = nearestOf(squares.map(({ x, y, w, h }) => [x + w / 2, y + h / 2]));
  const hit = {
    maps: (x, y) => ({ at: filterShown(filterAt(x, y).at, C) }),
    primary: nearestOf(middles),
    predictions: strongestNear(curves),
    classes: rowAt(classes, row, J),
  };
  const steps = { maps: [unit, 4 * unit], primary: [1, columnsIn(boxes.primary, cells.length)] };
  return { boxes, cells, curves, ends, bend, square, steps, row, hit };
}
