// The plane in which parts lie: points and angles, turned, kept within bounds and interpolated.

const radians = (/** @type {number} */ degrees) => (degrees * Math.PI) / 180;

/** (cos, sin) of an angle in degrees. */
export const direction = (/** @type {number} */ degrees) => [
  Math.cos(radians(degrees)),
  Math.sin(radians(degrees)),
];

/** The angle of a direction, in degrees. */
export const angleOf = (/** @type {number} */ cos, /** @type {number} */ sin) =>
  (Math.atan2(sin, cos) * 180) / Math.PI;

/** Wraps an angle to [−180°, 180°]; both ends stay as they are. */
export const wrapped = (/** @type {number} */ degrees) =>
  Math.abs(degrees) <= 180 ? degrees : degrees - 360 * Math.round(degrees / 360);

/** Rotates a point about the middle. @param {number[]} point @param {number} degrees */
export function turnedPoint([x, y], degrees) {
  const [cos, sin] = direction(degrees);
  return [cos * x - sin * y, sin * x + cos * y];
}

/** Pulls a point inside the disc of a radius. @param {number[]} point @param {number} radius */
export function within([x, y], radius) {
  const excess = Math.max(1, Math.hypot(x, y) / radius);
  return [x / excess, y / excess];
}

/**
 * Interpolates from poses to others. Returns a function of t in [0, 1]: all numbers move evenly,
 * the one at index `angle` the short way round.
 * @param {number[][]} from @param {number[][]} to @param {number} angle
 */
export function wayTo(from, to, angle) {
  const distances = from.map((pose, i) =>
    pose.map((x, k) => (k === angle ? wrapped(to[i][k] - x) : to[i][k] - x)),
  );
  const moved = (x, by, k) => (k === angle ? wrapped(x + by) : x + by);
  const at = (t) => from.map((pose, i) => pose.map((x, k) => moved(x, t * distances[i][k], k)));
  return (/** @type {number} */ t) => (t === 1 ? to : at(t));
}
