// The network at work on one digit, from left to right: what it was given, its filters, an arrow for each primary
// capsule, every vote as thick as its coupling, ten lengths, and the picture that it draws of its answer.
import { fitCanvas, measure } from "../shared/controls.js";
import { css, element, format, makePainter, mix, PIXELS, SIDE, themeColours } from "../shared/ui.js";
import { CLASSES } from "./learner.js";

const CAPSULE = 8; // numbers in a primary capsule
const GRID = 9; // places of each type
const FILTER = 9; // along a side
const SHOWN_FILTERS = 16;
const FULL = 0.4; // a coupling of this much, or more, has the full colour

/**
 * @typedef {{
 *   image: Float32Array, label?: number, types: number, filters: Float32Array, u: Float32Array, c: Float32Array,
 *   lengths: Float32Array, drawing?: Float32Array,
 * }} Passage  filters [81, C], u [I, CAPSULE], c [I, CLASSES]; noise, or 0, before anything was computed
 * @typedef {{ brush: CanvasRenderingContext2D, width: number, height: number, ratio: number }} Sheet
 */

/** The places of all I capsules, in rows of a type's nine, and where a line to them ends. */
const heightOf = (i, types) => ((i % types) * GRID + Math.floor(i / types) + 0.5) / (types * GRID);

/** @param {Sheet} sheet @param {HTMLCanvasElement} picture @param {boolean} smooth */
function enlarge({ brush, width, height }, picture, smooth) {
  const side = Math.min(width, height);
  brush.imageSmoothingEnabled = smooth;
  brush.imageSmoothingQuality = "high";
  brush.drawImage(picture, (width - side) / 2, (height - side) / 2, side, side);
}

/** @param {Sheet} sheet @param {Passage} passage */
function paintFilters(sheet, { filters }, { contrast, raised, accent }) {
  const C = filters.length / FILTER ** 2;
  const across = Math.sqrt(SHOWN_FILTERS);
  const side = across * (FILTER + 1) - 1;
  const picture = element("canvas", { width: side, height: side });
  const brush = picture.getContext("2d");
  const tile = brush.createImageData(FILTER, FILTER);
  for (let f = 0; f < SHOWN_FILTERS; f++) {
    const c = Math.floor((f * C) / SHOWN_FILTERS);
    let most = 0.12; // so that noise begins pale
    for (let k = 0; k < FILTER ** 2; k++) most = Math.max(most, Math.abs(filters[k * C + c]));
    for (let k = 0; k < FILTER ** 2; k++) {
      const weight = filters[k * C + c] / most;
      tile.data.set([...mix(raised, weight < 0 ? contrast : accent, Math.min(1, Math.abs(weight))), 255], 4 * k);
    }
    brush.putImageData(tile, (f % across) * (FILTER + 1), Math.floor(f / across) * (FILTER + 1));
  }
  enlarge(sheet, picture, false);
}

/** An arrow for a capsule: its length is the capsule's, its first two numbers are the direction. */
function paintArrows({ brush, width, height, ratio }, { u, types }, { accent, line }) {
  const columns = types >= 8 ? types / 2 : types;
  const rows = (types * GRID) / columns;
  const [across, down] = [width / columns, height / rows];
  const full = Math.min(across, down) * 0.46;
  for (let i = 0; i < types * GRID; i++) {
    const k = (i % types) * GRID + Math.floor(i / types);
    const [x, y] = [((k % columns) + 0.5) * across, (Math.floor(k / columns) + 0.5) * down];
    const turn = Math.atan2(u[i * CAPSULE + 1], u[i * CAPSULE]);
    let square = 0;
    for (let d = 0; d < CAPSULE; d++) square += u[i * CAPSULE + d] ** 2;
    const reach = full * Math.sqrt(square);
    brush.strokeStyle = brush.fillStyle = css(square > 0 ? accent : line);
    brush.globalAlpha = 0.35 + 0.65 * Math.min(1, 2 * square);
    brush.lineWidth = 1.6 * ratio;
    brush.beginPath();
    brush.moveTo(x - reach * Math.cos(turn), y - reach * Math.sin(turn));
    brush.lineTo(x + reach * Math.cos(turn), y + reach * Math.sin(turn));
    brush.stroke();
    brush.beginPath();
    brush.arc(x + reach * Math.cos(turn), y + reach * Math.sin(turn), 1.9 * ratio, 0, 2 * Math.PI);
    brush.fill();
  }
  brush.globalAlpha = 1;
}

/** Every vote, a line from below to above. */
function paintVotes({ brush, width, height, ratio }, { c, lengths, types }, { accent, muted }) {
  const best = lengths.indexOf(Math.max(...lengths));
  for (let k = 0; k < c.length; k++) {
    const [i, j] = [Math.floor(k / CLASSES), k % CLASSES];
    const share = Math.min(1, c[k] / FULL);
    const [from, to] = [heightOf(i, types) * height, ((j + 0.5) / CLASSES) * height];
    brush.strokeStyle = css(j === best ? accent : muted);
    brush.globalAlpha = 0.03 + 0.9 * share ** 2;
    brush.lineWidth = ratio * (0.4 + 2 * share ** 2);
    brush.beginPath();
    brush.moveTo(0, from);
    brush.bezierCurveTo(width * 0.5, from, width * 0.5, to, width, to);
    brush.stroke();
  }
  brush.globalAlpha = 1;
}

function paintLengths({ brush, width, height, ratio }, { lengths, label }, { accent, contrast, ink, muted, raised }) {
  const best = lengths.indexOf(Math.max(...lengths));
  const [row, left, right] = [height / CLASSES, 18 * ratio, 40 * ratio];
  const rail = width - left - right;
  brush.textBaseline = "middle";
  lengths.forEach((length, j) => {
    const first = j === best && length > 0;
    const colour = first && label !== undefined && label !== j ? contrast : accent;
    brush.fillStyle = css(raised);
    brush.fillRect(left, (j + 0.28) * row, rail, row * 0.44);
    brush.fillStyle = css(first ? colour : muted);
    brush.fillRect(left, (j + 0.28) * row, rail * Math.min(1, length), row * 0.44);
    brush.font = `${first ? 700 : 400} ${13 * ratio}px system-ui, sans-serif`;
    brush.fillStyle = css(first ? ink : muted);
    brush.fillText(String(j), 2 * ratio, (j + 0.52) * row);
    brush.fillText(format(length), width - right + 6 * ratio, (j + 0.52) * row);
  });
}

const PARTS = [
  { name: "digit", title: () => "this digit", about: "choose another below" },
  { name: "filters", title: (types) => `16 of ${8 * types} filters`, about: "noise that turns into strokes" },
  { name: "capsules", title: (types) => `${GRID * types} capsules`, about: "an arrow each" },
  { name: "votes", title: (types) => `${GRID * types * CLASSES} votes`, about: "thick: a large share of a capsule" },
  { name: "lengths", title: () => "10 lengths", about: "the longest is its answer" },
  { name: "drawing", title: () => "its drawing", about: "of the answer’s 16 numbers" },
];

/** The picture of a network. show(passage) paints it. @param {HTMLElement} root */
export function makeNetworkView(root) {
  const painter = makePainter(root);
  let colours = /** @type {any} */ (themeColours(root));
  /** @type {Passage | undefined} */
  let shown;
  const small = element("canvas", { width: SIDE, height: SIDE });
  const paintDigit = (sheet, grey) => {
    if (!grey) return;
    painter.paint(small, grey);
    enlarge(sheet, small, true);
  };
  const paint = {
    digit: (sheet, { image }) => paintDigit(sheet, image),
    filters: (sheet, passage) => paintFilters(sheet, passage, colours),
    capsules: (sheet, passage) => paintArrows(sheet, passage, colours),
    votes: (sheet, passage) => paintVotes(sheet, passage, colours),
    lengths: (sheet, passage) => paintLengths(sheet, passage, colours),
    drawing: (sheet, { drawing }) => paintDigit(sheet, drawing),
  };
  const parts = PARTS.map(({ name, title, about }) => {
    const canvas = element("canvas", { "aria-hidden": "true", "data-part": name });
    const heading = element("strong");
    const caption = element("figcaption", {}, heading, element("span", {}, about));
    const size = measure(canvas, () => shown && draw());
    return {
      name,
      title,
      canvas,
      heading,
      size,
      figure: element("figure", { class: `part part-${name}` }, canvas, caption),
    };
  });
  const node = element("div", { class: "passage", role: "img" }, ...parts.map(({ figure }) => figure));

  function draw() {
    for (const { name, title, canvas, heading, size } of parts) {
      if (!size.width) continue;
      const sheet = fitCanvas(canvas, size);
      sheet.brush.clearRect(0, 0, sheet.width, sheet.height);
      paint[name](sheet, shown);
      const words = title(shown.types);
      if (heading.textContent !== words) heading.textContent = words;
    }
  }

  /** @param {Passage} passage @param {string} words  what it shows */
  function show(passage, words) {
    shown = passage;
    node.setAttribute("aria-label", words);
    draw();
  }

  function refresh() {
    painter.refresh();
    colours = themeColours(root);
    if (shown) draw();
  }
  return { node, show, refresh, stop: () => parts.forEach(({ size }) => size.stop()) };
}

/** A passage in which nothing was computed yet. @param {(n: number) => number} noise  in [-1, 1) */
export function emptyPassage(types, noise) {
  const C = 8 * types;
  return {
    types,
    image: new Float32Array(PIXELS),
    filters: Float32Array.from({ length: FILTER ** 2 * C }, (_, n) => noise(n) / FILTER),
    u: new Float32Array(GRID * types * CAPSULE),
    c: new Float32Array(GRID * types * CLASSES).fill(1 / CLASSES),
    lengths: new Float32Array(CLASSES),
    drawing: new Float32Array(PIXELS).fill(0.5),
  };
}
