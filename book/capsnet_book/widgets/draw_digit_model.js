// What the lengths say.
import { LONG } from "./shared/bars.js";

/** The digits whose capsules are long, the longest first. @param {ArrayLike<number>} lengths */
export const longDigits = (lengths) =>
  Array.from(lengths, (_, j) => j)
    .filter((j) => lengths[j] >= LONG)
    .sort((p, q) => lengths[q] - lengths[p]);
