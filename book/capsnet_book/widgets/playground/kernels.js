// The arithmetic of training, of arithmetic.ts: in WebAssembly, or in plain JavaScript where a page
// may not run that. Either way all numbers lie in one memory.
import { KERNELS_RELAXED, KERNELS_WASM, plain } from "./kernels_built.js";

/**
 * Return what makes kernels for a memory; its property `fast` says which of the two.
 * @param {string[]} builds  of WebAssembly: the first that the browser knows is taken
 */
export async function loadKernels(builds = [KERNELS_RELAXED, KERNELS_WASM]) {
  let module;
  for (const build of builds) module ??= await compiled(build);
  if (!module) {
    const slow = (memory) => plainKernels(memory);
    return Object.assign(slow, { fast: false });
  }
  const fast = (memory) => new WebAssembly.Instance(module, { env: { memory } }).exports;
  return Object.assign(fast, { fast: true });
}

/**
 * Return WebAssembly's module; undefined where a page may have none, or where the browser does not
 * know its instructions: relaxed SIMD is younger than SIMD.
 * @param {string} base64
 */
async function compiled(base64) {
  try {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    return await WebAssembly.compile(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Return the kernels in plain JavaScript: lanes.ts with one number at a time.
 * @param {WebAssembly.Memory | { buffer: ArrayBuffer }} memory
 */
export function plainKernels({ buffer }) {
  const numbers = new Float32Array(buffer);
  const get = (/** @type {number} */ pointer) => numbers[pointer >> 2];
  const put = (/** @type {number} */ pointer, /** @type {number} */ x) => {
    numbers[pointer >> 2] = x;
  };
  const same = (/** @type {number} */ x) => x;
  return plain({
    LANES: 1,
    get,
    put,
    get1: get,
    spread: get,
    put1: put,
    all: same,
    sum: same,
    root: Math.sqrt,
    exp: Math.exp,
    at: (pointer, index) => pointer + (index << 2),
    add: (x, y) => x + y,
    sub: (x, y) => x - y,
    mul: (x, y) => x * y,
    madd: (x, y, z) => x * y + z,
    div: (x, y) => x / y,
    max: Math.max,
    turn: (to, _toRow, from) => put(to, get(from)),
    where: (alive, x) => (alive > 0 ? x : 0),
  });
}
