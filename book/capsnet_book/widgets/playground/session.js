// What goes on in the playground: one network or two side by side, from Train to what is kept. No picture.
import { digitAt } from "../shared/ui.js";
import { startEngine } from "./engine.js";
import { fromSafetensors, toSafetensors, unpackDigits } from "./files.js";

const LEVELS = 15; // of grey, in the digits that come
const FIRST = 7; // the digit that is watched at first

/** How fast: what it is called, and digits a second. */
export const PACES = {
  step: { label: "step by step", perSecond: (settings) => 0.7 * settings.batch },
  follow: { label: "to follow", perSecond: () => "follow" },
  all: { label: "full speed", perSecond: () => Number.POSITIVE_INFINITY },
};

/**
 * @param {any[]} settings  of one network, or of two
 * @param {{ fetchFile: () => Promise<any>, changed: () => void }} page  fetchFile: of the digits; changed: whenever
 *   there is something new to show
 */
export function makeSession(settings, { fetchFile, changed }) {
  const own = { images: [], labels: [] }; // the reader's digits
  const session = {
    settings,
    digits: undefined,
    engines: [],
    own,
    ...{ running: false, rested: false, loading: false, trouble: "", pace: "follow" },
    watched: { engine: 0, tile: FIRST },
    ...{ fetched, train, pause, restart, change, watch, teach, file, open, stop },
    imageOf: (n) => Float32Array.from(digitAt(session.digits.test.images, n), (grey) => grey / LEVELS),
    ask: (message) => session.engines[0]?.ask(message),
  };
  const all = (message) => session.engines.forEach(({ order }) => order(message));

  function set(values) {
    Object.assign(session, values);
    changed();
  }

  async function fetched() {
    if (session.digits) return session.digits;
    set({ loading: true });
    try {
      session.digits = await unpackDigits(await fetchFile());
    } finally {
      session.loading = false;
    }
    return session.digits;
  }

  /** Puts networks that have learned nothing, or what `tensors` holds, in the place of those that there are. */
  async function begin(/** @type {any} */ tensors = undefined) {
    stop();
    session.trouble = "";
    const digits = await fetched();
    const paused = (why) => why !== "asked" && set({ running: false, rested: why === "long" });
    const failed = (trouble) => set({ running: false, trouble });
    session.engines = session.settings.map((each) => startEngine(each, digits, { changed, paused, failed }, tensors));
    all({ do: "watch", image: session.imageOf(session.watched.tile) });
    if (own.labels.length) all({ do: "teach", ...own });
  }

  async function train() {
    if (session.loading) return;
    if (!session.engines.length) await begin();
    for (const { order, settings: each } of session.engines) {
      order({ do: "run", pace: PACES[session.pace].perSecond(each) });
    }
    set({ running: true, rested: false });
  }

  function pause() {
    all({ do: "pause" });
    set({ running: false });
  }

  /** From nothing again, if it had begun; and on, if it was going on. */
  async function restart() {
    const goesOn = session.running;
    session.running = false;
    if (session.engines.length) await begin();
    if (goesOn) await train();
    changed();
  }

  function change(to) {
    Object.assign(session, { settings: to, trouble: "" });
    session.watched.engine = Math.min(session.watched.engine, to.length - 1);
    return restart();
  }

  function watch(engine, tile) {
    if (session.digits) all({ do: "watch", image: session.imageOf(tile) });
    set({ watched: { engine, tile } });
  }

  /** What the reader has drawn is, from now on, among the digits that they learn from. */
  function teach(image, label) {
    own.images.push(image);
    own.labels.push(label);
    all({ do: "teach", ...own });
  }

  /** The first network as a file's bytes. */
  async function file() {
    if (!session.engines.length) throw new Error("there is no network yet: press Train");
    if (session.settings[0].bug) throw new Error("elsewhere in the book a network with a planted bug would be misread");
    const { tensors, config } = await session.engines[0].ask({ do: "weights" });
    return toSafetensors(tensors, config);
  }

  /** A network from a file in the place of those that there are. @param {ArrayBuffer} bytes */
  async function open(bytes) {
    const { tensors, types, rounds } = fromSafetensors(bytes);
    Object.assign(session, { running: false, settings: [{ ...session.settings[0], types, rounds, bug: "" }] });
    session.watched.engine = 0;
    await begin(tensors);
    changed();
  }

  function stop() {
    for (const engine of session.engines) engine.stop();
    session.engines = [];
  }
  return session;
}
