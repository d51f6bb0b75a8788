// What capsules that turn say of a digit, in words.

import { t } from "./t.js";
import { withArticle } from "./ui.js";

const ALIKE = [0, 1, 8]; // these look much the same after half a turn

export const turnInWords = (/** @type {number} */ degrees) => {
  const whole = Math.round(degrees);
  if (whole === 0) return t`held upright`;
  return whole > 0 ? t`turned by ${whole}° anticlockwise` : t`turned by ${-whole}° clockwise`;
};

/** The class and the angle that they see. @param {{ prediction: number, turn: number }} _ */
export function seenInWords({ prediction, turn }) {
  const half = ALIKE.includes(prediction) ? t`, or the other way up` : "";
  return t`${withArticle(prediction)}, ${turnInWords(turn)}${half}`;
}
