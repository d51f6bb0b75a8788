// The two losses and their gradients: equation 4 on the ten lengths, and the squared error of the
// drawing.
import { D, J, PIXELS } from "./sizes.js";

/** Return which of the ten capsules of digit n is the longest. */
export function longest(lengths, n) {
  let best = 0;
  for (let j = 1; j < J; j++) if (lengths[n * J + j] > lengths[n * J + best]) best = j;
  return best;
}

/**
 * Return the margin loss (equation 4), mean over the batch; write its gradient into dv.
 * @param {Float32Array} dv  [B, J, D]
 * @param {Float32Array} v  [B, J, D]
 * @param {Float32Array} lengths  of v, [B · J]
 * @param {ArrayLike<number>} labels  [B]
 * @param {any} settings  m_plus, m_minus, lambda, bug
 */
export function marginLoss(dv, v, lengths, labels, settings) {
  const { m_plus, m_minus, lambda, bug } = settings;
  const isSquared = bug !== "margin-not-squared";
  const B = labels.length;
  let loss = 0;
  for (let k = 0; k < B * J; k++) {
    const present = labels[Math.floor(k / J)] === k % J;
    const beyond = Math.max(0, present ? m_plus - lengths[k] : lengths[k] - m_minus);
    const weight = present ? 1 / B : lambda / B;
    const sign = present ? -1 : 1; // the present capsule should be longer
    loss += weight * (isSquared ? beyond ** 2 : beyond);
    const slope = sign * weight * (isSquared ? 2 * beyond : Number(beyond > 0));
    const scale = lengths[k] > 0 ? slope / lengths[k] : 0; // at length 0 there is no direction
    for (let d = k * D; d < (k + 1) * D; d++) dv[d] = scale * v[d];
  }
  return loss;
}

/**
 * Return `weight` times the squared error of the drawings, summed over the pixels, mean over the
 * batch; write its gradient before the sigmoid into dz. dz, drawing, x [B, PIXELS]
 */
export function drawingLoss(dz, drawing, x, B, { drawing: weight, bug }) {
  const scale = weight / B / (bug === "recon-mean" ? PIXELS : 1);
  let loss = 0;
  for (let k = 0; k < dz.length; k++) {
    const y = drawing[k];
    const error = y - x[k];
    loss += error * error;
    dz[k] = 2 * scale * error * y * (1 - y);
  }
  return scale * loss;
}
