// Two parts in the plane, and the wholes that they predict: û_j|i = W_ij u_i, four numbers a pose.
import { predictionVectors } from "./shared/core.js";

/** @typedef {number[]} Pose  angle in degrees, x, y */

export const PARTS = ["triangle", "rectangle"];
export const WHOLES = ["house", "boat"];
export const FARTHEST = 2.1; // from the middle to a part
export const AGREE = 0.25; // two predictions that are closer than this count as the same
const NEARLY = 1;

const radians = (/** @type {number} */ degrees) => (degrees * Math.PI) / 180;
const wrap = (/** @type {number} */ degrees) => degrees - 360 * Math.round(degrees / 360);

/**
 * A pose as the four numbers of a capsule: u = (cos, sin, x, y).
 * @param {Pose} pose
 */
export function capsuleOf([angle, x, y]) {
  return [Math.cos(radians(angle)), Math.sin(radians(angle)), x, y];
}

/**
 * All four predictions: û, a list by part of a list by whole of 4 numbers.
 * @param {Pose[]} poses
 * @param {Float64Array | number[]} weight  [2, 2, 4, 4]
 */
export function votesOf(poses, weight) {
  const shape = [PARTS.length, WHOLES.length, 4, 4];
  const u_hat = predictionVectors(poses.flatMap(capsuleOf), { shape, data: weight });
  const vote = (i, j) => Array.from(u_hat.subarray((i * 2 + j) * 4, (i * 2 + j + 1) * 4));
  return PARTS.map((_, i) => WHOLES.map((_, j) => vote(i, j)));
}

/**
 * How far apart the two parts' predictions are, for each whole: ‖û_j|▲ − û_j|■‖
 * @param {number[][][]} u_hat
 */
export function distancesOf([first, second]) {
  return WHOLES.map((_, j) => Math.hypot(...first[j].map((x, d) => x - second[j][d])));
}

/**
 * A pose seen from another one: the part that stands at `place` in a whole that stands at `whole`.
 * @param {Pose} whole
 * @param {Pose} place
 */
export function placed([angle, x, y], [turn, dx, dy]) {
  const [cos, sin] = capsuleOf([angle, 0, 0]);
  return [wrap(angle + turn), x + cos * dx - sin * dy, y + sin * dx + cos * dy];
}

/**
 * Both parts where whole `j` wants them; the whole is the one that the rectangle predicts, moved inwards if need be.
 * @param {number} j
 * @param {Pose[]} poses
 * @param {Pose[]} places  of each part in each whole
 */
export function arranged(j, poses, places) {
  const place = (i) => places[i * 2 + j];
  const [turn, dx, dy] = place(1);
  const [angle] = placed([poses[1][0], 0, 0], [-turn, 0, 0]);
  const [, x, y] = placed([angle, poses[1][1], poses[1][2]], [0, -dx, -dy]);
  const whole = [angle, ...within([x, y], FARTHEST - 1)];
  return PARTS.map((_, i) => placed(whole, place(i)));
}

/**
 * Everything turned about the middle of the picture.
 * @param {Pose[]} poses
 * @param {number} degrees
 */
export const turned = (poses, degrees) => poses.map((pose) => placed([degrees, 0, 0], pose));

/**
 * Part `i` somewhere else: not too far out, in thousandths.
 * @param {Pose[]} poses
 * @param {number} i
 * @param {Pose} pose
 */
export function moved(poses, i, [angle, x, y]) {
  const pose = [wrap(angle), ...within([x, y], FARTHEST)].map((n) => Math.round(n * 1000) / 1000);
  return poses.map((each, k) => (k === i ? pose : each.slice()));
}

/**
 * The way from poses to others: t from 0 to 1 -> poses. Parts turn the short way round.
 * @param {Pose[]} from
 * @param {Pose[]} to
 */
export function wayTo(from, to) {
  const turns = to.map(([angle], i) => wrap(angle - from[i][0]));
  const mixed = (a, b, t) => a + t * (b - a);
  const between = (t) =>
    from.map(([angle, x, y], i) => [wrap(angle + t * turns[i]), mixed(x, to[i][1], t), mixed(y, to[i][2], t)]);
  return (/** @type {number} */ t) => (t === 1 ? to.map((pose) => pose.slice()) : between(t));
}

function within([x, y], radius) {
  const share = Math.min(1, radius / Math.hypot(x, y));
  return share < 1 ? [x * share, y * share] : [x, y];
}

/** What there is to see. @param {number[]} distances */
export function remarkOn([house, boat]) {
  const same = (one, other) =>
    `Both parts predict the same ${one}: same place, same angle. About a ${other} they disagree. So a ${one} it is.`;
  if (house < AGREE) return same("house", "boat");
  if (boat < AGREE) return same("boat", "house");
  if (house < NEARLY || boat < NEARLY) {
    const nearer = house < boat ? "house" : "boat";
    return `Nearly. The two predictions of the ${nearer} come together; push or turn a part until they coincide.`;
  }
  return "Both parts are here, but they expect different houses and different boats. Parts alone are no whole.";
}
