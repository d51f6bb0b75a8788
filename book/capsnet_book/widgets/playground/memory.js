// One memory for all numbers of a training: WebAssembly's, or an ArrayBuffer of the same plan.
import { parameterList } from "./parameters.js";
import { D, D_IN, HIDDEN, J, MAPS, PIXELS, PLACES, ROW, TAPS } from "./sizes.js";

/** @typedef {Record<string, number>} Pointers */

/**
 * Where everything lies, as pointers in bytes, each a multiple of 16.
 *
 * `at` and `slope`: a parameter and its gradient, by name. `first`, `gradients`, `mean`, `square`: where all `count`
 * parameters begin, their gradients, Adam's two means. `turned`: weights transposed, for the way back. `y` and `dy`:
 * what the layers hold for a batch, and its gradient. of(name, t): what the routing holds of round t.
 */
export function planMemory({ types, batch: B }, rounds) {
  const [C, I] = [8 * types, PLACES * types];
  let bytes = 64; // nothing at 0
  const take = (numbers) => {
    const pointer = bytes;
    bytes += 16 * Math.ceil(numbers / 4);
    return pointer;
  };
  /** @type {(sizes: Record<string, number>) => Pointers} */
  const takeAll = (sizes) => Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, take(size)]));

  const parameters = parameterList(types);
  const count = parameters.reduce((all, { size }) => all + size, 0);
  const [first, gradients, mean, square] = [0, 1, 2, 3].map(() => take(count));
  const places = (pointer) => Object.fromEntries(parameters.map(({ name, from }) => [name, pointer + 4 * from]));
  const [at, slope] = [places(first), places(gradients)];
  const [h1, h2] = HIDDEN;
  const V = J * D;
  const turned = takeAll({
    primary: TAPS ** 2 * C * C,
    routed: I * D_IN * V,
    "decoder.0": V * h1,
    "decoder.2": h1 * h2,
    "decoder.4": h2 * PIXELS,
  });
  const layers = {
    x: B * PIXELS,
    maps: B * MAPS * C,
    features: B * I * D_IN,
    grouped: B * I * D_IN,
    u: B * I * D_IN,
    votes: B * I * V,
    masked: B * V,
    hidden1: B * h1,
    hidden2: B * h2,
    drawing: B * PIXELS,
  };
  const [y, dy] = [takeAll(layers), takeAll(layers)];
  const sizes = { c: B * I * ROW, s: B * V, v: B * V, ds: B * V, db: B * I * ROW };
  const pieces = takeAll(Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, rounds * size])));
  const of = (name, t) => pieces[name] + 4 * t * sizes[name];
  const [b, dc, dv] = [B * I * ROW, B * I * ROW, B * V].map(take);
  return { bytes, at, slope, first, gradients, mean, square, count, turned, y, dy, of, b, dc, dv };
}

/** Memory of so many bytes. Where WebAssembly is refused: a buffer that looks like it. */
export function makeMemory(bytes) {
  if (globalThis.WebAssembly) return new WebAssembly.Memory({ initial: Math.ceil(bytes / 65536) });
  return { buffer: new ArrayBuffer(bytes) };
}
