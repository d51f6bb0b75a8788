// The arithmetic of training, of arithmetic.ts: in WebAssembly, or in plain JavaScript where a page
// may not run that. Either way all numbers lie in one memory.
import { KERNELS_WASM, plain } from "./kernels_built.js";

/** Return what makes kernels for a memory; its property `fast` says which of the two. */
export async function loadKernels() {
  try {
    const bytes = Uint8Array.from(atob(KERNELS_WASM), (letter) => letter.charCodeAt(0));
    const module = await WebAssembly.compile(bytes);
    const fast = (memory) => new WebAssembly.Instance(module, { env: { memory } }).exports;
    return Object.assign(fast, { fast: true });
  } catch {
    const slow = (memory) => plainKernels(memory); // refused, or too old for SIMD
    return Object.assign(slow, { fast: false });
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
    div: (x, y) => x / y,
    max: Math.max,
    turn: (to, _toRow, from) => put(to, get(from)),
    where: (alive, x) => (alive > 0 ? x : 0),
  });
}
