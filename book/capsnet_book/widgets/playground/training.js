// A training: which digits come when, how fast, what is tested, and how things stand. The page calls by name what
// startTraining makes (training.worker.js).
import { shift, unpackDigits } from "./digits.js";
import { loadKernels } from "./kernels.js";
import { makeNetwork } from "./network.js";
import { makeRandom, shuffled } from "./random.js";
import { OWN, PIXELS, WALL } from "./sizes.js";

const FADE = { factor: 0.9, after: 4000 }; // the rate's, in digits
const MOVE = 2; // pixels, at most, that a digit is moved by
const OWN_EVERY = 10; // the reader's own digits have every tenth place
const SLICE = 4; // milliseconds of learning without a look at the messages
const MADE_UP = 200; // milliseconds: if it falls behind its pace, so much is made up for
const LONGEST = 5 * 60; // seconds of learning; then it rests by itself
const TEST_EVERY = { 500: 250, 2000: 500, 4000: 1000, 24000: 2000, Infinity: 4000 }; // digits, before so many are seen

/** Digits a second after n of them, by the name of the pace. */
const PACES = {
  step: (_, batch) => 0.7 * batch,
  follow: (n) => 60 + 0.45 * n, // slowly, then ever faster
  all: () => Number.POSITIVE_INFINITY,
};

const channel = new MessageChannel();
channel.port1.start();

/** Fulfilled when messages were looked at. They come between two slices; setTimeout would wait 4 ms each time. */
const breath = (milliseconds) =>
  new Promise((resolve) => {
    if (milliseconds > 4) return setTimeout(resolve, milliseconds);
    channel.port1.addEventListener("message", resolve, { once: true });
    return channel.port2.postMessage(0);
  });

/**
 * @param {any} settings  of network.js, and rate
 * @param {any} sample  tensors of the digits' file
 * @param {{ images: Float32Array[], labels: number[] }} own  the reader's digits
 * @param {any} [tensors]  what it knows already
 */
export async function startTraining(settings, sample, own, tensors) {
  const [kernels, { learn, test }] = await Promise.all([loadKernels(), unpackDigits(sample)]);
  const network = makeNetwork(settings, kernels);
  if (tensors) network.load(tensors);
  const { batch: B, types } = settings;
  const [order, moves, chance] = [1, 2, 3].map((stream) =>
    makeRandom(settings.seed + stream * 7919),
  );

  let [seen, seconds, rate] = [0, 0, settings.rate];
  let queue = new Uint32Array(0); // what it has still to learn from in this pass
  let loss; // of the last step: { margin, drawing, right }
  const tests = []; // [digits, share of errors]
  let [runs, running, pace, due] = [0, 0, "", 0]; // running: the number of a run, or 0
  const x = new Float32Array(B * PIXELS);
  const labels = new Uint8Array(B);

  function step() {
    for (let n = 0; n < B; n++) {
      const [right, down] = [0, 1].map(() => Math.floor(moves() * (2 * MOVE + 1)) - MOVE);
      if (queue.length === 0) queue = shuffled(learn.labels.length, order);
      const digit = queue.at(-1);
      queue = queue.subarray(0, -1);
      const mine =
        own.labels.length && (seen + n) % OWN_EVERY === 0
          ? Math.floor(chance() * own.labels.length)
          : -1;
      labels[n] = mine < 0 ? learn.labels[digit] : own.labels[mine];
      const image =
        mine < 0 ? learn.images.subarray(digit * PIXELS, (digit + 1) * PIXELS) : own.images[mine];
      shift(x.subarray(n * PIXELS, (n + 1) * PIXELS), image, right, down);
    }
    loss = network.gradients(x, labels);
    network.update(rate);
    seen += B;
    if (seen % FADE.after < B) rate *= FADE.factor;
    const [, every] = Object.entries(TEST_EVERY).find(([many]) => seen < Number(many));
    if (seen % every < B) examine();
  }

  function examine() {
    const { answers } = network.read(test.images, false);
    tests.push([
      seen,
      answers.filter((answer, n) => answer !== test.labels[n]).length / answers.length,
    ]);
  }

  examine();
  return {
    /** Learns until it is paused, has seen so many digits, or rests: then it answers true. A pace can be changed. */
    async run(to, until = Number.POSITIVE_INFINITY) {
      pace = to;
      due = performance.now();
      if (running) return false;
      const [mine, rest] = [++runs, seconds + LONGEST];
      running = mine;
      let resumed = due;
      while (running === mine) {
        const now = performance.now();
        for (let at = now; at < now + SLICE && due <= at && seen < until; at = performance.now()) {
          step();
          due = Math.max(due + (1000 * B) / PACES[pace](seen, B), at - MADE_UP);
        }
        const end = performance.now();
        seconds += (end - resumed) / 1000;
        resumed = end;
        if (seen >= until || seconds >= rest) running = 0;
        else await breath(Math.min(50, due - end));
      }
      return seconds >= rest;
    },
    pause() {
      running = 0;
    },
    /** The reader's own digits, from now on among those that it learns from. */
    teach(digits) {
      own = digits;
    },
    /** How things stand; of one tile, its way through the network. Tiles are the wall's, then the reader's own. */
    look(tile) {
      const names = [...test.labels.subarray(0, WALL), ...own.labels.slice(-OWN)];
      const images = new Float32Array(names.length * PIXELS);
      images.set(test.images.subarray(0, WALL * PIXELS));
      own.images.slice(-OWN).forEach((image, n) => images.set(image, (WALL + n) * PIXELS));
      const { answers, drawings } = network.read(images);
      const pictures = new Uint8ClampedArray(
        (drawings.length ? drawings : images).map((grey) => 255 * grey),
      );
      const blur =
        drawings.reduce((all, grey, k) => all + (grey - images[k]) ** 2, 0) / names.length; // in words.js
      const wrong = names.map((name, n) => name !== answers[n]);
      const right = wrong.slice(0, WALL).filter((each) => !each).length;
      const image = images.slice(tile * PIXELS, (tile + 1) * PIXELS);
      const { u, c, lengths, drawings: drawing } = network.read(image);
      return {
        ...{
          types,
          seen,
          seconds,
          tests,
          loss,
          blur,
          filters: network.filters(),
          plain: !kernels.fast,
        },
        ...{ pictures, wrong, right },
        watched: { label: names[tile], answer: answers[tile], image, u, c, lengths, drawing },
      };
    },
    /** What it makes of one image; and its decoder, if it has learned to draw: the page draws as sliders move. */
    read: (image) => ({
      ...network.read(image, false),
      decoder: settings.drawing > 0 && network.decoder(),
    }),
    tensors: () => network.tensors(),
  };
}
