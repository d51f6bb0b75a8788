// The error on digits that were never learned from, against digits seen; both axes logarithmic.
import { axes, measure } from "../shared/controls.js";
import { element, svg } from "../shared/ui.js";

const HEIGHT = 210;
const FLOOR = 0.8; // per cent, at the foot
const TICKS = [1, 3, 10, 30, 90];
const ACROSS = [250, 1000, 4000, 16000, 64000];
const short = (n) => (n < 1000 ? String(n) : `${n / 1000},000`);

/** show(curves): of each, points [digits seen, share of errors]. The second is that of the network beside. */
export function makeCurve() {
  const picture = svg("svg", { role: "img", "data-role": "curve" });
  const node = element(
    "figure",
    { class: "curve" },
    picture,
    element("figcaption", {}, "wrong, of 500 digits that it never learns from · by digits seen"),
  );
  let shown = [];
  const size = measure(node, () => draw());

  function draw() {
    if (!size.width) return;
    const most = Math.max(16000, ...shown.flat().map(([digits]) => digits));
    const plan = axes({
      ...{ width: size.width, height: HEIGHT, left: 44, right: 26, top: 10, bottom: 26 },
      ...{ x: [125, most], y: [FLOOR, 100], warp: { x: Math.log, y: Math.log } },
    });
    const place = ([digits, share]) => [Math.max(125, digits), Math.max(FLOOR, 100 * share)];
    const lines = shown.flatMap((curve, k) => {
      const points = curve.map(place);
      if (points.length === 0) return [];
      const [x, y] = points.at(-1);
      const role = k ? "second" : "first";
      const end = svg("circle", { class: `end ${role}`, cx: plan.x(x), cy: plan.y(y), r: 4.5 });
      return [svg("path", { class: `line ${role}`, d: plan.path(points) }), end];
    });
    const grid = TICKS.map((y) => svg("line", { class: "axis", x1: 44, x2: plan.end, y1: plan.y(y), y2: plan.y(y) }));
    picture.setAttribute("viewBox", `0 0 ${size.width} ${HEIGHT}`);
    picture.replaceChildren(
      ...grid,
      ...plan.beside(TICKS, 8, (y) => `${y} %`),
      ...plan.below(
        ACROSS.filter((x) => x <= most),
        18,
        short,
      ),
      ...lines,
    );
  }

  /** @param {number[][][]} curves */
  function show(curves) {
    shown = curves;
    const ends = curves.filter((curve) => curve.length).map((curve) => curve.at(-1));
    const words = ends.map(([digits, share]) => `${(100 * share).toFixed(1)} % wrong after ${digits} digits`);
    picture.setAttribute("aria-label", `Errors against digits seen: ${words.join("; ") || "nothing yet"}`);
    draw();
  }
  show([]);
  return { node, show, stop: size.stop };
}
