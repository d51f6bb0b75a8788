// Procedure 1 with each bug of the catalogue, to be laid beside the right one.
import { agreements, lengthsOf, norm, predictionVectors, squash, weightedSums } from "./shared/core.js";
import { format } from "./shared/ui.js";

/** @typedef {{ b: Float32Array, c: Float32Array, v: Float32Array }} Routed  b, c [I, J], v [J, D] */

/**
 * Where a bug acts: on "routing" as it is seen in the couplings, "zero" vectors only, or in "training" only.
 * @type {Record<string, "routing" | "zero" | "training">}
 */
export const SEEN_IN = {
  "softmax-axis": "routing",
  "margin-not-squared": "training",
  "recon-mean": "training",
  "mask-prediction": "training",
  "capsule-view": "routing",
  "squash-nan": "zero",
  "squash-axis": "routing",
  "batch-agreement": "routing",
  "stale-logits": "routing",
  "lengths-softmax": "training",
  "no-update-rounds": "routing",
};

/**
 * The capsules [I, D] that a bare view makes of the features, from those that were made rightly: u is unsquashed first.
 * Long capsules hide in float32 how long they were: lengths above come out right to about 0.005.
 * @param {Float32Array} u  [I, D]
 * @param {number} types
 * @param {number} D
 */
export function mixedCapsules(u, types, D) {
  const places = u.length / (types * D);
  const features = new Float32Array(u.length); // [types · D, places]
  for (let i = 0; i < u.length / D; i++) {
    const length = norm(u, i * D, D);
    const stretch = length > 0 ? Math.sqrt(length / (1 - length)) / length : 0;
    const [type, place] = [Math.floor(i / places), i % places];
    for (let d = 0; d < D; d++) features[(type * D + d) * places + place] = u[i * D + d] * stretch;
  }
  for (let i = 0; i < u.length / D; i++) squash(features, i * D, D);
  return features;
}

/** Couplings of b [I, J] that sum to 1 over j; or over i, which is the bug. */
function shares(b, I, J, overBelow) {
  const c = new Float32Array(I * J);
  const [groups, members] = overBelow ? [J, I] : [I, J];
  const at = (group, member) => (overBelow ? member * J + group : group * J + member);
  for (let group = 0; group < groups; group++) {
    let [largest, sum] = [-Infinity, 0];
    for (let k = 0; k < members; k++) largest = Math.max(largest, b[at(group, k)]);
    for (let k = 0; k < members; k++) sum += c[at(group, k)] = Math.exp(b[at(group, k)] - largest);
    for (let k = 0; k < members; k++) c[at(group, k)] /= sum;
  }
  return c;
}

/** s [J, D] squashed in place: each capsule by its length; or each number by that of its column, which is the bug. */
function squashed(s, J, D, overCapsules) {
  if (!overCapsules) {
    for (let j = 0; j < J; j++) squash(s, j * D, D);
    return s;
  }
  for (let d = 0; d < D; d++) {
    const column = squash(Float32Array.from({ length: J }, (_, j) => s[j * D + d]));
    for (let j = 0; j < J; j++) s[j * D + d] = column[j];
  }
  return s;
}

/**
 * Procedure 1 for a batch, with a bug of the catalogue or none: what the last round holds, for each image.
 * @param {string | null} bug
 * @param {Float32Array[]} votes  û [I, J, D] of each image
 * @param {Float32Array | null} kept  logits [I, J] that a call before has left
 * @returns {Routed[]}
 */
export function routeWith(bug, votes, I, J, D, rounds = 3, kept = null) {
  const states = votes.map(() => ({ b: kept?.slice() ?? new Float32Array(I * J), c: null, v: null }));
  for (let round = 0; round < (bug === "no-update-rounds" ? rounds - 1 : rounds); round++) {
    const agreed = states.map((state, n) => {
      state.c = shares(state.b, I, J, bug === "softmax-axis");
      state.v = squashed(weightedSums(state.c, votes[n], I, J, D), J, D, bug === "squash-axis");
      return agreements(votes[n], state.v, I, J, D);
    });
    states.forEach(({ b }, n) => {
      for (let k = 0; k < I * J; k++) {
        if (bug !== "batch-agreement") b[k] += agreed[n][k];
        else for (const each of agreed) b[k] += each[k] / agreed.length;
      }
    });
  }
  return states;
}

/**
 * What the network makes of image `index` with a bug; all images are its batch, the one before it was seen before.
 * @param {string | null} bug
 * @param {{ u: Float32Array, u_hat: Float32Array }[]} answers  of the network to each image
 * @param {number} index
 * @param {any} network
 * @param {any} weight  W [I, J, D_in, D_out]
 */
export function answerWith(bug, answers, index, network, weight) {
  const { I, J, D_in, D_out: D, config } = network;
  if (bug === "batch-agreement") {
    const batch = answers.map(({ u_hat }) => u_hat);
    return routeWith(bug, batch, I, J, D)[index];
  }
  if (bug === "stale-logits") {
    const before = answers[(index + answers.length - 1) % answers.length];
    const [{ b }] = routeWith(null, [before.u_hat], I, J, D);
    return routeWith(null, [answers[index].u_hat], I, J, D, 3, b)[0];
  }
  const { u, u_hat } = answers[index];
  const mixed = () => predictionVectors(mixedCapsules(u, config.primary_types, D_in), weight);
  return routeWith(bug, [bug === "capsule-view" ? mixed() : u_hat], I, J, D)[0];
}

/**
 * What of it is shown: the lengths of the capsules, the longest of them, the largest coupling.
 * @param {Routed} routed
 */
export function summaryOf({ c, v }, J, D) {
  const lengths = lengthsOf(v, J, D);
  return { lengths, longest: lengths.indexOf(Math.max(...lengths)), largest: Math.max(...c) };
}

/** What a bug changes for a digit. @param {string} bug @param {number} label */
export function remarkOnBug(bug, label, right, wrong) {
  if (SEEN_IN[bug] === "training") {
    return "This bug is not in the routing: the couplings are the same. It changes what training asks for.";
  }
  if (SEEN_IN[bug] === "zero") {
    return "The same, number for number. This bug sleeps until a vector is exactly zero.";
  }
  const length = ({ lengths, longest }) => format(lengths[longest]);
  const answer = `it says ${wrong.longest}, with a length of ${length(wrong)} in place of ${length(right)}`;
  const coupling = `The largest coupling is ${format(wrong.largest)} in place of ${format(right.largest)}`;
  return `Of the handwritten ${label} ${answer}. ${coupling}.`;
}
