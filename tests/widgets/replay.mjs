// node replay.mjs MODULE RECORDING: what the widget reads from the recording and says about it.
import { readFileSync } from "node:fs";

const [module, recording] = process.argv.slice(2);
const { readRecording, inWords } = await import(module);
const run = readRecording(readFileSync(recording));
const all = (of) => run.epochs.map((_, moment) => run.labels.map((_, n) => of(moment, n)));
const sum = (numbers) => numbers.reduce((total, x) => total + x, 0);
console.log(
  JSON.stringify({
    epochs: run.epochs,
    labels: run.labels,
    curve: run.curve,
    sizes: [run.I, run.J, run.types],
    prediction: all((m, n) => run.at(m, n).prediction),
    lengths: all((m, n) => Array.from(run.at(m, n).lengths)),
    couplings: all((m, n) => Array.from(run.at(m, n).couplings)),
    decided: all((m, n) => run.at(m, n).decided),
    most: all((m, n) => run.at(m, n).most),
    ink: all((m, n) => sum(Array.from(run.reconstruction(m, n)))),
    words: all((m, n) => inWords(run, m, n)),
  }),
);
