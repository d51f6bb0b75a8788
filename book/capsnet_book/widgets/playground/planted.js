// Bugs of public code (chapter "Bugs in the wild") that can be planted into a training, each in the
// place of a step that is right. Those of a line (a square, a mean) stand in losses.js; these
// change how capsules are cut and routed. settings.js names all.
import { turned } from "./parameters.js";
import { D_IN, J, PLACES, ROW } from "./sizes.js";

/**
 * Return, for "capsule-view", which number of the maps [place, channel] becomes the k-th of the
 * capsules [place, type, number].
 */
export function wrongCut(types) {
  const inCapsules = turned([types, PLACES, D_IN], [1, 0, 2]); // where PyTorch's k-th stands here
  const inMaps = turned([types * D_IN, PLACES], [1, 0]);
  const cut = new Uint32Array(PLACES * types * D_IN);
  // .view(B, -1, 8) takes one for the other
  for (let k = 0; k < cut.length; k++) cut[inCapsules(k)] = inMaps(k);
  return cut;
}

/** Put number cut[k] of each digit at k; or back. */
export function recut(numbers, cut, back = false) {
  const before = numbers.slice();
  for (let k = 0; k < numbers.length; k++) {
    const other = k - (k % cut.length) + cut[k % cut.length];
    if (back) numbers[other] = before[k];
    else numbers[k] = before[other];
  }
}

/** Set c, for "softmax-axis", so that it sums to 1 over the I capsules below. c, b [B, I, ROW] */
export function softmaxOverI(c, b, I) {
  forColumns(c.length, I, (from, end) => {
    let most = Number.NEGATIVE_INFINITY;
    let sum = 0;
    for (let k = from; k < end; k += ROW) most = Math.max(most, b[k]);
    for (let k = from; k < end; k += ROW) sum += c[k] = Math.exp(b[k] - most);
    for (let k = from; k < end; k += ROW) c[k] /= sum;
  });
}

/** Add to db its gradient, c (dc - Σ c dc) over the capsules below. */
export function softmaxOverIBack(db, dc, c, I) {
  forColumns(c.length, I, (from, end) => {
    let mean = 0;
    for (let k = from; k < end; k += ROW) mean += c[k] * dc[k];
    for (let k = from; k < end; k += ROW) db[k] += c[k] * (dc[k] - mean);
  });
}

/**
 * Call work(from, end) for each digit and class: k = from, from + ROW, … before end are the I
 * capsules below.
 */
function forColumns(length, I, work) {
  for (let first = 0; first < length; first += I * ROW) {
    for (let j = 0; j < J; j++) work(first + j, first + I * ROW);
  }
}
