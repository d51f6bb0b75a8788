// What goes on in the playground: one network or two side by side, from Train to what is kept. No picture.
import { readSafetensors } from "../shared/core.js";
import { configOf, fromSafetensors, toSafetensors } from "./files.js";
import { makeRandom } from "./random.js";
import { D_IN, J, KERNEL, PIXELS, PLACES, WALL } from "./sizes.js";
import { startTrainee } from "./trainee.js";

const FIRST = 7; // the tile that is watched at first
const RESTS = "It has learned for five minutes, and rests. Go on lets it learn more.";
const FRAME = 100; // milliseconds between two looks at a network that learns, at least

/** How an untrained network stands before there are digits: its filters are those that it will have. */
function emptyFrame({ types, seed }) {
  const random = makeRandom(seed);
  const noise = (length, most) => Float32Array.from({ length }, () => most * (2 * random() - 1));
  const filters = noise(KERNEL ** 2 * 8 * types, 1 / KERNEL);
  const fog = 0.5; // what it would draw, in every pixel
  return {
    ...{
      types,
      filters,
      right: "",
      seen: 0,
      seconds: 0,
      tests: [],
      wrong: new Array(WALL).fill(false),
    },
    pictures: new Uint8Array(WALL * PIXELS).fill(255 * fog),
    watched: {
      image: new Float32Array(PIXELS),
      u: noise(PLACES * types * D_IN, 1 / 20),
      c: new Float32Array(PLACES * types * J).fill(1 / J),
      lengths: new Float32Array(J),
      drawing: new Float32Array(PIXELS).fill(fog),
    },
  };
}

export class Session {
  trainees = []; // as many as settings, once it has begun
  own = { images: [], labels: [] }; // the reader's digits
  pace = "follow";
  watched = { network: 0, tile: FIRST };
  running = false;
  loading = false;
  notice = ""; // what went wrong, or was done, in words
  #digits = undefined;
  #begun = 0; // how often networks were put in the place of others
  #next = undefined; // look

  /**
   * @param {any[]} settings  of one network, or of two
   * @param {() => Promise<any>} fetchFile  of the digits
   * @param {() => void} changed  called whenever there is something new to show
   */
  constructor(settings, fetchFile, changed) {
    this.settings = settings;
    this.changed = changed;
    this.fetchFile = fetchFile;
  }

  set(/** @type {Record<string, any>} */ values) {
    Object.assign(this, values);
    this.changed();
  }

  /** Does it, and says what went wrong. @param {() => any} work */
  async act(work, notice = "") {
    this.notice = notice;
    try {
      await work();
    } catch (error) {
      this.set({ notice: `That did not work: ${error.message}.`, running: false });
    }
    this.changed();
  }

  /** The digits' tensors; once they are here they stay. */
  async sample() {
    this.#digits ??= readSafetensors(await this.fetchFile()).tensors;
    return this.#digits;
  }

  /** How each network stands. */
  frames() {
    return this.settings.map((each, k) => this.trainees[k]?.frame ?? emptyFrame(each));
  }

  /** Puts untrained networks, or what `tensors` holds, in the place of those that there are, once they stand. */
  async begin(/** @type {any[]} */ settings, /** @type {any} */ tensors = undefined) {
    const mine = ++this.#begun;
    this.set({ loading: true });
    try {
      const sample = await this.sample();
      const trainees = await Promise.all(
        settings.map((each) => startTrainee(each, sample, this.own, tensors)),
      );
      for (const trainee of trainees) trainee.frame = await trainee.call("look", this.watched.tile);
      if (mine !== this.#begun) return trainees.forEach((trainee) => trainee.stop()); // the reader wants others by now
      for (const each of this.trainees) each.stop();
      Object.assign(this, { trainees, settings, running: this.running && !tensors });
      this.watched.network = Math.min(this.watched.network, settings.length - 1);
    } finally {
      if (mine === this.#begun) this.set({ loading: false });
    }
    if (this.running) await this.#run();
  }

  /** Asks the networks how they stand; and again, while they learn. */
  async #look() {
    const [asked, { trainees }] = [performance.now(), this];
    const frames = await Promise.all(trainees.map(({ call }) => call("look", this.watched.tile)));
    if (trainees !== this.trainees) return; // they were stopped
    for (const [k, frame] of frames.entries()) trainees[k].frame = frame;
    this.changed();
    clearTimeout(this.#next);
    const took = performance.now() - asked;
    const rest = Math.max(FRAME - took, 4 * took); // looks shall not hold learning up
    if (this.running) this.#next = setTimeout(() => this.#look(), rest);
  }

  async #run() {
    const ends = this.trainees.map((trainee) => trainee.call("run", this.pace));
    await this.#look();
    const rests = await Promise.all(ends);
    if (rests.some(Boolean)) this.set({ running: false, notice: RESTS });
    await this.#look();
  }

  async train() {
    this.set({ running: true });
    if (this.trainees.length) await this.#run();
    else if (!this.loading) await this.begin(this.settings);
  }

  pause() {
    for (const { call } of this.trainees) call("pause");
    this.set({ running: false });
  }

  setPace(/** @type {string} */ pace) {
    this.set({ pace });
    return this.running && this.train();
  }

  /** From nothing again, if it had begun; and on, if it was going on. */
  async restart() {
    if (this.trainees.length || this.loading) await this.begin(this.settings);
  }

  /** The settings that the reader wants, and what was wrong with them. @param {any[]} settings */
  change(settings, notice = "") {
    this.settings = settings;
    this.act(() => this.restart(), notice);
  }

  watch(/** @type {number} */ network, /** @type {number} */ tile) {
    this.set({ watched: { network, tile } });
    return this.#look();
  }

  /** What the reader has drawn is, from now on, among the digits that they learn from. */
  teach(/** @type {Float32Array} */ image, /** @type {number} */ label) {
    this.own.images.push(image);
    this.own.labels.push(label);
    for (const { call } of this.trainees) call("teach", this.own);
    return this.#look();
  }

  /** The first network as a file's bytes. */
  async file() {
    if (!this.trainees.length) throw new Error("there is no network yet: press Train");
    const [{ settings, call }] = this.trainees;
    if (settings.bug)
      throw new Error("elsewhere in the book a network with a planted bug would be misread");
    return toSafetensors(await call("tensors"), configOf(settings));
  }

  /** A network from a file in the place of those that there are. @param {ArrayBuffer} bytes */
  async open(bytes) {
    const { tensors, types, rounds } = fromSafetensors(bytes);
    await this.begin([{ ...this.settings[0], types, rounds, bug: "" }], tensors);
  }

  stop() {
    this.#begun++; // what is on its way comes too late
    for (const trainee of this.trainees) trainee.stop();
    this.trainees = [];
  }
}
