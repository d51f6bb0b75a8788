// What is shown: the scene or the reader's own votes, the rule, the round; and the page's address,
// which can hold scene, rule, round and strength.

import { t } from "../shared/t.js";
import { blended } from "./blend.js";
import { ROUNDS, RULES, routed } from "./routing.js";
import { SCENES } from "./scenes.js";
/** @import { Round, Rule, Votes } from "./routing.js" */

export const STRENGTHS = [0.25, 1, 4];
export const DIGIT = "digit";
export const GIVEN = "given";

const NAMES = ["scene", "rule", "round", "strength"];

/** The parts' names: 1, 2, 3 … @param {Votes} votes */
const counted = (votes) => votes.map((_, i) => String(i + 1));

/**
 * The votes that a scene begins with, and the names of parts and wholes.
 * @param {string} scene
 * @param {{ given: Votes, names: string[], digit: any }} own
 *   given: the notebook's votes, and the names of its wholes; digit: votesOfDigit()'s, if there
 *   are any yet
 */
export function groundOf(scene, { given, names, digit }) {
  if (scene === GIVEN && given.length)
    return { votes: given, parts: counted(given), wholes: names };
  if (scene === DIGIT && digit) {
    const { votes, parts, names } = digit;
    const wholes = names.map((/** @type {string} */ name) => t`the ${name}`);
    return { votes, parts: parts.map(String), wholes };
  }
  const { votes, wholes } = SCENES[scene] ?? SCENES.camps;
  return { votes, parts: counted(votes), wholes };
}

/**
 * The numbers at a time, from 1 to ROUNDS, between two rounds if need be.
 * @param {Round[]} rounds @param {number} time
 */
export function numbersAt(rounds, time) {
  const before = Math.min(Math.floor(time), ROUNDS) - 1;
  const next = Math.min(before + 1, ROUNDS - 1);
  return blended(rounds[before], rounds[next], time - 1 - before);
}

/** All rounds of these votes. @param {Votes} votes @param {Rule} rule @param {number} strength */
export const roundsOf = (votes, rule, strength) =>
  routed(votes, RULES.includes(rule) ? rule : RULES[0], strength);

/** The values that an address names, those that make sense. @param {string} hash */
export function fromAddress(hash) {
  const parameters = new URLSearchParams(hash.slice(1));
  const values = {};
  const scene = parameters.get("scene");
  if (scene === DIGIT || (scene && Object.hasOwn(SCENES, scene))) values.scene = scene;
  const rule = /** @type {Rule} */ (parameters.get("rule"));
  if (RULES.includes(rule)) values.rule = rule;
  const round = Number(parameters.get("round"));
  if (Number.isInteger(round) && round >= 1 && round <= ROUNDS) values.round = round;
  const strength = Number(parameters.get("strength"));
  if (STRENGTHS.includes(strength)) values.strength = strength;
  return values;
}

/** The address of what is shown. @param {(name: string) => any} get */
export const toAddress = (get) => `#${NAMES.map((name) => `${name}=${get(name)}`).join("&")}`;
