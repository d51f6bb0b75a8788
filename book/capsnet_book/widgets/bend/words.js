// What is said about a capsule that is chosen, and bent.
import { LONG } from "../shared/bars.js";
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
/** Names class `j`, with its article. @param {number} j @param {boolean} animals */
export const thing = (j, animals) => (animals ? ANIMALS[j] : withArticle(j));

/** Names the capsule of class `j`. @param {number} j @param {boolean} animals */
export const shortName = (j, animals) => (animals ? ANIMALS[j] : String(j));

/** Says what the ten lengths mean. @param {Float32Array} lengths @param {boolean} animals */
export function readingInWords(lengths, isEmpty, animals) {
  const order = Array.from(lengths.keys()).sort((p, q) => lengths[q] - lengths[p]);
  const [best, next] = order;
  const long = order.filter((j) => lengths[j] >= LONG);
  const length = (/** @type {number} */ j) => format(lengths[j]);
  if (isEmpty) {
    const thought = `Of the empty page it thinks: ${thing(best, animals)}, ${length(best)} long.`;
    return `Nothing drawn yet. ${thought}`;
  }
  const name = shortName(best, animals);
  if (long.length === 0)
    return `I see none of them: the longest capsule, ${name}, is only ${length(best)} long.`;
  if (long.length > 2) return `Several? ${long.length} capsules are long.`;
  if (long.length === 2)
    return `Two? I see ${thing(long[0], animals)} and ${thing(long[1], animals)}.`;
  const other = `the next, ${shortName(next, animals)}, ${length(next)}`;
  return `I see ${thing(best, animals)}: its capsule is ${length(best)} long, ${other}.`;
}

/**
 * Says which capsule draws, and what that shows.
 * @param {{ kept: number[], keep: string, answer: Answer, label: number, errors: number[] }} _
 *   kept: the capsules that are decoded; keep: the rule that chose; errors: of each one's drawing
 */
export function choiceInWords({ kept, keep, answer, label, errors }) {
  const { prediction, lengths } = answer;
  if (kept.length === 0) {
    return (
      "160 zeros go in. What comes out are the decoder's biases: " +
      "no digit, but a blur of them all."
    );
  }
  if (kept.length > 1) {
    return (
      "Nothing is masked. In training the decoder never saw more than one capsule at a time, " +
      "and the nine short ones disturb it."
    );
  }
  const [j] = kept;
  if (keep === "label" && prediction !== label) {
    const longer = `The true label says ${label}, though capsule ${prediction} is longer.`;
    return `${longer} In training this is the capsule that has to learn to draw.`;
  }
  if (j === prediction && prediction !== label) {
    const other = `The longest capsule, ${prediction}, is not the label's, ${label}`;
    return `${other}: the network misreads this digit, and draws what it takes it for.`;
  }
  if (j === prediction) {
    const agreed = "The longest capsule is the label's as well, so that both rules agree.";
    return `${agreed} It holds this ${label}: its slant, its width, its strokes.`;
  }
  if (j === label) {
    const nearly = `It draws the ${label} that the network nearly saw.`;
    return `The label's capsule, but not the longest. ${nearly}`;
  }
  const faint = `Capsule ${j} is only ${format(lengths[j])} long, so nearly nothing goes in`;
  const error = `Squared error ${format(errors[j], 1)}.`;
  return `${faint}, and the drawing is nearly that of "None". ${error}`;
}

/**
 * Says what has been moved, what it did to the drawing, and how the network reads that.
 * @param {number[]} offsets @param {import("../shared/effects.js").Effect} effect
 * @param {Answer} second  the network's answer to its own drawing
 */
export function movesInWords(offsets, { names, towards }, second, animals) {
  const moved = [...offsets.keys()].filter((d) => offsets[d]);
  const [d] = moved;
  const by = format(offsets[d], 2, true);
  const start =
    moved.length > 1 ? `${moved.length} numbers moved` : `Number ${d + 1} moved by ${by}`;
  const [name] = names;
  let did = `what changes most is this: ${name}`;
  if (name === "Little") did = "hardly anything of it is seen";
  if (towards.length === 1) did = `the drawing ${towards[0]}`;
  if (towards.length === 2) did = `the drawing ${towards[0]} and ${towards[1]}`;
  const length = format(second.lengths[second.prediction]);
  const again = `Shown its own drawing, the network reads ${thing(second.prediction, animals)}`;
  return `${start}: ${did}. ${again}, ${length}.`;
}

/** Names those who drew. @param {number[]} kept @param {boolean} animals */
export function drawnBy(kept, animals) {
  if (kept.length === 0) return "by none";
  if (kept.length > 1) return "by all ten";
  return animals ? `by the capsule of ${ANIMALS[kept[0]]}` : `by capsule ${kept[0]}`;
}
