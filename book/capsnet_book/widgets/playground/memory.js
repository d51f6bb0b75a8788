// One memory for all numbers of a training: WebAssembly's, or an ArrayBuffer of the same plan.
import { allocated } from "../shared/kernels.js";
import { convolutionalParameters, hiddenOf, parameterList } from "./parameters.js";
import { D, D_IN, HIDDEN, J, MAPS, PIXELS, PLACES, ROW, SCORES } from "./sizes.js";

/**
 * @typedef {Record<string, Float32Array>} Layers  numbers of each layer for a batch, by name
 *
 * @typedef {object} Plan  where everything lies; a pointer is in bytes, a multiple of 16
 * @property {any} memory  WebAssembly's, or a buffer that looks like one
 * @property {Record<string, number>} at  pointers to parameters and layers, by name
 * @property {import("./parameters.js").Parameter[]} list  of parameters
 * @property {(name: string, t: number) => number} of  a pointer to what round t of routing holds
 * @property {number} gap  the gradient of what lies at a pointer is so many bytes further on
 * @property {number} count  of all parameters' numbers
 * @property {number} first  pointer to them
 * @property {number} mean  pointer to Adam's mean of the gradients
 * @property {number} square  pointer to Adam's mean of their squares
 * @property {number} average  pointer to the parameters' average over steps
 * @property {number} turn  so many bytes after a weight there is room for it transposed
 * @property {Layers} y
 * @property {Layers} dy  their gradients
 * @property {Float32Array} parameters
 * @property {Float32Array} slopes  the parameters' gradients
 * @property {Float32Array} averages
 * @property {Float32Array} learned  Adam's two means, and the averages
 * @property {Float32Array} slopesOfLayers  all of dy
 */

/** Return how many numbers each layer of a capsule network holds for a batch. */
function layerSizes({ types, batch: B, rounds }) {
  const C = 8 * types;
  const I = PLACES * types;
  return {
    x: B * PIXELS,
    maps: B * MAPS * C,
    features: B * I * D_IN,
    u: B * I * D_IN,
    votes: B * I * J * D,
    b: B * I * ROW,
    c: rounds * B * I * ROW,
    s: rounds * B * J * D,
    v: rounds * B * J * D,
    masked: B * J * D,
    hidden1: B * HIDDEN[0],
    hidden2: B * HIDDEN[1],
    drawing: B * PIXELS,
  };
}

/** Return how many numbers each layer of a CNN holds for a batch. */
function convolutionalSizes({ types, batch: B }) {
  const C = 8 * types;
  return {
    x: B * PIXELS,
    maps: B * MAPS * C,
    features: B * PLACES * C,
    hidden: B * hiddenOf(types),
    scores: B * SCORES,
  };
}

/**
 * Plan the memory of a capsule network in training, and allocate it.
 * @param {{ types: number, batch: number, rounds: number }} settings  batch: a multiple of 4
 */
export const planMemory = (settings) =>
  planned(parameterList(settings.types), layerSizes(settings), settings.rounds);

/**
 * Plan the memory of a CNN in training, and allocate it.
 * @param {{ types: number, batch: number }} settings  batch: a multiple of 4
 */
export const planConvolutionalMemory = (settings) =>
  planned(convolutionalParameters(settings.types), convolutionalSizes(settings), 1);

/**
 * Plan the memory of parameters and layers, and allocate it.
 * @param {import("./parameters.js").Parameter[]} list  of parameters
 * @param {Record<string, number>} sizes  of layers
 * @param {number} rounds  of routing
 * @returns {Plan}
 */
function planned(list, sizes, rounds) {
  const count = list.reduce((sum, { size }) => sum + size, 0);
  const first = 64; // nothing at 0
  const at = Object.fromEntries(list.map(({ name, from }) => [name, first + 4 * from]));
  let end = first + 4 * count;
  for (const [name, size] of Object.entries(sizes)) {
    at[name] = end;
    end += 4 * size;
  }
  const gap = end - first;
  const mean = end + gap;
  const square = mean + 4 * count;
  const average = square + 4 * count;
  const turned = average + 4 * count; // transposed weights
  const memory = allocated(turned + 4 * count);

  const view = (pointer, length) => new Float32Array(memory.buffer, pointer, length);
  const layers = (offset) =>
    Object.fromEntries(
      Object.entries(sizes).map(([name, size]) => [name, view(at[name] + offset, size)]),
    );
  return {
    memory,
    at,
    list,
    of: (name, t) => at[name] + 4 * t * (sizes[name] / rounds),
    gap,
    count,
    first,
    mean,
    square,
    average,
    turn: turned - first,
    y: layers(0),
    dy: layers(gap),
    parameters: view(first, count),
    slopes: view(first + gap, count),
    averages: view(average, count),
    learned: view(mean, 3 * count),
    slopesOfLayers: view(at.x + gap, (end - at.x) / 4),
  };
}
