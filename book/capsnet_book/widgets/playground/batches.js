// Which pictures a network learns from, and when: the sample's in an order of their own in each
// pass, each moved a little; the reader's own at every tenth place; and a sign of the reader's own
// wherever its class would have stood.
import { makeRandom, shuffled } from "../shared/random.js";
import { signToLearn } from "./sign.js";
import { PIXELS, SIDE } from "./sizes.js";

const MOVE = 2; // pixels, at most, that a digit is moved by
const OWN_EVERY = 10; // the reader's own digits have every tenth place
const STREAM = 7919; // apart: the seeds of what is random, so that one does not follow another

/**
 * @typedef {object} OwnDigits  the reader's
 * @property {Float32Array[]} images
 * @property {number[]} labels
 * @property {import("./sign.js").Sign} [sign]
 */

/** Write a digit, moved; what leaves the picture is gone. */
function shift(to, from, right, down) {
  to.fill(0);
  for (let row = Math.max(0, down); row < SIDE + Math.min(0, down); row++) {
    for (let column = Math.max(0, right); column < SIDE + Math.min(0, right); column++)
      to[row * SIDE + column] = from[(row - down) * SIDE + column - right];
  }
}

export class Batches {
  #learn;
  #order; // of the digits in a pass
  #moves;
  #choice; // among the reader's own
  #poses; // of drawings, the reader's sign among them
  #queue = new Uint32Array(0); // digits that this pass has still to show
  #count = 0; // digits so far

  /**
   * @param {import("../shared/digit_set.js").Lesson} learn
   * @param {OwnDigits} own
   * @param {{ batch: number, seed: number }} settings
   */
  constructor(learn, own, { batch, seed }) {
    this.#learn = learn;
    this.own = own;
    this.images = new Float32Array(batch * PIXELS);
    this.labels = new Uint8Array(batch);
    this.#order = makeRandom(seed + STREAM);
    this.#moves = makeRandom(seed + 2 * STREAM);
    this.#choice = makeRandom(seed + 3 * STREAM);
    this.#poses = makeRandom(seed + 4 * STREAM);
  }

  /** Put the next batch into `images` [B · 784] and `labels` [B]. */
  next() {
    for (let n = 0; n < this.labels.length; n++) {
      const right = this.#move();
      const down = this.#move();
      const { image, label } = this.#nextDigit();
      shift(this.images.subarray(n * PIXELS, (n + 1) * PIXELS), image, right, down);
      this.labels[n] = label;
      this.#count++;
    }
  }

  #move() {
    return Math.floor(this.#moves() * (2 * MOVE + 1)) - MOVE;
  }

  #nextDigit() {
    const { labels } = this.#learn;
    if (this.#queue.length === 0) this.#queue = shuffled(labels.length, this.#order);
    const digit = this.#queue.at(-1);
    this.#queue = this.#queue.subarray(0, -1);
    const { sign } = this.own;
    if (this.own.labels.length > 0 && this.#count % OWN_EVERY === 0) return this.#ownDigit();
    if (sign?.place === labels[digit])
      return { image: signToLearn(sign, this.#poses), label: sign.place };
    return { image: this.#learn.picture(digit, this.#poses), label: labels[digit] };
  }

  #ownDigit() {
    const { images, labels } = this.own;
    const chosen = Math.floor(this.#choice() * labels.length);
    return { image: images[chosen], label: labels[chosen] };
  }
}
