// A recorded training run, and what there is to see in it.
import { LONG } from "./shared/bars.js";
import { readSafetensors } from "./shared/core.js";
import { format } from "./shared/ui.js";

/** The recorded run: what was said about it, and at(moment, digit), what the network made of a digit then. */
export function readRecording(bytes) {
  const { tensors, metadata } = readSafetensors(bytes);
  const { epochs, labels, curve, about } = JSON.parse(metadata.recording);
  const [, N, I, J] = tensors.couplings.shape;
  const part = ({ data, shape }, moment, n) => {
    const size = shape.slice(2).reduce((product, side) => product * side, 1);
    return data.subarray((moment * N + n) * size, (moment * N + n + 1) * size);
  };
  const at = (moment, n) => {
    const lengths = part(tensors.lengths, moment, n); // [J]
    const couplings = part(tensors.couplings, moment, n); // [I, J]
    const largest = Array.from({ length: I }, (_, i) => Math.max(...couplings.subarray(i * J, (i + 1) * J)));
    return {
      lengths,
      couplings,
      prediction: lengths.indexOf(Math.max(...lengths)),
      most: Math.max(...largest),
      decided: largest.filter((c) => c > 2 / J).length, // capsules that give one digit more than twice an equal share
    };
  };
  const reconstruction = (moment, n) => part(tensors.reconstructions, moment, n);
  return { epochs, labels, curve, I, J, types: about.types, images: tensors.images.data, at, reconstruction };
}

/** What there is to see. */
export function inWords(run, moment, digit) {
  const { lengths, prediction, decided, most } = run.at(moment, digit);
  if (run.epochs[moment] === 0) {
    return (
      "Before training every capsule is all but zero and every coupling is one tenth: no capsule below prefers any " +
      "above. With nothing to draw from, all five drawings are the same grey."
    );
  }
  const label = run.labels[digit];
  const named = (j) => `${j === 8 ? "an" : "a"} ${j}`;
  const long = Array.from(lengths.keys())
    .filter((j) => lengths[j] >= LONG)
    .sort((p, q) => lengths[q] - lengths[p]);
  const largest = `the largest coupling is ${format(most)}.`;
  const votes =
    decided === 0
      ? `No primary capsule gives any digit twice an equal share of its vote; ${largest}`
      : `${decided} of the ${run.I} primary capsules give${decided === 1 ? "s" : ""} one digit more than twice ` +
        `an equal share; ${largest}`;
  const written = `Written as ${named(label)}`;
  if (long.length === 0) {
    const longest = `${prediction}, ${format(lengths[prediction])}`;
    return `${written}. No capsule is half long yet; the longest is ${longest}. ${votes}`;
  }
  if (long.length > 1) {
    const each = long.map((j) => `${j} (${format(lengths[j])})`).join(", ");
    return `${written}. Several capsules are long: ${each}. ${votes}`;
  }
  const verdict = prediction === label ? "recognised" : `taken for ${named(prediction)}`;
  return `${written}, and ${verdict}: that capsule is ${format(lengths[prediction])} long. ${votes}`;
}
