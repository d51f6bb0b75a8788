// What is said under the dial.
import { LONG } from "../shared/bars.js";
import { format, withArticle } from "../shared/ui.js";

/** @import { Reach } from "./record.js" */
/** @typedef {{ key: string, name: string, value: number, reach: Reach }} Finding
 *   of a network, on the side to which the digit is turned; value: where it stands now */

const END = 90; // degrees

/** 1 to the left, −1 to the right; 1 upright. */
export const sideOf = (/** @type {number} */ degrees) => Math.sign(degrees) || 1;

/** The side to which a digit is turned. */
export const toSide = (/** @type {number} */ side) => (side > 0 ? "to the left" : "to the right");

/** "38° to the left". */
export function turnInWords(/** @type {number} */ degrees) {
  const whole = Math.round(Math.abs(degrees));
  return whole === 0 ? "held upright" : `${whole}° ${toSide(degrees)}`;
}

/** What is asked before anything is shown. */
export function question(/** @type {number} */ turn, /** @type {string} */ label) {
  const asked = `Turn the ${label} as far as you think its capsule follows.`;
  return turn === 0 ? `${asked} Then say so.` : `${asked} Up to ${turnInWords(turn)}?`;
}

/** How far another network follows. @param {Finding} finding */
function aboutOther({ key, name, reach: { at, to } }) {
  const isMany = key === "turning"; // capsules, not a network
  if (at !== null) {
    const angle = `${Math.round(at)}°`;
    return isMany ? `the ${name} follow to ${angle}` : `the ${name} follows to ${angle}`;
  }
  if (to < END) return isMany ? `the ${name} still follow` : `the ${name} still follows`;
  return isMany ? `the ${name} follow all the way` : `the ${name} follows all the way`;
}

/** The guess, where it is of the side to which the digit is turned. */
function aboutGuess(/** @type {number | null} */ guess, /** @type {number} */ side) {
  if (!guess || sideOf(guess) !== side) return "";
  return ` You guessed ${Math.abs(guess)}°.`;
}

/** While the capsule follows: how long it is. */
function whileItFollows(/** @type {number} */ turn, /** @type {string} */ label, length) {
  const finding = `the capsule of the ${label} is ${format(length)} long`;
  return turn === 0
    ? `Upright ${finding}. Turn on.`
    : `At ${turnInWords(turn)} ${finding}. Turn on.`;
}

/**
 * The sentence: how far each network follows the digit, and the reader's guess.
 * @param {{ turn: number, label: string, answer: string, guess: number | null, upright: number,
 *   side: number, findings: Finding[] }} _
 *   answer: what the CapsNet reads now; upright: the capsule's length there; side: of the turn;
 *   findings: the CapsNet's first
 */
export function sentenceOf({ turn, label, answer, guess, upright, side, findings }) {
  const [{ value, reach }, ...others] = findings;
  if (upright < LONG) {
    const short = `only ${format(upright)} long`;
    return `Even upright the capsule of the ${label} is ${short}: choose another digit.`;
  }
  if (reach.at === null && reach.to < END) return whileItFollows(turn, label, value);
  const end =
    reach.at === null ? `all the way ${toSide(side)}` : `to ${turnInWords(side * reach.at)}`;
  const now = answer === label ? "" : ` Here the network reads ${withArticle(answer)}.`;
  const rest = others.length ? ` Beside it, ${others.map(aboutOther).join(", ")}.` : "";
  return `The capsule follows ${end}.${aboutGuess(guess, side)}${now}${rest}`;
}
