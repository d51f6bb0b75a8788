// The layers that networks of the playground share, forward and backward: two convolutions, and
// dense layers.
import { muteFilters } from "./silence.js";
import { ACROSS, MAPS, PLACES, TAPS } from "./sizes.js";

/**
 * @typedef {object} LinearMap  to[B, N] += from[B, K] weight[K, N], for each [to, from] of `uses`
 * @property {number} weight  a pointer
 * @property {number} [bias]
 * @property {number} K
 * @property {number} N
 * @property {number[][]} uses  pointers
 * @property {number} toRow  rows of a batch lie so many numbers apart
 * @property {number} fromRow
 */

/**
 * Return the second convolution's linear maps: one for each row of its kernel.
 * @param {Record<string, number>} at  pointers, by name
 * @param {number} types  of primary capsules
 * @returns {LinearMap[]}
 */
export function convolutionMaps(at, types) {
  const C = 8 * types;
  const K = TAPS * C; // numbers in a row of a patch
  return Array.from({ length: TAPS }, (_, row) => ({
    weight: at["primary.conv.weight"] + 4 * row * K * C,
    K,
    N: C,
    uses: Array.from({ length: PLACES }, (_, place) => {
      const first = (2 * Math.floor(place / 3) + row) * ACROSS + 2 * (place % 3);
      return [at.features + 4 * place * C, at.maps + 4 * first * C];
    }),
    toRow: PLACES * C,
    fromRow: MAPS * C,
  }));
}

/**
 * Return the linear map of a dense layer.
 * @param {Record<string, number>} at  pointers, by name
 * @param {string} name  of its weight and bias
 * @param {string} from @param {string} to  what it is computed from, and what it computes
 * @param {number} K @param {number} N  numbers of either, a digit
 * @returns {LinearMap}
 */
export function denseMap(at, name, from, to, K, N) {
  return {
    weight: at[`${name}.weight`],
    bias: at[`${name}.bias`],
    K,
    N,
    uses: [[at[to], at[from]]],
    toRow: N,
    fromRow: K,
  };
}

/** Add to each map's output its input times its weight. */
export function linear({ k, B }, /** @type {LinearMap[]} */ maps) {
  for (const { weight, K, N, uses, toRow, fromRow } of maps) {
    for (const [to, from] of uses) k.matmul(to, toRow, from, fromRow, 1, weight, N, B, K, N);
  }
}

/** Add the gradients of weights and of inputs; for the latter every weight is transposed. */
export function linearBack({ k, B, gap, turn }, /** @type {LinearMap[]} */ maps) {
  for (const { weight, K, N, uses, toRow, fromRow } of maps) {
    k.transpose(weight + turn, weight, K, N);
    for (const [to, from] of uses) {
      k.matmul(weight + gap, N, from, 1, fromRow, to + gap, toRow, K, B, N);
      k.matmul(from + gap, fromRow, to + gap, toRow, 1, weight + turn, K, B, N, K);
    }
  }
}

/** Compute the features from the digits: a convolution, ReLU, a convolution. @param {any} net */
export function convolve(net) {
  const { k, y, at, B, C } = net;
  k.fillRows(at.maps, at["conv.bias"], B * MAPS, C);
  k.overInk(at.maps, at.x, at["conv.weight"], B, C, 0);
  k.gate(at.maps, at.maps, B * MAPS * C);
  muteFilters(y.maps, net.silent.filters, C);
  k.fillRows(at.features, at["primary.conv.bias"], B * PLACES, C);
  linear(net, net.maps.primary);
}

/** Compute the gradients of both convolutions' weights from that of the features. */
export function convolveBack(/** @type {any} */ net) {
  const { k, at, gap, B, C } = net;
  k.sumRows(at["primary.conv.bias"] + gap, at.features + gap, B * PLACES, C);
  linearBack(net, net.maps.primary);
  k.gate(at.maps + gap, at.maps, B * MAPS * C);
  k.sumRows(at["conv.bias"] + gap, at.maps + gap, B * MAPS, C);
  k.overInk(at.maps + gap, at.x, at["conv.weight"] + gap, B, C, 1);
}
