// node pose_sliders.mjs MODULE WEIGHTS IMAGE LABEL OFFSETS.json: the picture that the moved capsule draws.
import { readFileSync } from "node:fs";

const [module, weights, file, label, offsets] = process.argv.slice(2);
const { makeNetwork, withOffsets } = await import(module);
const network = makeNetwork(readFileSync(weights));
const image = new Float32Array(new Uint8Array(readFileSync(file)).buffer);
const capsules = network.mask(network.forward(image).capsules, Number(label));
const before = [...capsules];
const drawn = network.decode(withOffsets(capsules, Number(label), JSON.parse(offsets)));
console.log(JSON.stringify({ drawn: [...drawn], untouched: before.every((x, k) => x === capsules[k]) }));
