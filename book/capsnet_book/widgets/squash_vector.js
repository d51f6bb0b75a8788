// A vector s to drag; v = squash(s) follows inside the unit disc, and a dot runs along the curve of
// lengths. First the reader draws a guess of that curve.
import { arrowKeys, axes, drag, grip, makeArrow } from "./shared/controls.js";
import { norm, squash } from "./shared/core.js";
import { defineWidget } from "./shared/stage.js";
import { t } from "./shared/t.js";
import { clamp, element, format, pushButton, rowOf, setAttributes, svg } from "./shared/ui.js";

/** @typedef {number[]} Vector  x to the right, y up */

const FAR = 3.6; // the greatest length of s; the plane shows −FAR to FAR, both ways
const PLANE = 260; // side of the plane, in the units of the viewBox
const CURVE = { width: 340, height: 260, left: 30, right: 14, top: 34, bottom: 24, x: [0, FAR] };
const STEEPEST = 1 / Math.sqrt(3); // ‖s‖ where the curve is steepest
const TANGENT = 46; // half its length, in the units of the viewBox

const PLACES = [0, 0.5, 1, 1.5, 2, 2.5, 3]; // ‖s‖ at the knobs of the guess
const KNOB = 0.05; // ‖v‖ by which an arrow key moves a knob

const squashedLength = (/** @type {number} */ n) => (n * n) / (1 + n * n); // ‖v‖, n = ‖s‖
const slopeAt = (/** @type {number} */ n) => (2 * n) / (1 + n * n) ** 2; // its derivative

/** How far a guess is off, on average over its knobs. @param {number[]} guess */
export const errorOf = (guess) =>
  guess.reduce((sum, y, k) => sum + Math.abs(y - squashedLength(PLACES[k])), 0) / guess.length;

const pair = (/** @type {Vector} */ p) => `(${format(p[0])}, ${format(p[1])})`;

const LABEL = t`Drag a vector and watch squash shorten it`;
const ASK = t`Draw your guess as a line, for lengths from 0 to 3; then show what squash does.`;

export default defineWidget("SquashVector", LABEL, ({ root, get, set, layOut }) => {
  const plane = makePlane();
  const setGuess = (/** @type {number} */ k, /** @type {number} */ y) => {
    const guess = get("guess").length ? get("guess") : PLACES.map(() => y); // level at first
    set({ guess: guess.with(k, clamp(Math.round(y * 100) / 100, 0, 1)) });
  };
  const curve = makeCurve({ setGuess, guessAt: (k) => get("guess")[k] ?? 0.5 });
  const show = pushButton("show", t`Show what squash does`, () => set({ revealed: true }), {
    class: "primary-action",
  });
  const again = pushButton("again", t`Guess again`, () => set({ guess: [], revealed: false }));
  const { say } = layOut({
    stage: element("div", { class: "squash" }, plane.picture, curve.picture),
    hands: [rowOf(show, again)],
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
    const isOpen = get("revealed");
    const guess = get("guess");
    root.dataset.s = s.map((x) => x.toFixed(4)).join(",");
    root.toggleAttribute("data-open", isOpen);
    show.hidden = isOpen;
    again.hidden = !isOpen;
    plane.show(s, v);
    curve.show(lengthOfS, guess, isOpen);
    const closed = guess.length ? t`Your line is drawn.` : t`How long should v come out?`;
    const lengths = `‖s‖ = ${format(lengthOfS)}, ‖v‖ = ${format(norm(v))}`;
    const off = guess.length ? t` Your line is off by ${format(errorOf(guess))} on average.` : "";
    const remark = isOpen ? `${inWords(lengthOfS)}${off}` : `${closed} ${ASK}`;
    say(isOpen ? `${lengths}. ${remark}` : `‖s‖ = ${format(lengthOfS)}. ${remark}`, remark);
    const ofV = isOpen ? t`; v is ${format(norm(v))} long` : "";
    const description = t`s is ${pair(s)}, ${format(lengthOfS)} long${ofV}`;
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
    "aria-label": t`Vector s. Arrow keys move its tip.`,
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

/**
 * The curve of ‖v‖ over ‖s‖ with its tangent, and the knobs of a guess to draw.
 * @param {{ setGuess: (k: number, y: number) => void, guessAt: (k: number) => number }} _
 */
function makeCurve({ setGuess, guessAt }) {
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
  const view = { viewBox: `0 0 ${width} ${height}`, class: "curve", "data-role": "curve" };
  const answer = svg("g", { class: "answer", "aria-hidden": "true" }, guides, graph, tangent, dot);
  const ground = [axis, limit, ...labels];
  const guess = makeGuess(chart, setGuess, guessAt);
  const picture = svg("svg", view, ...ground, ...guess.parts, answer);
  guess.follow(picture);

  function show(/** @type {number} */ n, /** @type {number[]} */ guessed, isOpen) {
    guess.show(guessed, isOpen);
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

/**
 * The guess of the curve: knobs to set, a field to draw in. follow(picture) lets it follow the
 * pointer there.
 * @param {ReturnType<typeof axes>} chart @param {(k: number, y: number) => void} setGuess
 * @param {(k: number) => number} guessAt
 */
function makeGuess(chart, setGuess, guessAt) {
  const { width, height, left, top } = CURVE;
  const { x: atX, y: atY, floor, end } = chart;
  const line = svg("path", { class: "guess-curve" });
  const knobs = PLACES.map((place, k) => {
    const knob = svg("circle", {
      class: "guess-knob",
      r: 8,
      tabindex: 0,
      role: "slider",
      "data-knob": k,
      "aria-label": t`Your guess: how long does a vector of length ${place} come out?`,
      "aria-valuemin": 0,
      "aria-valuemax": 1,
    });
    arrowKeys(knob, (dx, dy) => setGuess(k, guessAt(k) + (dx - dy) * KNOB));
    return knob;
  });
  const box = { x: left, y: top, width: end - left, height: floor - top };
  const field = svg("rect", { class: "guess-field", ...box });

  let before = 0; // the knob that the stroke passed last
  /** The knob, and the length out, at a place of the picture. */
  function knobAt({ x, y }) {
    const column = (PLACES.length - 1) * ((x * width - left) / (atX(PLACES.at(-1)) - left));
    const out = (floor - y * height) / (floor - atY(1));
    return { k: clamp(Math.round(column), 0, PLACES.length - 1), out: clamp(out, 0, 1) };
  }
  /** Sets the knobs that a stroke has passed. */
  function stroke(/** @type {{ x: number, y: number }} */ place) {
    const { k, out } = knobAt(place);
    const step = Math.sign(k - before);
    for (let n = before; n !== k; n += step) if (n !== before) setGuess(n, out);
    setGuess(k, out);
    before = k;
  }
  const start = (/** @type {{ x: number, y: number }} */ place) => {
    before = knobAt(place).k;
    stroke(place);
  };
  const follow = (/** @type {Element} */ picture) =>
    drag(field, { area: picture, focus: knobs[0], start, move: stroke });

  /** @param {number[]} guess @param {boolean} isOpen */
  function show(guess, isOpen) {
    const points = PLACES.map((place, k) => [place, guess[k] ?? 0.5]);
    line.setAttribute("d", guess.length ? chart.path(points) : "");
    knobs.forEach((knob, k) => {
      const [place, out] = points[k];
      const state = { "aria-valuenow": out, tabindex: isOpen ? -1 : 0 };
      setAttributes(knob, { cx: atX(place), cy: atY(out), ...state });
    });
  }
  return { parts: [field, line, ...knobs], follow, show };
}

/** Says what there is to see at this length of s. */
function inWords(/** @type {number} */ n) {
  if (n === 0) return t`Zero has no direction, and squash divides by the length: v stays 0.`;
  if (n < 0.25) return t`Short vectors all but vanish: ‖v‖ ≈ ‖s‖². The slope goes to 0 as well.`;
  if (Math.abs(n - STEEPEST) < 0.12) return t`Here the curve is steepest, at ‖s‖ = 1/√3.`;
  if (n > 2) return t`Long vectors saturate: making s longer hardly changes v.`;
  return t`v points where s points; only the length changes, and it stays below 1.`;
}
