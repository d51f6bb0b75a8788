// node read.mjs MODULE WEIGHTS NAME OUT: one tensor of the file as float32; prints its shape.
import { readFileSync, writeFileSync } from "node:fs";

const [module, weights, name, out] = process.argv.slice(2);
const { readSafetensors } = await import(module);
const { shape, data } = readSafetensors(readFileSync(weights)).tensors[name];
writeFileSync(out, Buffer.from(data.buffer));
console.log(JSON.stringify(shape));
