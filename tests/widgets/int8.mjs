// node int8.mjs MODULE WEIGHTS TENSOR OUT: an int8 file, unpacked and read; the names and a tensor's shape to stdout.
import { readFileSync, writeFileSync } from "node:fs";

const { readSafetensors, unpackInt8 } = await import(process.argv[2]);
const [weights, name, out] = process.argv.slice(3);
const file = readFileSync(weights);
try {
  const { tensors, metadata } = readSafetensors(unpackInt8(file));
  writeFileSync(out, tensors[name].data);
  process.stdout.write(JSON.stringify({ names: Object.keys(tensors).sort(), shape: tensors[name].shape, metadata }));
} catch (error) {
  process.stdout.write(JSON.stringify({ error: error.message }));
}
