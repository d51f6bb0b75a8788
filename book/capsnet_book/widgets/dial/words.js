// What is said under the dial.
import { LONG } from "../shared/bars.js";
import { t } from "../shared/t.js";
import { format, withArticle } from "../shared/ui.js";

/** @import { Reach } from "./record.js" */
/** @typedef {{ key: string, name: string, value: number, reach: Reach }} Finding
 *   of a network, on the side to which the digit is turned; value: where it stands now */

const END = 90; // degrees

/** 1 to the left, −1 to the right; 1 upright. */
export const sideOf = (/** @type {number} */ degrees) => Math.sign(degrees) || 1;

/** The side to which a digit is turned. */
export const toSide = (/** @type {number} */ side) => (side > 0 ? t`to the left` : t`to the right`);

/** "38° to the left". */
export function turnInWords(/** @type {number} */ degrees) {
  const whole = Math.round(Math.abs(degrees));
  return whole === 0 ? t`held upright` : `${whole}° ${toSide(degrees)}`;
}

/** What is asked before anything is shown. */
export function question(/** @type {number} */ turn, /** @type {string} */ label) {
  const asked = t`Turn the ${label} as far as you think its capsule follows.`;
  return turn === 0 ? t`${asked} Then say so.` : t`${asked} Up to ${turnInWords(turn)}?`;
}

/** How far another network follows. @param {Finding} finding */
function aboutOther({ key, name, reach: { at, to } }) {
  const isMany = key === "turning"; // capsules, not a network
  if (at !== null) {
    const angle = `${Math.round(at)}°`;
    return isMany ? t`the ${name} follow to ${angle}` : t`the ${name} follows to ${angle}`;
  }
  if (to < END) return isMany ? t`the ${name} still follow` : t`the ${name} still follows`;
  return isMany ? t`the ${name} follow all the way` : t`the ${name} follows all the way`;
}

/** The guess, where it is of the side to which the digit is turned. */
function aboutGuess(/** @type {number | null} */ guess, /** @type {number} */ side) {
  if (!guess || sideOf(guess) !== side) return "";
  return t` You guessed ${Math.abs(guess)}°.`;
}

/** While the capsule follows: how long it is. */
function whileItFollows(/** @type {number} */ turn, /** @type {string} */ label, length) {
  const finding = t`the capsule of the ${label} is ${format(length)} long`;
  return turn === 0
    ? t`Upright ${finding}. Turn on.`
    : t`At ${turnInWords(turn)} ${finding}. Turn on.`;
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
    const short = t`only ${format(upright)} long`;
    return t`Even upright the capsule of the ${label} is ${short}: choose another digit.`;
  }
  if (reach.at === null && reach.to < END) return whileItFollows(turn, label, value);
  const end =
    reach.at === null ? t`all the way ${toSide(side)}` : t`to ${turnInWords(side * reach.at)}`;
  const now = answer === label ? "" : t` Here the network reads ${withArticle(answer)}.`;
  const rest = others.length ? t` Beside it, ${others.map(aboutOther).join(t`, `)}.` : "";
  return t`The capsule follows ${end}.${aboutGuess(guess, side)}${now}${rest}`;
}
