// The arithmetic of capsules that turn, of arithmetic.ts.
import { load, oneLane } from "../shared/kernels.js";
import { KERNELS_RELAXED, KERNELS_WASM, plain } from "./kernels_built.js";

/**
 * Return the kernels in plain JavaScript.
 * @param {{ buffer: ArrayBufferLike }} memory
 */
export const plainKernels = (memory) => plain(oneLane(memory));

/**
 * Return what makes kernels for a memory; its property `fast` says whether they are WebAssembly.
 * @param {string[]} builds  of WebAssembly: the first that the browser knows is taken
 */
export const loadKernels = (builds = [KERNELS_RELAXED, KERNELS_WASM]) => load(builds, plainKernels);
