// Animals as many artists drew them. Pictures are drawings turned, enlarged and moved: a network
// learns from those of some artists, and is tested with those of others.
import { TESTS, unpackGreys } from "../shared/digit_set.js";
import { makeRandom } from "../shared/random.js";
import { posed, randomPose } from "./posed.js";
import { J, PIXELS, WALL } from "./sizes.js";

const TURN = 0.26; // radians
const SIZES = [0.8, 1.05];
const LEARNING = { turn: TURN, sizes: SIZES, shift: 0.5 }; // batches move all pictures besides
const TESTING = { turn: TURN, sizes: SIZES, shift: 2.5 };
const KNOWN = 300; // tests by artists from whose drawings a network learns
const SEED = 5081; // of the tests' pictures

/**
 * @typedef {object} Artist
 * @property {string} set  the drawings' name, for programs
 * @property {string} title  and for readers
 * @property {string} author
 * @property {string} source  address
 * @property {string} licence
 * @property {string} licence_url
 * @property {boolean} shown  whether networks learn from these drawings
 *
 * @typedef {object} Sample  the file that tools/pack_animals.py writes
 * @property {{ data: Uint8Array<ArrayBuffer> }} packed
 * @property {{ side: number, artists: Artist[] }} card
 *
 * @typedef {object} Tests
 * @property {Float32Array} images  [N · PIXELS]
 * @property {Uint8Array} labels  [N]
 * @property {Uint8Array} artists  [N]
 *
 * @typedef {{ read: number, pictures: number }} Count  of an artist's pictures, those read rightly
 *
 * @typedef {object} Gallery  how a test went
 * @property {Count[]} counts  by artist
 * @property {number} known  per cent read, by artists from whose drawings the network learns
 * @property {number} unseen  per cent read, by the others
 */

/** Return a function that returns an artist's drawing of an animal. @param {Sample} sample */
async function drawingsOf({ packed, card: { side, artists } }) {
  const size = side ** 2;
  const greys = await unpackGreys(packed.data, artists.length * J * size);
  return (/** @type {number} */ artist, /** @type {number} */ animal) => {
    const first = (artist * J + animal) * size;
    return greys.subarray(first, first + size);
  };
}

/** Return the artists, by number, from whose drawings networks learn, or the others. */
const rowsOf = (/** @type {Artist[]} */ artists, /** @type {boolean} */ shown) =>
  [...artists.keys()].filter((artist) => artists[artist].shown === shown);

/**
 * Return pictures for tests: of every animal in turn, by one artist, then by the next.
 * @param {Awaited<ReturnType<typeof drawingsOf>>} drawing
 * @param {number} side  of a drawing
 * @param {number[]} rows  artists
 * @param {number} count
 * @returns {Tests}
 */
function testsOf(drawing, side, rows, count) {
  const random = makeRandom(SEED + rows[0]);
  const images = new Float32Array(count * PIXELS);
  const labels = Uint8Array.from({ length: count }, (_, n) => n % J);
  const artists = labels.map((_, n) => rows[Math.floor(n / J) % rows.length]);
  labels.forEach((label, n) => {
    const pose = randomPose(random, TESTING);
    images.set(posed(drawing(artists[n], label), side, pose), n * PIXELS);
  });
  return { images, labels, artists };
}

/**
 * Return the animals of a file: what a network learns from, the tests by other artists, and tests
 * by artists whom it knows.
 * @param {Sample} sample
 */
export async function unpackAnimals(sample) {
  const { side, artists } = sample.card;
  const drawing = await drawingsOf(sample);
  const shown = rowsOf(artists, true);
  const learn = {
    labels: Uint8Array.from({ length: shown.length * J }, (_, n) => n % J),
    picture(/** @type {number} */ n, /** @type {() => number} */ random) {
      return posed(drawing(shown[Math.floor(n / J)], n % J), side, randomPose(random, LEARNING));
    },
  };
  return {
    learn,
    test: testsOf(drawing, side, rowsOf(artists, false), TESTS),
    known: testsOf(drawing, side, shown, KNOWN),
  };
}

/**
 * Return the wall's hundred: the first of the tests.
 * @param {Sample} sample
 * @returns {Promise<import("./hundred.js").Hundred>}
 */
export async function hundredAnimals(sample) {
  const { side, artists } = sample.card;
  const drawing = await drawingsOf(sample);
  const { images, labels } = testsOf(drawing, side, rowsOf(artists, false), WALL);
  return { images, labels: Array.from(labels) };
}

/**
 * Return how many of each artist's pictures were read rightly, by the artist's number.
 * @param {Tests} tests
 * @param {Uint8Array} answers
 * @param {number | undefined} place  of a sign of the reader's own: no artist drew that
 */
function countsByArtist({ labels, artists }, answers, place) {
  /** @type {Count[]} */
  const counts = [];
  artists.forEach((artist, n) => {
    if (labels[n] === place) return;
    counts[artist] ??= { read: 0, pictures: 0 };
    counts[artist].pictures++;
    counts[artist].read += Number(answers[n] === labels[n]);
  });
  return counts;
}

/**
 * Return how a test went, artist by artist.
 * @param {Tests} unseen
 * @param {Uint8Array} unseenAnswers
 * @param {Tests} known
 * @param {Uint8Array} knownAnswers
 * @param {number | undefined} place  of a sign of the reader's own
 * @returns {Gallery}
 */
export function galleryOf(unseen, unseenAnswers, known, knownAnswers, place) {
  const ofUnseen = countsByArtist(unseen, unseenAnswers, place);
  const ofKnown = countsByArtist(known, knownAnswers, place);
  const length = Math.max(ofUnseen.length, ofKnown.length);
  const counts = Array.from({ length }, (_, artist) => ofUnseen[artist] ?? ofKnown[artist]);
  return { counts, known: shareRead(ofKnown), unseen: shareRead(ofUnseen) };
}

/** Return the per cent that were read. @param {Count[]} counts */
function shareRead(counts) {
  let read = 0;
  let pictures = 0;
  counts.forEach((count) => {
    read += count.read;
    pictures += count.pictures;
  });
  return (100 * read) / pictures;
}
