// A network of capsules that turn, raised in the page from nothing: what goes on, the buttons, and
// the network as it stands, which reads the digit on the dial.
import { startAnswering } from "../shared/calls.js";
import { wantsCalm } from "../shared/controls.js";
import { readSafetensors } from "../shared/core.js";
import { restWhileHidden } from "../shared/rest.js";
import { t } from "../shared/t.js";
import { readerOf } from "../shared/turning_net.js";
import { element, pushButton, setAttributes, write } from "../shared/ui.js";
import { loadKernels } from "./kernels.js";
import { BATCH, STEPS } from "./plan.js";
import { inWords, makeProgress } from "./progress.js";

import { turningSource } from "./training.worker.js";

const BETWEEN_LOOKS = 400; // milliseconds between two looks at a network that learns,
const CALM = 2000; // and where the reader wants less motion

/** What the main button says, by what goes on. */
const PRESS = {
  nothing: t`▶ Raise this one`,
  loading: t`▶ Raise this one`,
  learning: t`❚❚ Pause`,
  paused: t`▶ Go on`,
  done: t`▶ Raise another`,
};

/** The training in its worker, and the network as it stood when it was last asked. */
class Raising {
  /** @type {keyof typeof PRESS} */
  phase = "nothing";
  problem = "";
  /** @type {import("./training.js").Standing | undefined} */
  standing;
  /** @type {ReturnType<typeof readerOf> | undefined} */
  reader;
  #seed = 0;
  #runs = 0;
  #calls; // of the worker
  #nextLook;

  /** @param {() => Promise<any>} fetchDigits @param {() => void} changed */
  constructor(fetchDigits, changed) {
    this.fetchDigits = fetchDigits;
    this.changed = changed;
  }

  /** Do what the main button says. */
  async press() {
    if (this.phase === "learning") return this.pause();
    if (this.phase === "loading") return undefined;
    try {
      if (this.phase !== "paused") await this.#begin();
      await this.#learn();
    } catch (error) {
      this.phase = "nothing";
      this.problem = t`That did not work: ${error.message}.`;
      this.changed();
    }
    return undefined;
  }

  /** Start another network, from nothing. */
  async #begin() {
    this.stop();
    this.phase = "loading";
    this.problem = "";
    this.changed();
    const { tensors } = readSafetensors(await this.fetchDigits());
    this.#seed++;
    this.#calls = startAnswering(turningSource);
    await this.#calls.call("start", [tensors, this.#seed]);
    await this.#look();
  }

  async #learn() {
    this.#runs++;
    const run = this.#runs;
    this.phase = "learning";
    this.changed();
    this.#lookLater();
    const isDone = await this.#calls.call("run", []);
    if (run !== this.#runs || isDone === undefined) return; // it goes on, or was stopped
    clearTimeout(this.#nextLook);
    await this.#look();
    if (run !== this.#runs) return; // it was told to go on during the look
    this.phase = isDone ? "done" : "paused";
    this.changed();
  }

  #lookLater() {
    const wait = wantsCalm() ? CALM : BETWEEN_LOOKS;
    clearTimeout(this.#nextLook);
    this.#nextLook = setTimeout(async () => {
      await this.#look();
      if (this.phase === "learning") this.#lookLater();
    }, wait);
  }

  /** Ask how it stands, and take the network as it is. */
  async #look() {
    const standing = await this.#calls.call("look", []);
    if (!standing) return; // it was stopped meanwhile
    this.standing = standing;
    this.reader = readerOf(standing.tensors, standing.sizes, await loadKernels());
    this.changed();
  }

  pause() {
    this.phase = "paused";
    this.changed();
    this.#calls?.call("pause", []);
  }

  stop() {
    clearTimeout(this.#nextLook);
    this.#calls?.stop();
    this.#calls = undefined;
  }

  /** Return what keeps it from learning, in a sentence, if anything does. */
  obstacle() {
    if (this.phase === "loading") return t`The digits are being fetched.`;
    return this.problem;
  }

  /** Return how it gets on while it learns, in a sentence: it changes with each test. */
  progress() {
    if (this.phase !== "learning") return undefined;
    return inWords(this.standing.tests.at(-1));
  }
}

/**
 * The choice of the network on the dial.
 * @param {(isOwn: boolean) => void} choose
 */
function makeSwitch(choose) {
  const names = { trained: t`The book's`, own: t`Your own` };
  const buttons = Object.entries(names).map(([key, words]) =>
    pushButton(`reads-${key}`, words, () => choose(key === "own")),
  );
  const about = { class: "bar presets", role: "group", "aria-label": t`Which network reads` };
  const node = element("div", about, element("span", {}, t`On the dial:`), ...buttons);
  function show(/** @type {boolean} */ isOwn, /** @type {boolean} */ canChoose) {
    const [trained, own] = buttons;
    own.disabled = !canChoose;
    setAttributes(trained, { "aria-pressed": !isOwn });
    setAttributes(own, { "aria-pressed": isOwn });
  }
  return { node, show };
}

/**
 * Make the part of the widget that raises a network. reader() is the reader's own network, if the
 * dial shows it; show() writes what stands.
 * @param {any} widget @param {() => void} changed
 */
export function makeRaising(widget, changed) {
  const { model, host, stops, root } = widget;
  const fetchDigits = async () => (await host.getModel(model.get("digits").digits)).get("weights");
  const raising = new Raising(fetchDigits, changed);
  let isOwn = false; // whether the dial shows the reader's own
  stops.push(() => raising.stop());
  const rest = restWhileHidden({
    isRunning: () => raising.phase === "learning",
    pause: () => raising.pause(),
    goOn: () => raising.press(),
  });
  stops.push(rest);

  function press() {
    isOwn = true;
    raising.press();
  }
  const button = pushButton("raise", PRESS.nothing, press, { class: "primary-action" });
  const count = element("span", { class: "count", "data-role": "count" });
  const choice = makeSwitch((own) => {
    isOwn = own;
    changed();
  });
  const bar = element("div", { class: "bar" }, button, count, choice.node);
  const progress = makeProgress(widget);

  function show() {
    const { phase, standing } = raising;
    write(button, PRESS[phase]);
    const digits = ((standing?.steps ?? 0) * BATCH).toLocaleString("en");
    const all = (STEPS * BATCH).toLocaleString("en");
    const seconds = Math.round(standing?.seconds ?? 0);
    write(count, t`${digits} of ${all} digits seen, ${seconds} s`);
    choice.show(isOwn && Boolean(standing), Boolean(standing));
    progress.show(standing?.tests ?? [], STEPS);
    root.dataset.phase = phase;
    root.dataset.steps = String(standing?.steps ?? 0);
    root.dataset.errors = standing ? standing.tests.at(-1).slice(1).join() : "";
  }

  return {
    bar,
    curve: progress.node,
    reader: () => (isOwn ? raising.reader : undefined),
    obstacle: () => raising.obstacle(),
    progress: () => raising.progress(),
    show,
  };
}
