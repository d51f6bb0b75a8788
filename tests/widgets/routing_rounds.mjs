// node routing_rounds.mjs MODULE WEIGHTS IMAGES CLASS OUT: what RoutingRounds shows of each image, as float32.
// Per image: û, entropies of ten rounds, the plane's two axes for the class.
import { readFileSync, writeFileSync } from "node:fs";

const [module, weights, images, chosen, out] = process.argv.slice(2);
const { entropiesOf, makeNetwork, mean, planeOf, route } = await import(module);
const network = makeNetwork(readFileSync(weights));
const { I, J, D_out: D } = network;
const pixels = new Float32Array(new Uint8Array(readFileSync(images)).buffer);
const numbers = [];
const means = [];
for (let k = 0; k < pixels.length; k += 784) {
  const { u_hat } = network.forward(pixels.subarray(k, k + 784), 1);
  const trace = route(u_hat, I, J, D, 10);
  const entropies = trace.c.map((c) => entropiesOf(c, I, J));
  const { right, up } = planeOf(u_hat, trace.v[2], Number(chosen), I, J, D);
  numbers.push(...[u_hat, ...entropies, right, up].map((array) => Float32Array.from(array)));
  means.push(entropies.map(mean));
}
writeFileSync(out, Buffer.concat(numbers.map((array) => Buffer.from(array.buffer))));
const blank = planeOf(new Float32Array(I * J * D), new Float32Array(J * D), 0, I, J, D);
console.log(
  JSON.stringify({
    means,
    blank: [[...blank.right], [...blank.up]],
    certain: [...entropiesOf([1, 0, 0.5, 0.5], 2, 2)],
  }),
);
