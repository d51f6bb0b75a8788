// node decode_capsule.mjs MODULE WEIGHTS IMAGES LABELS.json KEEPS.json: what each mask lets through, and its error.
import { readFileSync } from "node:fs";

const [module, weights, file, labelsFile, keepsFile] = process.argv.slice(2);
const { capsulesKept, makeNetwork, maskCapsules, squaredError, stretchCapsules } = await import(module);
const network = makeNetwork(readFileSync(weights));
const pixels = new Float32Array(new Uint8Array(readFileSync(file)).buffer);
const labels = JSON.parse(readFileSync(labelsFile));
const keeps = JSON.parse(readFileSync(keepsFile));
const answers = labels.map((label, n) => {
  const image = pixels.subarray(n * 784, (n + 1) * 784);
  const { capsules, lengths } = network.forward(image);
  const before = [...capsules];
  const stretched = stretchCapsules(capsules, network.D_out);
  const of = (v, keep) => {
    const kept = capsulesKept(keep, lengths, label);
    return { kept, error: squaredError(network.decode(maskCapsules(v, kept, network.D_out)), image) };
  };
  return {
    plain: keeps.map((keep) => of(capsules, keep)),
    stretched: keeps.map((keep) => of(stretched, keep)),
    untouched: before.every((x, k) => x === capsules[k]),
  };
});
console.log(JSON.stringify({ answers, zero: [...stretchCapsules(new Float32Array(32), 16)] }));
