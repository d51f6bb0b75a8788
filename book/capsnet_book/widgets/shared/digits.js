// Digits of 28×28 pixels, in the colours of the page.

import { t } from "./t.js";
import { bytesOf, element, figure, memoized, perObject, setAttributes, write } from "./ui.js";

/** @typedef {number[]} Colour  red, green and blue, from 0 to 255 */

const ROLES = [
  "surface",
  "raised",
  "line",
  "ink",
  "muted",
  "accent",
  "contrast",
  "paper",
  "stroke",
];

/**
 * The palette's colours in the page's present theme, by their roles.
 * @param {Element} root
 * @returns {Record<string, Colour>}
 */
export function themeColours(root) {
  const style = getComputedStyle(root);
  return Object.fromEntries(
    ROLES.map((role) => {
      const hex = style.getPropertyValue(`--caps-${role}`).trim(); // #rrggbb: palette.py
      return [role, [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16))];
    }),
  );
}

/** Mixes two colours, t from 0 to 1. @param {Colour} from @param {Colour} to @param {number} t */
export const mix = (from, to, t) =>
  from.map((channel, k) => Math.round(channel + (to[k] - channel) * t));

/** A colour as CSS writes it; a picture asks for it hundreds of times. */
export const css = perObject((/** @type {Colour} */ colour) => `rgb(${colour.join(" ")})`);

/**
 * Calls back when the page changes between light and dark. Returns a function that stops it.
 * @param {() => void} callback
 */
export function whenThemeChanges(callback) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const observer = new MutationObserver(callback);
  const attributeFilter = ["data-theme", "data-jp-theme-light"]; // as palette.css_variables
  for (const node of [document.documentElement, document.body])
    observer.observe(node, { attributes: true, attributeFilter });
  system.addEventListener("change", callback);
  return () => {
    observer.disconnect();
    system.removeEventListener("change", callback);
  };
}

// -------------------------------------------------------------------------------- digits

export const SIDE = 28;
export const PIXELS = SIDE * SIDE;

/**
 * The n-th of the digits [N · PIXELS], as a view of its 784 numbers.
 * @template {Float32Array | Uint8Array} Numbers
 * @param {Numbers} digits
 * @returns {Numbers}
 */
export const digitAt = (digits, n) =>
  /** @type {Numbers} */ (digits.subarray(n * PIXELS, (n + 1) * PIXELS));

/** Synced bytes of digits -> numbers from 0 (paper) to 1 (ink), [N · PIXELS]. */
export const greysOf = (/** @type {any} */ value) =>
  Float32Array.from(bytesOf(value), (grey) => grey / 255);

/** A canvas of 28×28 pixels, which the stylesheet enlarges. `label`: for screen readers. */
export const digitCanvas = (role, label, side = SIDE) =>
  element("canvas", {
    class: "wide",
    width: side,
    height: side,
    role: "img",
    "aria-label": label,
    "data-role": role,
  });

/** A digitCanvas with a caption. name(words, label) sets the caption and the canvas's label. */
export function digitFigure(role, kind = "", side = SIDE) {
  const canvas = digitCanvas(role, "", side);
  const caption = element("figcaption");
  const name = (/** @type {string} */ words, /** @type {string} */ label) => {
    write(caption, words);
    setAttributes(canvas, { "aria-label": label });
  };
  return { canvas, node: figure(kind, canvas, caption), name };
}

/** A small canvas on a button; screen readers hear the button's label instead. */
export const thumbnail = (more = {}) =>
  element("canvas", { width: SIDE, height: SIDE, "aria-hidden": "true", ...more });

/**
 * A row of buttons with a digit of images [N · PIXELS] on each. show(index, painter) marks the
 * chosen one.
 * @param {number[]} labels @param {Float32Array | Uint8Array} images
 * @param {(label: number) => string} name  of a button
 * @param {(n: number) => void} choose
 * @param {number} full  the number that means ink
 */
export function digitRow(labels, images, name, choose, full = 1) {
  const canvases = labels.map(() => thumbnail());
  const buttons = canvases.map((canvas, n) => {
    const about = { "data-role": "digit", "aria-label": name(labels[n]), onclick: () => choose(n) };
    return element("button", { type: "button", ...about }, canvas);
  });
  const row = element(
    "div",
    { class: "samples", role: "group", "aria-label": t`Handwritten digits` },
    ...buttons,
  );
  const paint = memoized((painter) =>
    canvases.forEach((canvas, n) => painter.paint(canvas, digitAt(images, n), full)),
  );
  const show = (/** @type {number | null} */ index, painter) => {
    paint([painter.shades()], painter);
    buttons.forEach((button, n) => setAttributes(button, { "aria-pressed": n === index }));
  };
  return { row, show };
}

const STEPS = 255; // shades on either side of the ground

/**
 * A table of colours for numbers from −1 to 1, each as a pixel (red, green, blue and alpha in one).
 * @param {Colour} ground  of 0 @param {Colour} above  of 1 @param {Colour} below  of −1
 */
export function shadesOf(ground, above, below = above) {
  const shades = new Uint32Array(2 * STEPS + 1);
  const channels = new Uint8Array(shades.buffer);
  shades.forEach((_, k) => {
    const colour = k < STEPS ? below : above;
    const share = Math.abs(k - STEPS) / STEPS;
    channels.set([...mix(ground, colour, share), 255], 4 * k);
  });
  return shades;
}

/**
 * Paints numbers as the pixels of a canvas, row by row; from `most` on they have the full colour.
 * @param {HTMLCanvasElement} canvas @param {ArrayLike<number>} numbers @param {Uint32Array} shades
 */
export function paintNumbers(canvas, numbers, shades, most = 1) {
  const brush = canvas.getContext("2d");
  const image = brush.createImageData(canvas.width, canvas.height);
  const pixels = new Uint32Array(image.data.buffer);
  for (let k = 0; k < pixels.length; k++) {
    const share = Math.min(1, Math.max(-1, numbers[k] / most));
    pixels[k] = shades[STEPS + Math.round(STEPS * share)];
  }
  brush.putImageData(image, 0, 0);
}

/**
 * paint(canvas, grey, full) paints 784 numbers from 0 (paper) to `full` (ink) in the colours of the
 * theme; refresh() reads these again.
 * @param {Element} root
 */
export function makePainter(root) {
  /** @type {Uint32Array} */
  let shades;
  const refresh = () => {
    const { paper, stroke } = themeColours(root);
    shades = shadesOf(paper, stroke);
  };
  refresh();
  return {
    paint: (canvas, grey, full = 1) => paintNumbers(canvas, grey, shades, full),
    refresh,
    shades: () => shades,
  };
}
