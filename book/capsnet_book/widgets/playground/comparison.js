// Two settings compared, pair by pair of trainings from one seed: the pair that is watched, and
// ten more in the background. A picture of their differences, and what they say.
import { makeChart } from "../shared/chart.js";
import { axes } from "../shared/controls.js";
import { t } from "../shared/t.js";
import { clamp, element, format, memoized, pushButton, svg } from "../shared/ui.js";
import { BackgroundPairs, errorOf, pairedInterval, SEEDS } from "./pairs.js";
import { nameOf } from "./words.js";

const TELLING = 5; // pairs after which the records join them
const WIDEST = 5; // points of error, at either end of the line of pairs
const HEIGHT = 150; // of the picture
const LONG_TRAININGS = t` Below the line: ten pairs, trained for 12 passes over 60,000 digits.`;

/** Return what the pairs say. @param {number[]} differences @param {string[]} names */
function inWords(differences, names) {
  const n = differences.length;
  if (n === 0) return t`When both have learned from 8,000 images, the first dot falls.`;
  if (n === 1) {
    const apart = Math.abs(differences[0]).toFixed(1);
    return t`1 pair, ${apart} points of error apart. Believe nothing yet.`;
  }
  const { mean, half } = pairedInterval(differences);
  const better = names[mean < 0 ? 0 : 1];
  const lead = Math.abs(mean);
  const points = (x) => format(x, 1, true);
  const leads = t`${n} pairs: “${better}” leads by ${lead.toFixed(1)} points of error`;
  const interval = t`, 95 % interval ${points(lead - half)} to ${points(lead + half)}.`;
  if (n < SEEDS) return leads + interval;
  return leads + interval + (lead > half ? t` It is better.` : t` No difference seen.`);
}

/** Return [value, how many lie below it]: dots that would lie on each other are heaped. */
function heaped(/** @type {number[]} */ values) {
  const isNear = (one, other) => Math.abs(one - other) < 0.11;
  return values.map((value, n) => {
    const below = values.slice(0, n).filter((other) => isNear(value, other));
    return [value, below.length];
  });
}

/**
 * Return the parts of the picture.
 * @param {number} width
 * @param {{ pairs: number[], records: number[], names: string[] }} contents
 */
function pictureOf(width, contents) {
  const { pairs, records, names } = contents;
  const plan = axes({
    width,
    height: HEIGHT,
    left: 10,
    right: 10,
    top: 36,
    bottom: 44,
    x: [-WIDEST, WIDEST],
    y: [0, 9],
  });
  const dot =
    (role, up) =>
    (/** @type {number[]} */ [value, below]) =>
      svg("circle", {
        class: `dot ${role}`,
        cx: plan.x(clamp(value, -WIDEST, WIDEST)),
        cy: plan.floor - up * (7 + 9 * below),
        r: 4.5,
      });
  const middle = plan.x(0);
  return [
    svg("line", { class: "axis", x1: 10, x2: plan.end, y1: plan.floor, y2: plan.floor }),
    svg("line", { class: "limit", x1: middle, x2: middle, y1: 36, y2: plan.floor + 24 }),
    plan.text(t`← fewer errors: ${names[0]}`, 10, 14),
    plan.text(t`fewer errors: ${names[1]} →`, plan.end, 30, { "text-anchor": "end" }),
    ...plan.below([-4, -2, 2, 4], 40, (x) => format(x, 0, true)),
    ...heaped(pairs).map(dot("pair", 1)),
    ...heaped(records).map(dot("record", -1)),
  ];
}

/**
 * Make the part of the page that compares two networks.
 * @param {any} widget
 * @param {any} session
 */
export function makeComparison(widget, session) {
  const longTrainings = widget.get("records"); // differences of others, long trained on digits
  const background = new BackgroundPairs(() => session.changed());
  let pairs = []; // differences: of the networks that are watched, then of the seeds
  let records = []; // those of the long trainings that are shown
  let names = ["", ""];
  let settings = session.settings;

  const chart = makeChart(widget, "pairs", HEIGHT, (width) =>
    pictureOf(width, { pairs, records, names }),
  );
  chart.picture.setAttribute("aria-label", t`The pairs, a dot each`);
  const result = element("p", {
    class: "result-words",
    "data-role": "seeds-result",
    "aria-live": "polite",
  });
  const seeds = pushButton("seeds", t`Ten more seeds`, () => session.act(trainMore));
  const node = element("div", { class: "comparison" }, chart.node, result, seeds);

  const renew = memoized((words) => {
    result.textContent = words;
    const long = records.length ? LONG_TRAININGS : "";
    const dots = t`A dot a pair, by points of error: same seed, 8,000 images each.`;
    chart.caption.textContent = dots + long;
    chart.refresh();
  });

  function trainMore() {
    session.pause(); // the seeds have the machine, until the reader trains again
    return background.train(settings, () => session.sample());
  }

  function show() {
    const frames = session.present();
    const changed = session.settings !== settings;
    if (session.running || changed) background.end();
    if (changed) background.differences = [];
    settings = session.settings;
    if (settings.length === 1) return;
    const difference = errorOf(frames[0].tests) - errorOf(frames[1].tests);
    const watched = Number.isNaN(difference) ? [] : [difference];
    pairs = [...watched, ...background.differences];
    const joins = pairs.length >= TELLING && settings[0].data === "digits";
    records = joins ? longTrainings : [];
    names = [nameOf(settings, 0), nameOf(settings, 1)];
    const words = inWords(pairs, names);
    renew([words, ...names], words);
  }

  widget.stops.push(() => background.end());
  return { node, show };
}
