// A scene of parts with true poses to turn; two networks vote, with matrices M W and with vectors W u, and the votes
// stay together or fall apart.
import { makeBar } from "./shared/bars.js";
import { namedSlider } from "./shared/controls.js";
import { norm, route } from "./shared/core.js";
import { direction, turnedPoint } from "./shared/plane.js";
import { defineWidget } from "./shared/stage.js";
import { element, format, percent, svg } from "./shared/ui.js";

/** @typedef {number[]} Part  angle in radians, x, y, which of the five types */
/** @typedef {{ u_hat: Float32Array, c: Float32Array, lengths: number[], answer: number, D: number, far?: string }}
 *   Reading  far: how far the whole's own votes lie from their middle, as a share of their length */

const WHOLES = 10;
const WHOLE = 0; // that is there
const ROUNDS = 3;
const OWN = 5; // so many parts has a whole; those after them belong to none
const FAMILIAR = 45; // degrees, either way: as the networks were trained

// ------------------------------------------------------------------------------------- what the networks read

/** The parts seen from elsewhere: all turned about the middle. @param {Part[]} parts */
export const turned = (parts, degrees) =>
  parts.map(([angle, x, y, type]) => [
    angle + (degrees * Math.PI) / 180,
    ...turnedPoint([x, y], degrees),
    type,
  ]);

/** A pose by rows: (cos, −sin, x), (sin, cos, y), (0, 0, 1) of a matrix, or (cos, sin, x, y, 1), a vector. */
function rowsOf(kind, /** @type {Part} */ [angle, x, y]) {
  const [cos, sin] = direction((angle * 180) / Math.PI);
  if (kind === "vectors") return [[cos, sin, x, y, 1]];
  const rows = [cos, -sin, x, sin, cos, y, 0, 0, 1];
  return [rows.slice(0, 3), rows.slice(3, 6), rows.slice(6)];
}

/**
 * What a network makes of a scene. û [I, 10, D], the last round's shares c [I, 10], the ten lengths.
 * @param {string} kind  matrices or vectors
 * @param {number[]} weight  [5 · numbers, 10 · votes], a block for each type and whole
 * @param {Part[]} parts
 * @returns {Reading}
 */
export function read(kind, weight, parts, rounds) {
  const [numbers, votes] = kind === "vectors" ? [5, 8] : [3, 3];
  const D = kind === "vectors" ? votes : 3 * votes;
  const u_hat = new Float32Array(parts.length * WHOLES * D);
  parts.forEach((part, i) =>
    rowsOf(kind, part).forEach((row, r) =>
      row.forEach((number, k) => {
        const from = (part[3] * numbers + k) * WHOLES * votes;
        for (let jd = 0; jd < WHOLES * votes; jd++) {
          const [j, d] = [Math.floor(jd / votes), jd % votes];
          u_hat[(i * WHOLES + j) * D + r * votes + d] += number * weight[from + jd];
        }
      }),
    ),
  );
  const trace = route(u_hat, parts.length, WHOLES, D, rounds);
  const [c, v] = [trace.c[rounds - 1], trace.v[rounds - 1]];
  const lengths = Array.from({ length: WHOLES }, (_, j) => norm(v, j * D, D));
  return { u_hat, c, lengths, answer: lengths.indexOf(Math.max(...lengths)), D };
}

/** How far the whole's own votes for whole `j` lie from their middle, in the mean, as a share of their length. */
export function spreadOf(/** @type {Reading} */ { u_hat, D }, j) {
  const votes = Array.from({ length: OWN }, (_, i) =>
    u_hat.subarray((i * WHOLES + j) * D, (i * WHOLES + j + 1) * D),
  );
  const middle = votes[0].map((_, d) => votes.reduce((sum, vote) => sum + vote[d], 0) / OWN);
  const from = (point) =>
    votes.reduce((sum, vote) => sum + Math.hypot(...vote.map((x, d) => x - point[d])), 0);
  return from(middle) / from(new Float32Array(D));
}

/** What has happened, in a sentence. @param {Reading} matrices @param {Reading} vectors */
function remarkOn(matrices, vectors, degrees) {
  const says = (/** @type {Reading} */ { answer, lengths }) => {
    const what = answer === WHOLE ? "knows the whole" : `takes it for whole ${answer}`;
    return `${what} (${format(lengths[answer])})`;
  };
  const familiar = Math.abs(degrees) <= FAMILIAR;
  const view = familiar
    ? "A view as in training"
    : `${Math.abs(degrees)}°: no training scene was turned so far`;
  const [far, farther] = [matrices.far, vectors.far];
  return (
    `${view}. With matrices the network ${says(matrices)}, its five votes ${far} of their length from their middle; ` +
    `with vectors it ${says(vectors)}, its votes ${farther}.`
  );
}

// ------------------------------------------------------------------------------------------------ the pictures

const HALF = 100; // the pictures show -HALF … HALF
const VIEW = { viewBox: `${-HALF} ${-HALF} ${2 * HALF} ${2 * HALF}`, class: "plane", role: "img" };
const UNIT = 31; // of the scene: parts lie within three of the plane's units
const UNIT_OF_VOTES = 65;
// Two of a vote's numbers are drawn, those in which votes for the whole are longest when nothing is turned: of M W a
// column, which turns with the scene if the vote does.
const SHOWN = { matrices: [1, 4], vectors: [4, 0] };
// The five parts in their own axes; each shows where its front is.
const SHAPES = [
  "M-8 -6L9 0L-8 6Z",
  "M-7 -7H3L8 0L3 7H-7Z",
  "M-8 -3H2V-7L9 0L2 7V3H-8Z",
  "M-8 -7H-3V3H8V7H-8Z",
  "M-7 0A7 7 0 0 1 7 0L10 0L4 6L-2 0L1 0A3 3 0 0 0 -7 0Z",
];
const KINDS = { matrices: "Matrices: M W", vectors: "Vectors: W u" };
const owner = (/** @type {number} */ i) => (i < OWN ? "own" : "other");
const titled = (title, ...pictures) =>
  element("figure", { class: "votes" }, element("p", { class: "heading" }, title), ...pictures);

function makeScene() {
  const field = svg("g", {});
  const picture = svg(
    "svg",
    { ...VIEW, "data-role": "scene" },
    svg("circle", { class: "disc", r: HALF - 1 }),
    field,
  );
  function show(/** @type {Part[]} */ parts, degrees) {
    const shapes = parts.map(([angle, x, y, type], i) => {
      const transform = `translate(${x * UNIT} ${-y * UNIT}) rotate(${(-angle * 180) / Math.PI})`;
      return svg("path", { class: owner(i), d: SHAPES[type], transform });
    });
    field.replaceChildren(...shapes);
    const besides = parts.length > OWN ? ` and ${parts.length - OWN} others` : "";
    picture.setAttribute(
      "aria-label",
      `Five parts of a whole${besides}, turned by ${degrees} degrees`,
    );
  }
  return { picture, show };
}

/** The votes for the whole that is there, and the ten lengths. */
function makePanel(kind) {
  const dots = svg("g", {});
  const axis = svg("path", { class: "axis", d: `M${-HALF} 0H${HALF}M0 ${-HALF}V${HALF}` });
  const picture = svg("svg", { ...VIEW, "data-role": kind }, axis, dots);
  const bars = Array.from({ length: WHOLES }, () => makeBar("height"));
  const columns = bars.map(({ rail }, j) => element("span", {}, rail, String(j)));
  const lengths = element("div", { class: "upright", role: "img" }, ...columns);
  const spread = element("p", { class: "spread" });

  function show(/** @type {Reading} */ { u_hat, c, lengths: long, answer, D, far }) {
    const dotOf = (/** @type {number} */ i) => {
      const [cx, y] = SHOWN[kind].map((d) => u_hat[(i * WHOLES + WHOLE) * D + d] * UNIT_OF_VOTES);
      return svg("circle", {
        class: owner(i),
        cx,
        cy: -y,
        r: 3 + 5 * Math.sqrt(c[i * WHOLES + WHOLE]),
      });
    };
    const last = c.length / WHOLES - 1;
    dots.replaceChildren(...Array.from({ length: last + 1 }, (_, k) => dotOf(last - k)));
    columns.forEach((column, j) => {
      bars[j].show(long[j]);
      column.classList.toggle("right", j === WHOLE);
      column.classList.toggle("wrong", j === answer && j !== WHOLE);
    });
    spread.textContent = `The five votes lie ${far} of their length from their middle.`;
    picture.setAttribute("aria-label", `Votes of ${kind} for the whole`);
    lengths.setAttribute(
      "aria-label",
      `Lengths of the ten capsules: ${long.map((x) => x.toFixed(2)).join(", ")}`,
    );
  }
  return { panel: titled(KINDS[kind], picture, spread, lengths), show };
}

const LABEL = "Turn a scene of parts and watch their votes";

export default defineWidget("TurnScene", LABEL, ({ root, get, set, layOut }) => {
  const [whole, weights] = [get("scene"), get("weights")];
  const scene = makeScene();
  const panels = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, makePanel(kind)]));
  const makeSlider = (trait, name, limits) => {
    const oninput = ({ target }) => set({ [trait]: target.valueAsNumber });
    return namedSlider(name, { ...limits, "data-role": trait, oninput });
  };
  const turn = makeSlider("angle", "Turn the scene", { min: -180, max: 180 });
  const clutter = makeSlider("clutter", "Parts of no whole", { max: 12 });
  const stage = element("div", { class: "turn-scene" }, titled("The scene", scene.picture));
  stage.append(panels.matrices.panel, panels.vectors.panel);
  const { say } = layOut({ stage, hands: [turn.node, clutter.node] });

  return () => {
    const [angle, others] = ["angle", "clutter"].map(get);
    const parts = turned(whole.slice(0, OWN + others), angle);
    const [matrices, vectors] = Object.keys(KINDS).map((kind) => {
      const reading = read(kind, weights[kind], parts, ROUNDS);
      reading.far = percent(spreadOf(reading, WHOLE));
      panels[kind].show(reading);
      return reading;
    });
    scene.show(parts, angle);
    turn.show(angle, `${angle}°`);
    clutter.show(others, String(others));
    root.dataset.lengths = vectors.lengths.map((x) => x.toFixed(3)).join(",");
    say(remarkOn(matrices, vectors, angle));
  };
});
