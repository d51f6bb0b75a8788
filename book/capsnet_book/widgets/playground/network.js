// The network of book/my_capsnet.py, forward and backward: it calls the kernels, in the order of
// the paper.
//
//   digit ─ conv + ReLU: maps ─ conv: features ─ squash: u ─ W: votes û ─ routing: v
//         ─ mask ─ decoder: drawing
//
// Maps are [B, place, channel]. So a row of all patches is a matrix [B, numbers] as it lies,
// neither copied there nor back. On the way back the gradient of what lies at a pointer is `gap`
// further on.
import { lengthsOf } from "../shared/core.js";
import { convolutionMaps, convolve, convolveBack, denseMap, linear, linearBack } from "./layers.js";
import { Learner } from "./learner.js";
import { drawingLoss, longest, marginLoss, rightAnswers } from "./losses.js";
import { planMemory } from "./memory.js";
import { toTensors } from "./parameters.js";
import { recut, softmaxOverI, softmaxOverIBack, wrongCut } from "./planted.js";
import { capsuleHere, muteVotes } from "./silence.js";
import { D, D_IN, HIDDEN, J, KERNEL, MAPS, PIXELS, PLACES, ROW } from "./sizes.js";

const V = J * D; // numbers in the capsules of a digit

/**
 * @typedef {object} NetworkSettings
 * @property {number} rounds
 * @property {number} types
 * @property {number} batch  a multiple of 4
 * @property {number} seed
 * @property {number} m_plus
 * @property {number} m_minus
 * @property {number} lambda
 * @property {number} drawing  the weight of its loss, 0 for no decoder
 * @property {string} bug  an id of planted.js, or ""
 */

class Network extends Learner {
  #settings;
  #net; // plan, sizes and kernels: what forward and backward work with
  #v; // capsules of the last round
  #dv; // their gradient
  /** @type {import("./silence.js").Silent} */
  #silent = { maps: [], primary: [] };

  /** @param {NetworkSettings} settings @param {(memory: any) => any} makeKernels */
  constructor(settings, makeKernels) {
    const { types, batch: B, bug } = settings;
    const rounds = bug === "no-update-rounds" ? 1 : settings.rounds;
    const plan = planMemory({ types, batch: B, rounds });
    const kernels = makeKernels(plan.memory);
    super(plan, kernels, settings.seed);
    this.#settings = settings;
    this.#net = {
      ...plan,
      B,
      C: 8 * types,
      I: PLACES * types,
      rounds,
      bug,
      maps: linearMaps(plan.at, types),
      k: kernels,
      cut: wrongCut(types),
      silent: { filters: [], capsules: [] }, // as they stand here
    };
    this.#v = this.#lastRound(plan.y.v, V);
    this.#dv = this.#lastRound(plan.dy.v, V);
  }

  /** Return the last round's numbers, `size` a digit, of those of all rounds. */
  #lastRound(numbers, size) {
    const { rounds, B } = this.#net;
    return numbers.subarray((rounds - 1) * B * size);
  }

  /**
   * Mask all capsules but number `classOf(n)` of digit n.
   * @param {(n: number) => number} classOf
   */
  #mask(classOf) {
    const { y, B } = this.#net;
    y.masked.fill(0);
    for (let n = 0; n < B; n++) {
      const from = n * V + classOf(n) * D;
      y.masked.set(this.#v.subarray(from, from + D), from);
    }
  }

  /**
   * Add the gradients of one batch to those that there are.
   * @param {Float32Array} images  [B · 784]
   * @param {Uint8Array} labels  [B]
   * @returns {{ margin: number, drawing: number, right: number }} losses, and right answers
   */
  gradients(images, labels) {
    const net = this.#net;
    net.y.x.set(images);
    encode(net);
    route(net);
    net.slopesOfLayers.fill(0);
    const lengths = lengthsOf(this.#v, net.B * J, D);
    const margin = marginLoss(this.#dv, this.#v, lengths, labels, this.#settings);
    const right = rightAnswers(lengths, labels);
    const drawing = this.#settings.drawing > 0 ? this.#drawingGradients(lengths, labels) : 0;
    routeBack(net);
    encodeBack(net);
    return { margin, drawing, right };
  }

  /** Add the gradients of the drawing's loss to dv and to the decoder's. Return the loss. */
  #drawingGradients(lengths, labels) {
    const net = this.#net;
    const isBug = net.bug === "mask-prediction";
    const classOf = (n) => (isBug ? longest(lengths, n) : labels[n]);
    this.#mask(classOf);
    decode(net);
    const loss = drawingLoss(net.dy.drawing, net.y.drawing, net.y.x, net.B, this.#settings);
    decodeBack(net);
    for (let n = 0; n < net.B; n++) {
      const from = n * V + classOf(n) * D;
      for (let d = from; d < from + D; d++) this.#dv[d] += net.dy.masked[d];
    }
    return loss;
  }

  /**
   * Return what the network makes of images [N · 784]: capsules [N · J · D], their lengths
   * [N · J], answers [N], drawings [N · 784] of the longest capsule, if it draws; and of the last
   * batch's first image, maps [100 · C], u [I · D_IN], votes [I · J · D] and c of the last round
   * [I · J].
   */
  read(/** @type {Float32Array} */ images, draws = this.#settings.drawing > 0) {
    const { B, C, I, y } = this.#net;
    const N = images.length / PIXELS;
    const capsules = new Float32Array(N * V);
    const lengths = new Float32Array(N * J);
    const drawings = new Float32Array(draws ? N * PIXELS : 0);
    this.withAverages(() => {
      for (let from = 0; from < N; from += B) {
        const count = Math.min(B, N - from);
        const batch = images.subarray(from * PIXELS, (from + count) * PIXELS);
        const lengthsOfBatch = this.#readBatch(batch, count, draws);
        capsules.set(this.#v.subarray(0, count * V), from * V);
        lengths.set(lengthsOfBatch.subarray(0, count * J), from * J);
        if (draws) drawings.set(y.drawing.subarray(0, count * PIXELS), from * PIXELS);
      }
    });
    const answers = Uint8Array.from({ length: N }, (_, n) => longest(lengths, n));
    const rows = this.#lastRound(y.c, I * ROW).subarray(0, I * ROW);
    const c = rows.filter((_, k) => k % ROW < J); // less the padding
    const maps = y.maps.slice(0, MAPS * C);
    const votes = y.votes.slice(0, I * V);
    const u = y.u.slice(0, I * D_IN);
    return { maps, u, votes, c, capsules, lengths, answers, drawings };
  }

  /** Run the network on `count` images. Return the lengths, [B · J]. */
  #readBatch(images, count, draws) {
    const net = this.#net;
    const part = { ...net, B: 4 * Math.ceil(count / 4) }; // all rows that matmul needs
    net.y.x.set(images);
    encode(part);
    route(part);
    const lengths = lengthsOf(this.#v, net.B * J, D);
    if (draws) {
      this.#mask((n) => longest(lengths, n));
      decode(part);
    }
    return lengths;
  }

  /** Return the decoder's layers, as shared/core.js has them. */
  decoder() {
    return this.#net.maps.decoder.map(({ weight, bias, K, N }) => ({
      columns: this.averageAt(weight, K * N),
      bias: this.averageAt(bias, N),
    }));
  }

  /** Return W, [I, D_IN, J, D], in 255 steps: enough for a picture. @returns {Int8Array} */
  matrices() {
    const { at, I } = this.#net;
    const weights = this.averageAt(at["routed.weight"], I * D_IN * V);
    let most = 1e-12;
    for (const weight of weights) most = Math.max(most, Math.abs(weight));
    const steps = new Int8Array(weights.length);
    for (let k = 0; k < steps.length; k++) steps[k] = (127 * weights[k]) / most;
    return steps;
  }

  /**
   * Return the averaged weights by name, as a file has them. Those of silent parts are 0, so that
   * who reads the file hears nothing of them either.
   */
  tensors() {
    const averages = this.#net.averages.slice();
    const { maps, primary } = this.#silent;
    for (const at of maps) this.#scale(averages, "maps", at, 0);
    for (const at of primary) this.#scale(averages, "primary", at, 0);
    return toTensors(averages, this.#net.list);
  }

  /** Return the parts that are silent. @returns {import("./silence.js").Silent} */
  silent() {
    return this.#silent;
  }

  /**
   * Hold parts silent, and let all others speak.
   * @param {import("./silence.js").Silent} silent
   */
  hold(silent) {
    const { types } = this.#settings;
    this.#silent = silent;
    this.#net.silent = {
      filters: silent.maps,
      capsules: silent.primary.map((i) => capsuleHere(i, types)),
    };
  }

  /**
   * Multiply the weights of a filter ("maps"), or the matrices of a capsule ("primary").
   * @param {string} part @param {number} at  as a file counts
   */
  nudge(part, at, /** @type {number} */ factor) {
    this.#scale(this.#net.parameters, part, at, factor);
    this.#scale(this.#net.averages, part, at, factor);
  }

  /** Multiply a part's weights among all numbers. @param {Float32Array} numbers */
  #scale(numbers, part, at, factor) {
    const { at: pointers, first, C } = this.#net;
    const from = (name) => (pointers[name] - first) / 4;
    if (part === "maps") {
      numbers[from("conv.bias") + at] *= factor;
      for (let tap = 0; tap < KERNEL ** 2; tap++)
        numbers[from("conv.weight") + tap * C + at] *= factor;
      return;
    }
    const size = D_IN * V;
    const start = from("routed.weight") + capsuleHere(at, this.#settings.types) * size;
    for (let k = start; k < start + size; k++) numbers[k] *= factor;
  }
}

/**
 * Make a network that has learned nothing.
 * @param {NetworkSettings} settings
 * @param {(memory: any) => any} makeKernels  plainKernels, or WebAssembly's
 */
export const makeNetwork = (settings, makeKernels) => new Network(settings, makeKernels);

/**
 * @typedef {import("./layers.js").LinearMap} LinearMap
 */

/** Return the linear maps of W: one for each primary capsule. @returns {LinearMap[]} */
function routedMaps(at, types) {
  const I = PLACES * types;
  return Array.from({ length: I }, (_, i) => ({
    weight: at["routed.weight"] + 4 * i * D_IN * V,
    K: D_IN,
    N: V,
    uses: [[at.votes + 4 * i * V, at.u + 4 * i * D_IN]],
    toRow: I * V,
    fromRow: I * D_IN,
  }));
}

/** Return the maps of all linear layers. */
function linearMaps(at, types) {
  return {
    primary: convolutionMaps(at, types),
    routed: routedMaps(at, types),
    decoder: [
      denseMap(at, "decoder.0", "masked", "hidden1", V, HIDDEN[0]),
      denseMap(at, "decoder.2", "hidden1", "hidden2", HIDDEN[0], HIDDEN[1]),
      denseMap(at, "decoder.4", "hidden2", "drawing", HIDDEN[1], PIXELS),
    ],
  };
}

// ------------------------------------------------------------------------------------ forward

/** Compute the votes from the digits. */
function encode(net) {
  const { k, y, at, B, I } = net;
  convolve(net);
  if (net.bug === "capsule-view") recut(y.features, net.cut);
  // A capsule's numbers are channels, which lie together already.
  k.squash(at.u, at.features, B * I, D_IN);
  y.votes.fill(0);
  linear(net, net.maps.routed);
  muteVotes(y.votes, net.silent.capsules, I, V);
}

/** Route by agreement (procedure 1), and keep what each round held. */
function route(net) {
  const { k, y, at, of, B, I, rounds } = net;
  y.b.fill(0);
  y.s.fill(0);
  for (let t = 0; t < rounds; t++) {
    if (net.bug === "softmax-axis")
      softmaxOverI(couplings(net, of("c", t)), couplings(net, at.b), I);
    else k.softmax(of("c", t), at.b, B * I);
    k.addWeighted(of("s", t), 0, of("c", t), at.votes, V, B, I);
    k.squash(of("v", t), of("s", t), B * J, D);
    if (t < rounds - 1) k.agreements(at.b, at.votes, of("v", t), B, I);
  }
}

const couplings = ({ memory, B, I }, pointer) =>
  new Float32Array(memory.buffer, pointer, B * I * ROW);

/** Compute the drawings from the capsules, all but one masked. */
function decode(net) {
  const { k, at, B } = net;
  for (const layer of net.maps.decoder) {
    const [[to]] = layer.uses;
    k.fillRows(to, layer.bias, B, layer.N);
    linear(net, [layer]);
    if (to === at.drawing) k.sigmoid(to, B * layer.N);
    else k.gate(to, to, B * layer.N);
  }
}

// ----------------------------------------------------------------------------------- backward

/** Compute the gradient of the masked capsules from the drawing's before the sigmoid. */
function decodeBack(net) {
  const { k, at, gap, B } = net;
  for (const layer of net.maps.decoder.toReversed()) {
    const [[to]] = layer.uses;
    if (to !== at.drawing) k.gate(to + gap, to, B * layer.N);
    linearBack(net, [layer]);
    k.sumRows(layer.bias + gap, to + gap, B, layer.N);
  }
}

/** Compute the gradient of the votes from dv of the last round, through all rounds. */
function routeBack(net) {
  const { k, at, of, gap, B, I, rounds } = net;
  for (let t = rounds - 1; t >= 0; t--) {
    const c = of("c", t);
    const s = of("s", t);
    const v = of("v", t);
    // This round's v made the next round's logits, whose gradient is computed already.
    if (t < rounds - 1) k.addWeighted(v + gap, 0, at.b + gap, at.votes, V, B, I);
    k.squashBack(s + gap, s, v + gap, B * J, D);
    k.addWeighted(at.votes + gap, V, c, s + gap, 0, B, I);
    if (t === 0) return; // the first logits are 0 whatever the votes
    k.agreements(c + gap, at.votes, s + gap, B, I);
    if (net.bug === "softmax-axis")
      softmaxOverIBack(couplings(net, at.b + gap), couplings(net, c + gap), couplings(net, c), I);
    else k.softmaxBack(at.b + gap, c + gap, c, B * I);
    k.addWeighted(at.votes + gap, V, at.b + gap, of("v", t - 1), 0, B, I);
  }
}

/** Compute the gradients of the weights below from that of the votes. */
function encodeBack(net) {
  const { k, dy, at, gap, B, I } = net;
  muteVotes(dy.votes, net.silent.capsules, I, V);
  linearBack(net, net.maps.routed);
  k.squashBack(at.features + gap, at.features, at.u + gap, B * I, D_IN);
  if (net.bug === "capsule-view") recut(dy.features, net.cut, true);
  convolveBack(net);
}
