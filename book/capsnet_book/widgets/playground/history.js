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
}
