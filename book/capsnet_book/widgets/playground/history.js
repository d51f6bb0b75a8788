// How the networks stood before: now and then a moment is kept, so that time has a way back.
// Learning slows down, so moments lie further and further apart: some fifty in a training.

const GROWTH = 1.12; // a moment has seen so many times the digits of the one before,
const LEAST = 32; // and so many more, at least

/** @typedef {import("./untrained.js").Frame} Frame */

export class History {
  /** @type {Frame[][]} */
  moments = []; // each a frame for each network; the first has seen nothing

  /** Keep how the networks stand, if enough has happened since the last moment. */
  keep(/** @type {Frame[]} */ frames) {
    const last = this.moments.at(-1);
    const due = last ? GROWTH * last[0].seen + LEAST : 0;
    if (frames[0].seen >= due) this.moments.push(frames);
  }

  /** Keep how the networks stand before a hand is laid on one of them. */
  keepMark(/** @type {Frame[]} */ frames) {
    this.moments.push(frames);
  }

  /** Return which moment is the last from which there is a way back, or -1. */
  lastMark() {
    return this.moments.findLastIndex(([{ mark }]) => mark !== undefined);
  }

  /** Return the first moment before a hand that has seen so many digits, at least. */
  firstMark(/** @type {number} */ least) {
    return this.moments.find(([{ mark, seen }]) => mark !== undefined && seen >= least);
  }

  /** Forget a moment and all that came after it. */
  forgetFrom(/** @type {number} */ moment) {
    this.moments.length = moment;
  }
}
