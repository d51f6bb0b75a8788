// The walls from fog to handwriting: an animated picture (GIF) of the moments that were kept.
import { mix, SIDE } from "../shared/digits.js";
import { element } from "../shared/ui.js";
import { GIFEncoder } from "./gif_built.js";
import { WALL } from "./sizes.js";

/** @typedef {import("./untrained.js").Frame} Frame */

const TILE = SIDE + 2; // pixels, with a line around
const COLUMNS = 10; // tiles in a row
const WALL_SIDE = COLUMNS * TILE; // pixels
const FOOT = 34; // pixels under the walls, for words
const SHADES = 16; // of each ink
const BITS = 6; // of a colour's number
const RIGHT = 0; // the number of the first shade of what is right,
const WRONG = SHADES; // of a mistake,
const WORDS = 2 * SHADES; // and of words
const LINE = 3 * SHADES; // the colour between tiles
const DURATION = 110; // milliseconds of a moment,
const LAST = 2500; // and of the last one
const MOST_BYTES = 1_500_000;

const shadeOf = (/** @type {number} */ grey) => grey >> 4;

/** Return the colours by their numbers. @param {Record<string, number[]>} colours  of the theme */
function paletteOf({ paper, stroke, contrast, surface, ink, line }) {
  const shades = (from, to) =>
    Array.from({ length: SHADES }, (_, k) => mix(from, to, k / (SHADES - 1)));
  return [...shades(paper, stroke), ...shades(paper, contrast), ...shades(surface, ink), line];
}

/** Draw a wall's tiles, `left` pixels from the left. @param {Uint8Array} indices  of colours */
function drawWall(indices, width, left, { pictures, wrong }) {
  for (let n = 0; n < WALL; n++) {
    const x = left + (n % COLUMNS) * TILE + 1;
    const y = Math.floor(n / COLUMNS) * TILE + 1;
    const ink = wrong[n] ? WRONG : RIGHT;
    if (wrong[n]) drawEdge(indices, width, x - 1, y - 1);
    for (let k = 0; k < SIDE * SIDE; k++) {
      const grey = pictures[n * SIDE * SIDE + k];
      indices[(y + Math.floor(k / SIDE)) * width + x + (k % SIDE)] = ink + shadeOf(grey);
    }
  }
}

/** Fill a mistake's place, whose edge will be seen around it. */
function drawEdge(indices, width, left, top) {
  for (let y = top; y < top + TILE; y++) {
    const from = y * width + left;
    indices.fill(WRONG + SHADES - 1, from, from + TILE);
  }
}

/** Draw words at the foot. @param {CanvasRenderingContext2D} brush  of a picture of the foot */
function drawWords(indices, width, brush, words) {
  brush.fillStyle = "black";
  brush.fillRect(0, 0, width, FOOT);
  brush.fillStyle = "white";
  brush.fillText(words, width / 2, FOOT / 2, width - 8);
  const { data } = brush.getImageData(0, 0, width, FOOT);
  const from = WALL_SIDE * width;
  for (let k = 0; k < width * FOOT; k++) indices[from + k] = WORDS + shadeOf(data[4 * k]);
}

/** Return the brush that words are drawn with. @param {string} font  its family */
function makeBrush(width, font) {
  const canvas = element("canvas", { width, height: FOOT });
  const brush = canvas.getContext("2d", { willReadFrequently: true });
  Object.assign(brush, { font: `600 17px ${font}`, textAlign: "center", textBaseline: "middle" });
  return brush;
}

/** Return what is written under a moment, in no language. @param {Frame[]} frames */
function footOf(frames) {
  const right = frames.map((frame) => frame.right).join(" | ");
  const seconds = Math.max(...frames.map((frame) => frame.seconds));
  return `${right} / ${WALL} · ${seconds.toFixed(1)} s`;
}

/** Let the page paint between two moments: all at once would hold it up. */
const breath = () => new Promise((resolve) => setTimeout(resolve));

/**
 * Return the animated picture of some moments.
 * @param {Frame[][]} moments  a frame for each network
 * @param {Record<string, number[]>} colours  of the theme
 * @param {string} font  a family
 */
async function encode(moments, colours, font) {
  const gap = TILE / 2; // between two walls
  const width = moments[0].length * (WALL_SIDE + gap) - gap;
  const height = WALL_SIDE + FOOT;
  const palette = paletteOf(colours);
  const brush = makeBrush(width, font);
  const gif = GIFEncoder();
  for (const [n, frames] of moments.entries()) {
    const indices = new Uint8Array(width * height).fill(LINE);
    frames.forEach((frame, k) => drawWall(indices, width, k * (WALL_SIDE + gap), frame));
    drawWords(indices, width, brush, footOf(frames));
    const delay = n === moments.length - 1 ? LAST : DURATION;
    const about = n === 0 ? { palette } : {};
    gif.writeFrame(indices, width, height, { ...about, delay, colorDepth: BITS });
    await breath();
  }
  gif.finish();
  return gif.bytes();
}

/** Return every second moment, the last one among them. @param {Frame[][]} moments */
const thinned = (moments) => moments.filter((_, n) => (moments.length - 1 - n) % 2 === 0);

/**
 * Return the walls' way from fog to now as a GIF's bytes, 1.5 MB at most.
 * @param {Frame[][]} moments  a frame for each network
 * @param {Record<string, number[]>} colours  of the theme
 * @param {string} font  a family
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export async function loopOf(moments, colours, font) {
  const bytes = await encode(moments, colours, font);
  return bytes.length > MOST_BYTES ? loopOf(thinned(moments), colours, font) : bytes;
}
