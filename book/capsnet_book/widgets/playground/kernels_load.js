// The fast kernels where a page may run WebAssembly, else the plain ones.
import { plainKernels } from "./kernels.js";
import { KERNELS_WASM } from "./kernels_wasm.js";

/** -> what makes kernels for a memory; `fast` says which. */
export async function loadKernels(plain = false) {
  if (plain) return Object.assign((memory) => plainKernels(memory), { fast: false });
  try {
    const bytes = Uint8Array.from(atob(KERNELS_WASM), (letter) => letter.charCodeAt(0));
    const module = await WebAssembly.compile(bytes);
    const fast = (memory) => new WebAssembly.Instance(module, { env: { memory } }).exports;
    return Object.assign(fast, { fast: true });
  } catch {
    return Object.assign((memory) => plainKernels(memory), { fast: false }); // refused, or too old for SIMD
  }
}
