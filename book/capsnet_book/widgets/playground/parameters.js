// The weights: how many there are, how they begin, and where a file has which of them.
//
// Here channels run fastest, a kernel's row of pixels lies in one piece, and primary capsule i
// stands at place · types + type; in a file, as in PyTorch, at type · places + place.
import { makeRandom, normal } from "../shared/random.js";
import { t } from "../shared/t.js";
import { D, D_IN, HIDDEN, J, KERNEL, PIXELS, PLACES, SCORES, TAPS } from "./sizes.js";

const SPREAD = 0.1; // of the normal numbers that W begins with

/**
 * @typedef {object} Parameter
 * @property {string} name  in a file
 * @property {number[]} shape  in a file
 * @property {number} bound  of the uniform numbers that it begins with; 0: normal ones, as W
 * @property {(k: number) => number} here  where the k-th number of the file stands, from its first
 * @property {number} size  numbers here, some of which a file may not have
 * @property {number} from  its first number among all
 */

const sizeOf = (/** @type {number[]} */ shape) => shape.reduce((size, n) => size * n, 1);

/**
 * Return where the k-th number of a tensor stands once its axes stand in another order.
 * @param {number[]} shape
 * @param {number[]} axes
 * @returns {(k: number) => number}
 */
export function turned(shape, axes) {
  const sizeAfter = (n) => sizeOf(axes.slice(n + 1).map((axis) => shape[axis]));
  const strides = axes.map((_, n) => sizeAfter(n)); // in the new order
  const steps = shape.map((_, axis) => strides[axes.indexOf(axis)]);
  return (k) => {
    let rest = k;
    let place = 0;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      const index = rest % shape[axis];
      rest = (rest - index) / shape[axis];
      place += index * steps[axis];
    }
    return place;
  };
}

/** Return weight and bias of a linear layer, as my_capsnet.py has them. */
function layer(name, shape, axes) {
  const bound = 1 / Math.sqrt(sizeOf(shape.slice(1)));
  return [
    { name: `${name}.weight`, shape, bound, here: turned(shape, axes) },
    { name: `${name}.bias`, shape: [shape[0]], bound, here: (k) => k },
  ];
}

/** Return the parameters in order. @returns {Parameter[]} */
export function parameterList(/** @type {number} */ types) {
  const C = 8 * types;
  const I = PLACES * types;
  const W = turned([types, PLACES, J, D_IN, D], [1, 0, 3, 2, 4]);
  const parameters = [
    ...layer("conv", [C, 1, KERNEL, KERNEL], [1, 2, 3, 0]),
    ...layer("primary.conv", [C, C, TAPS, TAPS], [2, 3, 1, 0]),
    { name: "routed.weight", shape: [I, J, D_IN, D], bound: 0, here: W },
    ...layer("decoder.0", [HIDDEN[0], J * D], [1, 0]),
    ...layer("decoder.2", [HIDDEN[1], HIDDEN[0]], [1, 0]),
    ...layer("decoder.4", [PIXELS, HIDDEN[1]], [1, 0]),
  ];
  return placed(parameters);
}

/** Return the parameters with the places of their numbers, one after another. */
function placed(parameters) {
  let end = 0;
  return parameters.map((parameter) => {
    const size = parameter.size ?? sizeOf(parameter.shape);
    const from = end;
    end += size;
    return { ...parameter, size, from };
  });
}

/**
 * Return the parameters of a CNN with as many numbers as the capsule network reads with: the same
 * two convolutions, a dense layer in the place of W, and one for the ten scores.
 * @returns {Parameter[]}
 */
export function convolutionalParameters(/** @type {number} */ types) {
  const C = 8 * types;
  const features = PLACES * C;
  const hidden = hiddenOf(types);
  const [weight, bias] = layer("classes", [J, hidden], [1, 0]);
  // The kernels multiply by rows of whole lanes: beside the ten scores there are six that nobody
  // asks for.
  const here = (/** @type {number} */ k) => (k % hidden) * SCORES + Math.floor(k / hidden);
  return placed([
    ...layer("conv", [C, 1, KERNEL, KERNEL], [1, 2, 3, 0]),
    ...layer("primary.conv", [C, C, TAPS, TAPS], [2, 3, 1, 0]),
    ...layer("hidden", [hidden, features], [1, 0]),
    { ...weight, here, size: hidden * SCORES },
    { ...bias, size: SCORES },
  ]);
}

/**
 * Return the numbers in the CNN's dense layer: so many that it has as many weights as W, but for
 * the rounding to whole lanes.
 */
export function hiddenOf(/** @type {number} */ types) {
  const I = PLACES * types;
  const ofW = I * J * D_IN * D;
  const each = I * D_IN + 1 + J; // weights and bias of one number, and what the scores have of it
  return 8 * Math.round(ofW / each / 8);
}

/**
 * Fill the parameters' numbers as my_capsnet.py begins.
 * @param {Float32Array} numbers @param {Parameter[]} parameters @param {number} seed
 */
export function begin(numbers, parameters, seed) {
  const random = makeRandom(seed);
  for (const { bound, from, size } of parameters) {
    for (let k = from; k < from + size; k++)
      numbers[k] = bound ? bound * (2 * random() - 1) : SPREAD * normal(random);
  }
}

/**
 * Return the parameters' numbers as tensors by name, { shape, data }, as a file has them.
 * @param {Float32Array} numbers @param {Parameter[]} parameters
 */
export function toTensors(numbers, parameters) {
  const tensors = {};
  for (const { name, shape, here, from } of parameters) {
    const length = sizeOf(shape);
    const data = Float32Array.from({ length }, (_, k) => numbers[from + here(k)]);
    tensors[name] = { shape, data };
  }
  return tensors;
}

/**
 * Write tensors by name into the parameters' numbers.
 * @throws {Error} where a tensor is missing or has another shape; then nothing is written
 */
export function fromTensors(numbers, parameters, tensors) {
  for (const { name, shape } of parameters) {
    const other = tensors[name]?.shape;
    const words = other ? `[${other}]` : t`none`;
    if (String(other) !== String(shape))
      throw new Error(t`expected ${name} [${shape}]; got ${words}`);
  }
  for (const { name, here, from } of parameters) {
    tensors[name].data.forEach((x, k) => {
      numbers[from + here(k)] = x;
    });
  }
}
