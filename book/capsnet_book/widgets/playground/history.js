// How the networks stood before: now and then a moment is kept, so that time has a way back.
// Learning slows down, so moments lie further and further apart: some fifty in a training.

const GROWTH = 1.12; // a moment has seen so many times the digits of the one before,
const LEAST = 32; // and so many more, at least

/**
 * @typedef {import("./untrained.js").Frame} Frame
 *
 * @typedef {object} Cause  what the reader changed at a moment from which there is a way back
 * @property {string} kind  "hold" or "nudge": a hand on a part; "sign": a sign of the reader's own
 * @property {number} [network]  on which a hand was laid
 * @property {string} [part]
 * @property {number} [at]
 * @property {any} [value]  whether the part is silent from then on, or the factor of its weights
 * @property {import("./batches.js").OwnDigits} [own]  before the sign
 */

/** Return whether a hand was laid on a part. */
const isHand = (/** @type {Cause | undefined} */ cause) =>
  cause !== undefined && cause.kind !== "sign";

export class History {
  /** @type {Frame[][]} */
  moments = []; // each a frame for each network; the first has seen nothing

  /** Keep how the networks stand, if enough has happened since the last moment. */
  keep(/** @type {Frame[]} */ frames) {
    const last = this.moments.at(-1);
    const due = last ? GROWTH * last[0].seen + LEAST : 0;
    if (frames[0].seen >= due) this.moments.push(frames);
  }

  /**
   * Keep how the networks stand before the reader changes them.
   * @param {Frame[]} frames @param {Cause} cause
   */
  keepMark(frames, cause) {
    this.moments.push(frames.map((frame) => ({ ...frame, cause })));
  }

  /** Return what the reader changed at a moment and since then, in order. */
  causesFrom(/** @type {number} */ moment) {
    return this.moments.slice(moment).flatMap(([{ cause }]) => (cause ? [cause] : []));
  }

  /** Return which moment is the last from which there is a way back, or -1. */
  lastMark() {
    return this.moments.findLastIndex(([{ mark }]) => mark !== undefined);
  }

  /** Return the first moment before a hand that has seen so many digits, at least. */
  firstMark(/** @type {number} */ least) {
    return this.moments.find(([{ cause, seen }]) => isHand(cause) && seen >= least);
  }

  /** Forget a moment and all that came after it. */
  forgetFrom(/** @type {number} */ moment) {
    this.moments.length = moment;
  }
}
