// How a network learns from its gradients: Adam, at a rate that rises and falls (one cycle), both
// as PyTorch has them.

const BETA_1 = 0.9;
const BETA_2 = 0.999;
const WARM = 0.3; // of all steps: the rate rises,
const FIRST = 1 / 25; // of the largest rate: the first one,
const LAST = 1e-4; // of the first one: the last one

/** Return the rate of a step, 0 to steps - 1. @param {number} most  the largest rate */
export function rateAt(/** @type {number} */ step, /** @type {number} */ steps, most) {
  const top = WARM * steps - 1;
  const eased = (from, to, share) => to + ((from - to) / 2) * (1 + Math.cos(Math.PI * share));
  if (step <= top) return eased(FIRST * most, most, step / top);
  return eased(most, FIRST * LAST * most, (step - top) / (steps - 1 - top));
}

export class Adam {
  #means; // of the gradients,
  #squares; // and of their squares
  #power1 = 1; // β1^t
  #power2 = 1; // β2^t

  /** @param {number} count  of numbers that are learned */
  constructor(count) {
    this.#means = new Float64Array(count);
    this.#squares = new Float64Array(count);
  }

  /**
   * Take one step.
   * @param {Float32Array} numbers @param {Float32Array} slopes  their gradients
   * @param {number} rate
   */
  step(numbers, slopes, rate) {
    this.#power1 *= BETA_1;
    this.#power2 *= BETA_2;
    const means = this.#means;
    const squares = this.#squares;
    const step = rate / (1 - this.#power1);
    const scale = 1 / Math.sqrt(1 - this.#power2);
    for (let k = 0; k < numbers.length; k++) {
      means[k] = BETA_1 * means[k] + (1 - BETA_1) * slopes[k];
      squares[k] = BETA_2 * squares[k] + (1 - BETA_2) * slopes[k] ** 2;
      numbers[k] -= (step * means[k]) / (Math.sqrt(squares[k]) * scale + 1e-8);
    }
  }
}
