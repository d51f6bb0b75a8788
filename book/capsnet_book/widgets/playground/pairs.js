// Pairs of trainings: two settings from one seed, trained in the background one after the other,
// and what their differences in error say.
import { startTrainee } from "./trainee.js";

export const SEEDS = 10; // pairs in the background
const PAIR = 8000; // digits that each of a pair learns from
// Student's t of 95 %, for 1 to 10 degrees of freedom
const T_95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
const NO_DIGITS = { images: [], labels: [] }; // of the reader's own: seeds are compared without

/**
 * Return the mean of differences and half of its 95 % interval (by Student's t).
 * @param {number[]} differences  2 to 11
 */
export function pairedInterval(differences) {
  const n = differences.length;
  const mean = differences.reduce((sum, x) => sum + x, 0) / n;
  const variance = differences.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (n - 1);
  return { mean, half: T_95[n - 2] * Math.sqrt(variance / n) };
}

/** Return the per cent wrong after PAIR digits; NaN before. @param {number[][]} tests */
export function errorOf(tests) {
  const test = tests.find(([seen]) => seen === PAIR);
  return test ? 100 * test[1] : Number.NaN;
}

/** Return once the reader sees the page. */
async function tabSeen() {
  while (document.hidden) {
    await new Promise((resolve) =>
      document.addEventListener("visibilitychange", resolve, { once: true }),
    );
  }
}

/** The pairs that are trained in the background, after that which the reader watches. */
export class BackgroundPairs {
  differences = []; // in points of error, by seed
  #round = 0; // a new round ends the one before
  /** @type {import("./trainee.js").Trainee | undefined} */
  #trainee;

  /** @param {() => void} changed  called at each new difference */
  constructor(changed) {
    this.changed = changed;
  }

  /** End what is trained; the differences stay. */
  end() {
    this.#round++;
    this.#trainee?.stop();
    this.#trainee = undefined;
  }

  /**
   * Train both settings from the ten seeds after theirs. Return when all are trained, or ended.
   * @param {any[]} settings  of the two networks
   * @param {() => Promise<any>} sample
   */
  async train(settings, sample) {
    this.end();
    this.differences = [];
    const round = this.#round;
    const tensors = await sample();
    for (let more = 1; more <= SEEDS; more++) {
      const errors = [];
      for (const setting of settings) {
        if (round !== this.#round) return;
        errors.push(await this.#train({ ...setting, seed: setting.seed + more }, tensors, round));
      }
      if (round !== this.#round) return;
      this.differences.push(errors[0] - errors[1]);
      this.changed();
    }
  }

  /** Return the error of one training; NaN if the round was ended meanwhile. */
  async #train(settings, tensors, round) {
    await tabSeen();
    const trainee = await startTrainee(settings, tensors, NO_DIGITS);
    if (round !== this.#round) {
      trainee.stop(); // and those of a later round are left alone
      return Number.NaN;
    }
    this.#trainee = trainee;
    await trainee.call("run", "all", PAIR);
    const frame = await trainee.call("look", 0);
    trainee.stop();
    return frame ? errorOf(frame.tests) : Number.NaN;
  }
}
