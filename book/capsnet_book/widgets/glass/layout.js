// Where the parts of the glass network stand: side by side in a wide stage, in three rows in a high
// one.
import { sizeAfter } from "../shared/core.js";
import { clamp } from "../shared/ui.js";

/** @import { Box } from "./pen.js" */
/** @typedef {number[]} Point  [x, y] */

const HEAD = 40; // room above a part for its name and shape
const GAP = 30; // between parts, for an arrow
const BLOCK = 10; // between two types of capsules
const ENLARGED = 1.4; // how much more of the width a chapter's own part has

/** Shares of the width. */
const WEIGHTS = {
  image: 1.5,
  maps: 1.9,
  primary: 1.4,
  predictions: 2,
  classes: 1.4,
  reconstruction: 1.5,
};

// ------------------------------------------------------------------------------- the boxes

/** The largest square in the middle of a box. @param {Box} box @returns {Box} */
function squareIn({ x, y, w, h }) {
  const side = Math.min(w, h);
  return { x: x + (w - side) / 2, y: y + (h - side) / 2, w: side, h: side };
}

/**
 * Boxes in a wide stage.
 * @param {number} width @param {number} height @param {string[]} lit  the chapter's own parts
 */
function sideBySide(width, height, lit) {
  const weightOf = (/** @type {string} */ part) =>
    WEIGHTS[part] * (lit.includes(part) ? ENLARGED : 1);
  const parts = Object.keys(WEIGHTS);
  const unit = (width - 3 * GAP) / parts.reduce((sum, part) => sum + weightOf(part), 0);
  /** @type {Record<string, Box>} */
  const boxes = {};
  let x = 0;
  for (const part of parts) {
    const w = weightOf(part) * unit;
    boxes[part] = { x, y: HEAD, w, h: height - HEAD };
    const isBeforeArrow = ["image", "maps", "classes"].includes(part);
    x += isBeforeArrow ? w + GAP : w;
  }
  boxes.image = squareIn(boxes.image);
  boxes.maps = squareIn(boxes.maps);
  const { x: left, y, w, h } = boxes.reconstruction;
  const side = Math.min(w, h * 0.58);
  boxes.reconstruction = { x: left, y, w: side, h: side };
  boxes.faders = { x: left, y: y + side + 26, w, h: h - side - 26 };
  return boxes;
}

/** Boxes in a high stage. @param {number} width @param {number} height */
function stacked(width, height) {
  const w = Math.min(width, 460);
  const left = (width - w) / 2;
  const side = Math.min((w - GAP) / 2, 170);
  const bottom = Math.min(side, 130);
  const rows = [HEAD, HEAD + side + GAP + HEAD, height - bottom];
  const middle = { y: rows[1], h: rows[2] - HEAD - GAP - rows[1] };
  return {
    image: { x: left, y: rows[0], w: side, h: side },
    maps: { x: left + w - side, y: rows[0], w: side, h: side },
    primary: { x: left, w: w * 0.3, ...middle },
    predictions: { x: left + w * 0.3, w: w * 0.36, ...middle },
    classes: { x: left + w * 0.66, w: w * 0.34, ...middle },
    reconstruction: { x: left, y: rows[2], w: bottom, h: bottom },
    faders: { x: left + bottom + 16, y: rows[2], w: w - bottom - 16, h: bottom },
  };
}

/**
 * The cells of all capsules in a box: types in two columns, each a square of its places.
 * @param {Box} box @param {number} types @param {number} side  places along a side
 * @returns {Box[]}
 */
function cellsIn({ x, y, w, h }, types, side) {
  const rows = Math.ceil(types / 2);
  const wide = (w - BLOCK) / 2 / side; // of a cell
  const high = (h - BLOCK * (rows - 1)) / rows / side;
  return Array.from({ length: types * side * side }, (_, i) => {
    const type = Math.floor(i / side ** 2);
    const place = i % side ** 2;
    const left = x + Math.floor(type / rows) * (w / 2 + BLOCK / 2);
    const top = y + (type % rows) * (high * side + BLOCK);
    return {
      x: left + (place % side) * wide,
      y: top + Math.floor(place / side) * high,
      w: wide,
      h: high,
    };
  });
}

// -------------------------------------------------------------------------------- the plan

/**
 * The plan of a stage: the parts' boxes, the places of what lies in them, and hit: what lies at a
 * place.
 * @param {{ width: number, height: number }} size @param {string[]} lit  the chapter's own parts
 * @param {any} network
 */
export function planOf({ width, height }, lit, network) {
  const { I, J, config } = network;
  const high = height > width;
  const boxes = high ? stacked(width, height) : sideBySide(width, height, lit);
  const cells = cellsIn(boxes.primary, config.primary_types, Math.sqrt(I / config.primary_types));
  const across = Math.ceil(Math.sqrt(config.conv_channels)); // maps in a row
  const tile = boxes.maps.w / across;
  const row = boxes.classes.h / J;
  const bend = boxes.predictions.x + boxes.predictions.w / 2;

  /** The box of a map. @returns {Box} */
  const square = (/** @type {number} */ c) => ({
    x: boxes.maps.x + (c % across) * tile,
    y: boxes.maps.y + Math.floor(c / across) * tile,
    w: tile,
    h: tile,
  });
  const middles = cells.map(({ x, y, w, h }) => [x + w / 2, y + h / 2]);
  const rows = Array.from({ length: J }, (_, j) => [
    boxes.classes.x,
    boxes.classes.y + (j + 0.5) * row,
  ]);
  /** Both ends of a vote. */
  const ends = (/** @type {number} */ k) => [middles[Math.floor(k / J)], rows[k % J]];
  const curves = Array.from({ length: I * J }, (_, k) => curvePoints(ends(k), bend));
  /** A fader's number at a height: from −1 below to 1 above. */
  const level = (/** @type {number} */ y) => 1 - (2 * (y - boxes.faders.y)) / boxes.faders.h;
  const hit = hitsOf(network, { boxes, across, tile, row, middles, curves });
  const steps = { maps: [1, across], primary: [1, 3] };
  return { high, boxes, cells, curves, ends, bend, square, steps, row, hit, level };
}

/** What lies at a place (x, y) of each part: a map and a place in it, a capsule, a vote, … */
function hitsOf({ J, config }, { boxes, across, tile, row, middles, curves }) {
  const side = sizeAfter(config.image_size, config.conv_kernel, config.conv_stride); // of a map
  return {
    maps(/** @type {number} */ x, /** @type {number} */ y) {
      const tiles = [(x - boxes.maps.x) / tile, (y - boxes.maps.y) / tile];
      const [column, line] = tiles.map((at) => clamp(at, 0, across - 0.01));
      const c = Math.floor(line) * across + Math.floor(column);
      const place = Math.floor((line % 1) * side) * side + Math.floor((column % 1) * side);
      return { at: Math.min(c, config.conv_channels - 1), place };
    },
    primary: nearestOf(middles),
    classes: rowAt(boxes.classes, row, J),
    faders(/** @type {number} */ x) {
      const share = clamp((x - boxes.faders.x) / boxes.faders.w, 0, 0.999);
      return { at: Math.floor(share * config.class_dim) };
    },
    predictions: strongestNear(curves),
  };
}

/** What finds the nearest of some points. @param {Point[]} points */
export const nearestOf = (points) => (/** @type {number} */ x, /** @type {number} */ y) => ({
  at: smallestOf(points.map((point) => Math.hypot(point[0] - x, point[1] - y))),
});

/** What finds which of `count` rows lies at a height. @param {Box} box @param {number} row */
export const rowAt = (box, row, /** @type {number} */ count) => (_, /** @type {number} */ y) => ({
  at: Math.floor(clamp((y - box.y) / row, 0, count - 0.01)),
});

/**
 * What finds the nearest line; among lines on top of each other the strongest, of couplings c.
 * @param {Point[][]} curves
 */
export const strongestNear = (curves) => (x, y, /** @type {Float32Array} */ c) => ({
  at: smallestOf(curves.map((points, k) => distanceTo(points, x, y) - 30 * c[k])),
});

/** The index of the smallest number. */
const smallestOf = (/** @type {number[]} */ numbers) =>
  numbers.reduce((best, number, k) => (number < numbers[best] ? k : best), 0);

// ------------------------------------------------------------------------------- the lines

/** How far a line of points lies above or below (x, y). @param {Point[]} points */
function distanceTo(points, /** @type {number} */ x, /** @type {number} */ y) {
  const n = points.findIndex(([px]) => px >= x);
  if (n === -1) return Math.abs(points.at(-1)[1] - y); // to the right of the line
  if (n === 0) return Math.abs(points[0][1] - y); // to its left
  const [x0, y0] = points[n - 1];
  const [x1, y1] = points[n];
  return Math.abs(y0 + ((x - x0) / (x1 - x0 || 1)) * (y1 - y0) - y);
}

/**
 * Points of a vote's line, a Bézier curve that bends midway.
 * @param {Point[]} ends @param {number} middle  x of the bend
 */
export function curvePoints([[x0, y0], [x1, y1]], middle, count = 12) {
  return Array.from({ length: count + 1 }, (_, n) => {
    const t = n / count;
    const s = 1 - t;
    const mid = 3 * s * t;
    const x = s ** 3 * x0 + mid * middle + t ** 3 * x1;
    const y = (s ** 3 + mid * s) * y0 + (t ** 3 + mid * t) * y1;
    return [x, y];
  });
}

/** Whether c lies to the left of the way from a to b. @param {Point[]} points  a, b, c */
const isLeft = ([[ax, ay], [bx, by], [cx, cy]]) => (bx - ax) * (cy - ay) > (by - ay) * (cx - ax);

/** Whether the way from p to q crosses a line of points. @param {Point[]} points */
export const crosses = (points, /** @type {Point} */ p, /** @type {Point} */ q) =>
  points.slice(1).some((b, n) => {
    const a = points[n];
    const pqSeparate = isLeft([p, q, a]) !== isLeft([p, q, b]);
    const abSeparate = isLeft([a, b, p]) !== isLeft([a, b, q]);
    return pqSeparate && abSeparate;
  });

/**
 * The receptive field of a map's place, or of a capsule's: a square of the image, in its pixels.
 * @param {string} part  "maps" or another @param {number} place
 * @param {any} config  sizes; mixes_places: whether a capsule's numbers come from many places
 * @returns {Box}
 */
export function patchOf(part, place, config) {
  const { conv_kernel, conv_stride, primary_kernel, primary_stride, image_size } = config;
  const mapSide = sizeAfter(image_size, conv_kernel, conv_stride);
  const square = (step, size, across) => ({
    x: (place % across) * step,
    y: Math.floor(place / across) * step,
    w: size,
    h: size,
  });
  if (part === "maps") return square(conv_stride, conv_kernel, mapSide);
  const size = (primary_kernel - 1) * conv_stride + conv_kernel;
  const across = sizeAfter(mapSide, primary_kernel, primary_stride);
  const step = conv_stride * primary_stride;
  const whole = (across - 1) * step + size;
  if (config.mixes_places) return { x: 0, y: 0, w: whole, h: whole };
  return square(step, size, across);
}
