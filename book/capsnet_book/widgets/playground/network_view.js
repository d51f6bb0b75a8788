// The network at work on one digit, from left to right: what it was given, its filters, an arrow for each primary
// capsule, every vote as thick as its coupling, ten lengths, and the picture that it draws of its answer.
import { makePen } from "../glass/pen.js";
import { paintVotes } from "../glass/votes.js";
import { makeBars } from "../shared/bars.js";
import { fitCanvas, measure } from "../shared/controls.js";
import { thumbnail } from "../shared/digits.js";
import { element, figure, memoized, write } from "../shared/ui.js";
import { D_IN, J, KERNEL, PLACES } from "./sizes.js";

/**
 * @typedef {{
 *   image: Float32Array, label?: number, types: number, filters: Float32Array, u: Float32Array, c: Float32Array,
 *   lengths: Float32Array, drawing: Float32Array, answer?: number
 * }} Passage  filters [81, C], u [I, D_IN], c [I, J]; noise, or 0, before anything was computed
 * @typedef {any} Pen  glass/pen.js
 * @typedef {{ width: number, height: number }} Size
 */

/** Sixteen of the filters. @param {Pen} pen @param {Size} size @param {Passage} passage */
function paintFilters(pen, { width, height }, { filters }) {
  const side = Math.min(width, height) / 4;
  const C = filters.length / KERNEL ** 2;
  for (let f = 0; f < 16; f++) {
    const weights = Float32Array.from(
      { length: KERNEL ** 2 },
      (_, k) => filters[k * C + Math.floor((f * C) / 16)],
    );
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
    const k = rankOf(i, types);
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

/** Where capsule i is shown: those of a type lie together. */
const rankOf = (i, types) => (i % types) * PLACES + Math.floor(i / types);

/** Every vote, a line from below to above. @param {Pen} pen @param {Size} size @param {Passage} passage */
function paintShares(pen, { width, height }, { c, answer, types }) {
  const ends = (/** @type {number} */ k) => [
    [0, ((rankOf(Math.floor(k / J), types) + 0.5) / (types * PLACES)) * height],
    [width, (((k % J) + 0.5) / J) * height],
  ];
  paintVotes(pen, { c, J, answer, ends, bend: width / 2 });
}

/** A canvas that is painted as large as it is shown. @param {(pen: Pen, size: Size) => void} paint */
function makeCanvas(widget, paint) {
  const node = element("canvas", { "aria-hidden": "true" });
  const size = measure(node, draw);
  widget.stops.push(size.stop);
  function draw() {
    if (!size.width || !size.height) return;
    const { brush, ratio } = fitCanvas(node, size);
    brush.setTransform(ratio, 0, 0, ratio, 0, 0);
    brush.clearRect(0, 0, size.width, size.height);
    paint(makePen(brush, widget.colours), size);
    brush.globalAlpha = 1;
  }
  return { node, draw };
}

/** The picture of a network: what it does with the digit that is watched. @param {any} widget @param {any} session */
export function makeNetworkView(widget, session) {
  /** @type {Passage | undefined} */
  let passage;
  const [digit, drawing] = [thumbnail(), thumbnail()];
  const [filters, capsules, votes] = [paintFilters, paintArrows, paintShares].map((paint) =>
    makeCanvas(widget, (pen, size) => passage && paint(pen, size, passage)),
  );
  const bars = makeBars("How long the ten capsules are");
  /** @type {[string, Element, (types: number) => string, string][]}  in order: class, picture, title, what it is */
  const parts = [
    ["digit", digit, () => "this digit", "choose another below"],
    [
      "filters",
      filters.node,
      (types) => `16 of ${8 * types} filters`,
      "noise that turns into strokes",
    ],
    ["capsules", capsules.node, (types) => `${PLACES * types} capsules`, "an arrow each"],
    [
      "votes",
      votes.node,
      (types) => `${PLACES * types * J} votes`,
      "thick: a large share of a capsule",
    ],
    ["lengths", bars.list, () => "10 lengths", "the longest is its answer"],
    ["drawing", drawing, () => "its drawing", "of the answer’s 16 numbers"],
  ];
  const headings = parts.map(() => element("strong"));
  const figures = parts.map(([name, picture, , about], n) => {
    const caption = element("figcaption", {}, headings[n], element("span", {}, about));
    return figure(`part part-${name}`, picture, caption);
  });
  const node = element("div", { class: "passage", role: "img" }, ...figures);

  function showFirst({ types, watched }) {
    const { image, label, answer } = watched;
    const words = `The network reads a ${label} and answers ${answer}`;
    node.setAttribute(
      "aria-label",
      label === undefined ? "A network that has learned nothing" : words,
    );
    parts.forEach(([, , title], n) => write(headings[n], title(types)));
    widget.painter.paint(digit, image);
    filters.draw();
    capsules.draw();
  }
  function showRest({ watched: { label, answer, lengths, drawing: drawn } }) {
    votes.draw();
    bars.list.classList.toggle("mistaken", answer !== label);
    bars.show(lengths, answer);
    drawing.hidden = drawn.length === 0;
    if (drawn.length) widget.painter.paint(drawing, drawn);
  }
  const made = [showFirst, showRest].map(memoized).map((renew) => ({
    show(/** @type {any[]} */ frames) {
      const frame = frames[session.watched.network] ?? frames[0];
      passage = { types: frame.types, filters: frame.filters, ...frame.watched }; // whichever has its turn first
      renew([frame, widget.colours], frame);
    },
  }));
  return { node, parts: made };
}
