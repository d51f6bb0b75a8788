// Random numbers that are the same in every browser: from whole-number arithmetic alone.

/** sfc32, a small fast generator. -> a function that gives numbers in [0, 1) @param {number} seed  a whole number */
export function makeRandom(seed) {
  let [a, b, c, d] = [0x9e3779b9, 0x243f6a88, 0xb7e15162, seed | 0];
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

/** A number from the normal distribution, very nearly: browsers differ in the last bit of a logarithm, not in sums. */
export function normal(random) {
  let sum = -6;
  for (let k = 0; k < 12; k++) sum += random();
  return sum;
}

/** 0, 1, …, n - 1 in random order. */
export function shuffled(n, random) {
  const order = Uint32Array.from({ length: n }, (_, k) => k);
  for (let k = n - 1; k > 0; k--) {
    const other = Math.floor(random() * (k + 1));
    [order[k], order[other]] = [order[other], order[k]];
  }
  return order;
}
