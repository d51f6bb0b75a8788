// The strip above the chapters: the whole network in small, alive with the reader's digit, and the way through the book.
// The page brings the names of its parts, and links (book/_ext/network_strip.py); here they come alive.
import { fromBase64, hasInk, heightOf, linesOf, makeMemory, sentenceOn, strongestMaps } from "./network_strip_model.js";
import { LONG } from "./shared/bars.js";
import { arrowKeys, fitCanvas, measure, wantsCalm } from "./shared/controls.js";
import { makeNetwork } from "./shared/core.js";
import {
  clamp,
  css,
  digitAt,
  digitButton,
  element,
  format,
  greysOf,
  makePainter,
  mix,
  oncePerFrame,
  SIDE,
  setAttributes,
  themeColours,
  whenThemeChanges,
} from "./shared/ui.js";

const FIRST = 7; // the digit of a reader who has not chosen one yet
const REST = 120; // milliseconds without a stroke
const FULL = 0.5; // a coupling of this much, or more, has the full colour

/**
 * @import { Focus } from "./network_strip_model.js"
 * @typedef {{ network: any, answer: any, image: Float32Array, colours: any, painter: any, focus: Focus,
 *   large: boolean }} Scene
 * @typedef {{ brush: CanvasRenderingContext2D, width: number, height: number, ratio: number }} Sheet
 */

// --------------------------------------------------------------------------------------------------- pictures

/** @param {Sheet} sheet @param {HTMLCanvasElement} picture */
function enlarge({ brush, width, height }, picture, smooth) {
  brush.imageSmoothingEnabled = smooth;
  brush.imageSmoothingQuality = "high";
  brush.drawImage(picture, 0, 0, width, height);
}

/** @param {Sheet} sheet @param {Scene} scene @param {Float32Array} grey */
function paintDigit(sheet, { painter }, grey) {
  const small = element("canvas", { width: SIDE, height: SIDE });
  painter.paint(small, grey);
  enlarge(sheet, small, true);
}

/** All feature maps, or in small the four that say most. @param {Sheet} sheet @param {Scene} scene */
function paintMaps(sheet, { network, answer, colours, large }) {
  const { conv_channels: C } = network.config;
  const places = answer.edges.length / C;
  const size = Math.sqrt(places);
  const shown = strongestMaps(answer.edges, C, large ? C : 4);
  const across = Math.ceil(Math.sqrt(shown.length));
  const side = across * (size + 1) - 1;
  const picture = element("canvas", { width: side, height: side });
  const brush = picture.getContext("2d");
  const most = answer.edges.reduce((p, q) => Math.max(p, q), 1e-6);
  const tile = brush.createImageData(size, size);
  shown.forEach((c, k) => {
    for (let at = 0; at < places; at++) {
      tile.data.set([...mix(colours.raised, colours.ink, answer.edges[c * places + at] / most), 255], 4 * at);
    }
    brush.putImageData(tile, (k % across) * (size + 1), Math.floor(k / across) * (size + 1));
  });
  enlarge(sheet, picture, false);
}

/**
 * The numbers of each capsule, a row: below 0 in one colour, above in the other.
 * @param {Sheet} sheet
 * @param {Scene} scene
 */
function paintPrimary({ brush, width, height }, { network, answer, colours }) {
  const { I, D_in: D, config } = network;
  const [types, places] = [config.primary_types, I / config.primary_types];
  const { contrast, raised, accent } = colours;
  const thick = 0.8 * (heightOf(1, types, places) - heightOf(0, types, places)) * height;
  answer.u.forEach((number, k) => {
    const y = heightOf(Math.floor(k / D), types, places) * height;
    brush.fillStyle = css(mix(raised, number < 0 ? contrast : accent, Math.min(1, 1.4 * Math.abs(number))));
    brush.fillRect(((k % D) * width) / D, y - thick / 2, (0.9 * width) / D, thick);
  });
}

/** Every vote, a line from below to above, as thick as its coupling c_ij. @param {Sheet} sheet @param {Scene} scene */
function paintVotes({ brush, width, height, ratio }, { network, answer, colours, focus, large }) {
  const { I, J, config } = network;
  for (const { i, j, share } of linesOf(answer.c.at(-1), J, large ? focus : null)) {
    const from = heightOf(i, config.primary_types, I / config.primary_types) * height;
    const to = ((j + 0.5) / J) * height;
    brush.strokeStyle = css(j === answer.prediction ? colours.accent : colours.muted);
    brush.globalAlpha = Math.min(1, (focus ? 0.3 : 0.04) + share / FULL);
    brush.lineWidth = ratio * (large ? Math.max(0.4, 4 * share) : Math.max(0.25, 1.6 * share));
    brush.beginPath();
    brush.moveTo(0, from);
    brush.bezierCurveTo(width * 0.5, from, width * 0.5, to, width, to);
    brush.stroke();
  }
  brush.globalAlpha = 1;
}

/** The ten lengths. @param {Sheet} sheet @param {Scene} scene */
function paintClasses({ brush, width, height, ratio }, { network, answer, colours, large }) {
  const row = height / network.J;
  const [left, right] = large ? [20 * ratio, 38 * ratio] : [0, 0];
  const rail = width - left - right;
  brush.textBaseline = "middle";
  answer.lengths.forEach((length, j) => {
    const best = j === answer.prediction;
    const [top, thick] = [(j + (large ? 0.3 : 0.15)) * row, row * (large ? 0.4 : 0.7)];
    brush.fillStyle = css(colours.raised);
    brush.fillRect(left, top, rail, thick);
    brush.fillStyle = css(best ? colours.accent : colours.muted);
    brush.fillRect(left, top, rail * length, thick);
    if (!large) return;
    brush.font = `${best ? 700 : 400} ${13 * ratio}px system-ui, sans-serif`;
    brush.fillStyle = css(best ? colours.ink : colours.muted);
    brush.fillText(String(j), 6 * ratio, (j + 0.52) * row);
    brush.fillText(format(length), width - right + 6 * ratio, (j + 0.52) * row);
  });
}

/** @type {Record<string, (sheet: Sheet, scene: Scene) => void>} */
const PAINT = {
  image: (sheet, scene) => paintDigit(sheet, scene, scene.image),
  maps: paintMaps,
  primary: paintPrimary,
  predictions: paintVotes,
  classes: paintClasses,
  reconstruction: (sheet, scene) => paintDigit(sheet, scene, scene.answer.reconstruction),
};

// ------------------------------------------------------------------------------------------------- the picture

/** A canvas for each part in `place`; paint(scene) paints them all. */
function makePictures(place, large, changed) {
  const pictures = [...place.querySelectorAll("[data-part]")].map((part) => {
    const frame = part.querySelector(".picture");
    const canvas = element("canvas", { "aria-hidden": "true" });
    frame.replaceChildren(canvas);
    return { part, frame, canvas, size: measure(frame, changed) };
  });
  const paint = (scene) => {
    for (const { part, canvas, size } of pictures) {
      if (!size.width) continue; // closed, or too narrow a window
      const sheet = fitCanvas(canvas, size);
      sheet.brush.clearRect(0, 0, sheet.width, sheet.height);
      PAINT[part.dataset.part](sheet, { ...scene, large });
    }
  };
  const frames = pictures.map(({ frame }) => frame);
  return { paint, frames };
}

/** Numbers run through the network: one part after the other. @param {Element[]} frames */
function flow(frames) {
  if (wantsCalm()) return;
  const from = { opacity: 0.3, transform: "translateX(-6px)" };
  frames.forEach((frame, k) =>
    frame.animate([from, {}], { duration: 360, delay: 90 * k, fill: "backwards", easing: "ease-out" }),
  );
}

// --------------------------------------------------------------------------------------------------- the strip

/** What opens like any <details> is also closed by Escape, and by a press outside. @param {HTMLDetailsElement} fold */
function closeEasily(fold) {
  fold.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !fold.open) return;
    fold.open = false;
    fold.querySelector("summary").focus();
  });
  document.addEventListener("pointerdown", ({ target }) => {
    if (fold.open && target instanceof Node && !fold.contains(target)) fold.open = false;
  });
}

/**
 * Lets the hand point at a capsule, below or above, whose votes alone are shown then; arrow keys walk the classes.
 * @param {HTMLElement} whole  the opened strip
 * @param {{ I: number, J: number, config: any }} network
 * @param {(focus: Focus) => void} point
 */
function makePointing(whole, { I, J, config }, point) {
  const places = I / config.primary_types;
  const nearest = (/** @type {number} */ y) => {
    const far = Array.from({ length: I }, (_, i) => Math.abs(heightOf(i, config.primary_types, places) - y));
    return far.indexOf(Math.min(...far));
  };
  /** @param {string} part @param {"i" | "j"} end @param {(y: number) => number} at */
  function pointIn(part, end, at) {
    const frame = whole.querySelector(`[data-part="${part}"] .picture`);
    const follow = (/** @type {any} */ { clientY }) => {
      const { top, height } = frame.getBoundingClientRect();
      point({ end, at: at((clientY - top) / height) });
    };
    for (const name of ["pointerdown", "pointermove"]) frame.addEventListener(name, follow);
    frame.addEventListener("pointerleave", () => point(null));
  }
  pointIn("primary", "i", nearest);
  pointIn("classes", "j", (y) => clamp(Math.floor(y * J), 0, J - 1));
  const classes = whole.querySelector('[data-part="classes"] .picture');
  const about = { role: "slider", tabindex: 0, "aria-label": "Class whose votes are shown", "aria-valuemin": 0 };
  setAttributes(classes, { ...about, "aria-valuemax": J - 1, "aria-valuenow": 0 });
  arrowKeys(classes, (dx, dy) => {
    const at = clamp(Number(classes.getAttribute("aria-valuenow")) + (dx || dy), 0, J - 1);
    setAttributes(classes, { "aria-valuenow": at });
    point({ end: "j", at });
  });
  classes.addEventListener("blur", () => point(null));
}

/**
 * Wakes a strip; resolves when its first digit is shown.
 * @param {HTMLElement} strip
 * @param {ArrayBufferView} weights  of the network
 * @param {Uint8Array} samples  a digit of each class
 */
function wake(strip, weights, samples) {
  const network = makeNetwork(weights);
  const memory = makeMemory(() => localStorage);
  const fold = strip.querySelector("details");
  const painter = makePainter(strip);
  const schedule = oncePerFrame(() => paint());
  const small = makePictures(fold.querySelector("summary"), false, schedule);
  const whole = makePictures(fold.querySelector(".whole"), true, schedule);
  const sentence = fold.querySelector(".sentence");
  let colours = themeColours(strip);
  let image, answer;
  /** @type {Focus} */
  let focus = null;

  const choices = Array.from({ length: network.J }, (_, digit) => {
    const onclick = () => choose(digitAt(samples, digit));
    return digitButton({ "aria-label": `A handwritten ${digit}`, onclick });
  });
  fold.querySelector(".choice").prepend(...choices.map(({ button }) => button));

  function paint() {
    const scene = { network, answer, image, colours, painter, focus };
    small.paint(scene);
    if (!fold.open) return;
    whole.paint(scene);
    choices.forEach(({ canvas }, digit) => painter.paint(canvas, digitAt(samples, digit), 255));
  }

  /** @param {Uint8Array} bytes */
  function show(bytes) {
    image = greysOf(bytes);
    answer = network.forward(image);
    strip.dataset.prediction = answer.prediction;
    sentence.textContent = sentenceOn(answer, LONG, focus);
    choices.forEach(({ button }, digit) => {
      const same = digitAt(samples, digit).every((grey, k) => grey === bytes[k]);
      button.setAttribute("aria-pressed", String(same));
    });
    paint();
  }

  let waiting = 0;
  function choose(bytes, delay = 0) {
    memory.keep(bytes);
    clearTimeout(waiting);
    if (delay) waiting = setTimeout(follow, delay, bytes);
    else follow(bytes);
  }

  function follow(bytes) {
    show(bytes);
    flow(small.frames);
    if (fold.open) flow(whole.frames);
  }

  makePointing(fold.querySelector(".whole"), network, (to) => {
    focus = to;
    sentence.textContent = sentenceOn(answer, LONG, focus);
    schedule();
  });
  // A drawing is read within a frame; the strip, which costs as much again, follows when the hand rests.
  document.addEventListener("capsnet:drawn", (/** @type {CustomEvent} */ { detail }) => {
    if (hasInk(detail)) choose(detail, REST);
  });
  whenThemeChanges(() => {
    painter.refresh();
    colours = themeColours(strip);
    schedule();
  });
  fold.addEventListener("toggle", () => {
    paint();
    if (fold.open) flow(whole.frames);
  });
  show(memory.read() ?? digitAt(samples, FIRST));
  flow(small.frames);
  strip.dataset.live = "true";
}

/**
 * @param {HTMLElement} strip
 * @param {{ bytes: () => Promise<ArrayBufferView>, samples: string }} _  the network's weights, and digits in base64
 */
export function start(strip, { bytes, samples }) {
  const fold = strip.querySelector("details");
  closeEasily(fold);
  let woken = false;
  const begin = async () => {
    if (woken) return;
    woken = true;
    try {
      wake(strip, await bytes(), fromBase64(samples));
    } catch (error) {
      woken = false; // the names and the links stay; opened again, it tries again
      console.error(error);
    }
  };
  fold.addEventListener("toggle", begin);
  // The page comes first; and who saves data does not pay for a network before asking for it.
  const thrifty = /** @type {any} */ (navigator).connection?.saveData;
  const whenIdle = () => (window.requestIdleCallback ?? setTimeout)(begin);
  if (thrifty || "waits" in strip.dataset) return; // until it is opened
  if (document.readyState === "complete") whenIdle();
  else addEventListener("load", whenIdle, { once: true });
}
