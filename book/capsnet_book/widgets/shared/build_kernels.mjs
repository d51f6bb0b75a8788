// `npm run kernels`: each arithmetic.ts to WebAssembly and to plain JavaScript, both in the
// kernels_built.js beside it. With --check: whether that is so.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import asc from "assemblyscript/asc";

const widgets = dirname(import.meta.dirname);
const FOLDERS = ["playground", "turning"];
const OPTIONS = ["-O3", "--noAssert", "--runtime", "stub", "--enable", "simd", "--importMemory"];

/** Return WebAssembly in base64. @param {string} folder @param {string[]} more  options */
async function compiled(folder, ...more) {
  let binary;
  const writeFile = (_, contents) => {
    binary = contents;
  };
  const files = [`${folder}/arithmetic.ts`, "--baseDir", widgets, "-o", "kernels.wasm"];
  const { error, stderr } = await asc.main([...files, ...OPTIONS, ...more], { writeFile });
  if (error) throw new Error(`${error.message}\n${stderr}`);
  return Buffer.from(binary).toString("base64");
}

/** Return a folder's arithmetic without its types, as a function of lanes. */
function untyped(folder) {
  const source = readFileSync(`${widgets}/${folder}/arithmetic.ts`, "utf8");
  const parts = /^.*?import \{([^}]*)\} from "\.\.\/shared\/lanes";(.*)$/s.exec(source);
  if (!parts) throw new Error(`${folder}/arithmetic.ts begins otherwise than expected`);
  const [, imported, body] = parts;
  const lanes = imported.match(/\w+/g).filter((name) => name !== "V"); // the type of all lanes
  const names = [...body.matchAll(/^export function (\w+)/gm)].map(([, name]) => name);
  const plain = body.replace(/: (usize|i32|f32|void)\b/g, "").replace(/^export /gm, "");
  return `({ ${lanes.join(", ")} }) => {${plain}
return { ${names.join(", ")} };
}`;
}

/** Return the text of a folder's kernels_built.js. */
async function built(folder) {
  const simd = await compiled(folder);
  const relaxed = await compiled(folder, "--enable", "relaxed-simd");
  return `// @ts-nocheck
// \`npm run kernels\` writes this file from arithmetic.ts: as WebAssembly in base64, without and
// with relaxed SIMD, and without its types.
export const KERNELS_WASM =
  "${simd}";
export const KERNELS_RELAXED =
  "${relaxed}";
export const plain = ${untyped(folder)};
`;
}

for (const folder of FOLDERS) {
  const target = `${widgets}/${folder}/kernels_built.js`;
  const text = await built(folder);
  if (!process.argv.includes("--check")) writeFileSync(target, text);
  else if (readFileSync(target, "utf8") !== text) {
    console.error(`${folder}/kernels_built.js is not arithmetic.ts of today: npm run kernels`);
    process.exit(1);
  }
}
