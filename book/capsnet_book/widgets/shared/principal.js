// The plane in which most of some vectors lie, to draw them on a page.
import { norm } from "./core.js";

const SWEEPS = 60; // of the power iteration

/** The scalar product of two vectors of one length. */
export const dot = (/** @type {ArrayLike<number>} */ a, /** @type {ArrayLike<number>} */ b) =>
  Array.from(a, (x, d) => x * b[d]).reduce((sum, x) => sum + x, 0);

/** A vector of length 1. */
function unit(/** @type {ArrayLike<number>} */ vector) {
  const length = Math.max(norm(vector), 1e-12);
  return Array.from(vector, (x) => x / length);
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
  const lengths = vectors.map((vector) => norm(vector));
  const longest = rest[lengths.indexOf(Math.max(...lengths))];
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
