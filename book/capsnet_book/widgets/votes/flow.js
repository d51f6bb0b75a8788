// The parts, each with a bar of its shares, and the ribbons that carry the shares to the wholes.
import { percent, setAttributes, svg, write } from "../shared/ui.js";
import { classOf, dimmed, largestAt, sum } from "./words.js";

/** @import { Layout } from "./layout.js" */
/** @import { View } from "./words.js" */

const FULLEST = 1.25; // parts that fit between two parts, where shares add up to more than one

/** A ribbon from a stretch of a part's bar to a stretch of a plane's edge. */
function ribbonPath(/** @type {Layout} */ { place }, bar, from, end, to) {
  const [a0, a1] = bar;
  const [t0, t1] = end;
  const half = (from + to) / 2;
  const p = (/** @type {number} */ a, /** @type {number} */ d) =>
    place(a, d)
      .map((number) => number.toFixed(1))
      .join(" ");
  const there = `M${p(a0, from)}C${p(a0, half)} ${p(t0, half)} ${p(t0, to)}`;
  return `${there}L${p(t1, to)}C${p(t1, half)} ${p(a1, half)} ${p(a1, from)}Z`;
}

/** A box that lies along the row of parts. */
function boxAlong(/** @type {Layout} */ { place }, stretch, depth, thick) {
  const [a0, a1] = stretch;
  const [x, y] = place(a0, depth);
  const [right, bottom] = place(a1, depth + thick);
  return { x, y, width: Math.max(0, right - x), height: Math.max(0, bottom - y) };
}

/** The marks of one part. */
function makePart(/** @type {number} */ J) {
  const wholes = Array.from({ length: J }, (_, j) => classOf(j));
  return {
    ribbons: wholes.map((kind) => svg("path", { class: `ribbon ${kind}` })),
    bars: wholes.map((kind) => svg("rect", { class: `share ${kind}` })),
    frame: svg("rect", { class: "whole-part", rx: 2 }),
    name: svg("text", { class: "part-name" }),
    most: svg("text", { class: "most" }),
    hit: svg("rect", { class: "hit" }),
  };
}

/**
 * The parts and their ribbons.
 * @param {number} I @param {number} J
 * @param {(focus: { part: number } | null) => void} look  called when the pointer is at a part
 */
export function makeFlow(I, J, look) {
  const parts = Array.from({ length: I }, () => makePart(J));
  parts.forEach(({ hit }, i) => {
    hit.addEventListener("pointerenter", () => look({ part: i }));
    hit.addEventListener("pointerleave", () => look(null));
  });
  /** The marks of one kind, of all parts: what comes later lies above. @returns {SVGElement[]} */
  const all = (/** @type {keyof ReturnType<typeof makePart>} */ kind) =>
    parts.flatMap((part) => /** @type {any} */ (part[kind]));
  const node = svg(
    "g",
    { class: "flow" },
    ...all("ribbons"),
    ...all("bars"),
    ...all("frame"),
    ...all("name"),
    ...all("most"),
    ...all("hit"),
  );

  function draw(/** @type {Layout} */ layout, /** @type {View} */ view) {
    const totals = view.wholes.map((_, j) => sum(view.c.map((row) => row[j])));
    const fullest = Math.max(...view.c.map(sum));
    const whole = layout.long * Math.min(1, FULLEST / fullest); // a whole part, in pixels
    const [from, to] = layout.edge(0);
    const thickness = Math.min(whole, (to - from) / Math.max(...totals));
    const ends = view.wholes.map((_, j) => {
      const [low, high] = layout.edge(j);
      return (low + high) / 2 - (totals[j] * thickness) / 2;
    });
    for (const [i, part] of parts.entries()) {
      const left = layout.pitch * (i + 0.5) - whole / 2;
      drawShares(part, layout, view, { i, left, whole, thickness, ends });
      drawNames(part, layout, view, { i, left, whole });
    }
  }
  return { node, draw };
}

/** Draws a part's bars and ribbons; `ends` are moved on to where the next part's begin. */
function drawShares(part, layout, view, { i, left, whole, thickness, ends }) {
  const { at, thick } = layout.bar;
  const opacity = dimmed(view, i) ? 0.07 : view.focus ? 0.72 : 0.34;
  let begin = left;
  for (const [j, share] of view.c[i].entries()) {
    const bar = [begin, begin + share * whole];
    const end = [ends[j], ends[j] + share * thickness];
    setAttributes(part.bars[j], {
      ...boxAlong(layout, bar, at, thick),
      opacity: dimmed(view, i) ? 0.3 : 1,
    });
    setAttributes(part.ribbons[j], {
      d: ribbonPath(layout, bar, at, end, layout.depth),
      opacity: share < 0.002 ? 0 : opacity,
    });
    begin = bar[1];
    ends[j] = end[1];
  }
  setAttributes(part.frame, boxAlong(layout, [left, left + whole], at, thick));
}

/** Draws a part's name and its largest share. */
function drawNames(part, layout, view, { i, left, whole }) {
  const { at, thick } = layout.bar;
  const { narrow, pitch, place } = layout;
  const middle = left + whole / 2;
  const [x, y] = place(middle, at + thick + (narrow ? 7 : 15));
  const anchor = narrow ? "start" : "middle";
  setAttributes(part.name, { x, y: narrow ? y + 4 : y, "text-anchor": anchor });
  write(part.name, view.parts[i]);
  const largest = largestAt(view.c[i]);
  part.most.setAttribute("class", `most ${classOf(largest)}`);
  setAttributes(part.most, { x, y: y + 17, "text-anchor": anchor, opacity: narrow ? 0 : 1 });
  write(part.most, percent(view.c[i][largest]));
  const from = layout.depth + 0.4 * (at - layout.depth);
  const stretch = [pitch * i, pitch * (i + 1)];
  setAttributes(part.hit, boxAlong(layout, stretch, from, at + thick + 40 - from));
}
