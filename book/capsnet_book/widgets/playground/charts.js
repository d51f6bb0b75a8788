// Two pictures of errors: against digits seen, both axes logarithmic; and of two networks, what many pairs differ by.
import { axes, measure } from "../shared/controls.js";
import { clamp, element, svg } from "../shared/ui.js";

const FLOOR = 0.8; // per cent, at the foot
const TICKS = [1, 3, 10, 30, 90];
const ACROSS = [250, 1000, 4000, 16000, 64000];
const WIDEST = 5; // points of error, at either end of the line of pairs

/** A figure that is drawn anew when its size changes. draw(width) -> what is in the picture */
function makeChart(role, height, draw) {
  const picture = svg("svg", { role: "img", "data-role": role });
  const caption = element("figcaption");
  const node = element("figure", { class: role }, picture, caption);
  const size = measure(node, () => refresh());
  function refresh() {
    if (!size.width) return;
    picture.setAttribute("viewBox", `0 0 ${size.width} ${height}`);
    picture.replaceChildren(...draw(size.width));
  }
  return { node, picture, caption, refresh, stop: size.stop };
}

/** show(curves): of each, points [digits seen, share of errors]. The second is that of the network beside. */
export function makeCurve() {
  const height = 210;
  let shown = [];
  const chart = makeChart("curve", height, (width) => {
    const most = Math.max(16000, ...shown.flat().map(([digits]) => digits));
    const plan = axes({
      ...{ width, height, left: 44, right: 26, top: 10, bottom: 26 },
      ...{ x: [125, most], y: [FLOOR, 100], warp: { x: Math.log, y: Math.log } },
    });
    const lines = shown.flatMap((curve, k) => {
      const points = curve.map(([digits, share]) => [Math.max(125, digits), Math.max(FLOOR, 100 * share)]);
      if (points.length === 0) return [];
      const [x, y] = points.at(-1);
      const role = k ? "second" : "first";
      const end = svg("circle", { class: `end ${role}`, cx: plan.x(x), cy: plan.y(y), r: 5 });
      return [svg("path", { class: `line ${role}`, d: plan.path(points) }), end];
    });
    const grid = TICKS.map((y) => svg("line", { class: "axis", x1: 44, x2: plan.end, y1: plan.y(y), y2: plan.y(y) }));
    const digits = ACROSS.filter((x) => x <= most);
    const below = plan.below(digits, 18, (x) => x.toLocaleString("en"));
    return [...grid, ...plan.beside(TICKS, 8, (y) => `${y} %`), ...below, ...lines];
  });
  chart.caption.textContent = "wrong, of 500 digits that it never learns from · by digits seen";

  /** @param {number[][][]} curves */
  function show(curves) {
    shown = curves;
    const ends = curves.filter((curve) => curve.length).map((curve) => curve.at(-1));
    const words = ends.map(([digits, share]) => `${(100 * share).toFixed(1)} % wrong after ${digits} digits`);
    chart.picture.setAttribute("aria-label", `Errors against digits seen: ${words.join("; ") || "nothing yet"}`);
    chart.refresh();
  }
  return { ...chart, show };
}

/** Dots that would lie on each other are heaped. @param {number[]} values -> [value, how many lie below it] */
const heaped = (values) =>
  values.map((value, n) => [value, values.slice(0, n).filter((other) => Math.abs(other - value) < 0.11).length]);

/**
 * Each pair is a dot: how many points of error the one has more than the other. show(pairs, records, names): records
 * are what long trainings of both differ by.
 */
export function makePairs() {
  const height = 150;
  let [pairs, records, names] = [[], [], ["", ""]];
  const chart = makeChart("pairs", height, (width) => {
    const plan = axes({ width, height, left: 10, right: 10, top: 36, bottom: 44, x: [-WIDEST, WIDEST], y: [0, 9] });
    const dots = (values, role, up) =>
      heaped(values).map(([value, below]) => {
        const cx = plan.x(clamp(value, -WIDEST, WIDEST));
        return svg("circle", { class: `dot ${role}`, cx, cy: plan.floor - up * (7 + 9 * below), r: 4.5 });
      });
    const middle = plan.x(0);
    return [
      svg("line", { class: "axis", x1: 10, x2: plan.end, y1: plan.floor, y2: plan.floor }),
      svg("line", { class: "limit", x1: middle, x2: middle, y1: 36, y2: plan.floor + 24 }),
      plan.text(`← fewer errors: ${names[0]}`, 10, 14),
      plan.text(`fewer errors: ${names[1]} →`, plan.end, 30, { "text-anchor": "end" }),
      ...plan.below([-4, -2, 2, 4], 40, (x) => `${x > 0 ? "+" : "−"}${Math.abs(x)} points`),
      ...dots(pairs, "pair", 1),
      ...dots(records, "record", -1),
    ];
  });
  function show(...given) {
    [pairs, records, names] = given;
    const mean = pairs.reduce((sum, value) => sum + value / pairs.length, 0);
    const words = pairs.length ? `${pairs.length} pairs, ${mean.toFixed(1)} points of error apart` : "no pair yet";
    chart.picture.setAttribute("aria-label", words);
    chart.caption.textContent = `A dot a pair, same seed, 8,000 digits each.${
      records.length ? " Below the line: trainings of 60,000 digits and 12 rounds of them, ten pairs." : ""
    }`;
    chart.refresh();
  }
  return { ...chart, show };
}
