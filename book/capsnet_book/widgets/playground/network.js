// The network of book/my_capsnet.py, forward and backward: it calls the kernels, in the order of the paper.
//
//   digit ─ conv + ReLU: maps ─ conv: features ─ squash: u ─ W: votes û ─ routing: v ─ mask ─ decoder: drawing
//
// Maps are [B, place, channel]. So a row of all patches is a matrix [B, numbers] as it lies, neither copied there nor
// back. On the way back the gradient of what lies at a pointer is `gap` further on.
import { lengthsOf } from "../shared/core.js";
import { drawingLoss, longest, marginLoss } from "./losses.js";
import { planMemory } from "./memory.js";
import { begin, fromTensors, toTensors } from "./parameters.js";
import { recut, softmaxOverI, softmaxOverIBack, wrongCut } from "./planted.js";
import { ACROSS, D, D_IN, HIDDEN, J, KERNEL, MAPS, PIXELS, PLACES, ROW, TAPS } from "./sizes.js";

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
  const plan = planMemory({ types, batch: B, rounds });
  const { y, dy, parameters, slopes, averages, memory } = plan;
  const maps = linearMaps(plan.at, types);
  const [C, I] = [8 * types, PLACES * types];
  const net = { ...plan, B, C, I, rounds, bug, maps, k: makeKernels(memory), cut: wrongCut(types) };
  const last = (numbers, size) => numbers.subarray((rounds - 1) * B * size); // of all rounds
  const [v, dv] = [last(y.v, V), last(dy.v, V)];
  begin(parameters, types, settings.seed);
  averages.set(parameters);
  const averageOf = (pointer, size) => averages.subarray((pointer - plan.first) / 4).slice(0, size); // of parameters
  let [steps, power1, power2] = [0, 1, 1]; // β1^t, β2^t

  /** Keeps capsule `kept(n)` of digit n. */
  function mask(kept) {
    y.masked.fill(0);
    for (let n = 0; n < B; n++) {
      const from = n * V + kept(n) * D;
      y.masked.set(v.subarray(from, from + D), from);
    }
  }

  /** The gradients of one batch, added to those that there are. images [B · PIXELS] -> its losses and right answers */
  function gradients(images, labels) {
    y.x.set(images);
    encode(net);
    route(net);
    net.slopesOfLayers.fill(0);
    const lengths = lengthsOf(v, B * J, D);
    const margin = marginLoss(dv, v, lengths, labels, settings);
    const right = labels.reduce((all, label, n) => all + Number(longest(lengths, n) === label), 0);
    let drawing = 0;
    if (settings.drawing > 0) {
      const kept = (n) => (bug === "mask-prediction" ? longest(lengths, n) : labels[n]);
      mask(kept);
      decode(net);
      drawing = drawingLoss(dy.drawing, y.drawing, y.x, B, settings);
      decodeBack(net);
      for (let n = 0; n < B; n++) {
        for (let d = n * V + kept(n) * D, end = d + D; d < end; d++) dv[d] += dy.masked[d];
      }
    }
    routeBack(net);
    encodeBack(net);
    return { margin, drawing, right };
  }

  /**
   * One step of Adam, with the gradients that there are. Weights jump about from step to step, so what reads, draws and
   * is kept is their average: over the last tenth of the steps, of `window` steps at most.
   */
  function update(rate, window = 50) {
    const share = Math.max(1 / window, 10 / (10 + steps++));
    power1 *= 0.9;
    power2 *= 0.999;
    const { first, gap, mean, square, average, count } = plan;
    const [step, scale] = [rate / (1 - power1), 1 / Math.sqrt(1 - power2)];
    net.k.adam(first, first + gap, mean, square, average, count, step, scale, share);
  }

  /**
   * What the network makes of images [N · PIXELS]: capsules [N · J · D], their lengths [N · J], answers [N], drawings
   * [N · PIXELS] of the longest capsule, if it draws; and of one image, u [I · D_IN] and c of the last round [I · J].
   */
  function read(images, draws = settings.drawing > 0) {
    const N = images.length / PIXELS;
    const [capsules, lengths, drawings] = [V, J, draws ? PIXELS : 0].map(
      (size) => new Float32Array(N * size),
    );
    const newest = parameters.slice();
    parameters.set(averages);
    for (let n = 0; n < N; n += B) {
      const now = Math.min(B, N - n);
      const some = { ...net, B: 4 * Math.ceil(now / 4) }; // all rows that matmul needs
      const keep = (all, batch) =>
        all.set(batch.subarray(0, (now * all.length) / N), (n * all.length) / N);
      y.x.set(images.subarray(n * PIXELS, (n + now) * PIXELS));
      encode(some);
      route(some);
      const found = lengthsOf(v, B * J, D);
      keep(capsules, v);
      keep(lengths, found);
      if (!draws) continue;
      mask((m) => longest(found, m));
      decode(some);
      keep(drawings, y.drawing);
    }
    parameters.set(newest);
    const answers = Uint8Array.from({ length: N }, (_, n) => longest(lengths, n));
    const c = last(y.c, I * ROW).subarray(0, I * ROW); // less the padding:
    return {
      u: y.u.slice(0, I * D_IN),
      c: c.filter((_, k) => k % ROW < J),
      capsules,
      lengths,
      answers,
      drawings,
    };
  }

  return {
    ...{ gradients, update, read },
    /** The first layer's weights, [81, C]. */
    filters: () => averageOf(plan.at["conv.weight"], KERNEL ** 2 * C),
    /** The decoder's layers, as shared/core.js has them. */
    decoder: () =>
      maps.decoder.map(({ weight, bias, K, N }) => ({
        columns: averageOf(weight, K * N),
        bias: averageOf(bias, N),
      })),
    tensors: () => toTensors(averages, types),
    slopes: () => toTensors(slopes, types),
    load(tensors) {
      fromTensors(parameters, types, tensors);
      averages.set(parameters);
      steps = Number.POSITIVE_INFINITY; // the first ones of a new Adam are rough: they do not count as the first
    },
  };
}

/**
 * The layers that are linear, in pieces: to[B, N] += from[B, K] weight[K, N], for each [to, from] of a weight's `uses`.
 * Rows of a batch lie `toRow` and `fromRow` numbers apart.
 */
function linearMaps(at, types) {
  const [C, I, K] = [8 * types, PLACES * types, TAPS * 8 * types]; // K: numbers in a row of a patch
  const primary = Array.from({ length: TAPS }, (_, row) => {
    const uses = Array.from({ length: PLACES }, (_, place) => {
      const first = (2 * Math.floor(place / 3) + row) * ACROSS + 2 * (place % 3);
      return [at.features + 4 * place * C, at.maps + 4 * first * C];
    });
    const weight = at["primary.conv.weight"] + 4 * row * K * C;
    return { weight, K, N: C, uses, toRow: PLACES * C, fromRow: MAPS * C };
  });
  const routed = Array.from({ length: I }, (_, i) => {
    const uses = [[at.votes + 4 * i * V, at.u + 4 * i * D_IN]];
    const weight = at["routed.weight"] + 4 * i * D_IN * V;
    return { weight, K: D_IN, N: V, uses, toRow: I * V, fromRow: I * D_IN };
  });
  const dense = (name, from, to, K, N) => {
    const [weight, bias] = [at[`${name}.weight`], at[`${name}.bias`]];
    return { weight, bias, K, N, uses: [[at[to], at[from]]], toRow: N, fromRow: K };
  };
  const decoder = [
    dense("decoder.0", "masked", "hidden1", V, HIDDEN[0]),
    dense("decoder.2", "hidden1", "hidden2", HIDDEN[0], HIDDEN[1]),
    dense("decoder.4", "hidden2", "drawing", HIDDEN[1], PIXELS),
  ];
  return { primary, routed, decoder };
}

// --------------------------------------------------------------------------------------------- forward

function linear({ k, B }, pieces) {
  for (const { weight, K, N, uses, toRow, fromRow } of pieces) {
    for (const [to, from] of uses) k.matmul(to, toRow, from, fromRow, 1, weight, N, B, K, N);
  }
}

/** From digits to votes. */
function encode(net) {
  const { k, y, at, B, C, I } = net;
  k.fillRows(at.maps, at["conv.bias"], B * MAPS, C);
  k.overInk(at.maps, at.x, at["conv.weight"], B, C, 0);
  k.gate(at.maps, at.maps, B * MAPS * C);
  k.fillRows(at.features, at["primary.conv.bias"], B * PLACES, C);
  linear(net, net.maps.primary);
  if (net.bug === "capsule-view") recut(y.features, net.cut);
  k.squash(at.u, at.features, B * I, D_IN); // a capsule's numbers are channels, which lie together already
  y.votes.fill(0);
  linear(net, net.maps.routed);
}

/** Procedure 1, with what each round held. */
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

/** From capsules, all but one masked, to drawings. */
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

// -------------------------------------------------------------------------------------------- backward

/** From the gradients above to those of the weights and below; for these every weight is needed transposed. */
function linearBack({ k, B, gap, turn }, pieces) {
  for (const { weight, K, N, uses, toRow, fromRow } of pieces) {
    k.transpose(weight + turn, weight, K, N);
    for (const [to, from] of uses) {
      k.matmul(weight + gap, N, from, 1, fromRow, to + gap, toRow, K, B, N);
      k.matmul(from + gap, fromRow, to + gap, toRow, 1, weight + turn, K, B, N, K);
    }
  }
}

/** From the drawing's gradient before the sigmoid to that of what was masked. */
function decodeBack(net) {
  const { k, at, gap, B } = net;
  for (const layer of net.maps.decoder.toReversed()) {
    const [[to]] = layer.uses;
    if (to !== at.drawing) k.gate(to + gap, to, B * layer.N);
    linearBack(net, [layer]);
    k.sumRows(layer.bias + gap, to + gap, B, layer.N);
  }
}

/** From dv of the last round to the gradient of the votes, through all rounds. */
function routeBack(net) {
  const { k, at, of, gap, B, I, rounds } = net;
  for (let t = rounds - 1; t >= 0; t--) {
    const [c, s, v] = ["c", "s", "v"].map((name) => of(name, t));
    // This round's v made the next round's logits, whose gradient is known by now.
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

/** From the gradient of the votes to those of the weights below. */
function encodeBack(net) {
  const { k, dy, at, gap, B, C, I } = net;
  linearBack(net, net.maps.routed);
  k.squashBack(at.features + gap, at.features, at.u + gap, B * I, D_IN);
  if (net.bug === "capsule-view") recut(dy.features, net.cut, true);
  k.sumRows(at["primary.conv.bias"] + gap, at.features + gap, B * PLACES, C);
  linearBack(net, net.maps.primary);
  k.gate(at.maps + gap, at.maps, B * MAPS * C);
  k.sumRows(at["conv.bias"] + gap, at.maps + gap, B * MAPS, C);
  k.overInk(at.maps + gap, at.x, at["conv.weight"] + gap, B, C, 1);
}
