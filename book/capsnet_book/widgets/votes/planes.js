// The planes of the wholes: each part's vote as an arrow with a handle, and what the whole makes of
// them.
import { arrowKeys, drag, makeArrow } from "../shared/controls.js";
import { t } from "../shared/t.js";
import { format, setAttributes, svg, write } from "../shared/ui.js";
import { classOf, dimmed, labelOf, lengthInWords, shareList } from "./words.js";

/** @import { Layout } from "./layout.js" */
/** @import { Vector } from "./routing.js" */
/** @import { View } from "./words.js" */

const STEP = 0.1; // of an arrow key, in the votes' own units; with Shift five times that
const NEAR = 26; // pixels: a press this close to a handle takes it
const SPREADS = 2; // standard deviations that the ellipse shows

/** One vote: an arrow, and a handle with the part's name. */
function makeVote(/** @type {number} */ i, /** @type {number} */ j) {
  const shaft = svg("line", { class: "vote-shaft" });
  const head = svg(
    "g",
    { class: "vote-head", tabindex: 0, role: "slider", "data-vote": `${i}-${j}` },
    svg("circle", { class: "touch", r: 22 }),
    svg("circle", { class: "knob" }),
    svg("text", { class: "vote-name", dy: "0.34em" }),
  );
  const [, knob, name] = /** @type {SVGElement[]} */ ([...head.children]);
  return { shaft, head, knob, name };
}

/** What screen readers say of a vote. @param {SVGGElement} head */
function nameVote(head, /** @type {View} */ view, i, j) {
  const at = view.votes[i][j].map((number) => format(number));
  setAttributes(head, {
    "aria-label": t`${labelOf(view, i)}, its vote for ${view.wholes[j]}. Arrow keys move it.`,
    "aria-valuenow": view.votes[i][j][0].toFixed(2),
    "aria-valuetext": t`at ${at[0]}, ${at[1]}: ${shareList(view, i)}`,
  });
}

/** Draws one vote. @param {ReturnType<typeof makeVote>} marks */
function drawVote(marks, /** @type {Layout} */ layout, /** @type {View} */ view, i, j) {
  const share = view.c[i][j];
  const seen = dimmed(view, i) ? 0.25 : 1;
  const [x0, y0] = layout.at(j, [0, 0]);
  const [x, y] = layout.at(j, view.votes[i][j]);
  const length = view.rule === "nearness" ? 0.3 : 1; // arrows matter less where only places count
  setAttributes(marks.shaft, {
    x1: x0.toFixed(1),
    y1: y0.toFixed(1),
    x2: x.toFixed(1),
    y2: y.toFixed(1),
    "stroke-width": (1 + 6 * Math.min(share, 1)).toFixed(2),
    opacity: ((0.2 + 0.6 * Math.min(share, 1)) * seen * length).toFixed(3),
  });
  const least = layout.narrow ? 6.5 : 7;
  setAttributes(marks.head, {
    transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
    opacity: seen,
  });
  if (view.time === view.round) nameVote(marks.head, view, i, j); // not while time goes on
  const filled = Math.round(100 * Math.min(share, 1) ** 0.8);
  setAttributes(marks.knob, {
    r: (least + 3.5 * Math.min(share, 1)).toFixed(1),
    style: `fill: color-mix(in srgb, var(--own) ${filled}%, var(--caps-raised))`,
  });
  marks.name.classList.toggle("on-fill", filled > 55);
  write(marks.name, view.parts[i]);
}

/** What a whole has beside its votes: ground, name, unit circle, path and arrow of v, spread. */
function makeWhole(/** @type {number} */ j, /** @type {string} */ clip) {
  const kind = classOf(j);
  const capsule = makeArrow("capsule");
  const ground = svg("rect", { class: "ground", rx: 10 });
  const disc = svg("circle", { class: "disc" });
  const spread = svg("ellipse", { class: `spread ${kind}` });
  const path = svg("polyline", { class: "path-of-v" });
  const name = svg("text", { class: `whole-name ${kind}` });
  const length = svg("text", { class: "whole-length" });
  const frame = svg("rect", { rx: 10 });
  const inside = { "clip-path": `url(#${clip})` };
  const below = svg(
    "g",
    {},
    svg("clipPath", { id: clip }, frame),
    ground,
    svg("g", inside, disc, spread),
  );
  const above = svg("g", { class: "above" }, path, capsule.node, name, length);
  return { below, above, ground, frame, disc, spread, path, capsule, name, length };
}

/** Draws a whole. @param {ReturnType<typeof makeWhole>} marks */
function drawWhole(marks, /** @type {Layout} */ layout, /** @type {View} */ view, j) {
  const { x, y, width, height } = layout.planes[j];
  for (const box of [marks.ground, marks.frame]) setAttributes(box, { x, y, width, height });
  const [cx, cy] = layout.at(j, [0, 0]);
  setAttributes(marks.disc, { cx, cy, r: layout.unit });
  const tip = layout.at(j, view.v[j]);
  marks.capsule.point([cx, cy], tip, { size: layout.narrow ? 11 : 14 });
  const points = view.rounds.map(({ v }) => layout.at(j, v[j]).map((place) => place.toFixed(1)));
  marks.path.setAttribute("points", points.join(" "));
  setAttributes(marks.spread, {
    cx: tip[0],
    cy: tip[1],
    rx: SPREADS * layout.unit * view.spread[j][0],
    ry: SPREADS * layout.unit * view.spread[j][1],
    opacity: view.rule === "nearness" ? 1 : 0,
  });
  setAttributes(marks.name, { x: x + 12, y: y + 22 });
  write(marks.name, view.wholes[j]);
  const below = { x: x + 12, y: y + 39, "text-anchor": "start" }; // on a phone: of its name
  const beside = { x: x + width - 12, y: y + 22, "text-anchor": "end" };
  setAttributes(marks.length, layout.narrow ? below : beside);
  write(marks.length, lengthInWords(view, j));
}

let planesMade = 0; // so that two pictures of a page share no id

/**
 * The planes of J wholes with the votes of I parts.
 * @param {number} I @param {number} J
 * @param {{ svg: SVGSVGElement, layout: () => Layout, votes: () => Vector[][],
 *   pull: (i: number, j: number, to: Vector) => void,
 *   look: (focus: { part: number, whole?: number } | null) => void }} _
 */
export function makePlanes(I, J, { svg: picture, layout, votes, pull, look }) {
  planesMade++;
  const wholes = Array.from({ length: J }, (_, j) => makeWhole(j, `plane-${planesMade}-${j}`));
  const marks = Array.from({ length: I }, (_, i) =>
    Array.from({ length: J }, (_whole, j) => makeVote(i, j)),
  );
  const groups = wholes.map((_, j) => {
    const kind = classOf(j);
    const heads = marks.map((row) => row[j].head);
    const group = svg("g", { class: `heads ${kind}` }, ...heads);
    const shafts = svg("g", { class: `shafts ${kind}` }, ...marks.map((row) => row[j].shaft));
    followHand(group, heads, j, { picture, layout, votes, pull, look });
    return { group, shafts };
  });
  const node = svg(
    "g",
    { class: "planes" },
    ...wholes.map(({ below }) => below),
    ...groups.map(({ shafts }) => shafts),
    ...wholes.map(({ above }) => above),
    ...groups.map(({ group }) => group),
  );
  function draw(/** @type {Layout} */ shape, /** @type {View} */ view) {
    for (const [j, whole] of wholes.entries()) drawWhole(whole, shape, view, j);
    for (const [i, row] of marks.entries()) {
      for (const [j, vote] of row.entries()) drawVote(vote, shape, view, i, j);
    }
  }
  return { node, draw };
}

/**
 * Lets a hand pull the votes for one whole: a press takes the nearest handle.
 * @param {SVGGElement} group @param {SVGGElement[]} heads  of all parts @param {number} j
 */
function followHand(group, heads, j, { picture, layout, votes, pull, look }) {
  let pulled = 0; // the part whose vote is pulled
  const placeOf = ({ x, y }) => [x * layout().width, y * layout().height];
  const distance = (/** @type {number} */ i, /** @type {Vector} */ [x, y]) => {
    const [left, top] = layout().at(j, votes()[i][j]);
    return Math.hypot(left - x, top - y);
  };
  let offset = [0, 0];
  drag(group, {
    area: picture,
    focus: /** @type {any} */ ({ focus: (options) => heads[pulled].focus(options) }),
    start(at) {
      const place = placeOf(at);
      const distances = heads.map((_, i) => distance(i, place));
      pulled = distances.indexOf(Math.min(...distances));
      const [left, top] = layout().at(j, votes()[pulled][j]);
      const isNear = distances[pulled] < NEAR;
      offset = isNear ? [left - place[0], top - place[1]] : [0, 0];
    },
    move(at) {
      const [x, y] = placeOf(at);
      pull(pulled, j, layout().pointAt(j, [x + offset[0], y + offset[1]]));
    },
  });
  heads.forEach((head, i) => {
    arrowKeys(head, (dx, dy, { shiftKey }) => {
      const step = shiftKey ? 5 * STEP : STEP;
      const [x, y] = votes()[i][j];
      const place = layout().at(j, [x + dx * step, y - dy * step]);
      pull(i, j, layout().pointAt(j, place));
    });
    head.addEventListener("focus", () => look({ part: i, whole: j }));
    head.addEventListener("blur", () => look(null));
    head.addEventListener("pointerenter", () => look({ part: i, whole: j }));
    head.addEventListener("pointerleave", () => head.matches(":focus") || look(null));
  });
}
