// What a change does to a drawing: thickness, slant, size and so on, measured on two drawings.
//
// A drawing is read as ink: grey values, or how far a colour is from the ground's. Its form follows
// from sums over the pixels: the middle of the ink, its spread both ways, its edges.
import { t } from "./t.js";

/**
 * @typedef {{ x: number, y: number, slant: number, width: number, height: number,
 *   thickness: number, hole: number, light: number }} Form
 *   x, y: the middle of the ink, in pixels, y downwards; slant: pixels to the right a row upwards;
 *   width, height: the spread of the ink about its middle, in pixels, slant taken out; thickness:
 *   of a stroke, in pixels; hole: pixels of ground with ink all round; light: 0 to 1, of the ink
 */
/** @typedef {{ names: string[], towards: string[] }} Effect
 *   names: what changes, the largest change first, at most two; towards: what the second drawing
 *   is, compared with the first, or nothing where no measure names the change */

const FAINT = 0.1; // a pixel that differs by less is not seen to differ
const LITTLE = 0.04; // the share of pixels up to which a change that no measure names is little
const CLOSED = 0.4; // ink from which on a pixel closes a loop
const SMALL_PART = 0.8; // the share of the drawing's spread up to which a change is one part's
const NEARLY = 0.6; // the share of the largest difference from which the next is named as well

// From which difference on each change is noticed.
const NOTICED = {
  thickness: 0.18, // of a logarithm, as the three after it
  size: 0.09,
  width: 0.12,
  height: 0.12,
  slant: 0.13, // pixels a row
  x: 1, // pixels
  y: 1,
  hole: 12, // pixels
  light: 0.08,
};

// Each change: its name, and what the second drawing is if the difference is below 0, and above.
const WORDS = {
  thickness: [t`Thickness`, t`is thinner`, t`is thicker`],
  size: [t`Size`, t`is smaller`, t`is larger`],
  width: [t`Width`, t`is narrower`, t`is wider`],
  height: [t`Height`, t`is lower`, t`is taller`],
  slant: [t`Slant`, t`leans more to the left`, t`leans more to the right`],
  x: [t`Place across`, t`lies further left`, t`lies further right`],
  y: [t`Place up and down`, t`lies further up`, t`lies further down`],
  hole: [t`Loop`, t`has a smaller loop`, t`has a larger loop`],
  light: [t`Lightness`, t`is darker`, t`is lighter`],
};
const PARTS = [
  [t`The top left`, t`The top`, t`The top right`],
  [t`The left`, t`The middle`, t`The right`],
  [t`The bottom left`, t`The bottom`, t`The bottom right`],
];

/** The mean of a pixel's channels. */
const meanAt = (image, k, places) => {
  const channels = image.length / places;
  let sum = 0;
  for (let c = 0; c < channels; c++) sum += image[c * places + k];
  return sum / channels;
};

/** How far each pixel is from the ground, the colour of the four corners. -> [side · side] */
export function inkOf(/** @type {Float32Array} */ image, /** @type {number} */ side) {
  const places = side * side;
  if (image.length === places) return image;
  const corners = [0, side - 1, places - side, places - 1];
  const ink = new Float32Array(places);
  for (let from = 0; from < image.length; from += places) {
    const ground = corners.reduce((sum, corner) => sum + image[from + corner], 0) / 4;
    for (let k = 0; k < places; k++) ink[k] = Math.max(ink[k], Math.abs(image[from + k] - ground));
  }
  return ink;
}

/** The ground that the ink closes in, in pixels. */
function holeIn(/** @type {Float32Array} */ ink, /** @type {number} */ side) {
  const isOutside = new Uint8Array(ink.length);
  const open = [];
  const enter = (row, column) => {
    if (row < 0 || row >= side || column < 0 || column >= side) return;
    const k = row * side + column;
    if (isOutside[k] || ink[k] > CLOSED) return;
    isOutside[k] = 1;
    open.push(k);
  };
  for (let n = 0; n < side; n++) {
    enter(0, n);
    enter(side - 1, n);
    enter(n, 0);
    enter(n, side - 1);
  }
  while (open.length) {
    const k = open.pop();
    const row = Math.floor(k / side);
    const column = k % side;
    enter(row - 1, column);
    enter(row + 1, column);
    enter(row, column - 1);
    enter(row, column + 1);
  }
  return ink.reduce((count, grey, k) => count + Number(grey <= CLOSED && !isOutside[k]), 0);
}

/** The length of all edges in the ink: its differences from pixel to pixel, summed. */
function edgesOf(ink, side) {
  let sum = 0;
  for (let row = 0; row < side - 1; row++) {
    for (let column = 0; column < side - 1; column++) {
      const k = row * side + column;
      sum += Math.hypot(ink[k + 1] - ink[k], ink[k + side] - ink[k]);
    }
  }
  return sum;
}

/**
 * Measures a drawing. @param {Float32Array} image  [side · side], or three of these: colours
 * @returns {Form}
 */
export function formOf(image, /** @type {number} */ side) {
  const ink = inkOf(image, side);
  let mass = 1e-6;
  let x = 0;
  let y = 0;
  let light = 0;
  ink.forEach((grey, k) => {
    mass += grey;
    x += grey * (k % side);
    y += grey * Math.floor(k / side);
    light += grey * meanAt(image, k, ink.length);
  });
  x /= mass;
  y /= mass;
  const { xx, xy, yy } = spreadOf(ink, side, x, y);
  return {
    x,
    y,
    slant: -xy / yy,
    width: Math.sqrt(xx - (xy * xy) / yy),
    height: Math.sqrt(yy),
    thickness: (2 * mass) / Math.max(edgesOf(ink, side), 1e-6),
    hole: holeIn(ink, side),
    light: image.length === ink.length ? 0 : light / mass, // grey ink is as dark as there is of it
  };
}

/** The mean squares of the ink's distances from (x, y): across, both, down. */
function spreadOf(ink, side, x, y) {
  let mass = 1e-6;
  let xx = 1e-6;
  let xy = 0;
  let yy = 1e-6;
  ink.forEach((grey, k) => {
    const right = (k % side) - x;
    const down = Math.floor(k / side) - y;
    mass += grey;
    xx += grey * right * right;
    xy += grey * right * down;
    yy += grey * down * down;
  });
  return { xx: xx / mass, xy: xy / mass, yy: yy / mass };
}

/**
 * The differences between two forms, each in units of what is noticed.
 * @param {Form} before @param {Form} after
 */
function differencesOf(before, after) {
  const growth = (key) => Math.log(after[key] / before[key]);
  const wide = growth("width");
  const high = growth("height");
  const isBoth = wide * high > 0 && Math.min(Math.abs(wide), Math.abs(high)) > 0.03;
  const raw = {
    thickness: growth("thickness"),
    size: isBoth ? (wide + high) / 2 : 0,
    width: isBoth ? 0 : wide,
    height: isBoth ? 0 : high,
    slant: after.slant - before.slant,
    x: after.x - before.x,
    y: after.y - before.y,
    hole: after.hole - before.hole,
    light: after.light - before.light,
  };
  return Object.entries(raw).map(([key, difference]) => ({ key, size: difference / NOTICED[key] }));
}

/** How many pixels differ visibly. @param {Float32Array} first @param {Float32Array} second */
export function pixelsChanged(first, second, /** @type {number} */ side) {
  const places = side * side;
  let count = 0;
  for (let k = 0; k < places; k++) {
    let most = 0;
    for (let at = k; at < first.length; at += places)
      most = Math.max(most, Math.abs(first[at] - second[at]));
    count += Number(most > FAINT);
  }
  return count;
}

/** The part of the drawing in which a change lies that no measure names, or all its shape. */
function partChanged(first, second, side) {
  const change = first.map((number, k) => Math.abs(number - second[k]));
  const there = formOf(inkOf(change, side), side);
  const drawing = formOf(inkOf(first, side), side);
  const reach = Math.hypot(there.width, there.height) / Math.hypot(drawing.width, drawing.height);
  if (reach > SMALL_PART) return t`Shape`;
  const third = (/** @type {number} */ offset, /** @type {number} */ spread) =>
    Math.abs(offset) < spread / 2 ? 1 : 1 + Math.sign(offset);
  const row = third(there.y - drawing.y, drawing.height);
  const column = third(there.x - drawing.x, drawing.width);
  return PARTS[row][column];
}

/**
 * Names what leads from one drawing to another. Where a capsule's number does nothing that can be
 * seen, the name is "Little".
 * @param {Float32Array} first @param {Float32Array} second
 * @param {number} side  pixels along a side
 * @returns {Effect}
 */
export function effectOf(first, second, side) {
  const differences = differencesOf(formOf(first, side), formOf(second, side));
  differences.sort((p, q) => Math.abs(q.size) - Math.abs(p.size));
  const largest = Math.abs(differences[0].size);
  if (largest < 1) {
    const isLittle = pixelsChanged(first, second, side) < LITTLE * side * side;
    return { names: [isLittle ? t`Little` : partChanged(first, second, side)], towards: [] };
  }
  const named = differences
    .slice(0, 2)
    .filter(({ size }) => Math.abs(size) >= Math.max(1, NEARLY * largest));
  return {
    names: named.map(({ key }) => WORDS[key][0]),
    towards: named.map(({ key, size }) => WORDS[key][size < 0 ? 1 : 2]),
  };
}
