// The votes of a real digit, nine of the small network's 72 capsules', flattened to a plane for
// each class.
import { lengthsOf, norm } from "../shared/core.js";

const PARTS = 9;
const WHOLES = 3;
const SWEEPS = 60; // of the power iteration

/** The scalar product of two vectors of one length. */
const dot = (/** @type {ArrayLike<number>} */ a, /** @type {ArrayLike<number>} */ b) =>
  Array.from(a, (x, d) => x * b[d]).reduce((sum, x) => sum + x, 0);

/** A vector of length 1. */
function unit(/** @type {ArrayLike<number>} */ vector) {
  const length = Math.max(norm(vector), 1e-12);
  return Array.from(vector, (x) => x / length);
}

/** The places of the largest numbers, the largest first. @param {number[]} numbers */
function largest(numbers, /** @type {number} */ count) {
  const places = numbers.map((_, k) => k);
  return places.sort((a, b) => numbers[b] - numbers[a]).slice(0, count);
}

/**
 * Two axes for vectors: the direction of their sum, and the one along which most of the rest lies.
 * The longest vector has no negative number along the second.
 * @param {Float32Array[]} vectors
 */
export function axesOf(vectors) {
  const D = vectors[0].length;
  const sum = Array.from({ length: D }, (_, d) =>
    vectors.reduce((total, vector) => total + vector[d], 0),
  );
  const first = unit(sum);
  const rest = vectors.map((vector) => {
    const along = dot(vector, first);
    return Array.from(vector, (x, d) => x - along * first[d]);
  });
  const longest =
    rest[
      largest(
        vectors.map((vector) => norm(vector)),
        1,
      )[0]
    ];
  let second = unit(longest);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const products = rest.map((vector) => dot(vector, second));
    second = unit(
      second.map((_, d) => rest.reduce((total, vector, i) => total + products[i] * vector[d], 0)),
    );
  }
  if (dot(longest, second) < 0) second = second.map((x) => -x);
  return [first, second];
}

/**
 * The votes of an image: of the nine capsules with the longest ones, for the three longest classes.
 * @param {any} network  makeNetwork()'s @param {Float32Array} image
 */
export function votesOfDigit(network, image) {
  const { I, J, D_out } = network;
  const { u_hat, capsules } = network.forward(image);
  const lengths = lengthsOf(capsules, J, D_out);
  const classes = largest(Array.from(lengths), WHOLES);
  const voteOf = (/** @type {number} */ i, /** @type {number} */ j) =>
    u_hat.subarray((i * J + j) * D_out, (i * J + j + 1) * D_out);
  const loudness = Array.from({ length: I }, (_, i) =>
    Math.max(...classes.map((j) => norm(voteOf(i, j)))),
  );
  const parts = largest(loudness, PARTS);
  const axes = classes.map((j) => axesOf(Array.from({ length: I }, (_, i) => voteOf(i, j))));
  const votes = parts.map((i) =>
    classes.map((j, k) => axes[k].map((axis) => dot(voteOf(i, j), axis))),
  );
  return { votes, parts, classes };
}
