// Votes as lines from the capsules below to the classes above: the larger its coupling, the
// stronger a vote is drawn.

const FULL = 0.5; // a coupling of this much, or more, has the full colour
const LEVELS = 24; // of colour

/**
 * How a vote looks.
 * @param {number} coupling
 * @param {number[]} least  the opacity of a vote with no coupling, and the least thickness
 */
export const lookOf = (coupling, [faint, thin]) => ({
  opacity: Math.min(1, faint + coupling / FULL),
  thick: Math.max(thin, 4.5 * coupling),
});

/**
 * Paints all votes that count, faint ones first. Votes of one colour and about one coupling are
 * painted in one stroke, since each stroke costs time.
 * @param {any} pen  pen.js
 * @param {{ c: Float32Array, J: number, answer: number, ends: (k: number) => number[][],
 *   bend: number, counts?: (k: number) => boolean }} _
 *   c [I, J]; answer: the class whose votes have the accent; ends: of the k-th vote, two points;
 *   bend: x in the middle between them; counts: whether the k-th vote counts
 */
export function paintVotes({ brush, line }, { c, J, answer, ends, bend, counts = () => true }) {
  /** @type {{ level: number, isAnswer: boolean, votes: number[] }[]} */
  const bundles = [];
  for (let level = 0; level <= LEVELS; level++) {
    bundles.push({ level, isAnswer: false, votes: [] }, { level, isAnswer: true, votes: [] });
  }
  c.forEach((coupling, k) => {
    if (!counts(k)) return;
    const isAnswer = k % J === answer;
    bundles[2 * Math.round(coupling * LEVELS) + Number(isAnswer)].votes.push(k);
  });
  for (const { level, isAnswer, votes } of bundles) {
    if (votes.length === 0) continue;
    const { opacity, thick } = lookOf(level / LEVELS, [0.03, 0.4]);
    line(isAnswer ? "accent" : "muted", thick);
    brush.globalAlpha = opacity;
    brush.beginPath();
    for (const k of votes) {
      const [[x0, y0], [x1, y1]] = ends(k);
      brush.moveTo(x0, y0);
      brush.bezierCurveTo(bend, y0, bend, y1, x1, y1);
    }
    brush.stroke();
  }
  brush.globalAlpha = 1;
}
