// Two digits to lay over each other. The network reads the overlay, draws each digit on its own,
// and draws the digit that the reader asks for.
import { makeBar } from "./shared/bars.js";
import { carry } from "./shared/controls.js";
import { digitAt, digitFigure, greysOf, paintNumbers, SIDE, shadesOf } from "./shared/digits.js";
import { defineWidget } from "./shared/stage.js";
import { t } from "./shared/t.js";
import {
  clamp,
  element,
  format,
  listed,
  perObject,
  pushButton,
  rowOf,
  setAttributes,
  withArticle,
} from "./shared/ui.js";

/** @typedef {ReturnType<typeof readingOf>} Reading  what the network makes of an overlay */

const BOTH = [0, 1];
const WIDE = 36; // pixels along a side of the picture
const REACH = (WIDE - SIDE) / 2; // how far from the middle a digit can be moved
const DEFAULT = -1; // asked for: the third longest capsule

// ------------------------------------------------------------------ the overlay and its reading

/**
 * Puts a digit on the larger picture, x to the right of the middle and y below it. -> [1296]
 * @param {Float32Array} digit  [784]
 */
export function layerOf(digit, x, y) {
  const layer = new Float32Array(WIDE * WIDE);
  for (let row = 0; row < SIDE; row++) {
    const pixels = digit.subarray(row * SIDE, (row + 1) * SIDE);
    layer.set(pixels, (row + REACH + y) * WIDE + REACH + x);
  }
  return layer;
}

/** The ink of both, added and clipped. @param {Float32Array} one @param {Float32Array} other */
export const overlay = (one, other) => one.map((grey, k) => Math.min(1, grey + other[k]));

/**
 * What is read in an overlay [1296] from its votes û, and drawn.
 * classes: the two longest capsules; a digit of the overlay that is among them keeps its place.
 * third: the digit that is asked for. remains: ink of the overlay that lies in neither drawing.
 * @param {any} network @param {Float32Array} image @param {Float32Array} u_hat
 * @param {number[]} labels  of the two digits
 */
export function readingOf(network, image, u_hat, [one, other], asked) {
  const { capsules, lengths, prediction, reconstruction } = network.decide(u_hat);
  const order = [...lengths.keys()].sort((a, b) => lengths[b] - lengths[a]);
  const [longest, second] = order;
  const swapped = one !== other && (longest === other || second === one);
  const classes = swapped ? [second, longest] : [longest, second];
  const third = asked === DEFAULT ? order[2] : asked;
  const drawingOf = (j) =>
    j === prediction ? reconstruction : network.decode(network.mask(capsules, j));
  const drawings = classes.map(drawingOf);
  const remains = image.map((grey, k) => Math.max(0, grey - drawings[0][k] - drawings[1][k]));
  return { lengths, classes, third, drawings, absent: drawingOf(third), remains };
}

/** How far a layer's ink is from a place, in pixels; below one pixel all distances are equal. */
function distanceTo(/** @type {Float32Array} */ layer, x, y) {
  let nearest = Infinity;
  layer.forEach((grey, k) => {
    if (grey <= 0.5) return;
    const dx = (k % WIDE) + 0.5 - x;
    const dy = Math.floor(k / WIDE) + 0.5 - y;
    nearest = Math.min(nearest, Math.hypot(dx, dy));
  });
  return Math.max(nearest, 1);
}

/** The box round a layer's ink, in pixels. @param {Float32Array} layer */
function inkBox(layer) {
  const inked = Array.from(layer.keys()).filter((k) => layer[k] > 0.2);
  const columns = inked.map((k) => k % WIDE);
  const rows = inked.map((k) => Math.floor(k / WIDE));
  const left = Math.min(...columns);
  const top = Math.min(...rows);
  return { left, top, width: Math.max(...columns) + 1 - left, height: Math.max(...rows) + 1 - top };
}

// ------------------------------------------------------------------------------------- in words

/** Says what there is to see. @param {number[]} truth  the labels @param {Reading} reading */
export function inWords(truth, { lengths, classes, third }) {
  const longest = listed(classes.map((j) => t`${j} (${format(lengths[j])})`));
  if (truth[0] === truth[1]) return aboutTwins(truth[0], longest);
  const missed = truth.filter((label) => !classes.includes(label));
  if (missed.length === 2) return t`Both wrong: the longest are ${longest}, and neither is there.`;
  if (missed.length === 1) {
    const invented = classes.find((j) => !truth.includes(j));
    return aboutMistake(invented, missed[0], lengths);
  }
  if (truth.includes(third))
    return t`Both right, ${longest}. You asked for the ${third}, which is there.`;
  return t`Both right, ${longest}. ${aboutAbsent(third, lengths[third])}`;
}

function aboutTwins(label, longest) {
  const twice = t`There is one capsule for a ${label}, so nothing here can say "twice"`;
  const never = t`In training the two digits were never alike.`;
  return t`Two of the same class. ${twice}; the two longest are ${longest}. ${never}`;
}

function aboutMistake(invented, missed, lengths) {
  const seen = t`it sees ${withArticle(invented)} (${format(lengths[invented])})`;
  const there = t`${withArticle(missed)} is (${format(lengths[missed])})`;
  return t`One right, one wrong: ${seen} where ${there}. Look what the ${invented} is drawn from.`;
}

function aboutAbsent(digit, length) {
  const effect =
    length < 0.3
      ? t`so short that hardly anything reaches the decoder`
      : t`long enough to draw something`;
  return t`The ${digit} is not there; its capsule is ${format(length)} long, ${effect}.`;
}

// ------------------------------------------------------------------------------------ the stage

const picture = (role, kind = "") => digitFigure(role, kind, WIDE);

/**
 * The overlay, and round each digit a box that arrow keys move. A press takes the digit whose ink
 * is nearer.
 * @param {{ at: () => number[][], layers: () => Float32Array[],
 *   move: (which: number, place: number[]) => void }} _
 *   at, layers: where the two digits lie, and their ink
 */
function makeStage({ at, layers, move }) {
  let chosen = 0; // the digit that the next drag moves
  const overlaid = picture("overlay");
  const boxes = BOTH.map((which) =>
    element("div", {
      class: `box digit-${which}`,
      tabindex: 0,
      role: "slider",
      "aria-valuemin": -REACH,
      "aria-valuemax": REACH,
      "data-digit": which,
      onfocus: () => choose(which),
    }),
  );
  const area = element(
    "div",
    { class: "stage-36", "data-role": "stage" },
    overlaid.canvas,
    ...boxes,
  );
  overlaid.node.prepend(area);

  function choose(which) {
    chosen = which;
    boxes.forEach((box, k) => box.classList.toggle("is-chosen", k === which));
  }
  choose(0);

  const inside = (/** @type {number} */ x) => clamp(Math.round(x), -REACH, REACH);
  const moveTo = (/** @type {number[]} */ place) => move(chosen, place.map(inside));

  /** The digit whose ink is nearer to a place; of two equally near, the one that was moved last. */
  function nearestTo(/** @type {number[]} */ [x, y]) {
    const [one, other] = layers().map((layer) => distanceTo(layer, x, y));
    if (one === other) return chosen;
    return one < other ? 0 : 1;
  }

  carry(area, {
    area: overlaid.canvas,
    steps: [1, 3],
    inUnits: ({ x, y }) => [x * WIDE, y * WIDE],
    take: (place) => {
      choose(nearestTo(place));
      boxes[chosen].focus({ preventScroll: true });
    },
    place: () => at()[chosen],
    move: moveTo,
    keys: { Home: () => moveTo([0, 0]) },
  });

  /** Lays each box round its digit's ink. */
  function show(truth) {
    layers().forEach((layer, which) => {
      for (const [edge, pixels] of Object.entries(inkBox(layer)))
        boxes[which].style[edge] = `${(100 * pixels) / WIDE}%`;
      const [x, y] = at()[which];
      setAttributes(boxes[which], {
        "aria-label": t`The ${truth[which]}. Arrow keys move it.`,
        "aria-valuenow": x,
        "aria-valuetext": t`${x} to the right of the middle, ${y} below it`,
      });
    });
  }
  return { overlaid, show };
}

// --------------------------------------------------------------------------------- the drawings

/**
 * Lays tinted drawings over each other: on light paper they darken, on dark paper they brighten.
 */
function layOver(canvas, drawings, paper) {
  const brush = canvas.getContext("2d");
  const dark = paper[0] + paper[1] + paper[2] < 384;
  for (const drawing of drawings) {
    brush.drawImage(drawing, 0, 0);
    brush.globalCompositeOperation = dark ? "lighten" : "multiply";
  }
  brush.globalCompositeOperation = "source-over";
}

/** The overlay's figure, and those of the network's drawings. */
function makePictures(overlaid) {
  const both = picture("both");
  const rest = picture("remains");
  const absent = picture("absent", "asked");
  const alone = BOTH.map((which) => picture(`alone-${which}`, `digit-${which}`));
  const small = [...alone, rest, absent].map(({ node }) => node);
  const node = element(
    "div",
    { class: "drawn" },
    element("div", { class: "large" }, overlaid.node, both.node),
    element("div", { class: "small" }, ...small),
  );

  /** Tables of shades in the colours of a theme. */
  const shadesIn = perObject((/** @type {any} */ { paper, stroke, accent, contrast }) => {
    const [inked, ...tinted] = [stroke, accent, contrast].map((ink) => shadesOf(paper, ink));
    return { inked, tinted };
  });

  /** The overlay, which follows the hand. @param {Float32Array} image */
  function paintOverlay(image, colours) {
    paintNumbers(overlaid.canvas, image, shadesIn(colours).inked);
  }

  function paint(/** @type {Reading} */ reading, colours) {
    const { inked, tinted } = shadesIn(colours);
    BOTH.forEach((which) =>
      paintNumbers(alone[which].canvas, reading.drawings[which], tinted[which]),
    );
    const drawings = alone.map(({ canvas }) => canvas);
    layOver(both.canvas, drawings, colours.paper);
    paintNumbers(rest.canvas, reading.remains, inked);
    paintNumbers(absent.canvas, reading.absent, inked);
  }

  /** @param {number[]} truth  the labels @param {Reading} reading */
  function name(truth, { classes, third }) {
    const seen = t`The overlay of ${withArticle(truth[0])} and ${withArticle(truth[1])}`;
    overlaid.name(t`the network sees: ${truth[0]} and ${truth[1]}`, seen);
    const drawn = t`The drawings of capsules ${classes[0]} and ${classes[1]} in two colours`;
    both.name(t`it draws: ${classes[0]} and ${classes[1]}`, drawn);
    classes.forEach((j, which) =>
      alone[which].name(t`the ${j} alone`, t`The drawing of capsule ${j}`),
    );
    rest.name(t`what remains`, t`The picture less both drawings`);
    absent.name(t`asked: ${third}`, t`The drawing of capsule ${third}, asked for`);
  }
  return { node, paintOverlay, paint, name };
}

/** The length of one class's capsule; a press asks for its drawing. */
function makeLength(j, onclick) {
  const bar = makeBar("height");
  const about = { type: "button", class: "class-length", "data-class": j, onclick };
  const button = element("button", about, bar.rail, element("b", {}, String(j)), bar.value);

  /** @param {number} length @param {number[]} truth  the labels @param {Reading} reading */
  function show(length, truth, { classes, third }) {
    const present = truth.includes(j);
    bar.show(length);
    BOTH.forEach((which) => button.classList.toggle(`digit-${which}`, classes[which] === j));
    button.classList.toggle("present", present);
    const size = format(length);
    const label = present ? t`${j}, ${size} long, in the picture` : t`${j}, ${size} long`;
    setAttributes(button, { "aria-pressed": j === third, "aria-label": label });
  }
  return { button, show };
}

/** The ten lengths, to be asked for. @param {(j: number) => void} ask */
function makeLengths(classes, ask) {
  const lengths = Array.from({ length: classes }, (_, j) => makeLength(j, () => ask(j)));
  const lead = t`The ten lengths. Press one to ask for that digit's drawing.`;
  const about = { class: "bars", role: "group", "aria-label": t`Ask for a digit` };
  const bars = element("div", about, ...lengths.map(({ button }) => button));
  const node = element("div", {}, element("p", { class: "lead" }, lead), bars);
  const show = (truth, /** @type {Reading} */ reading) =>
    lengths.forEach((length, j) => length.show(reading.lengths[j], truth, reading));
  return { node, show };
}

// ----------------------------------------------------------------------------------- the widget

const LABEL = t`Lay two digits over each other; the network draws each on its own`;

export default defineWidget("TwoDigits", LABEL, async (widget) => {
  const { root, get, set, layOut } = widget;
  const network = await widget.network();
  const images = greysOf(get("images")); // [N, 784]
  const labels = get("labels");
  const digits = () => [get("first"), get("second")];
  const at = () => [get("at").slice(0, 2), get("at").slice(2)];
  const layers = () =>
    digits().map((n, which) => layerOf(digitAt(images, n), at()[which][0], at()[which][1]));

  const move = (which, place) => set({ at: at().with(which, place).flat() });
  const stage = makeStage({ at, layers, move });
  const pictures = makePictures(stage.overlaid);
  const ask = (j) => set({ asked: get("asked") === j ? DEFAULT : j });
  const lengths = makeLengths(network.J, ask);
  const cases = get("cases").map(({ name, ...pair }) =>
    pushButton("case", name, () => set({ ...pair, asked: DEFAULT }), { "data-case": name }),
  );
  root.classList.add("two");
  const { say } = layOut({ stage: pictures.node, hands: [rowOf(...cases), lengths.node] });

  /** @type {{ image: Float32Array, u_hat: Float32Array }} */
  let seen; // in the first part of a pass; read in the second,
  /** @type {{ truth: number[], reading: Reading }} */
  let scene; // and shown in the third
  const truthNow = () => digits().map((n) => labels[n]);
  function overlayNow() {
    const [one, other] = layers();
    return overlay(one, other);
  }

  function draw() {
    pictures.paintOverlay(overlayNow(), widget.colours);
    stage.show(truthNow());
  }
  function see() {
    const image = overlayNow();
    seen = { image, u_hat: network.look(image).u_hat };
  }
  function read() {
    const truth = truthNow();
    const { image, u_hat } = seen;
    scene = { truth, reading: readingOf(network, image, u_hat, truth, get("asked")) };
  }
  function tell() {
    const { truth, reading } = scene;
    pictures.paint(reading, widget.colours);
    pictures.name(truth, reading);
    lengths.show(truth, reading);
    root.dataset.lengths = Array.from(reading.lengths, (x) => x.toFixed(4)).join(",");
    say(inWords(truth, reading));
  }
  return Object.assign(draw, { rest: [see, read, tell] });
});
