// Errors against digits seen, both axes logarithmic.
import { makeChart } from "../shared/chart.js";
import { axes } from "../shared/controls.js";
import { t } from "../shared/t.js";
import { memoized, svg } from "../shared/ui.js";
import { changesIn, inWords, marksOf } from "./causes.js";

const FLOOR = 0.8; // per cent, at the foot
export const TICKS = [1, 3, 10, 30, 90]; // per cent
const FIRST = 125; // digits, at the left end
const ACROSS = [250, 1000, 4000, 16_000, 64_000]; // digits
const HEIGHT = 190;
const TOP = 10;
export const LEFT = 44;

/** @typedef {number[][]} Curve  points [digits seen, share of errors] */

/**
 * Return the axes of errors against digits seen, and the digits that are written below.
 * @param {import("../shared/controls.js").Size} size
 * @param {Curve[]} whole  until now
 */
export function errorAxes({ width, height }, whole) {
  const most = Math.max(16_000, ...whole.flat().map(([digits]) => digits));
  const plan = axes({
    width,
    height,
    left: LEFT,
    right: 26,
    top: TOP,
    bottom: 26,
    x: [FIRST, most],
    y: [FLOOR, 100],
    warp: { x: Math.log, y: Math.log },
  });
  return { plan, digits: ACROSS.filter((x) => x <= most) };
}

/** Return a curve's points in the units of the axes, none of them beyond. @param {Curve} curve */
export const pointsOf = (curve) =>
  curve.map(([digits, share]) => [Math.max(FIRST, digits), Math.max(FLOOR, 100 * share)]);

/**
 * Return the parts of the picture.
 * @param {number} width
 * @param {Curve[]} curves  until the moment that is shown
 * @param {Curve[]} whole  until now
 * @param {import("./causes.js").Change[]} changes  until the moment that is shown
 */
function pictureOf(width, curves, whole, changes) {
  const { plan, digits } = errorAxes({ width, height: HEIGHT }, whole);
  const kindOf = (k) => (k === 0 ? "first" : "second");
  const later = whole.map((curve, k) =>
    svg("path", { class: `later ${kindOf(k)}`, d: plan.path(pointsOf(curve)) }),
  );
  const lines = curves.flatMap((curve, k) => {
    const points = pointsOf(curve);
    const [x, y] = points.at(-1);
    return [
      svg("path", { class: `line ${kindOf(k)}`, d: plan.path(points) }),
      svg("circle", { class: `end ${kindOf(k)}`, cx: plan.x(x), cy: plan.y(y), r: 5 }),
    ];
  });
  const grid = TICKS.map((y) =>
    svg("line", { class: "axis", x1: LEFT, x2: plan.end, y1: plan.y(y), y2: plan.y(y) }),
  );
  return [
    ...grid,
    ...plan.beside(TICKS, 8, (y) => `${y} %`),
    ...plan.below(digits, 18, (x) => x.toLocaleString("en")),
    ...later,
    ...marksOf(plan, TOP, changes),
    ...lines,
  ];
}

export const curvesOf = (/** @type {import("./untrained.js").Frame[]} */ frames) =>
  frames.map(({ tests }) => tests).filter((tests) => tests.length);

/** Make the curve of each network. @param {any} widget @param {any} session */
export function makeCurve(widget, session) {
  /** @type {Curve[]} */
  let curves = [];
  /** @type {Curve[]} */
  let whole = [];
  /** @type {import("./causes.js").Change[]} */
  let changes = [];
  const chart = makeChart(widget, "curve", HEIGHT, (width) =>
    pictureOf(width, curves, whole, changes),
  );
  chart.caption.textContent = t`wrong, of 500 images that it never learns from · by images seen`;

  const renew = memoized(() => {
    const errors = curves.map((curve) => {
      const [digits, share] = curve.at(-1);
      return t`${(100 * share).toFixed(1)} % wrong after ${digits} images`;
    });
    const words = [...errors, ...changes.map(inWords)].join(t`; `) || t`nothing yet`;
    chart.picture.setAttribute("aria-label", t`Errors against images seen: ${words}`);
    chart.refresh();
  });

  function show(/** @type {import("./untrained.js").Frame[]} */ frames) {
    curves = curvesOf(frames);
    whole = curvesOf(session.present());
    changes = changesIn(session.untilShown());
    renew([curves, whole, changes.map(inWords)].map((part) => JSON.stringify(part)));
  }

  return { node: chart.node, show };
}
