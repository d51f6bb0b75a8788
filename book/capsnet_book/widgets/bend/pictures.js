// Pictures of a capsule network's classes: the one to read, those to choose from, and a button for
// each capsule with what it draws.
import { makeBar } from "../shared/bars.js";
import { digitFigure, thumbnail } from "../shared/digits.js";
import { makePad } from "../shared/pad.js";
import { t } from "../shared/t.js";
import { element, format, setAttributes } from "../shared/ui.js";

/**
 * Paints colours from 0 to 1, red, green and blue one after another.
 * @param {HTMLCanvasElement} canvas @param {Float32Array} colours  [3 · side · side]
 */
function paintColours(canvas, colours) {
  const { width, height } = canvas;
  const brush = canvas.getContext("2d");
  const image = brush.createImageData(width, height);
  const places = width * height;
  for (let place = 0; place < places; place++) {
    for (let channel = 0; channel < 3; channel++)
      image.data[4 * place + channel] = Math.round(255 * colours[channel * places + place]);
    image.data[4 * place + 3] = 255;
  }
  brush.putImageData(image, 0, 0);
}

/** paint(canvas, image) for grey images, in the theme's colours, and for coloured ones. */
export const makePaint = (painter) => (canvas, image) => {
  if (image.length === canvas.width * canvas.height) painter.paint(canvas, image);
  else paintColours(canvas, image);
};

/** A row of buttons, a picture on each. show(index, paint) marks the chosen one. */
export function pictureRow(images, side, labels, choose) {
  const canvases = images.map(() => thumbnail({ width: side, height: side }));
  const buttons = canvases.map((canvas, n) => {
    const about = { "data-role": "digit", "aria-label": labels[n], onclick: () => choose(n) };
    return element("button", { type: "button", ...about }, canvas);
  });
  const about = { class: "samples", role: "group", "aria-label": t`Pictures to choose from` };
  const row = element("div", about, ...buttons);
  const show = (/** @type {number | null} */ index, paint) => {
    canvases.forEach((canvas, n) => paint(canvas, images[n]));
    buttons.forEach((button, n) => setAttributes(button, { "aria-pressed": n === index }));
  };
  return { row, show };
}

/** One of the capsules: what it draws, its name and its length, on a button. */
export function makeChoice(j, name, side, onclick) {
  const canvas = thumbnail({ width: side, height: side });
  const bar = makeBar();
  const caption = element("span", { class: "name" }, element("b", {}, name), bar.value);
  const about = { type: "button", class: "capsule", "data-keep": j, onclick };
  const button = element("button", about, canvas, caption, bar.rail);
  const show = (length, isKept, isOnly, isLabel) => {
    bar.show(length);
    button.classList.toggle("kept", isKept);
    button.classList.toggle("label", isLabel);
    setAttributes(button, {
      "aria-pressed": isOnly,
      "aria-label": t`Capsule ${name}, ${format(length)} long`,
    });
  };
  return { button, canvas, show };
}

/**
 * The picture that the network reads: a pad for digits, a canvas for coloured pictures. It has
 * node, image(), load(image), isEmpty() and paint(widget, paint).
 * @param {boolean} animals @param {{ drawn: () => void, settled: () => void }} hand
 */
export function makeSource(animals, side, hand) {
  if (animals) return makeShownPicture(side);
  const pad = makePad(hand);
  return {
    node: element("div", { class: "source" }, pad.frame, pad.buttons),
    image: pad.image,
    bytes: pad.bytes,
    isEmpty: pad.empty,
    load: (/** @type {Float32Array} */ image) => pad.show(image.map((grey) => 255 * grey)),
    paint: (widget) => pad.paint(widget.painter, widget.colours),
  };
}

function makeShownPicture(/** @type {number} */ side) {
  const { canvas, node, name } = digitFigure("original", "source", side);
  name(t`as the artist drew it`, t`The picture as the artist drew it`);
  /** @type {Float32Array} */
  let shown;
  return {
    node,
    image: () => shown,
    isEmpty: () => false,
    load(/** @type {Float32Array} */ image) {
      shown = image;
    },
    paint: (_, paint) => paint(canvas, shown),
  };
}
