// Errors against digits seen, both axes logarithmic.
import { axes, measure } from "../shared/controls.js";
import { element, figure, memoized, svg } from "../shared/ui.js";

const FLOOR = 0.8; // per cent, at the foot
const TICKS = [1, 3, 10, 30, 90];
const ACROSS = [250, 1000, 4000, 16000, 64000];

/** A figure that is drawn anew when its size changes. draw(width) -> what is in the picture */
export function makeChart(widget, role, height, draw) {
  // Of a fixed height: a figure that grew while its size is told would be told of again.
  const picture = svg("svg", { role: "img", "data-role": role, style: `height: ${height}px` });
  const caption = element("figcaption");
  const node = figure(role, picture, caption);
  const size = measure(node, refresh);
  widget.stops.push(size.stop);
  function refresh() {
    if (!size.width) return;
    picture.setAttribute("viewBox", `0 0 ${size.width} ${height}`);
    picture.replaceChildren(...draw(size.width));
  }
  return { node, picture, caption, refresh };
}

/** Of each network, points [digits seen, share of errors]; the second is that of the network beside. */
export function makeCurve(widget) {
  const height = 210;
  let shown = [];
  const chart = makeChart(widget, "curve", height, (width) => {
    const most = Math.max(16000, ...shown.flat().map(([digits]) => digits));
    const plan = axes({
      ...{ width, height, left: 44, right: 26, top: 10, bottom: 26 },
      ...{ x: [125, most], y: [FLOOR, 100], warp: { x: Math.log, y: Math.log } },
    });
    const lines = shown.flatMap((curve, k) => {
      const points = curve.map(([digits, share]) => [
        Math.max(125, digits),
        Math.max(FLOOR, 100 * share),
      ]);
      const [x, y] = points.at(-1);
      const role = k ? "second" : "first";
      const end = svg("circle", { class: `end ${role}`, cx: plan.x(x), cy: plan.y(y), r: 5 });
      return [svg("path", { class: `line ${role}`, d: plan.path(points) }), end];
    });
    const grid = TICKS.map((y) =>
      svg("line", { class: "axis", x1: 44, x2: plan.end, y1: plan.y(y), y2: plan.y(y) }),
    );
    const digits = ACROSS.filter((x) => x <= most);
    const below = plan.below(digits, 18, (x) => x.toLocaleString("en"));
    return [...grid, ...plan.beside(TICKS, 8, (y) => `${y} %`), ...below, ...lines];
  });
  chart.caption.textContent = "wrong, of 500 digits that it never learns from · by digits seen";

  const renew = memoized(() => {
    const ends = shown.map((curve) => curve.at(-1));
    const words = ends.map(
      ([digits, share]) => `${(100 * share).toFixed(1)} % wrong after ${digits} digits`,
    );
    chart.picture.setAttribute(
      "aria-label",
      `Errors against digits seen: ${words.join("; ") || "nothing yet"}`,
    );
    chart.refresh();
  });
  function show(/** @type {any[]} */ frames) {
    shown = frames.map(({ tests }) => tests).filter((tests) => tests.length);
    renew([JSON.stringify(shown)]);
  }
  return { node: chart.node, show };
}
