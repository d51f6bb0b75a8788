// The plane in which parts lie: points and angles turned, kept within bounds, and on their way to others.

const radians = (/** @type {number} */ degrees) => (degrees * Math.PI) / 180;

/** (cos, sin) of an angle in degrees. */
export const direction = (/** @type {number} */ degrees) => [
  Math.cos(radians(degrees)),
  Math.sin(radians(degrees)),
];

/** The degrees of a direction. */
export const angleOf = (/** @type {number} */ cos, /** @type {number} */ sin) =>
  (Math.atan2(sin, cos) * 180) / Math.PI;

/** The same angle from −180° to 180°; both of these stay. */
export const wrapped = (/** @type {number} */ degrees) =>
  Math.abs(degrees) <= 180 ? degrees : degrees - 360 * Math.round(degrees / 360);

/** A point turned about the middle. */
export function turnedPoint(/** @type {number[]} */ [x, y], degrees) {
  const [cos, sin] = direction(degrees);
  return [cos * x - sin * y, sin * x + cos * y];
}

/** A point that is no farther from the middle than a radius. */
export function within(/** @type {number[]} */ [x, y], radius) {
  const out = Math.max(1, Math.hypot(x, y) / radius);
  return [x / out, y / out];
}

/** From poses to others, t from 0 to 1: all numbers evenly, the one at `angle` the short way round. */
export function wayTo(from, to, angle) {
  const far = from.map((pose, i) =>
    pose.map((x, k) => (k === angle ? wrapped(to[i][k] - x) : to[i][k] - x)),
  );
  const moved = (x, by, k) => (k === angle ? wrapped(x + by) : x + by);
  const at = (t) => from.map((pose, i) => pose.map((x, k) => moved(x, t * far[i][k], k)));
  return (/** @type {number} */ t) => (t === 1 ? to : at(t));
}
