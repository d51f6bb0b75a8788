// The weights: how many there are, how they begin, and where a file has which of them.
//
// Here channels run fastest, a kernel's row of pixels lies in one piece, and primary capsule i
// stands at place · types + type; in a file, as in PyTorch, at type · places + place.
import { makeRandom, normal } from "../shared/random.js";
import { t } from "../shared/t.js";
import { D, D_IN, HIDDEN, J, KERNEL, PIXELS, PLACES, TAPS } from "./sizes.js";

const SPREAD = 0.1; // of the normal numbers that W begins with

/**
 * @typedef {object} Parameter
 * @property {string} name  in a file
 * @property {number[]} shape  in a file
 * @property {number} bound  of the uniform numbers that it begins with; 0: normal ones, as W
 * @property {(k: number) => number} here  where the k-th number of the file stands, from its first
 * @property {number} size
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
  let end = 0;
  return parameters.map((parameter) => {
    const size = sizeOf(parameter.shape);
    const from = end;
    end += size;
    return { ...parameter, size, from };
  });
}

/** Fill the parameters' numbers as my_capsnet.py begins. @param {Float32Array} numbers */
export function begin(numbers, types, seed) {
  const random = makeRandom(seed);
  for (const { bound, from, size } of parameterList(types)) {
    for (let k = from; k < from + size; k++)
      numbers[k] = bound ? bound * (2 * random() - 1) : SPREAD * normal(random);
  }
}

/**
 * Return the parameters' numbers as tensors by name, { shape, data }, as a file has them.
 * @param {Float32Array} numbers
 */
export function toTensors(numbers, types) {
  const tensors = {};
  for (const { name, shape, here, from, size } of parameterList(types)) {
    const data = Float32Array.from({ length: size }, (_, k) => numbers[from + here(k)]);
    tensors[name] = { shape, data };
  }
  return tensors;
}

/**
 * Write tensors by name into the parameters' numbers.
 * @throws {Error} where a tensor is missing or has another shape; then nothing is written
 */
export function fromTensors(numbers, types, tensors) {
  const parameters = parameterList(types);
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
