// The digits to learn from and to be tested on, as they travel (tools/pack_digits.py): 4 bits a pixel, gzip.
import { readSafetensors } from "../shared/core.js";
import { PIXELS } from "../shared/ui.js";
import { TESTS } from "./learner.js";

/**
 * @typedef {{ images: Uint8Array, labels: Uint8Array }} Digits  greys from 0 to 15
 * @returns {Promise<{ learn: Digits, test: Digits }>}
 */
export async function unpackDigits(file) {
  const { tensors } = readSafetensors(file);
  const labels = tensors.labels.data;
  const packed = new Response(tensors.packed.data).body.pipeThrough(new DecompressionStream("gzip"));
  const pairs = new Uint8Array(await new Response(packed).arrayBuffer());
  if (pairs.length * 2 !== labels.length * PIXELS) {
    throw new Error(`expected ${labels.length} digits; got ${(pairs.length * 2) / PIXELS}`);
  }
  const images = new Uint8Array(2 * pairs.length);
  pairs.forEach((pair, k) => {
    images[2 * k] = pair >> 4;
    images[2 * k + 1] = pair & 15;
  });
  const split = labels.length - TESTS;
  return {
    learn: { images: images.subarray(0, split * PIXELS), labels: labels.subarray(0, split) },
    test: { images: images.subarray(split * PIXELS), labels: labels.subarray(split) },
  };
}
