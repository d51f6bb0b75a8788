// One digit, one dial: a digit turns under the reader's hand. How long its capsule stays, and what
// share other networks give its class, is drawn while it turns. First the reader says how far the
// capsule will follow. In chapter 2 a patch is on the dial instead.
import { arrowInWords, makeCapsuleArrow } from "./dial/capsule.js";
import { makeChart } from "./dial/chart.js";
import { buildPatch } from "./dial/patch.js";
import { makeCapsules, makeOther } from "./dial/readers.js";
import { makeRecord, reachOf, turnedDigit } from "./dial/record.js";
import { question, sentenceOf, sideOf, turnInWords } from "./dial/words.js";
import { makeDial, onRing } from "./shared/dial.js";
import { digitAt, digitFigure, digitRow, greysOf } from "./shared/digits.js";
import { makePad } from "./shared/pad.js";
import { dot } from "./shared/principal.js";
import { defineWidget } from "./shared/stage.js";
import { t } from "./shared/t.js";
import {
  element,
  figure,
  format,
  memoized,
  perObject,
  pushButton,
  rowOf,
  setAttributes,
  svg,
  write,
} from "./shared/ui.js";

/** @import { Answer, Reader } from "./dial/readers.js" */

const LIMIT = 90; // degrees
const TICKS = [-90, -45, 0, 45, 90];
const PER_DEGREE = 28; // milliseconds
const SHORTEST = 700;

// --------------------------------------------------------------------------------------- the digit

/**
 * The digit that is turned: one that is drawn here, else the one that the page keeps, else a given
 * one. now() -> { id, image, label }; its class is read by `classOf` where none is given.
 * @param {any} widget @param {(image: Float32Array) => number} classOf
 */
function makeSubject({ get, set, host, painter, colours, redraw }, classOf) {
  const samples = greysOf(get("images")); // [N, 784]
  let index = get("index");
  let own = false;
  /** The picture that was drawn, or a digit's index. @type {Float32Array | number | undefined} */
  let id;
  let label = 0;
  const drawn = () => {
    own = !pad.empty();
    redraw();
  };
  const pad = makePad({ drawn, settled: drawn });
  const kept = host?.keptDigit?.();
  if (kept) {
    pad.show(kept);
    own = !pad.empty();
  }
  const name = (/** @type {number} */ digit) => t`Turn the handwritten ${digit}`;
  const digits = digitRow(get("labels"), samples, name, (n) => {
    own = false;
    set({ index: n });
    redraw();
  });

  function now() {
    if (get("index") !== index) own = false; // a prompt in the text asks for another digit
    index = get("index");
    const image = own ? pad.image() : digitAt(samples, index);
    const nowId = own ? image : index;
    if (nowId !== id) label = own ? classOf(image) : get("labels")[index];
    id = nowId;
    return { id, image, label };
  }

  function show() {
    digits.show(own ? null : get("index"), painter);
    pad.paint(painter, colours());
  }
  const drawing = element("div", { class: "own-digit" }, pad.frame, pad.buttons);
  return { row: digits.row, drawing, now, show };
}

// ------------------------------------------------------------------------------------ the pictures

/** The dial with its ticks and the mark of the guess. @param {any} widget */
function makeGuessDial({ get }, /** @type {(turn: number) => void} */ turnTo) {
  const ticks = TICKS.map((at) => {
    const [x1, y1] = onRing(at, 110);
    const [x2, y2] = onRing(at, 117);
    return svg("line", { class: "tick", x1, y1, x2, y2 });
  });
  const mark = svg("path", { class: "guess-mark", d: "M0 0L-6 -11H6Z" });
  const dial = makeDial({
    limit: LIMIT,
    marks: [...ticks, mark],
    label: t`Turn the digit. Arrow keys turn it.`,
    turnTo,
    turnNow: () => get("turn"),
  });
  /** @param {number | null} guess */
  function showGuess(guess) {
    const [x, y] = onRing(guess ?? 0, 108);
    setAttributes(mark, { transform: `translate(${x} ${y}) rotate(${-(guess ?? 0)})` });
    mark.toggleAttribute("hidden", guess === null);
  }
  return { ...dial, caption: element("figcaption"), showGuess };
}

/** The stage: three pictures in a row, and the lines under them. */
function stageOf(dial, /** @type {Element[]} */ pictures, /** @type {Element} */ chart) {
  const turned = figure("dial-figure", dial.node, dial.caption);
  return element("div", { class: "turn-dial" }, turned, ...pictures, chart);
}

/** The capsule as an arrow, and its drawing. @param {ReturnType<typeof makeCapsules>} capsules */
function makeCapsuleView(capsules, painter) {
  const arrow = makeCapsuleArrow();
  const caption = element("figcaption");
  const drawn = digitFigure("drawn");
  /** @type {{ up: number[], right: number[] }} */
  let plane;
  const tipOf = (/** @type {Float32Array} */ capsule) => [
    dot(capsule, plane.right),
    dot(capsule, plane.up),
  ];

  const tipsOf = perObject((/** @type {[number, Answer][]} */ way) =>
    way.map(([, { capsule }]) => tipOf(capsule)),
  );

  /** @param {Float32Array} image @param {number} label */
  function begin(image, label) {
    plane = capsules.planeOf(image, label);
  }

  /** @param {Answer} answer @param {number} label @param {[number, Answer][]} way */
  function show(answer, label, way) {
    const tip = tipOf(answer.capsule);
    arrow.show(tip, tipsOf(way), arrowInWords(tip));
    const name = capsules.names[label];
    write(caption, t`the capsule of the ${name}, ${format(answer.value)} long`);
    painter.paint(drawn.canvas, capsules.drawingOf(answer.capsule, label));
    drawn.name(t`what this capsule draws`, t`What the capsule of the ${name} draws`);
  }
  return { nodes: [figure("", arrow.picture, caption), drawn.node], begin, show };
}

// ------------------------------------------------------------------------------------ the networks

/**
 * The networks that are compared with the capsules. load() fetches them, once each; those that have
 * come are in `here`.
 * @param {any} widget
 */
function makeOthers({ get, host }, /** @type {() => void} */ changed) {
  /** @type {Reader[]} */
  const here = [];
  let isLoading = false;
  let problem = "";

  async function load() {
    if (isLoading) return;
    isLoading = true;
    try {
      for (const [key, reference] of Object.entries(get("others"))) {
        if (here.some((reader) => reader.key === key)) continue;
        here.push(await makeOther(key, (await host.getModel(reference)).get("weights")));
        changed();
      }
      problem = "";
    } catch (error) {
      isLoading = false; // the next turn tries again
      problem = t` Another network cannot be fetched: ${error.message}`;
    }
  }
  return { here, load, problem: () => problem };
}

/** A network's answers as points [degrees, value]. */
const lineOf = perObject((/** @type {[number, Answer][]} */ answers) =>
  answers.map(([at, { value }]) => [at, value]),
);

/** Where a line ends: at the angle, or as near to it as is known. */
function endOf(/** @type {number[][]} */ line, /** @type {number} */ turn) {
  const distance = (/** @type {number[]} */ point) => Math.abs(point[0] - turn);
  return line.reduce((best, point) => (distance(point) < distance(best) ? point : best));
}

// -------------------------------------------------------------------------------------- the widget

/** The angle after a share t of a way through some angles. @param {number[]} stops */
export function alongWay(stops, /** @type {number} */ t) {
  const legs = stops.slice(1).map((stop, k) => Math.abs(stop - stops[k]));
  let left = t * legs.reduce((sum, leg) => sum + leg, 0);
  for (const [k, leg] of legs.entries()) {
    if (left <= leg) return stops[k] + Math.sign(stops[k + 1] - stops[k]) * left;
    left -= leg;
  }
  return stops.at(-1);
}

/** The buttons, and what they do. @param {any} widget @param {(turn: number) => void} visit */
function makeButtons({ get, set, animate, halt }, visit, forget) {
  /** Turns the digit through some angles. @param {number[]} stops */
  function swing(...stops) {
    const way = stops.slice(1).reduce((sum, stop, k) => sum + Math.abs(stop - stops[k]), 0);
    const draw = (/** @type {number} */ t) => {
      if (t === 1) for (const stop of stops) visit(stop);
      const turn = Math.round(alongWay(stops, t)) || 0;
      if (turn !== get("turn")) set({ turn });
    };
    animate(draw, Math.max(SHORTEST, way * PER_DEGREE));
  }

  function reveal(/** @type {number | null} */ guess) {
    set({ guess, revealed: true });
    swing(0, guess ?? LIMIT);
  }
  const primary = { class: "primary-action" };
  const say = pushButton("guess", t`It follows to here`, () => reveal(get("turn")), primary);
  const skip = pushButton("show", t`Show me`, () => reveal(null));
  const all = pushButton(
    "all",
    t`Turn it all the way`,
    () => swing(get("turn"), 90, -90, 0),
    primary,
  );
  const again = pushButton("again", t`Guess again`, () => {
    halt();
    forget();
    set({ guess: null, revealed: false, turn: 0 });
  });

  const renew = memoized((isOpen, isUpright) => {
    for (const button of [say, skip]) button.hidden = isOpen;
    for (const button of [all, again]) button.hidden = !isOpen;
    say.disabled = isUpright;
  });
  function show(/** @type {boolean} */ isOpen) {
    const isUpright = get("turn") === 0;
    renew([isOpen, isUpright], isOpen, isUpright);
  }
  return { row: rowOf(say, skip, all, again), show };
}

/**
 * What is known of each network: its line, where it stands, how far it follows.
 * @param {Reader[]} readers @param {ReturnType<typeof makeRecord>} record
 * @param {{ turn: number, side: number }} _
 */
function findingsOf(readers, record, { turn, side }) {
  return readers.flatMap((reader) => {
    const line = lineOf(record.inOrder(reader));
    if (!line.length) return [];
    const end = endOf(line, turn);
    const { key, name } = reader;
    return [{ key, name, line, end, value: end[1], reach: reachOf(line, side) }];
  });
}

const LABEL = t`Turn a digit, and see how far its capsule follows`;

async function buildDigit(widget) {
  const { root, get, set, layOut, painter, stops, halt } = widget;
  const redraw = () => widget.redraw(); // which start() sets later
  const capsules = makeCapsules(await widget.weights("network"));
  const others = makeOthers(widget, redraw);
  const readers = () => [capsules, ...others.here];
  const record = makeRecord(readers, redraw);
  const subject = makeSubject(
    { ...widget, redraw, colours: () => widget.colours },
    (image) => capsules.read(image, 0).prediction,
  );
  const dial = makeGuessDial(widget, (turn) => {
    halt();
    if (turn !== get("turn")) set({ turn });
  });
  const view = makeCapsuleView(capsules, painter);
  const isAlone = Object.keys(get("others")).length === 0;
  const chart = makeChart({ trained: get("trained"), isAlone, changed: redraw });
  /** @type {Float32Array | number | undefined} */
  let begun; // the digit that the record is of
  /** @type {Float32Array | number | undefined} */
  let guessOf; // the digit that the guess is of
  const forget = () => {
    begun = undefined;
    guessOf = undefined;
  };
  const buttons = makeButtons(widget, record.visit, forget);
  const { say } = layOut({
    stage: stageOf(dial, view.nodes, chart.node),
    hands: [buttons.row, subject.row],
    more: [subject.drawing],
    about: t`Turn a digit of your own`,
  });
  stops.push(chart.stop, record.stop);

  /** What the page says and shows once the reader has guessed. */
  function tell(/** @type {number} */ turn, /** @type {number} */ label, guess) {
    others.load();
    record.visit(turn);
    const reading = record.read(capsules, turn);
    const side = sideOf(turn || guess);
    const findings = findingsOf(readers(), record, { turn, side });
    view.show(reading, label, record.inOrder(capsules));
    chart.show(findings, guess);
    const upright = record.read(capsules, 0).value;
    const { names } = capsules;
    const answer = names[reading.prediction];
    const words = { turn, label: names[label], answer, guess, upright, side, findings };
    say(sentenceOf(words) + others.problem());
    root.dataset.values = findings.map(({ value }) => value.toFixed(3)).join(",");
    root.dataset.reach = findings.map(({ reach }) => reach.at?.toFixed(1) ?? "").join(",");
    return t`${turnInWords(turn)}. The capsule is ${format(reading.value)} long.`;
  }

  function draw() {
    const { id, image, label } = subject.now();
    const turn = get("turn");
    const isOpen = get("revealed");
    if (id !== begun) {
      record.begin(image, label);
      view.begin(image, label);
      begun = id;
      guessOf ??= id;
    }
    const guess = guessOf === id ? get("guess") : null;
    painter.paint(dial.canvas, turnedDigit(image, turn));
    dial.canvas.setAttribute("aria-label", t`A handwritten ${label}, ${turnInWords(turn)}`);
    write(dial.caption, isOpen ? t`what the networks see` : t`turn it by the handle`);
    dial.showGuess(isOpen ? guess : null);
    root.dataset.turn = String(turn);
    if (root.hasAttribute("data-guessing") === isOpen) root.toggleAttribute("data-guessing");
    buttons.show(isOpen);
    subject.show();
    dial.show(turn, turnInWords(turn));
  }

  /** What takes longer than to turn the digit: the networks read it. */
  function answer() {
    const { id, label } = subject.now();
    const turn = get("turn");
    if (get("revealed")) {
      const guess = guessOf === id ? get("guess") : null;
      dial.show(turn, tell(turn, label, guess));
      return;
    }
    view.show(record.read(capsules, 0), label, []);
    chart.show([], turn || null);
    say(question(turn, String(label)));
  }
  return Object.assign(draw, { rest: [answer] });
}

export default defineWidget("TurnDial", LABEL, (widget) =>
  widget.get("thing") === "patch" ? buildPatch(widget) : buildDigit(widget),
);
