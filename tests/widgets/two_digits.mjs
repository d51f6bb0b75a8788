// node two_digits.mjs MODULE WEIGHTS DIGITS.f32 CASES.json: what the widget shows of each case {digits, labels, at,
// asked}.
import { readFileSync } from "node:fs";

const [module, weights, file, casesFile] = process.argv.slice(2);
const { inWords, layerOf, look, makeNetwork, matched, overlay, unpackInt8 } = await import(module);
const network = makeNetwork(unpackInt8(readFileSync(weights)));
const pixels = new Float32Array(new Uint8Array(readFileSync(file)).buffer);
const digit = (n) => pixels.subarray(n * 784, (n + 1) * 784);
const shown = JSON.parse(readFileSync(casesFile)).map(({ digits, labels, at, asked }) => {
  const layers = digits.map((n, which) => layerOf(digit(n), ...at[which]));
  const image = overlay(...layers);
  const start = performance.now();
  const seen = look(network, image, labels, asked);
  return {
    ms: performance.now() - start,
    image: [...image],
    lengths: [...seen.lengths],
    classes: seen.classes,
    third: seen.third,
    drawings: [...seen.drawings, seen.absent].map((drawing) => [...drawing]),
    remains: [...seen.remains],
    words: inWords(labels, seen),
  };
});
// The two longest capsules, and the two labels.
const orders = ["38 38", "83 38", "53 38", "85 38", "35 38", "12 38", "31 33"].map((pairs) =>
  pairs.split(" ").map((pair) => [...pair].map(Number)),
);
process.stdout.write(JSON.stringify({ shown, matched: orders.map(([two, labels]) => matched(two, labels)) }));
