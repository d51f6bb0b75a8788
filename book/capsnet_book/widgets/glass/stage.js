// The glass network's stage: the picture, the controls around it, and the network's answers.
import { measure, wantsCalm } from "../shared/controls.js";
import { digitAt, makePainter, themeColours, whenThemeChanges } from "../shared/digits.js";
import { makePad } from "../shared/pad.js";
import { t } from "../shared/t.js";
import {
  element,
  inSpareTime,
  makeAnnouncer,
  makeRoot,
  makeTurns,
  memoized,
  setAttributes,
} from "../shared/ui.js";
import { makeControls } from "./controls.js";
import { makeHands } from "./hands.js";
import { planOf } from "./layout.js";
import { makeGlance } from "./lens.js";
import { hasInk, makeSession, scoreOf } from "./model.js";
import { lay, makePicture } from "./paint.js";
import { makeSigns } from "./signs.js";

/** @import { Focus } from "./model.js" */

/** For screen readers. */
export const LABEL = t`The network, to be taken apart`;
const SWEEP = 600; // milliseconds from the digit to its drawing
const REST = 400; // milliseconds without a change before the parts come to rest
const WRITING = 1200; // milliseconds in which a digit is written
/** A seven as a hand writes it, points in the unit square. @type {number[][][]} */
const SEVEN = [
  alongLine([
    [0.24, 0.27],
    [0.74, 0.25],
    [0.42, 0.86],
  ]),
];
const HAS_VOTES = ["primary", "predictions", "classes"];

/** Points along a line with corners, closely enough to be written. @param {number[][]} corners */
function alongLine(corners, steps = 16) {
  return corners.slice(1).flatMap((end, n) =>
    Array.from({ length: steps + 1 }, (_, k) =>
      end.map((to, d) => {
        const from = corners[n][d];
        return from + ((to - from) * k) / steps;
      }),
    ),
  );
}

/** The index of a digit among ten samples, if it is one of them. @param {Uint8Array} samples */
function sampleIndex(samples, /** @type {Uint8Array} */ bytes) {
  const labels = Array.from({ length: 10 }, (_, n) => n);
  return labels.find((n) => digitAt(samples, n).every((ink, k) => ink === bytes[k]));
}

/**
 * A stage shows a network, use(network), at work on a digit, show(bytes). When something changes,
 * the pad is painted in the next frame; the parts follow one after another in spare time, and come
 * to rest when nothing has changed for a while.
 */
export class Stage {
  /** The part that is pointed at. @type {Focus | null} */
  focus = null;
  /** The part in the lens: the one that was pointed at last. @type {Focus | null} */
  looked = null;
  /** Points of the line that cuts votes. @type {number[][]} */
  cutting = [];
  /** Whether a touch takes apart. */
  apart = false;
  /** Whether more changes are expected soon. */
  changing = false;
  /** The network with parts taken out, model.js. @type {any} */
  session;
  /** Where the parts stand, layout.js. @type {any} */
  plan;

  /** Functions that stop it, when it is taken down. @type {(() => void)[]} */
  stops;

  #padIsNew = false; // whether the pad has changed since it was painted
  #isTold = true; // whether the answer has been announced
  #restTimer;

  /**
   * @param {{ samples: Uint8Array, lit: string[], first: Uint8Array,
   *   keep: (bytes: Uint8Array) => void, answered: (stage: Stage) => void,
   *   isPlain?: boolean, root?: HTMLElement }} options
   *   samples: a digit of each class; lit: the parts to enlarge; first: the digit to begin with;
   *   keep: called with each new digit; answered: called when an answer has come to rest; isPlain:
   *   whether plain words stand in place of shapes; root: the element to fill
   */
  constructor(options) {
    const { samples, lit, first, keep, answered } = options;
    const { isPlain = false, root = makeRoot("Glass", LABEL) } = options;
    this.lit = lit;
    this.isPlain = isPlain;
    this.keep = keep;
    this.answered = answered;
    this.root = root;
    this.painter = makePainter(document.documentElement);
    this.colours = themeColours(document.documentElement);
    this.say = makeAnnouncer(this.root);
    this.pad = makePad({ drawn: () => this.#padChanged(), settled: () => this.#settled() });
    this.pad.show(first);
    this.picture = makePicture();
    this.signs = makeSigns();
    this.glance = makeGlance(this, lit);
    this.veil = element("div", { class: "veil" });
    this.area = element("div", { class: "scene" });
    this.hands = makeHands(this, this.area);
    this.controls = this.#makeControls(samples);
    this.turns = this.#makeTurns(samples);
    this.askForFrame = inSpareTime(
      () => this.#paintPad(),
      (room) => this.turns.go(room),
      () => this.#rest(),
    );
    const canvases = Object.values(this.picture.canvases);
    const buttons = this.hands.map(({ node }) => node);
    this.area.append(...canvases, this.signs.node, this.veil, this.pad.frame, ...buttons);
    this.root.append(this.area, this.controls.row, this.glance.score, this.glance.node);
    this.size = measure(this.area, () => this.#layOut());
    this.stops = [this.size.stop, whenThemeChanges(() => this.#themeChanged())];
  }

  #makeControls(/** @type {Uint8Array} */ samples) {
    return makeControls(samples, {
      choose: (digit) => this.show(digit),
      setApart: (apart) => {
        this.apart = apart;
        this.root.toggleAttribute("data-apart", apart);
        this.changed();
      },
      addRounds: (count) => {
        this.session.setRounds(this.session.rounds + count);
        this.changed();
      },
      putTogether: () => {
        this.session.putTogether();
        this.changed();
      },
    });
  }

  /** The parts that follow the pad: the row of digits, the network, and all that shows it. */
  #makeTurns(/** @type {Uint8Array} */ samples) {
    const markDigit = memoized(() =>
      this.controls.digits.show(sampleIndex(samples, this.pad.bytes()), this.painter),
    );
    const views = [...this.picture.show, this.signs.draw, this.glance.show];
    return makeTurns([
      () => markDigit([this.pad.image(), this.colours]),
      () => this.#read(),
      ...views.map((show) => () => show({ ...this.session, ...this })),
    ]);
  }

  // ------------------------------------------------------------------- from outside

  /** Shows another network. */
  use(/** @type {any} */ network) {
    this.session = makeSession(network);
    this.looked = null;
    this.session.read(this.pad.image());
    this.point(null);
    this.changed(0);
    this.#layOut();
    this.#newDigit();
  }

  /** Shows another digit, bytes [784]. */
  show(/** @type {Uint8Array} */ digit) {
    this.keep(digit);
    this.pad.show(digit);
    this.#newDigit();
  }

  /** Writes a seven, stroke by stroke, which runs through the network. It is not kept. */
  write() {
    if (wantsCalm()) return;
    this.pad.trace(SEVEN, WRITING, () => this.#newDigit());
  }

  /** Copies a part to a canvas. @param {string} part @param {HTMLCanvasElement} canvas */
  copy(part, canvas) {
    if (part === "image") this.painter.paint(canvas, this.pad.image());
    else this.picture.copy(part, this.plan, canvas);
  }

  /** Points at a part, or at none; the lens keeps the last one. */
  point(/** @type {Focus | null} */ focus) {
    this.focus = focus;
    this.root.toggleAttribute("data-focus", HAS_VOTES.includes(focus?.part));
    if (focus) this.looked = focus;
    this.schedule();
  }

  /**
   * Shows that the network answers otherwise; more changes are expected for `wait` milliseconds.
   */
  changed(wait = REST) {
    setAttributes(this.root, { "data-prediction": this.session.answer.prediction });
    this.controls.show(this.session, this.apart);
    this.#follow(wait);
  }

  /** Lets all parts show what is new. */
  schedule() {
    this.turns.begin();
    this.askForFrame();
  }

  // ------------------------------------------------------------------- the pad

  #padChanged(wait = REST) {
    this.#padIsNew = true;
    this.#follow(wait);
  }

  /** A stroke is finished. */
  #settled() {
    const bytes = this.pad.bytes();
    if (hasInk(bytes)) this.keep(bytes);
    this.#newDigit();
  }

  /** Lets the answer to a new digit appear from left to right, or from top to bottom. */
  #newDigit() {
    if (this.plan && !wantsCalm()) {
      const scale = ["1 1", this.plan.high ? "1 0" : "0 1"];
      this.veil.animate({ scale }, { duration: SWEEP, easing: "ease-in-out" });
    }
    this.#padChanged(0);
  }

  /** Paints the pad. Returns whether the parts can be shown. */
  #paintPad() {
    if (this.#padIsNew) this.pad.paint(this.painter, this.colours);
    this.#padIsNew = false;
    return Boolean(this.plan);
  }

  /** Runs the pad's digit through the network. */
  #read() {
    const image = this.pad.image();
    if (this.session.image === image) return;
    this.session.read(image);
    this.changed(this.changing ? REST : 0);
  }

  // ------------------------------------------------------------------- coming to rest

  /** Lets the parts follow now, and once more after `wait` milliseconds without a change. */
  #follow(/** @type {number} */ wait) {
    this.#isTold = false;
    this.changing = wait > 0;
    this.schedule();
    clearTimeout(this.#restTimer);
    if (wait) this.#restTimer = setTimeout(() => this.#follow(0), wait);
  }

  /**
   * Announces the result to screen readers and notifies the page, once nothing changes any more.
   */
  #rest() {
    if (this.#isTold || this.changing) return;
    this.#isTold = true;
    for (const { tell } of this.hands) tell();
    this.say(scoreOf(this.session));
    this.answered(this);
  }

  // ------------------------------------------------------------------- layout and theme

  #layOut() {
    if (!this.session || !this.size.width) return;
    this.plan = planOf(this.size, this.lit, this.session.network);
    const { boxes, high } = this.plan;
    const { frame, buttons } = this.pad;
    // In a high stage there is no room under the pad for its buttons: they follow the digits.
    if (high) this.controls.digits.row.after(buttons);
    else this.area.append(buttons);
    lay(frame, boxes.image);
    lay(buttons, { ...boxes.image, y: boxes.image.y + boxes.image.h + 8, h: 36 });
    for (const { part, node } of this.hands) lay(node, boxes[part]);
    this.#padChanged(0);
  }

  #themeChanged() {
    this.painter.refresh();
    this.colours = themeColours(document.documentElement);
    this.#padChanged(0);
  }
}
