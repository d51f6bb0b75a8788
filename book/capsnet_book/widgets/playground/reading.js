// What a network makes of the digit that is watched, as the glass network knows it: primary capsules
// in a file's order, and the network's sizes beside them.
import { largest, placeOf, strongestOf } from "../glass/model.js";
import { configOf } from "./files.js";
import { capsuleHere } from "./silence.js";
import { D, D_IN, J, KERNEL, PLACES } from "./sizes.js";

export const FILTERS = 16; // that are shown

/** Return which filter is the n-th that is shown, of C. */
export const filterShown = (/** @type {number} */ n, /** @type {number} */ C) => (n * C) / FILTERS;

/**
 * Return numbers of all primary capsules, `size` each, in a file's order.
 * @template {Float32Array | Int8Array} Numbers
 * @param {Numbers} numbers @param {number} size @param {number} types
 * @returns {Numbers}
 */
function inOrder(numbers, size, types) {
  const ordered = numbers.slice();
  for (let i = 0; i < PLACES * types; i++) {
    const here = capsuleHere(i, types) * size;
    ordered.set(numbers.subarray(here, here + size), i * size);
  }
  return /** @type {Numbers} */ (ordered);
}

/** Return maps [C, place] of maps [place, C]. @param {Float32Array} maps @param {number} C */
function byChannel(maps, C) {
  const places = maps.length / C;
  return Float32Array.from(maps, (_, k) => maps[(k % places) * C + Math.floor(k / places)]);
}

/**
 * Return the network's sizes and weights as glass/ looks them up.
 * @param {import("./untrained.js").Frame} frame
 * @param {{ names: string[], input: string, bug?: string }} words  of the classes, of what it
 *   reads, and of the bug that is planted
 */
function networkOf({ types, filters, matrices }, words) {
  const sizes = configOf({ types, rounds: undefined });
  const config = { ...sizes, mixes_places: words.bug === "capsule-view" }; // planted.js
  const ordered = inOrder(matrices, D_IN * J * D, types);

  /** W of the k-th vote, [D_IN, D]. */
  function matrixOf(/** @type {number} */ k) {
    const first = Math.floor(k / J) * D_IN * J * D + (k % J) * D;
    const at = (/** @type {number} */ n) => first + Math.floor(n / D) * J * D + (n % D);
    return Float32Array.from({ length: D_IN * D }, (_, n) => ordered[at(n)]);
  }

  const conv = { O: config.conv_channels, kernel: KERNEL, columns: filters };
  return { config, ...words, I: PLACES * types, J, D_in: D_IN, D_out: D, conv, matrixOf };
}

/**
 * Return a frame's reading: what glass/model.js calls a session, less what takes parts out.
 * @param {import("./untrained.js").Frame} frame
 * @param {{ names: string[], input: string, bug?: string }} words  of the classes, of what it
 *   reads, and of the bug that is planted
 */
export function readingOf(frame, words) {
  const { types, silent, watched } = frame;
  const network = networkOf(frame, words);
  const { I } = network;
  const votes = new Uint8Array(I * J).fill(1);
  for (const i of silent.primary) votes.fill(0, i * J, (i + 1) * J);
  const seen = {
    edges: byChannel(watched.maps, network.conv.O),
    u: inOrder(watched.u, D_IN, types),
    u_hat: inOrder(watched.votes, J * D, types),
  };
  const answer = {
    c: [inOrder(watched.c, J, types)],
    capsules: watched.capsules,
    lengths: watched.lengths,
    prediction: watched.answer,
  };
  const isKept = ({ part, at }) => {
    if (part === "predictions") return votes[at] === 1;
    return !silent[part]?.includes(at);
  };
  const { image, drawing } = watched;
  const reading = { network, votes, seen, answer, isKept, image, drawing };
  const strongest = (/** @type {string} */ part) =>
    part === "maps" ? strongestFilter(reading) : strongestOf(reading, part);
  return { ...reading, strongest };
}

/** Return which of the filters that are shown answers most. */
function strongestFilter(reading) {
  const { seen, network } = reading;
  const places = seen.edges.length / network.conv.O;
  const most = Float32Array.from({ length: FILTERS }, (_, n) => {
    const at = filterShown(n, network.conv.O);
    return seen.edges[at * places + placeOf({ part: "maps", at }, reading)];
  });
  return { part: "maps", at: filterShown(largest(most), network.conv.O) };
}
