// The network of book/my_capsnet.py, forward and backward: it calls the kernels, in the order of the paper.
//
//   digit ─ conv + ReLU: maps ─ conv: features ─ squash: u ─ W: votes û ─ routing: v ─ mask ─ decoder: drawing
//
// Maps are [B, place, channel]. So a row of all patches is a matrix [B, numbers] as it lies, neither copied there nor
// back. On the way back each gradient dy.x stands beside its y.x.
import { drawingLoss, lengthsOf, longest, marginLoss } from "./losses.js";
import { makeMemory, planMemory } from "./memory.js";
import { begin, fromTensors, toTensors } from "./parameters.js";
import { regroup, regroupBack, softmaxOverI, softmaxOverIBack, wrongCut } from "./planted.js";
import { D, D_IN, HIDDEN, J, KERNEL, MAPS, PIXELS, PLACES, ROW, TAPS } from "./sizes.js";

/**
 * @typedef {{ rounds: number, types: number, batch: number, seed: number, m_plus: number, m_minus: number,
 *   lambda: number, drawing: number, bug: string }} NetworkSettings  batch: a multiple of 4; drawing: the weight of its
 *   loss, 0 for no decoder; bug: an id of planted.js, or ""
 */

const V = J * D;

/**
 * A network that has learned nothing.
 * @param {NetworkSettings} settings
 * @param {(memory: any) => any} makeKernels  plainKernels, or WebAssembly's
 */
export function makeNetwork(settings, makeKernels) {
  const { types, batch: B, bug } = settings;
  const rounds = bug === "no-update-rounds" ? 1 : settings.rounds;
  const plan = planMemory(settings, rounds);
  const memory = makeMemory(plan.bytes);
  const numbers = new Float32Array(memory.buffer);
  const view = (pointer, length) => numbers.subarray(pointer >> 2, (pointer >> 2) + length);
  const sizes = { B, rounds, types, C: 8 * types, I: PLACES * types, view };
  const net = { ...plan, ...sizes, k: makeKernels(memory), settings, cut: wrongCut(types) };

  const parameters = view(plan.first, plan.count);
  const [x, v] = [view(plan.y.x, B * PIXELS), view(plan.of("v", rounds - 1), B * V)];
  const masked = view(plan.y.masked, B * V);
  const drawn = view(plan.y.drawing, B * PIXELS);
  begin(parameters, types, settings.seed);
  let [power1, power2] = [1, 1]; // β1^t, β2^t

  /** Keeps capsule `kept(n)` of digit n. */
  function mask(kept) {
    masked.fill(0);
    for (let n = 0; n < B; n++) {
      const from = n * V + kept(n) * D;
      masked.set(v.subarray(from, from + D), from);
    }
  }

  /** The gradients of one batch, added to those that there are. images [B · PIXELS] -> its losses and right answers */
  function learn(images, labels) {
    x.set(images);
    encode(net);
    route(net);
    const dv = view(plan.dv, B * V);
    const margin = marginLoss(dv, v, labels, settings);
    const lengths = lengthsOf(v);
    const right = labels.reduce((all, label, n) => all + Number(longest(lengths, n) === label), 0);
    let drawing = 0;
    transposeWeights(net);
    if (settings.drawing > 0) {
      const kept = (n) => (bug === "mask-prediction" ? longest(lengths, n) : labels[n]);
      mask(kept);
      decode(net);
      drawing = drawingLoss(view(plan.dy.drawing, B * PIXELS), drawn, x, B, settings);
      decodeBack(net);
      const dMasked = view(plan.dy.masked, B * V);
      for (let n = 0; n < B; n++) {
        for (let d = n * V + kept(n) * D, end = d + D; d < end; d++) dv[d] += dMasked[d];
      }
    }
    routeBack(net);
    encodeBack(net);
    return { margin, drawing, right };
  }

  /** One step of Adam, with the gradients that there are. */
  function update(rate) {
    power1 *= 0.9;
    power2 *= 0.999;
    const { first, gradients, mean, square, count } = plan;
    net.k.adam(first, gradients, mean, square, count, rate / (1 - power1), 1 / Math.sqrt(1 - power2));
  }

  /**
   * What the network makes of images [N · PIXELS]: lengths [N · J], capsules [N · J · D], answers [N], and drawings
   * [N · PIXELS] of the longest capsule, if it draws; of the last, u, votes' couplings c of the last round.
   */
  function read(images, draws = settings.drawing > 0) {
    const N = images.length / PIXELS;
    const lengths = new Float32Array(N * J);
    const capsules = new Float32Array(N * V);
    const drawings = new Float32Array(draws ? N * PIXELS : 0);
    for (let n = 0; n < N; n += B) {
      const now = Math.min(B, N - n);
      x.fill(0);
      x.set(images.subarray(n * PIXELS, (n + now) * PIXELS));
      encode(net);
      route(net);
      const found = lengthsOf(v);
      lengths.set(found.subarray(0, now * J), n * J);
      capsules.set(v.subarray(0, now * V), n * V);
      if (!draws) continue;
      mask((m) => longest(found, m));
      decode(net);
      drawings.set(drawn.subarray(0, now * PIXELS), n * PIXELS);
    }
    const answers = Uint8Array.from({ length: N }, (_, n) => longest(lengths, n));
    const last = (N - 1) % B;
    const u = view(plan.y.u, B * net.I * D_IN).slice(last * net.I * D_IN, (last + 1) * net.I * D_IN);
    const c = view(plan.of("c", rounds - 1), B * net.I * ROW).slice(last * net.I * ROW, (last + 1) * net.I * ROW);
    return { lengths, capsules, drawings, answers, u, c };
  }

  const slopes = view(plan.gradients, plan.count);
  return {
    settings,
    gradients: learn,
    update,
    read,
    /** The first layer's weights, [81, C]. */
    filters: () => view(plan.at["conv.weight"], KERNEL ** 2 * net.C).slice(),
    tensors: () => toTensors(parameters, types),
    slopes: () => toTensors(slopes, types),
    load: (tensors) => fromTensors(parameters, types, tensors),
  };
}

// --------------------------------------------------------------------------------------------- forward

/** work(offset of the pixels below, offset of the place above, row of the kernel) for all rows of all patches. */
function forPatches({ C }, work) {
  for (let row = 0; row < TAPS; row++) {
    for (let place = 0; place < PLACES; place++) {
      const below = (2 * Math.floor(place / 3) + row) * 10 + 2 * (place % 3);
      work(4 * below * C, 4 * place * C, row);
    }
  }
}

/** From digits to votes. */
function encode(net) {
  const { k, y, at, B, C, I, settings } = net;
  k.convolveInk(y.maps, y.x, at["conv.weight"], at["conv.bias"], B, C);
  k.fillRows(y.features, at["primary.conv.bias"], B * PLACES, C);
  const K = TAPS * C; // numbers in a row of a patch
  forPatches(net, (below, above, row) => {
    const weight = at["primary.conv.weight"] + 4 * row * K * C;
    k.matmul(y.features + above, PLACES * C, y.maps + below, MAPS * C, 1, weight, C, B, K, C, 1);
  });
  if (settings.bug === "capsule-view") {
    regroup(net.view(y.grouped, B * I * D_IN), net.view(y.features, B * I * D_IN), net.cut);
  }
  k.squash(y.u, groupedOrNot(net, y), B * I, D_IN);
  for (let i = 0; i < I; i++) {
    const weight = at["routed.weight"] + 4 * i * D_IN * V;
    k.matmul(y.votes + 4 * i * V, I * V, y.u + 4 * i * D_IN, I * D_IN, 1, weight, V, B, D_IN, V, 0);
  }
}

/** Cut rightly, a capsule's numbers are channels, which lie together already. */
const groupedOrNot = ({ settings }, layers) => (settings.bug === "capsule-view" ? layers.grouped : layers.features);

/** Procedure 1, with what each round held. */
function route(net) {
  const { k, y, of, b, B, I, rounds, view } = net;
  view(b, B * I * ROW).fill(0);
  for (let t = 0; t < rounds; t++) {
    if (net.settings.bug === "softmax-axis") softmaxOverI(view(of("c", t), B * I * ROW), view(b, B * I * ROW), I);
    else k.softmax(of("c", t), b, B * I);
    k.weightedSums(of("s", t), of("c", t), y.votes, B, I);
    k.squash(of("v", t), of("s", t), B * J, D);
    if (t < rounds - 1) k.agreements(b, y.votes, of("v", t), B, I);
  }
}

const DECODER = [
  { name: "decoder.0", from: "masked", to: "hidden1", K: V, N: HIDDEN[0] },
  { name: "decoder.2", from: "hidden1", to: "hidden2", K: HIDDEN[0], N: HIDDEN[1] },
  { name: "decoder.4", from: "hidden2", to: "drawing", K: HIDDEN[1], N: PIXELS },
];

/** From capsules, all but one masked, to drawings. */
function decode({ k, y, at, B }) {
  for (const { name, from, to, K, N } of DECODER) {
    k.fillRows(y[to], at[`${name}.bias`], B, N);
    k.matmul(y[to], N, y[from], K, 1, at[`${name}.weight`], N, B, K, N, 1);
    if (to === "drawing") k.sigmoid(y[to], B * N);
    else k.relu(y[to], B * N);
  }
}

// -------------------------------------------------------------------------------------------- backward

/** Backwards every weight is needed the other way round. */
function transposeWeights({ k, at, turned, C, I, settings }) {
  const K = TAPS * C;
  for (let row = 0; row < TAPS; row++) {
    const offset = 4 * row * K * C;
    k.transpose(turned.primary + offset, at["primary.conv.weight"] + offset, K, C);
  }
  for (let i = 0; i < I; i++) {
    const offset = 4 * i * D_IN * V;
    k.transpose(turned.routed + offset, at["routed.weight"] + offset, D_IN, V);
  }
  if (settings.drawing === 0) return;
  for (const { name, K, N } of DECODER) k.transpose(turned[name], at[`${name}.weight`], K, N);
}

/** From dy.drawing, the gradient before the sigmoid, to dy.masked. */
function decodeBack({ k, y, dy, slope, turned, B }) {
  for (const { name, from, to, K, N } of DECODER.toReversed()) {
    if (to !== "drawing") k.reluBack(dy[to], y[to], B * N);
    k.matmul(slope[`${name}.weight`], N, y[from], 1, K, dy[to], N, K, B, N, 1);
    k.sumRows(slope[`${name}.bias`], dy[to], B, N);
    k.matmul(dy[from], K, dy[to], N, 1, turned[name], K, B, N, K, 0);
  }
}

/** From dv of the last round to the gradient of the votes, through all rounds. */
function routeBack(net) {
  const { k, y, dy, of, dv, dc, B, I, rounds, view } = net;
  const couplings = (pointer) => view(pointer, B * I * ROW);
  view(dy.votes, B * I * V).fill(0);
  for (let t = rounds - 1; t >= 0; t--) {
    // This round's v made the next round's logits, whose gradient db is known by now.
    if (t < rounds - 1) k.weightedSums(dv, of("db", t + 1), y.votes, B, I);
    k.squashBack(of("ds", t), of("s", t), dv, B * J, D);
    if (t > 0) {
      const db = couplings(of("db", t)); // the first logits are 0, their db stays so
      if (t < rounds - 1) db.set(couplings(of("db", t + 1)));
      else db.fill(0);
      couplings(dc).fill(0);
      k.agreements(dc, y.votes, of("ds", t), B, I);
      if (net.settings.bug === "softmax-axis") softmaxOverIBack(db, couplings(dc), couplings(of("c", t)), I);
      else k.softmaxBack(of("db", t), dc, of("c", t), B * I);
    }
    k.votesBack(dy.votes, of("c", t), of("ds", t), of("db", t), of("v", Math.max(0, t - 1)), B, I);
  }
}

/** From the gradient of the votes to those of the weights below. */
function encodeBack(net) {
  const { k, y, dy, slope, turned, B, C, I } = net;
  for (let i = 0; i < I; i++) {
    const [weight, u, votes] = [4 * i * D_IN * V, 4 * i * D_IN, 4 * i * V];
    k.matmul(slope["routed.weight"] + weight, V, y.u + u, 1, I * D_IN, dy.votes + votes, I * V, D_IN, B, V, 1);
    k.matmul(dy.u + u, I * D_IN, dy.votes + votes, I * V, 1, turned.routed + weight, D_IN, B, V, D_IN, 0);
  }
  k.squashBack(groupedOrNot(net, dy), groupedOrNot(net, y), dy.u, B * I, D_IN);
  if (net.settings.bug === "capsule-view") {
    regroupBack(net.view(dy.features, B * I * D_IN), net.view(dy.grouped, B * I * D_IN), net.cut);
  }
  k.sumRows(slope["primary.conv.bias"], dy.features, B * PLACES, C);
  net.view(dy.maps, B * MAPS * C).fill(0);
  const K = TAPS * C;
  forPatches(net, (below, above, row) => {
    const weight = 4 * row * K * C;
    const features = dy.features + above;
    k.matmul(slope["primary.conv.weight"] + weight, C, y.maps + below, 1, MAPS * C, features, PLACES * C, K, B, C, 1);
    k.matmul(dy.maps + below, MAPS * C, features, PLACES * C, 1, turned.primary + weight, K, B, C, K, 1);
  });
  k.reluBack(dy.maps, y.maps, B * MAPS * C);
  k.sumRows(slope["conv.bias"], dy.maps, B * MAPS, C);
  k.convolveInkBack(slope["conv.weight"], y.x, dy.maps, B, C);
}
