// What becomes of the network: keep it for the book, download it, open a file.

import { t } from "../shared/t.js";
import { element, pushButton, rowOf, save, write } from "../shared/ui.js";
import { download } from "./files.js";

const FILE = "my_capsnet.safetensors";
const IN_A_NOTEBOOK = t`In a notebook, after raised = RaiseOne(), raised.network() returns it.`;
const NOT_FOR_OTHERS = t`the book’s other widgets show digits, and this network reads animals:
  Download keeps it`;
const USUAL_TYPES = 8; // of primary capsules: what the book's other widgets can show

class Keeping {
  #model;
  #session;
  #turn = 0; // of the last button pressed: what an earlier one has to say comes too late

  /** @param {any} widget @param {any} session */
  constructor({ model }, session) {
    this.#model = model;
    this.#session = session;
    this.words = element("p", { class: "remark", "data-role": "kept", "aria-live": "polite" });
    this.file = element("input", {
      type: "file",
      accept: ".safetensors",
      hidden: "",
      "data-role": "file",
      onchange: () => this.#chosen(),
    });
    const buttons = rowOf(
      pushButton("keep", t`Keep it for this book`, () => this.#tell(() => this.#keep())),
      pushButton("download", t`Download`, () => this.#tell(() => this.#download())),
      pushButton("upload", t`Open a file`, () => this.file.click()),
    );
    const about = { class: "keeping", role: "group", "aria-label": t`Keep it` };
    this.node = element("div", about, buttons, this.file, this.words);
  }

  /**
   * Do the work, and say what it has done, or what went wrong.
   * @param {(isLast: () => boolean) => Promise<string>} work  isLast: whether nothing else was
   *   pressed meanwhile
   */
  async #tell(work) {
    this.#turn++;
    const turn = this.#turn;
    const isLast = () => turn === this.#turn;
    let words;
    try {
      words = await work(isLast);
    } catch (error) {
      words = t`Not done: ${error.message}.`;
    }
    if (isLast()) write(this.words, words);
  }

  async #keep() {
    if (this.#session.settings[0].types !== USUAL_TYPES)
      throw new Error(t`the other widgets show networks of 72 capsules, of 8 types`);
    const page = globalThis.capsnetOwn; // the book's page (live-host.js)
    const isForOthers = this.#session.settings[0].data === "digits";
    if (page && !isForOthers) throw new Error(NOT_FOR_OTHERS);
    const bytes = await this.#session.file();
    save(this.#model, { weights: new DataView(bytes.buffer) });
    if (!page) return t`Kept for this notebook. ${IN_A_NOTEBOOK}`;
    const lasts = await page.change({ bytes, asked: true });
    if (lasts === false) return t`Kept while this page is open: the browser lets it store nothing.`;
    return (
      t`Kept. From now on each widget that asks a network can ask yours: look under it. ` +
      IN_A_NOTEBOOK
    );
  }

  async #download() {
    download(await this.#session.file(), FILE);
    return t`In a notebook: load_weights("my_capsnet.safetensors").`;
  }

  async #chosen() {
    const [file] = this.file.files;
    if (file) await this.#tell((isLast) => this.#open(file, isLast));
    this.file.value = ""; // so that the same file can be chosen again
  }

  async #open(/** @type {File} */ file, /** @type {() => boolean} */ isLast) {
    const bytes = await file.arrayBuffer();
    if (!isLast()) return ""; // another file was chosen while this one was read
    const remark = await this.#session.open(bytes);
    const words = t`Opened ${file.name}. It goes on learning from there.`;
    return remark ? `${words} ${remark}` : words;
  }
}

/** Make the buttons. @param {any} widget @param {any} session */
export const makeKeeping = (widget, session) => new Keeping(widget, session).node;
