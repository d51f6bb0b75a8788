// A vector s to drag; v = squash(s) follows inside the unit disc, and a dot runs along the curve of lengths.
import { arrowKeys, axes, drag, grip, makeArrow } from "./shared/controls.js";
import { norm, squash } from "./shared/core.js";
import { defineWidget } from "./shared/stage.js";
import { element, format, setAttributes, svg } from "./shared/ui.js";

const FAR = 3.6; // so long can s be; the plane shows -FAR … FAR, both ways
const PLANE = 260; // sides of the pictures, in the units of their viewBox
const CURVE = { width: 340, height: 260, left: 30, right: 14, top: 34, bottom: 24, x: [0, FAR] };
const STEEPEST = 1 / Math.sqrt(3);

const lengthOf = (n) => (n * n) / (1 + n * n); // ‖v‖ from ‖s‖
const slopeAt = (n) => (2 * n) / (1 + n * n) ** 2; // its derivative
const pair = (p) => `(${format(p[0])}, ${format(p[1])})`;

const LABEL = "Drag a vector and watch squash shorten it";

export default defineWidget("SquashVector", LABEL, ({ root, get, set, layOut }) => {
  const plane = makePlane();
  const curve = makeCurve();
  const { say } = layOut({
    stage: element("div", { class: "squash" }, plane.picture, curve.picture),
  });

  function move(to) {
    const share = Math.min(1, FAR / norm(to));
    set({ s: to.map((x) => Math.round(share * x * 1000) / 1000) });
  }

  const onPlane = ({ x, y }) => move([2 * FAR * (x - 0.5), 2 * FAR * (0.5 - y)]);
  drag(plane.picture, { focus: plane.handle, start: onPlane, move: onPlane });
  const stride = ({ shiftKey }) => (shiftKey ? 0.5 : 0.05);
  const by = (dx, dy, event) =>
    move([get("s")[0] + dx * stride(event), get("s")[1] - dy * stride(event)]);
  arrowKeys(plane.handle, by, { Home: () => move([0, 0]) });

  return () => {
    const s = get("s");
    const v = squash(Float64Array.from(s));
    const [n, m] = [norm(s), norm(v)];
    root.dataset.s = s.map((x) => x.toFixed(4)).join(",");
    plane.show(s, v);
    curve.show(n);
    say(`‖s‖ = ${format(n)}, ‖v‖ = ${format(m)}. ${inWords(n)}`, inWords(n));
    const spoken = `s is ${pair(s)}, ${format(n)} long; v is ${format(m)} long`;
    setAttributes(plane.handle, { "aria-valuenow": n.toFixed(3), "aria-valuetext": spoken });
  };
});

/** The plane with s, v and the unit disc. */
function makePlane() {
  const half = PLANE / 2;
  const unit = half / FAR;
  const at = ([x, y]) => [half + x * unit, half - y * unit];
  const arrows = { s: makeArrow("s"), v: makeArrow("v") };
  const limits = { "aria-valuemin": 0, "aria-valuemax": FAR };
  const handle = grip({
    "data-role": "handle",
    ...limits,
    "aria-label": "Vector s. Arrow keys move its tip.",
  });
  const names = ["s", "v"].map((name) => svg("text", { class: `name ${name}` }, name));
  const disc = svg("circle", { class: "disc", cx: half, cy: half, r: unit });
  const axis = svg("path", { class: "axis", d: `M0 ${half}H${PLANE}M${half} 0V${PLANE}` });
  const one = svg("text", { class: "label", x: half + unit + 4, y: half + 14 }, "1");
  const view = { viewBox: `0 0 ${PLANE} ${PLANE}`, class: "plane", "data-role": "plane" };
  const picture = svg("svg", view, disc, axis, one, arrows.s.node, handle, arrows.v.node, ...names);

  function show(s, v) {
    arrows.s.point([half, half], at(s), { gap: 11 });
    arrows.v.point([half, half], at(v));
    handle.setAttribute("transform", `translate(${at(s)})`);
    const n = norm(s);
    const aside = n ? [-s[1] / n, s[0] / n] : [0, 1]; // names stand beside their arrows
    const places = [
      s.map((x, d) => x + 0.34 * aside[d]),
      [0, 1].map((d) => 0.6 * v[d] - 0.24 * aside[d]),
    ];
    names.forEach((name, k) =>
      setAttributes(name, { x: at(places[k])[0], y: at(places[k])[1] + 4 }),
    );
    names[1].toggleAttribute("hidden", norm(v) < 0.25);
  }
  return { picture, handle, show };
}

/** The curve of ‖v‖ over ‖s‖ with its tangent. */
function makeCurve() {
  const { width, height, left, top } = CURVE;
  const chart = axes(CURVE);
  const { x: atX, y: atY, floor, end } = chart;
  const lengths = Array.from({ length: 181 }, (_, k) => (k / 180) * FAR);
  const guides = svg("path", { class: "guide" });
  const tangent = svg("path", { class: "tangent" });
  const dot = svg("circle", { class: "knob v", r: 6.5 });
  const axis = svg("path", { class: "axis", d: `M${left} ${top - 10}V${floor}H${end + 4}` });
  const limit = svg("path", { class: "limit", d: `M${left} ${atY(1)}H${end + 4}` });
  const labels = [
    ...chart.below([0, 1, 2, 3], 15),
    ...chart.beside([1, 0.5]),
    chart.text("‖s‖", end + 4, floor + 15, { class: "label s", "text-anchor": "end" }),
    chart.text("‖v‖", left - 8, top - 16, { class: "label v" }),
  ];
  const graph = svg("path", {
    class: "graph",
    d: chart.path(lengths.map((n) => [n, lengthOf(n)])),
  });
  const view = { viewBox: `0 0 ${width} ${height}`, class: "curve", "aria-hidden": "true" }; // the sentence says it
  const picture = svg("svg", view, axis, limit, ...labels, guides, graph, tangent, dot);

  function show(n) {
    const [x, y] = [atX(Math.min(n, FAR)), atY(lengthOf(n))];
    setAttributes(dot, { cx: x, cy: y });
    guides.setAttribute("d", `M${x} ${atY(0)}V${y}H${atX(0)}`);
    const [dx, dy] = [atX(1) - atX(0), atY(slopeAt(n)) - atY(0)];
    const ahead = 46 / Math.hypot(dx, dy);
    const back = Math.min(ahead, n); // no further than where ‖s‖ is 0
    tangent.setAttribute(
      "d",
      `M${x - dx * back} ${y - dy * back}L${x + dx * ahead} ${y + dy * ahead}`,
    );
  }
  return { picture, show };
}

/** What there is to see at this length. */
function inWords(n) {
  if (n === 0) return "Zero has no direction, and squash divides by the length: v stays 0.";
  if (n < 0.25) return "Short vectors all but vanish: ‖v‖ ≈ ‖s‖². The slope goes to 0 as well.";
  if (Math.abs(n - STEEPEST) < 0.12) return "Here the curve is steepest, at ‖s‖ = 1/√3.";
  if (n > 2) return "Long vectors saturate: making s longer hardly changes v.";
  return "v points where s points; only the length changes, and it stays below 1.";
}
