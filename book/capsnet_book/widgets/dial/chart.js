// The lines of all networks over the angle: drawn while the digit turns, each named at its end.
import { LONG } from "../shared/bars.js";
import { axes, measure } from "../shared/controls.js";
import { t } from "../shared/t.js";
import { element, format, memoized, setAttributes, svg, write } from "../shared/ui.js";
import { toSide, turnInWords } from "./words.js";

/** @import { Line } from "./record.js" */
/** @typedef {{ key: string, name: string, line: Line, end: number[] }} Drawn
 *   line: the same list as long as it has not changed; end: [degrees, value] */

const HALF_TURN = 90;
const NARROW = 480; // pixels
const GAP = 18; // pixels between two names
const BESIDE = 12; // pixels from the right edge to the names

const atPlace = (/** @type {number} */ turn) => -turn || 0; // to the left is left

/** The plan of the axes for a width in pixels: at the right there is room for the names. */
const planOf = (/** @type {number} */ width, /** @type {boolean} */ isAlone) => ({
  width,
  height: width < NARROW ? 160 : 200,
  left: 22,
  right: width < NARROW || isAlone ? 104 : 186,
  top: 24,
  bottom: 22,
  x: [-HALF_TURN, HALF_TURN],
});

/** The name of a place of the axis: an angle, and at the ends its side. */
function nameOfPlace(/** @type {number} */ place, /** @type {boolean} */ isNarrow) {
  if (place === 0) return t`Upright`;
  if (Math.abs(place) < HALF_TURN) return `${Math.abs(place)}°`;
  return isNarrow ? toSide(-place) : turnInWords(-place);
}

/** The ground: axes, the angles of training shaded, the line below which a digit is lost. */
function groundOf(chart, width, /** @type {number} */ trained) {
  const { x, y, floor, end } = chart;
  const left = x(-HALF_TURN);
  const places = width < NARROW ? [-90, 0, 90] : [-90, -60, -30, 0, 30, 60, 90];
  const labels = places.map((place) => {
    const anchor = { [-90]: "start", 90: "end" }[place] ?? "middle";
    return chart.text(nameOfPlace(place, width < NARROW), x(place), floor + 16, {
      "text-anchor": anchor,
    });
  });
  const parts = [
    svg("path", { class: "axis", d: `M${left} ${y(1)}V${floor}H${end}M${x(0)} ${y(1)}V${floor}` }),
    svg("path", { class: "limit", d: `M${left} ${y(LONG)}H${end}` }),
    ...chart.beside([1, LONG, 0]),
    ...labels,
  ];
  if (trained === 0) return parts;
  const shade = {
    class: "trained",
    x: x(-trained),
    y: y(1),
    width: x(trained) - x(-trained),
    height: floor - y(1),
  };
  const words = chart.text(t`shown in training`, x(0), floor - 6, { "text-anchor": "middle" });
  return [svg("rect", shade), ...parts, words];
}

/** A line, the dot at its present end, and its name. */
function makeLine(/** @type {string} */ key) {
  const path = svg("path", { class: "graph" });
  const dot = svg("circle", { class: "dot", r: key === "network" ? 5.5 : 4.5 });
  const name = svg("text", { class: "line-name" });
  const node = svg("g", { class: `line line-${key}` }, path, dot, name);
  const renew = memoized((line, chart) =>
    path.setAttribute("d", chart.path(line.map(([at, y]) => [atPlace(at), y]))),
  );
  return { renew, dot, name, node };
}

/** Moves names apart that would lie on each other. @param {number[]} heights  from the top */
function apart(heights, /** @type {number} */ low) {
  const order = heights.map((_, n) => n).sort((a, b) => heights[a] - heights[b]);
  const moved = [...heights];
  order.forEach((n, k) => {
    if (k > 0) moved[n] = Math.max(moved[n], moved[order[k - 1]] + GAP);
  });
  const over = Math.max(0, Math.max(...moved) - low);
  return moved.map((height) => height - over);
}

/**
 * The chart. show() draws the lines up to the present angle.
 * @param {{ trained: number, isAlone: boolean, changed: () => void }} _
 *   trained: degrees either way that the CapsNet was shown in training; isAlone: whether no other
 *   network is compared with it; changed: called when the chart's size has
 */
export function makeChart({ trained, isAlone, changed }) {
  const ground = svg("g");
  const guessLine = svg("path", { class: "guess-line" });
  const guessName = svg("text", { class: "guess-name" });
  const lines = svg("g");
  const picture = svg("svg", { role: "img", "data-role": "chart" }, ground, guessLine, guessName);
  picture.append(lines);
  const node = element("div", { class: "dial-chart" }, picture);
  const size = measure(node, changed);
  /** @type {Map<string, ReturnType<typeof makeLine>>} */
  const made = new Map();
  let chart = axes(planOf(600, isAlone));
  let width = 0;

  function fit() {
    const now = Math.max(size.width, 200);
    if (now === width) return;
    width = now;
    const plan = planOf(width, isAlone);
    chart = axes(plan);
    setAttributes(picture, { viewBox: `0 0 ${width} ${plan.height}` });
    ground.replaceChildren(...groundOf(chart, width, trained));
  }

  /** @param {number | null} guess */
  function showGuess(guess) {
    const x = chart.x(atPlace(guess ?? 0));
    const d = guess === null ? "" : `M${x} ${chart.y(1) - 6}V${chart.floor}`;
    setAttributes(guessLine, { d });
    write(guessName, guess === null ? "" : t`your guess ${Math.abs(guess)}°`);
    const isLeft = x < width / 3;
    setAttributes(guessName, {
      x: isLeft ? x - 3 : x + 3,
      y: chart.y(1) - 11,
      "text-anchor": isLeft ? "start" : "end",
    });
  }

  /** A line's name, as there is room for it. */
  function nameOf(/** @type {string} */ key, /** @type {string} */ name) {
    if (isAlone) return t`Length`;
    return width < NARROW && key === "turning" ? t`Turning` : name;
  }

  /** @param {Drawn[]} drawn  the first one lies on top @param {number | null} guess */
  function show(drawn, guess) {
    fit();
    showGuess(guess);
    const heights = apart(
      drawn.map(({ end }) => chart.y(end[1])),
      chart.floor,
    );
    const nodes = drawn.map(({ key, name, line, end }, n) => {
      if (!made.has(key)) made.set(key, makeLine(key));
      const parts = made.get(key);
      const [turn, value] = end;
      parts.renew([line, chart], line, chart);
      setAttributes(parts.dot, { cx: chart.x(atPlace(turn)), cy: chart.y(value) });
      write(parts.name, `${nameOf(key, name)} ${format(value)}`);
      setAttributes(parts.name, { x: chart.end + BESIDE, y: heights[n] + 4 });
      if (parts.node.parentNode !== lines) lines.prepend(parts.node);
      return parts.node;
    });
    for (const { node } of made.values()) if (!nodes.includes(node)) node.remove();
    const words = drawn.map(({ name, end }) => `${name} ${format(end[1])}`).join(", ");
    setAttributes(picture, { "aria-label": words || t`Nothing is drawn before you have guessed` });
  }
  return { node, show, stop: size.stop };
}
