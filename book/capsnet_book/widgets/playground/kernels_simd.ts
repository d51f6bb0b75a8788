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

/** y += w x, n numbers of each. */
// @ts-ignore
@inline
function addScaled(y: usize, w: f32, x: usize, n: i32): void {
  const scale = f32x4.splat(w);
  for (let k = 0; k < n; k += 4) {
    v128.store(at(y, k), f32x4.add(v128.load(at(y, k)), f32x4.mul(scale, v128.load(at(x, k)))));
  }
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

/** Over the ink of all patches, y[place] += grey · taps[tap], or back: taps[tap] += grey · y[place]. */
// @ts-ignore
@inline
function overInk(y: usize, x: usize, taps: usize, B: i32, C: i32, back: bool): void {
  for (let n = 0; n < B * PLACES * PLACES; n++, y = at(y, C)) {
    const place = n % (PLACES * PLACES);
    const corner = (n / (PLACES * PLACES)) * SIDE * SIDE + 2 * (place / PLACES) * SIDE + 2 * (place % PLACES);
    for (let tap = 0; tap < TAPS * TAPS; tap++) {
      const grey = load<f32>(at(x, corner + (tap / TAPS) * SIDE + (tap % TAPS)));
      if (grey == 0) continue; // four fifths of a digit are paper
      if (back) addScaled(at(taps, tap * C), grey, y, C);
      else addScaled(y, grey, at(taps, tap * C), C);
    }
  }
}

/** The first layer and its ReLU. x [B, 28, 28], weight [81, C] -> y [B, 100, C] */
export function convolveInk(y: usize, x: usize, weight: usize, bias: usize, B: i32, C: i32): void {
  fillRows(y, bias, B * PLACES * PLACES, C);
  overInk(y, x, weight, B, C, false);
  relu(y, B * PLACES * PLACES * C);
}

/** dWeight += the gradient of the first layer's weights. dy [B, 100, C] */
export function convolveInkBack(dWeight: usize, x: usize, dy: usize, B: i32, C: i32): void {
  overInk(dy, x, dWeight, B, C, true);
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

/** s_j = Σ_i c_ij û_j|i. c [B, I, ROW], û [B, I, J, D] -> s [B, J, D] */
export function weightedSums(s: usize, c: usize, votes: usize, B: i32, I: i32): void {
  memory.fill(s, 0, <usize>(B * J * D) << 2);
  for (let i = 0; i < B * I; i++) {
    for (let j = 0; j < J; j++) {
      addScaled(at(s, ((i / I) * J + j) * D), load<f32>(at(c, i * ROW + j)), at(votes, (i * J + j) * D), D);
    }
  }
}

/** a_ij += û_j|i · v_j. û [B, I, J, D], v [B, J, D] -> a [B, I, ROW] */
export function agreements(a: usize, votes: usize, v: usize, B: i32, I: i32): void {
  for (let i = 0; i < B * I; i++) {
    for (let j = 0; j < J; j++) {
      const to = at(a, i * ROW + j);
      store<f32>(to, load<f32>(to) + dot(at(votes, (i * J + j) * D), at(v, ((i / I) * J + j) * D), D));
    }
  }
}

/** dû_j|i += c_ij ds_j + db_ij v_j. */
export function votesBack(dVotes: usize, c: usize, ds: usize, db: usize, v: usize, B: i32, I: i32): void {
  for (let i = 0; i < B * I; i++) {
    for (let j = 0; j < J; j++) {
      const to = at(dVotes, (i * J + j) * D);
      const above = ((i / I) * J + j) * D;
      addScaled(to, load<f32>(at(c, i * ROW + j)), at(ds, above), D);
      addScaled(to, load<f32>(at(db, i * ROW + j)), at(v, above), D);
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
