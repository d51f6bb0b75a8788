// What an arithmetic.ts calculates with, in AssemblyScript: four numbers at a time, WebAssembly's
// 128-bit SIMD. kernels.js has the same for plain JavaScript, a number at a time.

export type V = v128;
export const LANES: i32 = 4;

@inline export function at(pointer: usize, index: i32): usize {
  return pointer + ((<usize>index) << 2);
}
@inline export function get(pointer: usize): V { return v128.load(pointer); }
@inline export function put(pointer: usize, x: V): void { v128.store(pointer, x); }
@inline export function spread(pointer: usize): V { return v128.load32_splat(pointer); }
@inline export function get1(pointer: usize): f32 { return load<f32>(pointer); }
@inline export function put1(pointer: usize, x: f32): void { store<f32>(pointer, x); }
@inline export function getInteger(pointer: usize): i32 { return load<i32>(pointer); }
@inline export function putInteger(pointer: usize, n: i32): void { store<i32>(pointer, n); }
@inline export function all(x: f32): V { return f32x4.splat(x); }
@inline export function add(x: V, y: V): V { return f32x4.add(x, y); }
@inline export function sub(x: V, y: V): V { return f32x4.sub(x, y); }
@inline export function mul(x: V, y: V): V { return f32x4.mul(x, y); }
/** x y + z, in one instruction where relaxed SIMD is enabled. */
@inline export function madd(x: V, y: V, z: V): V {
  return ASC_FEATURE_RELAXED_SIMD ? f32x4.relaxed_madd(x, y, z) : f32x4.add(f32x4.mul(x, y), z);
}
@inline export function div(x: V, y: V): V { return f32x4.div(x, y); }
@inline export function max(x: V, y: V): V { return f32x4.max(x, y); }
@inline export function root(x: V): V { return f32x4.sqrt(x); }

/** x where `alive` is above 0, and 0 elsewhere. */
@inline export function where(alive: V, x: V): V {
  return v128.and(f32x4.gt(alive, f32x4.splat(0)), x);
}

/** A square of LANES rows and columns, turned: to[n, m] = from[m, n]. */
@inline export function turn(to: usize, toRow: i32, from: usize, fromRow: i32): void {
  const a = get(from);
  const b = get(at(from, fromRow));
  const c = get(at(from, 2 * fromRow));
  const d = get(at(from, 3 * fromRow));
  const abLeft = v128.shuffle<f32>(a, b, 0, 4, 1, 5);
  const abRight = v128.shuffle<f32>(a, b, 2, 6, 3, 7);
  const cdLeft = v128.shuffle<f32>(c, d, 0, 4, 1, 5);
  const cdRight = v128.shuffle<f32>(c, d, 2, 6, 3, 7);
  put(to, v128.shuffle<f32>(abLeft, cdLeft, 0, 1, 4, 5));
  put(at(to, toRow), v128.shuffle<f32>(abLeft, cdLeft, 2, 3, 6, 7));
  put(at(to, 2 * toRow), v128.shuffle<f32>(abRight, cdRight, 0, 1, 4, 5));
  put(at(to, 3 * toRow), v128.shuffle<f32>(abRight, cdRight, 2, 3, 6, 7));
}

@inline export function sum(x: V): f32 {
  const halves = f32x4.add(x, v128.shuffle<f32>(x, x, 2, 3, 0, 1));
  return f32x4.extract_lane(halves, 0) + f32x4.extract_lane(halves, 1);
}

/** 1 + r e / k: from the end on, the series of e^r. It is no loop, so that 1 / k is a constant. */
@inline function series(r: V, e: V, k: f32): V {
  return f32x4.add(f32x4.splat(1), f32x4.mul(e, f32x4.mul(r, f32x4.splat(1 / k))));
}

/**
 * e^x: x = n ln 2 + r with |r| ≤ ln 2 / 2, e^r = 1 + r (1 + r/2 (1 + r/3 …)), 2^n by a float’s
 * bits.
 */
@inline export function exp(x: V): V {
  x = f32x4.max(f32x4.splat(-87), f32x4.min(f32x4.splat(87), x));
  const n = f32x4.nearest(f32x4.mul(x, f32x4.splat(1.44269504)));
  let r = f32x4.sub(x, f32x4.mul(n, f32x4.splat(0.693359375)));
  r = f32x4.sub(r, f32x4.mul(n, f32x4.splat(-2.12194440e-4)));
  let e = series(r, f32x4.splat(1), 7);
  e = series(r, e, 6);
  e = series(r, e, 5);
  e = series(r, e, 4);
  e = series(r, e, 3);
  e = series(r, e, 2);
  e = series(r, e, 1);
  const power = i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(n), i32x4.splat(127)), 23);
  return f32x4.mul(e, power);
}
