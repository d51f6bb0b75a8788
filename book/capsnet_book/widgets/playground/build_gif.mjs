// `npm run gif`: the package gifenc as one file of the form that the widgets are joined from
// (_sources.py), gif_built.js. With --check: whether that is so.
import { readFileSync, writeFileSync } from "node:fs";

const folder = import.meta.dirname;
const target = `${folder}/gif_built.js`;
const source = new URL("../../../node_modules/gifenc/", import.meta.url);
const { version } = JSON.parse(readFileSync(new URL("package.json", source)));
const licence = readFileSync(new URL("LICENSE.md", source), "utf8").trim();

const script = readFileSync(new URL("dist/gifenc.esm.js", source), "utf8");
const parts = /^(.*)export\{(\w+) as GIFEncoder,.*$/s.exec(script);
if (!parts) throw new Error("gifenc.esm.js ends otherwise than expected");
const [, body, name] = parts;
const text = `// @ts-nocheck
// \`npm run gif\` writes this file: gifenc ${version}, which writes animated pictures.
// ${licence.replaceAll("\n", "\n// ").replaceAll("// \n", "//\n")}
export const GIFEncoder = (() => {
${body.trim()}
return ${name};
})();
`;
if (!process.argv.includes("--check")) writeFileSync(target, text);
else if (readFileSync(target, "utf8") !== text) {
  console.error("gif_built.js is not gifenc of today: npm run gif");
  process.exit(1);
}
