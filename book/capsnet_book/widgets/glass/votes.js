// Votes as lines from the capsules below to the classes above: the larger its share of its capsule, the stronger a vote.

const FULL = 0.5; // a coupling of this much, or more, has the full colour
const LEVELS = 24; // of it

/** How a vote looks that has this share of its capsule. */
export const lookOf = (/** @type {number} */ share, [faint, thin]) => ({
  opacity: Math.min(1, faint + share / FULL),
  thick: Math.max(thin, 4.5 * share),
});

/**
 * All votes that count, faint ones first; those of one colour and about one share in one stroke: each costs time.
 * @param {any} pen  pen.js
 * @param {{ c: Float32Array, J: number, answer: number, ends: (k: number) => number[][], bend: number,
 *   counts?: (k: number) => boolean }} _  c [I, J]; ends: of the k-th vote, two points; bend: x in the middle between
 */
export function paintVotes({ brush, line }, { c, J, answer, ends, bend, counts = () => true }) {
  const bundles = Array.from({ length: 2 * LEVELS + 2 }, () => /** @type {number[]} */ ([]));
  c.forEach((share, k) => {
    if (counts(k)) bundles[2 * Math.round(share * LEVELS) + Number(k % J === answer)].push(k);
  });
  bundles.forEach((bundle, n) => {
    if (!bundle.length) return;
    const { opacity, thick } = lookOf(Math.floor(n / 2) / LEVELS, [0.03, 0.4]);
    line(n % 2 ? "accent" : "muted", thick);
    brush.globalAlpha = opacity;
    brush.beginPath();
    for (const k of bundle) {
      const [[x0, y0], [x1, y1]] = ends(k);
      brush.moveTo(x0, y0);
      brush.bezierCurveTo(bend, y0, bend, y1, x1, y1);
    }
    brush.stroke();
  });
  brush.globalAlpha = 1;
}
