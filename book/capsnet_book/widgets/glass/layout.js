// Where the parts of the glass network stand: side by side in a wide stage, in three rows in a high one.
import { sizeAfter } from "../shared/core.js";
import { clamp } from "../shared/ui.js";

const HEAD = 40; // a part's name and shape stand above it
const GAP = 30; // for an arrow
const BLOCK = 10; // between two types of capsules
const LIT = 1.4; // so much more of the width a chapter's own part has

/** @import { Box } from "./pen.js" */

const WEIGHTS = {
  image: 1.5,
  maps: 1.9,
  primary: 1.4,
  predictions: 2,
  classes: 1.4,
  reconstruction: 1.5,
};

/** Boxes in a wide stage. @param {string[]} lit */
function sideBySide(width, height, lit) {
  const weightOf = (/** @type {string} */ part) => WEIGHTS[part] * (lit.includes(part) ? LIT : 1);
  const parts = Object.keys(WEIGHTS);
  const unit = (width - 3 * GAP) / parts.reduce((sum, part) => sum + weightOf(part), 0);
  /** @type {Record<string, Box>} */
  const boxes = {};
  let x = 0;
  for (const part of parts) {
    const w = weightOf(part) * unit;
    boxes[part] = { x, y: HEAD, w, h: height - HEAD };
    x += w + (["image", "maps", "classes"].includes(part) ? GAP : 0);
  }
  const middle = (/** @type {Box} */ { x, y, w, h }) => {
    const side = Math.min(w, h);
    return { x: x + (w - side) / 2, y: y + (h - side) / 2, w: side, h: side };
  };
  boxes.image = middle(boxes.image);
  boxes.maps = middle(boxes.maps);
  const { x: left, y, w, h } = boxes.reconstruction;
  const side = Math.min(w, h * 0.58);
  boxes.reconstruction = { x: left, y, w: side, h: side };
  boxes.faders = { x: left, y: y + side + 26, w, h: h - side - 26 };
  return boxes;
}

/** Boxes in a high stage. */
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

/** Where a column of all capsules has the i-th: cells in squares of a type's places, two types side by side. */
function cellsIn({ x, y, w, h }, types, side) {
  const rows = Math.ceil(types / 2);
  const [wide, high] = [(w - BLOCK) / 2 / side, (h - BLOCK * (rows - 1)) / rows / side];
  return Array.from({ length: types * side * side }, (_, i) => {
    const [type, place] = [Math.floor(i / side ** 2), i % side ** 2];
    const [column, row] = [Math.floor(type / rows), type % rows];
    const [left, top] = [x + column * (w / 2 + BLOCK / 2), y + row * (high * side + BLOCK)];
    return {
      x: left + (place % side) * wide,
      y: top + Math.floor(place / side) * high,
      w: wide,
      h: high,
    };
  });
}

/** The plan of a stage: the parts' boxes, and what lies where in them. lit: a chapter's own parts. */
export function planOf({ width, height }, lit, { I, J, config }) {
  const high = height > width;
  const boxes = high ? stacked(width, height) : sideBySide(width, height, lit);
  const cells = cellsIn(boxes.primary, config.primary_types, Math.sqrt(I / config.primary_types));
  const across = Math.ceil(Math.sqrt(config.conv_channels));
  const side = sizeAfter(config.image_size, config.conv_kernel, config.conv_stride); // of a map
  const tile = boxes.maps.w / across;
  const row = boxes.classes.h / J;
  const bend = boxes.predictions.x + boxes.predictions.w / 2;
  const middles = cells.map(({ x, y, w, h }) => [x + w / 2, y + h / 2]);
  const rows = Array.from({ length: J }, (_, j) => [
    boxes.classes.x,
    boxes.classes.y + (j + 0.5) * row,
  ]);
  const ends = (/** @type {number} */ k) => [middles[Math.floor(k / J)], rows[k % J]];
  const curves = Array.from({ length: I * J }, (_, k) => curvePoints(ends(k), bend));
  const square = (/** @type {number} */ c) => {
    const [column, line] = [c % across, Math.floor(c / across)];
    return { x: boxes.maps.x + column * tile, y: boxes.maps.y + line * tile, w: tile, h: tile };
  };

  /** What lies at a place of a part: a map, a capsule, a vote, a class, a fader. */
  const hit = {
    maps(/** @type {number} */ x, /** @type {number} */ y) {
      const tiles = [(x - boxes.maps.x) / tile, (y - boxes.maps.y) / tile];
      const [column, line] = tiles.map((at) => clamp(at, 0, across - 0.01));
      const c = Math.min(Math.floor(line) * across + Math.floor(column), config.conv_channels - 1);
      return {
        at: c,
        place: Math.floor((line % 1) * side) * side + Math.floor((column % 1) * side),
      };
    },
    primary: (x, y) => ({
      at: nearest(middles.map((middle) => Math.hypot(middle[0] - x, middle[1] - y))),
    }),
    classes: (_, y) => ({ at: Math.floor(clamp((y - boxes.classes.y) / row, 0, J - 0.01)) }),
    faders: (x) => ({
      at: Math.floor(clamp((x - boxes.faders.x) / boxes.faders.w, 0, 0.999) * config.class_dim),
    }),
    /** The line that is nearest; among lines on top of each other the strongest. */
    predictions: (x, y, c) => ({
      at: nearest(curves.map((points, k) => farFrom(points, x, y) - 30 * c[k])),
    }),
  };
  /** A fader's place, from −1 below to 1 above. */
  const level = (/** @type {number} */ y) => 1 - (2 * (y - boxes.faders.y)) / boxes.faders.h;
  return { high, boxes, cells, curves, ends, bend, square, across, row, hit, level };
}

const nearest = (/** @type {number[]} */ distances) =>
  distances.reduce((best, far, k) => (far < distances[best] ? k : best), 0);

/** How far above or below a line of points lies from (x, y). */
function farFrom(points, x, y) {
  const n = points.findIndex(([px]) => px >= x);
  if (n < 1) return Math.abs(points.at(n)[1] - y);
  const [[x0, y0], [x1, y1]] = [points[n - 1], points[n]];
  return Math.abs(y0 + ((x - x0) / (x1 - x0 || 1)) * (y1 - y0) - y);
}

/** A vote's line from [x, y] to [x, y] bends midway, as a Bézier curve does. -> points */
function curvePoints(/** @type {number[][]} */ [[x0, y0], [x1, y1]], middle, count = 12) {
  return Array.from({ length: count + 1 }, (_, n) => {
    const [t, s] = [n / count, 1 - n / count];
    const mid = 3 * s * t;
    return [
      s ** 3 * x0 + mid * middle + t ** 3 * x1,
      (s ** 3 + mid * s) * y0 + (t ** 3 + mid * t) * y1,
    ];
  });
}

/** Whether c lies on one side, and not the other, of the way from a to b. @param {number[][]} _ */
const left = ([[ax, ay], [bx, by], [cx, cy]]) => (bx - ax) * (cy - ay) > (by - ay) * (cx - ax);

/** Whether the way from p to q crosses a line of points. @param {number[][]} points */
export const crosses = (points, p, q) =>
  points.slice(1).some((b, n) => {
    const a = points[n];
    return left([p, q, a]) !== left([p, q, b]) && left([a, b, p]) !== left([a, b, q]);
  });

/** The square of the image that a map's place, or a capsule's, looks at. -> in pixels of the image */
export function patchOf(
  part,
  place,
  { conv_kernel: K, conv_stride: S, primary_kernel, primary_stride, image_size },
) {
  const after = sizeAfter(image_size, K, S);
  const capsules = sizeAfter(after, primary_kernel, primary_stride);
  const ofCapsule = [S * primary_stride, (primary_kernel - 1) * S + K, capsules];
  const [step, size, across] = part === "maps" ? [S, K, after] : ofCapsule;
  return { x: (place % across) * step, y: Math.floor(place / across) * step, w: size, h: size };
}
