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

export const sizeOf = (shape) => shape.reduce((all, n) => all * n, 1);

/**
 * The parameters in order: their names and shapes in a file, `bound` of the uniform numbers that they begin with
 * (null: normal, as W), and here(k), where the k-th number of the file stands here.
 */
export function parameterList(types) {
  const [C, O, I] = [8 * types, 8 * types, PLACES * types];
  const turned = (columns, rows) => (k) => (k % columns) * rows + Math.floor(k / columns);
  const primary = (k) => {
    const [o, c, tap] = [Math.floor(k / (C * TAPS ** 2)), Math.floor(k / TAPS ** 2) % C, k % TAPS ** 2];
    return (tap * C + c) * O + o;
  };
  const routed = (k) => {
    const [i, j, d, e] = [
      Math.floor(k / (J * D_IN * D)),
      Math.floor(k / (D_IN * D)) % J,
      Math.floor(k / D) % D_IN,
      k % D,
    ];
    return ((placeFirst(i, types) * D_IN + d) * J + j) * D + e;
  };
  const layer = (name, shape, here) => {
    const bound = 1 / Math.sqrt(sizeOf(shape.slice(1))); // as PyTorch begins with convolutions and linear layers
    const bias = { name: `${name}.bias`, shape: [shape[0]], bound, here: (k) => k };
    return [{ name: `${name}.weight`, shape, bound, here }, bias];
  };
  const widths = [J * D, ...HIDDEN, PIXELS];
  const decoder = widths
    .slice(1)
    .flatMap((width, k) => layer(`decoder.${2 * k}`, [width, widths[k]], turned(widths[k], width)));
  return [
    ...layer("conv", [C, 1, KERNEL, KERNEL], turned(KERNEL ** 2, C)),
    ...layer("primary.conv", [O, C, TAPS, TAPS], primary),
    { name: "routed.weight", shape: [I, J, D_IN, D], bound: null, here: routed },
    ...decoder,
  ];
}

/** Where capsule i of a file stands here. */
export const placeFirst = (i, types) => (i % PLACES) * types + Math.floor(i / PLACES);

/** Fills the parameters' numbers as my_capsnet.py begins. @param {Float32Array} numbers */
export function begin(numbers, types, seed) {
  const random = makeRandom(seed);
  let k = 0;
  for (const { shape, bound } of parameterList(types)) {
    for (const end = k + sizeOf(shape); k < end; k++) {
      numbers[k] = bound === null ? 0.1 * normal(random) : bound * (2 * random() - 1);
    }
  }
}

/** The parameters' numbers as tensors by name, { shape, data }, as a file has them. @param {Float32Array} numbers */
export function toTensors(numbers, types) {
  let from = 0;
  const tensors = {};
  for (const { name, shape, here } of parameterList(types)) {
    const [start, size] = [from, sizeOf(shape)];
    tensors[name] = { shape, data: Float32Array.from({ length: size }, (_, k) => numbers[start + here(k)]) };
    from += size;
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
  let from = 0;
  for (const { name, shape, here } of list) {
    for (let k = 0; k < sizeOf(shape); k++) numbers[from + here(k)] = tensors[name].data[k];
    from += sizeOf(shape);
  }
}
