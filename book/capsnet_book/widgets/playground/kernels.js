// The arithmetic of training, in plain JavaScript: what kernels_simd.ts does four numbers at a time. A page that may
// not run WebAssembly learns with these, some eight times as slowly; the tests hold the two together.
//
// All numbers lie in one memory, as in WebAssembly. A pointer is in bytes; sizes and strides are in numbers (float32).
import { ACROSS, D, J, KERNEL, MAPS, ROW, SIDE } from "./sizes.js";

/** @param {WebAssembly.Memory | { buffer: ArrayBuffer }} memory */
export function plainKernels({ buffer }) {
  const all = new Float32Array(buffer);
  const bound = (kernel) => kernel.bind(null, all);
  return Object.fromEntries(Object.entries(KERNELS).map(([name, kernel]) => [name, bound(kernel)]));
}

/** c[m, n] (+)= Σ_k a[m, k] b[k, n]. Blocks of 2 × 4 stay in registers. */
function matmul(all, c, cRow, a, aRow, aColumn, b, bRow, M, K, N, add) {
  [c, a, b] = [c >> 2, a >> 2, b >> 2];
  for (let n = 0; n < N; n += 4) {
    for (let m = 0; m < M; m += 2) {
      const to0 = c + m * cRow + n;
      const to1 = to0 + cRow;
      let p0 = 0, p1 = 0, p2 = 0, p3 = 0, q0 = 0, q1 = 0, q2 = 0, q3 = 0; // biome-ignore format: a block of sums
      let a0 = a + m * aRow;
      let a1 = a0 + aRow;
      for (let k = 0, from = b + n; k < K; k++, from += bRow, a0 += aColumn, a1 += aColumn) {
        const [x, y] = [all[a0], all[a1]];
        p0 += x * all[from];
        p1 += x * all[from + 1];
        p2 += x * all[from + 2];
        p3 += x * all[from + 3];
        q0 += y * all[from];
        q1 += y * all[from + 1];
        q2 += y * all[from + 2];
        q3 += y * all[from + 3];
      }
      if (!add) for (let k = 0; k < 4; k++) all[to0 + k] = all[to1 + k] = 0;
      all[to0] += p0;
      all[to0 + 1] += p1;
      all[to0 + 2] += p2;
      all[to0 + 3] += p3;
      all[to1] += q0;
      all[to1 + 1] += q1;
      all[to1 + 2] += q2;
      all[to1 + 3] += q3;
    }
  }
}

/** to[n, m] = from[m, n] */
function transpose(all, to, from, M, N) {
  for (let m = 0; m < M; m++) for (let n = 0; n < N; n++) all[(to >> 2) + n * M + m] = all[(from >> 2) + m * N + n];
}

/** y[row] = bias for every row. */
function fillRows(all, y, bias, rows, N) {
  for (let row = 0; row < rows; row++) all.copyWithin((y >> 2) + row * N, bias >> 2, (bias >> 2) + N);
}

/** total += the sum of the rows. */
function sumRows(all, total, y, rows, N) {
  for (let k = 0; k < rows * N; k++) all[(total >> 2) + (k % N)] += all[(y >> 2) + k];
}

function relu(all, y, n) {
  for (let k = y >> 2; k < (y >> 2) + n; k++) if (all[k] < 0) all[k] = 0;
}

/** dy = 0 where y is 0. */
function reluBack(all, dy, y, n) {
  for (let k = 0; k < n; k++) if (!(all[(y >> 2) + k] > 0)) all[(dy >> 2) + k] = 0;
}

function sigmoid(all, y, n) {
  for (let k = y >> 2; k < (y >> 2) + n; k++) all[k] = 1 / (1 + Math.exp(-all[k]));
}

/** Calls tap(grey, w) for the ink in one patch, w where its weights begin. Four fifths of a digit are paper. */
function forInk(all, x, place, C, tap) {
  const first = x + 2 * Math.floor(place / ACROSS) * SIDE + 2 * (place % ACROSS);
  for (let dy = 0; dy < KERNEL; dy++) {
    for (let dx = 0; dx < KERNEL; dx++) {
      const grey = all[first + dy * SIDE + dx];
      if (grey !== 0) tap(grey, (dy * KERNEL + dx) * C);
    }
  }
}

/** The first layer and its ReLU. x [B, 28, 28], weight [81, C] -> y [B, 100, C] */
function convolveInk(all, y, x, weight, bias, B, C) {
  [y, x, weight] = [y >> 2, x >> 2, weight >> 2];
  fillRows(all, y << 2, bias, B * MAPS, C);
  for (let b = 0; b < B; b++) {
    for (let place = 0; place < MAPS; place++) {
      const to = y + (b * MAPS + place) * C;
      forInk(all, x + b * SIDE * SIDE, place, C, (grey, w) => {
        for (let c = 0; c < C; c++) all[to + c] += grey * all[weight + w + c];
      });
    }
  }
  relu(all, y << 2, B * MAPS * C);
}

/** dWeight += the gradient of the first layer's weights. dy [B, 100, C] */
function convolveInkBack(all, dWeight, x, dy, B, C) {
  [dWeight, x, dy] = [dWeight >> 2, x >> 2, dy >> 2];
  for (let b = 0; b < B; b++) {
    for (let place = 0; place < MAPS; place++) {
      const from = dy + (b * MAPS + place) * C;
      forInk(all, x + b * SIDE * SIDE, place, C, (grey, w) => {
        for (let c = 0; c < C; c++) all[dWeight + w + c] += grey * all[from + c];
      });
    }
  }
}

function dot(all, x, y, n) {
  let sum = 0;
  for (let k = 0; k < n; k++) sum += all[x + k] * all[y + k];
  return sum;
}

/** Equation 1 for each row of `size` numbers: v = s / (n + 1/n), n = ‖s‖. */
function squash(all, v, s, rows, size) {
  for (let row = 0, to = v >> 2, from = s >> 2; row < rows; row++, to += size, from += size) {
    const n = Math.sqrt(Math.max(dot(all, from, from, size), 1e-16));
    for (let d = 0; d < size; d++) all[to + d] = all[from + d] / (n + 1 / n);
  }
}

/** ds of v = f s, f = n / (1 + n²): ds = f dv + f′/n (s · dv) s. */
function squashBack(all, ds, s, dv, rows, size) {
  for (let row = 0; row < rows; row++) {
    const [to, x, dx] = [ds, s, dv].map((pointer) => (pointer >> 2) + row * size);
    const square = dot(all, x, x, size);
    const n = Math.sqrt(Math.max(square, 1e-16));
    const slope = square < 1e-16 ? 0 : (1 - square) / ((1 + square) ** 2 * n);
    const along = slope * dot(all, x, dx, size);
    for (let d = 0; d < size; d++) all[to + d] = all[dx + d] / (n + 1 / n) + along * all[x + d];
  }
}

/** Equation 3: c = softmax(b) over the ten classes of each row; the two numbers of padding are 0. */
function softmax(all, c, b, rows) {
  for (let row = 0, to = c >> 2, from = b >> 2; row < rows; row++, to += ROW, from += ROW) {
    let most = all[from];
    for (let j = 1; j < J; j++) most = Math.max(most, all[from + j]);
    let sum = 0;
    for (let j = 0; j < J; j++) sum += all[to + j] = Math.exp(all[from + j] - most);
    for (let j = 0; j < J; j++) all[to + j] /= sum;
    all[to + J] = all[to + J + 1] = 0;
  }
}

/** db += c (dc - Σ c dc) for each row. */
function softmaxBack(all, db, dc, c, rows) {
  for (let row = 0; row < rows; row++) {
    const [to, dx, x] = [db, dc, c].map((pointer) => (pointer >> 2) + row * ROW);
    const mean = dot(all, x, dx, J);
    for (let j = 0; j < J; j++) all[to + j] += all[x + j] * (all[dx + j] - mean);
  }
}

/** s_j (+)= Σ_i c_ij û_j|i. c [B, I, ROW], û [B, I, J, D] -> s [B, J, D] */
function weightedSums(all, s, c, votes, B, I, add) {
  [s, c, votes] = [s >> 2, c >> 2, votes >> 2];
  if (!add) all.fill(0, s, s + B * J * D);
  for (let i = 0; i < B * I; i++) {
    const to = s + Math.floor(i / I) * J * D;
    for (let j = 0; j < J; j++) {
      const share = all[c + i * ROW + j];
      for (let d = j * D; d < (j + 1) * D; d++) all[to + d] += share * all[votes + i * J * D + d];
    }
  }
}

/** a_ij (+)= û_j|i · v_j. û [B, I, J, D], v [B, J, D] -> a [B, I, ROW] */
function agreements(all, a, votes, v, B, I, add) {
  [a, votes, v] = [a >> 2, votes >> 2, v >> 2];
  for (let i = 0; i < B * I; i++) {
    const from = v + Math.floor(i / I) * J * D;
    for (let j = 0; j < J; j++) {
      const agreement = dot(all, votes + (i * J + j) * D, from + j * D, D);
      all[a + i * ROW + j] = (add ? all[a + i * ROW + j] : 0) + agreement;
    }
  }
}

/** dû_j|i = Σ_t c_ij[t] ds_j[t] + Σ_t db_ij[t] v_j[t - 1], over all rounds t; round 0 has no db. */
function votesBack(all, dVotes, c, ds, db, v, B, I, rounds) {
  [dVotes, c, ds, db, v] = [dVotes, c, ds, db, v].map((pointer) => pointer >> 2);
  all.fill(0, dVotes, dVotes + B * I * J * D);
  for (let t = 0; t < rounds; t++) {
    for (let i = 0; i < B * I; i++) {
      const now = (t * B + Math.floor(i / I)) * J * D;
      for (let j = 0; j < J; j++) {
        const pair = (t * B * I + i) * ROW + j;
        const to = dVotes + (i * J + j) * D;
        for (let d = 0; d < D; d++) {
          all[to + d] += all[c + pair] * all[ds + now + j * D + d];
          if (t > 0) all[to + d] += all[db + pair] * all[v + now - B * J * D + j * D + d];
        }
      }
    }
  }
}

/** One step of Adam for n numbers, which sets their gradients g to 0. rate = lr / (1 - β1^t), root = 1 / √(1 - β2^t) */
function adam(all, p, g, m, v, n, rate, root) {
  [p, g, m, v] = [p >> 2, g >> 2, m >> 2, v >> 2];
  for (let k = 0; k < n; k++) {
    const gradient = all[g + k];
    all[m + k] = 0.9 * all[m + k] + 0.1 * gradient;
    all[v + k] = 0.999 * all[v + k] + 0.001 * gradient * gradient;
    all[p + k] -= (rate * all[m + k]) / (Math.sqrt(all[v + k]) * root + 1e-8);
    all[g + k] = 0;
  }
}

const KERNELS = {
  matmul,
  transpose,
  fillRows,
  sumRows,
  relu,
  reluBack,
  sigmoid,
  convolveInk,
  convolveInkBack,
  squash,
  squashBack,
  softmax,
  softmaxBack,
  weightedSums,
  agreements,
  votesBack,
  adam,
};
