// How an untrained network stands before there are digits.
import { digitAt } from "../shared/digits.js";
import { makeRandom } from "../shared/random.js";
import { D_IN, J, KERNEL, PIXELS, PLACES, WALL } from "./sizes.js";

const FOG = 0.5; // what it would draw, in every pixel

/**
 * @typedef {object} Watched  one digit's way through a network
 * @property {Float32Array} image  [784]
 * @property {number} tile  of the wall
 * @property {number} [label]
 * @property {number} [answer]  none before anything was computed
 * @property {Float32Array} [u]  primary capsules [I, D_IN]; a CNN has none
 * @property {Float32Array} [c]  couplings of the last round [I, J]; a CNN has none
 * @property {Float32Array} [maps]  what the filters answer [100, C]; none before it was computed
 * @property {Float32Array} [votes]  û [I, J, D]
 * @property {Float32Array} [capsules]  of the digit, v [J, D]
 * @property {Float32Array} lengths  [J]; of a CNN, shares of its softmax
 * @property {Float32Array} drawing  [784], or empty where it learns no drawing
 *
 * @typedef {object} Frame  how a network stands at one moment
 * @property {string} [net]  "cnn" of a CNN, which has no capsules
 * @property {number} types  of primary capsules
 * @property {Float32Array} filters  [81, C]
 * @property {Int8Array} [matrices]  W, [I, D_IN, J, D]; none before anything was computed
 * @property {import("./silence.js").Silent} [silent]  the parts that are held silent
 * @property {number} [touches]  how often a hand was laid on it
 * @property {number} [mark]  of a moment before a hand: its number, for the way back
 * @property {import("./history.js").Cause} [cause]  what the reader changed at that moment
 * @property {number | string} right  of the hundred; "" before anything was computed
 * @property {number} seen  digits
 * @property {number} seconds  of learning
 * @property {number[][]} tests  [digits seen, share of errors]
 * @property {boolean[]} wrong  of each tile, whether it is taken for another
 * @property {Uint8Array} pictures  what it draws of each tile, [tiles · 784]
 * @property {Watched} watched
 * @property {{ margin: number, drawing: number, right: number }} [loss]  of the last batch
 * @property {number} [blur]  squared error of a drawing, mean over the tiles
 * @property {ReturnType<typeof import("./sign.js").signCounts>} [signs]  of the last test
 * @property {import("./animals.js").Gallery} [gallery]  of the last test, where it has artists
 * @property {boolean} [plain]  whether it computes without WebAssembly
 */

/** Return greys from 0 to 1 as bytes. */
const bytesOf = (/** @type {Float32Array} */ greys) =>
  new Uint8Array(Uint8ClampedArray.from(greys, (grey) => 255 * grey).buffer);

/**
 * Return the frame of a network that has learned nothing; its filters are those that it will have.
 * @param {any} settings
 * @param {import("./hundred.js").Hundred | undefined} hundred  what stands in the wall until the
 *   network draws over it
 * @param {number} tile  that is watched
 * @returns {Frame}
 */
export function untrainedFrame({ net, types, seed }, hundred, tile) {
  const random = makeRandom(seed);
  const noise = (length, bound) => Float32Array.from({ length }, () => bound * (2 * random() - 1));
  const filters = noise(KERNEL ** 2 * 8 * types, 1 / KERNEL);
  const fog = new Float32Array(PIXELS).fill(FOG);
  return {
    net,
    types,
    filters,
    right: "",
    seen: 0,
    seconds: 0,
    tests: [],
    wrong: new Array(WALL).fill(false),
    pictures: hundred ? bytesOf(hundred.images) : new Uint8Array(WALL * PIXELS).fill(255 * FOG),
    watched: {
      tile,
      image: hundred ? digitAt(hundred.images, tile) : new Float32Array(PIXELS),
      label: hundred?.labels[tile],
      u: noise(PLACES * types * D_IN, 1 / 20),
      c: new Float32Array(PLACES * types * J).fill(1 / J),
      lengths: new Float32Array(J).fill(Number.NaN), // nothing was computed
      drawing: fog,
    },
  };
}
