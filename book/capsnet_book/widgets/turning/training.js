// A training of capsules that turn, as chapter 19 has it: digits turned by at most 45°, and tests at
// these angles and at angles that it never sees. The page calls the methods of what startTraining
// makes by name (training.worker.js).
import { bendDigit, STRAIGHT } from "../shared/bending.js";
import { breath } from "../shared/calls.js";
import { unpackDigits } from "../shared/digit_set.js";
import { makeRandom } from "../shared/random.js";
import { Adam, rateAt } from "./adam.js";
import { loadKernels } from "./kernels.js";
import { PIXELS, TurningNetwork } from "./network.js";
import { begin } from "./parameters.js";
import { BATCH, FAMILIAR, MOVE, NEW, RATE, SIZES, STEPS, TEST_EVERY, TESTED } from "./plan.js";
import { Template } from "./template.js";

const STREAM = 7919; // apart: the seeds of what is random, so that one does not follow another
const SLICE = 20; // milliseconds of learning without a look at the messages

/**
 * @typedef {object} Labelled
 * @property {Float32Array} images  [N · 784]
 * @property {Uint8Array} labels
 * @property {Float64Array} angles  in degrees
 */

/** Return a number between two, all with the same chance. */
const between = (/** @type {number} */ low, high, /** @type {() => number} */ random) =>
  low + (high - low) * random();

/**
 * Write digit n of a batch, turned and moved.
 * @param {Labelled} batch @param {number} n @param {Float32Array} image
 * @param {number} turn  degrees @param {() => number} random
 */
function place(batch, n, image, turn, random) {
  const right = between(-MOVE, MOVE, random);
  const down = between(-MOVE, MOVE, random);
  const bent = bendDigit(image, { ...STRAIGHT, turn, right, down });
  batch.images.set(bent, n * PIXELS);
  batch.angles[n] = turn;
}

/** @returns {Labelled} room for so many digits */
const roomFor = (/** @type {number} */ count) => ({
  images: new Float32Array(count * PIXELS),
  labels: new Uint8Array(count),
  angles: new Float64Array(count),
});

/**
 * Return held-out digits, turned by angles between two.
 * @param {import("../shared/digit_set.js").Digits} digits
 * @param {number} low @param {number} high  degrees @param {number} seed
 */
function testAt({ images, labels }, low, high, seed) {
  const random = makeRandom(seed);
  const test = roomFor(TESTED);
  for (let n = 0; n < TESTED; n++) {
    const image = images.subarray(n * PIXELS, (n + 1) * PIXELS);
    place(test, n, image, between(low, high, random), random);
    test.labels[n] = labels[n];
  }
  return test;
}

/**
 * How a training stands. tests: [steps, share of errors at the angles shown, at new ones];
 * tensors, sizes: as readerOf() takes them.
 * @typedef {{ steps: number, seconds: number, tests: number[][],
 *   tensors: Record<string, import("../shared/core.js").Tensor>,
 *   sizes: { turns: number, count: number } }} Standing
 */

class Training {
  #network;
  #lesson;
  #tests; // digits at the angles shown, and at new ones
  #adam;
  #template = new Template(SIZES.J);
  #random; // of the digits that are learned from
  #batch = roomFor(BATCH);
  #steps = 0;
  #seconds = 0; // of learning
  /** @type {number[][]} */
  #results = []; // of the tests
  #runs = 0;
  #running = 0; // the number of the run that goes on, or 0

  /**
   * @param {TurningNetwork} network
   * @param {{ learn: import("../shared/digit_set.js").Lesson,
   *   test: import("../shared/digit_set.js").Digits }} digits
   * @param {number} seed
   */
  constructor(network, { learn, test }, seed) {
    this.#network = network;
    this.#lesson = learn;
    this.#tests = [
      testAt(test, -FAMILIAR, FAMILIAR, STREAM),
      testAt(test, NEW[0], NEW[1], 2 * STREAM),
    ];
    this.#adam = new Adam(network.numbers.length);
    this.#random = makeRandom(seed + STREAM);
    this.#examine();
  }

  #nextBatch() {
    const { labels, picture } = this.#lesson;
    const random = this.#random;
    for (let n = 0; n < BATCH; n++) {
      const digit = Math.floor(random() * labels.length);
      const turn = between(-FAMILIAR, FAMILIAR, random);
      place(this.#batch, n, picture(digit, random), turn, random);
      this.#batch.labels[n] = labels[digit];
    }
  }

  #step() {
    this.#nextBatch();
    const { images, labels, angles } = this.#batch;
    const network = this.#network;
    const remember = (/** @type {number} */ n) =>
      this.#template.add(labels[n], network.meeting(labels[n]), angles[n]);
    network.gradients(images, labels, remember);
    this.#adam.step(network.numbers, network.slopesOfAll, rateAt(this.#steps, STEPS, RATE));
    network.renew();
    this.#steps++;
    const { steps } = TEST_EVERY.find(({ before }) => this.#steps <= before);
    if (this.#steps % steps === 0) this.#examine();
  }

  #examine() {
    this.#results.push([this.#steps, ...this.#tests.map((test) => this.#errorsOn(test))]);
  }

  /** Return the share of digits that are misread. @param {Labelled} test */
  #errorsOn({ images, labels }) {
    let wrong = 0;
    for (let n = 0; n < labels.length; n++) {
      const scores = this.#network.read(images.subarray(n * PIXELS, (n + 1) * PIXELS));
      wrong += Number(scores.indexOf(Math.max(...scores)) !== labels[n]);
    }
    return wrong / labels.length;
  }

  /**
   * Learn until it is paused, has taken `until` steps, or has learned all.
   * @returns {Promise<boolean>} whether it has learned all
   */
  async run(until = STEPS) {
    this.#runs++;
    const run = this.#runs;
    this.#running = run;
    const last = Math.min(until, STEPS);
    while (this.#running === run && this.#steps < last) {
      const began = performance.now();
      const end = began + SLICE;
      while (this.#steps < last && performance.now() < end) this.#step();
      this.#seconds += (performance.now() - began) / 1000;
      await breath();
    }
    if (this.#running === run) this.#running = 0;
    return this.#steps >= STEPS;
  }

  pause() {
    this.#running = 0;
  }

  /** Return how it stands. @returns {Standing} */
  look() {
    const { K, N, J } = SIZES;
    const template = { shape: [J, 2, 3], data: this.#template.numbers() };
    return {
      steps: this.#steps,
      seconds: this.#seconds,
      tests: this.#results,
      tensors: { ...this.#network.tensors(), template },
      sizes: { turns: K, count: N },
    };
  }
}

/**
 * Start a training.
 * @param {any} sample  the tensors of the digits' file
 * @param {number} seed
 * @param {any} [makeKernels]  by default the fastest that there are
 */
export async function startTraining(sample, seed, makeKernels) {
  const kernels = makeKernels ?? (await loadKernels());
  const digits = await unpackDigits(sample);
  const network = new TurningNetwork(SIZES, kernels);
  begin(network.parameters, SIZES, seed);
  network.renew();
  return new Training(network, digits, seed);
}
