// node forward.mjs MODULE WEIGHTS IMAGES OUT [ROUNDS]: every image through core.js; OUT gets all numbers as float32.
import { readFileSync, writeFileSync } from "node:fs";

const [module, weights, images, out, rounds] = process.argv.slice(2);
const { makeNetwork } = await import(module);
const network = makeNetwork(readFileSync(weights));
const pixels = new Float32Array(new Uint8Array(readFileSync(images)).buffer);
const inputs = Array.from({ length: pixels.length / 784 }, (_, k) => pixels.subarray(k * 784, (k + 1) * 784));

const answers = inputs.map((image) => network.forward(image, rounds === undefined ? undefined : Number(rounds)));
const masked = answers.map(({ capsules, prediction }) => network.mask(capsules, prediction));

const parts = ["edges", "u", "b", "c", "v", "capsules", "lengths", "reconstruction"];
const numbers = answers.flatMap((answer) => parts.flatMap((part) => answer[part])); // b, c, v: an array a round
writeFileSync(
  out,
  Buffer.concat(numbers.map((array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength))),
);

/** Milliseconds a call: of the processor's time, which other programs do not lengthen; and by the clock, the median. */
function timed(work, items) {
  const clock = [];
  const before = process.cpuUsage();
  for (const item of items) {
    const start = performance.now();
    work(item);
    clock.push(performance.now() - start);
  }
  const { user, system } = process.cpuUsage(before);
  return { cpu: (user + system) / 1000 / items.length, clock: clock.sort((p, q) => p - q)[clock.length >> 1] };
}
console.log(
  JSON.stringify({
    predictions: answers.map(({ prediction }) => prediction),
    forward_ms: timed((image) => network.forward(image), inputs),
    decode_ms: timed(network.decode, masked),
  }),
);
