// What the mask lets through to the decoder, and what that costs.
import { format } from "./shared/ui.js";

/** @typedef {{ lengths: Float32Array, prediction: number }} Reading */

export const WEIGHT = 0.0005; // of the reconstruction loss beside the margin loss
export const RULES = { longest: "Longest", label: "True label", all: "All ten", none: "None" };

/**
 * What the mask lets through: a list of capsules.
 * @param {string} keep  a key of RULES, or "0" … "9"
 * @param {Float32Array} lengths
 * @param {number} label
 */
export function capsulesKept(keep, lengths, label) {
  if (keep === "all") return Array.from(lengths, (_, j) => j);
  if (keep === "none") return [];
  if (keep === "label") return [label];
  if (keep === "longest") return [lengths.indexOf(Math.max(...lengths))];
  return [Number(keep)];
}

/**
 * Section 4.1: all capsules but those are set to zero, [J, D].
 * @param {Float32Array} v  [J, D]
 * @param {number[]} kept
 * @param {number} D
 */
export function maskCapsules(v, kept, D) {
  const masked = new Float32Array(v.length);
  for (const j of kept) masked.set(v.subarray(j * D, (j + 1) * D), j * D);
  return masked;
}

/**
 * The reconstruction loss of one image: squared differences, summed over the pixels.
 * @param {Float32Array} drawing
 * @param {Float32Array} image
 */
export function squaredError(drawing, image) {
  return image.reduce((sum, grey, k) => sum + (drawing[k] - grey) ** 2, 0);
}

/**
 * What this choice shows.
 * @param {string} keep
 * @param {number[]} kept
 * @param {Reading} reading
 * @param {number} label
 * @param {number[]} errors  of each capsule's drawing
 */
export function remarkOnMask(keep, kept, { prediction, lengths }, label, errors) {
  if (kept.length === 0) {
    return "160 zeros go in. What comes out are the decoder's biases: no digit, but a blur of them all.";
  }
  if (kept.length > 1) {
    return (
      "Nothing is masked. In training the decoder never saw more than one capsule at a time, " +
      "and the nine short ones disturb it."
    );
  }
  const [j] = kept;
  if (keep === "label" && prediction !== label) {
    const longer = `The true label says ${label}, though capsule ${prediction} is longer.`;
    return `${longer} In training this is the capsule that has to learn to draw.`;
  }
  if (j === prediction && prediction !== label) {
    const other = `The longest capsule, ${prediction}, is not the label's, ${label}`;
    return `${other}: the network misreads this digit, and draws what it takes it for.`;
  }
  if (j === prediction) {
    const agreed = "The longest capsule is the label's as well, so that both rules agree.";
    return `${agreed} It holds this ${label}: its slant, its width, its strokes.`;
  }
  if (j === label) {
    return `The label's capsule, but not the longest. It draws the ${label} that the network nearly saw.`;
  }
  const faint = `Capsule ${j} is only ${format(lengths[j])} long, so nearly nothing goes in`;
  return `${faint}, and the drawing is nearly that of "None". Squared error ${format(errors[j], 1)}.`;
}
