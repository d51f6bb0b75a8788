// Routing among votes in the plane, by five rules. All that the picture shows follows from here.
import { norm, squash } from "../shared/core.js";

/** @typedef {number[]} Vector  [x, y] */
/** @typedef {Vector[][]} Votes  of each part for each whole, [I][J] */
/** @typedef {"product" | "direction" | "nearness" | "attention" | "wrong"} Rule */
/**
 * @typedef {{ c: number[][], v: Vector[], spread: Vector[], lengths: number[] }} Round
 *   c: the shares [I][J] with which it begins; v: what each whole makes of its votes [J]: their
 *   squashed sum, or their mean under "nearness"; spread: their standard deviations along both axes
 *   under "nearness", else 0; lengths: of v, or under "nearness" the share of all parts that a
 *   whole has
 */

/** @type {Rule[]} */
export const RULES = ["product", "direction", "nearness", "attention", "wrong"];
export const ROUNDS = 10;
const LEAST_VARIANCE = 0.01; // else a whole that has one vote alone would shrink to a point

const DIMENSIONS = [0, 1];

/** a · b @param {Vector} a @param {Vector} b */
export const product = (a, b) => a[0] * b[0] + a[1] * b[1];

/**
 * Σ_i weights_i · vectors_i
 * @param {number[]} weights @param {Vector[]} vectors @returns {Vector}
 */
function weightedSum(weights, vectors) {
  return DIMENSIONS.map((d) => vectors.reduce((sum, vector, i) => sum + weights[i] * vector[d], 0));
}

const total = (/** @type {number[]} */ numbers) => numbers.reduce((sum, x) => sum + x, 0);

/** The softmax of a list. @param {number[]} logits */
function softmax(logits) {
  const largest = Math.max(...logits);
  const exponentials = logits.map((x) => Math.exp(x - largest));
  const sum = total(exponentials);
  return exponentials.map((x) => x / sum);
}

/** Rows to columns. @template Entry @param {Entry[][]} rows */
export const transposed = (rows) => rows[0].map((_, j) => rows.map((row) => row[j]));

/**
 * The shares of logits [I][J]: each part shares itself out among the wholes; under "wrong" the
 * softmax runs over the parts, so each whole shares itself out among them.
 * @param {number[][]} logits @param {Rule} rule
 */
function sharesOf(logits, rule) {
  if (rule !== "wrong") return logits.map(softmax);
  return transposed(transposed(logits).map(softmax));
}

/**
 * All rounds of routing, ROUNDS of them.
 * @param {Votes} votes @param {Rule} rule @param {number} strength  what agreement is multiplied by
 * @returns {Round[]}
 */
export function routed(votes, rule, strength) {
  const next = ROUND_OF[rule] ?? agreementRound;
  const isMeasuredAnew = rule in ROUND_OF;
  let logits = votes.map((row) => row.map(() => 0));
  /** @type {Round[]} */
  const rounds = [];
  for (let r = 0; r < ROUNDS; r++) {
    const c = sharesOf(logits, rule);
    const { round, agreement } = next(votes, c, rule);
    rounds.push(round);
    // The paper adds agreement up over the rounds; EM measures it anew, and self-attention once.
    logits = logits.map((row, i) =>
      row.map((b, j) => (isMeasuredAnew ? 0 : b) + strength * agreement[i][j]),
    );
  }
  return rounds;
}

/**
 * A round as in Procedure 1: sums, squashed, and how far each vote reaches along them. Under
 * "direction" every vote counts as if it were of length 1 there.
 * @param {Votes} votes @param {number[][]} c @param {Rule} rule
 */
function agreementRound(votes, c, rule) {
  const shares = transposed(c);
  const v = transposed(votes).map((column, j) => squash(weightedSum(shares[j], column)));
  const agreement = votes.map((row) =>
    row.map((vote, j) => {
      const length = rule === "direction" ? Math.max(norm(vote), 1e-9) : 1;
      return product(v[j], vote) / length;
    }),
  );
  const spread = v.map(() => [0, 0]);
  return { round: { c, v, spread, lengths: v.map((vector) => norm(vector)) }, agreement };
}

/**
 * A round of EM: each whole is a Gaussian with the mean and the variances of the votes that it has;
 * agreement is the logarithm of a vote's likelihood.
 * @param {Votes} votes @param {number[][]} c
 */
function nearnessRound(votes, c) {
  const shares = transposed(c);
  const wholes = transposed(votes).map((column, j) => {
    const sum = total(shares[j]);
    const weights = shares[j].map((share) => share / Math.max(sum, 1e-12));
    const mean = weightedSum(weights, column);
    const squares = column.map((vote) => DIMENSIONS.map((d) => (vote[d] - mean[d]) ** 2));
    const variance = weightedSum(weights, squares).map((x) => x + LEAST_VARIANCE);
    return { mean, variance, has: sum / votes.length };
  });
  const agreement = votes.map((row) =>
    row.map((vote, j) => {
      const { mean, variance } = wholes[j];
      const terms = DIMENSIONS.map(
        (d) => (vote[d] - mean[d]) ** 2 / variance[d] + Math.log(variance[d]),
      );
      return -total(terms) / 2;
    }),
  );
  const round = {
    c,
    v: wholes.map(({ mean }) => mean),
    spread: wholes.map(({ variance }) => variance.map(Math.sqrt)),
    lengths: wholes.map(({ has }) => has),
  };
  return { round, agreement };
}

/**
 * The one step of self-attention routing: each vote is compared with all votes for its whole, and
 * so with their sum. The comparison does not depend on the shares, so the rounds after the second
 * are like it. Mazzia, Salvetti and Chiaberge, 2021.
 * @param {Votes} votes @param {number[][]} c
 */
function attentionRound(votes, c) {
  const { round } = agreementRound(votes, c, "product");
  const sums = transposed(votes).map((column) =>
    weightedSum(
      column.map(() => 1),
      column,
    ),
  );
  const agreement = votes.map((row) =>
    row.map((vote, j) => product(sums[j], vote) / Math.sqrt(DIMENSIONS.length)),
  );
  return { round, agreement };
}

/** The round of a rule that does not add agreement up. */
const ROUND_OF = { nearness: nearnessRound, attention: attentionRound };
