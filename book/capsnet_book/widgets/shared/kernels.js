// Arithmetic that a build made of an arithmetic.ts: in WebAssembly, or in plain JavaScript where a
// page may not run that. Either way all numbers lie in one memory.

const PAGE = 65536; // bytes; WebAssembly's

/** Allocate bytes: WebAssembly's memory, or a buffer that looks like one where that is refused. */
export function allocated(/** @type {number} */ bytes) {
  const pages = Math.ceil(bytes / PAGE);
  const wasm = globalThis.WebAssembly;
  return wasm ? new wasm.Memory({ initial: pages }) : { buffer: new ArrayBuffer(pages * PAGE) };
}

/**
 * Return what makes kernels for a memory; its property `fast` says whether they are WebAssembly.
 * @param {string[]} builds  of WebAssembly, base64: the first that the browser knows is taken
 * @param {(memory: any) => any} plainKernels  where it knows none
 */
export async function load(builds, plainKernels) {
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
 * Return lanes.ts for plain JavaScript: one number at a time.
 * @param {{ buffer: ArrayBufferLike }} memory
 */
export function oneLane({ buffer }) {
  const numbers = new Float32Array(buffer);
  const integers = new Int32Array(buffer);
  const get = (/** @type {number} */ pointer) => numbers[pointer >> 2];
  const put = (/** @type {number} */ pointer, /** @type {number} */ x) => {
    numbers[pointer >> 2] = x;
  };
  const same = (/** @type {number} */ x) => x;
  return {
    LANES: 1,
    get,
    put,
    get1: get,
    spread: get,
    put1: put,
    getInteger: (/** @type {number} */ pointer) => integers[pointer >> 2],
    putInteger: (/** @type {number} */ pointer, /** @type {number} */ n) => {
      integers[pointer >> 2] = n;
    },
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
  };
}
