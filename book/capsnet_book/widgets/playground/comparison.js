// Two settings compared, pair by pair of trainings from one seed: the pair that is watched, and ten more in the
// background; what their differences say, and a picture of them.
import { axes } from "../shared/controls.js";
import { clamp, element, format, memoized, pushButton, svg } from "../shared/ui.js";
import { makeChart } from "./charts.js";
import { startTrainee } from "./trainee.js";
import { nameOf } from "./words.js";

const SEEDS = 10;
const PAIR = 8000; // digits that each of a pair learns from
const T_95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]; // Student's t
const TELLING = 5; // pairs after which the records join them
const WIDEST = 5; // points of error, at either end of the line of pairs

/** The mean of differences and half of its 95 % interval (by Student's t). @param {number[]} differences  2 to 11 */
export function pairedInterval(differences) {
  const n = differences.length;
  const mean = differences.reduce((all, x) => all + x, 0) / n;
  const variance = differences.reduce((all, x) => all + (x - mean) ** 2, 0) / (n - 1);
  return { mean, half: T_95[n - 2] * Math.sqrt(variance / n) };
}

/** Per cent wrong after PAIR digits, once there. @param {number[][]} tests */
const errorOf = (tests) => 100 * tests.find(([seen]) => seen === PAIR)?.[1];

/** What the pairs say, `names` are those of the two settings. @param {number[]} differences */
function inWords(differences, names) {
  const n = differences.length;
  if (n === 0) return "When both have learned from 8,000 digits, the first dot falls.";
  if (n === 1)
    return `1 pair, ${Math.abs(differences[0]).toFixed(1)} points of error apart. Believe nothing yet.`;
  const { mean, half } = pairedInterval(differences);
  const points = (x) => format(x, 1, true);
  const [better, lead] = [names[mean < 0 ? 0 : 1], Math.abs(mean)];
  const said = `${n} pairs: “${better}” leads by ${lead.toFixed(1)} points of error`;
  const seen = n < SEEDS ? "" : lead > half ? " It is better." : " No difference seen.";
  return `${said}, 95 % interval ${points(lead - half)} to ${points(lead + half)}.${seen}`;
}

/** Dots that would lie on each other are heaped. @param {number[]} values -> [value, how many lie below it] */
const heaped = (values) =>
  values.map((value, n) => [
    value,
    values.slice(0, n).filter((other) => Math.abs(other - value) < 0.11).length,
  ]);

/** Fulfilled once the reader sees the page. */
async function tabSeen() {
  while (document.hidden)
    await new Promise((go) => document.addEventListener("visibilitychange", go, { once: true }));
}

/** @param {any} widget @param {any} session */
export function makeComparison(widget, session) {
  const records = widget.get("records"); // what long trainings of both differ by
  let [pairs, shown, names, settings] = [[], [], ["", ""], session.settings];
  let found = []; // by the seeds in the background
  let round = 0; // a new one ends the one before
  /** @type {any} */
  let trainee;

  const height = 150;
  const chart = makeChart(widget, "pairs", height, (width) => {
    const plan = axes({
      width,
      height,
      left: 10,
      right: 10,
      top: 36,
      bottom: 44,
      x: [-WIDEST, WIDEST],
      y: [0, 9],
    });
    const dots = (values, role, up) =>
      heaped(values).map(([value, below]) => {
        const cx = plan.x(clamp(value, -WIDEST, WIDEST));
        return svg("circle", {
          class: `dot ${role}`,
          cx,
          cy: plan.floor - up * (7 + 9 * below),
          r: 4.5,
        });
      });
    const middle = plan.x(0);
    return [
      svg("line", { class: "axis", x1: 10, x2: plan.end, y1: plan.floor, y2: plan.floor }),
      svg("line", { class: "limit", x1: middle, x2: middle, y1: 36, y2: plan.floor + 24 }),
      plan.text(`← fewer errors: ${names[0]}`, 10, 14),
      plan.text(`fewer errors: ${names[1]} →`, plan.end, 30, { "text-anchor": "end" }),
      ...plan.below([-4, -2, 2, 4], 40, (x) => format(x, 0, true)),
      ...dots(pairs, "pair", 1),
      ...dots(shown, "record", -1),
    ];
  });
  chart.picture.setAttribute("aria-label", "The pairs, a dot each");
  const result = element("p", {
    class: "result-words",
    "data-role": "seeds-result",
    "aria-live": "polite",
  });
  const seeds = pushButton("seeds", "Ten more seeds", () => session.act(more));
  const node = element("div", { class: "comparison" }, chart.node, result, seeds);

  const renew = memoized((words) => {
    result.textContent = words;
    const long = shown.length
      ? " Below the line: ten pairs, trained for 12 passes over 60,000 digits."
      : "";
    chart.caption.textContent = `A dot a pair, by points of error: same seed, 8,000 digits each.${long}`;
    chart.refresh();
  });

  /** Trains both settings from the ten seeds after theirs, one after the other. */
  async function more() {
    session.pause(); // the seeds have the machine, until it trains again
    end();
    found = [];
    const mine = round;
    const sample = await session.sample();
    for (let seed = 1; seed <= SEEDS; seed++) {
      const errors = [];
      for (const each of settings) {
        await tabSeen();
        const started = await startTrainee({ ...each, seed: each.seed + seed }, sample, {
          images: [],
          labels: [],
        });
        if (mine !== round) return started.stop(); // and leaves those of a later press alone
        trainee = started;
        await trainee.call("run", "all", PAIR);
        const frame = await trainee.call("look", 0);
        if (mine !== round) return;
        errors.push(errorOf(frame.tests));
        trainee.stop();
      }
      found.push(errors[0] - errors[1]);
      session.changed();
    }
  }

  function end() {
    round++;
    trainee?.stop();
  }

  function show(/** @type {any[]} */ frames) {
    if (session.running || session.settings !== settings) end();
    if (session.settings !== settings) found = [];
    settings = session.settings;
    if (settings.length === 1) return;
    const [one, other] = frames.map(({ tests }) => errorOf(tests));
    pairs = one >= 0 && other >= 0 ? [one - other, ...found] : found;
    shown = pairs.length < TELLING ? [] : records;
    names = [0, 1].map((k) => nameOf(settings, k));
    const words = inWords(pairs, names);
    renew([words, ...names], words);
  }

  widget.stops.push(end);
  return { node, show };
}
