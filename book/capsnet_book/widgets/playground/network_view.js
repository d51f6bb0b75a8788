// The network at work on one digit, from left to right: what it was given, its filters, an arrow for each primary
// capsule, every vote as thick as its coupling, ten lengths, and the picture that it draws of its answer.
import { makePen } from "../glass/pen.js";
import { fitCanvas, measure } from "../shared/controls.js";
import { thumbnail } from "../shared/digits.js";
import { element, format } from "../shared/ui.js";
import { write } from "./panel.js";
import { D_IN, J, KERNEL, PLACES } from "./sizes.js";

const FULL = 0.4; // a coupling of this much, or more, has the full colour
const LEVELS = 12; // of colour

/**
 * @typedef {{
 *   image: Float32Array, label?: number, types: number, filters: Float32Array, u: Float32Array, c: Float32Array,
 *   lengths: Float32Array, drawing?: Float32Array, answer?: number
 * }} Passage  filters [81, C], u [I, D_IN], c [I, J]; noise, or 0, before anything was computed
 * @typedef {any} Pen  glass/pen.js
 * @typedef {{ width: number, height: number }} Size
 */

/** A digit in the middle, in a frame. @param {Pen} pen @param {Size} size @param {Passage} passage */
function paintDigit(pen, { width, height }, { image }, painter) {
  const side = Math.min(width, height) - 2;
  const box = { x: 1, y: (height - side) / 2, w: side, h: side };
  const small = thumbnail();
  painter.paint(small, image);
  pen.place(box, small, true);
  pen.frame("line", box);
}

/** @param {Pen} pen @param {Size} size @param {Passage} passage */
const paintDrawing = (pen, size, { drawing, ...rest }, painter) =>
  drawing && paintDigit(pen, size, { ...rest, image: drawing }, painter);

/** Sixteen of the filters. @param {Pen} pen @param {Size} size @param {Passage} passage */
function paintFilters(pen, { width, height }, { filters }) {
  const side = Math.min(width, height) / 4;
  const C = filters.length / KERNEL ** 2;
  for (let f = 0; f < 16; f++) {
    const weights = Float32Array.from({ length: KERNEL ** 2 }, (_, k) => filters[k * C + Math.floor((f * C) / 16)]);
    const most = Math.max(0.12, ...weights.map(Math.abs)); // so that noise begins pale
    const [x, y] = [(f % 4) * side, (height - 4 * side) / 2 + Math.floor(f / 4) * side];
    pen.matrix({ x, y, w: side - 4, h: side - 4 }, weights, KERNEL, undefined, most);
  }
}

/** An arrow for a capsule: its length is the capsule's, its first two numbers are the direction. @param {Pen} pen */
function paintArrows(pen, { width, height }, { u, types }) {
  const columns = types >= 8 ? types / 2 : types;
  const [across, down] = [width / columns, (height * columns) / (types * PLACES)];
  for (let i = 0; i < types * PLACES; i++) {
    const k = (i % types) * PLACES + Math.floor(i / types);
    const [x, y] = [((k % columns) + 0.5) * across, (Math.floor(k / columns) + 0.5) * down];
    const capsule = u.subarray(i * D_IN, (i + 1) * D_IN);
    const length = Math.hypot(...capsule);
    const turn = Math.atan2(capsule[1], capsule[0]);
    const reach = Math.max(1, Math.min(across, down) * 0.46 * length);
    const [dx, dy] = [reach * Math.cos(turn), reach * Math.sin(turn)];
    pen.brush.globalAlpha = 0.35 + 0.65 * Math.min(1, 2 * length ** 2);
    pen.line("accent", 1.6, x - dx, y - dy, x + dx, y + dy);
    pen.fill("accent", x + dx - 1.8, y + dy - 1.8, 3.6, 3.6);
  }
}

/** Every vote, a line from below to above. @param {Pen} pen @param {Size} size @param {Passage} passage */
function paintVotes({ brush, line }, { width, height }, { c, lengths, types }) {
  const longest = Math.max(...lengths);
  const bundles = new Map(); // votes of one colour and about one share: one stroke for all, since each costs time
  c.forEach((coupling, k) => {
    const [i, j] = [Math.floor(k / J), k % J];
    const level = Math.round(LEVELS * Math.min(1, coupling / FULL) ** 2);
    const look = longest > 0 && lengths[j] === longest ? `accent ${level}` : `muted ${level}`;
    if (!bundles.has(look)) bundles.set(look, new Path2D());
    const from = (((i % types) * PLACES + Math.floor(i / types) + 0.5) / (types * PLACES)) * height;
    const to = ((j + 0.5) / J) * height;
    const votes = bundles.get(look);
    votes.moveTo(0, from);
    votes.bezierCurveTo(width / 2, from, width / 2, to, width, to);
  });
  for (const [look, votes] of bundles) {
    const [role, level] = look.split(" ");
    const share = level / LEVELS;
    brush.globalAlpha = 0.03 + 0.9 * share;
    line(role, 0.4 + 2 * share);
    brush.stroke(votes);
  }
}

/** @param {Pen} pen @param {Size} size @param {Passage} passage */
function paintLengths(pen, { width, height }, { lengths, label }) {
  const longest = Math.max(...lengths);
  const [row, left, rail] = [height / J, 18, width - 58];
  pen.brush.textBaseline = "middle";
  lengths.forEach((length, j) => {
    const best = length === longest && length > 0;
    const [role, look] = best ? ["ink", { weight: 700 }] : ["muted", {}];
    const colour = label === undefined || label === j ? "accent" : "contrast";
    pen.fill("raised", left, (j + 0.24) * row, rail, row * 0.52);
    pen.fill(best ? colour : "muted", left, (j + 0.24) * row, rail * Math.min(1, length), row * 0.52);
    pen.words(role, String(j), 2, (j + 0.52) * row, look);
    pen.words(role, format(length), left + rail + 6, (j + 0.52) * row, look);
  });
}

/** From left to right: what is said of each part, and how it is painted. */
const PARTS = {
  digit: { title: () => "this digit", about: "choose another below", paint: paintDigit },
  filters: {
    title: (types) => `16 of ${8 * types} filters`,
    about: "noise that turns into strokes",
    paint: paintFilters,
  },
  capsules: { title: (types) => `${PLACES * types} capsules`, about: "an arrow each", paint: paintArrows },
  votes: {
    title: (types) => `${PLACES * types * J} votes`,
    about: "thick: a large share of a capsule",
    paint: paintVotes,
  },
  lengths: { title: () => "10 lengths", about: "the longest is its answer", paint: paintLengths },
  drawing: { title: () => "its drawing", about: "of the answer’s 16 numbers", paint: paintDrawing },
};

/** The picture of a network: what it does with the digit that is watched. @param {any} widget @param {any} session */
export function makeNetworkView(widget, session) {
  /** @type {Passage | undefined} */
  let passage;
  const parts = Object.entries(PARTS).map(([name, { title, about, paint }]) => {
    const canvas = element("canvas", { "aria-hidden": "true" });
    const heading = element("strong");
    const caption = element("figcaption", {}, heading, element("span", {}, about));
    const figure = element("figure", { class: `part part-${name}` }, canvas, caption);
    const size = measure(canvas, () => passage && draw());
    function draw() {
      write(heading, title(passage.types));
      if (!size.width || !size.height) return;
      const { brush, ratio } = fitCanvas(canvas, size);
      brush.setTransform(ratio, 0, 0, ratio, 0, 0);
      brush.clearRect(0, 0, size.width, size.height);
      paint(makePen(brush, widget.colours), size, passage, widget.painter);
      brush.globalAlpha = 1;
    }
    return { figure, draw, stop: size.stop };
  });
  const node = element("div", { class: "passage", role: "img" }, ...parts.map(({ figure }) => figure));
  return {
    node,
    show(/** @type {any[]} */ frames) {
      const { types, filters, watched } = frames[session.watched.network] ?? frames[0];
      passage = { types, filters, ...watched };
      const words = `The network reads a ${watched.label} and answers ${watched.answer}`;
      node.setAttribute("aria-label", watched.label === undefined ? "A network that has learned nothing" : words);
      for (const { draw } of parts) draw();
    },
    stop: () => parts.forEach(({ stop }) => stop()),
  };
}
