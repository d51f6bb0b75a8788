// node routing_steps.mjs MODULE WEIGHTS IMAGE VOTES OUT: what RoutingSteps computes and shows, as JSON in the file OUT.
import { readFileSync, writeFileSync } from "node:fs";

const [module, weights, image, votes, out] = process.argv.slice(2);
const { arrowsOf, LAST, makeNetwork, momentAt, realVotes, roundAt, STEPS, timeAt, traceOf, wordsOf } = await import(
  module
);
const lists = (value) =>
  JSON.parse(JSON.stringify(value, (_, each) => (ArrayBuffer.isView(each) ? Array.from(each) : each)));

const trace = traceOf(JSON.parse(votes));
const bytes = readFileSync(image);
const pixels = Float32Array.from(bytes, (grey) => grey / 255);
const real = realVotes(makeNetwork(readFileSync(weights)), pixels);
const moments = STEPS.map((_, step) => momentAt(trace, step));
const fine = Array.from({ length: LAST * 100 + 1 }, (_, k) => momentAt(trace, k / 100));
const report = {
  trace: lists(trace),
  kinds: STEPS.map(({ kind, round }) => [kind, round]),
  moments: lists(moments),
  fine: lists(fine),
  arrows: fine.map((moment) => lists(arrowsOf(trace, moment))),
  real: lists(real),
  between: lists(roundAt(real.wholes[0].rounds, 2.5)),
  words: STEPS.map((_, step) => wordsOf(step, trace, real)),
  times: [-1, 0, 0.1, 1, 1.5, 1.99, 2, LAST, LAST + 1].map((scrolled) => timeAt(scrolled, LAST)),
};
writeFileSync(out, JSON.stringify(report));
console.log("{}");
