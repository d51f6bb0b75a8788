// The weights: how many there are, how they begin, and where a file has which of them.
//
// Here channels run fastest, a kernel's row of pixels lies in one piece, and primary capsule i stands at
// place · types + type; in a file, as in PyTorch, at type · places + place.
import { makeRandom, normal } from "./random.js";
import { D, D_IN, HIDDEN, J, KERNEL, PIXELS, PLACES, TAPS } from "./sizes.js";

const sizeOf = (shape) => shape.reduce((all, n) => all * n, 1);

/** -> here(k): where the k-th number of a tensor stands once its axes stand in another order. */
export function turned(shape, axes) {
  const strides = axes.map((_, n) => sizeOf(axes.slice(n + 1).map((axis) => shape[axis]))); // in the new order
  const steps = shape.map((_, axis) => strides[axes.indexOf(axis)]);
  return (k) =>
    shape.reduceRight((at, size, axis) => {
      const index = k % size;
      k = (k - index) / size;
      return at + index * steps[axis];
    }, 0);
}

/**
 * The parameters in order: their names and shapes in a file, `bound` of the uniform numbers that they begin with
 * (0: normal, as W), `from` and `size` among all numbers, and here(k), where the k-th number of the file stands.
 */
export function parameterList(types) {
  const [C, I] = [8 * types, PLACES * types];
  const layer = (name, shape, axes) => [
    {
      name: `${name}.weight`,
      shape,
      bound: 1 / Math.sqrt(sizeOf(shape.slice(1))),
      here: turned(shape, axes),
    },
    {
      name: `${name}.bias`,
      shape: [shape[0]],
      bound: 1 / Math.sqrt(sizeOf(shape.slice(1))),
      here: (k) => k,
    },
  ];
  const widths = [J * D, ...HIDDEN, PIXELS];
  const W = turned([types, PLACES, J, D_IN, D], [1, 0, 3, 2, 4]);
  let end = 0;
  return [
    ...layer("conv", [C, 1, KERNEL, KERNEL], [1, 2, 3, 0]),
    ...layer("primary.conv", [C, C, TAPS, TAPS], [2, 3, 1, 0]),
    { name: "routed.weight", shape: [I, J, D_IN, D], bound: 0, here: W },
    ...[0, 1, 2].flatMap((n) => layer(`decoder.${2 * n}`, [widths[n + 1], widths[n]], [1, 0])),
  ].map((parameter) => {
    const size = sizeOf(parameter.shape);
    end += size;
    return { ...parameter, size, from: end - size };
  });
}

/** Fills the parameters' numbers as my_capsnet.py begins. @param {Float32Array} numbers */
export function begin(numbers, types, seed) {
  const random = makeRandom(seed);
  for (const { bound, from, size } of parameterList(types)) {
    for (let k = from; k < from + size; k++)
      numbers[k] = bound ? bound * (2 * random() - 1) : 0.1 * normal(random);
  }
}

/** The parameters' numbers as tensors by name, { shape, data }, as a file has them. @param {Float32Array} numbers */
export function toTensors(numbers, types) {
  const tensors = {};
  for (const { name, shape, here, from, size } of parameterList(types)) {
    tensors[name] = {
      shape,
      data: Float32Array.from({ length: size }, (_, k) => numbers[from + here(k)]),
    };
  }
  return tensors;
}

/** The other way round. Throws, and writes nothing, where a tensor is missing or has another shape. */
export function fromTensors(numbers, types, tensors) {
  const parameters = parameterList(types);
  for (const { name, shape } of parameters) {
    const got = tensors[name]?.shape;
    if (String(got) !== String(shape))
      throw new Error(`expected ${name} [${shape}]; got ${got ? `[${got}]` : "none"}`);
  }
  for (const { name, here, from } of parameters) {
    tensors[name].data.forEach((x, k) => (numbers[from + here(k)] = x));
  }
}
