// Every share of every round: a tile for each part and round, divided as the part is. The field is
// the slider of the rounds, too. Below it, how long each whole is in each round.
import { arrowKeys, drag } from "../shared/controls.js";
import { t } from "../shared/t.js";
import { clamp, memoized, setAttributes, svg, write } from "../shared/ui.js";
import { ROUNDS } from "./routing.js";
import { chartTitle, classOf, dimmed, roundInWords } from "./words.js";

/** @import { Layout } from "./layout.js" */
/** @import { View } from "./words.js" */

const TITLE = t`Every share, round by round`;
const HINT = t`a column is a round: choose one`;
const LABEL_GAP = 15; // pixels between the names of two lines

/** The tiles of one part: for each round a rectangle for each whole. */
const makeTiles = (/** @type {number} */ J) =>
  Array.from({ length: ROUNDS }, () =>
    Array.from({ length: J }, (_, j) => svg("rect", { class: `tile ${classOf(j)}` })),
  );

/**
 * The field of shares.
 * @param {number} I @param {number} J
 * @param {{ svg: SVGSVGElement, layout: () => Layout, round: () => number,
 *   choose: (round: number) => void }} _
 */
export function makeField(I, J, { svg: picture, layout, round, choose }) {
  const rows = Array.from({ length: I }, () => makeTiles(J));
  const title = svg("text", { class: "side-title" }, TITLE);
  const hint = svg("text", { class: "side-hint" }, HINT);
  const frame = svg("rect", { class: "chosen", rx: 4 });
  const ground = svg("rect", { class: "field-ground", rx: 4 });
  const names = rows.map(() => svg("text", { class: "tick" }));
  const numbers = [1, 3, ROUNDS].map((r) => ({ r, text: svg("text", { class: "tick" }) }));
  const groups = rows.map((row) => svg("g", {}, ...row.flat()));
  const hit = svg("rect", { class: "hit" });
  const slider = svg(
    "g",
    {
      class: "field",
      tabindex: 0,
      role: "slider",
      "data-role": "round",
      "aria-label": t`Round of routing`,
      "aria-valuemin": 1,
      "aria-valuemax": ROUNDS,
    },
    ground,
    ...groups,
    frame,
    hit,
  );
  const columnAt = ({ x }) => {
    const { field, width } = layout();
    const place = (x * width - field.x) / field.width;
    return clamp(Math.ceil(place * ROUNDS), 1, ROUNDS);
  };
  const go = (at) => choose(columnAt(at));
  drag(slider, { area: picture, focus: slider, start: go, move: go });
  arrowKeys(slider, (dx, dy) => choose(clamp(round() + (dx || -dy), 1, ROUNDS)), {
    Home: () => choose(1),
    End: () => choose(ROUNDS),
  });
  const node = svg("g", {}, title, hint, slider, ...names, ...numbers.map(({ text }) => text));

  const drawShares = memoized(drawTiles); // they stay while time goes on

  function draw(/** @type {Layout} */ shape, /** @type {View} */ view) {
    const { x, y, width, height } = shape.field;
    const wide = width / ROUNDS;
    const left = x - 18;
    setAttributes(title, { x: left, y: y - 28 });
    setAttributes(hint, { x: left, y: y - 10 });
    for (const [i, name] of names.entries()) {
      setAttributes(name, { x: x - 10, y: y + ((i + 0.5) * height) / I + 4 });
      write(name, view.parts[i]);
    }
    for (const box of [ground, hit]) setAttributes(box, { x, y, width, height });
    setAttributes(frame, {
      x: x + (view.time - 1) * wide,
      y: y - 2,
      width: wide,
      height: height + 4,
    });
    const size = { x, y, wide, high: height / I };
    drawShares([view.rounds, shape, view.focus], rows, groups, size, view);
    for (const { r, text } of numbers) {
      setAttributes(text, { x: x + (r - 0.5) * wide, y: y + height + 18 });
      write(text, String(r));
      text.classList.toggle("now", r === view.round);
    }
    setAttributes(slider, { "aria-valuenow": view.round, "aria-valuetext": roundInWords(view) });
  }
  return { node, draw };
}

/** Draws the tiles; `size`: the field's corner, and a tile's width and height. */
function drawTiles(rows, groups, { x, y, wide, high }, /** @type {View} */ view) {
  for (const [i, row] of rows.entries()) {
    groups[i].setAttribute("opacity", dimmed(view, i) ? 0.3 : 1);
    for (const [r, tiles] of row.entries()) {
      let from = 0; // what the wholes before have of this part
      for (const [j, tile] of tiles.entries()) {
        const to = Math.min(1, from + view.rounds[r].c[i][j]);
        setAttributes(tile, {
          x: (x + r * wide + 1 + from * (wide - 2)).toFixed(1),
          y: (y + i * high + 1).toFixed(1),
          width: ((to - from) * (wide - 2)).toFixed(1),
          height: (high - 2).toFixed(1),
        });
        from = to;
      }
    }
  }
}

/** The lengths of the wholes, a line for each, named at its end. @param {number} J */
export function makeLengths(J) {
  const title = svg("text", { class: "side-title" });
  const axis = svg("path", { class: "axis" });
  const top = svg("text", { class: "tick" }, "1");
  const lines = Array.from({ length: J }, (_, j) => ({
    line: svg("polyline", { class: `line ${classOf(j)}` }),
    dot: svg("circle", { class: `dot ${classOf(j)}`, r: 5 }),
    name: svg("text", { class: `line-name ${classOf(j)}` }),
  }));
  const marks = lines.flatMap(({ line, dot, name }) => [line, dot, name]);
  const node = svg("g", { class: "lengths-by-round" }, title, axis, top, ...marks);

  function draw(/** @type {Layout} */ { chart }, /** @type {View} */ view) {
    const { x, y, width, height } = chart;
    // A round stands under its column of the field.
    const across = (/** @type {number} */ time) => x + ((time - 0.5) * width) / ROUNDS;
    const up = (/** @type {number} */ length) => y + height * (1 - clamp(length, 0, 1));
    write(title, chartTitle(view));
    setAttributes(title, { x: x - 18, y: y - 16 });
    setAttributes(axis, { d: `M${x} ${y}V${y + height}H${x + width}` });
    setAttributes(top, { x: x - 8, y: y + 4 });
    const last = view.rounds.at(-1).lengths;
    const places = apart(last.map(up), y + height);
    for (const [j, { line, dot, name }] of lines.entries()) {
      const points = view.rounds.map(({ lengths }, r) => `${across(r + 1)} ${up(lengths[j])}`);
      line.setAttribute("points", points.join(" "));
      setAttributes(dot, { cx: across(view.time), cy: up(view.lengths[j]) });
      setAttributes(name, { x: x + width + 8, y: places[j] + 4 });
      write(name, view.wholes[j]);
    }
  }
  return { node, draw };
}

/**
 * Moves heights that lie too close to one another apart; none goes below the floor.
 * @param {number[]} heights  y, which grows downwards @param {number} floor
 */
export function apart(heights, floor = Infinity) {
  const order = heights.map((_, j) => j).sort((a, b) => heights[a] - heights[b]);
  const places = [...heights];
  for (let k = 1; k < order.length; k++) {
    const above = places[order[k - 1]];
    places[order[k]] = Math.max(places[order[k]], above + LABEL_GAP);
  }
  let lowest = floor;
  for (const j of order.toReversed()) {
    places[j] = Math.min(places[j], lowest);
    lowest = places[j] - LABEL_GAP;
  }
  return places;
}
