// Numbers on the way from one state to another.

/**
 * Blends two values of one form: numbers, lists of them, objects.
 * @template Value @param {Value} from @param {Value} to @param {number} t  from 0 to 1
 * @returns {Value}
 */
export function blended(from, to, t) {
  if (typeof from === "number") return /** @type {any} */ (from + (Number(to) - from) * t);
  if (Array.isArray(from)) return /** @type {any} */ (from.map((x, k) => blended(x, to[k], t)));
  const entries = Object.entries(from).map(([name, value]) => [name, blended(value, to[name], t)]);
  return Object.fromEntries(entries);
}
