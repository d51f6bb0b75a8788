// Random numbers that are the same in every browser: from whole-number arithmetic alone.

/**
 * Make sfc32, a small fast generator.
 * @param {number} seed  a whole number
 * @returns {() => number} the next number, in [0, 1)
 */
export function makeRandom(seed) {
  let a = 0x9e3779b9;
  let b = 0x243f6a88;
  let c = 0xb7e15162;
  let d = seed | 0;
  const next = () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + t) | 0;
    return (t >>> 0) / 2 ** 32;
  };
  for (let k = 0; k < 12; k++) next(); // so that neighbouring seeds part
  return next;
}

/**
 * Return a number from the normal distribution, very nearly: the sum of twelve uniform ones.
 * Browsers differ in the last bit of a logarithm, but not in sums.
 */
export function normal(random) {
  let sum = -6;
  for (let k = 0; k < 12; k++) sum += random();
  return sum;
}

/** Return 0, 1, …, n - 1 in random order. */
export function shuffled(n, random) {
  const order = Uint32Array.from({ length: n }, (_, k) => k);
  for (let k = n - 1; k > 0; k--) {
    const other = Math.floor(random() * (k + 1));
    [order[k], order[other]] = [order[other], order[k]]; // exchanged
  }
  return order;
}
