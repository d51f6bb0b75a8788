// The arithmetic of training, in AssemblyScript, four numbers at a time (WebAssembly's 128-bit SIMD).
// kernels.js says the same in plain JavaScript: read that first. `npm run kernels` builds this into kernels_wasm.js.
//
// A pointer is in bytes; sizes and strides are in numbers (float32). All rows begin at multiples of 16 bytes.

const J: i32 = 10; // classes
const D: i32 = 16; // numbers in a digit capsule
const ROW: i32 = 12; // room for the ten logits or couplings of a capsule: three times four
const DEEP: i32 = 64; // rows of b that stay in the nearest cache
const TAPS: i32 = 9; // along a side of the first kernel
const SIDE: i32 = 28;
const PLACES: i32 = 10; // along a side of the first layer's maps

// @ts-ignore: a decorator of AssemblyScript
@inline
function at(pointer: usize, index: i32): usize {
  return pointer + ((<usize>index) << 2);
}

// @ts-ignore
@inline
function sum(x: v128): f32 {
  const halves = f32x4.add(x, v128.shuffle<f32>(x, x, 2, 3, 0, 1));
  return f32x4.extract_lane(halves, 0) + f32x4.extract_lane(halves, 1);
}

// @ts-ignore
@inline
function dot(x: usize, y: usize, n: i32): f32 {
  let total = f32x4.splat(0);
  for (let k = 0; k < n; k += 4) total = f32x4.add(total, f32x4.mul(v128.load(at(x, k)), v128.load(at(y, k))));
  return sum(total);
}

/** e^x: x = n ln 2 + r with |r| ≤ ln 2 / 2, e^r by its series, 2^n by the bits of a float. */
// @ts-ignore
@inline
function exp(x: v128): v128 {
  x = f32x4.max(f32x4.splat(-87), f32x4.min(f32x4.splat(87), x));
  const n = f32x4.nearest(f32x4.mul(x, f32x4.splat(1.44269504)));
  let r = f32x4.sub(x, f32x4.mul(n, f32x4.splat(0.693359375)));
  r = f32x4.sub(r, f32x4.mul(n, f32x4.splat(-2.12194440e-4)));
  let e = f32x4.splat(1.0 / 5040.0);
  e = f32x4.add(f32x4.mul(e, r), f32x4.splat(1.0 / 720.0));
  e = f32x4.add(f32x4.mul(e, r), f32x4.splat(1.0 / 120.0));
  e = f32x4.add(f32x4.mul(e, r), f32x4.splat(1.0 / 24.0));
  e = f32x4.add(f32x4.mul(e, r), f32x4.splat(1.0 / 6.0));
  e = f32x4.add(f32x4.mul(e, r), f32x4.splat(0.5));
  e = f32x4.add(f32x4.mul(e, r), f32x4.splat(1));
  e = f32x4.add(f32x4.mul(e, r), f32x4.splat(1));
  const power = i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(n), i32x4.splat(127)), 23);
  return f32x4.mul(e, power);
}

// ------------------------------------------------------------------------------------------------ layers

/** c[m, n] (+)= Σ_k a[m, k] b[k, n]. Blocks of 4 × 8 stay in registers: M is a multiple of 4, N of 8. */
export function matmul(
  c: usize, cRow: i32, a: usize, aRow: i32, aColumn: i32, b: usize, bRow: i32, M: i32, K: i32, N: i32, add: i32,
): void {
  const aStep = (<usize>aColumn) << 2;
  const bStep = (<usize>bRow) << 2;
  for (let k0 = 0; k0 < K; k0 += DEEP) {
    const deep = min(DEEP, K - k0);
    const more = add | k0;
    for (let n = 0; n < N; n += 8) {
      for (let m = 0; m < M; m += 4) {
        const c0 = at(c, m * cRow + n);
        const c1 = at(c0, cRow);
        const c2 = at(c1, cRow);
        const c3 = at(c2, cRow);
        const zero = f32x4.splat(0);
        let p0 = zero, q0 = zero, p1 = zero, q1 = zero, p2 = zero, q2 = zero, p3 = zero, q3 = zero;
        if (more) {
          p0 = v128.load(c0);
          q0 = v128.load(c0, 16);
          p1 = v128.load(c1);
          q1 = v128.load(c1, 16);
          p2 = v128.load(c2);
          q2 = v128.load(c2, 16);
          p3 = v128.load(c3);
          q3 = v128.load(c3, 16);
        }
        let a0 = at(a, m * aRow + k0 * aColumn);
        let a1 = at(a0, aRow);
        let a2 = at(a1, aRow);
        let a3 = at(a2, aRow);
        let from = at(b, k0 * bRow + n);
        for (let k = 0; k < deep; k++) {
          const x = v128.load(from);
          const y = v128.load(from, 16);
          let w = v128.load32_splat(a0);
          p0 = f32x4.add(p0, f32x4.mul(w, x));
          q0 = f32x4.add(q0, f32x4.mul(w, y));
          w = v128.load32_splat(a1);
          p1 = f32x4.add(p1, f32x4.mul(w, x));
          q1 = f32x4.add(q1, f32x4.mul(w, y));
          w = v128.load32_splat(a2);
          p2 = f32x4.add(p2, f32x4.mul(w, x));
          q2 = f32x4.add(q2, f32x4.mul(w, y));
          w = v128.load32_splat(a3);
          p3 = f32x4.add(p3, f32x4.mul(w, x));
          q3 = f32x4.add(q3, f32x4.mul(w, y));
          a0 += aStep;
          a1 += aStep;
          a2 += aStep;
          a3 += aStep;
          from += bStep;
        }
        v128.store(c0, p0);
        v128.store(c0, q0, 16);
        v128.store(c1, p1);
        v128.store(c1, q1, 16);
        v128.store(c2, p2);
        v128.store(c2, q2, 16);
        v128.store(c3, p3);
        v128.store(c3, q3, 16);
      }
    }
  }
}

/** to[n, m] = from[m, n], in squares of 4 × 4. */
export function transpose(to: usize, from: usize, M: i32, N: i32): void {
  for (let m = 0; m < M; m += 4) {
    for (let n = 0; n < N; n += 4) {
      const source = at(from, m * N + n);
      const x0 = v128.load(source);
      const x1 = v128.load(at(source, N));
      const x2 = v128.load(at(source, 2 * N));
      const x3 = v128.load(at(source, 3 * N));
      const low01 = v128.shuffle<f32>(x0, x1, 0, 4, 1, 5);
      const high01 = v128.shuffle<f32>(x0, x1, 2, 6, 3, 7);
      const low23 = v128.shuffle<f32>(x2, x3, 0, 4, 1, 5);
      const high23 = v128.shuffle<f32>(x2, x3, 2, 6, 3, 7);
      const target = at(to, n * M + m);
      v128.store(target, v128.shuffle<f32>(low01, low23, 0, 1, 4, 5));
      v128.store(at(target, M), v128.shuffle<f32>(low01, low23, 2, 3, 6, 7));
      v128.store(at(target, 2 * M), v128.shuffle<f32>(high01, high23, 0, 1, 4, 5));
      v128.store(at(target, 3 * M), v128.shuffle<f32>(high01, high23, 2, 3, 6, 7));
    }
  }
}

/** y[row] = bias for every row. */
export function fillRows(y: usize, bias: usize, rows: i32, N: i32): void {
  for (let row = 0; row < rows; row++) memory.copy(at(y, row * N), bias, (<usize>N) << 2);
}

/** total += the sum of the rows. */
export function sumRows(total: usize, y: usize, rows: i32, N: i32): void {
  for (let n = 0; n < N; n += 4) {
    let x = v128.load(at(total, n));
    for (let row = 0; row < rows; row++) x = f32x4.add(x, v128.load(at(y, row * N + n)));
    v128.store(at(total, n), x);
  }
}

export function relu(y: usize, n: i32): void {
  for (let k = 0; k < n; k += 4) v128.store(at(y, k), f32x4.max(f32x4.splat(0), v128.load(at(y, k))));
}

/** dy = 0 where y is 0. */
export function reluBack(dy: usize, y: usize, n: i32): void {
  for (let k = 0; k < n; k += 4) {
    const alive = f32x4.gt(v128.load(at(y, k)), f32x4.splat(0));
    v128.store(at(dy, k), v128.and(alive, v128.load(at(dy, k))));
  }
}

export function sigmoid(y: usize, n: i32): void {
  const one = f32x4.splat(1);
  for (let k = 0; k < n; k += 4) {
    v128.store(at(y, k), f32x4.div(one, f32x4.add(one, exp(f32x4.neg(v128.load(at(y, k)))))));
  }
}

/** Writes (value, place in the kernel) of the ink in one patch; -> how many. Four fifths of a digit are paper. */
// @ts-ignore
@inline
function ink(list: usize, x: usize, row: i32, column: i32, C: i32): usize {
  let end = list;
  for (let dy = 0; dy < TAPS; dy++) {
    const from = at(x, (2 * row + dy) * SIDE + 2 * column);
    for (let dx = 0; dx < TAPS; dx++) {
      const grey = load<f32>(at(from, dx));
      if (grey == 0) continue;
      store<f32>(end, grey);
      store<i32>(end, ((dy * TAPS + dx) * C) << 2, 4);
      end += 8;
    }
  }
  return end;
}

/** The first layer and its ReLU. x [B, 28, 28], weight [81, C] -> y [B, 100, C]; `list` is room for 81 pairs. */
export function convolveInk(y: usize, x: usize, weight: usize, bias: usize, B: i32, C: i32, list: usize): void {
  const zero = f32x4.splat(0);
  for (let b = 0; b < B; b++) {
    for (let place = 0; place < PLACES * PLACES; place++) {
      const end = ink(list, at(x, b * SIDE * SIDE), place / PLACES, place % PLACES, C);
      for (let c = 0; c < C; c += 16) {
        let y0 = v128.load(at(bias, c));
        let y1 = v128.load(at(bias, c), 16);
        let y2 = v128.load(at(bias, c), 32);
        let y3 = v128.load(at(bias, c), 48);
        for (let tap = list; tap < end; tap += 8) {
          const grey = v128.load32_splat(tap);
          const w = at(weight, c) + load<u32>(tap, 4);
          y0 = f32x4.add(y0, f32x4.mul(grey, v128.load(w)));
          y1 = f32x4.add(y1, f32x4.mul(grey, v128.load(w, 16)));
          y2 = f32x4.add(y2, f32x4.mul(grey, v128.load(w, 32)));
          y3 = f32x4.add(y3, f32x4.mul(grey, v128.load(w, 48)));
        }
        const to = at(y, (b * PLACES * PLACES + place) * C + c);
        v128.store(to, f32x4.max(zero, y0));
        v128.store(to, f32x4.max(zero, y1), 16);
        v128.store(to, f32x4.max(zero, y2), 32);
        v128.store(to, f32x4.max(zero, y3), 48);
      }
    }
  }
}

/** dWeight += the gradient of the first layer's weights. dy [B, 100, C] */
export function convolveInkBack(dWeight: usize, x: usize, dy: usize, B: i32, C: i32, list: usize): void {
  for (let b = 0; b < B; b++) {
    for (let place = 0; place < PLACES * PLACES; place++) {
      const end = ink(list, at(x, b * SIDE * SIDE), place / PLACES, place % PLACES, C);
      for (let c = 0; c < C; c += 16) {
        const from = at(dy, (b * PLACES * PLACES + place) * C + c);
        const y0 = v128.load(from);
        const y1 = v128.load(from, 16);
        const y2 = v128.load(from, 32);
        const y3 = v128.load(from, 48);
        for (let tap = list; tap < end; tap += 8) {
          const grey = v128.load32_splat(tap);
          const w = at(dWeight, c) + load<u32>(tap, 4);
          v128.store(w, f32x4.add(v128.load(w), f32x4.mul(grey, y0)));
          v128.store(w, f32x4.add(v128.load(w, 16), f32x4.mul(grey, y1)), 16);
          v128.store(w, f32x4.add(v128.load(w, 32), f32x4.mul(grey, y2)), 32);
          v128.store(w, f32x4.add(v128.load(w, 48), f32x4.mul(grey, y3)), 48);
        }
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------- capsules

/** Equation 1 for each row of `size` numbers: v = s / (n + 1/n), n = ‖s‖. */
export function squash(v: usize, s: usize, rows: i32, size: i32): void {
  for (let row = 0; row < rows; row++, v = at(v, size), s = at(s, size)) {
    const n = sqrt<f32>(max<f32>(dot(s, s, size), 1e-16));
    const scale = f32x4.splat(1 / (n + 1 / n));
    for (let d = 0; d < size; d += 4) v128.store(at(v, d), f32x4.mul(scale, v128.load(at(s, d))));
  }
}

/** ds of v = f s, f = n / (1 + n²): ds = f dv + f′/n (s · dv) s. */
export function squashBack(ds: usize, s: usize, dv: usize, rows: i32, size: i32): void {
  for (let row = 0; row < rows; row++, ds = at(ds, size), s = at(s, size), dv = at(dv, size)) {
    const square = dot(s, s, size);
    const n = sqrt<f32>(max<f32>(square, 1e-16));
    const f = f32x4.splat(1 / (n + 1 / n));
    const slope: f32 = square < 1e-16 ? 0 : (1 - square) / ((1 + square) * (1 + square) * n);
    const along = f32x4.splat(slope * dot(s, dv, size));
    for (let d = 0; d < size; d += 4) {
      const x = f32x4.add(f32x4.mul(f, v128.load(at(dv, d))), f32x4.mul(along, v128.load(at(s, d))));
      v128.store(at(ds, d), x);
    }
  }
}

/** Equation 3: c = softmax(b) over the ten classes of each row; the two numbers of padding are 0. */
export function softmax(c: usize, b: usize, rows: i32): void {
  const real = i32x4(-1, -1, 0, 0);
  for (let row = 0; row < rows; row++, c = at(c, ROW), b = at(b, ROW)) {
    const x0 = v128.load(b);
    const x1 = v128.load(b, 16);
    const x2 = v128.load(b, 32);
    let most = f32x4.max(f32x4.max(x0, x1), v128.shuffle<f32>(x2, x2, 0, 1, 0, 1));
    most = f32x4.max(most, v128.shuffle<f32>(most, most, 2, 3, 0, 1));
    most = f32x4.max(most, v128.shuffle<f32>(most, most, 1, 0, 3, 2));
    const e0 = exp(f32x4.sub(x0, most));
    const e1 = exp(f32x4.sub(x1, most));
    const e2 = v128.and(real, exp(f32x4.sub(x2, most)));
    const scale = f32x4.splat(1 / sum(f32x4.add(f32x4.add(e0, e1), e2)));
    v128.store(c, f32x4.mul(e0, scale));
    v128.store(c, f32x4.mul(e1, scale), 16);
    v128.store(c, f32x4.mul(e2, scale), 32);
  }
}

/** db += c (dc - Σ c dc) for each row. */
export function softmaxBack(db: usize, dc: usize, c: usize, rows: i32): void {
  for (let row = 0; row < rows; row++, db = at(db, ROW), dc = at(dc, ROW), c = at(c, ROW)) {
    const mean = f32x4.splat(dot(c, dc, ROW));
    for (let j = 0; j < ROW; j += 4) {
      const x = f32x4.mul(v128.load(at(c, j)), f32x4.sub(v128.load(at(dc, j)), mean));
      v128.store(at(db, j), f32x4.add(v128.load(at(db, j)), x));
    }
  }
}

/** s_j (+)= Σ_i c_ij û_j|i. c [B, I, ROW], û [B, I, J, D] -> s [B, J, D] */
export function weightedSums(s: usize, c: usize, votes: usize, B: i32, I: i32, add: i32): void {
  for (let b = 0; b < B; b++) {
    for (let j = 0; j < J; j++) {
      const to = at(s, (b * J + j) * D);
      let s0 = f32x4.splat(0), s1 = s0, s2 = s0, s3 = s0;
      if (add) {
        s0 = v128.load(to);
        s1 = v128.load(to, 16);
        s2 = v128.load(to, 32);
        s3 = v128.load(to, 48);
      }
      let share = at(c, b * I * ROW + j);
      let vote = at(votes, (b * I * J + j) * D);
      for (let i = 0; i < I; i++) {
        const w = v128.load32_splat(share);
        s0 = f32x4.add(s0, f32x4.mul(w, v128.load(vote)));
        s1 = f32x4.add(s1, f32x4.mul(w, v128.load(vote, 16)));
        s2 = f32x4.add(s2, f32x4.mul(w, v128.load(vote, 32)));
        s3 = f32x4.add(s3, f32x4.mul(w, v128.load(vote, 48)));
        share = at(share, ROW);
        vote = at(vote, J * D);
      }
      v128.store(to, s0);
      v128.store(to, s1, 16);
      v128.store(to, s2, 32);
      v128.store(to, s3, 48);
    }
  }
}

/** a_ij (+)= û_j|i · v_j. û [B, I, J, D], v [B, J, D] -> a [B, I, ROW] */
export function agreements(a: usize, votes: usize, v: usize, B: i32, I: i32, add: i32): void {
  for (let b = 0; b < B; b++) {
    for (let j = 0; j < J; j++) {
      const from = at(v, (b * J + j) * D);
      const v0 = v128.load(from);
      const v1 = v128.load(from, 16);
      const v2 = v128.load(from, 32);
      const v3 = v128.load(from, 48);
      let to = at(a, b * I * ROW + j);
      let vote = at(votes, (b * I * J + j) * D);
      for (let i = 0; i < I; i++) {
        const p = f32x4.add(f32x4.mul(v0, v128.load(vote)), f32x4.mul(v1, v128.load(vote, 16)));
        const q = f32x4.add(f32x4.mul(v2, v128.load(vote, 32)), f32x4.mul(v3, v128.load(vote, 48)));
        const agreement = sum(f32x4.add(p, q));
        store<f32>(to, add ? load<f32>(to) + agreement : agreement);
        to = at(to, ROW);
        vote = at(vote, J * D);
      }
    }
  }
}

/** dû_j|i = Σ_t c_ij[t] ds_j[t] + Σ_t db_ij[t] v_j[t - 1], over all rounds t; round 0 has no db. */
export function votesBack(
  dVotes: usize, c: usize, ds: usize, db: usize, v: usize, B: i32, I: i32, rounds: i32,
): void {
  for (let b = 0; b < B; b++) {
    for (let i = 0; i < I; i++) {
      for (let j = 0; j < J; j++) {
        let d0 = f32x4.splat(0), d1 = d0, d2 = d0, d3 = d0;
        for (let t = 0; t < rounds; t++) {
          const pair = ((t * B + b) * I + i) * ROW + j;
          const share = v128.load32_splat(at(c, pair));
          const pull = at(ds, ((t * B + b) * J + j) * D);
          d0 = f32x4.add(d0, f32x4.mul(share, v128.load(pull)));
          d1 = f32x4.add(d1, f32x4.mul(share, v128.load(pull, 16)));
          d2 = f32x4.add(d2, f32x4.mul(share, v128.load(pull, 32)));
          d3 = f32x4.add(d3, f32x4.mul(share, v128.load(pull, 48)));
          if (t == 0) continue;
          const logit = v128.load32_splat(at(db, pair));
          const before = at(v, (((t - 1) * B + b) * J + j) * D);
          d0 = f32x4.add(d0, f32x4.mul(logit, v128.load(before)));
          d1 = f32x4.add(d1, f32x4.mul(logit, v128.load(before, 16)));
          d2 = f32x4.add(d2, f32x4.mul(logit, v128.load(before, 32)));
          d3 = f32x4.add(d3, f32x4.mul(logit, v128.load(before, 48)));
        }
        const to = at(dVotes, ((b * I + i) * J + j) * D);
        v128.store(to, d0);
        v128.store(to, d1, 16);
        v128.store(to, d2, 32);
        v128.store(to, d3, 48);
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------- learning

/** One step of Adam for n numbers, which sets their gradients g to 0. rate = lr / (1 - β1^t), root = 1 / √(1 - β2^t) */
export function adam(p: usize, g: usize, m: usize, v: usize, n: i32, rate: f32, root: f32): void {
  for (let k = 0; k < n; k += 4) {
    const gradient = v128.load(at(g, k));
    const mean = f32x4.add(
      f32x4.mul(f32x4.splat(0.9), v128.load(at(m, k))),
      f32x4.mul(f32x4.splat(0.1), gradient),
    );
    const square = f32x4.add(
      f32x4.mul(f32x4.splat(0.999), v128.load(at(v, k))),
      f32x4.mul(f32x4.splat(0.001), f32x4.mul(gradient, gradient)),
    );
    const size = f32x4.add(f32x4.mul(f32x4.sqrt(square), f32x4.splat(root)), f32x4.splat(1e-8));
    const step = f32x4.div(f32x4.mul(f32x4.splat(rate), mean), size);
    v128.store(at(p, k), f32x4.sub(v128.load(at(p, k)), step));
    v128.store(at(m, k), mean);
    v128.store(at(v, k), square);
    v128.store(at(g, k), f32x4.splat(0));
  }
}
