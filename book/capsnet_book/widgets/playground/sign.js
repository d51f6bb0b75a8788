// A sign of the reader's own in the place of a digit: pictures made of its drawings, to learn from
// and for tests.

import { makeRandom } from "../shared/random.js";
import { t } from "../shared/t.js";
import { posed, randomPose } from "./posed.js";
import { PIXELS, SIDE } from "./sizes.js";

/** @typedef {{ place: number, images: Float32Array[] }} Sign  the digit it stands for; drawings */

export const DRAWINGS = 10; // of a sign
export const SIGN = "★"; // what it is called
const UNSEEN = 2; // of the drawings, the last ones: tests alone have them
const SPREAD = { turn: 0.26, sizes: [0.8, 1.1], shift: 0.5 }; // batches shift all digits besides
const SEED = 4177; // of the tests' pictures

/** Return a picture of one of these drawings. */
function variantOf(/** @type {Float32Array[]} */ drawings, /** @type {() => number} */ random) {
  const drawing = drawings[Math.floor(random() * drawings.length)];
  return posed(drawing, SIDE, randomPose(random, SPREAD));
}

/** Return a picture to learn from. @param {Sign} sign @param {() => number} random */
export const signToLearn = ({ images }, random) => variantOf(images.slice(0, -UNSEEN), random);

/**
 * Return the tests with pictures of the sign's unseen drawings in the place of its class.
 * @template {import("../shared/digit_set.js").Digits} Tests
 * @param {Tests} test
 * @param {Sign | undefined} sign
 * @returns {Tests}
 */
export function withSign(test, sign) {
  if (!sign) return test;
  const random = makeRandom(SEED);
  const images = test.images.slice();
  test.labels.forEach((label, n) => {
    if (label !== sign.place) return;
    images.set(variantOf(sign.images.slice(-UNSEEN), random), n * PIXELS);
  });
  return { ...test, images };
}

/**
 * Return how the tests went for the sign: of so many pictures of it so many read, and of so many
 * digits so many taken for it.
 * @param {Sign | undefined} sign
 * @param {Uint8Array} labels @param {Uint8Array} answers
 */
export function signCounts(sign, labels, answers) {
  if (!sign) return undefined;
  const counts = { signs: 0, read: 0, digits: 0, taken: 0 };
  labels.forEach((label, n) => {
    const isAnswer = answers[n] === sign.place;
    if (label === sign.place) {
      counts.signs++;
      counts.read += Number(isAnswer);
    } else {
      counts.digits++;
      counts.taken += Number(isAnswer);
    }
  });
  return counts;
}

const LEVELS = 255;

/** Return a sign as text for a file. @param {Sign} sign */
export function toText({ place, images }) {
  const drawings = images.map((image) =>
    btoa(String.fromCharCode(...image.map((grey) => Math.round(LEVELS * grey)))),
  );
  return JSON.stringify({ place, drawings });
}

/**
 * Return the sign in a file's text.
 * @param {string | undefined} text
 * @returns {Sign | undefined} none where the file has none
 * @throws {Error} where it is no sign
 */
export function fromText(text) {
  if (text === undefined) return undefined;
  const expected = t`expected a sign of ${DRAWINGS} drawings in the place of a class`;
  try {
    const { place, drawings } = JSON.parse(text);
    const images = drawings.map((drawing) =>
      Float32Array.from(atob(drawing), (letter) => letter.charCodeAt(0) / LEVELS),
    );
    const isWhole = images.length === DRAWINGS && images.every(({ length }) => length === PIXELS);
    if (isWhole && Number.isInteger(place) && place >= 0 && place <= 9) return { place, images };
  } catch {} // no text of ours either
  throw new Error(t`${expected}; got something else`);
}
