// What goes on in the playground: one network or two side by side, from Train to what is kept.
// The session holds no picture; its listener draws.
import { readSafetensors } from "../shared/core.js";
import { t } from "../shared/t.js";
import { hundredAnimals } from "./animals.js";
import { EarlierTrainings } from "./earlier.js";
import { configOf, fromSafetensors, toSafetensors } from "./files.js";
import { History } from "./history.js";
import { unpackHundred } from "./hundred.js";
import { setOf } from "./sets.js";
import { SIGN, toText as signToText } from "./sign.js";
import { startTrainees } from "./trainee.js";
import { untrainedFrame } from "./untrained.js";

const FIRST_TILE = 7; // that is watched at first
const USUAL_DATA = "digits";
const RESTS = t`It has learned for five minutes, and rests. Go on lets it learn more.`;
const BETWEEN_LOOKS = 100; // milliseconds between two looks at a network that learns, at least
const HAND_RESTS = 400; // milliseconds without a movement before a hand rests
// Rests between two looks, in the time that a look takes: a look costs a tenth of the learning, or
// a quarter of a core on which nothing is learned.
const RESTS_BETWEEN = { here: 9, apart: 3 };

/** @returns {import("./batches.js").OwnDigits} */
const nothingOfTheirs = () => ({ images: [], labels: [] });

export class Session {
  /** @type {import("./trainee.js").Trainee[]} */
  trainees = []; // as many as settings, once training has begun
  own = nothingOfTheirs(); // the reader's pictures, and their sign, if any
  pace = "follow";
  watched = { network: 0, tile: FIRST_TILE };
  running = false;
  loading = false;
  notice = ""; // what went wrong, or was done, in words
  history = new History();
  earlier = new EarlierTrainings(); // in whose place there are others by now
  /** @type {number | undefined} */
  moment; // of the history, that is shown; undefined: now
  /** @type {Record<string, import("./hundred.js").Hundred>} */
  hundreds = {}; // a set -> the wall's pictures as they were made, once they are unpacked
  /** @type {Record<string, import("./animals.js").Artist[]>} */
  artists = {}; // a set -> who drew it, where that is said
  #untrained = []; // of each network, { causes, frame }: its noise is made once
  #samples = {}; // a set -> its file's tensors and card
  #otherOwn = {}; // a set that is not shown -> what the reader drew for it
  #generation = 0; // how often networks were put in the place of others
  #nextLook = undefined;
  #handRests = 0; // the time from which on a hand that draws rests
  /** @type {Promise<any>} */
  #hand = Promise.resolve(); // the last thing that a hand does

  /**
   * @param {any[]} settings  of one network, or of two
   * @param {(data: string) => Promise<any>} fetchFile  of a set
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

  /**
   * Do the work; what goes wrong becomes the notice, unless the reader has chosen other pictures
   * meanwhile.
   * @param {() => any} work
   */
  async act(work, notice = "") {
    this.notice = notice;
    const [{ data }] = this.settings;
    try {
      await work();
    } catch (error) {
      if (data === this.settings[0].data)
        this.set({ notice: t`That did not work: ${error.message}.`, running: false });
    }
    this.changed();
  }

  /** Return a set's tensors, and the card of its file, if it has one; fetched once. */
  async sample(data = this.settings[0].data) {
    if (!this.#samples[data]) {
      const { tensors, metadata } = readSafetensors(await this.fetchFile(data));
      const card = metadata.card && JSON.parse(metadata.card);
      this.#samples[data] = { ...tensors, card };
      this.artists[data] = card?.artists;
    }
    return this.#samples[data];
  }

  /** Get the pictures that stand in the wall until the network draws over them. */
  async getHundred() {
    const { data } = this.settings[0];
    if (this.hundreds[data]) return;
    const isDigits = data === "digits"; // they come with the script
    const hundred = isDigits ? unpackHundred() : hundredAnimals(await this.sample(data));
    this.hundreds[data] = await hundred;
    this.changed();
  }

  /** Return how each network stands at the moment that is shown. */
  frames() {
    if (this.moment !== undefined) return this.history.moments[this.moment];
    return this.present();
  }

  /** Return the moments up to the one that is shown. */
  untilShown() {
    const { moments } = this.history;
    if (this.moment !== undefined) return moments.slice(0, this.moment + 1);
    return [...moments, this.present()];
  }

  /** Return how each network stands now. @returns {import("./untrained.js").Frame[]} */
  present() {
    return this.settings.map((_, k) => this.trainees[k]?.frame ?? this.#untrainedFrame(k));
  }

  #untrainedFrame(/** @type {number} */ k) {
    const hundred = this.hundreds[this.settings[k].data];
    const causes = [this.settings[k], hundred, this.watched.tile];
    const made = this.#untrained[k];
    if (made && causes.every((cause, n) => cause === made.causes[n])) return made.frame;
    const frame = untrainedFrame(this.settings[k], hundred, this.watched.tile);
    this.#untrained[k] = { causes, frame };
    return frame;
  }

  /** Show a moment of the history; beyond the last one is now. */
  goTo(/** @type {number} */ moment) {
    this.set({ moment: moment < this.history.moments.length ? moment : undefined });
  }

  /**
   * Replace the networks, once their workers are ready, with untrained ones or with `tensors`.
   * @param {any[]} settings @param {any} [tensors]  of a file
   */
  async begin(settings, tensors) {
    this.#generation++;
    const generation = this.#generation;
    this.set({ loading: true });
    try {
      const sample = await this.sample(settings[0].data);
      const trainees = await startTrainees(settings, sample, this.own, tensors);
      await this.#lookAt(trainees).catch((error) => {
        for (const trainee of trainees) trainee.stop();
        throw error;
      });
      if (generation !== this.#generation) {
        for (const trainee of trainees) trainee.stop(); // the reader wants others by now
        return;
      }
      this.#replace(trainees, settings);
      if (tensors) this.running = false;
    } finally {
      if (generation === this.#generation) this.set({ loading: false });
    }
    if (this.running) await this.#run();
  }

  /** Put these networks in the place of others, which rest. */
  #replace(trainees, settings) {
    this.earlier.keep({ trainees: this.trainees, history: this.history });
    this.#take({ trainees, history: new History() }, settings);
    this.history.keep(this.present());
  }

  #take(/** @type {import("./earlier.js").Earlier} */ { trainees, history }, settings) {
    this.trainees = trainees;
    this.history = history;
    this.settings = settings;
    this.moment = undefined;
    this.watched.network = Math.min(this.watched.network, settings.length - 1);
    this.#tellOwn(); // the reader may have drawn more meanwhile
  }

  /** Bring the networks back in whose place these were put; these rest in their stead. */
  async bringBack() {
    if (!this.earlier.latest()) return;
    this.#generation++; // networks that are on their way come too late
    const { trainees, history } = this;
    const training = this.earlier.exchange({ trainees, history });
    const [{ settings, own }] = training.trainees;
    this.#takeOwn(settings.data, own);
    this.#take(
      training,
      training.trainees.map((trainee) => trainee.settings),
    );
    this.set({ running: false, loading: false });
    await this.#look();
  }

  /** Take what the reader drew for a set of pictures, and put aside what there is for another. */
  #takeOwn(/** @type {string} */ data, /** @type {import("./batches.js").OwnDigits} */ own) {
    this.#otherOwn[this.settings[0].data] = this.own;
    this.own = own;
    delete this.#otherOwn[data];
  }

  /** Let the networks learn from the reader's pictures as they are now. */
  #tellOwn() {
    for (const trainee of this.trainees) {
      trainee.own = this.own;
      trainee.call("teach", this.own);
    }
  }

  async #lookAt(trainees) {
    const { tile } = this.watched;
    const frames = await Promise.all(trainees.map(({ call }) => call("look", tile)));
    trainees.forEach((trainee, k) => {
      trainee.frame = frames[k] ?? trainee.frame; // none of a trainee that was stopped
    });
  }

  /** A hand draws: the page belongs to it, and looks wait until it rests. */
  handMoves() {
    this.#handRests = performance.now() + HAND_RESTS;
  }

  /** Look after a pause, or once a hand that draws rests. */
  #lookAfter(/** @type {number} */ pause) {
    clearTimeout(this.#nextLook);
    this.#nextLook = setTimeout(() => {
      const hand = this.#handRests - performance.now();
      if (hand > 0) this.#lookAfter(hand);
      else this.#look();
    }, pause);
  }

  /** Ask the networks how they stand; and again, while they learn. */
  async #look() {
    const asked = performance.now();
    const { trainees } = this;
    await this.#lookAt(trainees);
    if (trainees !== this.trainees) return; // they were replaced meanwhile
    if (trainees.length > 0) this.history.keep(this.present());
    this.changed();
    clearTimeout(this.#nextLook);
    if (!this.running) return;
    const duration = performance.now() - asked;
    const rests = trainees.every(({ apart }) => apart) ? RESTS_BETWEEN.apart : RESTS_BETWEEN.here;
    this.#lookAfter(Math.max(BETWEEN_LOOKS - duration, rests * duration));
  }

  async #run() {
    const runs = this.trainees.map((trainee) => trainee.call("run", this.pace));
    await this.#look();
    const rests = await Promise.all(runs);
    if (rests.some(Boolean)) this.set({ running: false, notice: RESTS });
    await this.#look();
  }

  /** Return whether learning can go on from the moment that is shown. */
  isWayBack() {
    if (this.loading || this.moment === undefined) return false; // others are on their way
    return this.history.moments[this.moment][0].mark !== undefined;
  }

  /** Return whether a hand that was laid on a network, or a sign, can be taken back. */
  canTakeBack() {
    return !this.loading && this.history.lastMark() >= 0;
  }

  /** Return whether a hand was laid on one of the networks. */
  isTouched() {
    return this.present().some(({ touches }) => touches > 0);
  }

  /**
   * Hold a part of the network that is watched silent, or let it speak.
   * @param {{ part: string, at: number }} focus @param {boolean} isSilent
   */
  hold({ part, at }, isSilent) {
    return this.#inTurn(() => this.#touch("hold", part, at, isSilent));
  }

  /**
   * Multiply the weights of a part of the network that is watched.
   * @param {{ part: string, at: number }} focus @param {number} factor
   */
  nudge({ part, at }, factor) {
    return this.#inTurn(() => this.#touch("nudge", part, at, factor));
  }

  /** Do the work of a hand once what it did before is done. @param {() => Promise<any>} work */
  #inTurn(work) {
    this.#hand = this.#hand.catch(() => {}).then(work);
    return this.#hand;
  }

  /** Lay a hand on the network that is watched; there is a way back to the moment before. */
  async #touch(/** @type {string} */ name, /** @type {any[]} */ ...given) {
    const { trainees, watched } = this;
    if (trainees.length === 0) return;
    const { network } = watched;
    const [part, at, value] = given;
    const marked = this.#mark({ kind: name, network, part, at, value });
    await trainees[network].call(name, ...given);
    await marked;
    if (trainees !== this.trainees) return; // they were replaced meanwhile
    await this.#look();
    this.settings = [...this.settings]; // the address says that a hand was laid on it
    this.changed();
  }

  /**
   * Keep a way back to the networks as they stand now, before the reader changes them.
   * @param {import("./history.js").Cause} cause
   */
  async #mark(cause) {
    const { trainees, watched } = this;
    const frames = await Promise.all(trainees.map(({ call }) => call("mark", watched.tile)));
    if (trainees !== this.trainees || trainees.length === 0) return;
    this.history.keepMark(frames, cause);
    this.moment = undefined;
  }

  /** Take back the last hand that was laid on a network, or the last sign. */
  takeBack() {
    return this.#inTurn(async () => {
      if (this.canTakeBack()) await this.#goBack(this.history.lastMark());
    });
  }

  /** Let the networks stand as at a moment before the reader changed them. */
  async #goBack(/** @type {number} */ moment) {
    const [{ mark }] = this.history.moments[moment];
    const { trainees } = this;
    const signed = this.history.causesFrom(moment).find(({ kind }) => kind === "sign");
    if (signed) {
      this.own = signed.own;
      this.#tellOwn();
    }
    await Promise.all(trainees.map(({ call }) => call("goBack", mark)));
    if (trainees !== this.trainees) return;
    this.history.forgetFrom(moment);
    this.moment = undefined;
    await this.#look();
    this.settings = [...this.settings];
    this.changed();
  }

  /** Go on; from the moment that is shown, if there is a way back to it. */
  async train() {
    if (this.isWayBack()) await this.#inTurn(() => this.#goBack(this.moment));
    this.set({ running: true, moment: undefined });
    if (this.trainees.length) await this.#run();
    else if (!this.loading) await this.begin(this.settings);
  }

  pause() {
    for (const { call } of this.trainees) call("pause");
    this.set({ running: false });
  }

  setPace(/** @type {string} */ pace) {
    this.set({ pace });
    if (this.running) return this.train();
  }

  /** Begin from nothing again, if it had begun; go on, if it was going on. */
  async restart() {
    if (this.trainees.length || this.loading) await this.begin(this.settings);
  }

  /** Take the reader's settings, and say what was wrong with them. @param {any[]} settings */
  change(settings, notice = "") {
    const [{ data: before }] = this.settings;
    const [{ data }] = settings;
    const isOther = data !== before;
    if (isOther) this.#takeOwn(data, this.#otherOwn[data] ?? nothingOfTheirs());
    this.settings = settings;
    this.moment = undefined;
    if (isOther) this.act(() => this.getHundred());
    this.act(() => this.restart(), notice);
  }

  watch(/** @type {number} */ network, /** @type {number} */ tile) {
    this.set({ watched: { network, tile }, moment: undefined });
    return this.#look();
  }

  /** Add a digit of the reader's to those that the networks learn from. */
  teach(/** @type {Float32Array} */ image, /** @type {number} */ label) {
    this.own.images.push(image);
    this.own.labels.push(label);
    this.#tellOwn();
    return this.#look();
  }

  /**
   * Take a sign of the reader's in the place of a digit, or none, and let the networks learn it.
   * @param {import("./sign.js").Sign | undefined} sign
   */
  async takeSign(sign) {
    await this.#inTurn(() => this.#changeSign(sign));
    return this.train();
  }

  async #changeSign(/** @type {import("./sign.js").Sign | undefined} */ sign) {
    const marked = this.#mark({ kind: "sign", own: this.own });
    const place = sign?.place ?? this.own.sign?.place;
    const isOther = this.own.labels.map((label) => label !== place);
    this.own = {
      images: this.own.images.filter((_, n) => isOther[n]),
      labels: this.own.labels.filter((_, n) => isOther[n]),
      sign,
    };
    this.#tellOwn();
    this.settings = [...this.settings]; // the address says that there is one
    await marked;
  }

  /** Return what the ten classes are called. @returns {string[]} */
  names() {
    const { sign } = this.own;
    const { names } = setOf(this.settings);
    return sign ? names.with(sign.place, SIGN) : names;
  }

  /** Return the first network as a file's bytes. @throws {Error} where there is none to keep */
  async file() {
    if (!this.trainees.length) throw new Error(t`there is no network yet: press Train`);
    const [{ settings, call }] = this.trainees;
    if (settings.net === "cnn") throw new Error(t`a CNN has no capsules to keep`);
    if (settings.bug)
      throw new Error(t`elsewhere in the book a network with a planted bug would be misread`);
    const tensors = await call("tensors");
    if (!tensors) throw new Error(t`another network has taken its place meanwhile`);
    return toSafetensors(tensors, configOf(settings), this.#about(settings));
  }

  /**
   * Return what a file says of the network besides its sizes.
   * @returns {Record<string, string>}
   */
  #about({ data }) {
    const { sign } = this.own;
    const isUsual = data === USUAL_DATA && !sign;
    return {
      ...(data === USUAL_DATA ? {} : { data: JSON.stringify(data) }),
      ...(isUsual ? {} : { class_names: JSON.stringify(this.names()) }),
      ...(sign ? { sign: signToText(sign) } : {}),
    };
  }

  /**
   * Put a file's network in the place of those that there are.
   * @param {ArrayBuffer} bytes
   * @returns {Promise<string>} what the page does otherwise than the file says, if anything
   */
  async open(bytes) {
    const { tensors, types, rounds, data, sign, remark } = fromSafetensors(bytes);
    this.own = { ...nothingOfTheirs(), sign };
    const net = "capsules";
    await this.begin([{ ...this.settings[0], net, types, rounds, data, bug: "" }], tensors);
    return remark;
  }

  stop() {
    this.#generation++; // what is on its way comes too late
    for (const trainee of this.trainees) trainee.stop();
    this.trainees = [];
    this.earlier.stop();
  }
}
