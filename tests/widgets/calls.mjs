// node calls.mjs MODULE WEIGHTS: what core.js says to wrong calls, and whether it leaves what it is given alone.
import { readFileSync } from "node:fs";

const [module, weights] = process.argv.slice(2);
const { makeNetwork, squash } = await import(module);
const bytes = readFileSync(weights);
const network = makeNetwork(bytes);
const complaint = (call) => {
  try {
    call();
    return "";
  } catch (error) {
    return error.message;
  }
};
const image = new Float32Array(784).fill(0.5);
const first = network.forward(image);
const kept = [...first.capsules];
network.forward(new Float32Array(784));
console.log(
  JSON.stringify({
    pixels: complaint(() => network.forward(new Float32Array(783))),
    rounds: complaint(() => network.forward(image, 0)),
    capsules: complaint(() => network.decode(new Float32Array(16))),
    views: [bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), Uint8Array.from(bytes).buffer].map(
      (source) => makeNetwork(source).forward(image).prediction === first.prediction,
    ),
    untouched: image.every((grey) => grey === 0.5) && kept.every((x, k) => x === first.capsules[k]),
    zero: [...squash(new Float64Array(2))],
  }),
);
