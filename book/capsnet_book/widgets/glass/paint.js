// The picture of the glass network: a canvas for each part, painted again only when what it shows is another.
import { fitCanvas } from "../shared/controls.js";
import { SIDE } from "../shared/digits.js";
import { clamp, element, format, memoized } from "../shared/ui.js";
import { REACH } from "./model.js";
import { makePen } from "./pen.js";
import { paintVotes } from "./votes.js";

const AROUND = 3; // pixels around a part, for what reaches beyond its box

/** @import { Box } from "./pen.js" */
/** @typedef {any} Scene  a session (model.js), plan, colours, painter, the part in focus; cutting: points of a way;
 *   changing: whether there is more to come */

/** A feature map's numbers, [places]. */
export const mapOf = ({ edges }, { O }, c) =>
  edges.subarray((c * edges.length) / O, ((c + 1) * edges.length) / O);

const inside = (/** @type {Box} */ { x, y, w, h }) => ({ x: x + 1, y: y + 1, w: w - 2, h: h - 2 });

function paintMaps(pen, { seen: { edges }, network: { conv }, plan }) {
  const most = edges.reduce((p, q) => Math.max(p, q), 1e-6);
  const squares = Array.from({ length: conv.O }, (_, c) => {
    const { x, y, w, h } = plan.square(c);
    return { x, y, w: w - 1, h: h - 1 };
  });
  pen.matrices(squares, edges, Math.sqrt(edges.length / conv.O), "ink", most);
}

/** The capsules below: the numbers of each side by side. */
function paintPrimary(pen, { seen, network: { D_in }, plan }) {
  for (const { x, y, w, h } of plan.cells) pen.fill("surface", x, y, w, h);
  const cells = plan.cells.map(inside);
  pen.matrices(cells, seen.u, D_in, "signed", 0.7);
  for (const cell of cells) pen.frame("line", cell, 0.5);
}

function paintClasses(pen, { answer, isKept, plan }) {
  const { x, y: top, w } = plan.boxes.classes;
  const [left, rail, thick] = [x + 22, w - 64, Math.min(12, plan.row * 0.5)];
  pen.brush.textBaseline = "middle";
  answer.lengths.forEach((length, j) => {
    const y = top + (j + 0.5) * plan.row;
    const [best, held] = [
      j === answer.prediction && length > 0,
      !isKept({ part: "classes", at: j }),
    ];
    const [role, weight] = best ? ["ink", 700] : ["muted", 400];
    pen.fill("raised", left, y - thick / 2, rail, thick);
    pen.fill(best ? "accent" : "muted", left, y - thick / 2, rail * length, thick);
    if (held) pen.frame("contrast", { x: left, y: y - thick / 2, w: rail, h: thick });
    pen.words(role, String(j), x + 8, y + 1, { weight, size: 14 });
    pen.words(held ? "contrast" : role, held ? "held" : format(length), left + rail + 6, y + 1, {
      weight,
    });
  });
}

/** The digit that the network draws, in a frame. */
function paintDrawing(pen, { drawing, painter, plan }) {
  const small = element("canvas", { width: SIDE, height: SIDE });
  painter.paint(small, drawing);
  pen.place(plan.boxes.reconstruction, small, true);
  pen.frame("line", plan.boxes.reconstruction);
}

/** The sixteen numbers: each a rail, its middle 0. */
function paintFaders(pen, { numbers, answer, network: { D_out }, plan }) {
  const { x, y, w, h } = plan.boxes.faders;
  const own = answer.capsules.subarray(answer.prediction * D_out, (answer.prediction + 1) * D_out);
  const [step, middle] = [w / D_out, y + h / 2];
  pen.fill("raised", x, y, w, h);
  pen.fill("line", x, middle - 0.5, w, 1);
  numbers.forEach((number, d) => {
    const [left, up] = [x + d * step, (clamp(number / REACH, -1, 1) * (h - 12)) / 2];
    const role = number === own[d] ? "accent" : "contrast";
    pen.fill(role, left + step / 2 - 1, middle, 2, -up);
    pen.fill(role, left + step * 0.1, middle - up - 3, step * 0.8, 6);
  });
}

/** The votes that were not cut. */
function paintPredictions(pen, { answer, votes, network: { J }, plan: { ends, bend } }) {
  const counts = (/** @type {number} */ k) => Boolean(votes[k]);
  paintVotes(pen, { c: answer.c.at(-1), J, answer: answer.prediction, ends, bend, counts });
}

/** From the lowest canvas to the highest: what paints a part, and what that depends on. */
const PARTS = {
  maps: { paint: paintMaps, of: ({ seen }) => seen },
  predictions: { paint: paintPredictions, of: ({ answer }) => answer },
  primary: { paint: paintPrimary, of: ({ seen }) => seen },
  classes: { paint: paintClasses, of: ({ answer }) => answer },
  reconstruction: { paint: paintDrawing, of: ({ drawing }) => drawing },
  faders: { paint: paintFaders, of: ({ drawing }) => drawing },
};

/** Where a part's canvas lies, in whole pixels. The votes lie between the capsules and the classes. @returns {Box} */
function placeOf(part, boxes) {
  const { primary, classes } = boxes;
  const between = { ...primary, w: classes.x - primary.x };
  const { x, y, w, h } = part === "predictions" ? between : boxes[part];
  const [left, top] = [Math.floor(x) - AROUND, Math.floor(y) - AROUND];
  return {
    x: left,
    y: top,
    w: Math.ceil(x + w) + AROUND - left,
    h: Math.ceil(y + h) + AROUND - top,
  };
}

/** -> canvases, by part; show: a list, each paints a part of a scene; copy(part, plan, canvas) */
export function makePicture() {
  const layers = Object.entries(PARTS).map(([part, { paint, of }]) => {
    const canvas = element("canvas", {
      class: "picture",
      "data-part": part,
      "aria-hidden": "true",
    });
    const renew = memoized((/** @type {Scene} */ scene, ratio) => {
      const { x, y, w, h } = placeOf(part, scene.plan.boxes);
      Object.assign(canvas.style, {
        left: `${x}px`,
        top: `${y}px`,
        width: `${w}px`,
        height: `${h}px`,
      });
      const { brush, width, height } = fitCanvas(canvas, { width: w, height: h }, ratio);
      brush.setTransform(1, 0, 0, 1, 0, 0);
      brush.clearRect(0, 0, width, height);
      brush.setTransform(ratio, 0, 0, ratio, -x * ratio, -y * ratio);
      paint(makePen(brush, scene.colours), scene);
    });
    const show = (/** @type {Scene} */ scene) => {
      // Votes that change have a pixel for each of CSS: without a GPU, four would take four times as long.
      const ratio = part === "predictions" && scene.changing ? 1 : devicePixelRatio;
      renew([of(scene), scene.plan, scene.colours, ratio], scene, ratio);
    };
    return { part, canvas, show };
  });
  const canvases = Object.fromEntries(layers.map(({ part, canvas }) => [part, canvas]));

  /** A part as large as another canvas: of the capsules the uppermost square, of the classes their bars. */
  function copy(part, { boxes }, /** @type {HTMLCanvasElement} */ small) {
    const { x, y, w, h } = boxes[part];
    const [left, across] = part === "classes" ? [x + 22, w - 64] : [x, w];
    const place = placeOf(part, boxes);
    const ratio = canvases[part].width / place.w;
    const from = [left - place.x, y - place.y, across, part === "primary" ? w : h].map(
      (length) => length * ratio,
    );
    const brush = small.getContext("2d");
    brush.clearRect(0, 0, small.width, small.height);
    brush.imageSmoothingQuality = "high";
    brush.drawImage(
      canvases[part],
      from[0],
      from[1],
      from[2],
      from[3],
      0,
      0,
      small.width,
      small.height,
    );
  }

  return { canvases, show: layers.map(({ show }) => show), copy };
}
