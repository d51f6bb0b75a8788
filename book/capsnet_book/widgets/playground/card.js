// A card to show elsewhere, a picture of 1200 × 630: the walls, what was measured, the curve.
import { css } from "../shared/digits.js";
import { t } from "../shared/t.js";
import { element } from "../shared/ui.js";
import { curvesOf, errorAxes, LEFT, pointsOf, TICKS } from "./charts.js";
import { setOf } from "./sets.js";
import { WALL } from "./sizes.js";
import { imageOf, inksOf } from "./wall.js";
import { measuredWords, nameOf } from "./words.js";

const WIDTH = 1200;
const HEIGHT = 630;
const WALL_SIDE = 600; // of one network's wall; two stand over each other, half as large
const MARGIN = 15;
const GAP = 45; // between the walls and the words
const CURVE_WORDS = t`wrong, of 500 unseen images · by images seen`;
const DASHES = [[], [10, 7]]; // of the two networks' curves

/** @typedef {CanvasRenderingContext2D} Brush */
/** @typedef {any} Colours  of the theme, by their roles */

/** Draw a wall. @param {Brush} brush @param {import("./untrained.js").Frame} frame */
function drawWall(brush, { pictures, wrong }, colours, x, y, side) {
  const image = imageOf(pictures, wrong.slice(0, WALL), 10, inksOf(colours));
  const canvas = element("canvas", { width: image.width, height: image.height });
  canvas.getContext("2d").putImageData(image, 0, 0);
  brush.fillStyle = css(colours.line);
  brush.fillRect(x, y, side, side);
  brush.drawImage(canvas, x, y, side, side);
}

/** Draw the curves. @param {Brush} brush @param {import("./charts.js").Curve[]} curves */
function drawCurves(brush, curves, { line, muted, accent, contrast }, size) {
  const { plan, digits } = errorAxes(size, curves);
  brush.lineWidth = 1;
  brush.strokeStyle = css(line);
  for (const y of TICKS) {
    brush.beginPath();
    brush.moveTo(LEFT, plan.y(y));
    brush.lineTo(plan.end, plan.y(y));
    brush.stroke();
  }
  brush.fillStyle = css(muted);
  brush.textAlign = "right";
  for (const y of TICKS) brush.fillText(`${y} %`, LEFT - 8, plan.y(y) + 5);
  brush.textAlign = "center";
  for (const x of digits) brush.fillText(x.toLocaleString("en"), plan.x(x), plan.floor + 20);
  brush.lineWidth = 4;
  curves.forEach((curve, k) => {
    brush.strokeStyle = css([accent, contrast][k]);
    brush.setLineDash(DASHES[k]);
    brush.stroke(new Path2D(plan.path(pointsOf(curve))));
  });
  brush.setLineDash([]);
}

/** Make a writer of lines of words at `x`, as wide as `width` at most. @param {Brush} brush */
function makeWriter(brush, font, x, width) {
  return (/** @type {string} */ words, y, size, colour, weight = 400) => {
    brush.font = `${weight} ${size}px ${font}`;
    brush.fillStyle = css(colour);
    brush.textAlign = "left";
    brush.fillText(words, x, y, width);
  };
}

/** Write what was measured. @param {ReturnType<typeof makeWriter>} write */
function writeWords(write, frames, settings, address, { ink, muted, accent, contrast }) {
  const { right, how } = measuredWords(frames, settings);
  write(setOf(settings).card, 62, 26, muted);
  write(right, 140, 76, accent, 600);
  write(how, 184, 28, ink);
  if (settings.length === 2) {
    write(`— ${nameOf(settings, 0)}`, 226, 22, accent, 600);
    write(`- - ${nameOf(settings, 1)}`, 256, 22, contrast, 600);
  }
  write(CURVE_WORDS, 550, 18, muted);
  write(address, 596, 20, muted);
}

/**
 * Return the card as a PNG file.
 * @param {import("./untrained.js").Frame[]} frames  of each network
 * @param {any[]} settings
 * @param {string} address  what repeats the training
 * @param {{ colours: Colours, font: string, credits: string }} look  of the theme; a family; whose
 *   drawings they are, if anybody's
 * @returns {Promise<Blob>}
 */
export function cardOf(frames, settings, address, { colours, font, credits }) {
  const canvas = element("canvas", { width: WIDTH, height: HEIGHT });
  const brush = canvas.getContext("2d");
  brush.imageSmoothingEnabled = false;
  brush.fillStyle = css(colours.surface);
  brush.fillRect(0, 0, WIDTH, HEIGHT);
  const side = WALL_SIDE / frames.length;
  frames.forEach((frame, k) => drawWall(brush, frame, colours, MARGIN, MARGIN + k * side, side));
  const left = MARGIN + side + GAP;
  const width = WIDTH - left - GAP;
  const write = makeWriter(brush, font, left, width);
  writeWords(write, frames, settings, address, colours);
  write(credits, 618, 13, colours.muted);
  brush.translate(left, 270);
  brush.font = `400 16px ${font}`;
  drawCurves(brush, curvesOf(frames), colours, { width, height: 260 });
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
