// Parts with true poses, and two networks that vote with them: matrices M W, vectors W u.
import { norm, route } from "./shared/core.js";
import { format } from "./shared/ui.js";

export const WHOLES = 10;
export const OWN = 5; // so many parts has a whole; those after them belong to none
const FAMILIAR = 45; // degrees, either way: as the networks were trained

/** @typedef {number[]} Part  angle in radians, x, y, which of the five types */
/** @typedef {{ u_hat: Float32Array, c: Float32Array, lengths: number[], answer: number, D: number }} Reading */

/** The parts seen from elsewhere: all turned about the middle. @param {Part[]} parts @param {number} degrees */
export function turned(parts, degrees) {
  const by = (degrees * Math.PI) / 180;
  const [cos, sin] = [Math.cos(by), Math.sin(by)];
  return parts.map(([angle, x, y, type]) => [angle + by, cos * x - sin * y, sin * x + cos * y, type]);
}

/**
 * A pose by rows: (cos, −sin, x), (sin, cos, y), (0, 0, 1) of a matrix, or (cos, sin, x, y, 1), a vector.
 * @param {string} kind
 * @param {Part} part
 */
function rowsOf(kind, [angle, x, y]) {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return kind === "vectors"
    ? [[cos, sin, x, y, 1]]
    : [
        [cos, -sin, x],
        [sin, cos, y],
        [0, 0, 1],
      ]; // prettier-ignore
}

/**
 * What a network makes of a scene. û [I, 10, D], the last round's shares c [I, 10], the ten lengths.
 * @param {string} kind  matrices or vectors
 * @param {number[]} weight  [5 · numbers, 10 · votes], a block for each type and whole
 * @param {Part[]} parts
 * @param {number} rounds
 * @returns {Reading}
 */
export function read(kind, weight, parts, rounds) {
  const numbers = kind === "vectors" ? 5 : 3;
  const votes = kind === "vectors" ? 8 : 3;
  const D = kind === "vectors" ? votes : 3 * votes;
  const u_hat = new Float32Array(parts.length * WHOLES * D);
  parts.forEach((part, i) =>
    rowsOf(kind, part).forEach((row, r) =>
      row.forEach((number, k) => {
        const from = (part[3] * numbers + k) * WHOLES * votes;
        for (let jd = 0; jd < WHOLES * votes; jd++) {
          const [j, d] = [Math.floor(jd / votes), jd % votes];
          u_hat[(i * WHOLES + j) * D + r * votes + d] += number * weight[from + jd];
        }
      }),
    ),
  );
  const trace = route(u_hat, parts.length, WHOLES, D, rounds);
  const [c, v] = [trace.c[rounds - 1], trace.v[rounds - 1]];
  const lengths = Array.from({ length: WHOLES }, (_, j) => norm(v, j * D, D));
  return { u_hat, c, lengths, answer: lengths.indexOf(Math.max(...lengths)), D };
}

/**
 * Two of a vote's numbers, to be drawn as a point that turns with the scene if the vote does: a column of M W; of a
 * vector the two in which the parts' votes for this whole are longest when nothing is turned.
 * @param {string} kind
 * @param {Reading} upright
 * @param {number} j
 */
export function shownNumbers(kind, { u_hat, D }, j) {
  const size = Array.from({ length: D }, (_, d) => {
    let sum = 0;
    for (let i = 0; i < OWN; i++) sum += Math.abs(u_hat[(i * WHOLES + j) * D + d]);
    return sum;
  });
  const best = (/** @type {number[]} */ values) => values.indexOf(Math.max(...values));
  if (kind === "matrices") {
    const column = best([0, 1, 2].map((d) => Math.hypot(size[d], size[3 + d])));
    return [column, 3 + column];
  }
  const first = best(size);
  return [first, best(size.map((x, d) => (d === first ? -1 : x)))];
}

/** What has happened, in a sentence. @param {Reading} matrices @param {Reading} vectors */
export function remarkOn(matrices, vectors, whole, degrees) {
  const says = (/** @type {Reading} */ { answer, lengths }) =>
    `${answer === whole ? "knows the whole" : `takes it for whole ${answer}`} (${format(lengths[answer])})`;
  const familiar = Math.abs(degrees) <= FAMILIAR;
  const view = familiar ? "A view as in training" : `${Math.abs(degrees)}°: no training scene was turned so far`;
  return `${view}. With matrices the network ${says(matrices)}; with vectors it ${says(vectors)}.`;
}
