// Two digits laid over each other, and what the network of pairs makes of them.
import { format, SIDE, withArticle } from "./shared/ui.js";

export const WIDE = 36; // pixels along a side of the picture
export const REACH = (WIDE - SIDE) / 2; // how far a digit can be moved from the middle and still lie in it
export const NOBODY = -1; // asked for: the longest capsule but two

/** @typedef {{ lengths: ArrayLike<number>, classes: number[], third: number }} Found */

/**
 * A digit on the larger picture, [1296].
 * @param {Float32Array} digit  [784]
 * @param {number} x  to the right from the middle
 * @param {number} y  down
 */
export function layerOf(digit, x, y) {
  const layer = new Float32Array(WIDE * WIDE);
  for (let row = 0; row < SIDE; row++) {
    layer.set(digit.subarray(row * SIDE, (row + 1) * SIDE), (row + REACH + y) * WIDE + REACH + x);
  }
  return layer;
}

/** The ink of both, added and clipped. @param {Float32Array} one @param {Float32Array} other */
export const overlay = (one, other) => one.map((grey, k) => Math.min(1, grey + other[k]));

/** The classes, longest capsule first. @param {Float32Array} lengths */
export const byLength = (lengths) => Array.from(lengths, (_, j) => j).sort((a, b) => lengths[b] - lengths[a]);

/**
 * The two longest, each in the place of the digit that it is, if it is one of them.
 * @param {number[]} longest
 * @param {number[]} labels
 */
export function matched([longest, second], [one, other]) {
  const swapped = one !== other && (longest === other || second === one);
  return swapped ? [second, longest] : [longest, second];
}

/** Ink of the picture that lies in neither drawing. @param {Float32Array} image @param {Float32Array[]} drawings */
export const remaining = (image, drawings) =>
  image.map((grey, k) => Math.max(0, grey - drawings[0][k] - drawings[1][k]));

/**
 * Everything that the widget shows of a picture.
 * @param {any} network
 * @param {Float32Array} image  [1296]
 * @param {number[]} labels  of the two digits
 * @param {number} asked  a class, or NOBODY
 */
export function look(network, image, labels, asked = NOBODY) {
  const { capsules, lengths } = network.forward(image);
  const order = byLength(lengths);
  const third = asked === NOBODY ? order[2] : asked;
  const classes = matched(order, labels);
  const [one, other, absent] = [...classes, third].map((j) => network.decode(network.mask(capsules, j)));
  return { lengths, classes, third, drawings: [one, other], absent, remains: remaining(image, [one, other]) };
}

/**
 * How far a layer's ink is from a place, in pixels; less than a pixel is as good as on it.
 * @param {Float32Array} layer
 * @param {number} x
 * @param {number} y
 */
export function distanceTo(layer, x, y) {
  let nearest = Infinity;
  layer.forEach((grey, k) => {
    if (grey > 0.5) nearest = Math.min(nearest, Math.hypot((k % WIDE) + 0.5 - x, Math.floor(k / WIDE) + 0.5 - y));
  });
  return Math.max(nearest, 1);
}

/** The box round a layer's ink, in pixels. @param {Float32Array} layer */
export function inkBox(layer) {
  const inked = Array.from(layer.keys()).filter((k) => layer[k] > 0.2);
  const columns = inked.map((k) => k % WIDE);
  const rows = inked.map((k) => Math.floor(k / WIDE));
  const [left, top] = [Math.min(...columns), Math.min(...rows)];
  return { left, top, width: Math.max(...columns) + 1 - left, height: Math.max(...rows) + 1 - top };
}

/**
 * What there is to see.
 * @param {number[]} truth  the labels of both digits
 * @param {Found} found
 */
export function inWords(truth, { lengths, classes, third }) {
  const longest = classes.map((j) => `${j} (${format(lengths[j])})`).join(" and ");
  if (truth[0] === truth[1]) {
    const twice = `There is one capsule for a ${truth[0]}, so nothing here can say "twice"`;
    return (
      `Two of the same class. ${twice}; the two longest are ${longest}. ` +
      "In training the two digits were never alike."
    );
  }
  const missed = truth.filter((label) => !classes.includes(label));
  const [invented] = classes.filter((j) => !truth.includes(j));
  if (missed.length === 2) return `Both wrong: the longest are ${longest}, and neither is there.`;
  if (missed.length === 1) {
    const seen = `it sees ${withArticle(invented)} (${format(lengths[invented])})`;
    const there = `${withArticle(missed[0])} is (${format(lengths[missed[0]])})`;
    return `One right, one wrong: ${seen} where ${there}. Look what the ${invented} is drawn from.`;
  }
  if (truth.includes(third)) return `Both right, ${longest}. You asked for the ${third}, which is there.`;
  const short = lengths[third] < 0.3;
  const strength = short ? "so short that hardly anything reaches the decoder" : "long enough to draw something";
  const about = `The ${third} is not there; its capsule is ${format(lengths[third])} long, ${strength}.`;
  return `Both right, ${longest}. ${about}`;
}
