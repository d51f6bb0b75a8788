// Where everything stands in the picture. On wide pages the wholes' planes stand in a row above the
// parts; on a phone they are stacked, and the parts stand to their right.
import { clamp } from "../shared/ui.js";

/** @import { Vector, Votes } from "./routing.js" */

/** @typedef {ReturnType<typeof layoutOf>} Layout */
/** @typedef {{ x: number, y: number, width: number, height: number }} Box */

const NARROW = 560; // pixels; below, the planes are stacked
const HEAD = 28; // pixels at a plane's top, where its name stands
const MARGIN = 0.3; // round the votes of a plane, in the votes' own units

/**
 * The middle of each whole's votes, and how far they reach from it both ways. The zero point and
 * the tip of a sum, which is shorter than 1, belong to them.
 * @param {Votes} votes
 */
export function extentsOf(votes) {
  return votes[0].map((_, j) => {
    const points = [[0, 0], ...votes.map((row) => row[j])];
    const ends = [0, 1].map((d) => {
      const numbers = points.map((point) => point[d]);
      return [Math.min(...numbers) - MARGIN, Math.max(...numbers) + MARGIN];
    });
    return {
      middle: ends.map(([low, high]) => (low + high) / 2),
      half: ends.map(([low, high]) => (high - low) / 2),
    };
  });
}

/** The planes of J wholes, a row of them or a stack. @returns {Box[]} */
function planesOf(/** @type {number} */ J, /** @type {number} */ room, narrow) {
  const gap = narrow ? 10 : 14;
  if (narrow) {
    const width = Math.round(room * 0.6);
    const height = J === 2 ? 190 : 160;
    return Array.from({ length: J }, (_, j) => ({ x: 0, y: j * (height + gap), width, height }));
  }
  const width = (room - gap * (J - 1)) / J;
  const height = clamp(width * 0.82, 244, 280);
  return Array.from({ length: J }, (_, j) => ({ x: j * (width + gap), y: 0, width, height }));
}

const NUMBERS = 18; // pixels for the parts' names beside the field
const NAMES = 54; // and for the wholes' names beside the chart

/** The field of all shares and the chart of lengths: beside the planes, or below them. */
function sideOf(narrow, width, main, end, I) {
  const left = narrow ? 0 : main + 30;
  const x = left + NUMBERS;
  const wide = width - x - NAMES;
  if (narrow) {
    const field = { x, y: end + 60, width: wide, height: I * 15 };
    const chart = { x, y: field.y + field.height + 62, width: wide, height: 72 };
    return { field, chart, height: chart.y + chart.height + 8 };
  }
  const high = clamp((end - 190) / I, 14, 24);
  const field = { x, y: 46, width: wide, height: I * high };
  const y = field.y + field.height + 62;
  const chart = { x, y, width: wide, height: Math.max(60, end - 14 - y) };
  return { field, chart, height: Math.max(end + 4, y + chart.height + 6) };
}

/**
 * @param {number} width  in CSS pixels
 * @param {{ middle: Vector, half: Vector }[]} extents  of the wholes' votes
 * @param {number} I  parts
 */
export function layoutOf(width, extents, I) {
  const narrow = width < NARROW;
  const J = extents.length;
  const main = narrow ? width : width - clamp(width * 0.3, 216, 292);
  const planes = planesOf(J, main, narrow);
  const last = planes[J - 1];
  const across = narrow ? last.y + last.height : main; // of the row of parts
  const depth = narrow ? last.width : last.height; // at which ribbons leave a plane
  const pitch = across / I; // from a part to the next
  const bar = { at: narrow ? main - 44 : depth + 104, thick: narrow ? 13 : 16 };
  const end = narrow ? across : bar.at + bar.thick + 42;
  const { field, chart, height } = sideOf(narrow, width, main, end, I);
  const unit = Math.min(
    ...planes.map((plane, j) =>
      Math.min(
        plane.width / 2 / extents[j].half[0],
        (plane.height - HEAD) / 2 / extents[j].half[1],
      ),
    ),
  );
  const middles = planes.map(({ x, y, width: wide, height: high }) => [
    x + wide / 2,
    y + (high + HEAD) / 2,
  ]);
  return {
    narrow,
    width,
    height,
    planes,
    pitch,
    depth,
    bar,
    field,
    chart,
    unit,
    long: pitch * (narrow ? 0.74 : 0.7), // of a part's bar
    /** Where a point of a whole's plane stands in the picture. @returns {Vector} */
    at(/** @type {number} */ j, /** @type {Vector} */ [x, y]) {
      const { middle } = extents[j];
      return [middles[j][0] + unit * (x - middle[0]), middles[j][1] - unit * (y - middle[1])];
    },
    /** The point of a plane that stands at a place of the picture, inside of the plane. */
    pointAt(/** @type {number} */ j, /** @type {Vector} */ [left, top]) {
      const { middle } = extents[j];
      const { x, y, width: wide, height: high } = planes[j];
      const inside = [clamp(left, x + 10, x + wide - 10), clamp(top, y + 10, y + high - 10)];
      return [
        middle[0] + (inside[0] - middles[j][0]) / unit,
        middle[1] - (inside[1] - middles[j][1]) / unit,
      ];
    },
    /** A place `a` along the row of parts, at a depth: the row runs down on a phone. */
    place: (/** @type {number} */ a, /** @type {number} */ d) => (narrow ? [d, a] : [a, d]),
    /** The stretch of a plane at which ribbons may end. */
    edge(/** @type {number} */ j) {
      const { x, y, width: wide, height: high } = planes[j];
      return narrow ? [y + 10, y + high - 10] : [x + 12, x + wide - 12];
    },
  };
}
