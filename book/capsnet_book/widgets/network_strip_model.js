// What the strip above the chapters remembers, where it puts things, and what it says.
import { format, PIXELS, withArticle } from "./shared/ui.js";

const KEY = "capsnet:digit";

/**
 * The reader's digit, from page to page: read() gives its 784 bytes, or null; keep(bytes).
 * A browser may refuse to store anything, and anything may lie there: then there is no digit.
 * @param {() => Storage} storage  may throw
 */
export function makeMemory(storage) {
  const read = () => {
    try {
      const bytes = fromBase64(storage().getItem(KEY) ?? "");
      return bytes.length === PIXELS && hasInk(bytes) ? bytes : null;
    } catch {
      return null;
    }
  };
  /** @param {Uint8Array} bytes */
  const keep = (bytes) => {
    try {
      storage().setItem(KEY, btoa(String.fromCharCode(...bytes)));
    } catch {
      // the digit stays on this page
    }
  };
  return { read, keep };
}

/** @param {string} text */
export const fromBase64 = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

/** An empty pad is no digit. @param {Uint8Array} bytes */
export const hasInk = (bytes) => bytes.some((grey) => grey > 0);

/** The `count` feature maps that say most, in their own order. @param {Float32Array} maps  [C, places] */
export function strongestMaps(maps, C, count) {
  const places = maps.length / C;
  const sums = Array.from({ length: C }, (_, c) => maps.subarray(c * places, (c + 1) * places).reduce((p, q) => p + q));
  const order = sums.map((_, c) => c).sort((p, q) => sums[q] - sums[p]);
  return order.slice(0, count).sort((p, q) => p - q);
}

const GAP = 1.5; // between two types, in capsules

/** @typedef {{ end: "i" | "j", at: number } | null} Focus  a capsule below (i) or above (j) */

/** Where primary capsule `i` stands in a column of all of them, type under type: a share of its height. */
export function heightOf(i, types, places) {
  const type = Math.floor(i / places);
  return (i + 0.5 + GAP * type) / (types * places + GAP * (types - 1));
}

/** What share of all votes each class gets. @param {Float32Array} c  [I, J], rows sum to 1 -> [J], sums to 1 */
export function sharesOf(c, J) {
  const shares = new Float64Array(J);
  for (let k = 0; k < c.length; k++) shares[k % J] += (c[k] * J) / c.length;
  return shares;
}

/**
 * The vote lines, faint ones first, so that the strong ones lie on top.
 * @param {Float32Array} c  [I, J]
 * @param {Focus} focus  whose lines alone are shown
 */
export function linesOf(c, J, focus = null) {
  const lines = Array.from(c, (share, k) => ({ i: Math.floor(k / J), j: k % J, share }));
  return lines.filter((line) => !focus || line[focus.end] === focus.at).sort((p, q) => p.share - q.share);
}

const percent = (/** @type {number} */ share) => `${Math.round(share * 100)} %`;

/**
 * What happened to the digit, or to the votes of the capsule that is pointed at.
 * @param {{ lengths: Float32Array, c: Float32Array[], prediction: number }} answer
 * @param {number} long  a capsule of this length says that its digit is there
 * @param {Focus} focus
 */
export function sentenceOn({ lengths, c, prediction }, long, focus = null) {
  const J = lengths.length;
  const shares = sharesOf(c.at(-1), J);
  if (focus) {
    const lines = linesOf(c.at(-1), J, focus);
    const { i, j, share } = lines.at(-1);
    if (focus.end === "i") return `Capsule ${i} below gives the ${j} the most, ${percent(share)} of itself.`;
    const length = `${format(lengths[j])} long, with ${percent(shares[j])} of the votes`;
    return `Capsule ${j}: ${length}. Most of a capsule below it gets from ${i}: ${percent(share)}.`;
  }
  const even = `where an even share is ${percent(1 / J)}`;
  const got = `Capsule ${prediction} gets ${percent(shares[prediction])} of the votes, ${even}, and is`;
  const length = format(lengths[prediction]);
  if (lengths[prediction] < long) return `${got} ${length} long: too short, the network sees no digit.`;
  return `${got} ${length} long: the network reads ${withArticle(prediction)}, and draws it again from 16 numbers.`;
}
