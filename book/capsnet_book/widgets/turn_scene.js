// A scene of parts with true poses to turn. Two networks vote, with matrices M W and with vectors W
// u; their votes stay together or fall apart.
import { makeBar } from "./shared/bars.js";
import { namedSlider } from "./shared/controls.js";
import { norm, route } from "./shared/core.js";
import { direction, turnedPoint } from "./shared/plane.js";
import { defineWidget } from "./shared/stage.js";
import { t } from "./shared/t.js";
import { element, format, percent, setAttributes, svg } from "./shared/ui.js";

/** @typedef {number[]} Part  angle in radians, x, y, which of the five types */
/** @typedef {"matrices" | "vectors"} Kind  of network */
/**
 * @typedef {{ u_hat: Float32Array, c: Float32Array, lengths: number[], answer: number, D: number,
 *   spread?: string }} Reading
 *   u_hat [I, 10, D]: the votes; c [I, 10]: the last round's couplings; lengths [10]; answer: the
 *   longest; spread: in per cent, see spreadOf
 */

const WHOLES = 10;
const WHOLE = 0; // the one in the scene
const ROUNDS = 3;
const OWN = 5; // parts of the whole; those after them belong to none
const FAMILIAR = 45; // degrees, either way: the angles of training

// ---------------------------------------------------------------------- the networks' readings

/** Parts seen from elsewhere: all turned about the middle. @param {Part[]} parts */
export const turned = (parts, degrees) =>
  parts.map(([angle, x, y, type]) => [
    angle + (degrees * Math.PI) / 180,
    ...turnedPoint([x, y], degrees),
    type,
  ]);

/**
 * A pose by rows: (cos, −sin, x), (sin, cos, y), (0, 0, 1) of a matrix, or (cos, sin, x, y, 1), a
 * vector.
 * @param {Kind} kind @param {Part} part
 */
function rowsOf(kind, [angle, x, y]) {
  const [cos, sin] = direction((angle * 180) / Math.PI);
  if (kind === "vectors") return [[cos, sin, x, y, 1]];
  return [
    [cos, -sin, x],
    [sin, cos, y],
    [0, 0, 1],
  ];
}

/** The sizes of a network's vote: `numbers` of a row are multiplied to `votes` numbers. */
const SIZES = { matrices: { numbers: 3, votes: 3, D: 9 }, vectors: { numbers: 5, votes: 8, D: 8 } };

/**
 * All votes of a scene. -> û [I, 10, D]
 * @param {Kind} kind @param {number[]} weight @param {Part[]} parts
 */
function votesOf(kind, weight, parts) {
  const { numbers, votes, D } = SIZES[kind];
  const u_hat = new Float32Array(parts.length * WHOLES * D);
  parts.forEach((part, i) => {
    const type = part[3];
    rowsOf(kind, part).forEach((row, r) => {
      row.forEach((number, k) => {
        const from = (type * numbers + k) * WHOLES * votes;
        for (let j = 0; j < WHOLES; j++) {
          const to = (i * WHOLES + j) * D + r * votes;
          for (let d = 0; d < votes; d++) u_hat[to + d] += number * weight[from + j * votes + d];
        }
      });
    });
  });
  return u_hat;
}

/**
 * Reads a scene with one of the networks.
 * @param {Kind} kind
 * @param {number[]} weight  [5 · numbers, 10 · votes], a block for each type and whole
 * @param {Part[]} parts
 * @returns {Reading}
 */
export function read(kind, weight, parts, rounds) {
  const { D } = SIZES[kind];
  const u_hat = votesOf(kind, weight, parts);
  const trace = route(u_hat, parts.length, WHOLES, D, rounds);
  const c = trace.c[rounds - 1];
  const v = trace.v[rounds - 1];
  const lengths = Array.from({ length: WHOLES }, (_, j) => norm(v, j * D, D));
  return { u_hat, c, lengths, answer: lengths.indexOf(Math.max(...lengths)), D };
}

/**
 * The mean distance of the own parts' votes for whole `j` from their middle, as a share of their
 * mean length.
 * @param {Reading} reading
 */
export function spreadOf({ u_hat, D }, j) {
  const votes = Array.from({ length: OWN }, (_, i) =>
    u_hat.subarray((i * WHOLES + j) * D, (i * WHOLES + j + 1) * D),
  );
  const middle = votes[0].map((_, d) => votes.reduce((sum, vote) => sum + vote[d], 0) / OWN);
  const distanceFrom = (point) =>
    votes.reduce((sum, vote) => sum + Math.hypot(...vote.map((x, d) => x - point[d])), 0);
  return distanceFrom(middle) / distanceFrom(new Float32Array(D));
}

/** Says what has happened. @param {Reading} matrices @param {Reading} vectors */
function remarkOn(matrices, vectors, degrees) {
  const says = (/** @type {Reading} */ { answer, lengths }) => {
    const what = answer === WHOLE ? t`knows the whole` : t`takes it for whole ${answer}`;
    return `${what} (${format(lengths[answer])})`;
  };
  const familiar = Math.abs(degrees) <= FAMILIAR;
  const view = familiar
    ? t`A view as in training`
    : t`${Math.abs(degrees)}°: no training scene was turned so far`;
  const spread = t`its five votes ${matrices.spread} of their length from their middle`;
  return t`${view}. With matrices the network ${says(matrices)}, ${spread}; with vectors it
    ${says(vectors)}, its votes ${vectors.spread}.`;
}

// ------------------------------------------------------------------------------ the pictures

const HALF = 100; // pictures show −HALF to HALF, both ways
const VIEW = { viewBox: `${-HALF} ${-HALF} ${2 * HALF} ${2 * HALF}`, class: "plane", role: "img" };
const UNIT = 31; // of the scene, whose parts lie within three units
const UNIT_OF_VOTES = 65;
// Two numbers of a vote are drawn, those in which votes for the whole are longest when nothing is
// turned. Of M W they are a column, which turns with the scene if the vote does.
const SHOWN = { matrices: [1, 4], vectors: [4, 0] };
// The outlines of the five types of parts, in their own axes; each shows where its front is.
const SHAPES = [
  "M-8 -6L9 0L-8 6Z",
  "M-7 -7H3L8 0L3 7H-7Z",
  "M-8 -3H2V-7L9 0L2 7V3H-8Z",
  "M-8 -7H-3V3H8V7H-8Z",
  "M-7 0A7 7 0 0 1 7 0L10 0L4 6L-2 0L1 0A3 3 0 0 0 -7 0Z",
];
const KINDS = { matrices: t`Matrices: M W`, vectors: t`Vectors: W u` };
const owner = (/** @type {number} */ i) => (i < OWN ? "own" : "other");
const titled = (title, ...pictures) =>
  element("figure", { class: "votes" }, element("p", { class: "heading" }, title), ...pictures);

/** The scene's picture. */
function makeScene() {
  const field = svg("g", {});
  const disc = svg("circle", { class: "disc", r: HALF - 1 });
  const picture = svg("svg", { ...VIEW, "data-role": "scene" }, disc, field);
  function show(/** @type {Part[]} */ parts, degrees) {
    const shapes = parts.map(([angle, x, y, type], i) => {
      const transform = `translate(${x * UNIT} ${-y * UNIT}) rotate(${(-angle * 180) / Math.PI})`;
      return svg("path", { class: owner(i), d: SHAPES[type], transform });
    });
    field.replaceChildren(...shapes);
    const besides = parts.length > OWN ? t` and ${parts.length - OWN} others` : "";
    const label = t`Five parts of a whole${besides}, turned by ${degrees} degrees`;
    picture.setAttribute("aria-label", label);
  }
  return { picture, show };
}

/** The ten lengths as upright bars. */
function makeLengths() {
  const bars = Array.from({ length: WHOLES }, () => makeBar("height"));
  const columns = bars.map(({ rail }, j) => element("span", {}, rail, String(j)));
  const node = element("div", { class: "upright", role: "img" }, ...columns);
  function show(/** @type {Reading} */ { lengths, answer }) {
    columns.forEach((column, j) => {
      bars[j].show(lengths[j]);
      column.classList.toggle("right", j === WHOLE);
      column.classList.toggle("wrong", j === answer && j !== WHOLE);
    });
    const numbers = lengths.map((x) => x.toFixed(2)).join(", ");
    node.setAttribute("aria-label", t`Lengths of the ten capsules: ${numbers}`);
  }
  return { node, show };
}

/** Lines from the middle of some dots to each: a figure that keeps its form, or does not. */
function starOf(/** @type {Element[]} */ marks) {
  const points = marks.map((mark) => ["cx", "cy"].map((name) => Number(mark.getAttribute(name))));
  const middle = [0, 1].map((d) =>
    points.reduce((sum, point) => sum + point[d] / points.length, 0),
  );
  return points.map((point) => `M${middle}L${point}`).join("");
}

/** One network: its votes for the whole that is there, and the ten lengths. @param {Kind} kind */
function makePanel(kind) {
  const dots = svg("g", {});
  const star = svg("path", { class: "star" });
  const axis = svg("path", { class: "axis", d: `M${-HALF} 0H${HALF}M0 ${-HALF}V${HALF}` });
  const label =
    kind === "matrices" ? t`Votes of matrices for the whole` : t`Votes of vectors for the whole`;
  const about = { ...VIEW, "data-role": kind, "aria-label": label };
  const picture = svg("svg", about, axis, star, dots);
  const lengths = makeLengths();
  const spread = element("p", { class: "spread" });

  /** A vote's dot: the larger its coupling, the larger. @param {Reading} reading */
  function dotOf({ u_hat, c, D }, i) {
    const [x, y] = SHOWN[kind].map((d) => u_hat[(i * WHOLES + WHOLE) * D + d] * UNIT_OF_VOTES);
    const r = 3 + 5 * Math.sqrt(c[i * WHOLES + WHOLE]);
    return svg("circle", { class: owner(i), cx: x, cy: -y, r });
  }

  function show(/** @type {Reading} */ reading) {
    const count = reading.c.length / WHOLES;
    const marks = Array.from({ length: count }, (_, i) => dotOf(reading, i));
    setAttributes(star, { d: starOf(marks.slice(0, OWN)) });
    dots.replaceChildren(...marks.reverse()); // the whole's own parts on top
    lengths.show(reading);
    const distance = t`The five votes lie ${reading.spread} of their length from their middle.`;
    spread.textContent = distance;
  }
  return { panel: titled(KINDS[kind], picture, spread, lengths.node), show };
}

// -------------------------------------------------------------------------------- the widget

const LABEL = t`Turn a scene of parts and watch their votes`;

export default defineWidget("TurnScene", LABEL, ({ root, get, set, layOut }) => {
  const whole = get("scene");
  const weights = get("weights");
  const scene = makeScene();
  const panels = { matrices: makePanel("matrices"), vectors: makePanel("vectors") };
  const makeSlider = (trait, name, limits) => {
    const oninput = ({ target }) => set({ [trait]: target.valueAsNumber });
    return namedSlider(name, { ...limits, "data-role": trait, oninput });
  };
  const turn = makeSlider("angle", t`Turn the scene`, { min: -180, max: 180 });
  const clutter = makeSlider("clutter", t`Parts of no whole`, { max: 12 });
  const stage = element("div", { class: "turn-scene" }, titled(t`The scene`, scene.picture));
  stage.append(panels.matrices.panel, panels.vectors.panel);
  const { say } = layOut({ stage, hands: [turn.node, clutter.node] });

  /** Reads the parts with one network and shows its votes. @param {Kind} kind */
  function readAndShow(kind, parts) {
    const reading = read(kind, weights[kind], parts, ROUNDS);
    reading.spread = percent(spreadOf(reading, WHOLE));
    panels[kind].show(reading);
    return reading;
  }

  return () => {
    const angle = get("angle");
    const others = get("clutter");
    const parts = turned(whole.slice(0, OWN + others), angle);
    const matrices = readAndShow("matrices", parts);
    const vectors = readAndShow("vectors", parts);
    scene.show(parts, angle);
    turn.show(angle, `${angle}°`);
    clutter.show(others, String(others));
    root.dataset.lengths = vectors.lengths.map((x) => x.toFixed(3)).join(",");
    say(remarkOn(matrices, vectors, angle));
  };
});
