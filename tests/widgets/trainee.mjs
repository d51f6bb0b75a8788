// node trainee.mjs MODULE JOB: what the engine of the playground computes; JOB is a JSON file (see test_raise_one.py).
import { readFileSync, writeFileSync } from "node:fs";
import { loadKernels, plainKernels } from "../../book/capsnet_book/widgets/playground/kernels.js";
import { makeNetwork } from "../../book/capsnet_book/widgets/playground/network.js";

const [, jobFile] = process.argv.slice(2);
const { settings, kernels, images, labels, steps, rate, weights, out } = JSON.parse(readFileSync(jobFile));

const network = makeNetwork(settings, kernels === "plain" ? plainKernels : await loadKernels());
const floats = (path) => new Float32Array(new Uint8Array(readFileSync(path)).buffer);
const pixels = floats(images);
const batch = (n) => {
  const first = (n * settings.batch) % labels.length;
  const [from, to] = [first, first + settings.batch];
  return [pixels.subarray(from * 784, to * 784), labels.slice(from, to)];
};
if (weights) {
  const tensors = network.tensors();
  const given = floats(weights);
  let at = 0;
  for (const tensor of Object.values(tensors)) {
    tensor.data = given.subarray(at, at + tensor.data.length);
    at += tensor.data.length;
  }
  network.load(tensors);
}
const losses = [];
for (let n = 0; n < steps; n++) {
  losses.push(network.gradients(...batch(n)));
  network.update(rate, 1); // no average
}
const before = network.tensors();
losses.push(network.gradients(...batch(steps)));
const [images0] = batch(steps);
const answer = network.read(images0);
const parts = [...Object.values(before), ...Object.values(network.slopes())].map(({ data }) => data);
const numbers = [...parts, answer.lengths, answer.capsules, answer.drawings];
writeFileSync(out, Buffer.concat(numbers.map((data) => Buffer.from(data.buffer, data.byteOffset, data.byteLength))));
console.log(JSON.stringify({ losses, shapes: Object.entries(before).map(([name, { shape }]) => [name, shape]) }));
