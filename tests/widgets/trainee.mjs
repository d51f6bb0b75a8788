// node trainee.mjs MODULE JOB: what the engine of the playground computes; JOB is a JSON file (see test_raise_one.py).
import { readFileSync, writeFileSync } from "node:fs";
import { drawnBy, readSafetensors } from "../../book/capsnet_book/widgets/shared/core.js";
import { loadKernels, plainKernels } from "../../book/capsnet_book/widgets/playground/kernels.js";
import { makeNetwork } from "../../book/capsnet_book/widgets/playground/network.js";

const [, jobFile] = process.argv.slice(2);
const { settings, kernels, images, labels, steps, rate, weights, out } = JSON.parse(readFileSync(jobFile));

const network = makeNetwork(settings, kernels === "plain" ? plainKernels : await loadKernels());
const pixels = new Float32Array(new Uint8Array(readFileSync(images)).buffer);
const batch = (n) => {
  const first = (n * settings.batch) % labels.length;
  const [from, to] = [first, first + settings.batch];
  return [pixels.subarray(from * 784, to * 784), labels.slice(from, to)];
};
if (weights) network.load(readSafetensors(readFileSync(weights)).tensors);
const losses = [];
for (let n = 0; n < steps; n++) {
  losses.push(network.gradients(...batch(n)));
  network.update(rate, 1); // no average
}
const before = network.tensors();
losses.push(network.gradients(...batch(steps)));
const [images0] = batch(steps);
const answer = network.read(images0);
const alone = network.read(images0.subarray(0, 784), false); // one digit, of which the page draws
const kept = alone.capsules.map((x, k) => (Math.floor(k / 16) === alone.answers[0] ? x : 0));
answer.drawings.set(drawnBy(network.decoder(), kept).subarray(0, answer.drawings.length));
const parts = [...Object.values(before), ...Object.values(network.slopes())].map(({ data }) => data);
const numbers = [...parts, answer.lengths, answer.capsules, answer.drawings];
writeFileSync(out, Buffer.concat(numbers.map((data) => Buffer.from(data.buffer, data.byteOffset, data.byteLength))));
console.log(JSON.stringify({ losses, shapes: Object.entries(before).map(([name, { shape }]) => [name, shape]) }));
