// node margin_loss.mjs MODULE CASES.json: both losses and their gradients, for every case.
import { readFileSync } from "node:fs";

const [module, cases] = process.argv.slice(2);
const { crossEntropy, marginTerms } = await import(module);
const answers = JSON.parse(readFileSync(cases)).map(({ lengths, present, setting }) => ({
  margin: marginTerms(lengths, new Set(present), setting),
  entropy: crossEntropy(lengths, new Set(present)),
}));
console.log(JSON.stringify(answers));
