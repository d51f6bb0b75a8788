// Ten more seeds: two settings compared, both with the same seed each time, and what the differences say.
import { startEngine } from "./engine.js";

export const SEEDS = 10;
export const PAIR = 8000; // digits that each of a pair learns from
const T_95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]; // Student's t

/** The mean of differences and half of its 95 % interval (by Student's t). @param {number[]} differences  2 to 11 */
export function pairedInterval(differences) {
  const n = differences.length;
  const mean = differences.reduce((all, x) => all + x, 0) / n;
  const variance = differences.reduce((all, x) => all + (x - mean) ** 2, 0) / (n - 1);
  return { mean, half: T_95[n - 2] * Math.sqrt(variance / n) };
}

/** Per cent wrong after PAIR digits, once a curve has got there. @param {number[][]} curve */
export const errorOf = (curve) => 100 * curve.find(([seen]) => seen === PAIR)?.[1];

/**
 * Trains both settings from ten seeds after theirs; found(difference) after each pair. -> what stops it
 * @param {any[]} settings @param {any} sample  see files.js
 * @param {{ found: (difference: number) => void, failed: (words: string) => void }} page
 */
export function compareSeeds(settings, sample, { found, failed }) {
  let [seed, errors, engine] = [1, [], undefined];
  function next() {
    if (errors.length === 2) {
      found(errors[0] - errors[1]);
      [seed, errors] = [seed + 1, []];
    }
    if (seed > SEEDS) return;
    const each = settings[errors.length];
    engine = startEngine({ ...each, seed: each.seed + seed }, sample, {
      paused() {
        engine.stop();
        errors.push(errorOf(engine.curve));
        next();
      },
      failed,
    });
    engine.ready.catch(({ message }) => failed(message));
    engine.order({ do: "run", pace: Number.POSITIVE_INFINITY, until: PAIR });
  }
  next();
  return () => engine.stop();
}

/** What the pairs say, `names` are those of the two settings. @param {number[]} differences */
export function pairsInWords(differences, names) {
  const n = differences.length;
  if (n < 2) return `1 pair, ${Math.abs(differences[0]).toFixed(1)} points of error apart. Believe nothing yet.`;
  const { mean, half } = pairedInterval(differences);
  const points = (x) => `${x < 0 ? "−" : "+"}${Math.abs(x).toFixed(1)}`;
  const [better, lead] = [names[mean < 0 ? 0 : 1], Math.abs(mean)];
  const said = `${n} pairs: “${better}” leads by ${lead.toFixed(1)} points of error`;
  const seen = n < SEEDS ? "" : lead > half ? " It is better." : " No difference seen.";
  return `${said}, 95 % interval ${points(lead - half)} to ${points(lead + half)}.${seen}`;
}
