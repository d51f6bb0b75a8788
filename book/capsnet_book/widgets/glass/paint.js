// The picture of the glass network: a canvas for each part, painted again only when what it shows
// has changed.
import { fitCanvas } from "../shared/controls.js";
import { SIDE } from "../shared/digits.js";
import { t } from "../shared/t.js";
import { clamp, element, format, memoized } from "../shared/ui.js";
import { REACH } from "./model.js";
import { makePen, paintCells, smallCanvas } from "./pen.js";
import { paintVotes } from "./votes.js";

const MARGIN = 3; // pixels round a part, for what reaches beyond its box

/** @import { Box } from "./pen.js" */
/** @typedef {any} Scene
 *   a session (model.js), its plan (layout.js), colours, painter, the part in focus; cutting:
 *   points of the line that cuts votes; changing: whether more changes are expected */

// -------------------------------------------------------------------------- what paints a part

/** The numbers of feature map `c`, [places]. */
export function mapOf({ edges }, { O }, /** @type {number} */ c) {
  const places = edges.length / O;
  return edges.subarray(c * places, (c + 1) * places);
}

/** All feature maps, each in its square. */
function paintMaps(pen, { seen: { edges }, network: { conv }, plan }) {
  const most = edges.reduce((p, q) => Math.max(p, q), 1e-6);
  const squares = Array.from({ length: conv.O }, (_, c) => {
    const { x, y, w, h } = plan.square(c);
    return { x, y, w: w - 1, h: h - 1 };
  });
  pen.matrices(squares, edges, Math.sqrt(edges.length / conv.O), "ink", most);
}

/** The capsules below, each as an arrow in its cell. */
function paintPrimary(pen, { seen, network: { D_in }, plan, colours }) {
  paintCells(pen, colours, plan.cells);
  plan.cells.forEach(({ x, y, w, h }, i) => {
    const reach = Math.min(w, h) * 0.46;
    pen.capsule(x + w / 2, y + h / 2, reach, seen.u.subarray(i * D_in, (i + 1) * D_in));
  });
}

/** Where the bars of the classes lie in their box: the left edge and the width. */
const railIn = (/** @type {Box} */ { x, w }) => ({ left: x + 22, width: w - 64 });

/** The lengths of the ten classes as bars. */
function paintClasses(pen, { answer, isKept, plan, network: { names } }) {
  const { x, y: top } = plan.boxes.classes;
  const { left, width } = railIn(plan.boxes.classes);
  const thick = Math.min(12, plan.row * 0.5);
  pen.brush.textBaseline = "middle";
  answer.lengths.forEach((length, j) => {
    const y = top + (j + 0.5) * plan.row;
    const isBest = j === answer.prediction && length > 0;
    const isHeld = !isKept({ part: "classes", at: j });
    const role = isBest ? "ink" : "muted";
    const weight = isBest ? 700 : 400;
    const upper = y - thick / 2;
    pen.fill("raised", left, upper, width, thick);
    pen.fill(isBest ? "accent" : "muted", left, upper, width * length, thick);
    pen.words(role, names[j], x + 8, y + 1, { weight, size: 14 });
    const valueX = left + width + 6;
    if (isHeld) {
      pen.frame("contrast", { x: left, y: upper, w: width, h: thick });
      pen.words("contrast", t`held`, valueX, y + 1, { weight });
    } else {
      pen.words(role, format(length), valueX, y + 1, { weight });
    }
  });
}

/** The digit that the network draws, in a frame. */
function paintDrawing(pen, { drawing, painter, plan }) {
  const small = smallCanvas(SIDE, SIDE);
  painter.paint(small, drawing);
  pen.place(plan.boxes.reconstruction, small, true);
  pen.frame("line", plan.boxes.reconstruction);
}

/** The sixteen numbers: each a rail, its middle 0. */
function paintFaders(pen, { numbers, answer, network: { D_out }, plan }) {
  const { x, y, w, h } = plan.boxes.faders;
  const own = answer.capsules.subarray(answer.prediction * D_out, (answer.prediction + 1) * D_out);
  const step = w / D_out;
  const middle = y + h / 2;
  pen.fill("raised", x, y, w, h);
  pen.fill("line", x, middle - 0.5, w, 1);
  numbers.forEach((number, d) => {
    const left = x + d * step;
    const up = (clamp(number / REACH, -1, 1) * (h - 12)) / 2;
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

/**
 * What paints a part, and the value by which it knows that something has changed; from the lowest
 * canvas to the highest.
 */
const PARTS = {
  maps: { paint: paintMaps, dependency: ({ seen }) => seen },
  predictions: { paint: paintPredictions, dependency: ({ answer }) => answer },
  primary: { paint: paintPrimary, dependency: ({ seen }) => seen },
  classes: { paint: paintClasses, dependency: ({ answer }) => answer },
  reconstruction: { paint: paintDrawing, dependency: ({ drawing }) => drawing },
  faders: { paint: paintFaders, dependency: ({ drawing }) => drawing },
};

// ---------------------------------------------------------------------------- the canvases

/**
 * The box of a part's canvas, in whole pixels. The votes lie between the capsules and the classes.
 * @param {Record<string, Box>} boxes @returns {Box}
 */
function canvasBox(/** @type {string} */ part, boxes) {
  const { primary, classes } = boxes;
  const between = { ...primary, w: classes.x - primary.x };
  const { x, y, w, h } = part === "predictions" ? between : boxes[part];
  const left = Math.floor(x) - MARGIN;
  const top = Math.floor(y) - MARGIN;
  return {
    x: left,
    y: top,
    w: Math.ceil(x + w) + MARGIN - left,
    h: Math.ceil(y + h) + MARGIN - top,
  };
}

/** Lays a node over a box. @param {HTMLElement} node @param {Box} box */
export function lay(node, { x, y, w, h }) {
  node.style.left = `${x}px`;
  node.style.top = `${y}px`;
  node.style.width = `${w}px`;
  node.style.height = `${h}px`;
}

/** The canvas of one part. show(scene) paints it if something has changed. */
function makeLayer(/** @type {string} */ part) {
  const { paint, dependency } = PARTS[part];
  const about = { class: "picture", "data-part": part, "aria-hidden": "true" };
  const canvas = element("canvas", about);
  const layOut = memoized((/** @type {Box} */ box) => lay(canvas, box));
  const renew = memoized((/** @type {Scene} */ scene, ratio) => {
    const box = canvasBox(part, scene.plan.boxes);
    layOut([scene.plan], box);
    const size = { width: box.w, height: box.h };
    const { brush, width, height } = fitCanvas(canvas, size, ratio);
    brush.setTransform(1, 0, 0, 1, 0, 0);
    brush.clearRect(0, 0, width, height);
    brush.setTransform(ratio, 0, 0, ratio, -box.x * ratio, -box.y * ratio);
    paint(makePen(brush, scene.colours), scene);
  });
  const show = (/** @type {Scene} */ scene) => {
    // Votes that change have one pixel for each of CSS: without a GPU, four take four times as
    // long.
    const ratio = part === "predictions" && scene.changing ? 1 : devicePixelRatio;
    renew([dependency(scene), scene.plan, scene.colours, ratio], scene, ratio);
  };
  return { part, canvas, show };
}

/**
 * The picture. canvases: by part; show: a list of functions, each paints a part of a scene;
 * copy(part, plan, canvas) copies a part to another canvas.
 */
export function makePicture() {
  const layers = Object.keys(PARTS).map(makeLayer);
  const canvases = Object.fromEntries(layers.map(({ part, canvas }) => [part, canvas]));

  /**
   * Copies what is typical of a part: of the capsules the uppermost square, of classes the bars.
   */
  function copy(part, { boxes }, /** @type {HTMLCanvasElement} */ small) {
    const { x, y, w, h } = boxes[part];
    const rail = railIn(boxes[part]);
    const left = part === "classes" ? rail.left : x;
    const wide = part === "classes" ? rail.width : w;
    const high = part === "primary" ? w : h;
    const box = canvasBox(part, boxes);
    const canvas = canvases[part];
    const ratio = canvas.width / box.w;
    const brush = small.getContext("2d");
    brush.clearRect(0, 0, small.width, small.height);
    brush.imageSmoothingQuality = "high";
    const from = [left - box.x, y - box.y, wide, high].map((length) => length * ratio);
    const [fromX, fromY, fromW, fromH] = from;
    brush.drawImage(canvas, fromX, fromY, fromW, fromH, 0, 0, small.width, small.height);
  }

  return { canvases, show: layers.map(({ show }) => show), copy };
}
