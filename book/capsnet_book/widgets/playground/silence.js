// Parts that a reader holds silent while the network learns: a filter answers nothing, and of a
// capsule no vote is heard. What is 0 has no gradient either.
import { PLACES } from "./sizes.js";

/**
 * @typedef {{ maps: number[], primary: number[] }} Silent
 *   filters, and capsules as a file counts
 */

/** Return where the file's capsule i stands here. */
export const capsuleHere = (/** @type {number} */ i, /** @type {number} */ types) =>
  (i % PLACES) * types + Math.floor(i / PLACES);

/**
 * Set what these filters answer to 0.
 * @param {Float32Array} maps  [B, place, C] @param {number[]} filters
 */
export function muteFilters(maps, filters, /** @type {number} */ C) {
  for (const filter of filters) {
    for (let k = filter; k < maps.length; k += C) maps[k] = 0;
  }
}

/**
 * Set the votes of these capsules, or their gradients, to 0.
 * @param {Float32Array} votes  [B, I, size] @param {number[]} capsules  as they stand here
 */
export function muteVotes(votes, capsules, /** @type {number} */ I, /** @type {number} */ size) {
  const digits = votes.length / (I * size);
  for (let n = 0; n < digits; n++) {
    for (const i of capsules) votes.fill(0, (n * I + i) * size, (n * I + i + 1) * size);
  }
}
