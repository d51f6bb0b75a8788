// The words about the glass network (its score, and what the part that is pointed at does), and the
// lens: a row of small pictures that show how that part computes.
import { fitCanvas, measure } from "../shared/controls.js";
import { t } from "../shared/t.js";
import { element, format, memoized, write } from "../shared/ui.js";
import { patchOf } from "./layout.js";
import { placeOf, scoreOf, sentenceOn, votesOf } from "./model.js";
import { mapOf } from "./paint.js";
import { makePen } from "./pen.js";

/** @import { Scene } from "./paint.js" */
/** @import { Box } from "./pen.js" */
/** @typedef {ReturnType<typeof makePen>} Pen */
/** @typedef {{ width: number, label: string, draw: (pen: Pen, box: Box) => void }} Item
 *   a picture of the lens; width: in heights */
/** @typedef {{ name: string, share: number, isBest: boolean }} Share */

const LABEL = 18; // room under each picture
const BETWEEN = 24; // room for a sign between two pictures
const PACE = 400; // milliseconds that a sentence stands while the hand draws
const HINTS = {
  look: t`Point at any part: a map, a capsule, a vote, a length. `,
  takeApart: t`Press a capsule or a length to take it out; draw a line across votes to cut them. `,
};

// ---------------------------------------------------------------------------- the pictures

/** A matrix in ink, with a square of it in a frame. @param {Pen} pen @param {Box} box */
function marked(pen, box, numbers, across, /** @type {Box} */ { x, y, w, h }) {
  const unit = box.w / across;
  pen.matrix(box, numbers, across, "ink");
  pen.frame("contrast", { x: box.x + x * unit, y: box.y + y * unit, w: w * unit, h: h * unit }, 2);
}

const LETTER = 7; // pixels, of a name under a bar

/**
 * Shares as upright bars with names under them; without room, the best one's name alone.
 * @param {Pen} pen @param {Share[]} shares
 */
function upright(pen, /** @type {Box} */ { x, y, w, h }, shares) {
  const step = w / shares.length;
  const rail = h - 16; // above the names
  const hasRoom = shares.every(({ name }) => name.length * LETTER <= step);
  shares.forEach(({ name, share, isBest }, n) => {
    const size = Math.max(1, Math.min(1, share / 0.6) * rail);
    const left = x + n * step;
    pen.fill(isBest ? "accent" : "muted", left + 2, y + rail, step - 4, -size);
    const about = { size: 11, align: "center" };
    if (hasRoom || isBest) pen.words("muted", name, left + step / 2, y + h - 3, about);
  });
}

/** Words in large letters. @param {Pen} pen @param {Box} box @param {string} words */
const large = (pen, { x, y, w, h }, words) =>
  pen.words("ink", words, x + w / 2, y + h / 2 + 8, { size: 23, weight: 700, align: "center" });

/** @returns {Item} */
const item = (/** @type {number} */ width, /** @type {string} */ label, draw) => ({
  width,
  label,
  draw,
});

/** A vector's numbers as bars. */
const vector = (width, label, /** @type {Float32Array} */ numbers) =>
  item(width, label, (pen, box) => pen.bars(box, numbers));

/** The n-th row of a matrix. @param {Float32Array} numbers @param {number} size */
const rowOf = (numbers, size, /** @type {number} */ n) =>
  numbers.subarray(n * size, (n + 1) * size);

/**
 * The lens of each part: pictures, and signs between them.
 * @type {Record<string, (scene: Scene) => (Item | string)[]>}
 */
const ROWS = {
  maps(scene) {
    const { focus, network, seen, image } = scene;
    const { conv, config } = network;
    const { at } = focus;
    const place = placeOf(focus, scene);
    const size = conv.kernel ** 2;
    const filter = Array.from({ length: size }, (_, k) => conv.columns[k * conv.O + at]);
    const map = mapOf(seen, conv, at);
    const side = Math.sqrt(map.length);
    const spot = { x: place % side, y: Math.floor(place / side), w: 1, h: 1 };
    const patch = patchOf("maps", place, config);
    return [
      item(1, network.input, (pen, box) => marked(pen, box, image, config.image_size, patch)),
      "×",
      item(1, t`the filter`, (pen, box) => pen.matrix(box, filter, conv.kernel)),
      "=",
      item(1, t`its map`, (pen, box) => marked(pen, box, map, side, spot)),
    ];
  },

  primary({ focus, network: { I, J, D_in, config, names }, seen, answer, votes, image }) {
    const patch = patchOf("primary", focus.at % (I / config.primary_types), config);
    const c = answer.c.at(-1);
    const shares = votesOf(focus, I, J).map((k) => {
      const j = k % J;
      return { name: names[j], share: c[k] * votes[k], isBest: j === answer.prediction };
    });
    return [
      item(1, t`its patch`, (pen, box) => marked(pen, box, image, config.image_size, patch)),
      "→",
      vector(1.1, t`u, ${D_in} numbers`, rowOf(seen.u, D_in, focus.at)),
      "→",
      item(1.7, t`its shares`, (pen, box) => upright(pen, box, shares)),
    ];
  },

  predictions({ focus: { at: k }, network, seen, answer, votes }) {
    const { D_in, D_out, J } = network;
    const matrix = network.matrixOf(k);
    const share = votes[k] ? format(answer.c.at(-1)[k]) : t`cut`;
    return [
      vector(0.55, "u", rowOf(seen.u, D_in, Math.floor(k / J))),
      "×",
      item(1.2, `W, ${D_in} × ${D_out}`, (pen, box) => pen.matrix(box, matrix, D_out)),
      "=",
      vector(1.1, t`û, ${D_out} numbers`, rowOf(seen.u_hat, D_out, k)),
      "→",
      item(0.8, t`its share`, (pen, box) => large(pen, box, share)),
    ];
  },

  classes({ focus, network: { I, J, D_out }, answer, votes }) {
    const c = answer.c.at(-1);
    const feeders = votesOf(focus, I, J).map((k) => {
      return { name: String(Math.floor(k / J)), share: c[k] * votes[k], isBest: true };
    });
    const strongest = feeders.sort((p, q) => q.share - p.share).slice(0, 6);
    const length = format(answer.lengths[focus.at]);
    return [
      item(1.7, t`who gives most`, (pen, box) => upright(pen, box, strongest)),
      "→",
      vector(1.2, t`v, ${D_out} numbers`, rowOf(answer.capsules, D_out, focus.at)),
      "→",
      item(0.8, t`its length`, (pen, box) => large(pen, box, length)),
    ];
  },

  faders({ focus: { at }, numbers, network: { D_out }, answer, drawing }) {
    const push = numbers[at] - answer.capsules[answer.prediction * D_out + at];
    const words = format(push, 2, true);
    const picture = (/** @type {Float32Array} */ pixels) => (pen, box) =>
      pen.matrix(box, pixels, Math.sqrt(pixels.length), "ink", 1);
    return [
      item(1, t`as it read it`, picture(answer.reconstruction)),
      "→",
      item(1, t`number ${at + 1}`, (pen, box) => large(pen, box, words)),
      "→",
      item(1, t`drawn now`, picture(drawing)),
    ];
  },
};

// --------------------------------------------------------------------------------- the lens

/**
 * @param {{ brush: CanvasRenderingContext2D, width: number, height: number, ratio: number }} sheet
 * @param {Scene} scene
 */
function paintLens({ brush, width, height, ratio }, scene) {
  brush.setTransform(ratio, 0, 0, ratio, 0, 0);
  brush.clearRect(0, 0, width, height);
  brush.textBaseline = "alphabetic";
  const pen = makePen(brush, scene.colours);
  const row = ROWS[scene.focus.part](scene);
  const pictures = row.filter((picture) => typeof picture !== "string");
  const room = width / ratio - (row.length - pictures.length) * BETWEEN;
  const widths = pictures.reduce((sum, picture) => sum + picture.width, 0);
  const side = Math.min(height / ratio - LABEL, room / widths);
  let x = 0;
  for (const picture of row) {
    if (typeof picture === "string") {
      pen.words("muted", picture, x + BETWEEN / 2, side / 2 + 6, { size: 18, align: "center" });
      x += BETWEEN;
    } else {
      const w = picture.width * side;
      picture.draw(pen, { x, y: 0, w, h: side });
      pen.words("muted", picture.label, x + w / 2, side + 14, { size: 12, align: "center" });
      x += w;
    }
  }
}

/**
 * The lens. show(scene) shows how the part in the scene's focus computes.
 * @param {() => void} resized
 */
export function makeLens(resized) {
  const node = element("canvas", { class: "lens", "aria-hidden": "true" });
  const size = measure(node, resized);
  const magnify = memoized((/** @type {Scene} */ scene) => paintLens(fitCanvas(node, size), scene));
  function show(/** @type {Scene} */ scene) {
    const { focus, answer, drawing, colours } = scene;
    const { part, at, place } = focus;
    magnify([part, at, place, answer, drawing, colours, size.width], scene);
  }
  return { node, show, stop: size.stop };
}

/**
 * The words and the lens. show(scene) shows the part in focus, or the last one.
 * @param {string[]} lit  the chapter's own parts: the lens begins with one of them
 */
export function makeGlance(stage, lit) {
  const own = ["maps", "predictions", "classes", "primary"].find((part) => lit.includes(part));
  const lens = makeLens(() => stage.schedule());
  const score = element("p", { class: "sentence", "data-role": "score" });
  const words = element("p", { class: "words" });
  let next = 0; // when words may change: the page is laid out anew for them

  function show(/** @type {any} */ scene) {
    const { session, focus, looked } = stage;
    if (scene.changing && !focus && performance.now() < next) return;
    next = performance.now() + PACE;
    const part = looked ?? session.strongest(own ?? "predictions");
    lens.show({ ...scene, focus: part });
    write(words, `${hintOf(stage)}${sentenceOn(focus ?? part, session)}`);
    write(score, scoreOf(session));
  }
  return { score, node: element("div", { class: "glance" }, words, lens.node), show };
}

/** A hint, until the reader has touched something. */
function hintOf({ focus, session, apart }) {
  if (focus || session.touched) return "";
  return apart ? HINTS.takeApart : HINTS.look;
}
