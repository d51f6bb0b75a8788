// Share: a card, a loop of the wall clearing, and the address that repeats it. All of it is made in
// the page; nothing is sent.
import { wantsCalm } from "../shared/controls.js";
import { t } from "../shared/t.js";
import { element, pushButton, rowOf, write } from "../shared/ui.js";
import { creditsOf } from "./artists.js";
import { cardOf } from "./card.js";
import { download } from "./files.js";
import { loopOf } from "./loop.js";
import { measuredWords } from "./words.js";

const CARD = "raise-one.png";
const LOOP = "raise-one.gif";
const MAKING = t`Making the picture and the loop …`;
const COPIED = t`The address that repeats it is copied.`;
const COPY = t`This repeats it: copy it from here.`;

/** Return what may be seen by others: of a file's address only what stands behind its path. */
const seenByOthers = (/** @type {string} */ address) => address.replace(/^file:.*#/, "");

/** Copy a text. Return whether the browser lets the page do so. @param {string} text */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // no clipboard here, or none without asking
  }
}

class Share {
  #widget;
  #session;
  #address;
  /** @type {File[]} */
  #files = []; // the card and the loop, once they are made
  #text = ""; // what repeats the training
  #measured = ""; // what came out, in words
  #pictures = element("div", { class: "shared" });
  #words = element("p", { class: "remark", "aria-live": "polite", "data-role": "shared" });
  #field = element("input", {
    type: "text",
    readonly: "",
    "aria-label": t`What repeats it`,
    onfocus: () => this.#field.select(),
  });

  /** @param {any} widget @param {any} session @param {() => string} address */
  constructor(widget, session, address) {
    this.#widget = widget;
    this.#session = session;
    this.#address = address;
    this.button = pushButton("share", t`Share`, () => session.act(() => this.#open()));
    this.save = [CARD, LOOP].map((name, n) =>
      pushButton("save", n === 0 ? t`Save the picture` : t`Save the loop`, () =>
        this.#save(name, n),
      ),
    );
    this.send = pushButton("send", t`Send`, () => this.#send());
    const close = pushButton("close", t`Close`, () => this.dialog.close());
    this.dialog = element(
      "dialog",
      { class: "share", "aria-label": t`Share`, onclose: () => this.#forget() },
      this.#pictures,
      this.#field,
      this.#words,
      rowOf(this.send, ...this.save, close),
    );
  }

  /** Copy the address at once, while the browser still knows of the press; then make the rest. */
  async #open() {
    this.#session.pause(); // what is shown is what is shared
    this.#text = this.#address();
    this.#field.value = this.#text;
    this.#enable(false);
    write(this.#words, MAKING);
    this.dialog.showModal();
    const isCopied = await copied(this.#text);
    await this.#make(this.#session.untilShown());
    if (!this.dialog.open) return this.#forget(); // the reader has closed it meanwhile
    const about = t`The loop has ${Math.ceil(this.#files[1].size / 1000)} kB. Nothing was sent.`;
    write(this.#words, `${isCopied ? COPIED : COPY} ${about}`);
    this.#enable(true);
  }

  /** Make both files, and show them. @param {import("./untrained.js").Frame[][]} moments */
  async #make(moments) {
    const { colours, root } = this.#widget;
    const { settings, artists } = this.#session;
    const credits = creditsOf(artists[settings[0].data]);
    const frames = moments.at(-1);
    const font = getComputedStyle(root).fontFamily;
    this.#measured = Object.values(measuredWords(frames, settings)).join(" ");
    const look = { colours, font, credits };
    const card = await cardOf(frames, settings, seenByOthers(this.#text), look);
    this.#show(card, this.#measured);
    const loop = await loopOf(moments, colours, font);
    this.#files = [
      new File([card], CARD, { type: "image/png" }),
      new File([loop], LOOP, { type: "image/gif" }),
    ];
    if (!wantsCalm()) this.#show(this.#files[1], t`The wall, from fog to handwriting`);
  }

  #show(/** @type {Blob} */ file, /** @type {string} */ alt) {
    this.#pictures.append(element("img", { src: URL.createObjectURL(file), alt }));
  }

  #forget() {
    for (const picture of this.#pictures.querySelectorAll("img")) URL.revokeObjectURL(picture.src);
    this.#pictures.replaceChildren();
    this.#files = [];
  }

  #enable(/** @type {boolean} */ isReady) {
    for (const button of this.save) button.disabled = !isReady;
    this.send.hidden = !isReady || !navigator.canShare?.({ files: this.#files });
  }

  #save(/** @type {string} */ name, /** @type {number} */ n) {
    download(this.#files[n], name);
  }

  /** Hand both files to what the reader's system offers. */
  async #send() {
    const text = `${this.#measured} ${seenByOthers(this.#text)}`;
    try {
      await navigator.share({ files: this.#files, text });
    } catch (error) {
      if (error.name !== "AbortError") write(this.#words, t`Not sent: ${error.message}.`);
    }
  }

  show() {
    this.button.disabled = this.#session.trainees.length === 0;
  }
}

/**
 * Make the button and what it opens.
 * @param {any} widget @param {any} session
 * @param {() => string} address  returns what repeats the training
 */
export const makeShare = (widget, session, address) => new Share(widget, session, address);
