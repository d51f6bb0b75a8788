// A training: how fast it goes, what is tested, and how things stand. The page calls the methods
// of what startTraining makes by name (training.worker.js).
import { galleryOf, unpackAnimals } from "./animals.js";
import { Batches } from "./batches.js";
import { unpackDigits } from "./digits.js";
import { loadKernels } from "./kernels.js";
import { makeNetwork } from "./network.js";
import { signCounts, withSign } from "./sign.js";
import { OWN, PIXELS, WALL } from "./sizes.js";

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

const channel = new MessageChannel();
channel.port1.start();

/** Wait until messages were looked at; setTimeout alone would wait for 4 ms each time. */
const breath = (/** @type {number} */ milliseconds) =>
  new Promise((resolve) => {
    if (milliseconds > 4) return setTimeout(resolve, milliseconds);
    channel.port1.addEventListener("message", resolve, { once: true });
    return channel.port2.postMessage(0);
  });

/** Return greys from 0 to 1 as bytes. */
function bytesOf(/** @type {Float32Array} */ greys) {
  const bytes = new Uint8ClampedArray(greys.length);
  for (let k = 0; k < bytes.length; k++) bytes[k] = 255 * greys[k];
  return new Uint8Array(bytes.buffer);
}

class Training {
  #network;
  #settings;
  #tested; // pictures for tests; of animals also those by artists whom it knows
  #test; // the first, with the reader's sign among them
  #signed = 0; // digits seen when a sign was taken
  #gallery; // how the last test went by artist, if the pictures have artists (animals.js)
  #signs; // how the last test went for that sign (sign.js)
  #batches;
  #plain;
  #seen = 0; // digits
  #seconds = 0; // of learning
  #rate;
  #loss; // of the last step: { margin, drawing, right }
  #tests = []; // [digits, share of errors]
  #runs = 0;
  #running = 0; // the number of the run that goes on, or 0
  #pace = "";
  #due = 0; // when the next step should be taken
  #touches = 0; // of the reader's hand
  #marks = new Map(); // number -> how it stood before a touch
  #nextMark = 0;

  constructor(network, settings, tested, batches, plain) {
    this.#network = network;
    this.#settings = settings;
    this.#tested = tested;
    this.#test = withSign(tested.test, batches.own.sign);
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

  #examine() {
    const { images, labels } = this.#test;
    const { sign } = this.#batches.own;
    const { answers } = this.#network.read(images, false);
    const wrong = answers.filter((answer, n) => answer !== labels[n]);
    this.#tests.push([this.#seen, wrong.length / answers.length]);
    this.#signs = signCounts(sign, labels, answers);
    const { known } = this.#tested;
    if (!known) return;
    const { answers: knownAnswers } = this.#network.read(known.images, false);
    this.#gallery = galleryOf(this.#test, answers, known, knownAnswers, sign?.place);
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
    if (!isOther) return;
    this.#rate = this.#settings.rate;
    this.#signed = this.#seen;
    this.#test = withSign(this.#tested.test, own.sign);
    this.#examine();
  }

  /**
   * Remember how it stands, before a hand is laid on it. Return the frame, with the mark's number.
   * @param {number} tile @returns {import("./untrained.js").Frame}
   */
  mark(tile) {
    this.#marks.set(this.#nextMark, {
      network: this.#network.snapshot(),
      seen: this.#seen,
      seconds: this.#seconds,
      rate: this.#rate,
      loss: this.#loss,
      tests: this.#tests.length,
      touches: this.#touches,
    });
    this.#marks.delete(this.#nextMark - MARKS);
    const mark = this.#nextMark;
    this.#nextMark++;
    return { ...this.look(tile), mark };
  }

  /** Go back to a mark. @throws {Error} where it was forgotten */
  goBack(/** @type {number} */ number) {
    const mark = this.#marks.get(number);
    if (!mark) throw new Error(`only the last ${MARKS} touches can be taken back`);
    this.#network.restore(mark.network);
    this.#seen = mark.seen;
    this.#seconds = mark.seconds;
    this.#rate = mark.rate;
    this.#loss = mark.loss;
    this.#tests.length = mark.tests;
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
    this.#touched();
  }

  /**
   * Multiply the weights of a filter or a capsule.
   * @param {"maps" | "primary"} part @param {number} at  as a file counts
   */
  nudge(part, at, /** @type {number} */ factor) {
    this.#network.nudge(part, at, factor);
    this.#touched();
  }

  #touched() {
    this.#touches++;
    this.#examine();
  }

  /** The tiles: the hundred, then the last of the reader's own. */
  #tiles() {
    const { own } = this.#batches;
    const labels = [...this.#test.labels.subarray(0, WALL), ...own.labels.slice(-OWN)];
    const images = new Float32Array(labels.length * PIXELS);
    images.set(this.#test.images.subarray(0, WALL * PIXELS));
    own.images.slice(-OWN).forEach((image, n) => images.set(image, (WALL + n) * PIXELS));
    return { labels, images };
  }

  /**
   * Return how things stand, and one tile's way through the network.
   * @param {number} tile
   * @returns {import("./untrained.js").Frame}
   */
  look(tile) {
    const { labels, images } = this.#tiles();
    const { answers, drawings } = this.#network.read(images);
    const greys = drawings.length ? drawings : images; // it may learn no drawing
    const wrong = labels.map((label, n) => label !== answers[n]);
    const right = wrong.slice(0, WALL).filter((isWrong) => !isWrong).length;
    const error = drawings.reduce((sum, grey, k) => sum + (grey - images[k]) ** 2, 0);
    const image = images.slice(tile * PIXELS, (tile + 1) * PIXELS);
    const { drawings: drawing, ...reading } = this.#network.read(image);
    return {
      types: this.#settings.types,
      seen: this.#seen,
      seconds: this.#seconds,
      tests: this.#tests,
      loss: this.#loss,
      signs: this.#signs,
      gallery: this.#gallery,
      blur: error / labels.length, // in words.js
      filters: this.#network.filters(),
      matrices: this.#network.matrices(),
      silent: this.#network.silent(),
      touches: this.#touches,
      plain: this.#plain,
      pictures: bytesOf(greys),
      wrong,
      right,
      watched: { ...reading, tile, label: labels[tile], answer: answers[tile], image, drawing },
    };
  }

  /** Return what it makes of one image, and its decoder: the page draws while sliders move. */
  read(/** @type {Float32Array} */ image) {
    const draws = this.#settings.drawing > 0;
    const reading = this.#network.read(image, false);
    return { ...reading, decoder: draws && this.#network.decoder() };
  }

  tensors() {
    return this.#network.tensors();
  }
}

/**
 * Start a training.
 * @param {any} settings  of network.js, and rate
 * @param {any} sample  of the pictures' file: its tensors, and its card, if it has one
 * @param {import("./batches.js").OwnDigits} own
 * @param {any} [tensors]  of a network that goes on learning
 * @param {(settings: any, kernels: any) => any} make  the network; tests give another
 */
export async function startTraining(settings, sample, own, tensors, make = makeNetwork) {
  const unpack = UNPACK[settings.data];
  const [kernels, { learn, ...tested }] = await Promise.all([loadKernels(), unpack(sample)]);
  const network = make(settings, kernels);
  if (tensors) network.load(tensors);
  const batches = new Batches(learn, own, settings);
  return new Training(network, settings, tested, batches, !kernels.fast);
}
