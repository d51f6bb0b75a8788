// A vector s to drag; v = squash(s) follows inside the unit disc, and a dot runs along the curve of
// lengths.
import { arrowKeys, axes, drag, grip, makeArrow } from "./shared/controls.js";
import { norm, squash } from "./shared/core.js";
import { defineWidget } from "./shared/stage.js";
import { element, format, setAttributes, svg } from "./shared/ui.js";

/** @typedef {number[]} Vector  x to the right, y up */

const FAR = 3.6; // the greatest length of s; the plane shows −FAR to FAR, both ways
const PLANE = 260; // side of the plane, in the units of the viewBox
const CURVE = { width: 340, height: 260, left: 30, right: 14, top: 34, bottom: 24, x: [0, FAR] };
const STEEPEST = 1 / Math.sqrt(3); // ‖s‖ where the curve is steepest
const TANGENT = 46; // half its length, in the units of the viewBox

const squashedLength = (/** @type {number} */ n) => (n * n) / (1 + n * n); // ‖v‖, n = ‖s‖
const slopeAt = (/** @type {number} */ n) => (2 * n) / (1 + n * n) ** 2; // its derivative
const pair = (/** @type {Vector} */ p) => `(${format(p[0])}, ${format(p[1])})`;

const LABEL = "Drag a vector and watch squash shorten it";

export default defineWidget("SquashVector", LABEL, ({ root, get, set, layOut }) => {
  const plane = makePlane();
  const curve = makeCurve();
  const { say } = layOut({
    stage: element("div", { class: "squash" }, plane.picture, curve.picture),
  });

  function move(/** @type {Vector} */ to) {
    const share = Math.min(1, FAR / norm(to));
    set({ s: to.map((x) => Math.round(share * x * 1000) / 1000) });
  }

  // Places are shares of the picture, from 0 to 1, y downwards.
  const onPlane = ({ x, y }) => move([2 * FAR * (x - 0.5), 2 * FAR * (0.5 - y)]);
  drag(plane.picture, { focus: plane.handle, start: onPlane, move: onPlane });
  const moveBy = (dx, dy, { shiftKey }) => {
    const step = shiftKey ? 0.5 : 0.05;
    const [x, y] = get("s");
    move([x + dx * step, y - dy * step]); // dy grows downwards
  };
  arrowKeys(plane.handle, moveBy, { Home: () => move([0, 0]) });

  return () => {
    const s = get("s");
    const v = Array.from(squash(Float64Array.from(s)));
    const lengthOfS = norm(s);
    const lengths = `‖s‖ = ${format(lengthOfS)}, ‖v‖ = ${format(norm(v))}`;
    const remark = inWords(lengthOfS);
    root.dataset.s = s.map((x) => x.toFixed(4)).join(",");
    plane.show(s, v);
    curve.show(lengthOfS);
    say(`${lengths}. ${remark}`, remark);
    const description = `s is ${pair(s)}, ${format(lengthOfS)} long; v is ${format(norm(v))} long`;
    setAttributes(plane.handle, {
      "aria-valuenow": lengthOfS.toFixed(3),
      "aria-valuetext": description,
    });
  };
});

/** The plane with s, v and the unit disc. */
function makePlane() {
  const half = PLANE / 2;
  const unit = half / FAR;
  const onView = (/** @type {Vector} */ [x, y]) => [half + x * unit, half - y * unit];
  const arrows = { s: makeArrow("s"), v: makeArrow("v") };
  const handle = grip({
    "data-role": "handle",
    "aria-valuemin": 0,
    "aria-valuemax": FAR,
    "aria-label": "Vector s. Arrow keys move its tip.",
  });
  const names = {
    s: svg("text", { class: "name s" }, "s"),
    v: svg("text", { class: "name v" }, "v"),
  };
  const disc = svg("circle", { class: "disc", cx: half, cy: half, r: unit });
  const axis = svg("path", { class: "axis", d: `M0 ${half}H${PLANE}M${half} 0V${PLANE}` });
  const one = svg("text", { class: "label", x: half + unit + 4, y: half + 14 }, "1");
  const view = { viewBox: `0 0 ${PLANE} ${PLANE}`, class: "plane", "data-role": "plane" };
  const layers = [disc, axis, one, arrows.s.node, handle, arrows.v.node, names.s, names.v];
  const picture = svg("svg", view, ...layers);

  function place(name, /** @type {Vector} */ point) {
    const [x, y] = onView(point);
    setAttributes(name, { x, y: y + 4 });
  }

  function show(/** @type {Vector} */ s, /** @type {Vector} */ v) {
    arrows.s.point([half, half], onView(s), { gap: 11 });
    arrows.v.point([half, half], onView(v));
    handle.setAttribute("transform", `translate(${onView(s)})`);
    const n = norm(s);
    // Names stand beside their arrows: s at its tip, v on the other side at 0.6 of its length.
    const aside = n ? [-s[1] / n, s[0] / n] : [0, 1]; // perpendicular to s, of length 1
    place(names.s, [s[0] + 0.34 * aside[0], s[1] + 0.34 * aside[1]]);
    place(names.v, [0.6 * v[0] - 0.24 * aside[0], 0.6 * v[1] - 0.24 * aside[1]]);
    names.v.toggleAttribute("hidden", norm(v) < 0.25);
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
    d: chart.path(lengths.map((n) => [n, squashedLength(n)])),
  });
  // Hidden from screen readers: the sentence says what the curve shows.
  const view = { viewBox: `0 0 ${width} ${height}`, class: "curve", "aria-hidden": "true" };
  const picture = svg("svg", view, axis, limit, ...labels, guides, graph, tangent, dot);

  function show(/** @type {number} */ n) {
    const x = atX(Math.min(n, FAR));
    const y = atY(squashedLength(n));
    setAttributes(dot, { cx: x, cy: y });
    guides.setAttribute("d", `M${x} ${atY(0)}V${y}H${atX(0)}`);
    const dx = atX(1) - atX(0); // of the tangent, for one unit of ‖s‖
    const dy = atY(slopeAt(n)) - atY(0);
    const ahead = TANGENT / Math.hypot(dx, dy);
    const back = Math.min(ahead, n); // no further than where ‖s‖ is 0
    const start = `M${x - dx * back} ${y - dy * back}`;
    tangent.setAttribute("d", `${start}L${x + dx * ahead} ${y + dy * ahead}`);
  }
  return { picture, show };
}

/** Says what there is to see at this length of s. */
function inWords(/** @type {number} */ n) {
  if (n === 0) return "Zero has no direction, and squash divides by the length: v stays 0.";
  if (n < 0.25) return "Short vectors all but vanish: ‖v‖ ≈ ‖s‖². The slope goes to 0 as well.";
  if (Math.abs(n - STEEPEST) < 0.12) return "Here the curve is steepest, at ‖s‖ = 1/√3.";
  if (n > 2) return "Long vectors saturate: making s longer hardly changes v.";
  return "v points where s points; only the length changes, and it stays below 1.";
}
