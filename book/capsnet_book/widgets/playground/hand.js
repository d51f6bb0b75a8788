// Teach it your hand: a pad, what the network says, what the reader says, and its sixteen numbers
// to slide. The worker reads; the page draws, so that a slider answers at once while it learns.
import { digitFigure, PIXELS } from "../shared/digits.js";
import { makePad } from "../shared/pad.js";
import { fold } from "../shared/stage.js";
import { t } from "../shared/t.js";
import {
  element,
  format,
  makeAnnouncer,
  memoized,
  oncePerFrame,
  pushButton,
  setAttributes,
  write,
} from "../shared/ui.js";
import { makeNumbers } from "./numbers.js";
import { setOf } from "./sets.js";
import { makeSigning } from "./signing.js";
import { J, OWN, WALL } from "./sizes.js";
import { makeWall } from "./wall.js";

const TITLE = t`Teach it your hand`;

class Hand {
  #widget;
  #session;
  #busy = false; // while the network reads
  #image; // that it read last
  /** @type {import("./numbers.js").Reading | undefined} */
  #reading; // what it made of that image, if anything

  /** @param {any} widget @param {any} session */
  constructor(widget, session) {
    this.#widget = widget;
    this.#session = session;
    this.schedule = oncePerFrame(() => this.#read());
    this.words = { lead: element("span"), name: element("b"), rest: element("span") };
    this.says = element("p", { class: "says", "data-role": "says" }, ...Object.values(this.words));
    this.drawing = digitFigure("redrawn");
    this.drawing.name(t`its drawing`, t`Your drawing, drawn again by the network`);
    this.numbers = makeNumbers(widget, this.drawing.canvas);
    const settled = this.schedule;
    const drawn = () => {
      session.handMoves();
      this.schedule();
    };
    this.pad = makePad({ drawn, settled, invitation: t`draw here` });
    this.signing = makeSigning(session, this.pad, () => this.#clear());
    this.buttons = Array.from({ length: J }, (_, digit) => this.#button(digit));
    this.ownDigits = makeWall(widget, "own", 5, (n) => this.#showAgain(n));
    this.ownDigits.figure.hidden = true; // there are none yet
    const take = pushButton("take", t`Take the image chosen in the wall`, () =>
      this.#takeWatched(),
    );
    const about = t`Slide the sixteen numbers that it drew this from`;
    this.more = fold(about, take, this.numbers.node);
    this.node = this.#layOut();
    this.announce = makeAnnouncer(this.node);
    this.repaint = memoized(this.schedule);
    this.schedule();
    widget.stops.push(this.schedule.cancel, this.announce.cancel);
  }

  #button(/** @type {number} */ digit) {
    return pushButton("is", String(digit), () => this.#teach(digit));
  }

  #layOut() {
    const question = { class: "ten", role: "group", "aria-label": t`What is it?` };
    this.ten = element("div", question, ...this.buttons);
    this.more.addEventListener("toggle", () => this.numbers.refresh());
    return element(
      "div",
      { class: "hand", role: "group", "aria-label": TITLE },
      element("div", { class: "lead" }, element("span", {}, TITLE), this.signing.button),
      element("div", { class: "pad-place" }, this.pad.frame, this.pad.buttons),
      element(
        "div",
        { class: "answers" },
        element("div", { class: "answer" }, this.says, this.drawing.node),
        this.ten,
        this.signing.node,
      ),
      this.ownDigits.figure,
    );
  }

  /** Let the network read what is on the pad, once it has read what was there before. */
  async #read() {
    this.pad.paint(this.#widget.painter, this.#widget.colours);
    if (this.#busy) return;
    this.#busy = true;
    const image = this.pad.image();
    try {
      this.#reading = await this.#ask(image);
      this.#say();
    } catch (error) {
      this.#reading = undefined;
      this.#write(t`It could not read that (${error.message}). Draw it again.`);
    } finally {
      this.#busy = false;
    }
    // A button that is disabled otherwise would lose the focus.
    for (const button of this.buttons) setAttributes(button, { "aria-disabled": !this.#reading });
    this.signing.show();
    this.numbers.take(this.#reading, image === this.#image);
    this.#image = image;
    if (this.pad.image() !== image) this.schedule();
  }

  /** @returns {Promise<import("./numbers.js").Reading | undefined>} */
  async #ask(/** @type {Float32Array} */ image) {
    if (this.pad.empty()) return undefined;
    return this.#session.trainees[0]?.call("read", image);
  }

  /** Write a sentence, of which a name may be set off. (New nodes would cost styles and layout.) */
  #write(lead, name = "", rest = "") {
    write(this.words.lead, lead);
    write(this.words.name, name);
    write(this.words.rest, rest);
  }

  #say() {
    if (this.signing.isOpen) this.#write(this.signing.words());
    else if (this.pad.empty()) this.#write(setOf(this.#session.settings).draw);
    else if (this.#reading) this.#sayAnswer(this.#reading.lengths);
    else this.#write(t`Nobody is there to read it yet: press Train.`);
  }

  #sayAnswer(/** @type {Float32Array} */ lengths) {
    const [best, next] = Array.from(lengths.keys()).sort((p, q) => lengths[q] - lengths[p]);
    const names = this.#session.names();
    const other = `${names[next]}: ${format(lengths[next])}`;
    const doubt = t` (${format(lengths[best])}; ${other}). What is it?`;
    this.#write(t`It says `, names[best], doubt);
    this.announce(this.says.textContent);
  }

  #teach(/** @type {number} */ digit) {
    if (this.pad.empty() || !this.#session.trainees.length) return;
    const image = this.pad.image();
    this.#session.act(() => this.#session.teach(image, digit));
    this.#clear();
  }

  /** Empty the pad for the next drawing. */
  #clear() {
    this.pad.show(new Uint8Array(PIXELS));
    this.schedule();
  }

  /** Put the n-th of the reader's own digits that are shown on the pad again. */
  #showAgain(/** @type {number} */ n) {
    const image = this.#session.own.images.slice(-OWN)[n];
    this.pad.show(image.map((grey) => 255 * grey));
    this.schedule();
  }

  /** Put the image that goes through the network on the pad: its numbers can be slid, too. */
  #takeWatched() {
    const { network } = this.#session.watched;
    const { image } = this.#session.present()[network].watched;
    this.pad.show(image.map((grey) => 255 * grey));
    this.schedule();
  }

  /** Name the ten answers; while the reader draws a sign there are none to give. */
  #nameButtons() {
    const names = this.#session.names();
    this.ten.hidden = this.signing.isOpen;
    this.signing.show();
    this.buttons.forEach((button, k) => {
      write(button, names[k]);
      setAttributes(button, { "aria-label": t`It is: ${names[k]}` });
    });
  }

  /** Show the reader's own digits, and read the pad anew once the network has learned more. */
  show() {
    this.#nameButtons();
    const [frame] = this.#session.present();
    const { pictures, watched } = frame;
    const wrong = frame.wrong.slice(WALL);
    this.ownDigits.figure.hidden = wrong.length === 0 || watched.drawing.length === 0;
    if (!this.ownDigits.figure.hidden) {
      const right = wrong.filter((isWrong) => !isWrong).length;
      const words = t`Yours, as it draws them: ${right} of ${wrong.length} right. They have every
        tenth place.`;
      this.ownDigits.show(pictures.subarray(WALL * PIXELS), wrong, words);
    }
    const { data } = this.#session.settings[0];
    this.repaint([this.#widget.colours, data, this.pad.empty() || frame]);
  }
}

/**
 * Make the part of the page that the reader teaches with.
 * @param {any} widget
 * @param {any} session
 */
export function makeHand(widget, session) {
  const hand = new Hand(widget, session);
  const target = hand.pad.canvas;
  return { node: hand.node, target, more: hand.more, show: () => hand.show() };
}
