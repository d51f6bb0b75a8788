// A face of parts whose matrices are made by hand: what a bag of parts and a face capsule make of it.
import { norm, predictionVectors, route } from "./shared/core.js";
import { clamp, format } from "./shared/ui.js";

/** @typedef {number[]} Pose  x, y, turn in degrees, size */

export const PARTS = ["left eye", "right eye", "nose", "mouth"];
export const NOSE = 2;
export const KINDS = { eye: [0, 1], nose: [2], mouth: [3] }; // a bag does not tell one eye from the other
/** @type {Pose[]} */
export const FACE = [
  [-0.38, -0.22, 0, 1],
  [0.38, -0.22, 0, 1],
  [0, 0.12, 0, 1],
  [0, 0.52, 0, 1],
];
/** @type {Pose[]} */
export const PICASSO = [
  [0.42, 0.5, 35, 1],
  [-0.3, -0.62, -20, 1.2],
  [0.55, -0.3, 70, 1],
  [-0.5, 0.25, -60, 1],
];
export const REACH = 1.6; // no part leaves this disc
const SIZES = [0.5, 1.6];
export const SURE = 0.5; // a face capsule at least this long says that there is a face
const [I, J, D_in, WAVES] = [4, 10, 4, 8];
const D = 2 * WAVES;
const VOICE = 2.5; // the length of one prediction vector
const ROUNDS = 3;
const NEAR = 0.35; // opinions that are closer than this agree
const DEGREE = Math.PI / 180;

/**
 * u [I, D_in], (x, y, size·cos, size·sin) of each part.
 * @param {Pose[]} poses
 */
export function poseNumbers(poses) {
  const numbers = ([x, y, turn, size]) => [x, y, size * Math.cos(turn * DEGREE), size * Math.sin(turn * DEGREE)];
  return Float32Array.from(poses.flatMap(numbers));
}

/**
 * An opinion (x, y, a, b) as a vector of 16 numbers, always VOICE long: the same opinion, the same direction.
 * @param {Float32Array} opinion
 * @param {Float32Array} waves  [WAVES, D_in]
 */
export function inWaves(opinion, waves) {
  const u_hat = new Float32Array(D);
  const scale = VOICE / Math.sqrt(WAVES);
  for (let m = 0; m < WAVES; m++) {
    let phase = 0;
    for (let d = 0; d < D_in; d++) phase += waves[m * D_in + d] * opinion[d];
    u_hat[m] = scale * Math.cos(phase);
    u_hat[WAVES + m] = scale * Math.sin(phase);
  }
  return u_hat;
}

/**
 * What the parts predict, and what becomes of it: opinions [I][4] about the face, couplings [I] to it, the lengths of
 * all J wholes, the face's pose (x, y, a, b), which kinds of parts are found, and the bag's score.
 * @param {Pose[]} poses
 * @param {boolean[]} shown
 * @param {Float32Array} weight  [I, J, D_in, D_in]
 * @param {Float32Array} waves  [WAVES, D_in]
 */
export function judge(poses, shown, weight, waves) {
  const all = predictionVectors(poseNumbers(poses), { shape: [I, J, D_in, D_in], data: weight }); // [I, J, 4]
  const u_hat = new Float32Array(I * J * D); // a part that is not there says nothing: 0
  for (let k = 0; k < I * J; k++) {
    if (shown[Math.floor(k / J)]) u_hat.set(inWaves(all.subarray(k * D_in, (k + 1) * D_in), waves), k * D);
  }
  const { c, v } = route(u_hat, I, J, D, ROUNDS);
  const couplings = Array.from({ length: I }, (_, i) => (shown[i] ? c[ROUNDS - 1][i * J] : 0));
  const opinions = Array.from({ length: I }, (_, i) => Array.from(all.subarray(i * J * D_in, i * J * D_in + D_in)));
  const total = couplings.reduce((sum, c_i) => sum + c_i, 0) || 1;
  const mean = (d) => opinions.reduce((sum, opinion, i) => sum + couplings[i] * opinion[d], 0) / total;
  const found = Object.values(KINDS).map((parts) => Math.max(...parts.map((i) => Number(shown[i])))); // the max pooling
  return {
    opinions,
    couplings,
    face: Array.from({ length: D_in }, (_, d) => mean(d)),
    found,
    lengths: Array.from({ length: J }, (_, j) => norm(v[ROUNDS - 1], j * D, D)),
    bag: found.reduce((sum, x) => sum + x, 0) / found.length,
  };
}

/**
 * (x, y, a, b) -> (x, y, turn, size)
 * @param {number[]} numbers
 */
export function readPose([x, y, a, b]) {
  return [x, y, Math.atan2(b, a) / DEGREE, Math.hypot(a, b)];
}

/**
 * A pose within bounds: inside the disc, turned by −180° to 180°, of a possible size, rounded.
 * @param {Pose} pose
 */
export function tidy([x, y, turn, size]) {
  const out = Math.max(1, Math.hypot(x, y) / REACH);
  const round = (value) => Math.round(value * 1e4) / 1e4;
  return [round(x / out), round(y / out), round(around(turn)), clamp(round(size), SIZES[0], SIZES[1])];
}

/** The same angle between −180° and 180°; both of these stay. */
function around(angle) {
  return Math.abs(angle) <= 180 ? angle : angle - 360 * Math.round(angle / 360);
}

/**
 * A path, t from 0 to 1 -> poses, that turns all parts together about the centre of the picture.
 * @param {Pose[]} start
 * @param {number} angle  degrees
 */
export function turned(start, angle) {
  return (/** @type {number} */ t) => {
    const [cos, sin] = [Math.cos(angle * t * DEGREE), Math.sin(angle * t * DEGREE)];
    return start.map(([x, y, turn, size]) => [cos * x - sin * y, sin * x + cos * y, turn + angle * t, size]);
  };
}

/**
 * A path from poses to others, each part on a straight line and turning the short way round.
 * @param {Pose[]} start
 * @param {Pose[]} goal
 */
export function straightTo(start, goal) {
  const ends = start.map(([, , turn], i) => goal[i].map((x, k) => (k === 2 ? turn + around(x - turn) : x)));
  return (/** @type {number} */ t) => start.map((pose, i) => pose.map((x, k) => x + (ends[i][k] - x) * t));
}

/** The largest group of opinions that agree with one of them, and the parts that do not. */
function camps(opinions, shown) {
  const near = (p, q) => Math.hypot(...p.map((x, d) => x - q[d])) < NEAR;
  const there = opinions.map((_, i) => i).filter((i) => shown[i]);
  const groups = there.map((i) => there.filter((k) => near(opinions[i], opinions[k])));
  const largest = groups.reduce((best, group) => (group.length > best.length ? group : best), []);
  return { together: largest, apart: there.filter((i) => !largest.includes(i)) };
}

/**
 * What there is to see.
 * @param {{ length: number, bag: number, opinions: Pose[], shown: boolean[], turn: number }} _  opinions as poses
 */
export function remarkOn({ length, bag, opinions, shown, turn }) {
  const { together, apart } = camps(opinions, shown);
  const there = shown.filter(Boolean).length;
  if (there === 0) return "No parts, no opinions: both say 0.";
  if (there < 4) return `${ofMissing(bag)} ${ofRest(length)}`;
  if (apart.length === 0 && Math.abs(turn) > 5) {
    const agreed = `All agree, and all say “turned by ${inDegrees(turn)}”.`;
    return `${agreed} The length is what it was for the upright face; the pose has turned along.`;
  }
  if (apart.length === 0) {
    return "Four opinions, one face: the outlines lie on top of each other, and the capsule is long.";
  }
  if (together.length === 3) {
    const other = `the ${PARTS[apart[0]]} thinks the face is somewhere else, or turned, or of another size`;
    return `Three parts agree; ${other}. The other three still make a face.`;
  }
  if (length > SURE) return "Some parts still agree, and the capsule is not sure. The bag is: nothing is missing.";
  return (
    "Everything is there, so the bag is content. But each part believes in another face: " +
    "their vectors point different ways, and the sum stays short."
  );
}

const ofMissing = (bag) =>
  bag === 1
    ? "The bag misses nothing: one eye is as good as two for a maximum."
    : "What is missing, the bag notices: that is what it is good at.";

const ofRest = (length) =>
  length > SURE ? "The parts that are left still agree on one face." : "The parts that are left make no face.";

/** @param {number} angle */
export const inDegrees = (angle) => `${format(angle, 0)}°`;
