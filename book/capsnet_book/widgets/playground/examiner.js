// What examines a network in training: it tests it, and looks at what it draws and computes. Where
// a machine has a second processor core, it does so in a worker of its own (training.worker.js), so
// that learning does not wait for it.
//
// Two workers could learn from a half of each batch instead. Measured on two quiet cores: a step of
// 16 images takes 6.2 ms; of 8 images 3.5 ms, and 0.6 ms to exchange weights and gradients. That
// would leave no core for tests and looks, a fifth of a training's time, and every step would wait
// for a message.
import { galleryOf } from "./animals.js";
import { signCounts, withSign } from "./sign.js";
import { OWN, PIXELS, WALL } from "./sizes.js";

/** @typedef {import("./batches.js").OwnDigits} OwnDigits */
/** @typedef {(name: "take" | "test" | "look", ...given: any[]) => any} Ask  of an examiner */

/** Return greys from 0 to 1 as bytes. */
function bytesOf(/** @type {Float32Array} */ greys) {
  const bytes = new Uint8ClampedArray(greys.length);
  for (let k = 0; k < bytes.length; k++) bytes[k] = 255 * greys[k];
  return new Uint8Array(bytes.buffer);
}

export class Examiner {
  #network;
  #tested; // pictures for tests; of animals also those by artists whom it knows
  #test; // the first, with the reader's sign among them
  #own; // the reader's digits

  /** @param {any} network @param {any} tested @param {OwnDigits} own */
  constructor(network, tested, own) {
    this.#network = network;
    this.#tested = tested;
    this.take(own);
  }

  /** Take the reader's own digits, and a sign into the tests. */
  take(/** @type {OwnDigits} */ own) {
    if (own.sign?.place !== this.#own?.sign?.place || !this.#test)
      this.#test = withSign(this.#tested.test, own.sign);
    this.#own = own;
  }

  /**
   * Return how a test goes: the share of errors, how it went for the reader's sign (sign.js), and
   * by artist, if the pictures have artists (animals.js).
   */
  test() {
    const { images, labels } = this.#test;
    const { sign } = this.#own;
    const { answers } = this.#network.read(images, false);
    const wrong = answers.filter((answer, n) => answer !== labels[n]);
    const result = {
      share: wrong.length / answers.length,
      signs: signCounts(sign, labels, answers),
    };
    const { known } = this.#tested;
    if (!known) return result;
    const { answers: knownAnswers } = this.#network.read(known.images, false);
    return { ...result, gallery: galleryOf(this.#test, answers, known, knownAnswers, sign?.place) };
  }

  /** The tiles: the hundred, then the last of the reader's own. */
  #tiles() {
    const own = this.#own;
    const labels = [...this.#test.labels.subarray(0, WALL), ...own.labels.slice(-OWN)];
    const images = new Float32Array(labels.length * PIXELS);
    images.set(this.#test.images.subarray(0, WALL * PIXELS));
    own.images.slice(-OWN).forEach((image, n) => images.set(image, (WALL + n) * PIXELS));
    return { labels, images };
  }

  /** Return what the network makes of the tiles, and one tile's way through it. */
  look(/** @type {number} */ tile) {
    const { labels, images } = this.#tiles();
    const { answers, drawings } = this.#network.read(images);
    const greys = drawings.length ? drawings : images; // it may learn no drawing
    const wrong = labels.map((label, n) => label !== answers[n]);
    const right = wrong.slice(0, WALL).filter((isWrong) => !isWrong).length;
    const error = drawings.reduce((sum, grey, k) => sum + (grey - images[k]) ** 2, 0);
    const image = images.slice(tile * PIXELS, (tile + 1) * PIXELS);
    const { drawings: drawing, ...reading } = this.#network.read(image);
    return {
      blur: error / labels.length, // in words.js
      filters: this.#network.filters(),
      matrices: this.#network.matrices(),
      pictures: bytesOf(greys),
      wrong,
      right,
      watched: { ...reading, tile, label: labels[tile], answer: answers[tile], image, drawing },
    };
  }
}

/** Return what asks an examiner in this worker. @param {Examiner} examiner @returns {Ask} */
export const askHere =
  (examiner) =>
  (name, ...given) =>
    /** @type {any} */ (examiner)[name](...given);

/**
 * Answer through a port, each time about the network as it stood when it was asked.
 * @param {MessagePort} port @param {any} network @param {Examiner} examiner
 */
export function answerThrough(port, network, examiner) {
  port.onmessage = ({ data: { name, given, state } }) => {
    network.show(state);
    port.postMessage(/** @type {any} */ (examiner)[name](...given));
  };
}

/**
 * Return what asks the examiner at the port's other end, which answers in order.
 * @param {MessagePort} port @param {any} network  that learns here
 * @returns {Ask}
 */
export function askThrough(port, network) {
  /** @type {((answer: any) => void)[]} */
  const waiting = [];
  port.onmessage = ({ data }) => waiting.shift()?.(data);
  return (name, ...given) =>
    new Promise((resolve) => {
      waiting.push(resolve);
      const state = network.state();
      port.postMessage({ name, given, state }, [state.averages.buffer]);
    });
}
