// The capsules that turn (turning/network.js) as widgets read with them: the answer, the parts, the
// votes for the best class, and by how much that class is turned.
import { loadKernels } from "../turning/kernels.js";
import { PIXELS_OF_A_UNIT, TurningNetwork } from "../turning/network.js";
import { sizesOf } from "../turning/parameters.js";
import { turnedBack } from "../turning/template.js";
import { bendDigit, STRAIGHT } from "./bending.js";
import { drawnBy, layer, readSafetensors, softmaxOverJ } from "./core.js";

/** @typedef {{ kind: number, x: number, y: number, turn: number, presence: number }} Part
 *   x, y: pixels from the picture's middle; turn: radians; presence: 0 to 1 */
/** @typedef {{ part: number, place: number[], direction: number[], weight: number }} Vote
 *   part: its number; place, direction [x, y]; weight: what it adds to the pairs of its class */
/** @typedef {{ first: number, second: number, closeness: number }} Pair  two votes' numbers */

/** Return the network of a weights file, as readerOf() does. */
export async function makeTurningNet(/** @type {ArrayBuffer | ArrayBufferView} */ source) {
  const { tensors, metadata } = readSafetensors(source);
  return readerOf(tensors, JSON.parse(metadata.sizes), await loadKernels());
}

/**
 * Return what reads with a network's tensors: { answer(image), forward(image), about }.
 * answer -> { scores, probabilities, prediction }, in a third of forward's time.
 * forward -> { …answer, parts, votes, pairs, turn, pose }: from votes on of the best class; turn in
 * degrees; pose [6], where the votes meet, turned back by the turn.
 * @param {Record<string, import("./core.js").Tensor>} tensors
 * @param {{ turns: number, count: number }} others  sizes that no tensor has
 * @param {(memory: any) => any} makeKernels
 */
export function readerOf(tensors, others, makeKernels) {
  const sizes = sizesOf(tensors, others);
  const { T, K, N, m, J } = sizes;
  const template = tensors.template.data;
  const network = new TurningNetwork(sizes, makeKernels);
  network.load(tensors);

  /** Return the parts of the image last read. @returns {Part[]} */
  function partsHere() {
    const { turn, presence, poses } = network.parts;
    return Array.from(presence, (there, part) => ({
      kind: Math.floor(part / N),
      x: poses[6 * part + 2] * PIXELS_OF_A_UNIT,
      y: poses[6 * part + 5] * PIXELS_OF_A_UNIT,
      turn: (2 * Math.PI * turn[part]) / K,
      presence: there,
    }));
  }

  /** Return all pairs of votes of different kinds, the closest first. @returns {Pair[]} */
  function pairsOf(/** @type {ReturnType<TurningNetwork["votesFor"]>} */ votes) {
    const width = network.width();
    const pairs = [];
    for (let first = N * m; first < votes.length; first++) {
      const end = first - (first % (N * m)); // the votes of the kinds before
      for (let second = 0; second < end; second++) {
        const [a, b] = [votes[first], votes[second]];
        let apart = 0;
        for (let d = 0; d < 6; d++) apart += (a.v[d] - b.v[d]) ** 2;
        const closeness = Math.exp(a.weight + b.weight - apart / (2 * width * width));
        pairs.push({ first, second, closeness });
      }
    }
    return pairs.sort((p, q) => q.closeness - p.closeness);
  }

  /** Return by how many radians the pose of class j is turned against its template. */
  function turnOf(/** @type {Float64Array} */ pose, /** @type {number} */ j) {
    let cos = 0;
    let sin = 0;
    for (let k = 0; k < 3; k++) {
      const across = template[j * 6 + k];
      const up = template[j * 6 + 3 + k];
      cos += across * pose[k] + up * pose[3 + k];
      sin += across * pose[3 + k] - up * pose[k];
    }
    return Math.atan2(sin, cos);
  }

  /** Return the votes for class j, its pairs, and the pose where the votes meet. */
  function meetingOf(/** @type {number} */ j) {
    const votes = network.votesFor(j);
    const meeting = network.meeting(j);
    const turn = turnOf(meeting, j);
    /** @type {Vote[]} */
    const listed = votes.map(({ part, v, support }) => ({
      part,
      place: [v[2], v[5]],
      direction: [v[0], v[3]],
      weight: support,
    }));
    const pose = Array.from(turnedBack(meeting, turn));
    return { votes: listed, pairs: pairsOf(votes), turn: (turn * 180) / Math.PI, pose };
  }

  function answer(/** @type {Float32Array} */ image) {
    const scores = Float32Array.from(network.read(image));
    const prediction = scores.indexOf(Math.max(...scores));
    return { scores, probabilities: softmaxOverJ(scores, 1, J), prediction };
  }

  function forward(/** @type {Float32Array} */ image) {
    const answered = answer(image);
    return { ...answered, parts: partsHere(), ...meetingOf(answered.prediction) };
  }

  return { answer, forward, about: { kinds: T, turns: K, count: N, matrices: m, classes: J } };
}

/**
 * The decoder of a weights file: draw(pose, j, turn) -> a digit of class j [28 · 28], drawn upright
 * from its pose [6], then turned by so many degrees.
 */
export function makePoseDecoder(/** @type {ArrayBuffer | ArrayBufferView} */ source) {
  const { tensors } = readSafetensors(source);
  const layers = [0, 2, 4].map((n) => layer(tensors, `layers.${n}`));
  const [, inputs] = tensors["layers.0.weight"].shape; // 6 of every class

  /** @param {number[]} pose @param {number} j @param {number} turn */
  function draw(pose, j, turn) {
    const masked = new Float32Array(inputs);
    masked.set(pose, 6 * j);
    return bendDigit(drawnBy(layers, masked), { ...STRAIGHT, turn });
  }
  return { draw };
}
