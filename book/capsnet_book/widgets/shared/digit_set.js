// The digits that a training in the page learns from, and those that it is tested with.

const PIXELS = 28 * 28; // of a picture
export const TESTS = 500; // digits that no training learns from
const LEVELS = 15; // of grey: digits come in 4 bits

/**
 * @typedef {{ images: Float32Array, labels: Uint8Array }} Digits  greys 0 to 1, [N · PIXELS]
 *
 * @typedef {object} Lesson  what a network learns from
 * @property {Uint8Array} labels  [N]
 * @property {(n: number, random: () => number) => Float32Array} picture  Return the n-th picture,
 *   [PIXELS].
 */

/**
 * Return greys from 0 to 1: two pixels a byte, gzip.
 * @param {BlobPart} packed
 * @param {number} count  of greys
 */
export async function unpackGreys(packed, count) {
  const stream = new Response(packed).body.pipeThrough(new DecompressionStream("gzip"));
  const pairs = new Uint8Array(await new Response(stream).arrayBuffer());
  const greys = new Float32Array(count);
  for (let k = 0; k < greys.length; k += 2) {
    const pair = pairs[k / 2];
    greys[k] = (pair >> 4) / LEVELS;
    greys[k + 1] = (pair & 15) / LEVELS;
  }
  return greys;
}

/**
 * Return the digits of the file that tools/pack_digits.py writes.
 * @returns {Promise<{ learn: Lesson, test: Digits }>}
 */
export async function unpackDigits({ packed, labels: { data: labels } }) {
  const images = await unpackGreys(packed.data, labels.length * PIXELS);
  const split = labels.length - TESTS;
  return {
    learn: {
      labels: labels.subarray(0, split),
      picture: (n) => images.subarray(n * PIXELS, (n + 1) * PIXELS),
    },
    test: { images: images.subarray(split * PIXELS), labels: labels.subarray(split) },
  };
}
