// The glass network's network, with parts taken out, and what is said about it.
import { LONG } from "../shared/bars.js";
import { t } from "../shared/t.js";
import { clamp, format, percent, withArticle } from "../shared/ui.js";

/**
 * @typedef {{ part: string, at: number, place?: number }} Focus
 *   a map, and a place in it, by default where it answers most; a capsule below; a vote, i · J + j;
 *   a class; or one of the sixteen numbers ("faders")
 */

/** Whether a pad is not empty. @param {Uint8Array | Float32Array} pixels */
export const hasInk = (pixels) => pixels.some((grey) => grey > 0);

// ---------------------------------------------------------------------------- taking apart

/** How far a fader goes, either way. */
export const REACH = 0.6;
/** By how much of itself an even share may differ and is still called even. */
const EVEN = 0.15;
/** The most rounds of routing that can be set. */
export const MOST_ROUNDS = 10;

/**
 * The places, in [I, J], of a part's votes: those of a capsule below, those for a class, or one.
 * @param {Focus} focus @param {number} I @param {number} J
 */
export function votesOf({ part, at }, I, J) {
  if (part === "primary") return Array.from({ length: J }, (_, j) => at * J + j);
  if (part === "classes") return Array.from({ length: I }, (_, i) => i * J + at);
  return part === "predictions" ? [at] : [];
}

/** The index of the largest number. @param {Float32Array} numbers */
export const largest = (numbers) =>
  numbers.reduce((best, number, k) => (number > numbers[best] ? k : best), 0);

/**
 * A network of which parts can be taken out. A vote that is cut is 0; a capsule below is out when
 * all its votes are cut, a class is held down when all votes for it are. Each change is answered at
 * once:
 * votes [I, J]: 1 for those that count; rounds; image; seen: look() of the network; answer:
 * decide() of it; whole: the same with nothing taken out; touched: whether something is; numbers
 * [D_out] of the answer, which faders push, and the drawing from them; pushed: the last push, and
 * what the network reads in that drawing.
 * @param {any} network
 */
export function makeSession(network) {
  const { I, J, D_out, config } = network;
  const votes = new Uint8Array(I * J).fill(1);
  const session = /** @type {any} */ ({ network, votes, rounds: config.iterations });
  const isKept = (/** @type {Focus} */ part) => {
    const own = votesOf(part, I, J);
    return !session.touched || own.length === 0 || own.some((k) => votes[k]);
  };

  /** Reads a digit, [image_size · image_size] numbers from 0 to 1. */
  function read(/** @type {Float32Array} */ image) {
    Object.assign(session, { image, seen: network.look(image), whole: null });
    decide();
  }

  function decide() {
    const { seen, rounds } = session;
    const u_hat = seen.u_hat.slice();
    votes.forEach((vote, k) => {
      if (!vote) u_hat.fill(0, k * D_out, (k + 1) * D_out);
    });
    const answer = network.decide(u_hat, rounds);
    const { capsules, prediction, reconstruction } = answer;
    session.answer = answer;
    session.touched = rounds !== config.iterations || votes.includes(0);
    if (session.touched) session.whole ??= network.decide(seen.u_hat);
    else session.whole = answer;
    session.numbers = capsules.slice(prediction * D_out, (prediction + 1) * D_out);
    session.drawing = reconstruction;
    session.pushed = null;
  }

  /** Takes a part out, or puts it back. @param {Focus} part @param {boolean} keep */
  function setKept(part, keep) {
    for (const k of votesOf(part, I, J)) votes[k] = keep ? 1 : 0;
    decide();
  }

  /** Cuts the votes for which the function returns true. @param {(k: number) => boolean} isCut */
  function cut(isCut) {
    votes.forEach((vote, k) => {
      if (vote && isCut(k)) votes[k] = 0;
    });
    decide();
  }

  /** Sets the rounds of routing. */
  function setRounds(/** @type {number} */ rounds) {
    session.rounds = clamp(rounds, 1, MOST_ROUNDS);
    decide();
  }

  /** Puts all parts back, and the rounds as well. */
  function putTogether() {
    votes.fill(1);
    setRounds(config.iterations);
  }

  /** Pushes one of the answer's numbers and draws it anew. */
  function setNumber(/** @type {number} */ d, /** @type {number} */ number) {
    session.numbers[d] = clamp(number, -REACH, REACH);
    const capsules = new Float32Array(J * D_out);
    const own = session.answer.prediction * D_out;
    capsules.set(session.numbers, own);
    session.drawing = network.decode(capsules);
    const by = session.numbers[d] - session.answer.capsules[own + d];
    session.pushed = { at: d, by, prediction: network.forward(session.drawing).prediction };
  }

  const actions = { isKept, read, setKept, cut, setRounds, putTogether, setNumber };
  const strongest = (/** @type {string} */ part) => strongestOf(session, part);
  return Object.assign(session, actions, { strongest });
}

/**
 * The place of a map that is pointed at: its own, or where the map answers most.
 * @param {Focus} focus @param {any} session
 */
export function placeOf({ at, place }, { seen, network: { config } }) {
  if (place !== undefined) return place;
  const places = seen.edges.length / config.conv_channels;
  return largest(seen.edges.subarray(at * places, (at + 1) * places));
}

/**
 * What is strongest in a part: where a map answers most, or the strongest vote for the answer, its
 * capsule or its class.
 * @param {any} session @param {string} part
 * @returns {Focus}
 */
export function strongestOf({ seen, answer, votes, network }, part) {
  const { J, config } = network;
  const { c, prediction } = answer;
  if (part === "maps") {
    const edge = largest(seen.edges);
    const places = seen.edges.length / config.conv_channels;
    return { part, at: Math.floor(edge / places), place: edge % places };
  }
  const couplings = c.at(-1).map((x, k) => (k % J === prediction ? x * votes[k] : 0));
  const vote = largest(couplings);
  if (part === "primary") return { part, at: Math.floor(vote / J) };
  if (part === "predictions") return { part, at: vote };
  return { part, at: part === "classes" ? prediction : 0 };
}

// -------------------------------------------------------------------------------- in words

/** Rounds of routing, in words. @param {number} rounds */
export const roundsInWords = (rounds) =>
  rounds === 1 ? t`1 voting round` : t`${rounds} voting rounds`;

/** Says what was taken out: capsules, other votes, classes, rounds. @param {any} session */
function goneOf({ network: { I, J, config, names }, votes, rounds, isKept }) {
  const isOut = Array.from({ length: I }, (_, at) => !isKept({ part: "primary", at }));
  const allOut = isOut.every(Boolean);
  const classes = Array.from({ length: J }, (_, at) => at);
  // With all capsules out no vote is left: it is not the classes that are held down.
  const held = allOut ? [] : classes.filter((at) => !isKept({ part: "classes", at }));
  const capsules = isOut.filter(Boolean).length;
  const cut = votes.filter(
    (vote, k) => !vote && !isOut[Math.floor(k / J)] && !held.includes(k % J),
  ).length;
  const words = [];
  if (capsules) words.push(t`${capsules} of ${I} capsules out`);
  if (cut) words.push(cut === 1 ? t`1 vote cut` : t`${cut} votes cut`);
  const heldNames = held.map((at) => names[at]).join(t` and the `);
  if (held.length) words.push(t`the ${heldNames} held down`);
  if (rounds !== config.iterations) words.push(roundsInWords(rounds));
  return words.join(t`, `);
}

/** The score: what was taken away, and what is left of the answer. @param {any} session */
export function scoreOf(session) {
  const { answer, touched, image, network, pushed } = session;
  const { prediction, lengths } = answer;
  if (pushed) {
    const push = t`You pushed number ${pushed.at + 1} by ${format(pushed.by, 2, true)}.`;
    const read = withArticle(network.names[pushed.prediction]);
    return t`${push} Shown its own drawing, it reads ${read}.`;
  }
  if (touched) return scoreWithoutParts(session);
  const length = format(lengths[prediction]);
  const name = network.names[prediction];
  const reads = withArticle(name);
  if (!hasInk(image))
    return t`The page is empty, and the network reads ${reads} from it, ${length} long.`;
  if (lengths[prediction] < LONG)
    return t`It hesitates: the ${name} is the longest, and only ${length} long.`;
  return t`It reads ${reads}. Its capsule is ${length} of 1 long.`;
}

/** The score where parts are taken out. */
function scoreWithoutParts(session) {
  const { answer, whole, network } = session;
  const { prediction, lengths } = answer;
  const words = goneOf(session);
  const gone = words[0].toUpperCase() + words.slice(1);
  if (lengths[prediction] === 0) return t`${gone}: nothing is left to read.`;
  const name = withArticle(network.names[prediction]);
  const length = format(lengths[prediction]);
  if (prediction === whole.prediction) return t`${gone}: still ${name}, ${length}.`;
  return t`${gone}: now ${name}, ${length}.`;
}

/** Says what a part is, and what it does now. @param {Focus} focus @param {any} session */
export function sentenceOn(focus, session) {
  return SENTENCES[focus.part](focus, session);
}

/** @type {Record<string, (focus: Focus, session: any) => string>} */
const SENTENCES = {
  maps(focus, session) {
    const { at } = focus;
    const { seen, network, isKept } = session;
    if (!isKept(focus)) return t`Feature map ${at + 1} is out: its filter answers nothing.`;
    const places = seen.edges.length / network.config.conv_channels;
    const sum = format(seen.edges[at * places + placeOf(focus, session)]);
    const filter = t`Feature map ${at + 1}: one filter slides over ${network.input}.`;
    return t`${filter} Where the frame is, it answers ${sum}.`;
  },

  primary(focus, session) {
    const { at } = focus;
    const { seen, network, isKept } = session;
    const { D_in, J, names } = network;
    if (!isKept(focus)) return t`Capsule ${at} is out: nobody hears it.`;
    const length = format(Math.hypot(...seen.u.subarray(at * D_in, (at + 1) * D_in)));
    const { vote, coupling } = strongestVote(focus, session);
    if (isEven(coupling, J))
      return t`Capsule ${at} sees this patch, is ${length} long, and prefers no class: its largest
        share is ${percent(coupling)}.`;
    const share = t`its largest share, ${percent(coupling)}, to the ${names[vote % J]}`;
    return t`Capsule ${at} sees this patch, is ${length} long, and gives ${share}.`;
  },

  predictions(focus, { answer, network: { J, names }, isKept }) {
    const { at } = focus;
    const capsule = Math.floor(at / J);
    const name = names[at % J];
    if (!isKept(focus)) return t`The vote of capsule ${capsule} for the ${name} is cut.`;
    const coupling = answer.c.at(-1)[at];
    const share = percent(coupling);
    if (isEven(coupling, J))
      return t`Capsule ${capsule} votes: “if this is a ${name}, it looks so.”
        The vote is û = W u; its share, ${share}, is an even one.`;
    return t`Capsule ${capsule} votes: “if this is a ${name}, it looks so.”
      The vote is û = W u, and ${share} of the capsule goes to it.`;
  },

  classes(focus, session) {
    const { at } = focus;
    const { answer, network, isKept } = session;
    const name = network.names[at];
    if (!isKept(focus)) return t`The ${name} is held down: no vote reaches it.`;
    const { vote, coupling } = strongestVote(focus, session);
    if (isEven(coupling, network.J))
      return t`The ${name} is ${format(answer.lengths[at])} long. No capsule prefers it: the largest
        share that one gives is ${percent(coupling)}.`;
    const feeder = t`Capsule ${Math.floor(vote / network.J)} gives it the largest share of itself`;
    return t`The ${name} is ${format(answer.lengths[at])} long. ${feeder}, ${percent(coupling)}.`;
  },

  faders({ at }, { answer, numbers, network: { D_out, names } }) {
    const push = numbers[at] - answer.capsules[answer.prediction * D_out + at];
    const owner = t`the ${names[answer.prediction]}’s sixteen`;
    const number = t`Number ${at + 1} of ${owner} is ${format(numbers[at])}`;
    if (push === 0) return t`${number}: push it, and see.`;
    return t`${number}, pushed by ${format(push, 2, true)}.`;
  },
};

/** Whether a share is the one that each of J classes gets where a capsule prefers none. */
const isEven = (/** @type {number} */ coupling, /** @type {number} */ J) =>
  Math.abs(coupling * J - 1) < EVEN;

/** The strongest vote of a capsule below, or for a class, that is not cut. @param {Focus} focus */
function strongestVote(focus, { answer, votes, network: { I, J } }) {
  const couplings = answer.c.at(-1);
  const weight = (k) => couplings[k] * votes[k];
  const vote = votesOf(focus, I, J).reduce((best, k) => (weight(k) > weight(best) ? k : best));
  return { vote, coupling: weight(vote) };
}
