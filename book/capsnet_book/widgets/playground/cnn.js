// A CNN of as many numbers as the capsule network reads with, forward and backward, to race
// against: the same two convolutions, then ReLU and dense layers in the place of capsules.
//
//   digit ─ conv + ReLU: maps ─ conv + ReLU: features ─ dense + ReLU: hidden ─ dense: scores
//         ─ softmax: shares
//
// It learns by the cross-entropy, and draws nothing. It has the methods of the network that it
// races (network.js).
import { convolutionMaps, convolve, convolveBack, denseMap, linear, linearBack } from "./layers.js";
import { Learner } from "./learner.js";
import { crossEntropy, longest, rightAnswers, sharesOf } from "./losses.js";
import { planConvolutionalMemory } from "./memory.js";
import { hiddenOf } from "./parameters.js";
import { D_IN, J, MAPS, PIXELS, PLACES, SCORES } from "./sizes.js";

class ConvNetwork extends Learner {
  #net; // plan, sizes and kernels: what forward and backward work with

  /**
   * @param {{ types: number, batch: number, seed: number }} settings  batch: a multiple of 4
   * @param {(memory: any) => any} makeKernels
   */
  constructor({ types, batch: B, seed }, makeKernels) {
    const plan = planConvolutionalMemory({ types, batch: B });
    const kernels = makeKernels(plan.memory);
    super(plan, kernels, seed);
    const { at } = plan;
    const hidden = hiddenOf(types);
    this.#net = {
      ...plan,
      B,
      C: 8 * types,
      hidden,
      maps: {
        primary: convolutionMaps(at, types),
        hidden: denseMap(at, "hidden", "features", "hidden", PLACES * types * D_IN, hidden),
        classes: denseMap(at, "classes", "hidden", "scores", hidden, SCORES),
      },
      k: kernels,
      silent: { filters: [] },
    };
  }

  /**
   * Add the gradients of one batch to those that there are.
   * @param {Float32Array} images  [B · 784]
   * @param {ArrayLike<number>} labels  [B]
   * @returns {{ margin: number, drawing: number, right: number }} the loss, and right answers; it
   *   stands where a capsule network has its margin loss
   */
  gradients(images, labels) {
    const net = this.#net;
    net.y.x.set(images);
    forward(net);
    net.slopesOfLayers.fill(0);
    const shares = sharesOf(net.y.scores, net.B);
    const loss = crossEntropy(net.dy.scores, shares, labels);
    backward(net);
    return { margin: loss, drawing: 0, right: rightAnswers(shares, labels) };
  }

  /**
   * Return what the network makes of images [N · 784]: shares [N · J] where a capsule network has
   * lengths, answers [N], no drawings; and of the last batch's first image, maps [100 · C].
   */
  read(/** @type {Float32Array} */ images) {
    const { B, C, y } = this.#net;
    const N = images.length / PIXELS;
    const lengths = new Float32Array(N * J);
    this.withAverages(() => {
      for (let from = 0; from < N; from += B) {
        const count = Math.min(B, N - from);
        y.x.set(images.subarray(from * PIXELS, (from + count) * PIXELS));
        forward({ ...this.#net, B: 4 * Math.ceil(count / 4) }); // all rows that matmul needs
        lengths.set(sharesOf(y.scores, count), from * J);
      }
    });
    const answers = Uint8Array.from({ length: N }, (_, n) => longest(lengths, n));
    const maps = y.maps.slice(0, MAPS * C);
    return { maps, lengths, answers, drawings: new Float32Array(0), capsules: new Float32Array(0) };
  }

  /** Return nothing: it has no decoder. */
  decoder() {
    return undefined;
  }

  /** Return nothing: it has no W. */
  matrices() {
    return undefined;
  }
}

/** Compute the scores from the digits. */
function forward(net) {
  const { k, at, B, C, maps } = net;
  convolve(net);
  k.gate(at.features, at.features, B * PLACES * C);
  k.fillRows(at.hidden, maps.hidden.bias, B, net.hidden);
  linear(net, [maps.hidden]);
  k.gate(at.hidden, at.hidden, B * net.hidden);
  k.fillRows(at.scores, maps.classes.bias, B, SCORES);
  linear(net, [maps.classes]);
}

/** Compute the gradients of all weights from that of the scores. */
function backward(net) {
  const { k, at, gap, B, C, maps } = net;
  linearBack(net, [maps.classes]);
  k.sumRows(maps.classes.bias + gap, at.scores + gap, B, SCORES);
  k.gate(at.hidden + gap, at.hidden, B * net.hidden);
  linearBack(net, [maps.hidden]);
  k.sumRows(maps.hidden.bias + gap, at.hidden + gap, B, net.hidden);
  k.gate(at.features + gap, at.features, B * PLACES * C);
  convolveBack(net);
}

/**
 * Make a CNN that has learned nothing.
 * @param {any} settings @param {(memory: any) => any} makeKernels  plainKernels, or WebAssembly's
 */
export const makeConvNetwork = (settings, makeKernels) => new ConvNetwork(settings, makeKernels);
