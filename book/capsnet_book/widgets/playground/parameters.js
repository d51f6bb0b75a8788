// The weights: how many there are, how they begin, and where a file has which of them.
//
// Here channels run fastest, a kernel's row of pixels lies in one piece, and primary capsule i stands at
// place · types + type; in a file, as in PyTorch, at type · places + place.
import { makeRandom, normal } from "./random.js";
import { D, D_IN, HIDDEN, J, KERNEL, PIXELS, PLACES, SIDE, TAPS } from "./sizes.js";

/** The network's sizes, under the names of Python's CapsNetConfig. */
export const configOf = (types, rounds) => ({
  image_size: SIDE,
  in_channels: 1,
  conv_channels: 8 * types,
  conv_kernel: KERNEL,
  conv_stride: 2,
  primary_types: types,
  primary_dim: D_IN,
  primary_kernel: TAPS,
  primary_stride: 2,
  classes: J,
  class_dim: D,
  iterations: rounds,
  decoder_hidden: HIDDEN,
});

const sizeOf = (shape) => shape.reduce((all, n) => all * n, 1);

/**
 * The parameters in order: their names and shapes in a file, `bound` of the uniform numbers that they begin with
 * (null: normal, as W), `from` and `size` among all numbers, and here(k), where the k-th number of the file stands.
 */
export function parameterList(types) {
  const [C, I] = [8 * types, PLACES * types];
  const turned = (columns, rows) => (k) => (k % columns) * rows + Math.floor(k / columns);
  const primary = (k) => {
    const [o, c, tap] = [Math.floor(k / (C * TAPS ** 2)), Math.floor(k / TAPS ** 2) % C, k % TAPS ** 2];
    return (tap * C + c) * C + o;
  };
  const routed = (k) => {
    const [i, d, e] = [Math.floor(k / (J * D_IN * D)), Math.floor(k / D) % D_IN, k % D];
    const j = Math.floor(k / (D_IN * D)) % J;
    return ((placeFirst(i, types) * D_IN + d) * J + j) * D + e;
  };
  const layer = (name, shape, here) => {
    const bound = 1 / Math.sqrt(sizeOf(shape.slice(1))); // as PyTorch begins with convolutions and linear layers
    const bias = { name: `${name}.bias`, shape: [shape[0]], bound, here: (k) => k };
    return [{ name: `${name}.weight`, shape, bound, here }, bias];
  };
  const widths = [J * D, ...HIDDEN, PIXELS];
  const decoder = HIDDEN.concat(PIXELS).map((width, k) =>
    layer(`decoder.${2 * k}`, [width, widths[k]], turned(widths[k], width)),
  );
  let end = 0;
  return [
    ...layer("conv", [C, 1, KERNEL, KERNEL], turned(KERNEL ** 2, C)),
    ...layer("primary.conv", [C, C, TAPS, TAPS], primary),
    { name: "routed.weight", shape: [I, J, D_IN, D], bound: null, here: routed },
    ...decoder.flat(),
  ].map((parameter) => {
    const size = sizeOf(parameter.shape);
    end += size;
    return { ...parameter, size, from: end - size };
  });
}

/** Where capsule i of a file stands here. */
export const placeFirst = (i, types) => (i % PLACES) * types + Math.floor(i / PLACES);

/** Fills the parameters' numbers as my_capsnet.py begins. @param {Float32Array} numbers */
export function begin(numbers, types, seed) {
  const random = makeRandom(seed);
  for (const { bound, from, size } of parameterList(types)) {
    for (let k = from; k < from + size; k++) {
      numbers[k] = bound === null ? 0.1 * normal(random) : bound * (2 * random() - 1);
    }
  }
}

/** The parameters' numbers as tensors by name, { shape, data }, as a file has them. @param {Float32Array} numbers */
export function toTensors(numbers, types) {
  const tensors = {};
  for (const { name, shape, here, from, size } of parameterList(types)) {
    tensors[name] = { shape, data: Float32Array.from({ length: size }, (_, k) => numbers[from + here(k)]) };
  }
  return tensors;
}

/** The other way round. Throws where a tensor is missing or has another shape. @param {Float32Array} numbers */
export function fromTensors(numbers, types, tensors) {
  const list = parameterList(types);
  for (const { name, shape } of list) {
    const got = tensors[name]?.shape;
    if (String(got) !== String(shape)) throw new Error(`expected ${name} [${shape}]; got ${got ? `[${got}]` : "none"}`);
  }
  for (const { name, here, from, size } of list) {
    for (let k = 0; k < size; k++) numbers[from + here(k)] = tensors[name].data[k];
  }
}
