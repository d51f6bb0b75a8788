// The losses and their gradients: equation 4 on the ten lengths, the squared error of the drawing;
// and of a CNN the cross-entropy of its softmax.
import { D, J, PIXELS, SCORES } from "./sizes.js";

/** Return which of the ten capsules of digit n is the longest. */
export function longest(lengths, n) {
  let best = 0;
  for (let j = 1; j < J; j++) if (lengths[n * J + j] > lengths[n * J + best]) best = j;
  return best;
}

/** Return how many of the digits with these labels are read right. */
export function rightAnswers(lengths, labels) {
  let right = 0;
  for (let n = 0; n < labels.length; n++) right += Number(longest(lengths, n) === labels[n]);
  return right;
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

/**
 * Return the softmax of each digit's ten scores.
 * @param {Float32Array} scores  [B, SCORES]
 * @param {number} count  of digits
 * @returns {Float32Array} [count · J]
 */
export function sharesOf(scores, count) {
  const shares = new Float32Array(count * J);
  for (let n = 0; n < count; n++) {
    const own = scores.subarray(n * SCORES, n * SCORES + J);
    const most = Math.max(...own);
    const powers = own.map((score) => Math.exp(score - most));
    const sum = powers.reduce((total, power) => total + power, 0);
    powers.forEach((power, j) => {
      shares[n * J + j] = power / sum;
    });
  }
  return shares;
}

/**
 * Return the cross-entropy, mean over the batch; write its gradient into dz.
 * @param {Float32Array} dz  of the scores, [B, SCORES]
 * @param {Float32Array} shares  [B · J]
 * @param {ArrayLike<number>} labels  [B]
 */
export function crossEntropy(dz, shares, labels) {
  const B = labels.length;
  let loss = 0;
  for (let n = 0; n < B; n++) {
    loss -= Math.log(shares[n * J + labels[n]]) / B;
    for (let j = 0; j < J; j++)
      dz[n * SCORES + j] = (shares[n * J + j] - Number(j === labels[n])) / B;
  }
  return loss;
}
