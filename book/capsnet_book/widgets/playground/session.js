// What goes on in the playground: one network or two side by side, from Train to what is kept. No picture.
import { makeNetwork } from "../shared/core.js";
import { digitAt } from "../shared/digits.js";
import { greys } from "./digits.js";
import { startEngine } from "./engine.js";
import { fromSafetensors, openDigits, toSafetensors } from "./files.js";

const FIRST = 7; // the tile that is watched at first

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
    engines: [],
    own,
    ...{ running: false, rested: false, loading: false, trouble: "", pace: "follow" },
    watched: { engine: 0, tile: FIRST },
    ...{ fetched, train, pause, restart, change, watch, teach, file, copy, open, stop },
    imageOf: (n) => greys(digitAt(session.engines[0].test.images, n)),
    ask: (message) => session.engines[0]?.ask(message),
  };
  let sample; // the digits, once they are here
  let begun = 0; // how often networks were put in the place of others
  const all = (message) => session.engines.forEach(({ order }) => order(message));

  function set(values) {
    Object.assign(session, values);
    changed();
  }

  async function fetched() {
    sample ??= openDigits(await fetchFile());
    return sample;
  }

  /**
   * Puts networks that have learned nothing in the place of those that there are; or what `tensors` holds, and then
   * those that there are stay until it stands.
   */
  async function begin(/** @type {any} */ tensors = undefined, its = session.settings) {
    const mine = ++begun;
    if (!tensors) stop();
    set({ loading: true });
    const paused = (why) => why !== "asked" && set({ running: false, rested: why === "long" });
    const failed = (trouble) => set({ running: false, trouble });
    const engines = [];
    try {
      const digits = await fetched();
      engines.push(...its.map((each) => startEngine(each, digits, { changed, paused, failed }, tensors)));
      await Promise.all(engines.map(({ ready }) => ready));
    } catch (error) {
      for (const engine of engines) engine.stop();
      if (mine === begun) throw error;
    } finally {
      if (mine === begun) session.loading = false;
    }
    if (mine !== begun) return engines.forEach(({ stop }) => stop()); // the reader wanted others meanwhile
    stop();
    Object.assign(session, { engines, settings: its, rested: false });
    session.watched.engine = Math.min(session.watched.engine, its.length - 1);
    all({ do: "watch", tile: session.watched.tile });
    if (own.labels.length) all({ do: "teach", ...own });
    if (tensors) session.running = false;
    if (session.running) run();
    changed();
  }

  function run() {
    for (const { order, settings: each } of session.engines) {
      order({ do: "run", pace: PACES[session.pace].perSecond(each) });
    }
  }

  async function train() {
    set({ running: true, rested: false });
    if (session.engines.length) run();
    else if (!session.loading) await begin();
  }

  function pause() {
    all({ do: "pause" });
    set({ running: false });
  }

  /** From nothing again, if it had begun; and on, if it was going on. */
  async function restart() {
    if (session.engines.length || session.loading) await begin();
  }

  function change(to) {
    set({ settings: to });
    return restart();
  }

  function watch(engine, tile) {
    all({ do: "watch", tile });
    set({ watched: { engine, tile } });
  }

  /** What the reader has drawn is, from now on, among the digits that they learn from. */
  function teach(image, label) {
    own.images.push(image);
    own.labels.push(label);
    all({ do: "teach", ...own });
  }

  /** The first network as a file's bytes. */
  async function bytes() {
    if (!session.engines.length) throw new Error("there is no network yet: press Train");
    const { tensors, config } = await session.engines[0].ask({ do: "weights" });
    return toSafetensors(tensors, config);
  }

  /** The same, to be used elsewhere. */
  async function file() {
    const found = await bytes();
    if (session.settings[0].bug) throw new Error("elsewhere in the book a network with a planted bug would be misread");
    return found;
  }

  /** The first network as it is now, for the page to ask without waiting. */
  async function copy() {
    return makeNetwork(await bytes());
  }

  /** A network from a file in the place of those that there are. @param {ArrayBuffer} given */
  async function open(given) {
    const { tensors, types, rounds } = fromSafetensors(given);
    await begin(tensors, [{ ...session.settings[0], types, rounds, bug: "" }]);
  }

  function stop() {
    for (const engine of session.engines) engine.stop();
    session.engines = [];
  }
  return session;
}
