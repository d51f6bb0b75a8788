// `npm run kernels`: arithmetic.ts to WebAssembly and to plain JavaScript, both in kernels_built.js.
// With --check: whether that is so.
import { readFileSync, writeFileSync } from "node:fs";
import asc from "assemblyscript/asc";

const folder = import.meta.dirname;
const target = `${folder}/kernels_built.js`;
const OPTIONS = ["-O3", "--noAssert", "--runtime", "stub", "--enable", "simd", "--importMemory"];

/** Return WebAssembly in base64. @param {string[]} more  options */
async function compiled(...more) {
  let binary;
  const writeFile = (_, contents) => {
    binary = contents;
  };
  const files = ["arithmetic.ts", "--baseDir", folder, "-o", "kernels.wasm"];
  const { error, stderr } = await asc.main([...files, ...OPTIONS, ...more], { writeFile });
  if (error) throw new Error(`${error.message}\n${stderr}`);
  return Buffer.from(binary).toString("base64");
}
const simd = await compiled();
const relaxed = await compiled("--enable", "relaxed-simd");

const source = readFileSync(`${folder}/arithmetic.ts`, "utf8");
const parts = /^.*?import \{(.*?)\bV, where,\s*\} from "\.\/lanes";(.*)$/s.exec(source);
if (!parts) throw new Error("arithmetic.ts begins otherwise than expected");
const [, imported, body] = parts;
const lanes = imported.match(/\w+/g).join(", ");
const names = [...body.matchAll(/^export function (\w+)/gm)].map(([, name]) => name);
const plain = body.replace(/: (usize|i32|f32|void)\b/g, "").replace(/^export /gm, "");
const text = `// @ts-nocheck
// \`npm run kernels\` writes this file from arithmetic.ts: as WebAssembly in base64, without and
// with relaxed SIMD, and without its types.
export const KERNELS_WASM =
  "${simd}";
export const KERNELS_RELAXED =
  "${relaxed}";
export const plain = ({ ${lanes}, where }) => {${plain}
return { ${names.join(", ")} };
};
`;
if (!process.argv.includes("--check")) writeFileSync(target, text);
else if (readFileSync(target, "utf8") !== text) {
  console.error("kernels_built.js is not arithmetic.ts of today: npm run kernels");
  process.exit(1);
}
