// Trainings in whose place the reader has put others: they rest here as they stand, and can come
// back. One of a few seconds is not kept: to raise it again takes no longer.

const LONG = 2; // seconds of learning from which on a training is kept
const MOST = 2; // trainings that rest, of some 40 MB each

/**
 * @typedef {object} Earlier
 * @property {import("./trainee.js").Trainee[]} trainees
 * @property {import("./history.js").History} history
 */

/** End a training. @param {Earlier} training */
function end({ trainees }) {
  for (const trainee of trainees) trainee.stop();
}

/** Return how long a training has learned, in seconds. @param {Earlier} training */
const secondsOf = ({ trainees }) =>
  Math.max(0, ...trainees.map(({ frame }) => frame?.seconds ?? 0));

export class EarlierTrainings {
  /** @type {Earlier[]} */
  #trainings = []; // the latest last

  /** Let a training rest here, or end it if it was short. @param {Earlier} training */
  keep(training) {
    if (secondsOf(training) < LONG) return end(training);
    for (const { call } of training.trainees) call("pause");
    this.#trainings.push(training);
    if (this.#trainings.length > MOST) end(this.#trainings.shift());
  }

  /** Return the training that came last, which stays here. @returns {Earlier | undefined} */
  latest() {
    return this.#trainings.at(-1);
  }

  /**
   * Return the training that came last, and let another one rest in its stead, as the oldest: who
   * goes back again and again meets each of them.
   * @param {Earlier} training
   */
  exchange(training) {
    const latest = this.#trainings.pop();
    const others = this.#trainings;
    this.#trainings = [];
    this.keep(training);
    this.#trainings.push(...others);
    return latest;
  }

  stop() {
    for (const training of this.#trainings) end(training);
    this.#trainings = [];
  }
}
