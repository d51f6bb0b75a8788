// What capsules that turn learn: how many numbers, and how they begin.
import { makeRandom, normal } from "../shared/random.js";

/**
 * @typedef {object} Sizes
 * @property {number} T  kinds of parts: learned filters
 * @property {number} K  turned copies of each, a multiple of 4
 * @property {number} S  pixels across a filter, odd
 * @property {number} N  peaks of each kind
 * @property {number} m  matrices of every kind for every class
 * @property {number} J  classes
 */

/**
 * Return the sizes of a network.
 * @param {Record<string, { shape: number[] }>} tensors  its own
 * @param {{ turns: number, count: number }} others  sizes that no tensor has
 * @returns {Sizes}
 */
export function sizesOf(tensors, { turns, count }) {
  const [T, S] = tensors["network.filters"].shape;
  const [, , m, J] = tensors["network.weight"].shape;
  return { T, K: turns, S, N: count, m, J };
}

/** Return the shapes of what is learned, by their names in a file. @param {Sizes} sizes */
export const shapesOf = ({ T, S, m, J }) => ({
  filters: [T, S, S],
  level: [T, 1],
  slope: [],
  weight: [T, 1, m, J, 3, 3],
  "agreement.log_prior": [T, 1, m, J],
  "agreement.width": [],
  "agreement.gain": [],
});

const sizeOf = (/** @type {number[]} */ shape) => shape.reduce((size, n) => size * n, 1);

/**
 * Allocate one row of numbers, and return parts of it by name.
 * @param {Record<string, number[]>} shapes
 */
export function rowOf(shapes) {
  const sizes = Object.values(shapes).map(sizeOf);
  const all = new Float32Array(sizes.reduce((sum, size) => sum + size, 0));
  const views = {};
  let from = 0;
  for (const [name, shape] of Object.entries(shapes)) {
    views[name] = all.subarray(from, from + sizeOf(shape));
    from += sizeOf(shape);
  }
  return { all, views };
}

/**
 * Fill what is learned as turning.py begins.
 * @param {Record<string, Float32Array>} parameters
 * @param {Sizes} sizes
 * @param {number} seed
 */
export function begin(parameters, { T, S }, seed) {
  const random = makeRandom(seed);
  for (let kind = 0; kind < T; kind++) {
    const noise = Float32Array.from({ length: S * S }, () => normal(random));
    parameters.filters.set(smoothed(noise, S), kind * S * S);
  }
  parameters.level.fill(2);
  parameters.slope.fill(4);
  const { weight } = parameters;
  for (let k = 0; k < weight.length; k++) weight[k] = normal(random) / Math.sqrt(3);
  parameters["agreement.log_prior"].fill(0);
  parameters["agreement.width"].fill(1);
  parameters["agreement.gain"].fill(1);
}

/** Return the means over squares of 3 × 3 pixels; beyond the border lies 0. [S · S] */
function smoothed(/** @type {Float32Array} */ noise, /** @type {number} */ S) {
  return noise.map((_, pixel) => {
    const column = pixel % S;
    const row = (pixel - column) / S;
    let total = 0;
    for (let r = Math.max(0, row - 1); r <= Math.min(S - 1, row + 1); r++) {
      for (let c = Math.max(0, column - 1); c <= Math.min(S - 1, column + 1); c++)
        total += noise[r * S + c];
    }
    return total / 9;
  });
}
