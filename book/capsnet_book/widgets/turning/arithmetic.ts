// The arithmetic of capsules that turn, in AssemblyScript, LANES numbers at a time: the turned
// filters' answers, and the pairs of votes. `npm run kernels` builds this file into
// kernels_built.js, as it does playground/arithmetic.ts.
//
// A pointer is in bytes; sizes and strides are in numbers. All rows begin at multiples of 16 bytes.
import {
  add, all, at, exp, get, get1, getInteger, LANES, madd, max, mul, put, put1, putInteger, spread,
  sub, sum, V,
} from "../shared/lanes";

const KINDS: i32 = 8; // kinds and
const TURNS: i32 = 4; // turned copies of each that are answered for at once
const LEAST: f32 = -1e30; // below every answer

// ----------------------------------------------------------------------------------------- filters

/**
 * List the ink under a filter at every place, since four fifths of a digit are paper: of a pixel
 * two numbers, its grey and the filter's tap that lies on it. The integer ends[place] is the number
 * of pixels until then. image [wide, wide], out = wide - S + 1 places across and down
 */
export function listInk(
  list: usize, ends: usize, image: usize, wide: i32, S: i32,
): void {
  const out = wide - S + 1;
  let count = 0;
  for (let place = 0; place < out * out; place++) {
    const column = place % out;
    const corner = at(image, ((place - column) / out) * wide + column);
    for (let down = 0; down < S; down++) {
      for (let right = 0; right < S; right++) {
        const grey = get1(at(corner, down * wide + right));
        const x = 2 * right - S + 1; // from the middle, in halves of a pixel
        const y = 2 * down - S + 1;
        if (grey == 0 || x * x + y * y > S * S) continue; // beyond the disk
        put1(at(list, 2 * count), grey);
        putInteger(at(list, 2 * count + 1), down * S + right);
        count++;
      }
    }
    putInteger(at(ends, place), count);
  }
}

/**
 * best[place, kind] = the largest answer of the kind's turned copies, from the ink of listInk.
 * bank [T / KINDS, K / TURNS, S · S, TURNS, KINDS], best [places, T]; T is a multiple of KINDS, K
 * of TURNS
 */
export function bestAnswers(
  best: usize, list: usize, ends: usize, bank: usize, places: i32, taps: i32, T: i32, K: i32,
): void {
  for (let k = 0; k < places * T; k += LANES) put(at(best, k), all(LEAST));
  for (let kind = 0; kind < T; kind += KINDS) {
    for (let turn = 0; turn < K; turn += TURNS) {
      for (let k = 0; k < KINDS; k += 2 * LANES)
        answersOf(at(best, kind + k), T, list, ends, at(bank, k), places);
      bank = at(bank, taps * TURNS * KINDS);
    }
  }
}

/** Raise best[place, …] of 2 LANES kinds to the answers of four turned copies of each. */
function answersOf(
  best: usize, T: i32, list: usize, ends: usize, bank: usize, places: i32,
): void {
  let pixel = 0;
  for (let place = 0; place < places; place++) {
    let p0 = all(0), q0 = all(0);
    let p1 = all(0), q1 = all(0);
    let p2 = all(0), q2 = all(0);
    let p3 = all(0), q3 = all(0);
    const end = getInteger(at(ends, place));
    for (; pixel < end; pixel++) {
      const w = spread(list);
      const tap = at(bank, TURNS * KINDS * getInteger(at(list, 1)));
      p0 = madd(w, get(tap), p0);
      q0 = madd(w, get(at(tap, LANES)), q0);
      p1 = madd(w, get(at(tap, KINDS)), p1);
      q1 = madd(w, get(at(tap, KINDS + LANES)), q1);
      p2 = madd(w, get(at(tap, 2 * KINDS)), p2);
      q2 = madd(w, get(at(tap, 2 * KINDS + LANES)), q2);
      p3 = madd(w, get(at(tap, 3 * KINDS)), p3);
      q3 = madd(w, get(at(tap, 3 * KINDS + LANES)), q3);
      list = at(list, 2);
    }
    const next = at(best, LANES);
    put(best, max(get(best), max(max(p0, p1), max(p2, p3))));
    put(next, max(get(next), max(max(q0, q1), max(q2, q3))));
    best = at(best, T);
  }
}

/**
 * answers[turn] = the answers of one kind's K turned copies at one place, from the `count` pixels
 * that listInk listed for it. copies [S · S, K]; K is a multiple of 4
 */
export function answersAt(
  answers: usize, list: usize, count: i32, copies: usize, K: i32,
): void {
  for (let turn = 0; turn < K; turn += LANES) {
    let answer = all(0);
    for (let pixel = 0; pixel < count; pixel++) {
      const grey = spread(at(list, 2 * pixel));
      const tap = getInteger(at(list, 2 * pixel + 1));
      answer = madd(grey, get(at(copies, tap * K + turn)), answer);
    }
    put(at(answers, turn), answer);
  }
}

// ------------------------------------------------------------------------------------------- votes

/**
 * Add up the closeness of all pairs of votes of different kinds for one class,
 * e = exp(weight_a + weight_b - narrow · |v_a - v_b|²). Into totals go Σ e and Σ e |v_a - v_b|²;
 * for each vote a into support Σ_b e, and into pull Σ_b e (v_b - v_a).
 * votes, pull [6, V], weights, support [V]; a kind's votes are `group`, a multiple of 4
 */
export function pairs(
  totals: usize, support: usize, pull: usize, votes: usize, weights: usize, V: i32, group: i32,
  narrow: f32,
): void {
  for (let k = 0; k < V; k += LANES) put(at(support, k), all(0));
  for (let k = 0; k < 6 * V; k += LANES) put(at(pull, k), all(0));
  let count = all(0);
  let spreads = all(0);
  for (let a = group; a < V; a++) {
    const vote = at(votes, a);
    const a0 = spread(vote), a1 = spread(at(vote, V)), a2 = spread(at(vote, 2 * V));
    const a3 = spread(at(vote, 3 * V)), a4 = spread(at(vote, 4 * V)), a5 = spread(at(vote, 5 * V));
    const weight = spread(at(weights, a));
    let e0 = all(0), x0 = all(0), x1 = all(0), x2 = all(0), x3 = all(0), x4 = all(0), x5 = all(0);
    const end = a - (a % group); // the votes of the kinds before
    for (let b = 0; b < end; b += LANES) {
      const other = at(votes, b);
      let d0 = sub(get(other), a0), d1 = sub(get(at(other, V)), a1);
      let d2 = sub(get(at(other, 2 * V)), a2), d3 = sub(get(at(other, 3 * V)), a3);
      let d4 = sub(get(at(other, 4 * V)), a4), d5 = sub(get(at(other, 5 * V)), a5);
      const left = madd(d0, d0, madd(d1, d1, mul(d2, d2)));
      const square = madd(d3, d3, madd(d4, d4, madd(d5, d5, left)));
      const e = exp(sub(add(weight, get(at(weights, b))), mul(all(narrow), square)));
      spreads = madd(e, square, spreads);
      d0 = mul(e, d0);
      d1 = mul(e, d1);
      d2 = mul(e, d2);
      d3 = mul(e, d3);
      d4 = mul(e, d4);
      d5 = mul(e, d5);
      e0 = add(e0, e);
      x0 = add(x0, d0);
      x1 = add(x1, d1);
      x2 = add(x2, d2);
      x3 = add(x3, d3);
      x4 = add(x4, d4);
      x5 = add(x5, d5);
      const there = at(support, b);
      put(there, add(get(there), e));
      const back = at(pull, b);
      put(back, sub(get(back), d0));
      put(at(back, V), sub(get(at(back, V)), d1));
      put(at(back, 2 * V), sub(get(at(back, 2 * V)), d2));
      put(at(back, 3 * V), sub(get(at(back, 3 * V)), d3));
      put(at(back, 4 * V), sub(get(at(back, 4 * V)), d4));
      put(at(back, 5 * V), sub(get(at(back, 5 * V)), d5));
    }
    count = add(count, e0);
    const here = at(support, a);
    put1(here, get1(here) + sum(e0));
    const own = at(pull, a);
    put1(own, get1(own) + sum(x0));
    put1(at(own, V), get1(at(own, V)) + sum(x1));
    put1(at(own, 2 * V), get1(at(own, 2 * V)) + sum(x2));
    put1(at(own, 3 * V), get1(at(own, 3 * V)) + sum(x3));
    put1(at(own, 4 * V), get1(at(own, 4 * V)) + sum(x4));
    put1(at(own, 5 * V), get1(at(own, 5 * V)) + sum(x5));
  }
  put1(totals, sum(count));
  put1(at(totals, 1), sum(spreads));
}
