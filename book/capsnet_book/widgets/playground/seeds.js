// Ten more seeds: two settings compared, both with the same seed each time, and what the differences say.
import { startEngine } from "./engine.js";
import { TESTS } from "./learner.js";

const SEEDS = 10;
const DIGITS = 8000; // that each learns from
const T_95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]; // Student's, 1 to 9 degrees of freedom

/** The mean of differences and half of its 95 % interval (by Student's t). @param {number[]} differences  2 to 10 */
export function pairedInterval(differences) {
  const n = differences.length;
  const mean = differences.reduce((all, x) => all + x, 0) / n;
  const variance = differences.reduce((all, x) => all + (x - mean) ** 2, 0) / (n - 1);
  return { mean, half: T_95[n - 2] * Math.sqrt(variance / n) };
}

/** Errors of one network after DIGITS digits. @param {(stop: () => void) => void} running */
const errorsOf = (settings, digits, running) =>
  new Promise((resolve, reject) => {
    let wrong;
    const engine = startEngine(settings, digits, {
      frame: ({ tests }) => {
        for (const [seen, count] of tests) if (seen === DIGITS) wrong = count;
        engine.order({ do: "seen" });
      },
      paused: () => {
        engine.stop();
        resolve((100 * wrong) / TESTS);
      },
      ready: () => engine.order({ do: "run", pace: Number.POSITIVE_INFINITY, until: DIGITS }),
      failed: (words) => {
        engine.stop();
        reject(new Error(words));
      },
    });
    running(() => engine.stop());
  });

/**
 * Trains both settings from ten seeds after theirs; tell(words) after each pair. -> what stops it
 * @param {any[]} settings @param {any} digits @param {(words: string) => void} tell
 */
export function compareSeeds(settings, digits, tell) {
  let [stopped, stop] = [false, () => {}];
  const differences = [];
  const go = async () => {
    tell(`In the background: ${SEEDS} pairs, ${DIGITS.toLocaleString("en")} digits each.`);
    for (let seed = 1; seed <= SEEDS && !stopped; seed++) {
      const errors = [];
      for (const each of settings) {
        errors.push(await errorsOf({ ...each, seed: each.seed + seed }, digits, (end) => (stop = end)));
      }
      differences.push(errors[0] - errors[1]);
      if (!stopped) tell(resultOf(differences));
    }
  };
  go().catch((error) => tell(error.message));
  return () => {
    stopped = true;
    stop();
  };
}

function resultOf(differences) {
  const n = differences.length;
  const points = (x) => `${x < 0 ? "−" : "+"}${Math.abs(x).toFixed(1)}`;
  if (n === 1) return `1 pair of ${SEEDS}: the one’s errors less the other’s, ${points(differences[0])} points.`;
  const { mean, half } = pairedInterval(differences);
  const [low, high] = [mean - half, mean + half];
  const interval = `${points(mean)} points, 95 % interval ${points(low)} to ${points(high)}`;
  const verdict = low > 0 ? "The other is better." : high < 0 ? "The one is better." : "No difference seen.";
  const said = n < SEEDS ? "" : ` ${verdict}`;
  return `${n} pairs of ${SEEDS}: the one’s errors less the other’s, ${interval}.${said}`;
}
