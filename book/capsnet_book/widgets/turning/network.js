// The capsules that turn (capsnet_book/turning.py), forward and backward:
//
//   image ─ filters, each turned to K angles ─ peaks: parts with a pose M ─ votes M W ─ pairs of
//   votes that coincide ─ ten scores
//
// x points right and y up, angles are anticlockwise, as in the Python file. The two heavy pieces
// are kernels: the filters' answers, and the pairs.
import { allocated } from "../shared/kernels.js";
import { Turns } from "./filters.js";
import { rowOf, shapesOf } from "./parameters.js";

/** @import { Sizes } from "./parameters.js" */

export const SIDE = 28;
export const PIXELS = SIDE * SIDE;
const MARGIN = 2; // a filter's middle stays so many pixels from the border
export const PIXELS_OF_A_UNIT = 7; // of a place
const EPSILON = 0.01; // keeps the logarithm finite where no two votes meet
const FAINTEST = 1e-6; // presences below this count as this
const SILENT = -1000; // the logarithm of the weight of votes that fill a kind's row up
const KINDS = 8; // of the bank's blocks (arithmetic.ts),
const TURNS = 4; // and turned copies of each
const LANES = 4; // a kind's votes are a multiple of these

/**
 * @typedef {object} Parts  numbers of the T · N parts, a kind's behind each other
 * @property {Int32Array} row  of the peak, among the places
 * @property {Int32Array} column
 * @property {Int32Array} turn  the number of the turned copy that answers
 * @property {Float64Array} strength  its answer
 * @property {Float64Array} presence  0 to 1
 * @property {Float64Array} poses  two rows of three numbers each: the matrix M
 */

/** Return n, or the next multiple of `step` above it. */
const rounded = (/** @type {number} */ n, /** @type {number} */ step) => step * Math.ceil(n / step);

/**
 * Allocate the memory of the kernels: pointers, and views of the numbers there.
 * @param {Record<string, number>} counts  of numbers, by name
 */
function planMemory(counts) {
  const at = {};
  let end = 64; // nothing at 0
  for (const [name, count] of Object.entries(counts)) {
    at[name] = end;
    end += 16 * Math.ceil(count / 4);
  }
  const memory = allocated(end);
  const views = {};
  for (const [name, count] of Object.entries(counts))
    views[name] = new Float32Array(memory.buffer, at[name], count);
  return { memory, at, views };
}

export class TurningNetwork {
  #turns; // of the filters
  #pixels; // of the padded picture that lie under the disk, from its first corner
  #norms; // of the turned filters, before they were divided by them, [T · K]
  #slopesOfCopies; // gradients of the turned filters,
  #slopesOfPresence; // and of the logarithms of the presences
  #k; // the kernels,
  #at; // where things lie in their memory,
  #y; // views of them there,
  #ends; // and of what listInk counts
  #wide; // pixels across the padded picture,
  #out; // and places across

  /**
   * Make a network whose numbers are 0 (begin() and load() fill them).
   * @param {Sizes} sizes
   * @param {(memory: any) => any} makeKernels  plainKernels, or WebAssembly's
   */
  constructor(sizes, makeKernels) {
    const { T, K, S, N, m, J } = sizes;
    this.sizes = sizes;
    this.#wide = SIDE + 2 * ((S >> 1) - MARGIN);
    this.#out = SIDE - 2 * MARGIN;
    this.#turns = new Turns(S, K);
    const pixelOf = (/** @type {number} */ tap) => Math.floor(tap / S) * this.#wide + (tap % S);
    this.#pixels = this.#turns.disk.map(pixelOf);
    this.#norms = new Float64Array(T * K);
    this.#slopesOfCopies = new Float32Array(T * K * S * S);
    this.#slopesOfPresence = new Float64Array(T * N);
    /** Votes of a kind for a class, those that fill the row up included. */
    this.group = rounded(N * m, LANES);
    /** Votes for a class. */
    this.V = T * this.group;

    const places = this.#out ** 2;
    const bankKinds = rounded(T, KINDS);
    const { memory, at, views } = planMemory({
      image: this.#wide ** 2,
      list: 2 * places * this.#turns.disk.length,
      ends: places,
      copies: T * S * S * K,
      bank: bankKinds * K * S * S,
      answers: K,
      best: places * bankKinds,
      votes: J * 6 * this.V,
      weights: J * this.V,
      support: J * this.V,
      pull: J * 6 * this.V,
      totals: J * 4,
    });
    this.#at = at;
    this.#y = views;
    this.#ends = new Int32Array(memory.buffer, at.ends, places);
    this.#k = makeKernels(memory);
    views.weights.fill(SILENT);

    const parameters = rowOf(shapesOf(sizes));
    const slopes = rowOf(shapesOf(sizes));
    /** All numbers that are learned, and their gradients. */
    this.numbers = parameters.all;
    this.slopesOfAll = slopes.all;
    /** @type {Record<string, Float32Array>} */
    this.parameters = parameters.views;
    /** @type {Record<string, Float32Array>} */
    this.slopes = slopes.views;
    /** @type {Parts} */
    this.parts = {
      row: new Int32Array(T * N),
      column: new Int32Array(T * N),
      turn: new Int32Array(T * N),
      strength: new Float64Array(T * N),
      presence: new Float64Array(T * N),
      poses: new Float64Array(T * N * 6),
    };
    this.scores = new Float64Array(J);
  }

  /** Return what is learned, or its gradients, as tensors by their names in a file. */
  tensors(/** @type {Record<string, Float32Array>} */ views = this.parameters) {
    const entries = Object.entries(shapesOf(this.sizes));
    return Object.fromEntries(
      entries.map(([name, shape]) => [`network.${name}`, { shape, data: views[name].slice() }]),
    );
  }

  /**
   * Take the tensors of a file.
   * @param {Record<string, import("../shared/core.js").Tensor>} tensors
   */
  load(tensors) {
    for (const [name, numbers] of Object.entries(this.parameters))
      numbers.set(tensors[`network.${name}`].data);
    this.renew();
  }

  /** Turn the filters anew, once they have changed. */
  renew() {
    const { T, K, S } = this.sizes;
    const taps = S * S;
    const { bank } = this.#y;
    for (let kind = 0; kind < T; kind++) {
      const filter = this.parameters.filters.subarray(kind * taps, (kind + 1) * taps);
      const copies = this.#copiesOf(kind);
      for (let turn = 0; turn < K; turn++) {
        this.#norms[kind * K + turn] = this.#turns.turn(filter, copies, turn);
        // As the kernel has it: [T / KINDS, K / TURNS, S · S, TURNS, KINDS]
        const block = Math.floor(kind / KINDS) * (K / TURNS) + Math.floor(turn / TURNS);
        const inBlock = (turn % TURNS) * KINDS + (kind % KINDS);
        for (const tap of this.#turns.disk)
          bank[(block * taps + tap) * TURNS * KINDS + inBlock] = copies[tap * K + turn];
      }
    }
  }

  /** Return a kind's turned filters, or their gradients: [S · S, K]. */
  #copiesOf(/** @type {number} */ kind, copies = this.#y.copies) {
    const { K, S } = this.sizes;
    return copies.subarray(kind * S * S * K, (kind + 1) * S * S * K);
  }

  // ------------------------------------------------------------------------------------- forward

  /**
   * Compute the scores of an image [784], and leave behind parts, votes and what they add up to.
   * @returns {Float64Array} [J]
   */
  read(/** @type {Float32Array} */ image) {
    const { J } = this.sizes;
    const [width] = this.parameters["agreement.width"];
    const [gain] = this.parameters["agreement.gain"];
    this.#findParts(image);
    this.#vote();
    const { V, group } = this;
    const { totals, support, pull, votes, weights } = this.#at;
    for (let j = 0; j < J; j++) {
      const row = 4 * j * V; // bytes
      this.#k.pairs(
        totals + 16 * j,
        support + row,
        pull + 6 * row,
        votes + 6 * row,
        weights + row,
        V,
        group,
        1 / (2 * width * width),
      );
      this.scores[j] = gain * Math.log(EPSILON + this.#y.totals[4 * j]);
    }
    return this.scores;
  }

  /** Find the N strongest peaks of every kind. */
  #findParts(/** @type {Float32Array} */ image) {
    const { T, K, S, N } = this.sizes;
    const border = (this.#wide - SIDE) / 2;
    for (let row = 0; row < SIDE; row++) {
      const line = image.subarray(row * SIDE, (row + 1) * SIDE);
      this.#y.image.set(line, (row + border) * this.#wide + border);
    }
    const { list, ends, image: picture, bank, best } = this.#at;
    this.#k.listInk(list, ends, picture, this.#wide, S);
    this.#k.bestAnswers(best, list, ends, bank, this.#out ** 2, S * S, rounded(T, KINDS), K);
    for (let kind = 0; kind < T; kind++) {
      this.#peaksOf(kind).forEach((place, n) => this.#setPart(kind, kind * N + n, place));
    }
  }

  /** Return the places of a kind's N strongest peaks, the strongest first. */
  #peaksOf(/** @type {number} */ kind) {
    const { T, N } = this.sizes;
    const step = rounded(T, KINDS);
    const { best } = this.#y;
    const peaks = Array.from({ length: N }, (_, n) => n); // where there are too few
    const answers = new Array(N).fill(-Infinity);
    for (let place = 0; place < this.#out ** 2; place++) {
      const answer = best[place * step + kind];
      if (answer <= answers[N - 1] || !this.#isPeak(place, kind)) continue;
      let n = N - 1;
      for (; n > 0 && answers[n - 1] < answer; n--) {
        answers[n] = answers[n - 1];
        peaks[n] = peaks[n - 1];
      }
      answers[n] = answer;
      peaks[n] = place;
    }
    return peaks;
  }

  /** Return whether a place has the largest of the nine answers around it. */
  #isPeak(/** @type {number} */ place, /** @type {number} */ kind) {
    const step = rounded(this.sizes.T, KINDS);
    const out = this.#out;
    const { best } = this.#y;
    const answer = best[place * step + kind];
    const column = place % out;
    const row = (place - column) / out;
    for (let r = Math.max(0, row - 1); r <= Math.min(out - 1, row + 1); r++) {
      for (let c = Math.max(0, column - 1); c <= Math.min(out - 1, column + 1); c++) {
        if (best[(r * out + c) * step + kind] > answer) return false;
      }
    }
    return true;
  }

  /** Set pose and presence of a part, at a place of its kind's filters. */
  #setPart(/** @type {number} */ kind, /** @type {number} */ part, /** @type {number} */ place) {
    const { K, S } = this.sizes;
    const { parts } = this;
    const column = place % this.#out;
    const row = (place - column) / this.#out;
    const { list, answers, copies } = this.#at;
    const from = place ? this.#ends[place - 1] : 0;
    const ofKind = copies + 4 * kind * S * S * K;
    this.#k.answersAt(answers, list + 8 * from, this.#ends[place] - from, ofKind, K);
    const strength = Math.max(...this.#y.answers);
    parts.turn[part] = this.#y.answers.indexOf(strength);
    parts.row[part] = row;
    parts.column[part] = column;
    parts.strength[part] = strength;
    const [slope] = this.parameters.slope;
    parts.presence[part] = 1 / (1 + Math.exp(-slope * (strength - this.parameters.level[kind])));

    const angle = (2 * Math.PI * parts.turn[part]) / K;
    const cos = Math.cos(angle);
    const sin = Math.sin(angle);
    const x = (column + MARGIN - (SIDE - 1) / 2) / PIXELS_OF_A_UNIT;
    const y = ((SIDE - 1) / 2 - row - MARGIN) / PIXELS_OF_A_UNIT;
    parts.poses.set([cos, -sin, x, sin, cos, y], 6 * part);
  }

  /** Let every part vote for every class with M W, and weigh the votes. */
  #vote() {
    const { T, N, m, J } = this.sizes;
    const { votes, weights } = this.#y;
    const { V, group } = this;
    const { weight: W, "agreement.log_prior": prior } = this.parameters;
    const { poses, presence } = this.parts;
    for (let part = 0; part < T * N; part++) {
      const kind = Math.floor(part / N);
      const first = kind * group + (part % N) * m;
      const log = Math.log(Math.max(presence[part], FAINTEST));
      for (let matrix = 0; matrix < m; matrix++) {
        for (let j = 0; j < J; j++) {
          const which = (kind * m + matrix) * J + j;
          const vote = j * V + first + matrix;
          weights[vote] = log + prior[which];
          this.#multiply(votes, j * 6 * V + first + matrix, poses, 6 * part, W, 9 * which);
        }
      }
    }
  }

  /** votes[…] = M W: two rows of three numbers, each V numbers after the other. */
  #multiply(votes, to, poses, pose, W, from) {
    for (let row = 0; row < 2; row++) {
      const a = poses[pose + 3 * row];
      const b = poses[pose + 3 * row + 1];
      const c = poses[pose + 3 * row + 2];
      for (let column = 0; column < 3; column++) {
        votes[to + (3 * row + column) * this.V] =
          a * W[from + column] + b * W[from + 3 + column] + c * W[from + 6 + column];
      }
    }
  }
  /** How far apart votes may lie that coincide. */
  width() {
    return this.parameters["agreement.width"][0];
  }

  /**
   * Compute where the votes of the image last read for a class meet: their mean, each weighted by
   * what it adds to the pairs. [6]
   */
  meeting(/** @type {number} */ j) {
    const { V } = this;
    const { support, votes } = this.#y;
    const meeting = new Float64Array(6);
    let total = FAINTEST;
    for (let vote = 0; vote < V; vote++) {
      const weight = support[j * V + vote];
      total += weight;
      for (let d = 0; d < 6; d++) meeting[d] += weight * votes[(j * 6 + d) * V + vote];
    }
    return meeting.map((sum) => sum / total);
  }

  /**
   * Return the votes of the image last read for a class: of each its part, its six numbers, the
   * logarithm of its weight, and what it adds to the pairs.
   */
  votesFor(/** @type {number} */ j) {
    const { T, N, m } = this.sizes;
    const { V, group } = this;
    const { support, votes, weights } = this.#y;
    return Array.from({ length: T * N * m }, (_, k) => {
      const part = Math.floor(k / m);
      const vote = Math.floor(part / N) * group + (k % (N * m));
      const v = Array.from({ length: 6 }, (_, d) => votes[(j * 6 + d) * V + vote]);
      return { part, v, weight: weights[j * V + vote], support: support[j * V + vote] };
    });
  }

  // ------------------------------------------------------------------------------------ backward

  /**
   * Set `slopes` to the gradients of the cross-entropy of images [B · 784], mean over the batch.
   * @param {Float32Array} images @param {ArrayLike<number>} labels
   * @param {(n: number) => void} [after]  called when image n was read
   */
  gradients(images, labels, after) {
    this.slopesOfAll.fill(0);
    this.#slopesOfCopies.fill(0);
    let loss = 0;
    let right = 0;
    for (let n = 0; n < labels.length; n++) {
      const scores = this.read(images.subarray(n * PIXELS, (n + 1) * PIXELS));
      const most = Math.max(...scores);
      right += Number(scores.indexOf(most) === labels[n]);
      loss += this.#back(labels[n], most, 1 / labels.length);
      after?.(n);
    }
    this.#turnBack();
    return { loss, right };
  }

  /** Add the gradients of `share` of an image's cross-entropy. Return that. */
  #back(/** @type {number} */ label, /** @type {number} */ most, /** @type {number} */ share) {
    const { scores, slopes } = this;
    const [width] = this.parameters["agreement.width"];
    const [gain] = this.parameters["agreement.gain"];
    const total = scores.reduce((sum, score) => sum + Math.exp(score - most), 0);
    this.#slopesOfPresence.fill(0);
    for (const [j, score] of scores.entries()) {
      const probability = Math.exp(score - most) / total;
      const slope = share * (probability - Number(j === label));
      const count = EPSILON + this.#y.totals[4 * j];
      const slopeOfCount = (slope * gain) / count;
      slopes["agreement.gain"][0] += slope * Math.log(count);
      slopes["agreement.width"][0] += (slopeOfCount * this.#y.totals[4 * j + 1]) / width ** 3;
      this.#votesBack(j, slopeOfCount, slopeOfCount / width ** 2);
    }
    this.#partsBack();
    return share * (Math.log(total) + most - scores[label]);
  }

  /** Add the gradients of the weights of the votes for a class, and of the matrices W. */
  #votesBack(/** @type {number} */ j, slopeOfCount, slopeOfPull) {
    const { T, N, m, J } = this.sizes;
    const { support, pull } = this.#y;
    const { V, group } = this;
    const { weight: slopeOfW, "agreement.log_prior": slopeOfPrior } = this.slopes;
    const { poses } = this.parts;
    for (let part = 0; part < T * N; part++) {
      const kind = Math.floor(part / N);
      for (let matrix = 0; matrix < m; matrix++) {
        const vote = kind * group + (part % N) * m + matrix;
        const which = (kind * m + matrix) * J + j;
        const slope = slopeOfCount * support[j * V + vote];
        slopeOfPrior[which] += slope;
        this.#slopesOfPresence[part] += slope;
        for (let column = 0; column < 3; column++) {
          const across = slopeOfPull * pull[(j * 6 + column) * V + vote];
          const up = slopeOfPull * pull[(j * 6 + 3 + column) * V + vote];
          for (let row = 0; row < 3; row++) {
            slopeOfW[9 * which + 3 * row + column] +=
              poses[6 * part + row] * across + poses[6 * part + 3 + row] * up;
          }
        }
      }
    }
  }

  /** Add the gradients of level, slope and turned filters: presences come from them. */
  #partsBack() {
    const { T, K, N } = this.sizes;
    const { disk } = this.#turns;
    const { image } = this.#y;
    const { presence, strength, turn, row, column } = this.parts;
    const [slope] = this.parameters.slope;
    for (let part = 0; part < T * N; part++) {
      if (presence[part] < FAINTEST) continue;
      const kind = Math.floor(part / N);
      const change = this.#slopesOfPresence[part] * (1 - presence[part]);
      this.slopes.level[kind] -= slope * change;
      this.slopes.slope[0] += (strength[part] - this.parameters.level[kind]) * change;
      const slopes = this.#copiesOf(kind, this.#slopesOfCopies);
      const corner = row[part] * this.#wide + column[part];
      for (let k = 0; k < disk.length; k++)
        slopes[disk[k] * K + turn[part]] += slope * change * image[corner + this.#pixels[k]];
    }
  }

  /** Compute the gradients of the filters from those of their copies. */
  #turnBack() {
    const { T, K, S } = this.sizes;
    for (let kind = 0; kind < T; kind++) {
      const slopes = this.slopes.filters.subarray(kind * S * S, (kind + 1) * S * S);
      const slopesOfCopies = this.#copiesOf(kind, this.#slopesOfCopies);
      const copies = this.#copiesOf(kind);
      for (let turn = 0; turn < K; turn++)
        this.#turns.turnBack(slopes, slopesOfCopies, copies, this.#norms[kind * K + turn], turn);
    }
  }
}
