// The digits that are learned from and tested on, as a training has them.
import { PIXELS, SIDE, TESTS } from "./sizes.js";

const LEVELS = 15; // of grey: digits come in 4 bits

/** @typedef {{ images: Float32Array, labels: Uint8Array }} Digits  greys from 0 to 1, [N · PIXELS] */

/**
 * Two pixels a byte, gzip: tensors of the file that tools/pack_digits.py writes.
 * @returns {Promise<{ learn: Digits, test: Digits }>}
 */
export async function unpackDigits({ packed, labels: { data: labels } }) {
  const stream = new Response(packed.data).body.pipeThrough(new DecompressionStream("gzip"));
  const pairs = new Uint8Array(await new Response(stream).arrayBuffer());
  const images = new Float32Array(labels.length * PIXELS);
  for (let k = 0; k < images.length; k++)
    images[k] = (k % 2 ? pairs[k >> 1] & 15 : pairs[k >> 1] >> 4) / LEVELS;
  const split = labels.length - TESTS;
  return {
    learn: { images: images.subarray(0, split * PIXELS), labels: labels.subarray(0, split) },
    test: { images: images.subarray(split * PIXELS), labels: labels.subarray(split) },
  };
}

/** A digit, moved; what leaves the picture is gone. */
export function shift(to, from, right, down) {
  to.fill(0);
  for (let row = Math.max(0, down); row < SIDE + Math.min(0, down); row++) {
    for (let column = Math.max(0, right); column < SIDE + Math.min(0, right); column++) {
      to[row * SIDE + column] = from[(row - down) * SIDE + column - right];
    }
  }
}
