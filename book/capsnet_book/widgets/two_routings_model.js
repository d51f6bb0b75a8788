// The zoo's ways to route (capsnet_book/routings/), and what two networks that were trained with them make of the
// same digit.
import {
  agreements,
  lengthsOf,
  makeVoting,
  norm,
  readSafetensors,
  route,
  softmaxOverJ,
  squash,
  weightedSums,
} from "./shared/core.js";
import { unpackInt8 } from "./shared/int8.js";
import { withArticle } from "./shared/ui.js";

/** @typedef {{ I: number, J: number, D: number, rounds: number }} Sizes  of the votes û [I, J, D] */
/** @typedef {{ c: Float32Array, v: Float32Array }} Routed  couplings [I, J], capsules [J, D] */
/** @typedef {Record<string, { data: Float32Array }>} Tensors  a routing's own are named routed.routing.… */
/** @typedef {{ c: Float32Array, lengths: Float32Array, prediction: number, share: number }} Reading */

const evenShares = (/** @type {Sizes} */ { I, J }) => new Float32Array(I * J).fill(1 / J);

/** v_j = squash(Σ_i c_ij û_j|i). @returns {Routed} */
function squashed(/** @type {Float32Array} */ c, /** @type {Float32Array} */ u_hat, /** @type {Sizes} */ { I, J, D }) {
  const v = weightedSums(c, u_hat, I, J, D);
  for (let j = 0; j < J; j++) squash(v, j * D, D);
  return { c, v };
}

/** Procedure 1; with one round even shares. @returns {Routed} */
function byAgreement(/** @type {Float32Array} */ u_hat, /** @type {Sizes} */ { I, J, D, rounds }) {
  const { c, v } = route(u_hat, I, J, D, rounds);
  return { c: c.at(-1), v: v.at(-1) };
}

/**
 * c_ij = softmax over j of ⟨û_j|i, v_j⟩, v_j = LayerNorm(Σ_i c_ij û_j|i).
 * @param {Float32Array} u_hat @param {Sizes} sizes @param {Tensors} tensors @returns {Routed}
 */
function invertedAttention(u_hat, sizes, tensors) {
  const { I, J, D, rounds } = sizes;
  const [gain, offset] = [tensors["routed.routing.gain"].data, tensors["routed.routing.offset"].data];
  let c = evenShares(sizes);
  for (let t = 1; t < rounds; t++) {
    const v = weightedSums(c, u_hat, I, J, D);
    for (let j = 0; j < J; j++) {
      const s = v.subarray(j * D, (j + 1) * D);
      const mean = s.reduce((sum, x) => sum + x, 0) / D;
      const deviation = Math.sqrt(s.reduce((sum, x) => sum + (x - mean) ** 2, 0) / D + 1e-5);
      for (let d = 0; d < D; d++) s[d] = ((s[d] - mean) / deviation) * gain[d] + offset[d];
    }
    c = softmaxOverJ(agreements(u_hat, v, I, J, D), I, J);
  }
  return squashed(c, u_hat, sizes);
}

/** c_ij = softmax over j of ⟨û_j|i, s_j⟩, s_j = Σ_i c_ij û_j|i, divided by its length. @returns {Routed} */
function kMeans(/** @type {Float32Array} */ u_hat, /** @type {Sizes} */ sizes) {
  const { I, J, D, rounds } = sizes;
  let c = evenShares(sizes);
  for (let t = 1; t < rounds; t++) {
    const s = weightedSums(c, u_hat, I, J, D);
    for (let j = 0; j < J; j++) {
      const length = Math.max(norm(s, j * D, D), 1e-12);
      for (let d = j * D; d < (j + 1) * D; d++) s[d] /= length;
    }
    c = softmaxOverJ(agreements(u_hat, s, I, J, D), I, J);
  }
  return squashed(c, u_hat, sizes);
}

const SWEEPS = 5;

/** Procedure 1 with Σ_j c_ij = 1 and, nearly, Σ_i c_ij = I/J, each normalised in turn. @returns {Routed} */
function sinkhorn(/** @type {Float32Array} */ u_hat, /** @type {Sizes} */ sizes) {
  const { I, J, D, rounds } = sizes;
  const b = new Float32Array(I * J);
  for (let t = 1; t < rounds; t++) {
    const { v } = squashed(balanced(b, I, J), u_hat, sizes);
    agreements(u_hat, v, I, J, D).forEach((agreement, k) => (b[k] += agreement));
  }
  return squashed(balanced(b, I, J), u_hat, sizes);
}

/** c [I, J] of logits b [I, J]. */
function balanced(/** @type {Float32Array} */ b, /** @type {number} */ I, /** @type {number} */ J) {
  const logs = Float64Array.from(b);
  const divide = (/** @type {number[]} */ places, /** @type {number} */ total) => {
    const largest = Math.max(...places.map((k) => logs[k]));
    const sum = places.reduce((all, k) => all + Math.exp(logs[k] - largest), 0);
    for (const k of places) logs[k] += Math.log(total) - largest - Math.log(sum);
  };
  const columns = Array.from({ length: J }, (_, j) => Array.from({ length: I }, (_, i) => i * J + j));
  const rows = Array.from({ length: I }, (_, i) => Array.from({ length: J }, (_, j) => i * J + j));
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const column of columns) divide(column, I / J);
    for (const row of rows) divide(row, 1);
  }
  return Float32Array.from(logs, Math.exp);
}

const [INVERSE_TEMPERATURE, LEAST_VARIANCE] = [4, 0.01];

/**
 * A mixture of J Gaussians, one for each capsule above; its activation is the length of v.
 * @param {Float32Array} u_hat @param {Sizes} sizes @param {Tensors} tensors @returns {Routed}
 */
function em(u_hat, { I, J, D, rounds }, tensors) {
  const [beta_u] = tensors["routed.routing.cost"].data;
  const beta = tensors["routed.routing.benefit"].data;
  const unit = Math.max(norm(u_hat), 1e-12) / Math.sqrt(I * J * D);
  const votes = Float64Array.from(u_hat, (x) => x / unit);
  const active = Float64Array.from({ length: I }, (_, i) => norm(u_hat, i * J * D, J * D));
  const mean_active = Math.max(active.reduce((sum, a) => sum + a, 0) / I, 1e-12);
  const r = evenShares({ I, J, D, rounds });
  const [mean, variance] = [new Float64Array(J * D), new Float64Array(J * D)];
  const log_a = new Float64Array(J);
  for (let t = 0; t < rounds; t++) {
    for (let j = 0; j < J; j++) {
      let total = 0;
      const [sum, squares] = [new Float64Array(D), new Float64Array(D)];
      for (let i = 0; i < I; i++) {
        const w = (r[i * J + j] * active[i]) / mean_active;
        total += w;
        for (let d = 0, k = (i * J + j) * D; d < D; d++, k++) {
          sum[d] += w * votes[k];
          squares[d] += w * votes[k] * votes[k];
        }
      }
      total = Math.max(total, 1e-12);
      let log_deviation = 0; // the mean over d
      for (let d = 0, k = j * D; d < D; d++, k++) {
        mean[k] = sum[d] / total;
        variance[k] = Math.max(squares[d] / total - mean[k] ** 2, 0) + LEAST_VARIANCE;
        log_deviation += Math.log(variance[k]) / 2 / D;
      }
      const cost = ((beta_u + log_deviation) * total * J) / I;
      log_a[j] = -Math.log1p(Math.exp(-INVERSE_TEMPERATURE * (beta[j] - cost)));
    }
    if (t < rounds - 1) {
      const logits = Float32Array.from(r, (_, k) => {
        const j = k % J;
        let distance = 0;
        for (let d = 0; d < D; d++) {
          distance += (votes[k * D + d] - mean[j * D + d]) ** 2 / variance[j * D + d] + Math.log(variance[j * D + d]);
        }
        return log_a[j] - distance / 2;
      });
      r.set(softmaxOverJ(logits, I, J));
    }
  }
  const v = Float32Array.from(mean);
  for (let j = 0; j < J; j++) {
    const scale = Math.exp(log_a[j]) / Math.max(norm(v, j * D, D), 1e-12);
    for (let d = j * D; d < (j + 1) * D; d++) v[d] *= scale;
  }
  return { c: r, v };
}

/** By the names of zoo.py: votes û [I, J, D], sizes, tensors -> couplings, capsules. */
export const ROUTINGS = {
  paper: byAgreement,
  even: byAgreement,
  "inverted-attention": invertedAttention,
  em,
  "k-means": kMeans,
  sinkhorn,
};

/**
 * The network that was trained with a way to route.
 * @param {string} name  of `ROUTINGS`
 * @param {any} bytes  of its weights
 * @returns read(image [784])
 */
export function makeReader(name, bytes) {
  const file = readSafetensors(unpackInt8(bytes));
  const { config, I, J, D_out: D, votes } = makeVoting(file);
  const sizes = { I, J, D, rounds: config.iterations };

  /** @param {Float32Array} image @returns {Reading & Routed} */
  return (image) => {
    const { c, v } = ROUTINGS[name](votes(image).u_hat, sizes, file.tensors);
    const lengths = lengthsOf(v, J, D);
    const prediction = lengths.indexOf(Math.max(...lengths));
    const share = c.reduce((sum, c_ij, k) => sum + (k % J === prediction ? c_ij : 0), 0) / I;
    return { c, v, lengths, prediction, share };
  };
}

/**
 * What the two make of it.
 * @param {{ name: string, prediction: number, share: number }[]} readings  name: what the routing is called
 * @param {number | null} label  null: not known
 */
export function inWords(readings, label) {
  const [left, right] = readings;
  const percent = (/** @type {{ share: number }} */ { share }) => `${Math.round(100 * share)} %`;
  const wrong = label !== null && readings.some(({ prediction }) => prediction !== label);
  const written = wrong ? ` It was written as ${withArticle(label)}.` : "";
  if (left.prediction !== right.prediction) {
    const [one, other] = readings.map(({ name, prediction }) => `${name} reads ${withArticle(prediction)}`);
    return `They disagree: ${one}, ${other}.${written}`;
  }
  const gives = `gives that class ${percent(left)} of all shares, ${right.name} ${percent(right)}`;
  return `Both read ${withArticle(left.prediction)}. ${capital(left.name)} ${gives}.${written}`;
}

const capital = (/** @type {string} */ words) => words[0].toUpperCase() + words.slice(1);
