// Digits of 28×28 pixels in the colours of the page.
import { bytesOf, element, figure, memoized, setAttributes, withArticle } from "./ui.js";

/** The palette's colours as the page shows them now: { accent: [r, g, b], … } */
export function themeColours(root) {
  const style = getComputedStyle(root);
  const roles = [
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
  return Object.fromEntries(
    roles.map((role) => {
      const hex = style.getPropertyValue(`--caps-${role}`).trim(); // #rrggbb: palette.py
      return [role, [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16))];
    }),
  );
}

export const mix = (from, to, t) =>
  from.map((channel, k) => Math.round(channel + (to[k] - channel) * t));
export const css = (colour) => `rgb(${colour.join(" ")})`;

/** Calls back when the page changes between light and dark. Returns what stops it. */
export function whenThemeChanges(callback) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const observer = new MutationObserver(callback);
  const attributeFilter = ["data-theme", "data-jp-theme-light"]; // what the palette asks for (palette.css_variables)
  for (const node of [document.documentElement, document.body])
    observer.observe(node, { attributes: true, attributeFilter });
  system.addEventListener("change", callback);
  return () => {
    observer.disconnect();
    system.removeEventListener("change", callback);
  };
}

// --------------------------------------------------------------------------------------------- digits

export const SIDE = 28;
export const PIXELS = SIDE * SIDE;

/** The n-th of many digits that lie behind each other, as a view of its 784 numbers. */
export const digitAt = (digits, n) => digits.subarray(n * PIXELS, (n + 1) * PIXELS);

/** Synced digits, bytes, as numbers from 0 (paper) to 1 (ink), [N · PIXELS]. */
export const greysOf = (/** @type {any} */ value) =>
  Float32Array.from(bytesOf(value), (grey) => grey / 255);

/** A canvas of 28×28 pixels; the stylesheet makes it large. */
export const digitCanvas = (role, label, side = SIDE) =>
  element("canvas", {
    class: "wide",
    width: side,
    height: side,
    role: "img",
    "aria-label": label,
    "data-role": role,
  });

/** The same with a caption. name(words, label): what the caption says, and what is to be seen. */
export function digitFigure(role, kind = "", side = SIDE) {
  const canvas = digitCanvas(role, "", side);
  const caption = element("figcaption");
  const name = (/** @type {string} */ words, /** @type {string} */ label) => {
    caption.textContent = words;
    canvas.setAttribute("aria-label", label);
  };
  return { canvas, node: figure(kind, canvas, caption), name };
}

/** Words for a digitFigure that shows a handwritten digit. @returns {[string, string]} */
export const asWritten = (label) => [
  `${withArticle(label)}, as written`,
  `The digit as it was written: ${label}`,
];

/** A canvas like that on a button, whose label says what is to be seen. */
export const thumbnail = (more = {}) =>
  element("canvas", { width: SIDE, height: SIDE, "aria-hidden": "true", ...more });

/**
 * A row of buttons, a digit of images [N · PIXELS] on each; `full` is ink. show(index, painter) says which is chosen.
 * @param {(label: number) => string} name  of a button @param {(n: number) => void} choose
 */
export function digitRow(labels, images, name, choose, full = 1) {
  const canvases = labels.map(() => thumbnail());
  const buttons = canvases.map((canvas, n) => {
    const about = { "data-role": "digit", "aria-label": name(labels[n]), onclick: () => choose(n) };
    return element("button", { type: "button", ...about }, canvas);
  });
  const row = element(
    "div",
    { class: "samples", role: "group", "aria-label": "Handwritten digits" },
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

const MOST = 255; // shades on either side of the ground

/** Colours of numbers from −1 to 1, their red, green, blue and alpha in one: the ground's are those of 0. */
export function shadesOf(ground, above, below = above) {
  const shades = new Uint32Array(2 * MOST + 1);
  const channels = new Uint8Array(shades.buffer);
  shades.forEach((_, k) => {
    const [role, far] = [k < MOST ? below : above, Math.abs(k - MOST) / MOST];
    channels.set([...mix(ground, role, far), 255], 4 * k);
  });
  return shades;
}

/** Numbers as the pixels of a canvas, row by row; from `most` on they have the full colour. */
export function paintNumbers(canvas, numbers, shades, most = 1) {
  const brush = canvas.getContext("2d");
  const image = brush.createImageData(canvas.width, canvas.height);
  const pixels = new Uint32Array(image.data.buffer);
  for (let k = 0; k < pixels.length; k++)
    pixels[k] = shades[MOST + Math.round(MOST * Math.min(1, Math.max(-1, numbers[k] / most)))];
  brush.putImageData(image, 0, 0);
}

/** paint(canvas, grey): 784 numbers from 0 (paper) to `full` (ink) in the colours of the theme. */
export function makePainter(root) {
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
