// What the coupling maps show, and what the lengths and a capsule's couplings say.
import { LONG } from "./shared/bars.js";
import { clamp } from "./shared/ui.js";

/**
 * A coupling map, laid out in units: a column for each digit, in it all primary capsules, type under type. A capsule is
 * 2 units wide, and 1 stays free between a column and the next, a type and the next.
 * @param {number} types
 * @param {number} places  of each type
 * @param {number} J
 */
export function makeLayout(types, places, J) {
  const across = Math.sqrt(places);
  const span = 2 * across + 1;

  /** @param {number} i */
  const placeOf = (i) => {
    const place = i % places;
    return { type: Math.floor(i / places), row: Math.floor(place / across), column: place % across };
  };

  /** The upper left corner of capsule `i` in the column of digit `j`. @param {number} i @param {number} j */
  function cornerOf(i, j) {
    const { type, row, column } = placeOf(i);
    return [j * span + 2 * column, type * span + 2 * row];
  }

  /** The capsule nearest to a point of the map. @param {number} x @param {number} y */
  function capsuleAt(x, y) {
    const type = clamp(Math.floor(y / span), 0, types - 1);
    const row = clamp(Math.floor((y - type * span) / 2), 0, across - 1);
    const column = clamp(Math.floor((x % span) / 2), 0, across - 1);
    return type * places + row * across + column;
  }

  /** The capsule beside `i`, over all types, or at the border `i` itself. @param {number} i */
  function neighbourOf(i, dx, dy) {
    const { type, row, column } = placeOf(i);
    const right = clamp(column + dx, 0, across - 1);
    const down = clamp(type * across + row + dy, 0, types * across - 1);
    return down * across + right;
  }

  return { width: J * span, height: types * span - 1, placeOf, cornerOf, capsuleAt, neighbourOf };
}

/** The pixels that capsules in this row and column read. @param {any} config @returns {[number, number, number]} */
export function fieldOf({ conv_kernel, conv_stride, primary_kernel, primary_stride }, row, column) {
  const step = conv_stride * primary_stride;
  return [column * step, row * step, conv_kernel + (primary_kernel - 1) * conv_stride]; // left, top, size
}

/** The digits whose capsules are long, the longest first. @param {ArrayLike<number>} lengths */
export const longDigits = (lengths) =>
  Array.from(lengths, (_, j) => j)
    .filter((j) => lengths[j] >= LONG)
    .sort((p, q) => lengths[q] - lengths[p]);

/**
 * A capsule that is pointed at, and where its vote goes.
 * @param {{ type: number, row: number, column: number }} place
 * @param {Float32Array} couplings  [J], of the last round
 */
export function remarkOnCapsule({ type, row, column }, couplings) {
  const share = Math.max(...couplings);
  const vote = `${Math.round(share * 100)} % of its vote goes to ${couplings.indexOf(share)}`;
  return `Type ${type}, row ${row}, column ${column}: in the last round ${vote}.`;
}
