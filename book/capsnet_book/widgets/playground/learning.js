// A training: which digits come when, how fast, what is tested, and what the page is told of it.
import { greys, shift } from "./digits.js";
import { makeNetwork } from "./network.js";
import { makeRandom, shuffled } from "./random.js";
import { PIXELS, WALL } from "./sizes.js";

const FADE = { factor: 0.9, after: 4000 }; // the rate's, in digits
const MOVE = 2; // pixels, at most, that a digit is moved by
const OWN_EVERY = 10; // the reader's own digits have every tenth place
const OWN_SHOWN = 10; // of them, so many are shown
const FRAME = 100; // milliseconds between two frames, at least
const SLICE = 4; // milliseconds of learning without a look at the messages
const LONGEST = 5 * 60; // seconds of learning; then it rests by itself
const FIRST_TESTS = [0, 125, 250, 500, 750, 1000, 1500, 2000, 3000, 4000];

/** Digits a second after n of them, where the reader wants to follow: slowly, then ever faster. */
const followed = (n) => 60 + 0.45 * n;

/**
 * @param {any} settings  of network.js, and rate
 * @param {any} digits  of digits.js
 * @param {any} makeKernels
 * @param {{ post: (message: any, transfer?: Transferable[]) => void, wait: (work: () => void) => void }} page
 *   wait: calls back as soon as messages were looked at
 * @param {any} [tensors]  what it knows already
 */
export function makeLearning(settings, digits, makeKernels, { post, wait }, tensors) {
  const network = makeNetwork(settings, makeKernels);
  if (tensors) network.load(tensors);
  const { batch: B } = settings;
  const [order, moves, chance] = [1, 2, 3].map((stream) => makeRandom(settings.seed + stream * 7919));
  const test = greys(digits.test.images);
  let watched = 0; // the tile whose way through the network the frames tell

  let [seen, steps, seconds, rate] = [0, 0, 0, settings.rate];
  let [queue, own] = [
    new Uint32Array(0),
    /** @type {{ images: Float32Array[], labels: number[] }} */ ({ images: [], labels: [] }),
  ];
  let since = { digits: 0, right: 0, margin: 0, drawing: 0 }; // since the last frame
  let tests = []; // [digits, wrong of 500, seconds] since the last frame
  let [running, pace, until, due, resumed] = [false, /** @type {number | "follow"} */ ("follow"), Infinity, 0, 0];
  let [waitsForPage, lastFrame, frameCost] = [false, -Infinity, 0];
  const x = new Float32Array(B * PIXELS);
  const labels = new Uint8Array(B);

  /** The next digit to learn from: index among those that there are, each once in every round. */
  function next() {
    if (queue.length === 0) queue = shuffled(digits.learn.labels.length, order);
    const n = queue[queue.length - 1];
    queue = queue.subarray(0, -1);
    return n;
  }

  function step() {
    for (let n = 0; n < B; n++) {
      const [right, down] = [0, 1].map(() => Math.floor(moves() * (2 * MOVE + 1)) - MOVE);
      const to = x.subarray(n * PIXELS, (n + 1) * PIXELS);
      const digit = next();
      if (own.labels.length && (seen + n) % OWN_EVERY === 0) {
        const mine = Math.floor(chance() * own.labels.length);
        labels[n] = own.labels[mine];
        shift(to, own.images[mine], right, down, 1); // these go from 0 to 1 already
      } else {
        labels[n] = digits.learn.labels[digit];
        shift(to, digits.learn.images.subarray(digit * PIXELS, (digit + 1) * PIXELS), right, down);
      }
    }
    const { margin, drawing, right } = network.gradients(x, labels);
    network.update(rate);
    if (Math.floor((seen + B) / FADE.after) > Math.floor(seen / FADE.after)) rate *= FADE.factor;
    for (const [name, sum] of Object.entries({ digits: B, right, margin: margin * B, drawing: drawing * B })) {
      since[name] += sum;
    }
    steps++;
    seen += B;
    if (isTest(seen, B)) examine();
  }

  function examine() {
    const { answers } = network.read(test, false);
    const wrong = answers.reduce((all, answer, n) => all + Number(answer !== digits.test.labels[n]), 0);
    tests.push([seen, wrong, running ? seconds + (performance.now() - resumed) / 1000 : seconds]);
  }

  /** Learns for a while, then looks at the messages. */
  function slice() {
    if (!running) return;
    const now = performance.now();
    for (let at = now; at < now + SLICE && due <= at && seen < until; at = performance.now()) {
      step();
      const perSecond = pace === "follow" ? followed(seen) : pace;
      due = Math.max(due + (1000 * B) / perSecond, at - 200); // what was missed is made up for, within limits
    }
    const end = performance.now();
    seconds += (end - resumed) / 1000;
    resumed = end;
    if (seen >= until || seconds > LONGEST) pause(seen >= until ? "until" : "long");
    else if (due > end + 4) setTimeout(slice, Math.min(50, due - end));
    else wait(slice);
    frame();
  }

  /** Tells the page how things stand, if it has seen the last, and not so often that it would hold learning up. */
  function frame(always = false) {
    const now = performance.now();
    if (!always && (waitsForPage || now - lastFrame < Math.max(FRAME, 6 * frameCost))) return;
    const mine = own.images.slice(-OWN_SHOWN);
    const images = new Float32Array((WALL + mine.length + 1) * PIXELS);
    images.set(test.subarray(0, WALL * PIXELS));
    const shown = [...mine, test.subarray(watched * PIXELS, (watched + 1) * PIXELS)];
    for (const [n, image] of shown.entries()) images.set(image, (WALL + n) * PIXELS);
    const { lengths, drawings, answers, u, c } = network.read(images);
    const bytes = new Uint8ClampedArray(drawings.length);
    for (let k = 0; k < bytes.length; k++) bytes[k] = 255 * drawings[k];
    const filters = network.filters();
    const message = {
      is: "frame",
      ...{ seen, steps, seconds, running, rate, since, tests, filters },
      wall: { lengths, answers, drawings: bytes },
      watched: { u, c },
    };
    [since, tests] = [{ digits: 0, right: 0, margin: 0, drawing: 0 }, []];
    [waitsForPage, lastFrame, frameCost] = [true, now, performance.now() - now];
    post(message, [bytes.buffer, lengths.buffer, filters.buffer]);
  }

  function pause(why = "asked") {
    running = false;
    frame(true);
    post({ is: "paused", why });
  }

  examine();
  return {
    network,
    pause: () => running && pause(),
    seen: () => (waitsForPage = false),
    frame: () => frame(true),
    /** @param {number | "follow"} speed  digits a second @param {number} [end]  digits after which it pauses */
    run(speed, end = Infinity) {
      [pace, until] = [speed, end];
      due = resumed = performance.now();
      if (running) return;
      running = true;
      wait(slice);
    },
    watch(tile) {
      watched = tile;
      frame(true);
    },
    /** The reader's own digits, from now on among those that it learns from. */
    teach(images, names) {
      own = { images, labels: names };
      frame(true);
    },
  };
}

/** Whether these many digits, a multiple of the batch, are the first at or after a moment of testing. */
function isTest(n, B) {
  if (n <= FIRST_TESTS.at(-1)) return FIRST_TESTS.some((moment) => n >= moment && n - B < moment);
  const every = n < 24000 ? 2000 : 4000;
  return n % every < B;
}
