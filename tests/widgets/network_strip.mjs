// node network_strip.mjs MODULE C TYPES PLACES NUMBERS: what network_strip_model.js makes of maps [C, 4] and of couplings.
import { readFileSync } from "node:fs";

const [module, C, types, places, file] = process.argv.slice(2);
const model = await import(module);
const { maps, couplings } = JSON.parse(readFileSync(file));
const I = Number(types) * Number(places);

/** A browser's storage; null is one that refuses. */
const storing = (text) => () => {
  if (text === null) throw new Error("SecurityError");
  return { getItem: () => text, setItem: (_, value) => (text = value) };
};
const digit = Uint8Array.from({ length: 784 }, (_, k) => k % 256);
const remembered = (storage) => {
  const memory = model.makeMemory(storage);
  memory.keep(digit);
  return Array.from(memory.read() ?? []);
};
const read = (text) => model.makeMemory(storing(text)).read();
const base64 = (bytes) => Buffer.from(bytes).toString("base64");
const answer = (lengths, prediction) => ({ lengths, prediction, c: [Float32Array.from(couplings.flat())] });
const [J, long] = [couplings[0].length, 0.5];

console.log(
  JSON.stringify({
    digit: Array.from(digit),
    remembered: remembered(storing(undefined)),
    refused: remembered(storing(null)),
    strange: [null, "", "?", base64([1, 2]), base64(new Uint8Array(784))].map(read),
    strongest: model.strongestMaps(Float32Array.from(maps.flat()), Number(C), 4),
    heights: Array.from({ length: I }, (_, i) => model.heightOf(i, Number(types), Number(places))),
    shares: Array.from(model.sharesOf(Float32Array.from(couplings.flat()), J)),
    lines: model.linesOf(Float32Array.from(couplings.flat()), J),
    seen: model.sentenceOn(answer([0.1, 0.2, 0.93], 2), long),
    unseen: model.sentenceOn(answer([0.1, 0.31, 0.2], 1), long),
    stained: model.PART_OF_BUG,
  }),
);
