// node bend_digit.mjs MODULE CNN CAPSNET IMAGES BENDS: every image bent as BENDS (JSON) says, and what both networks
// make of it.
import { readFileSync } from "node:fs";

const [module, cnn, capsnet, images, bends] = process.argv.slice(2);
const { STRAIGHT, amountsOf, bendDigit, makeConvNet, makeNetwork, reachOf, runsOf, unpackInt8 } = await import(module);
const convolutions = makeConvNet(unpackInt8(readFileSync(cnn)));
const capsules = makeNetwork(unpackInt8(readFileSync(capsnet)));
const pixels = new Float32Array(new Uint8Array(readFileSync(images)).buffer);
const problem = (work) => {
  try {
    work();
    return "none";
  } catch (error) {
    return error.message;
  }
};
const answers = JSON.parse(bends).map((bend, n) => {
  const bent = bendDigit(pixels.subarray(n * 784, (n + 1) * 784), { ...STRAIGHT, ...bend });
  const { scores, probabilities, prediction } = convolutions.forward(bent);
  return {
    bent: Array.from(bent),
    scores: Array.from(scores),
    probabilities: Array.from(probabilities),
    prediction,
    lengths: Array.from(capsules.forward(bent).lengths),
  };
});
const reach = (answered, middle) => reachOf(answered, 7, [-2, -1, 0, 1, 2], middle);
console.log(
  JSON.stringify({
    answers,
    runs: runsOf([7, 7, 1, 7]),
    amounts: amountsOf({ min: -1, max: 1, places: 5 }),
    reach: [reach([7, 7, 7, 7, 1], 0), reach([1, 7, 7, 1, 7], 0), reach([7, 7, 1, 7, 7], 0)],
    problems: [
      problem(() => makeConvNet(unpackInt8(readFileSync(capsnet)))),
      problem(() => convolutions.forward(new Float32Array(783))),
    ],
  }),
);
