// The plan of a training in the page: chapter 19's, with fewer digits to learn from.

/** As turning.py and experiments/turning.py have them. */
export const SIZES = { T: 16, K: 12, S: 11, N: 4, m: 2, J: 10 };
export const BATCH = 64;
export const STEPS = 500;
export const RATE = 0.02; // the largest
export const FAMILIAR = 45; // degrees: digits are turned by at most this in training, either way
export const NEW = [90, 270]; // degrees: the angles that it never sees
export const MOVE = 2; // pixels, at most, that a digit is moved by, either way
export const TESTED = 250; // digits, at either kind of angle
/** Steps between two tests, by the steps before which it holds. */
export const TEST_EVERY = [
  { before: 40, steps: 10 },
  { before: 100, steps: 20 },
  { before: Number.POSITIVE_INFINITY, steps: 50 },
];
