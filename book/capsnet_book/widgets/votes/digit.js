// The votes of a real digit, nine of the small network's 72 capsules', flattened to a plane for
// each class.
import { lengthsOf, norm } from "../shared/core.js";
import { axesOf, dot } from "../shared/principal.js";

const PARTS = 9;
const WHOLES = 3;

/** The places of the largest numbers, the largest first. @param {number[]} numbers */
function largest(numbers, /** @type {number} */ count) {
  const places = numbers.map((_, k) => k);
  return places.sort((a, b) => numbers[b] - numbers[a]).slice(0, count);
}

/**
 * The votes of an image: of the nine capsules with the longest ones, for the three longest classes.
 * @param {any} network  makeNetwork()'s @param {Float32Array} image
 */
export function votesOfDigit(network, image) {
  const { I, J, D_out, names } = network;
  const { u_hat, capsules } = network.forward(image);
  const lengths = lengthsOf(capsules, J, D_out);
  const classes = largest(Array.from(lengths), WHOLES);
  const voteOf = (/** @type {number} */ i, /** @type {number} */ j) =>
    u_hat.subarray((i * J + j) * D_out, (i * J + j + 1) * D_out);
  const loudness = Array.from({ length: I }, (_, i) =>
    Math.max(...classes.map((j) => norm(voteOf(i, j)))),
  );
  const parts = largest(loudness, PARTS);
  const axes = classes.map((j) => axesOf(Array.from({ length: I }, (_, i) => voteOf(i, j))));
  const votes = parts.map((i) =>
    classes.map((j, k) => axes[k].map((axis) => dot(voteOf(i, j), axis))),
  );
  return { votes, parts, classes, names: classes.map((j) => names[j]) };
}
