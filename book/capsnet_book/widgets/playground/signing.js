// Your own sign: a class of the reader's own in the place of another, from ten drawings on the pad.

import { t } from "../shared/t.js";
import { element, pushButton, write } from "../shared/ui.js";
import { setOf } from "./sets.js";
import { DRAWINGS, SIGN } from "./sign.js";
import { J } from "./sizes.js";

const USUAL_PLACE = 8; // the class that gives its place
const DRAW = t`Draw a sign of your own: a heart, a star, an initial.`;

class Signing {
  #session;
  #pad;
  #changed;
  /** @type {Float32Array[]} */
  #drawings = [];
  isOpen = false;

  /**
   * @param {any} session @param {any} pad
   * @param {() => void} changed  called when signing begins, goes on or ends
   */
  constructor(session, pad, changed) {
    this.#session = session;
    this.#pad = pad;
    this.#changed = changed;
    this.button = pushButton("sign", "", () => this.#toggle());
    this.options = Array.from({ length: J }, (_, j) => element("option", { value: j }));
    const about = { "aria-label": t`The class that gives its place`, "data-role": "place" };
    this.place = element("select", about, ...this.options);
    this.place.selectedIndex = USUAL_PLACE;
    this.next = pushButton("next", "", () => this.#take());
    this.node = element("div", { class: "signing", hidden: "" }, this.place, this.next);
  }

  /** Begin to draw a sign, leave it, or give the digit its place back. */
  #toggle() {
    this.#drawings = [];
    if (this.#session.own.sign) this.#session.act(() => this.#session.takeSign(undefined));
    else this.isOpen = !this.isOpen;
    this.#changed();
  }

  /** Take what is on the pad as one of the drawings; with the last one the network learns it. */
  #take() {
    if (this.#pad.empty()) return;
    this.#drawings.push(this.#pad.image());
    if (this.#drawings.length === DRAWINGS) {
      const sign = { place: this.place.selectedIndex, images: this.#drawings };
      this.isOpen = false;
      this.#drawings = [];
      this.#session.act(() => this.#session.takeSign(sign));
    }
    this.#changed();
  }

  /** Return what the reader is to do, in words. */
  words() {
    if (this.#drawings.length === 0) return t`${DRAW} Ten times, each a little different.`;
    return t`${this.#drawings.length} of ${DRAWINGS}. And once more, as your hand draws it.`;
  }

  show() {
    const { sign } = this.#session.own;
    const { names } = setOf(this.#session.settings);
    this.options.forEach((option, j) => {
      write(option, t`in the place of the ${names[j]}`);
    });
    const label = sign ? t`Give the ${names[sign.place]} its place back` : t`Your own sign ${SIGN}`;
    write(this.button, this.isOpen ? t`Leave it` : label);
    write(this.next, t`That is one (${this.#drawings.length} of ${DRAWINGS})`);
    this.node.hidden = !this.isOpen;
    this.next.setAttribute("aria-disabled", String(this.#pad.empty()));
  }
}

/**
 * Make the button that begins it, and what shows meanwhile.
 * @param {any} session @param {any} pad @param {() => void} changed
 */
export const makeSigning = (session, pad, changed) => new Signing(session, pad, changed);
