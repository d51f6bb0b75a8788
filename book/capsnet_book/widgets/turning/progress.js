// How a network in training gets on, as a curve: per cent wrong at the angles that it is shown, and
// at angles that it never sees.
import { makeChart } from "../shared/chart.js";
import { axes } from "../shared/controls.js";
import { t } from "../shared/t.js";
import { element, memoized, percent, svg } from "../shared/ui.js";

const HEIGHT = 190;
const LEFT = 42;
const TICKS = [0, 50, 100]; // per cent
const GUESS = 90; // per cent wrong where one of ten classes is guessed

/** The two lines: a class of the stylesheet, and which number of a test it shows. */
const LINES = [
  { kind: "shown", column: 1, words: t`turned by at most 45°, as in its training` },
  { kind: "new", column: 2, words: t`turned by 90° to 270°, never shown to it` },
];

/**
 * Return the parts of the picture.
 * @param {number} width @param {number[][]} tests @param {number} steps  of the whole training
 */
function pictureOf(width, tests, steps) {
  const plan = axes({
    width,
    height: HEIGHT,
    left: LEFT,
    right: 12,
    top: 10,
    bottom: 26,
    x: [0, steps],
    y: [0, 100],
  });
  const level = (y, kind) =>
    svg("line", { class: kind, x1: LEFT, x2: plan.end, y1: plan.y(y), y2: plan.y(y) });
  const lines = LINES.flatMap(({ kind, column }) => {
    if (tests.length === 0) return [];
    const points = tests.map((test) => [test[0], 100 * test[column]]);
    const [x, y] = points.at(-1);
    const end = svg("circle", { class: `end ${kind}`, cx: plan.x(x), cy: plan.y(y), r: 4 });
    return [svg("path", { class: `course ${kind}`, d: plan.path(points) }), end];
  });
  return [
    ...TICKS.map((y) => level(y, "axis")),
    level(GUESS, "guessing"),
    plan.text(t`a guess`, plan.end, plan.y(GUESS) + 14, { "text-anchor": "end" }),
    ...plan.beside(TICKS, 6, (y) => `${y} %`),
    plan.text(t`digits seen →`, plan.end, HEIGHT - 8, { "text-anchor": "end" }),
    ...lines,
  ];
}

/** The legend: what each line shows, and where it stands. */
function makeLegend() {
  const values = LINES.map(() => element("b"));
  const entries = LINES.map(({ kind, words }, k) =>
    element("li", { class: kind }, element("i"), values[k], ` ${words}`),
  );
  const node = element("ul", { class: "legend" }, ...entries);
  function show(/** @type {number[] | undefined} */ test) {
    LINES.forEach(({ column }, k) => {
      values[k].textContent = test ? percent(test[column]) : "–";
    });
  }
  return { node, show };
}

/**
 * Make the curve. show(tests, steps) draws it; a test is [steps, share wrong at the angles shown,
 * share wrong at new ones].
 * @param {any} widget
 */
export function makeProgress(widget) {
  /** @type {number[][]} */
  let tests = [];
  let steps = 1;
  const chart = makeChart(widget, "training-curve", HEIGHT, (width) =>
    pictureOf(width, tests, steps),
  );
  const legend = makeLegend();
  chart.caption.append(t`Wrong, of digits that it never learns from:`, legend.node);
  legend.show(undefined);

  const renew = memoized(() => {
    const last = tests.at(-1);
    legend.show(last);
    chart.picture.setAttribute("aria-label", last ? inWords(last) : t`It has learned nothing yet.`);
    chart.refresh();
  });
  function show(/** @type {number[][]} */ newTests, /** @type {number} */ newSteps) {
    tests = newTests;
    steps = newSteps;
    renew([tests.length]);
  }
  return { node: chart.node, show };
}

/** Say how a test went. @param {number[]} test */
export function inWords([, shown, never]) {
  return t`It misreads ${percent(shown)} of the digits turned by at most 45°, and ${percent(never)}
    of those turned further than it was ever shown.`;
}
