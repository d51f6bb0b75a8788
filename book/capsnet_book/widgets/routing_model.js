// Routing by agreement as a row of steps: three parts, two wholes, three rounds.
// Time runs from 0 to LAST: at k, step k is done; on the way to k it moves.
import { eased, mixed } from "./shared/controls.js";
import { agreements, norm, route, softmaxOverJ, weightedSums } from "./shared/core.js";
import { clamp, format } from "./shared/ui.js";

export const PARTS = ["bar", "stem", "speck"];
export const WHOLES = [7, 1];
const ROUNDS = 3;

// kind: what moves; round: 1 to 3, or 0 before them; lines: those of the procedure that are done
const stepsOf = (round) => [
  { kind: "shares", round, lines: round === 1 ? ["b0", "c"] : ["c"] },
  { kind: "sum", round, lines: ["s"] },
  { kind: "squash", round, lines: ["v"] },
  { kind: "agreement", round, lines: ["a", "b"] },
];

export const STEPS = [
  { kind: "parts", round: 0, lines: [] },
  { kind: "votes", round: 0, lines: ["u_hat"] },
  ...[1, 2, 3].flatMap(stepsOf).slice(0, -1), // nothing reads what the last agreement would change
];
export const LAST = STEPS.length - 1;

export const I = PARTS.length;
export const J = WHOLES.length;
const D = 2;

/** @typedef {{ u_hat: Float32Array, b: Float32Array[], c: Float32Array[], s: Float32Array[], v: Float32Array[],
 *   a: Float32Array[] }} Trace  of every round: b, c, a [I · J], s, v [J · D] */

/** All that the rounds compute. @param {ArrayLike<number>} votes  û [I, J, D] @returns {Trace} */
export function traceOf(votes) {
  const u_hat = Float32Array.from(votes);
  const { b, c, v } = route(u_hat, I, J, D, ROUNDS);
  const s = c.map((shares) => weightedSums(shares, u_hat, I, J, D));
  const a = v.map((capsules) => agreements(u_hat, capsules, I, J, D));
  return { u_hat, b, c, s, v, a };
}

/** How long the two vectors [J · D] are. */
const bothLengths = (vectors) => WHOLES.map((_, j) => norm(vectors, j * D, D));

/**
 * What is to be seen. From 0 to 1: gathered (the parts are in their places, the votes are there),
 * shared (so are the couplings), laid (each vote has its share's length, and they lie end to end), measured (along v);
 * seen.s and seen.v say how strongly these are drawn. lengths: of v, null before there is one.
 */
export function momentAt(/** @type {Trace} */ { b, c, s, v, a }, time) {
  const at = Math.ceil(time);
  const x = at === 0 ? 1 : time - at + 1;
  const { kind, round } = STEPS[at];
  const r = Math.max(0, round - 1);
  const first = round < 2;
  const still = {
    gathered: round ? 1 : 0,
    shared: 1,
    laid: 0,
    measured: 0,
    ...{ b: b[r], c: c[r], a: a[r], s: s[r], v: first ? v[0] : v[r - 1] },
    seen: { s: 0, v: first ? 0 : 0.35 },
    lengths: first ? null : bothLengths(v[r - 1]),
  };
  const shown = {
    parts: { shared: 0 },
    votes: { shared: 0, gathered: x },
    shares: first
      ? { shared: x }
      : {
          c: softmaxOverJ(mixed(b[r - 1], b[r], x), I, J),
          a: a[r - 1],
          measured: 1 - x,
          seen: { s: 0, v: 1 - 0.65 * x },
        },
    sum: { laid: x, seen: { s: x, v: first ? 0 : 0.35 * (1 - x) } },
    squash: {
      laid: 1,
      v: mixed(s[r], v[r], x),
      seen: { s: 1 - 0.75 * x, v: Math.min(1, 4 * x) },
      lengths: mixed(first ? [0, 0] : bothLengths(v[r - 1]), bothLengths(v[r]), x),
    },
    agreement: {
      laid: clamp(1 - 2 * x, 0, 1),
      measured: clamp(2 * x - 1, 0, 1),
      v: v[r],
      seen: { s: 0.25 * (1 - x), v: 1 },
      lengths: bothLengths(v[r]),
      b: r + 1 < ROUNDS ? mixed(b[r], b[r + 1], x) : b[r],
    },
  }[kind];
  return { ...still, ...shown };
}

/** Where the arrows of the votes begin and end, [I · J] pairs of points; one by one they are laid end to end. */
export function arrowsOf(/** @type {Trace} */ { u_hat }, { c, laid }) {
  const ends = WHOLES.map(() => [0, 0]); // of what is laid already
  return Array.from({ length: I * J }, (_, k) => {
    const t = eased(clamp(laid * (I + 1) - Math.floor(k / J), 0, 2) / 2);
    const vote = [u_hat[k * D], u_hat[k * D + 1]];
    const end = ends[k % J];
    const from = mixed([0, 0], end, t);
    const length = 1 + (c[k] - 1) * t;
    ends[k % J] = end.map((x, d) => x + c[k] * vote[d]);
    return [from, from.map((x, d) => x + length * vote[d])];
  });
}

/** All points [x, y] that are drawn for each whole. @param {Trace} trace */
export function pointsOf(trace) {
  const points = WHOLES.map(() => [
    [-1, -1],
    [1, 1],
  ]);
  for (const laid of [0, 1])
    for (const c of trace.c)
      arrowsOf(trace, { c, laid }).forEach(([, tip], k) => points[k % J].push(tip));
  return points;
}

// ---------------------------------------------------------------------------------------------- in words

/** "a", "a and b", "a, b and c". @param {string[]} words */
const listed = (words) =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;

/** @param {number[]} values  of the two wholes */
const ofEach = (values) => listed(values.map((x, j) => `${format(x)} for the ${WHOLES[j]}`));

/** What each part has to do with the first whole. @param {ArrayLike<number>} numbers  [I · J] */
const ofParts = (numbers, say) => listed(PARTS.map((part, i) => say(numbers[i * J], part)));

/** @type {Record<string, (trace: Trace, r: number) => [string, string]>} */
const WORDS = {
  parts: () => [
    "Three parts",
    "A bar, a stem and a speck of dirt. What do they belong to: a 7, or a 1?",
  ],
  votes: () => [
    "Each part votes twice",
    "“If I belong to a 7, its pose is this. If I belong to a 1, it is that.” One arrow for each.",
  ],
  shares: ({ c }, r) =>
    r === 0
      ? [
          "Even shares",
          "Nothing is known yet: all logits are 0. So each whole gets one half of every part.",
        ]
      : [
          "New shares",
          `The softmax of the new logits. Now the ${WHOLES[0]} has ` +
            `${ofParts(c[r], (x, part) => `${format(x)} of the ${part}`)}.`,
        ],
  sum: ({ s }, r) => [
    "Sum",
    "Each vote is cut to its share, and all are laid end to end. What agrees adds up, what contradicts cancels: " +
      `${ofEach(bothLengths(s[r]))}.`,
  ],
  squash: ({ v }, r) =>
    r + 1 < ROUNDS
      ? ["Squash", `The same direction, but shorter than 1: ${ofEach(bothLengths(v[r]))}.`]
      : [
          "The result",
          `Three rounds, and it ends: ${ofEach(bothLengths(v[r]))}. What a part took from one whole, the other got.`,
        ],
  agreement: ({ a }, r) => [
    "Agreement",
    "How far does each vote reach along v, times its length? This is added to the logits. For the " +
      `${WHOLES[0]}: ${ofParts(a[r], (x, part) => `${part} ${format(x, 2, true)}`)}.`,
  ],
};

/** What a step is called, and what happens in it. */
export function wordsOf(at, trace) {
  const { kind, round } = STEPS[at];
  const [title, text] = WORDS[kind](trace, round - 1);
  return { title, text };
}
