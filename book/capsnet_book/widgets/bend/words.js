// What is said about a capsule that is chosen, and bent.
import { LONG } from "../shared/bars.js";
import { t } from "../shared/t.js";
import { format, withArticle } from "../shared/ui.js";

/** @typedef {{ prediction: number, lengths: Float32Array, capsules: Float32Array }} Answer
 *   of the network */

const ANIMALS = [
  "a bear",
  "a cat",
  "a cow",
  "a dog",
  "a frog",
  "a koala",
  "a monkey",
  "a mouse",
  "a panda",
  "a pig",
  "a rabbit",
  "a tiger",
];
/** @typedef {{ things: string[], shorts: string[] }} Names
 *   of the classes: with an article, and as a capsule is named */

/** The names of a network's classes. @param {any} network @returns {Names} */
export function namesOf({ config, names }) {
  if (config.in_channels === 3) return { things: ANIMALS, shorts: ANIMALS };
  return { things: names.map((/** @type {string} */ name) => withArticle(name)), shorts: names };
}

/**
 * Says what the ten lengths mean.
 * @param {Float32Array} lengths @param {boolean} isEmpty @param {Names} names
 */
export function readingInWords(lengths, isEmpty, names) {
  const { things, shorts } = names;
  const order = Array.from(lengths.keys()).sort((p, q) => lengths[q] - lengths[p]);
  const [best, next] = order;
  const long = order.filter((j) => lengths[j] >= LONG);
  const length = (/** @type {number} */ j) => format(lengths[j]);
  if (isEmpty) {
    const thought = t`Of the empty page it thinks: ${things[best]}, ${length(best)} long.`;
    return t`Nothing drawn yet. ${thought}`;
  }
  const name = shorts[best];
  if (long.length === 0)
    return t`I see none of them: the longest capsule, ${name}, is only ${length(best)} long.`;
  if (long.length > 2) return t`Several? ${long.length} capsules are long.`;
  if (long.length === 2) return t`Two? I see ${things[long[0]]} and ${things[long[1]]}.`;
  const other = t`the next, ${shorts[next]}, ${length(next)}`;
  return t`I see ${things[best]}: its capsule is ${length(best)} long, ${other}.`;
}

/**
 * Says which capsule draws, and what that shows.
 * @param {{ kept: number[], keep: string, answer: Answer, label: number, errors: number[] }} _
 *   kept: the capsules that are decoded; keep: the rule that chose; errors: of each one's drawing
 */
export function choiceInWords({ kept, keep, answer, label, errors }) {
  const { prediction, lengths } = answer;
  if (kept.length === 0) {
    return t`160 zeros go in. What comes out are the decoder's biases: no digit, but a blur of them
      all.`;
  }
  if (kept.length > 1) {
    return t`Nothing is masked. In training the decoder never saw more than one capsule at a time,
      and the nine short ones disturb it.`;
  }
  const [j] = kept;
  if (keep === "label" && prediction !== label) {
    const longer = t`The true label says ${label}, though capsule ${prediction} is longer.`;
    return t`${longer} In training this is the capsule that has to learn to draw.`;
  }
  if (j === prediction && prediction !== label) {
    const other = t`The longest capsule, ${prediction}, is not the label's, ${label}`;
    return t`${other}: the network misreads this digit, and draws what it takes it for.`;
  }
  if (j === prediction) {
    const agreed = t`The longest capsule is the label's as well, so that both rules agree.`;
    return t`${agreed} It holds this ${label}: its slant, its width, its strokes.`;
  }
  if (j === label) {
    const nearly = t`It draws the ${label} that the network nearly saw.`;
    return t`The label's capsule, but not the longest. ${nearly}`;
  }
  const faint = t`Capsule ${j} is only ${format(lengths[j])} long, so nearly nothing goes in`;
  const error = t`Squared error ${format(errors[j], 1)}.`;
  return t`${faint}, and the drawing is nearly that of "None". ${error}`;
}

/**
 * Says what has been moved, what it did to the drawing, and how the network reads that.
 * @param {number[]} offsets @param {import("../shared/effects.js").Effect} effect
 * @param {Answer} second  the network's answer to its own drawing
 * @param {Names} _
 */
export function movesInWords(offsets, { names, towards }, second, { things }) {
  const moved = [...offsets.keys()].filter((d) => offsets[d]);
  const [d] = moved;
  const by = format(offsets[d], 2, true);
  const start =
    moved.length > 1 ? t`${moved.length} numbers moved` : t`Number ${d + 1} moved by ${by}`;
  const [name] = names;
  let did = t`what changes most is this: ${name}`;
  if (name === t`Little`) did = t`hardly anything of it is seen`;
  if (towards.length === 1) did = t`the drawing ${towards[0]}`;
  if (towards.length === 2) did = t`the drawing ${towards[0]} and ${towards[1]}`;
  const length = format(second.lengths[second.prediction]);
  const again = t`Shown its own drawing, the network reads ${things[second.prediction]}`;
  return `${start}: ${did}. ${again}, ${length}.`;
}

/** Names those who drew. @param {number[]} kept @param {Names} _ */
export function drawnBy(kept, { shorts }) {
  if (kept.length === 0) return t`by none`;
  if (kept.length > 1) return t`by all ten`;
  const [j] = kept;
  return shorts === ANIMALS ? t`by the capsule of ${shorts[j]}` : t`by capsule ${shorts[j]}`;
}
