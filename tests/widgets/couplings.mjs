// node couplings.mjs MODULE WEIGHTS IMAGES: what CouplingGraph computes of each image, after ten rounds.
import { readFileSync } from "node:fs";

const [module, weights, images] = process.argv.slice(2);
const { makeNetwork, meanEntropy, histogram, sharesOf } = await import(module);
const network = makeNetwork(readFileSync(weights));
const { I, J, D_out } = network;
const pixels = new Float32Array(new Uint8Array(readFileSync(images)).buffer);
const answers = [];
for (let at = 0; at < pixels.length; at += 784) {
  const { u_hat, c, v } = network.forward(pixels.subarray(at, at + 784), 10);
  answers.push({
    entropy: c.map((each) => meanEntropy(each, I, J)),
    counts: c.map(histogram),
    shares: [0, 2, 9].map((t) =>
      Array.from({ length: J }, (_, j) => Array.from(sharesOf(j, c[t], u_hat, v[t], I, J, D_out))),
    ),
  });
}
console.log(
  JSON.stringify({ answers, edges: [meanEntropy([0, 1, 0.5, 0.5], 2, 2), histogram([0, 0.02, 0.03, 0.1, 1])] }),
);
