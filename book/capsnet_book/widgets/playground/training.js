// A training: how fast it goes, what is tested, and how things stand. The page calls the methods
// of what startTraining makes by name (training.worker.js).
import { breath } from "../shared/calls.js";
import { unpackDigits } from "../shared/digit_set.js";
import { t } from "../shared/t.js";
import { unpackAnimals } from "./animals.js";
import { Batches } from "./batches.js";
import { makeConvNetwork } from "./cnn.js";
import { answerThrough, askHere, askThrough, Examiner } from "./examiner.js";
import { loadKernels } from "./kernels.js";
import { makeNetwork } from "./network.js";
import { learnsToDraw } from "./settings.js";

const UNPACK = { digits: unpackDigits, animals: unpackAnimals }; // by the setting "data"
const FADE = 0.9; // factor of the learning rate
const FADE_EVERY = 4000; // digits
const SLICE = 4; // milliseconds of learning without a look at the messages
const CATCH_UP = 200; // milliseconds behind its pace that it makes up for, at most
const LONGEST = 5 * 60; // seconds of learning; then it rests by itself
const MARKS = 8; // that are remembered, of 7 MB each

/** Digits between two tests, by the digits before which it holds. */
const TEST_EVERY = [
  { before: 500, digits: 250 },
  { before: 2000, digits: 500 },
  { before: 4000, digits: 1000 },
  { before: 24_000, digits: 2000 },
  { before: Number.POSITIVE_INFINITY, digits: 4000 },
];

/** Digits a second after n of them, by the name of the pace. */
const PACES = {
  step: (_, batch) => 0.7 * batch,
  follow: (n) => 60 + 0.45 * n, // slowly, then ever faster
  all: () => Number.POSITIVE_INFINITY,
};

class Training {
  #network;
  #settings;
  /** @type {import("./examiner.js").Ask} */
  #ask;
  #signed = 0; // digits seen when a sign was taken
  #batches;
  #plain;
  #seen = 0; // digits
  #seconds = 0; // of learning
  #rate;
  #loss; // of the last step: { margin, drawing, right }
  #tests = []; // [digits, share of errors]
  #asked = 0; // for tests so far
  #result = {}; // of the last test, as the examiner gives it
  #returns = 0; // to a mark
  #runs = 0;
  #running = 0; // the number of the run that goes on, or 0
  #pace = "";
  #due = 0; // when the next step should be taken
  #touches = 0; // of the reader's hand
  #marks = new Map(); // number -> how it stood before a touch
  #nextMark = 0;

  constructor(network, settings, ask, batches, plain) {
    this.#network = network;
    this.#settings = settings;
    this.#ask = ask;
    this.#batches = batches;
    this.#plain = plain;
    this.#rate = settings.rate;
    this.#examine();
  }

  #step() {
    const { batch } = this.#settings;
    this.#batches.next();
    this.#loss = this.#network.gradients(this.#batches.images, this.#batches.labels);
    this.#network.update(this.#rate);
    this.#seen += batch;
    if (this.#seen % FADE_EVERY < batch) this.#rate *= FADE;
    const { digits } = TEST_EVERY.find(({ before }) => this.#seen - this.#signed < before);
    if (this.#seen % digits < batch) this.#examine();
  }

  /** Let the network be tested as it stands now. */
  async #examine() {
    const seen = this.#seen;
    const returns = this.#returns;
    this.#asked++;
    const result = await this.#ask("test");
    if (returns !== this.#returns) return; // what was tested is taken back
    this.#tests.push([seen, result.share]);
    this.#result = result;
  }

  /** Take the steps that are due, for as long as a slice. */
  #learn(until) {
    const { batch } = this.#settings;
    const end = performance.now() + SLICE;
    let now = performance.now();
    while (now < end && this.#due <= now && this.#seen < until) {
      this.#step();
      const next = this.#due + (1000 * batch) / PACES[this.#pace](this.#seen, batch);
      this.#due = Math.max(next, now - CATCH_UP);
      now = performance.now();
    }
  }

  /**
   * Learn until it is paused, has seen `until` digits, or rests. Called while it learns, change
   * the pace.
   * @param {"step" | "follow" | "all"} pace
   * @returns {Promise<boolean>} whether it rests
   */
  async run(pace, until = Number.POSITIVE_INFINITY) {
    this.#pace = pace;
    this.#due = performance.now();
    if (this.#running) return false;
    this.#runs++;
    const run = this.#runs;
    this.#running = run;
    const rest = this.#seconds + LONGEST;
    let resumed = performance.now();
    while (this.#running === run) {
      this.#learn(until);
      const now = performance.now();
      this.#seconds += (now - resumed) / 1000;
      resumed = now;
      if (this.#seen >= until || this.#seconds >= rest) this.#running = 0;
      else await breath(Math.min(50, this.#due - now));
    }
    return this.#seconds >= rest;
  }

  pause() {
    this.#running = 0;
  }

  /**
   * Take the reader's own digits, from now on among those that it learns from; for a new sign learn
   * as fast as at first.
   */
  teach(/** @type {import("./batches.js").OwnDigits} */ own) {
    const isOther = own.sign?.place !== this.#batches.own.sign?.place;
    this.#batches.own = own;
    this.#ask("take", own);
    if (!isOther) return;
    this.#rate = this.#settings.rate;
    this.#signed = this.#seen;
    this.#examine();
  }

  /**
   * Remember how it stands, before a hand is laid on it. Return the frame, with the mark's number.
   * @param {number} tile @returns {Promise<import("./untrained.js").Frame>}
   */
  async mark(tile) {
    this.#marks.set(this.#nextMark, {
      network: this.#network.snapshot(),
      seen: this.#seen,
      seconds: this.#seconds,
      rate: this.#rate,
      loss: this.#loss,
      tests: this.#asked,
      touches: this.#touches,
    });
    this.#marks.delete(this.#nextMark - MARKS);
    const mark = this.#nextMark;
    this.#nextMark++;
    return { ...(await this.look(tile)), mark };
  }

  /** Go back to a mark. @throws {Error} where it was forgotten */
  goBack(/** @type {number} */ number) {
    const mark = this.#marks.get(number);
    if (!mark) throw new Error(t`only the last ${MARKS} changes can be taken back`);
    this.#network.restore(mark.network);
    this.#seen = mark.seen;
    this.#seconds = mark.seconds;
    this.#rate = mark.rate;
    this.#loss = mark.loss;
    this.#tests.length = mark.tests; // all of them have come: so has the mark's frame
    this.#asked = mark.tests;
    this.#returns++;
    this.#touches = mark.touches;
    for (const later of this.#marks.keys()) if (later >= number) this.#marks.delete(later);
  }

  /**
   * Hold a filter ("maps") or a capsule ("primary") silent, or let it speak.
   * @param {"maps" | "primary"} part @param {number} at  as a file counts
   */
  hold(part, at, /** @type {boolean} */ isSilent) {
    const silent = this.#network.silent();
    const others = silent[part].filter((other) => other !== at);
    this.#network.hold({ ...silent, [part]: isSilent ? [...others, at] : others });
    return this.#touched();
  }

  /**
   * Multiply the weights of a filter or a capsule.
   * @param {"maps" | "primary"} part @param {number} at  as a file counts
   */
  nudge(part, at, /** @type {number} */ factor) {
    this.#network.nudge(part, at, factor);
    return this.#touched();
  }

  #touched() {
    this.#touches++;
    return this.#examine();
  }

  /**
   * Return how things stand, and one tile's way through the network.
   * @param {number} tile
   * @returns {Promise<import("./untrained.js").Frame>}
   */
  async look(tile) {
    const state = {
      net: this.#settings.net,
      types: this.#settings.types,
      seen: this.#seen,
      seconds: this.#seconds,
      loss: this.#loss,
      silent: this.#network.silent(),
      touches: this.#touches,
      plain: this.#plain,
    };
    const sight = await this.#ask("look", tile);
    const { signs, gallery } = this.#result;
    return { ...state, ...sight, tests: this.#tests, signs, gallery };
  }

  /** Return what it makes of one image, and its decoder: the page draws while sliders move. */
  read(/** @type {Float32Array} */ image) {
    const draws = learnsToDraw(this.#settings);
    const reading = this.#network.read(image, false);
    return { ...reading, decoder: draws && this.#network.decoder() };
  }

  tensors() {
    return this.#network.tensors();
  }
}

/** Make the network that settings name. @param {any} settings @param {any} kernels */
const makeAny = (settings, kernels) =>
  (settings.net === "cnn" ? makeConvNetwork : makeNetwork)(settings, kernels);

/**
 * Make a network, and unpack the pictures that it learns from and is tested with.
 * @param {any} settings @param {any} sample @param {(settings: any, kernels: any) => any} make
 */
async function prepare(settings, sample, make) {
  const unpack = UNPACK[settings.data];
  const [kernels, { learn, ...tested }] = await Promise.all([loadKernels(), unpack(sample)]);
  return { network: make(settings, kernels), learn, tested, plain: !kernels.fast };
}

/**
 * Start a training.
 * @param {any} settings  of network.js, and rate
 * @param {any} sample  of the pictures' file: its tensors, and its card, if it has one
 * @param {import("./batches.js").OwnDigits} own
 * @param {object} [options]
 * @param {any} [options.tensors]  of a network that goes on learning
 * @param {MessagePort} [options.port]  to an examiner in another worker
 * @param {(settings: any, kernels: any) => any} [options.make]  the network; tests give another
 */
export async function startTraining(settings, sample, own, { tensors, port, make = makeAny } = {}) {
  const { network, learn, tested, plain } = await prepare(settings, sample, make);
  if (tensors) network.load(tensors);
  const ask = port ? askThrough(port, network) : askHere(new Examiner(network, tested, own));
  return new Training(network, settings, ask, new Batches(learn, own, settings), plain);
}

/**
 * Start an examiner for a training in another worker.
 * @param {any} settings @param {any} sample @param {import("./batches.js").OwnDigits} own
 * @param {MessagePort} port  to the training
 */
export async function startExaminer(settings, sample, own, port) {
  const { network, tested } = await prepare(settings, sample, makeAny);
  answerThrough(port, network, new Examiner(network, tested, own));
}
