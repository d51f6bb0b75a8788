// Routing by agreement as a row of steps: three parts, two wholes, three rounds.
// Time runs from 0 to LAST: at k, step k is done; between k − 1 and k it moves.
import { eased, mixed } from "./shared/controls.js";
import { agreements, norm, route, softmaxOverJ, weightedSums } from "./shared/core.js";
import { t } from "./shared/t.js";
import { clamp, format, listed } from "./shared/ui.js";

export const PARTS = ["bar", "stem", "speck"];
export const PART_NAMES = [t`bar`, t`stem`, t`speck`];
export const WHOLES = [7, 1];
const ROUNDS = 3;

export const I = PARTS.length;
export const J = WHOLES.length;
const D = 2;

// ------------------------------------------------------------------------------- the steps

/**
 * @typedef {"parts" | "votes" | "shares" | "sum" | "squash" | "agreement"} Kind  of step
 * @typedef {{ kind: Kind, round: number, lines: string[] }} Step
 *   round: 1 to 3, or 0 before them; lines: those of the procedure that are done
 */

/** @returns {Step[]} */
function stepsOf(/** @type {number} */ round) {
  const lines = round === 1 ? ["b0", "c"] : ["c"];
  /** @type {Step[]} */
  const steps = [
    { kind: "shares", round, lines },
    { kind: "sum", round, lines: ["s"] },
    { kind: "squash", round, lines: ["v"] },
  ];
  const isRead = round < ROUNDS; // the last round's agreement would change no couplings
  if (isRead) steps.push({ kind: "agreement", round, lines: ["a", "b"] });
  return steps;
}

/** @type {Step[]} */
export const STEPS = [
  { kind: "parts", round: 0, lines: [] },
  { kind: "votes", round: 0, lines: ["u_hat"] },
  ...stepsOf(1),
  ...stepsOf(2),
  ...stepsOf(3),
];
export const LAST = STEPS.length - 1;

// ----------------------------------------------------------------------------- the numbers

/**
 * @typedef {{ u_hat: Float32Array, b: Float32Array[], c: Float32Array[], s: Float32Array[],
 *   v: Float32Array[], a: Float32Array[] }} Trace
 *   one entry a round: b, c, a [I · J], s, v [J · D]
 */

/** All that the rounds compute. @param {ArrayLike<number>} votes  û [I, J, D] @returns {Trace} */
export function traceOf(votes) {
  const u_hat = Float32Array.from(votes);
  const { b, c, v } = route(u_hat, I, J, D, ROUNDS);
  const s = c.map((couplings) => weightedSums(couplings, u_hat, I, J, D));
  const a = v.map((capsules) => agreements(u_hat, capsules, I, J, D));
  return { u_hat, b, c, s, v, a };
}

/** The lengths of both vectors [J · D]. */
const lengthsOf = (/** @type {ArrayLike<number>} */ vectors) =>
  WHOLES.map((_, j) => norm(vectors, j * D, D));

// ----------------------------------------------------------------------------- the moments

/**
 * @typedef {{ gathered: number, shared: number, laid: number, measured: number,
 *   b: ArrayLike<number>, c: ArrayLike<number>, a: ArrayLike<number>, s: ArrayLike<number>,
 *   v: ArrayLike<number>, seen: { s: number, v: number }, lengths: number[] | null }} Moment
 *   what there is to see. From 0 to 1: gathered (the parts are in their places, the votes are
 *   there), shared (so are the couplings), laid (each vote has its share's length, and they lie end
 *   to end), measured (the votes are measured along v); seen: how strongly s and v are drawn;
 *   lengths: of v, null before there is one
 */

/** The moment at a time. @param {Trace} trace @param {number} time @returns {Moment} */
export function momentAt(trace, time) {
  const step = Math.ceil(time);
  const x = step === 0 ? 1 : time - step + 1; // how much of the step is done
  const { kind, round } = STEPS[step];
  const r = Math.max(0, round - 1);
  return { ...stillOf(trace, round), ...MOVES[kind](trace, r, x) };
}

/** The numbers with which a round begins. @param {Trace} trace @returns {Moment} */
function stillOf({ b, c, s, v, a }, /** @type {number} */ round) {
  const r = Math.max(0, round - 1);
  const isFirst = round < 2;
  return {
    gathered: round === 0 ? 0 : 1,
    shared: 1,
    laid: 0,
    measured: 0,
    b: b[r],
    c: c[r],
    a: a[r],
    s: s[r],
    v: isFirst ? v[0] : v[r - 1],
    seen: { s: 0, v: isFirst ? 0 : 0.35 },
    lengths: isFirst ? null : lengthsOf(v[r - 1]),
  };
}

/**
 * The movements of each kind of step: what differs from stillOf() when x of it, 0 to 1, is done.
 * @type {Record<Kind, (trace: Trace, r: number, x: number) => Partial<Moment>>}
 */
const MOVES = {
  parts: () => ({ shared: 0 }),
  votes: (_trace, _r, x) => ({ shared: 0, gathered: x }),
  shares({ b, a }, r, x) {
    if (r === 0) return { shared: x };
    return {
      c: softmaxOverJ(mixed(b[r - 1], b[r], x), I, J),
      a: a[r - 1],
      measured: 1 - x,
      seen: { s: 0, v: 1 - 0.65 * x },
    };
  },
  sum: (_trace, r, x) => ({ laid: x, seen: { s: x, v: r === 0 ? 0 : 0.35 * (1 - x) } }),
  squash({ s, v }, r, x) {
    const before = r === 0 ? [0, 0] : lengthsOf(v[r - 1]);
    return {
      laid: 1,
      v: mixed(s[r], v[r], x),
      seen: { s: 1 - 0.75 * x, v: Math.min(1, 4 * x) },
      lengths: mixed(before, lengthsOf(v[r]), x),
    };
  },
  agreement({ b, v }, r, x) {
    return {
      laid: clamp(1 - 2 * x, 0, 1),
      measured: clamp(2 * x - 1, 0, 1),
      v: v[r],
      seen: { s: 0.25 * (1 - x), v: 1 },
      lengths: lengthsOf(v[r]),
      b: mixed(b[r], b[r + 1], x),
    };
  },
};

/**
 * Where the votes' arrows begin and end: [I · J] pairs of points. `laid`: from 0, all begin in the
 * middle, to 1, they lie end to end, one after the other.
 * @param {Trace} trace @param {{ c: ArrayLike<number>, laid: number }} moment
 */
export function arrowsOf({ u_hat }, { c, laid }) {
  const ends = WHOLES.map(() => [0, 0]); // of the votes that are laid already
  return Array.from({ length: I * J }, (_, k) => {
    const t = eased(clamp(laid * (I + 1) - Math.floor(k / J), 0, 2) / 2);
    const vote = [u_hat[k * D], u_hat[k * D + 1]];
    const end = ends[k % J];
    const start = mixed([0, 0], end, t);
    const length = 1 + (c[k] - 1) * t;
    ends[k % J] = end.map((x, d) => x + c[k] * vote[d]);
    return [start, start.map((x, d) => x + length * vote[d])];
  });
}

/** All points [x, y] that are drawn for each whole. @param {Trace} trace */
export function pointsOf(trace) {
  const unitDisc = () => [
    [-1, -1],
    [1, 1],
  ];
  const points = WHOLES.map(unitDisc);
  for (const laid of [0, 1]) {
    for (const c of trace.c)
      arrowsOf(trace, { c, laid }).forEach(([, tip], k) => points[k % J].push(tip));
  }
  return points;
}

// -------------------------------------------------------------------------------- in words

/** Lists a number for each whole. @param {number[]} values */
const ofEach = (values) => listed(values.map((x, j) => t`${format(x)} for the ${WHOLES[j]}`));

/**
 * Lists what say() makes of each part's number for the first whole.
 * @param {ArrayLike<number>} numbers  [I · J] @param {(number: number, part: string) => string} say
 */
const ofParts = (numbers, say) => listed(PART_NAMES.map((part, i) => say(numbers[i * J], part)));

/**
 * Title and text of each kind of step.
 * @type {Record<Kind, (trace: Trace, r: number) => [string, string]>}
 */
const WORDS = {
  parts: () => [
    t`Three parts`,
    t`A bar, a stem and a speck of dirt. What do they belong to: a 7, or a 1?`,
  ],
  votes: () => [
    t`Each part votes twice`,
    t`“If I belong to a 7, its pose is this. If I belong to a 1, it is that.” One arrow for each.`,
  ],
  shares({ c }, r) {
    if (r === 0) {
      const even = t`Nothing is known yet: all logits are 0. So each whole gets one half of every
        part.`;
      return [t`Even shares`, even];
    }
    const shares = ofParts(c[r], (x, part) => t`${format(x)} of the ${part}`);
    return [t`New shares`, t`The softmax of the new logits. Now the ${WHOLES[0]} has ${shares}.`];
  },
  sum: ({ s }, r) => [
    t`Sum`,
    t`Each vote is cut to its share, and all are laid end to end. What agrees adds up, what
      contradicts cancels: ${ofEach(lengthsOf(s[r]))}.`,
  ],
  squash({ v }, r) {
    const lengths = ofEach(lengthsOf(v[r]));
    if (r + 1 < ROUNDS) return [t`Squash`, t`The same direction, but shorter than 1: ${lengths}.`];
    const contest = t`What a part took from one whole, the other got.`;
    return [t`The result`, t`Three rounds, and it ends: ${lengths}. ${contest}`];
  },
  agreement({ a }, r) {
    const products = ofParts(a[r], (x, part) => `${part} ${format(x, 2, true)}`);
    const question = t`How far does each vote reach along v, times its length?`;
    return [
      t`Agreement`,
      t`${question} This is added to the logits. For the ${WHOLES[0]}: ${products}.`,
    ];
  },
};

/** The title and text of a step. @param {number} step @param {Trace} trace */
export function wordsOf(step, trace) {
  const { kind, round } = STEPS[step];
  const [title, text] = WORDS[kind](trace, round - 1);
  return { title, text };
}
