// What can be done to a digit, and how far each of it can go before a network says something else.
import { STRAIGHT } from "./shared/bending.js";
import { clamp, format } from "./shared/ui.js";

/** @typedef {"turn" | "shear" | "size" | "right" | "down"} Key */
/** @typedef {Record<Key, number>} Bend */
/** @typedef {{ key: Key, name: string, min: number, max: number, step: number, places: number,
 *   inWords: (amount: number) => string }} Way  places: of its strips */

export const FARTHEST = 8; // pixels that a digit can be moved

const degrees = (/** @type {number} */ x) => `${format(x, 0, true)}°`;
const pixels = (/** @type {number} */ x) => `${format(x, 1, true)} px`;
const shift = { min: -FARTHEST, max: FARTHEST, step: 0.5, places: 17, inWords: pixels };

/** @type {Way[]} */
export const WAYS = [
  { key: "turn", name: "turn", min: -90, max: 90, step: 1, places: 37, inWords: degrees },
  { key: "shear", name: "shear", min: -1, max: 1, step: 0.05, places: 21, inWords: (x) => format(x, 2, true) },
  { key: "size", name: "size", min: 0.5, max: 2, step: 0.05, places: 31, inWords: (x) => `× ${format(x)}` },
  { key: "right", name: "to the right", ...shift },
  { key: "down", name: "down", ...shift },
];

/** The amounts at which a way's strips look. @param {{ min: number, max: number, places: number }} way */
export const amountsOf = ({ min, max, places }) =>
  Array.from({ length: places }, (_, k) => min + (k * (max - min)) / (places - 1));

/** A place on the picture, in half pixels and not too far out. @param {number} pixel */
export const halfPixel = (pixel) => clamp(Math.round(2 * pixel) / 2, -FARTHEST, FARTHEST);

/**
 * Equal neighbours together: [7, 7, 1] -> [{ answer: 7, from: 0, to: 1 }, { answer: 1, from: 2, to: 2 }]
 * @param {number[]} answers
 */
export function runsOf(answers) {
  const runs = [];
  answers.forEach((answer, k) => {
    if (runs.at(-1)?.answer === answer) runs.at(-1).to = k;
    else runs.push({ answer, from: k, to: k });
  });
  return runs;
}

/**
 * The stretch of right answers around `middle`: its first and last amount; null if it is wrong in the middle.
 * @param {number[]} answers
 * @param {number} truth
 * @param {number[]} amounts
 * @param {number} middle
 */
export function reachOf(answers, truth, amounts, middle) {
  const around = ({ from, to }) => amounts[from] <= middle + 1e-9 && amounts[to] >= middle - 1e-9;
  const run = runsOf(answers).find(around);
  return run?.answer === truth ? [amounts[run.from], amounts[run.to]] : null;
}

/**
 * How far a way can go before each network says something else.
 * @param {Way} way
 * @param {Bend} bend
 * @param {{ name: string, answers: number[] }[]} readings  of each network along the way
 * @param {number} truth
 */
export function remarkOnReach(way, bend, readings, truth) {
  const alone = WAYS.every(({ key }) => key === way.key || bend[key] === STRAIGHT[key]);
  const words = readings.map(({ name, answers }, n) => {
    const reach = reachOf(answers, truth, amountsOf(way), STRAIGHT[way.key]);
    if (!reach) return `${name} does not read it at all`;
    return `${name} ${n ? "" : "reads it "}from ${way.inWords(reach[0])} to ${way.inWords(reach[1])}`;
  });
  return `By ${way.name}${alone ? " alone" : ", the rest as it is"}: ${words.join(", ")}.`;
}
