// Walls: images as a network draws them at this moment. Orange: it takes that one for another.
// A tile can be chosen, by pointer or arrow keys.
import { arrowKeys } from "../shared/controls.js";
import { css, digitAt, SIDE, shadesOf } from "../shared/digits.js";
import { t } from "../shared/t.js";
import { clamp, element, memoized, setAttributes, write } from "../shared/ui.js";
import { SETS, setOf } from "./sets.js";
import { learnsToDraw } from "./settings.js";
import { WALL } from "./sizes.js";
import { nameOf } from "./words.js";

const TILE = SIDE + 2; // pixels, with a line around
const DRAWN_HINT = t`Images as it draws them at this moment. Arrow keys choose one.`;

/** Return the corner of the n-th tile. */
const cornerOf = (n, columns) => ({
  x: (n % columns) * TILE + 1,
  y: Math.floor(n / columns) * TILE + 1,
});

/** Return the shades of what is right, and of a mistake. @param {Record<string, number[]>} _ */
export const inksOf = ({ paper, stroke, contrast }) =>
  [stroke, contrast].map((ink) => shadesOf(paper, ink).subarray(-256));

/**
 * Return the tiles as one image; between them it is transparent.
 * @param {Uint8Array} pictures  [tiles · 784]
 * @param {boolean[]} wrong
 * @param {Uint32Array[]} inks  shades of what is right, and of a mistake
 */
export function imageOf(pictures, wrong, columns, inks) {
  const image = new ImageData(columns * TILE, Math.ceil(wrong.length / columns) * TILE);
  const pixels = new Uint32Array(image.data.buffer);
  wrong.forEach((isWrong, n) => {
    const { x, y } = cornerOf(n, columns);
    const shades = inks[Number(isWrong)];
    digitAt(pictures, n).forEach((grey, k) => {
      pixels[(y + Math.floor(k / SIDE)) * image.width + x + (k % SIDE)] = shades[grey];
    });
  });
  return image;
}

/**
 * Make a figure of tiles.
 * @param {any} widget
 * @param {string} kind  the figure's class
 * @param {number} most  tiles in a row
 * @param {(n: number) => void} chosen  called with the tile that the reader chooses
 */
export function makeWall(widget, kind, most, chosen) {
  const canvas = element("canvas", {
    class: "wall",
    tabindex: 0,
    role: "application",
    "data-role": "wall",
    "aria-roledescription": t`wall of images`,
    "aria-label": DRAWN_HINT,
  });
  const title = element("strong", { class: "wall-title" });
  const caption = element("figcaption");
  const brush = canvas.getContext("2d");
  let count = 0; // tiles
  let columns = most;
  let current = -1; // the tile from which arrow keys go on
  let inks = [];

  const mixInks = memoized((colours) => {
    inks = inksOf(colours);
  });

  function frame(n, colour) {
    const { x, y } = cornerOf(n, columns);
    brush.strokeStyle = css(colour);
    brush.lineWidth = 2;
    brush.strokeRect(x, y, SIDE, SIDE);
  }

  /**
   * @param {Uint8Array} pictures  [tiles · 784]
   * @param {boolean[]} wrong  of each tile whether it is a mistake
   */
  function show(pictures, wrong, words, selected = -1) {
    count = wrong.length;
    columns = Math.min(most, count);
    if (selected >= 0) current = selected;
    const { colours } = widget;
    mixInks([colours], colours);
    const image = imageOf(pictures, wrong, columns, inks);
    if (canvas.height !== image.height || canvas.width !== image.width) {
      Object.assign(canvas, { width: image.width, height: image.height });
      canvas.style.setProperty("--columns", String(columns));
    }
    brush.putImageData(image, 0, 0); // all at once: a hundred small ones cost more
    wrong.forEach((isWrong, n) => {
      if (isWrong) frame(n, colours.contrast);
    });
    if (selected >= 0) frame(selected, colours.accent);
    write(caption, words);
  }

  function choose(/** @type {number} */ n) {
    if (n < 0 || n >= count) return;
    current = n;
    chosen(n);
  }

  canvas.addEventListener("click", ({ offsetX, offsetY }) => {
    const side = canvas.clientWidth / columns;
    const column = clamp(Math.floor(offsetX / side), 0, columns - 1);
    choose(Math.floor(offsetY / side) * columns + column);
  });
  arrowKeys(canvas, (dx, dy) => choose(current < 0 ? 0 : current + dx + columns * dy));
  const name = (/** @type {string} */ label) => setAttributes(canvas, { "aria-label": label });
  const node = element("figure", { class: kind }, title, canvas, caption);
  return { figure: node, canvas, title, show, name };
}

/**
 * Return what a wall shows.
 * @param {any} settings  of its network
 * @param {boolean} isPast
 */
function captionOf(settings, isPast) {
  const draws = isPast ? t`as it drew them then` : t`as it draws them at this moment`;
  const how = learnsToDraw(settings) ? draws : t`as they are: it learns no drawing`;
  return t`${SETS[settings.data].hundred}, ${how}. Orange: taken for another. Choose one.`;
}

/** Make the wall of the k-th network. @param {any} widget @param {any} session */
export function makeHundred(widget, session, k) {
  const wall = makeWall(widget, "wall-frame", 10, (n) => session.act(() => session.watch(k, n)));

  const renew = memoized(({ pictures, wrong, watched }, selected) => {
    const { settings } = session;
    const { hint, before } = setOf(settings);
    const isUntrained = watched.answer === undefined;
    wall.name(isUntrained ? hint : DRAWN_HINT);
    write(wall.title, settings.length === 2 ? nameOf(settings, k) : "");
    const wordsOf = (/** @type {any} */ own) =>
      isUntrained ? before : captionOf(own, session.moment !== undefined);
    const words = wordsOf(settings[k]);
    const isSaid = k > 0 && words === wordsOf(settings[0]); // below the wall beside it
    wall.show(pictures, wrong.slice(0, WALL), isSaid ? "" : words, selected);
  });

  function show(/** @type {import("./untrained.js").Frame[]} */ frames) {
    const { settings, watched } = session;
    if (!frames[k] || k >= settings.length) return; // frames may be older than the settings
    const isPast = session.moment !== undefined;
    const { tile } = isPast ? frames[k].watched : watched; // a moment has one tile's way alone
    const selected = watched.network === k ? tile : -1;
    renew([frames[k], settings, selected, widget.colours, isPast], frames[k], selected);
  }

  return { node: wall.figure, target: wall.canvas, show };
}
