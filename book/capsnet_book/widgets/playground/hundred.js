// The hundred digits of the wall, as they were written. They come with the script, so that they
// stand there before anything is fetched.
import { unpackGreys } from "../shared/digit_set.js";
import { LABELS, PACKED } from "./hundred_built.js";
import { PIXELS, WALL } from "./sizes.js";

/** @typedef {{ images: Float32Array, labels: number[] }} Hundred  greys 0 to 1, [100 · 784] */

/** Return the hundred digits. @returns {Promise<Hundred>} */
export async function unpackHundred() {
  const packed = Uint8Array.from(atob(PACKED), (letter) => letter.charCodeAt(0));
  const images = await unpackGreys(packed, WALL * PIXELS);
  return { images, labels: Array.from(LABELS, Number) };
}
