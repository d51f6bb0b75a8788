// node cost_calculator.mjs MODULE CASES.json: the costs of every case, and two times.
import { readFileSync } from "node:fs";

const [module, cases] = process.argv.slice(2);
const { costs, leastTime } = await import(module);
console.log(
  JSON.stringify({
    costs: JSON.parse(readFileSync(cases)).map(costs),
    times: [leastTime({ flops: 6e9, bytes: 1e9 }, 100, 20), leastTime({ flops: 2e9, bytes: 1e9 }, 100, 20)],
  }),
);
