// What all networks of the playground have, whatever they compute: parameters with their gradients
// and averages in one memory, Adam's steps, and how they stand, so that time has a way back.
import { begin, fromTensors, toTensors } from "./parameters.js";
import { KERNEL } from "./sizes.js";

const BETA_1 = 0.9; // Adam's
const BETA_2 = 0.999;
const WINDOW = 50; // steps that the average of the weights covers, at most

/** @typedef {{ averages: Float32Array, silent: import("./silence.js").Silent }} State */

export class Learner {
  #plan;
  #kernels;
  #steps = 0; // of Adam
  #power1 = 1; // β1^t
  #power2 = 1; // β2^t

  /**
   * @param {import("./memory.js").Plan} plan
   * @param {any} kernels  for its memory
   * @param {number} seed
   */
  constructor(plan, kernels, seed) {
    this.#plan = plan;
    this.#kernels = kernels;
    begin(plan.parameters, plan.list, seed);
    plan.averages.set(plan.parameters);
  }

  /**
   * Take one step of Adam with the gradients that there are. Weights jump about from step to step,
   * so what reads, draws and is kept is their average: over the last tenth of the steps, of
   * `window` steps at most.
   */
  update(/** @type {number} */ rate, window = WINDOW) {
    const share = Math.max(1 / window, 10 / (10 + this.#steps));
    this.#steps++;
    this.#power1 *= BETA_1;
    this.#power2 *= BETA_2;
    const { first, gap, mean, square, average, count } = this.#plan;
    const step = rate / (1 - this.#power1);
    const scale = 1 / Math.sqrt(1 - this.#power2);
    this.#kernels.adam(first, first + gap, mean, square, average, count, step, scale, share);
  }

  /** Do the work with the averaged weights in the place of the newest. @param {() => void} work */
  withAverages(work) {
    const { parameters, averages } = this.#plan;
    const newest = parameters.slice();
    parameters.set(averages);
    work();
    parameters.set(newest);
  }

  /** Return `size` numbers of the average that belongs to the parameters at a pointer. */
  averageAt(/** @type {number} */ pointer, /** @type {number} */ size) {
    const from = (pointer - this.#plan.first) / 4;
    return this.#plan.averages.slice(from, from + size);
  }

  /** Return the first layer's weights, [81, C]. */
  filters() {
    const { at, list } = this.#plan;
    const [C] = list[0].shape;
    return this.averageAt(at["conv.weight"], KERNEL ** 2 * C);
  }

  /** Return the averaged weights by name, as a file has them. */
  tensors() {
    return toTensors(this.#plan.averages, this.#plan.list);
  }

  /** Return the parts that are silent. @returns {import("./silence.js").Silent} */
  silent() {
    return { maps: [], primary: [] };
  }

  /** Hold parts silent, where a network has any. @param {import("./silence.js").Silent} _ */
  hold(_) {}

  /** Return what reads, so that show() can let another network read alike. @returns {State} */
  state() {
    return { averages: this.#plan.averages.slice(), silent: this.silent() };
  }

  /** Read as another network does. @param {State} state */
  show({ averages, silent }) {
    this.#plan.averages.set(averages);
    this.hold(silent);
  }

  /** Return all that it has learned and how it goes on, so that restore() can bring it back. */
  snapshot() {
    const { parameters, learned } = this.#plan;
    return {
      parameters: parameters.slice(),
      learned: learned.slice(),
      silent: this.silent(),
      clock: [this.#steps, this.#power1, this.#power2],
    };
  }

  /** Go back to where a snapshot was taken. @param {ReturnType<Learner["snapshot"]>} snapshot */
  restore({ parameters, learned, silent, clock }) {
    this.#plan.parameters.set(parameters);
    this.#plan.learned.set(learned);
    [this.#steps, this.#power1, this.#power2] = clock;
    this.hold(silent);
  }

  /** Return the gradients by name, as a file has them. */
  slopes() {
    return toTensors(this.#plan.slopes, this.#plan.list);
  }

  /** Take the weights of a file. @throws {Error} where they do not fit */
  load(/** @type {any} */ tensors) {
    fromTensors(this.#plan.parameters, this.#plan.list, tensors);
    this.#plan.averages.set(this.#plan.parameters);
    this.#steps = Number.POSITIVE_INFINITY; // a new Adam's first steps are rough: average widely
  }
}
