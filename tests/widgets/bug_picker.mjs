// node bug_picker.mjs MODULE WEIGHTS IMAGES: the capsules and couplings of every image with every bug, and without.
import { readFileSync } from "node:fs";

const [module, file, images] = process.argv.slice(2);
const { SEEN_IN, answerWith, makeNetwork, readSafetensors } = await import(module);
const network = makeNetwork(readFileSync(file));
const weight = readSafetensors(readFileSync(file)).tensors["routed.weight"];
const pixels = new Float32Array(new Uint8Array(readFileSync(images)).buffer);
const answers = [];
for (let at = 0; at < pixels.length; at += 784) answers.push(network.forward(pixels.subarray(at, at + 784), 3));
const of = (bug) =>
  answers.map((_, n) => {
    const { c, v } = answerWith(bug, answers, n, network, weight);
    return { c: Array.from(c), v: Array.from(v) };
  });
console.log(
  JSON.stringify({
    seen: SEEN_IN,
    none: of(null),
    bugs: Object.fromEntries(Object.keys(SEEN_IN).map((bug) => [bug, of(bug)])),
  }),
);
