// What there is to say about a routing: of a vote, of a part, and of what happened.
import { norm } from "../shared/core.js";
import { t } from "../shared/t.js";
import { format, listed, percent } from "../shared/ui.js";
import { product } from "./routing.js";

/** @import { Round, Rule, Vector, Votes } from "./routing.js" */

/**
 * @typedef {{ scene: string, pulled: boolean, rule: Rule, votes: Votes, rounds: Round[],
 *   round: number, time: number, c: number[][], v: Vector[], spread: Vector[], lengths: number[],
 *   wholes: string[], parts: string[], focus: { part: number, whole?: number } | null }} View
 *   what is shown: votes, the rounds that follow from them, and the numbers at a time, which lies
 *   between two rounds while it moves. pulled: whether the reader has pulled a vote of the scene;
 *   wholes, parts: their names; focus: the part, or the vote, that is pointed at
 */

const KINDS = ["first", "second", "third"];

/** The class of a whole's marks, which gives them their colour. */
export const classOf = (/** @type {number} */ j) => KINDS[j];

export const sum = (/** @type {number[]} */ numbers) => numbers.reduce((all, x) => all + x, 0);
const mean = (/** @type {number[]} */ numbers) => sum(numbers) / Math.max(numbers.length, 1);

/** The place of the largest number. @param {number[]} numbers */
export const largestAt = (numbers) => numbers.indexOf(Math.max(...numbers));

/** Whether another part is pointed at. */
export const dimmed = (/** @type {View} */ { focus }, /** @type {number} */ i) =>
  focus !== null && focus.part !== i;

/** Capsules of a network have their own numbers. */
export const labelOf = (/** @type {View} */ { scene, parts }, /** @type {number} */ i) =>
  scene === "digit" ? t`Capsule ${parts[i]}` : t`Part ${parts[i]}`;

/** The same inside a sentence. */
const nameOf = (/** @type {View} */ { scene, parts }, /** @type {number} */ i) =>
  scene === "digit" ? t`capsule ${parts[i]}` : t`part ${parts[i]}`;

/** "71 % to House and 29 % to Boat" */
export const shareList = (/** @type {View} */ { c, wholes }, /** @type {number} */ i) =>
  listed(c[i].map((share, j) => t`${percent(share)} to ${wholes[j]}`));

/** What stands beside a whole's name. */
export function lengthInWords(/** @type {View} */ { rule, lengths }, /** @type {number} */ j) {
  if (rule === "nearness") return t`has ${percent(lengths[j])} of the parts`;
  return t`${format(lengths[j])} long`;
}

export const chartTitle = (/** @type {View} */ { rule }) =>
  rule === "nearness" ? t`How much of the parts each has` : t`How long each whole is`;

/** The slider of rounds, as it is read aloud. */
export function roundInWords(/** @type {View} */ view) {
  const lengths = view.wholes.map((whole, j) => `${whole} ${lengthInWords(view, j)}`);
  return t`round ${view.round}: ${listed(lengths)}`;
}

// ------------------------------------------------------------------------------ the sentence

/** What is to be seen, in a sentence or two. @param {View} view */
export function sentenceOf(view) {
  if (view.focus) return aboutPart(view, view.focus.part, view.focus.whole);
  if (view.round === 1) return aboutTheStart(view);
  if (view.rule === "wrong") return aboutTheWrongAxis(view);
  const about = view.pulled ? undefined : ABOUT[view.scene];
  return about?.(view) ?? aboutTheWholes(view);
}

function aboutTheStart({ rule, c }) {
  const even = percent(c[0][0]);
  if (rule === "wrong")
    return t`Round 1: each whole gives every part the same share of itself, ${even}.`;
  const nobody = t`Nobody has been heard yet. Press Route, or pull a vote.`;
  return t`Round 1: every part gives each whole the same share of itself, ${even}. ${nobody}`;
}

/** After which rounds: the last one's shares are meant. */
const after = (/** @type {View} */ { rule, round }) =>
  rule === "attention" ? t`After the one step` : t`After ${round} rounds`;

/** Which whole has which parts. @param {View} view */
function aboutTheWholes(view) {
  const owners = view.c.map(largestAt);
  const clauses = view.wholes.map((whole, j) => {
    const own = view.c.filter((_, i) => owners[i] === j).map((shares) => shares[j]);
    if (own.length === 0) return t`${whole} has none`;
    const share = percent(mean(own));
    return t`${whole} has ${own.length} of the ${view.c.length} parts, ${share} of each`;
  });
  return `${after(view)} ${listed(clauses)}.`;
}

/** A part that gives more, or less, than all of itself. @param {View} view */
function aboutTheWrongAxis(view) {
  const totals = view.c.map(sum);
  const most = largestAt(totals);
  const least = totals.indexOf(Math.min(...totals));
  const axis = t`The wrong axis: each whole shares itself out among the parts.`;
  const much = percent(totals[most]);
  const little = percent(totals[least]);
  const one = nameOf(view, most);
  const other = nameOf(view, least);
  const taken = t`Together they take ${much} of ${one} and ${little} of ${other}`;
  return t`${axis} ${taken}: nobody competes for a part.`;
}

/** What a part gives, and why. @param {View} view @param {number} i @param {number} [whole] */
function aboutPart(view, i, whole) {
  const j = whole ?? largestAt(view.c[i]);
  return t`${labelOf(view, i)} gives ${shareList(view, i)}. ${reason(view, i, j)}`;
}

/** How a vote lies to what its whole made of all. @param {View} view */
function reason(view, i, j) {
  const whole = view.wholes[j];
  if (view.rule === "wrong") {
    const total = percent(sum(view.c[i]));
    return t`Together that is ${total} of it: a part's shares no longer add up to one part.`;
  }
  const vote = view.votes[i][j];
  if (view.rule === "nearness") {
    const offsets = vote.map((x, d) => (x - view.v[j][d]) / Math.max(view.spread[j][d], 1e-9));
    if (norm(offsets) < 2) return t`Its vote for ${whole} lies where the votes of ${whole} lie.`;
    const widths = format(norm(offsets), 0);
    return t`Its vote for ${whole} lies ${widths} widths away from the votes of ${whole}.`;
  }
  const angle = angleBetween(vote, view.v[j]);
  const way = t`Its vote for ${whole} points ${format(angle, 0)}° away from the arrow of ${whole}`;
  const others = view.votes.filter((_, k) => k !== i).map((row) => norm(row[j]));
  const loudness = norm(vote) / Math.max(mean(others), 1e-9);
  if (loudness < 2) return `${way}.`;
  return t`${way}, and is ${format(loudness, 1)} times as long as the others.`;
}

/** In degrees. @param {Vector} a @param {Vector} b */
function angleBetween(a, b) {
  const cosine = product(a, b) / Math.max(norm(a) * norm(b), 1e-12);
  return (Math.acos(Math.min(1, Math.max(-1, cosine))) * 180) / Math.PI;
}

/**
 * What each scene shows, as long as its votes are its own.
 * @type {Record<string, (view: View) => string | undefined>}
 */
const ABOUT = {
  camps: aboutCamps,
  shout: aboutTheShout,
  tight: aboutTightAndLoud,
  noise: aboutNoise,
  digit: aboutTheDigit,
};

/** @param {View} view */
function aboutCamps({ c }) {
  const house = percent(mean(c.slice(0, 6).map((shares) => shares[0])));
  const boat = percent(mean(c.slice(6).map((shares) => shares[1])));
  const six = t`Six votes lie together: House takes ${house} of each of these parts, on average.`;
  return t`${six} The other three agree about Boat, which takes ${boat} of each.`;
}

/** @param {View} view */
function aboutTheShout({ c, v, votes, rule }) {
  const quiet = votes.slice(0, 8).map((row) => row[0]);
  const middle = [0, 1].map((d) => mean(quiet.map((vote) => vote[d])));
  const angle = format(angleBetween(middle, v[0]), 0);
  const loud = percent(c[8][0]);
  if (rule === "nearness") {
    const near = t`Eight votes for House lie together, and nearness does not hear how loud part 9
      is.`;
    return t`${near} It gives House ${loud}, and the middle of House lies ${angle}° off the eight.`;
  }
  const eight = t`Eight quiet votes for House lie together; part 9 shouts from elsewhere.`;
  return t`${eight} It gives House ${loud}, and has turned its arrow ${angle}° away from the
    eight.`;
}

/** @param {View} view */
function aboutTightAndLoud({ c, rule }) {
  const share = mean(c.map((shares) => shares[0]));
  const has = t`Tight has ${percent(share)} of each part, on average.`;
  if (rule === "nearness" && share > 0.5)
    return t`The same votes, the opposite verdict: nearness asks who lies together. ${has}`;
  if (rule === "product" && share < 0.5) {
    const votes = t`The votes for Tight lie together and are short; those for Loud are long and
      scatter.`;
    return t`${votes} The scalar product hears the loud: ${has}`;
  }
  if (rule === "attention" && share < 0.5)
    return t`Each vote is compared with all others at once, and the loud ones have the largest
      sum. ${has}`;
  if (rule === "direction")
    return t`By direction a long vote counts no more than a short one. ${has}`;
  return undefined;
}

/** @param {View} view */
function aboutNoise(view) {
  const largest = mean(view.c.map((shares) => Math.max(...shares)));
  const decided = view.c.filter((shares) => Math.max(...shares) > 0.9).length;
  const grown = t`the largest share of a part is ${percent(largest)} on average, from 33 %`;
  const all = t`${decided} of ${view.c.length} parts have given one whole nine tenths of
    themselves`;
  const verdict = t`Routing decides where there is nothing to find.`;
  return t`These votes are dice. ${after(view)} ${grown}; ${all}. ${verdict}`;
}

/** @param {View} view */
function aboutTheDigit({ c, votes, wholes, parts }) {
  const loudness = votes.map((row) => Math.max(...row.map((vote) => norm(vote))));
  const [loudest, next] = loudness.toSorted((a, b) => b - a);
  const i = loudness.indexOf(loudest);
  const own = percent(c[i][0]);
  const others = mean(c.filter((_, k) => k !== i).map((shares) => shares[0]));
  const whole = wholes[0];
  const real = t`Real votes of nine of 72 capsules, for ${listed(wholes)}, flattened.`;
  const loud = t`Capsule ${parts[i]} is ${format(loudest / next, 1)} times as loud as the next`;
  const rest = t`the others give ${percent(others)} on average`;
  return t`${real} ${loud}, and gives ${own} of itself to ${whole}; ${rest}.`;
}
