// A vector s to drag; v = squash(s) follows inside the unit disc, and a dot runs along the curve of lengths.

import { arrowKeys, axes, drag, grip, makeArrow } from "./shared/controls.js";
import { norm, squash } from "./shared/core.js";
import { withPrompts } from "./shared/prompts.js";
import { layOut } from "./shared/stage.js";
import { element, format, listen, makeRoot, mount, oncePerFrame, setAttributes, svg } from "./shared/ui.js";

const FAR = 3.6; // so long can s be; the plane shows -FAR … FAR, both ways
const PLANE = 260; // sides of the pictures, in the units of their viewBox
const CURVE = { width: 340, height: 260, left: 30, right: 14, top: 34, bottom: 24, x: [0, FAR] };
const STEEPEST = 1 / Math.sqrt(3);

const lengthOf = (n) => (n * n) / (1 + n * n); // ‖v‖ from ‖s‖
const slopeAt = (n) => (2 * n) / (1 + n * n) ** 2; // its derivative

function render({ model, el }) {
  const root = makeRoot("SquashVector", "Drag a vector and watch squash shorten it");
  return mount(el, root, () => {
    let s = model.get("s").slice();
    const plane = makePlane();
    const curve = makeCurve();
    const { say, stop: stopSaying } = layOut(root, {
      stage: element("div", { class: "squash" }, plane.picture, curve.picture),
    });

    function draw() {
      const v = squash(Float64Array.from(s));
      const [n, m] = [norm(s), norm(v)];
      root.dataset.s = s.map((x) => x.toFixed(4)).join(",");
      root.dataset.v = Array.from(v, (x) => x.toFixed(4)).join(",");
      plane.show(s, v);
      curve.show(n);
      const spoken = `s is ${pair(s)}, ${format(n)} long; v is ${format(m)} long`;
      say(`‖s‖ = ${format(n)}, ‖v‖ = ${format(m)}. ${inWords(n)}`, inWords(n));
      for (const handle of [plane.handle, curve.handle]) {
        setAttributes(handle, { "aria-valuenow": n.toFixed(3), "aria-valuetext": spoken });
      }
    }
    const schedule = oncePerFrame(draw);

    function move(to) {
      const share = Math.min(1, FAR / norm(to));
      s = to.map((x) => Math.round(share * x * 1000) / 1000);
      model.set("s", s.slice());
      schedule();
    }

    /** Another length, the same direction. */
    function stretchTo(n) {
      const now = norm(s);
      const along = now ? s.map((x) => x / now) : [1, 0];
      move(along.map((x) => x * Math.max(n, 0)));
    }

    const save = () => model.save_changes();
    const onPlane = ({ x, y }) => move([2 * FAR * (x - 0.5), 2 * FAR * (0.5 - y)]);
    const onCurve = ({ x }) => stretchTo(curve.lengthAt(x));
    drag(plane.picture, { focus: plane.handle, start: onPlane, move: onPlane, end: save });
    drag(curve.picture, { focus: curve.handle, start: onCurve, move: onCurve, end: save });

    const keys = (handle, work) => {
      const stride = (event) => (event.shiftKey ? 0.5 : 0.05);
      const saved = (action) => {
        action();
        save();
      };
      arrowKeys(handle, (dx, dy, event) => saved(() => work(dx * stride(event), -dy * stride(event))), {
        Home: () => saved(() => move([0, 0])),
      });
    };
    keys(plane.handle, (dx, dy) => move([s[0] + dx, s[1] + dy]));
    keys(curve.handle, (dx, dy) => stretchTo(norm(s) + dx + dy));

    const stopListening = listen(model, {
      s: () => {
        s = model.get("s").slice();
        schedule();
      },
    });
    draw();
    return [stopListening, schedule.cancel, stopSaying];
  });
}

const pair = (p) => `(${format(p[0])}, ${format(p[1])})`;

/** The plane with s, v and the unit disc. */
function makePlane() {
  const half = PLANE / 2;
  const unit = half / FAR;
  const onPlane = ([x, y]) => [half + x * unit, half - y * unit];
  const arrowS = makeArrow("s");
  const arrowV = makeArrow("v");
  const handle = grip({
    "data-role": "handle",
    "aria-label": "Vector s. Arrow keys move its tip.",
    "aria-valuemin": 0,
    "aria-valuemax": FAR,
  });
  const nameS = svg("text", { class: "name s" }, "s");
  const nameV = svg("text", { class: "name v" }, "v");
  const picture = svg(
    "svg",
    { viewBox: `0 0 ${PLANE} ${PLANE}`, class: "plane", "data-role": "plane" },
    svg("circle", { class: "disc", cx: half, cy: half, r: unit }),
    svg("path", { class: "axis", d: `M0 ${half}H${PLANE}M${half} 0V${PLANE}` }),
    svg("text", { class: "label", x: half + unit + 4, y: half + 14 }, "1"),
    ...[arrowS.node, handle, arrowV.node, nameS, nameV],
  );

  function show(s, v) {
    const n = norm(s);
    arrowS.point([half, half], onPlane(s), { gap: 11 });
    arrowV.point([half, half], onPlane(v));
    handle.setAttribute("transform", `translate(${onPlane(s)})`);
    const aside = n ? [-s[1] / n, s[0] / n] : [0, 1]; // names stand beside their arrows
    const name = (text, [x, y], by) => {
      const [atX, atY] = onPlane([x + aside[0] * by, y + aside[1] * by]);
      setAttributes(text, { x: atX, y: atY + 4 });
    };
    name(nameS, s, 0.34);
    name(nameV, [v[0] * 0.6, v[1] * 0.6], -0.24);
    nameV.toggleAttribute("hidden", norm(v) < 0.25);
  }
  return { picture, handle, show };
}

/** The curve of ‖v‖ over ‖s‖ with its tangent. */
function makeCurve() {
  const { width, height, left, right, top } = CURVE;
  const chart = axes(CURVE);
  const { x: atX, y: atY } = chart;
  const lengths = Array.from({ length: 181 }, (_, k) => (k / 180) * FAR);
  const guides = svg("path", { class: "guide" });
  const tangent = svg("path", { class: "tangent" });
  const handle = grip({
    class: "handle v",
    "data-role": "dot",
    "aria-label": "Length of s. Left and right arrow keys change it.",
    "aria-valuemin": 0,
    "aria-valuemax": FAR,
  });
  const picture = svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "curve", "data-role": "curve" },
    svg("path", { class: "axis", d: `M${left} ${top - 10}V${chart.floor}H${chart.end + 4}` }),
    svg("path", { class: "limit", d: `M${left} ${atY(1)}H${chart.end + 4}` }),
    ...chart.below([0, 1, 2, 3], 15),
    ...chart.beside([1, 0.5], 8, (y) => (y === 1 ? "1" : "½")),
    chart.text("‖s‖", chart.end + 4, chart.floor + 15, { class: "label s", "text-anchor": "end" }),
    chart.text("‖v‖", left - 8, top - 16, { class: "label v" }),
    guides,
    svg("path", { class: "graph", d: chart.path(lengths.map((n) => [n, lengthOf(n)])) }),
    ...[tangent, handle],
  );

  function show(n) {
    const [x, y] = [atX(Math.min(n, FAR)), atY(lengthOf(n))];
    handle.setAttribute("transform", `translate(${x} ${y})`);
    guides.setAttribute("d", `M${x} ${atY(0)}V${y}H${atX(0)}`);
    const [dx, dy] = [atX(1) - atX(0), atY(slopeAt(n)) - atY(0)];
    const ahead = 46 / Math.hypot(dx, dy);
    const back = Math.min(ahead, n); // no further than where ‖s‖ is 0
    tangent.setAttribute("d", `M${x - dx * back} ${y - dy * back}L${x + dx * ahead} ${y + dy * ahead}`);
  }
  /** The length at a share of the picture's width. */
  const lengthAt = (x) => ((x * width - left) / (width - left - right)) * FAR;
  return { picture, handle, show, lengthAt };
}

/** What there is to see at this length. */
function inWords(n) {
  if (n === 0) {
    return (
      "Zero has no direction: s / ‖s‖ would be 0 / 0. The length is kept at 10⁻⁸ at least where it divides, " +
      "so v is 0 and its gradient finite."
    );
  }
  if (n < 0.25) {
    return (
      "Short vectors all but vanish: ‖v‖ ≈ ‖s‖². The slope goes to 0 as well, " +
      "so a capsule that starts too short learns slowly."
    );
  }
  if (Math.abs(n - STEEPEST) < 0.12) {
    return "Here the curve is steepest, at ‖s‖ = 1/√3: a small change of s changes v the most.";
  }
  if (n > 2) {
    return (
      "Long vectors saturate: v is nearly a unit vector, and making s longer hardly changes it. " +
      "Little gradient is left here, too."
    );
  }
  return "v points where s points; only the length changes, and it stays below 1.";
}

export default { render: withPrompts(render) };
