// node two_routings.mjs MODULE IMAGES NAME=WEIGHTS …: what each network makes of each image; and sentences.
import { readFileSync } from "node:fs";

const [module, images, ...networks] = process.argv.slice(2);
const { inWords, makeReader } = await import(module);
const pixels = new Float32Array(new Uint8Array(readFileSync(images)).buffer);
const read = networks.map((each) => {
  const [name, weights] = each.split("=");
  const reader = makeReader(name, readFileSync(weights));
  return Array.from({ length: pixels.length / 784 }, (_, n) => {
    const { c, v, ...others } = reader(pixels.subarray(784 * n, 784 * (n + 1)));
    return { ...others, c: Array.from(c), v: Array.from(v), lengths: Array.from(others.lengths) };
  });
});
const agreement = { name: "routing by agreement", prediction: 4, share: 0.314 };
const even = { name: "even shares", prediction: 4, share: 0.1 };
console.log(
  JSON.stringify({
    read,
    words: [
      inWords([agreement, even], null),
      inWords([agreement, even], 4),
      inWords([agreement, even], 8),
      inWords([agreement, { ...even, prediction: 8 }], 8),
      inWords([agreement, { ...even, prediction: 8 }], null),
      inWords([agreement, agreement], 4),
    ],
  }),
);
