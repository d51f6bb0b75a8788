// `npm run kernels`: kernels_simd.ts to WebAssembly, as text in kernels_wasm.js. With --check: whether it is so.
import { readFileSync, writeFileSync } from "node:fs";
import asc from "assemblyscript/asc";

const folder = import.meta.dirname;
const target = `${folder}/kernels_wasm.js`;
const OPTIONS = ["-O3", "--noAssert", "--runtime", "stub", "--enable", "simd", "--importMemory"];

let binary;
const writeFile = (_, contents) => (binary = contents);
const files = ["kernels_simd.ts", "--baseDir", folder, "-o", "kernels.wasm"];
const { error, stderr } = await asc.main([...files, ...OPTIONS], { writeFile });
if (error) throw new Error(`${error.message}\n${stderr}`);
const text = `// kernels_simd.ts as WebAssembly, in base64: \`npm run kernels\` writes this file.
export const KERNELS_WASM =
  "${Buffer.from(binary).toString("base64")}";
`;
if (!process.argv.includes("--check")) writeFileSync(target, text);
else if (readFileSync(target, "utf8") !== text) {
  console.error("kernels_wasm.js is not kernels_simd.ts of today: npm run kernels");
  process.exit(1);
}
