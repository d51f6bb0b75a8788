// What an image is read as if routing stops after 1, 2, … rounds.
import { lengthsOf } from "./shared/core.js";
import { withArticle } from "./shared/ui.js";

/** @typedef {{ lengths: Float32Array, prediction: number, entropy: number, capsules: Float32Array }} Reading */

export const MOST = 5; // rounds

/**
 * How evenly couplings are spread, the mean over i of −Σ_j c_ij log c_ij / log J: 0 (all to one) … 1 (even).
 * @param {Iterable<number>} c  [I, J]
 * @param {number} I
 * @param {number} J
 */
export function entropyOf(c, I, J) {
  let sum = 0;
  for (const share of c) if (share > 0) sum -= share * Math.log(share);
  return sum / I / Math.log(J);
}

/**
 * A reading after each round.
 * @param {any} network
 * @param {Float32Array} image  [784]
 * @returns {Reading[]}
 */
export function readAfterEach(network, image, most = MOST) {
  const { I, J, D_out } = network;
  const { c, v } = network.forward(image, most);
  return v.map((capsules, t) => {
    const lengths = lengthsOf(capsules, J, D_out);
    return { lengths, prediction: lengths.indexOf(Math.max(...lengths)), entropy: entropyOf(c[t], I, J), capsules };
  });
}

/**
 * Heights of labels, as near to where they belong as they can be without lying on each other.
 * @param {number[]} heights
 * @param {number} apart
 */
export function spread(heights, apart) {
  const order = heights.map((_, k) => k).sort((p, q) => heights[p] - heights[q]);
  const placed = heights.slice();
  for (let n = 1; n < order.length; n++) {
    placed[order[n]] = Math.max(placed[order[n]], placed[order[n - 1]] + apart);
  }
  return placed;
}

/** @param {number} rounds */
export const inRounds = (rounds) => (rounds === 1 ? "1 round" : `${rounds} rounds`);

/**
 * Whether the answer depends on the number of rounds: which numbers of rounds say what, and what is right.
 * @param {number[]} predictions
 * @param {number | null} label  null: not known
 */
export function inWords(predictions, label) {
  const answers = [...new Set(predictions)];
  const written = label === null ? "" : ` It was written as ${withArticle(label)}.`;
  if (answers.length === 1) return `Every number of rounds says ${answers[0]}.${answers[0] === label ? "" : written}`;
  const when = (digit) => predictions.flatMap((each, t) => (each === digit ? [t + 1] : [])).join(", ");
  return `The rounds disagree: ${answers.map((digit) => `${digit} after ${when(digit)}`).join("; ")}.${written}`;
}
