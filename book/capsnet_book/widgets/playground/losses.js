// The two losses and where they push: equation 4 on the ten lengths, and the squared error of the drawing.
import { D, J, PIXELS } from "./sizes.js";

/** The longest of the ten capsules of digit n. */
export function longest(lengths, n) {
  let best = 0;
  for (let j = 1; j < J; j++) if (lengths[n * J + j] > lengths[n * J + best]) best = j;
  return best;
}

/**
 * The margin loss (equation 4), mean over the batch; dv becomes its gradient.
 * @param {Float32Array} dv  [B, J, D] @param {Float32Array} v @param {Float32Array} lengths  of v, [B · J]
 * @param {ArrayLike<number>} labels  B of them
 */
export function marginLoss(dv, v, lengths, labels, { m_plus, m_minus, lambda, bug }) {
  const B = labels.length;
  let loss = 0;
  for (let k = 0; k < B * J; k++) {
    const present = labels[Math.floor(k / J)] === k % J;
    const beyond = Math.max(0, present ? m_plus - lengths[k] : lengths[k] - m_minus);
    const [weight, sign] = present ? [1 / B, -1] : [lambda / B, 1];
    const plain = bug === "margin-not-squared";
    loss += weight * (plain ? beyond : beyond ** 2);
    const slope = sign * weight * (plain ? Number(beyond > 0) : 2 * beyond);
    for (let d = k * D; d < (k + 1) * D; d++)
      dv[d] = lengths[k] > 0 ? (slope / lengths[k]) * v[d] : 0;
  }
  return loss;
}

/**
 * `weight` times the squared error of the drawings, summed over the pixels, mean over the batch; dz becomes its
 * gradient before the sigmoid. drawing, x [B, PIXELS]
 */
export function drawingLoss(dz, drawing, x, B, { drawing: weight, bug }) {
  const scale = weight / B / (bug === "recon-mean" ? PIXELS : 1);
  let loss = 0;
  for (let k = 0; k < dz.length; k++) {
    const [y, wrong] = [drawing[k], drawing[k] - x[k]];
    loss += wrong * wrong;
    dz[k] = 2 * scale * wrong * y * (1 - y);
  }
  return scale * loss;
}
