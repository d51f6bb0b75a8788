// node ink.mjs MODULE STROKES.json OUT: drawings (lists of strokes) as 28×28 pixels, float32.
import { readFileSync, writeFileSync } from "node:fs";

const [module, strokes, out] = process.argv.slice(2);
const { toImage } = await import(module);
const images = JSON.parse(readFileSync(strokes)).map(toImage);
writeFileSync(out, Buffer.concat(images.map((image) => Buffer.from(image.buffer))));
console.log(images.length);
