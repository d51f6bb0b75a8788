// The arithmetic of training, in AssemblyScript, LANES numbers at a time. `npm run kernels` builds
// this file into kernels_built.js: with shared/lanes.ts to WebAssembly, four lanes, with relaxed SIMD and
// without it; and without its types, with the one lane of shared/kernels.js, to plain JavaScript.
//
// A pointer is in bytes; sizes and strides are in numbers (float32). All rows begin at multiples of
// 16 bytes.
import {
  add, all, at, div, exp, get, get1, LANES, madd, max, mul, put, put1, root, spread, sub, sum,
  turn, V, where,
} from "../shared/lanes";

const J: i32 = 10; // classes
const D: i32 = 16; // numbers in a digit capsule
const ROW: i32 = 12; // room for the ten logits or couplings of a capsule: three times four
const DEEP: i32 = 64; // rows of b that stay in the nearest cache
const TAPS: i32 = 9; // along a side of the first kernel
const SIDE: i32 = 28;
const ACROSS: i32 = 10; // along a side of the first layer's maps

function dot(x: usize, y: usize, n: i32): f32 {
  let total = all(0);
  for (let k = 0; k < n; k += LANES) total = madd(get(at(x, k)), get(at(y, k)), total);
  return sum(total);
}

/** y += w x, n numbers of each. */
function addScaled(y: usize, w: f32, x: usize, n: i32): void {
  const scale = all(w);
  for (let k = 0; k < n; k += LANES) put(at(y, k), madd(scale, get(at(x, k)), get(at(y, k))));
}

// ------------------------------------------------------------------------------------------ layers

/**
 * c[m, n] += Σ_k a[m, k] b[k, n]. Blocks of 4 × 2 LANES stay in registers: M is a multiple of 4,
 * N of 8.
 */
export function matmul(
  c: usize, cRow: i32, a: usize, aRow: i32, aColumn: i32, b: usize, bRow: i32,
  M: i32, K: i32, N: i32,
): void {
  for (let k0 = 0; k0 < K; k0 += DEEP) {
    const end = K < k0 + DEEP ? K : k0 + DEEP;
    for (let n = 0; n < N; n += 2 * LANES) {
      for (let m = 0; m < M; m += 4) {
        const c0 = at(c, m * cRow + n);
        const c1 = at(c0, cRow);
        const c2 = at(c1, cRow);
        const c3 = at(c2, cRow);
        let p0 = get(c0), q0 = get(at(c0, LANES));
        let p1 = get(c1), q1 = get(at(c1, LANES));
        let p2 = get(c2), q2 = get(at(c2, LANES));
        let p3 = get(c3), q3 = get(at(c3, LANES));
        let a0 = at(a, m * aRow + k0 * aColumn);
        let a1 = at(a0, aRow);
        let a2 = at(a1, aRow);
        let a3 = at(a2, aRow);
        let from = at(b, k0 * bRow + n);
        for (let k = k0; k < end; k++) {
          const x = get(from);
          const y = get(at(from, LANES));
          let w = spread(a0);
          p0 = madd(w, x, p0);
          q0 = madd(w, y, q0);
          w = spread(a1);
          p1 = madd(w, x, p1);
          q1 = madd(w, y, q1);
          w = spread(a2);
          p2 = madd(w, x, p2);
          q2 = madd(w, y, q2);
          w = spread(a3);
          p3 = madd(w, x, p3);
          q3 = madd(w, y, q3);
          a0 = at(a0, aColumn);
          a1 = at(a1, aColumn);
          a2 = at(a2, aColumn);
          a3 = at(a3, aColumn);
          from = at(from, bRow);
        }
        put(c0, p0);
        put(at(c0, LANES), q0);
        put(c1, p1);
        put(at(c1, LANES), q1);
        put(c2, p2);
        put(at(c2, LANES), q2);
        put(c3, p3);
        put(at(c3, LANES), q3);
      }
    }
  }
}

/** to[n, m] = from[m, n]. M and N are multiples of 4. */
export function transpose(to: usize, from: usize, M: i32, N: i32): void {
  for (let n = 0; n < N; n += LANES) {
    for (let m = 0; m < M; m += LANES) turn(at(to, n * M + m), M, at(from, m * N + n), N);
  }
}

/** y[row] = bias for every row. */
export function fillRows(y: usize, bias: usize, rows: i32, N: i32): void {
  for (let row = 0; row < rows; row++) {
    for (let n = 0; n < N; n += LANES) put(at(y, row * N + n), get(at(bias, n)));
  }
}

/** total += the sum of the rows. */
export function sumRows(total: usize, y: usize, rows: i32, N: i32): void {
  for (let n = 0; n < N; n += LANES) {
    let x = get(at(total, n));
    for (let row = 0; row < rows; row++) x = add(x, get(at(y, row * N + n)));
    put(at(total, n), x);
  }
}

/**
 * x = 0 where y is not above 0: ReLU where both are the same, its gradient where x is the gradient
 * above.
 */
export function gate(x: usize, y: usize, n: i32): void {
  for (let k = 0; k < n; k += LANES) put(at(x, k), where(get(at(y, k)), get(at(x, k))));
}

export function sigmoid(y: usize, n: i32): void {
  for (let k = 0; k < n; k += LANES) {
    const x = get(at(y, k));
    put(at(y, k), div(all(1), add(all(1), exp(sub(all(0), x)))));
  }
}

/**
 * The first layer, over the ink of all patches: y[place] += grey · taps[tap], or back:
 * taps[tap] += grey · y[place]. x [B, 28, 28], taps [81, C], y [B, 100, C]
 */
export function overInk(y: usize, x: usize, taps: usize, B: i32, C: i32, back: i32): void {
  for (let n = 0; n < B; n++) {
    for (let row = 0; row < ACROSS; row++) {
      for (let column = 0; column < ACROSS; column++) {
        const corner = at(x, (n * SIDE + 2 * row) * SIDE + 2 * column);
        for (let down = 0; down < TAPS; down++) {
          for (let right = 0; right < TAPS; right++) {
            const grey = get1(at(corner, down * SIDE + right));
            if (grey == 0) continue; // four fifths of a digit are paper
            const tap = at(taps, (down * TAPS + right) * C);
            if (back) addScaled(tap, grey, y, C);
            else addScaled(y, grey, tap, C);
          }
        }
        y = at(y, C);
      }
    }
  }
}

// ---------------------------------------------------------------------------------------- capsules

/** Equation 1 for each row of `size` numbers: v = s / (n + 1/n), n = ‖s‖. */
export function squash(v: usize, s: usize, rows: i32, size: i32): void {
  for (let row = 0; row < rows; row++) {
    const n = root(max(all(dot(s, s, size)), all(1e-16)));
    const scale = div(all(1), add(n, div(all(1), n)));
    for (let d = 0; d < size; d += LANES) put(at(v, d), mul(scale, get(at(s, d))));
    v = at(v, size);
    s = at(s, size);
  }
}

/** ds of v = f s, f = n / (1 + n²): ds = f dv + f′/n (s · dv) s. */
export function squashBack(ds: usize, s: usize, dv: usize, rows: i32, size: i32): void {
  for (let row = 0; row < rows; row++) {
    const square = max(all(dot(s, s, size)), all(1e-16));
    const n = root(square);
    const more = add(all(1), square);
    const slope = div(sub(all(1), square), mul(mul(more, more), n));
    const along = mul(slope, all(dot(s, dv, size)));
    for (let d = 0; d < size; d += LANES) {
      put(at(ds, d), add(mul(div(n, more), get(at(dv, d))), mul(along, get(at(s, d)))));
    }
    ds = at(ds, size);
    s = at(s, size);
    dv = at(dv, size);
  }
}

/** Equation 3: c = softmax(b) over the ten classes of each row; the two of padding are 0. */
export function softmax(c: usize, b: usize, rows: i32): void {
  for (let row = 0; row < rows; row++) {
    let most = get1(b);
    for (let j = 1; j < J; j++) if (get1(at(b, j)) > most) most = get1(at(b, j));
    for (let j = 0; j < ROW; j += LANES) put(at(c, j), exp(sub(get(at(b, j)), all(most))));
    for (let j = J; j < ROW; j++) put1(at(c, j), 0);
    let total = all(0);
    for (let j = 0; j < ROW; j += LANES) total = add(total, get(at(c, j)));
    const scale = div(all(1), all(sum(total)));
    for (let j = 0; j < ROW; j += LANES) put(at(c, j), mul(scale, get(at(c, j))));
    c = at(c, ROW);
    b = at(b, ROW);
  }
}

/** db += c (dc - Σ c dc) for each row. */
export function softmaxBack(db: usize, dc: usize, c: usize, rows: i32): void {
  for (let row = 0; row < rows; row++) {
    const mean = all(dot(c, dc, ROW));
    for (let j = 0; j < ROW; j += LANES) {
      put(at(db, j), add(get(at(db, j)), mul(get(at(c, j)), sub(get(at(dc, j)), mean))));
    }
    db = at(db, ROW);
    dc = at(dc, ROW);
    c = at(c, ROW);
  }
}

/**
 * to += c_ij from, for all votes: s_j += c_ij û_j|i, or û_j|i += c_ij s_j. Of the two, û is
 * [B, I, J, D], its row J · D numbers; s is [B, J, D], its row 0: the same ten for every i.
 * c [B, I, ROW]
 */
export function addWeighted(
  to: usize, toRow: i32, c: usize, from: usize, fromRow: i32, B: i32, I: i32,
): void {
  for (let n = 0; n < B; n++) {
    for (let i = 0; i < I; i++) {
      for (let j = 0; j < J; j++) {
        addScaled(at(to, j * D), get1(at(c, j)), at(from, j * D), D);
      }
      to = at(to, toRow);
      c = at(c, ROW);
      from = at(from, fromRow);
    }
    to = at(to, J * D - toRow);
    from = at(from, J * D - fromRow);
  }
}

/** a_ij += û_j|i · v_j. û [B, I, J, D], v [B, J, D] -> a [B, I, ROW] */
export function agreements(a: usize, votes: usize, v: usize, B: i32, I: i32): void {
  for (let n = 0; n < B; n++) {
    for (let i = 0; i < I; i++) {
      for (let j = 0; j < J; j++) {
        const agreement = dot(at(votes, j * D), at(v, j * D), D);
        put1(at(a, j), get1(at(a, j)) + agreement);
      }
      a = at(a, ROW);
      votes = at(votes, J * D);
    }
    v = at(v, J * D);
  }
}

// ---------------------------------------------------------------------------------------- learning

/**
 * One step of Adam for n numbers p, which sets their gradients g to 0 and moves their average a by
 * a `share` of the way to them. rate = lr / (1 - β1^t), scale = 1 / √(1 - β2^t)
 */
export function adam(
  p: usize, g: usize, m: usize, v: usize, a: usize, n: i32,
  rate: f32, scale: f32, share: f32,
): void {
  for (let k = 0; k < n; k += LANES) {
    const gradient = get(at(g, k));
    const mean = add(mul(all(0.9), get(at(m, k))), mul(all(0.1), gradient));
    const square = add(mul(all(0.999), get(at(v, k))), mul(all(0.001), mul(gradient, gradient)));
    const size = add(mul(root(square), all(scale)), all(1e-8));
    const now = sub(get(at(p, k)), div(mul(all(rate), mean), size));
    put(at(p, k), now);
    put(at(a, k), add(get(at(a, k)), mul(all(share), sub(now, get(at(a, k))))));
    put(at(m, k), mean);
    put(at(v, k), square);
    put(at(g, k), all(0));
  }
}
