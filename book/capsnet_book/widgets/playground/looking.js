// The network answers: what is pointed at lights up and explains itself as in the glass network,
// while it learns. A click keeps a part, so that the way to the buttons may cross others. A hand may
// be laid on a filter and on a capsule: hold it silent, or change its weights.
import { makeHands } from "../glass/hands.js";
import { makeLens } from "../glass/lens.js";
import { sentenceOn } from "../glass/model.js";
import { lay } from "../glass/paint.js";
import { makeMarks } from "../glass/signs.js";
import { ARROWS, measure } from "../shared/controls.js";
import { t } from "../shared/t.js";
import {
  element,
  makeAnnouncer,
  oncePerFrame,
  pushButton,
  rowOf,
  setAttributes,
  write,
} from "../shared/ui.js";
import { planOf } from "./passage_plan.js";
import { readingOf } from "./reading.js";
import { setOf } from "./sets.js";

/** @import { Focus } from "../glass/model.js" */
/** @import { Box } from "../glass/pen.js" */

const HELD = t`Enter holds it silent, or lets it speak.`;
const PARTS = { maps: HELD, primary: HELD, predictions: "", classes: "" };
const HINT = t`Point at any part; a click keeps it. `;
const PINNED = t` Kept here; Esc lets go.`;
const NOTHING = t`Nothing is computed yet: no length is known, and each class has an even share.
  Press Train: then each part says what it computes.`;
const CNN = t`A CNN: after the filters two layers of plain numbers and a softmax, no capsules, no
  votes. Choose a tile of the other wall.`;
/** A click on one of these lets no part go. */
const CONTROLS = [
  "button",
  "input",
  "select",
  "a",
  "summary",
  "dialog",
  ".wall",
  ".pad",
  ".glance",
];
const FACTOR = 2; // by which the weights of a part grow or shrink at a press

/**
 * Return where a node stands in an area.
 * @param {Element} area @param {Element} node @returns {Box}
 */
function boxIn(area, node) {
  const { left, top } = area.getBoundingClientRect();
  const { x, y, width, height } = node.getBoundingClientRect();
  return { x: x - left, y: y - top, w: width, h: height };
}

/** The stage of the hands (glass/hands.js) that point at a network in training. */
class Looking {
  /** The part that is pointed at. @type {Focus | null} */
  focus = null;
  /** The part that was clicked. @type {Focus | null} */
  pinned = null;
  #last = /** @type {Focus | null} */ (null); // the part that was pointed at last
  apart = false; // a touch takes nothing apart
  cutting = []; // no line cuts votes
  /** What the hands look at: the reading, and what lays a hand on it. @type {any} */
  session;
  /** Where the parts stand. @type {any} */
  plan;
  #widget;
  #training; // the session of the page
  #area;
  #pictures; // the elements of the parts
  #types = 0; // of primary capsules, for which the plan is
  #isCNN = false; // whether the network that is watched has no capsules at all

  /**
   * @param {any} widget @param {any} training  session.js
   * @param {HTMLElement} area  of the parts
   * @param {Record<string, Element>} pictures  by the names of the glass network's parts
   */
  constructor(widget, training, area, pictures) {
    this.#widget = widget;
    this.#training = training;
    this.#area = area;
    this.#pictures = pictures;
    this.schedule = oncePerFrame(() => this.#draw());
    this.say = makeAnnouncer(area);
    this.marks = makeMarks();
    this.lens = makeLens(() => this.schedule());
    this.hands = makeHands(this, area, PARTS);
    this.words = element("p", { class: "words", "data-role": "looked" });
    this.buttons = this.#makeButtons();
    const about = { class: "glance", role: "group", "aria-label": t`The part that is pointed at` };
    const right = element("div", { class: "laid" }, this.words, rowOf(...this.buttons.all));
    this.node = element("div", about, this.lens.node, right);
    area.append(this.marks.node, ...this.hands.map(({ node }) => node));
    this.#pinOnClick();
    this.size = measure(area, () => this.#layOut());
    widget.stops.push(this.size.stop, this.lens.stop, this.say.cancel, this.schedule.cancel);
  }

  /** The part in the lens, on which a hand is laid: the one that is kept, or pointed at last. */
  get looked() {
    return this.pinned ?? this.#last;
  }

  /** A click on a part keeps it, and so do the arrow keys; Escape or a click beside it lets go. */
  #pinOnClick() {
    const { root } = this.#widget;
    const isPart = (/** @type {Event} */ { target }) =>
      target instanceof Element && target.matches(".probe");
    this.#area.addEventListener("click", (event) => isPart(event) && this.#pin(this.focus));
    this.#area.addEventListener("keydown", (event) => {
      if (isPart(event) && event.key in ARROWS) this.#pin(this.focus);
    });
    root.addEventListener("click", ({ target }) => {
      if (!target.closest(CONTROLS.join())) this.#pin(null);
    });
    root.addEventListener("keydown", ({ key }) => key === "Escape" && this.#pin(null));
  }

  #pin(/** @type {Focus | null} */ part) {
    if (!part && !this.pinned) return;
    this.pinned = part;
    this.point(part);
  }

  #makeButtons() {
    const touch = (work) => () => this.#canTouch() && this.#training.act(() => work(this.looked));
    const nudge = (factor) => touch((looked) => this.#training.nudge(looked, factor));
    const hold = pushButton(
      "hold",
      "",
      touch((looked) => this.#training.hold(looked, this.session.isKept(looked))),
    );
    const larger = pushButton("larger", t`Weights × ${FACTOR}`, nudge(FACTOR));
    const smaller = pushButton("smaller", `÷ ${FACTOR}`, nudge(1 / FACTOR), {
      "aria-label": t`Weights ÷ ${FACTOR}`,
    });
    const back = pushButton("back", t`Undo`, () =>
      this.#training.act(() => this.#training.takeBack()),
    );
    return { hold, larger, smaller, back, all: [hold, larger, smaller, back] };
  }

  #layOut() {
    const entries = Object.entries(this.#pictures);
    const boxes = Object.fromEntries(
      entries.map(([part, node]) => [part, boxIn(this.#area, node)]),
    );
    if (!boxes.image.w || !this.#types) return;
    this.plan = planOf(boxes, this.#types);
    for (const { part, node } of this.hands) lay(node, boxes[part]);
    this.schedule();
  }

  /** Point at a part, or at none; the lens keeps the last one, or the one that was clicked. */
  point(/** @type {Focus | null} */ focus) {
    this.focus = focus;
    if (focus) this.#last = focus;
    const lit = focus ?? this.pinned;
    const hasVotes = lit !== null && lit.part !== "maps";
    this.#area.toggleAttribute("data-focus", hasVotes);
    this.schedule();
  }

  /** Nothing is to be done: a hand that was laid on the network shows with its next frame. */
  changed() {}

  #draw() {
    this.#tellButtons();
    this.node.classList.toggle("blank", !this.session);
    if (!this.session || !this.plan) return write(this.words, this.#isCNN ? CNN : NOTHING);
    const { plan, session } = this;
    const { colours } = this.#widget;
    const looked = this.looked ?? session.strongest("predictions");
    const hint = this.looked ? "" : HINT;
    const kept = this.pinned ? PINNED : "";
    write(this.words, `${hint}${sentenceOn(looked, session)}${kept}`);
    const scene = { ...session, plan, focus: this.focus ?? this.pinned, colours };
    this.marks.draw(scene);
    return this.lens.show({ ...scene, focus: looked });
  }

  /** Return whether a hand can be laid on the part in the lens. */
  #canTouch() {
    return Boolean(this.session && this.looked && PARTS[this.looked.part]);
  }

  #tellButtons() {
    const { hold, larger, smaller, back } = this.buttons;
    const canTouch = this.#canTouch();
    const isSilent = canTouch && !this.session.isKept(this.looked);
    write(hold, isSilent ? t`Let it speak` : t`Hold it silent`);
    for (const button of [hold, larger, smaller])
      setAttributes(button, { "aria-disabled": !canTouch });
    setAttributes(back, { "aria-disabled": !this.#training.canTakeBack() });
  }

  /** Look at a frame; one in which nothing was computed has nothing to look at. */
  show(/** @type {import("./untrained.js").Frame} */ frame) {
    const isComputed = frame.matrices !== undefined;
    for (const { node } of this.hands) node.hidden = !isComputed;
    this.marks.node.toggleAttribute("hidden", !isComputed);
    this.session = isComputed ? this.#readingOf(frame) : undefined;
    this.#isCNN = frame.net === "cnn";
    if (frame.types !== this.#types) {
      this.#types = frame.types;
      this.focus = null;
      this.pinned = null;
      this.#last = null;
      this.#layOut();
    }
    // Names that change ten times a second would be read out ten times a second.
    if (isComputed && this.plan && !this.#training.running)
      for (const { tell } of this.hands) tell();
    this.schedule();
  }

  #readingOf(frame) {
    const { settings, watched } = this.#training;
    const { bug } = settings[watched.network] ?? settings[0];
    const words = { names: this.#training.names(), input: setOf(settings).one, bug };
    const reading = readingOf(frame, words);
    const setKept = (/** @type {Focus} */ part, /** @type {boolean} */ keep) =>
      this.#training.act(() => this.#training.hold(part, !keep));
    return { ...reading, setKept };
  }
}

/**
 * Let a network's picture answer to the pointer, the keys and a screen reader.
 * @param {any} widget @param {any} training  session.js
 * @param {HTMLElement} area @param {Record<string, Element>} pictures
 */
export const makeLooking = (widget, training, area, pictures) =>
  new Looking(widget, training, area, pictures);
