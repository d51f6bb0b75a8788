// The arithmetic of training, in plain JavaScript: what kernels_simd.ts does four numbers at a time. A page that may
// not run WebAssembly learns with these, some eight times as slowly; the tests hold the two together.
//
// All numbers lie in one memory, as in WebAssembly. A pointer is in bytes; sizes and strides are in numbers (float32).
import { KERNELS_WASM } from "./kernels_wasm.js";
import { ACROSS, D, J, KERNEL, MAPS, ROW, SIDE } from "./sizes.js";

/** What makes kernels for a memory, WebAssembly's, or the plain ones where a page may not run it; `fast` says which. */
export async function loadKernels() {
  try {
    const bytes = Uint8Array.from(atob(KERNELS_WASM), (letter) => letter.charCodeAt(0));
    const module = await WebAssembly.compile(bytes);
    const fast = (memory) => new WebAssembly.Instance(module, { env: { memory } }).exports;
    return Object.assign(fast, { fast: true });
  } catch {
    return Object.assign((memory) => plainKernels(memory), { fast: false }); // refused, or too old for SIMD
  }
}

/** @param {WebAssembly.Memory | { buffer: ArrayBuffer }} memory */
export function plainKernels({ buffer }) {
  const all = new Float32Array(buffer);

  /** y += w x, n numbers of each, from these indices on. */
  function addScaled(y, w, x, n) {
    for (let k = 0; k < n; k++) all[y + k] += w * all[x + k];
  }

  return { ...layers(all, addScaled), ...capsules(all, addScaled) };
}

/** @param {Float32Array} all @param {any} addScaled */
function layers(all, addScaled) {
  /** Over the ink of all patches: work(grey, place, tap). Four fifths of a digit are paper. */
  function overInk(x, B, work) {
    for (let place = 0; place < B * MAPS; place++) {
      const [row, column] = [Math.floor((place % MAPS) / ACROSS), place % ACROSS];
      const corner = (x >> 2) + Math.floor(place / MAPS) * SIDE * SIDE + 2 * row * SIDE + 2 * column;
      for (let tap = 0; tap < KERNEL * KERNEL; tap++) {
        const grey = all[corner + Math.floor(tap / KERNEL) * SIDE + (tap % KERNEL)];
        if (grey !== 0) work(grey, place, tap);
      }
    }
  }

  const kernels = {
    /** c[m, n] (+)= Σ_k a[m, k] b[k, n]. Four columns stay in registers. */
    matmul(c, cRow, a, aRow, aColumn, b, bRow, M, K, N, add) {
      for (let n = 0; n < N; n += 4) {
        for (let m = 0; m < M; m++) {
          const to = (c >> 2) + m * cRow + n;
          let [p, q, r, s] = add ? all.subarray(to, to + 4) : [0, 0, 0, 0];
          for (let k = 0, x = (a >> 2) + m * aRow, y = (b >> 2) + n; k < K; k++, x += aColumn, y += bRow) {
            p += all[x] * all[y];
            q += all[x] * all[y + 1];
            r += all[x] * all[y + 2];
            s += all[x] * all[y + 3];
          }
          all[to] = p;
          all[to + 1] = q;
          all[to + 2] = r;
          all[to + 3] = s;
        }
      }
    },

    /** to[n, m] = from[m, n] */
    transpose(to, from, M, N) {
      for (let m = 0; m < M; m++) for (let n = 0; n < N; n++) all[(to >> 2) + n * M + m] = all[(from >> 2) + m * N + n];
    },

    /** y[row] = bias for every row. */
    fillRows(y, bias, rows, N) {
      for (let row = 0; row < rows; row++) all.copyWithin((y >> 2) + row * N, bias >> 2, (bias >> 2) + N);
    },

    /** total += the sum of the rows. */
    sumRows(total, y, rows, N) {
      for (let row = 0; row < rows; row++) addScaled(total >> 2, 1, (y >> 2) + row * N, N);
    },

    relu(y, n) {
      for (let k = y >> 2; k < (y >> 2) + n; k++) if (all[k] < 0) all[k] = 0;
    },

    /** dy = 0 where y is 0. */
    reluBack(dy, y, n) {
      for (let k = 0; k < n; k++) if (!(all[(y >> 2) + k] > 0)) all[(dy >> 2) + k] = 0;
    },

    sigmoid(y, n) {
      for (let k = y >> 2; k < (y >> 2) + n; k++) all[k] = 1 / (1 + Math.exp(-all[k]));
    },

    /** The first layer and its ReLU. x [B, 28, 28], weight [81, C] -> y [B, 100, C] */
    convolveInk(y, x, weight, bias, B, C) {
      kernels.fillRows(y, bias, B * MAPS, C);
      overInk(x, B, (grey, place, tap) => addScaled((y >> 2) + place * C, grey, (weight >> 2) + tap * C, C));
      kernels.relu(y, B * MAPS * C);
    },

    /** dWeight += the gradient of the first layer's weights. dy [B, 100, C] */
    convolveInkBack(dWeight, x, dy, B, C) {
      overInk(x, B, (grey, place, tap) => addScaled((dWeight >> 2) + tap * C, grey, (dy >> 2) + place * C, C));
    },
  };
  return kernels;
}

/** @param {Float32Array} all @param {any} addScaled */
function capsules(all, addScaled) {
  function dot(x, y, n) {
    let sum = 0;
    for (let k = 0; k < n; k++) sum += all[x + k] * all[y + k];
    return sum;
  }

  return {
    /** Equation 1 for each row of `size` numbers: v = s / (n + 1/n), n = ‖s‖. */
    squash(v, s, rows, size) {
      for (let row = 0, to = v >> 2, from = s >> 2; row < rows; row++, to += size, from += size) {
        const n = Math.sqrt(Math.max(dot(from, from, size), 1e-16));
        for (let d = 0; d < size; d++) all[to + d] = all[from + d] / (n + 1 / n);
      }
    },

    /** ds of v = f s, f = n / (1 + n²): ds = f dv + f′/n (s · dv) s. */
    squashBack(ds, s, dv, rows, size) {
      for (let row = 0; row < rows; row++) {
        const [to, x, dx] = [ds, s, dv].map((pointer) => (pointer >> 2) + row * size);
        const square = dot(x, x, size);
        const n = Math.sqrt(Math.max(square, 1e-16));
        const slope = square < 1e-16 ? 0 : (1 - square) / ((1 + square) ** 2 * n);
        const along = slope * dot(x, dx, size);
        for (let d = 0; d < size; d++) all[to + d] = all[dx + d] / (n + 1 / n) + along * all[x + d];
      }
    },

    /** Equation 3: c = softmax(b) over the ten classes of each row; the two numbers of padding are 0. */
    softmax(c, b, rows) {
      for (let row = 0, to = c >> 2, from = b >> 2; row < rows; row++, to += ROW, from += ROW) {
        const most = Math.max(...all.subarray(from, from + J));
        let sum = 0;
        for (let j = 0; j < J; j++) sum += all[to + j] = Math.exp(all[from + j] - most);
        for (let j = 0; j < J; j++) all[to + j] /= sum;
        all.fill(0, to + J, to + ROW);
      }
    },

    /** db += c (dc - Σ c dc) for each row. */
    softmaxBack(db, dc, c, rows) {
      for (let row = 0; row < rows; row++) {
        const [to, dx, x] = [db, dc, c].map((pointer) => (pointer >> 2) + row * ROW);
        const mean = dot(x, dx, J);
        for (let j = 0; j < J; j++) all[to + j] += all[x + j] * (all[dx + j] - mean);
      }
    },

    /** s_j = Σ_i c_ij û_j|i. c [B, I, ROW], û [B, I, J, D] -> s [B, J, D] */
    weightedSums(s, c, votes, B, I) {
      all.fill(0, s >> 2, (s >> 2) + B * J * D);
      for (let i = 0; i < B * I; i++) {
        const to = (s >> 2) + Math.floor(i / I) * J * D;
        for (let j = 0; j < J; j++)
          addScaled(to + j * D, all[(c >> 2) + i * ROW + j], (votes >> 2) + (i * J + j) * D, D);
      }
    },

    /** a_ij += û_j|i · v_j. û [B, I, J, D], v [B, J, D] -> a [B, I, ROW] */
    agreements(a, votes, v, B, I) {
      for (let i = 0; i < B * I; i++) {
        const from = (v >> 2) + Math.floor(i / I) * J * D;
        for (let j = 0; j < J; j++) all[(a >> 2) + i * ROW + j] += dot((votes >> 2) + (i * J + j) * D, from + j * D, D);
      }
    },

    /** dû_j|i += c_ij ds_j + db_ij v_j. */
    votesBack(dVotes, c, ds, db, v, B, I) {
      for (let k = 0; k < B * I * J; k++) {
        const [i, to] = [Math.floor(k / J), (dVotes >> 2) + k * D];
        const [pair, above] = [i * ROW + (k % J), (Math.floor(i / I) * J + (k % J)) * D];
        addScaled(to, all[(c >> 2) + pair], (ds >> 2) + above, D);
        addScaled(to, all[(db >> 2) + pair], (v >> 2) + above, D);
      }
    },

    /** One step of Adam for n numbers, which sets gradients g to 0. rate = lr / (1 - β1^t), root = 1 / √(1 - β2^t) */
    adam(p, g, m, v, n, rate, root) {
      [p, g, m, v] = [p >> 2, g >> 2, m >> 2, v >> 2];
      for (let k = 0; k < n; k++) {
        const gradient = all[g + k];
        all[m + k] = 0.9 * all[m + k] + 0.1 * gradient;
        all[v + k] = 0.999 * all[v + k] + 0.001 * gradient * gradient;
        all[p + k] -= (rate * all[m + k]) / (Math.sqrt(all[v + k]) * root + 1e-8);
        all[g + k] = 0;
      }
    },
  };
}
