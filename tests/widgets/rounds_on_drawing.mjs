// node rounds_on_drawing.mjs MODULE WEIGHTS IMAGES: what each image is read as after one to five rounds, and two
// helpers.
import { readFileSync } from "node:fs";

const [module, weights, images] = process.argv.slice(2);
const { entropyOf, inWords, makeNetwork, readAfterEach, spread } = await import(module);
const network = makeNetwork(readFileSync(weights));
const pixels = new Float32Array(new Uint8Array(readFileSync(images)).buffer);
const read = [];
for (let at = 0; at < pixels.length; at += 784) {
  read.push(
    readAfterEach(network, pixels.subarray(at, at + 784)).map(({ lengths, prediction, entropy, capsules }) => ({
      lengths: Array.from(lengths),
      prediction,
      entropy,
      capsules: Array.from(capsules),
    })),
  );
}
console.log(
  JSON.stringify({
    read,
    certain: entropyOf([1, 0, 0, 0, 1, 0], 2, 3),
    spread: [spread([10, 50, 12], 13), spread([5, 5, 5], 10), spread([], 13)],
    words: [
      inWords([7, 7, 7, 7, 7], null),
      inWords([7, 7, 7, 7, 7], 7),
      inWords([9, 9, 9, 2, 2], 2),
      inWords([3, 3, 3, 3, 3], 8),
    ],
  }),
);
