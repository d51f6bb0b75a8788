// What is happening, in a sentence.
import { BUGS, differences, SETTINGS, valueInWords } from "./settings.js";

/** @type {[number, string][]}  of a hundred right, at least; what that looks like */
const STAGES = [
  [0, "It names nothing yet: whatever it is shown, it draws the same fog."],
  [20, "Twos and sevens part from the fog. It still takes most for another."],
  [60, "It names most of them, and draws what it believes: look at an orange one."],
  [90, "It reads nine in ten, and its drawings turn into handwriting."],
  [95, "It reads nineteen in twenty. Click an orange one: how sure is it? Then teach it your own hand."],
  [98, "It reads as well as it will with so few digits. Now teach it your own hand."],
];
const LOST = 4000; // digits after which a network should name more than a third

/**
 * @param {{
 *   settings: any[], seen: number, right: number[], running: boolean, started: boolean, rested: boolean,
 * }} state
 *   right: of a hundred, for each network
 */
export function inWords({ settings, seen, right, running, started, rested }) {
  if (!started) {
    return "It has never seen a digit: its weights are noise, and noise is all it could draw. Press Train.";
  }
  const [first] = settings;
  if (rested) return "It has learned for five minutes, and rests. Train lets it go on.";
  const pausing = running ? "" : " (Paused.)";
  if (settings.length === 2) return `${besides(settings, right)}${pausing}`;
  if (first.bug && seen > 0) {
    const after = `after ${seen.toLocaleString("en")} digits`;
    return `Planted: ${BUGS[first.bug]}. It reads ${right[0]} of 100 ${after}.${pausing}`;
  }
  if (seen >= LOST && right[0] < 35) return `It learns nothing with these settings.${pausing}`;
  const stage = STAGES.filter(([least]) => right[0] >= least).at(-1);
  return `${stage[1]}${pausing}`;
}

/** Two networks, by the settings in which they differ. */
export function nameOf(settings, k) {
  const [one, other] = settings;
  const names = differences(one, other);
  if (names.length === 0) return k ? "the same again" : "one";
  return names.map((name) => `${SETTINGS[name].label}: ${valueInWords(name, settings[k][name])}`).join(", ");
}

/** @param {any[]} settings @param {number[]} right */
function besides(settings, [one, other]) {
  const apart = one - other;
  const names = [nameOf(settings, 0), nameOf(settings, 1)];
  if (Math.abs(apart) <= 3) return `Side by side, ${one} and ${other} of 100 right: too close for one pair to tell.`;
  const [most, least] = [Math.max(one, other), Math.min(one, other)];
  return `“${names[apart > 0 ? 0 : 1]}” is ahead so far, ${most} of 100 right against ${least}.`;
}
