// The capsules that turn (capsnet_book/turning.py), in plain JavaScript:
//
//   image ─ filters, each turned to K angles ─ peaks: parts with a pose M ─ votes M W ─ pairs of
//   votes that coincide
//         ─ ten scores, and by how much the best class is turned
//
// x points right and y up, angles are anticlockwise, as in the Python file.
import { bendDigit, STRAIGHT } from "./bending.js";
import { convolve, drawnBy, layer, readSafetensors, softmaxOverJ } from "./core.js";

/** @typedef {{ kind: number, x: number, y: number, turn: number, presence: number }} Part
 *   x, y: pixels from the picture's middle; turn: radians; presence: 0 to 1 */
/** @typedef {{ part: number, place: number[], direction: number[], weight: number }} Vote
 *   part: its number; place, direction [x, y]; weight: what it adds to the pairs of its class */
/** @typedef {{ first: number, second: number, closeness: number }} Pair  two votes' numbers */

const SIDE = 28;
const MARGIN = 2; // a filter's middle stays so many pixels from the border
const UNIT = 7; // pixels in one unit of a place
const EPSILON = 0.01;
const FAINTEST = 1e-6; // presences below this count as this

/**
 * A filter turned, with mean 0 and norm 1 on its disk, and 0 outside. filter [S · S] -> [S · S]
 * @param {Float32Array} filter @param {number} angle  radians
 */
export function turnedFilter(filter, S, angle) {
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  const middle = (S - 1) / 2;
  const pixel = (row, column) =>
    row >= 0 && row < S && column >= 0 && column < S ? filter[row * S + column] : 0;
  const turned = new Float32Array(S * S);
  const disk = [];
  for (let row = 0; row < S; row++) {
    for (let column = 0; column < S; column++) {
      const x = column - middle;
      const y = row - middle; // y points down here
      if (x * x + y * y > (S / 2) ** 2) continue;
      const fromX = cos * x - sin * y + middle;
      const fromY = sin * x + cos * y + middle;
      const left = Math.floor(fromX);
      const top = Math.floor(fromY);
      const dx = fromX - left;
      const dy = fromY - top;
      const upper = (1 - dx) * pixel(top, left) + dx * pixel(top, left + 1);
      const lower = (1 - dx) * pixel(top + 1, left) + dx * pixel(top + 1, left + 1);
      turned[row * S + column] = (1 - dy) * upper + dy * lower;
      disk.push(row * S + column);
    }
  }
  const mean = disk.reduce((sum, k) => sum + turned[k], 0) / disk.length;
  for (const k of disk) turned[k] -= mean;
  const norm = Math.hypot(...disk.map((k) => turned[k]));
  return turned.map((number) => number / norm);
}

/**
 * The network of a weights file: { forward(image), about }.
 * forward -> { scores, probabilities, prediction, parts, votes, pairs, turn, pose }: from votes on
 * of the best class; turn in degrees; pose [6], where the votes meet, turned back by the turn.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: methods on one set of weights
export function makeTurningNet(source) {
  const { tensors, metadata } = readSafetensors(source);
  const { turns: K, count: N } = JSON.parse(metadata.sizes);
  const filters = tensors["network.filters"];
  const [T, S] = filters.shape;
  const [, , matrices, J] = tensors["network.weight"].shape;
  const W = tensors["network.weight"].data;
  const level = tensors["network.level"].data;
  const [slope] = tensors["network.slope"].data;
  const prior = tensors["network.agreement.log_prior"].data;
  const [width] = tensors["network.agreement.width"].data;
  const [gain] = tensors["network.agreement.gain"].data;
  const template = tensors.template.data;
  const V = T * N * matrices; // votes for a class

  const columns = new Float32Array(S * S * T * K); // the bank, by columns: [S · S, T · K]
  for (let kind = 0; kind < T; kind++) {
    const filter = filters.data.subarray(kind * S * S, (kind + 1) * S * S);
    for (let turn = 0; turn < K; turn++) {
      const turned = turnedFilter(filter, S, (2 * Math.PI * turn) / K);
      for (let k = 0; k < S * S; k++) columns[k * T * K + kind * K + turn] = turned[k];
    }
  }
  const look = { O: T * K, C: 1, kernel: S, stride: 1, columns, bias: new Float32Array(T * K) };
  const border = (S >> 1) - MARGIN;
  const wide = SIDE + 2 * border;
  const out = SIDE - 2 * MARGIN;

  /** Of one kind: at every place the best turned copy's answer, and which copy it is. */
  function bestOf(answers, kind) {
    const best = new Float32Array(out * out);
    const copies = new Uint8Array(out * out);
    for (let place = 0; place < out * out; place++) {
      best[place] = -Infinity;
      for (let turn = 0; turn < K; turn++) {
        const answer = answers[(kind * K + turn) * out * out + place];
        if (answer <= best[place]) continue;
        best[place] = answer;
        copies[place] = turn;
      }
    }
    return { best, copies };
  }

  /** Whether a place has the largest of the nine answers around it. */
  function isPeak(best, place) {
    const row = Math.floor(place / out);
    const column = place % out;
    for (let r = Math.max(0, row - 1); r <= Math.min(out - 1, row + 1); r++) {
      for (let c = Math.max(0, column - 1); c <= Math.min(out - 1, column + 1); c++) {
        if (best[r * out + c] > best[place]) return false;
      }
    }
    return true;
  }

  /** The N strongest peaks of every kind. @returns {Part[]} */
  function findParts(image) {
    const padded = new Float32Array(wide * wide);
    for (let row = 0; row < SIDE; row++) {
      const line = image.subarray(row * SIDE, (row + 1) * SIDE);
      padded.set(line, (row + border) * wide + border);
    }
    const answers = convolve(padded, wide, look);
    const parts = [];
    for (let kind = 0; kind < T; kind++) {
      const { best, copies } = bestOf(answers, kind);
      const peaks = [...best.keys()].filter((place) => isPeak(best, place));
      peaks.sort((p, q) => best[q] - best[p]);
      for (const place of peaks.slice(0, N)) {
        parts.push({
          kind,
          x: (place % out) + MARGIN - (SIDE - 1) / 2,
          y: (SIDE - 1) / 2 - Math.floor(place / out) - MARGIN,
          turn: (2 * Math.PI * copies[place]) / K,
          presence: 1 / (1 + Math.exp(-slope * (best[place] - level[kind]))),
        });
      }
    }
    return parts;
  }

  /**
   * Votes for class j: M W row by row [V · 6], and the logarithm of each one's weight [V]. A part's
   * votes lie behind each other, a kind's parts do, too.
   */
  function votesFor(/** @type {Part[]} */ parts, j) {
    const v = new Float64Array(V * 6);
    const weight = new Float64Array(V);
    parts.forEach(({ kind, x, y, turn, presence }, part) => {
      const cos = Math.cos(turn);
      const sin = Math.sin(turn);
      for (let m = 0; m < matrices; m++) {
        const from = ((kind * matrices + m) * J + j) * 9;
        const vote = part * matrices + m;
        for (let column = 0; column < 3; column++) {
          const a = W[from + column];
          const b = W[from + 3 + column];
          const c = W[from + 6 + column];
          v[vote * 6 + column] = cos * a - sin * b + (x / UNIT) * c;
          v[vote * 6 + 3 + column] = sin * a + cos * b + (y / UNIT) * c;
        }
        const log = Math.log(Math.max(presence, FAINTEST));
        weight[vote] = log + prior[(kind * matrices + m) * J + j];
      }
    });
    return { v, weight };
  }

  /** Calls visit(first, second, closeness) for every pair of votes of different kinds. */
  function eachPair({ v, weight }, visit) {
    const ofKind = N * matrices;
    for (let a = ofKind; a < V; a++) {
      const end = a - (a % ofKind); // the votes of the kinds before
      for (let b = 0; b < end; b++) {
        let apart = 0;
        for (let d = 0; d < 6; d++) apart += (v[a * 6 + d] - v[b * 6 + d]) ** 2;
        visit(a, b, Math.exp(weight[a] + weight[b] - apart / (2 * width * width)));
      }
    }
  }

  function scoreOf(votes) {
    let count = EPSILON;
    eachPair(votes, (_, __, closeness) => {
      count += closeness;
    });
    return gain * Math.log(count);
  }

  /**
   * The votes for a class with what each adds, its closest pairs, by how many degrees they are
   * turned, and the pose where they meet, turned back.
   */
  function meetingOf(parts, j) {
    const votes = votesFor(parts, j);
    const support = new Float64Array(V);
    /** @type {Pair[]} */
    const pairs = [];
    eachPair(votes, (first, second, closeness) => {
      support[first] += closeness;
      support[second] += closeness;
      pairs.push({ first, second, closeness });
    });
    pairs.sort((p, q) => q.closeness - p.closeness);
    const meeting = new Float64Array(6);
    for (let k = 0; k < V * 6; k++) meeting[k % 6] += support[Math.floor(k / 6)] * votes.v[k];
    const total = support.reduce((sum, x) => sum + x, FAINTEST);
    for (let k = 0; k < 6; k++) meeting[k] /= total;
    let cos = 0;
    let sin = 0;
    for (let k = 0; k < 3; k++) {
      const across = template[j * 6 + k];
      const up = template[j * 6 + 3 + k];
      cos += across * meeting[k] + up * meeting[3 + k];
      sin += across * meeting[3 + k] - up * meeting[k];
    }
    const turn = Math.atan2(sin, cos);
    const listed = Array.from(support, (weight, vote) => ({
      part: Math.floor(vote / matrices),
      place: [votes.v[vote * 6 + 2], votes.v[vote * 6 + 5]],
      direction: [votes.v[vote * 6], votes.v[vote * 6 + 3]],
      weight,
    }));
    const pose = turnedBack(meeting, turn);
    return { votes: listed, pairs, turn: (turn * 180) / Math.PI, pose };
  }

  function forward(/** @type {Float32Array} */ image) {
    const parts = findParts(image);
    const scores = Float32Array.from({ length: J }, (_, j) => scoreOf(votesFor(parts, j)));
    const prediction = scores.indexOf(Math.max(...scores));
    const probabilities = softmaxOverJ(scores, 1, J);
    return { scores, probabilities, prediction, parts, ...meetingOf(parts, prediction) };
  }

  return { forward, about: { kinds: T, turns: K, count: N, matrices, classes: J } };
}

/** A pose, two rows of three numbers, turned back. @param {number} angle  radians */
function turnedBack(/** @type {Float64Array} */ pose, angle) {
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  const across = Array.from(pose.subarray(0, 3));
  const up = Array.from(pose.subarray(3, 6));
  const backAcross = across.map((x, k) => cos * x + sin * up[k]);
  const backUp = up.map((y, k) => cos * y - sin * across[k]);
  return [...backAcross, ...backUp];
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
