// @ts-nocheck
// `npm run kernels` writes this file from arithmetic.ts: as WebAssembly in base64, and without its types.
export const KERNELS_WASM =
  "AGFzbQEAAAABRQhgBH9/f38AYAV/f39/fwBgA39/fwBgAn9/AGAGf39/f39/AGAKf39/f39/f39/fwBgB39/f39/f38AYAd/f39/f319AAIPAQNlbnYGbWVtb3J5AgAAAw8OAAABAAACAwQFAgABBgcHnwEPBm1hdG11bAAICXRyYW5zcG9zZQAACGZpbGxSb3dzAAoHc3VtUm93cwABBGdhdGUACQdzaWdtb2lkAAYHb3ZlckluawAHBnNxdWFzaAADCnNxdWFzaEJhY2sAAgdzb2Z0bWF4AAULc29mdG1heEJhY2sABAthZGRXZWlnaHRlZAAMCmFncmVlbWVudHMACwRhZGFtAA0GbWVtb3J5AgAKrCUO0gICBH8GewNAIAMgBUoEQEEAIQQDQCACIARKBEAgACACIAVsIARqQQJ0aiIGIAEgAyAEbCAFakECdGoiB/0ABAAiCiAHIANBAnRq/QAEACIL/Q0AAQIDEBESEwQFBgcUFRYXIgwgByADQQN0av0ABAAiDSAHIANBDGxq/QAEACII/Q0AAQIDEBESEwQFBgcUFRYXIgn9DQABAgMEBQYHEBESExQVFhf9CwQAIAYgAkECdGogDCAJ/Q0ICQoLDA0ODxgZGhscHR4f/QsEACAGIAJBA3RqIAogC/0NCAkKCxgZGhsMDQ4PHB0eHyIJIA0gCP0NCAkKCxgZGhsMDQ4PHB0eHyII/Q0AAQIDBAUGBxAREhMUFRYX/QsEACAGIAJBDGxqIAkgCP0NCAkKCwwNDg8YGRobHB0eH/0LBAAgBEEEaiEEDAELCyAFQQRqIQUMAQsLC2cCAn8BewNAIAMgBEoEQCAAIARBAnRq/QAEACEGQQAhBQNAIAIgBUoEQCAGIAEgAyAFbCAEakECdGr9AAQA/eQBIQYgBUEBaiEFDAELCyAAIARBAnRqIAb9CwQAIARBBGohBAwBCwsLvwMCA3sDfwNAIAMgCUoEQP0MAAAAAAAAAAAAAAAAAAAAACEFQQAhCANAIAQgCEoEQCAFIAEgCEECdGr9AAQAIgUgBf3mAf3kASEFIAhBBGohCAwBCwsgBSAFIAX9DQgJCgsMDQ4PAAECAwQFBgf95AEiBf0fACAF/R8Bkv0T/QyVleYklZXmJJWV5iSVleYk/ekBIgf94wEhBv0MAAAAAAAAAAAAAAAAAAAAACEFQQAhCANAIAQgCEoEQCAFIAhBAnQiCiABav0ABAAgAiAKav0ABAD95gH95AEhBSAIQQRqIQgMAQsL/QwAAIA/AACAPwAAgD8AAIA/IAf95QH9DAAAgD8AAIA/AACAPwAAgD8gB/3kASIHIAf95gEgBv3mAf3nASAFIAUgBf0NCAkKCwwNDg8AAQIDBAUGB/3kASIF/R8AIAX9HwGS/RP95gEhBUEAIQgDQCAEIAhKBEAgCEECdCIKIABqIAYgB/3nASACIApq/QAEAP3mASAFIAEgCmr9AAQA/eYB/eQB/QsEACAIQQRqIQgMAQsLIARBAnQiCCAAaiEAIAEgCGohASACIAhqIQIgCUEBaiEJDAELCwuaAgIBewN/A0AgAiAGSgRA/QwAAAAAAAAAAAAAAAAAAAAAIQRBACEFA0AgAyAFSgRAIAQgASAFQQJ0av0ABAAiBCAE/eYB/eQBIQQgBUEEaiEFDAELC/0MAACAPwAAgD8AAIA/AACAPyAEIAQgBP0NCAkKCwwNDg8AAQIDBAUGB/3kASIE/R8AIAT9HwGS/RP9DJWV5iSVleYklZXmJJWV5iT96QH94wEiBP0MAACAPwAAgD8AAIA/AACAPyAE/ecB/eQB/ecBIQRBACEFA0AgAyAFSgRAIAVBAnQiByAAaiAEIAEgB2r9AAQA/eYB/QsEACAFQQRqIQUMAQsLIANBAnQiBSAAaiEAIAEgBWohASAGQQFqIQYMAQsLC/EBAgF7BH8DQCADIAZKBED9DAAAAAAAAAAAAAAAAAAAAAAhBEEAIQUDQCAFQQxIBEAgBCAFQQJ0IgcgAmr9AAQAIAEgB2r9AAQA/eYB/eQBIQQgBUEEaiEFDAELCyAEIAQgBP0NCAkKCwwNDg8AAQIDBAUGB/3kASIE/R8AIAT9HwGS/RMhBEEAIQUDQCAFQQxIBEAgBUECdCIHIABqIgggCP0ABAAgAiAHav0ABAAgASAHav0ABAAgBP3lAf3mAf3kAf0LBAAgBUEEaiEFDAELCyAAQTBqIQAgAUEwaiEBIAJBMGohAiAGQQFqIQYMAQsLC9IFAwJ9A38CewNAIAIgBkoEQCABKgIAIQRBASEHA0AgB0EKSARAIAEgB0ECdGoqAgAiAyAEXgRAIAMhBAsgB0EBaiEHDAELC0EAIQcDQCAHQQxIBED9DAAArsIAAK7CAACuwgAArsL9DAAArkIAAK5CAACuQgAArkIgB0ECdCIFIAFq/QAEACAE/RP95QH96AH96QEiCP0MO6q4PzuquD87qrg/O6q4P/3mAf1qIQkgACAFav0MAQ1QOQENUDkBDVA5AQ1QOSAIIAn9DACAMT8AgDE/AIAxPwCAMT/95gH95QEgCf0Mg4BeuYOAXrmDgF65g4Beuf3mAf3lASII/eYB/QxhC7Y6YQu2OmELtjphC7Y6/eQBIAj95gH9DImICDyJiAg8iYgIPImICDz95AEgCP3mAf0Mq6oqPauqKj2rqio9q6oqPf3kASAI/eYB/Qyrqio+q6oqPquqKj6rqio+/eQBIAj95gH9DAAAAD8AAAA/AAAAPwAAAD/95AEgCP3mAf0MAACAPwAAgD8AAIA/AACAP/3kASAI/eYB/QwAAIA/AACAPwAAgD8AAIA//eQBIAn9+AH9DH8AAAB/AAAAfwAAAH8AAAD9rgFBF/2rAf3mAf0LBAAgB0EEaiEHDAELC0EKIQcDQCAHQQxIBEAgACAHQQJ0akMAAAAAOAIAIAdBAWohBwwBCwv9DAAAAAAAAAAAAAAAAAAAAAAhCEEAIQcDQCAHQQxIBEAgCCAAIAdBAnRq/QAEAP3kASEIIAdBBGohBwwBCwv9DAAAgD8AAIA/AACAPwAAgD8gCCAIIAj9DQgJCgsMDQ4PAAECAwQFBgf95AEiCP0fACAI/R8Bkv0T/ecBIQhBACEHA0AgB0EMSARAIAAgB0ECdGoiBSAIIAX9AAQA/eYB/QsEACAHQQRqIQcMAQsLIABBMGohACABQTBqIQEgBkEBaiEGDAELCwvSAwICewJ/A0AgASAESgRA/QwAAK7CAACuwgAArsIAAK7C/QwAAK5CAACuQgAArkIAAK5C/QwAAAAAAAAAAAAAAAAAAAAAIAAgBEECdGoiBf0ABAD95QH96AH96QEiA/0MO6q4PzuquD87qrg/O6q4P/3mAf1qIQIgBf0MAACAPwAAgD8AAIA/AACAP/0MAACAPwAAgD8AAIA/AACAP/0MAQ1QOQENUDkBDVA5AQ1QOSADIAL9DACAMT8AgDE/AIAxPwCAMT/95gH95QEgAv0Mg4BeuYOAXrmDgF65g4Beuf3mAf3lASID/eYB/QxhC7Y6YQu2OmELtjphC7Y6/eQBIAP95gH9DImICDyJiAg8iYgIPImICDz95AEgA/3mAf0Mq6oqPauqKj2rqio9q6oqPf3kASAD/eYB/Qyrqio+q6oqPquqKj6rqio+/eQBIAP95gH9DAAAAD8AAAA/AAAAPwAAAD/95AEgA/3mAf0MAACAPwAAgD8AAIA/AACAP/3kASAD/eYB/QwAAIA/AACAPwAAgD8AAIA//eQBIAL9+AH9DH8AAAB/AAAAfwAAAH8AAAD9rgFBF/2rAf3mAf3kAf3nAf0LBAAgBEEEaiEEDAELCwvdBAMKfwF7AX0DQCADIAxKBEBBACEKA0AgCkEKSARAQQAhCwNAIAtBCkgEQCABIAxBHGwgCkEBdGpBHGwgC0EBdGpBAnRqIQ1BACEIA0AgCEEJSARAQQAhCQNAIAlBCUgEQCANIAhBHGwgCWpBAnRqKgIAIhFDAAAAAFwEQCACIAhBCWwgCWogBGxBAnRqIQcgBQRAIBH9EyEQQQAhBgNAIAQgBkoEQCAGQQJ0Ig4gB2oiDyAP/QAEACAQIAAgDmr9AAQA/eYB/eQB/QsEACAGQQRqQQJ0Ig4gB2oiDyAP/QAEACAQIAAgDmr9AAQA/eYB/eQB/QsEACAGQQhqQQJ0Ig4gB2oiDyAP/QAEACAQIAAgDmr9AAQA/eYB/eQB/QsEACAGQQxqQQJ0Ig4gB2oiDyAP/QAEACAQIAAgDmr9AAQA/eYB/eQB/QsEACAGQRBqIQYMAQsLBSAR/RMhEEEAIQYDQCAEIAZKBEAgBkECdCIOIABqIg8gD/0ABAAgECAHIA5q/QAEAP3mAf3kAf0LBAAgBkEEakECdCIOIABqIg8gD/0ABAAgECAHIA5q/QAEAP3mAf3kAf0LBAAgBkEIakECdCIOIABqIg8gD/0ABAAgECAHIA5q/QAEAP3mAf3kAf0LBAAgBkEMakECdCIOIABqIg8gD/0ABAAgECAHIA5q/QAEAP3mAf3kAf0LBAAgBkEQaiEGDAELCwsLIAlBAWohCQwBCwsgCEEBaiEIDAELCyAAIARBAnRqIQAgC0EBaiELDAELCyAKQQFqIQoMAQsLIAxBAWohDAwBCwsLjQQCD38LewNAIAggC0oEQCAIIAtBQGsiCiAIIApIGyEYQQAhDANAIAkgDEoEQEEAIQ0DQCAHIA1KBEAgACABIA1sIAxqQQJ0aiIOIAFBAnQiCmoiDyAKaiIQIApqIREgDv0ABAAhGiAO/QAEECEbIA/9AAQAIRwgD/0ABBAhHSAQ/QAEACEeIBD9AAQQIR8gEf0ABAAhICAR/QAEECEhIAIgAyANbCAEIAtsakECdGoiEyADQQJ0IgpqIhQgCmoiFSAKaiEWIAUgBiALbCAMakECdGohEiALIQoDQCAKIBhIBEAgGiAT/QkCACIZIBL9AAQAIiL95gH95AEhGiAbIBkgEv0ABBAiI/3mAf3kASEbIBwgFP0JAgAiGSAi/eYB/eQBIRwgHSAZICP95gH95AEhHSAeIBX9CQIAIhkgIv3mAf3kASEeIB8gGSAj/eYB/eQBIR8gICAW/QkCACIZICL95gH95AEhICAhIBkgI/3mAf3kASEhIARBAnQiFyATaiETIBQgF2ohFCAVIBdqIRUgFiAXaiEWIBIgBkECdGohEiAKQQFqIQoMAQsLIA4gGv0LBAAgDiAb/QsEECAPIBz9CwQAIA8gHf0LBBAgECAe/QsEACAQIB/9CwQQIBEgIP0LBAAgESAh/QsEECANQQRqIQ0MAQsLIAxBCGohDAwBCwsgC0FAayELDAELCwtNAQN/A0AgAiADSgRAIANBAnQiBCAAaiIFIAEgBGr9AAQA/QwAAAAAAAAAAAAAAAAAAAAA/UQgBf0ABAD9Tv0LBAAgA0EEaiEDDAELCwtOAQJ/A0AgAiAFSgRAQQAhBANAIAMgBEoEQCAAIAMgBWwgBGpBAnRqIAEgBEECdGr9AAQA/QsEACAEQQRqIQQMAQsLIAVBAWohBQwBCwsL+gECB38BewNAIAMgCEoEQEEAIQcDQCAEIAdKBEBBACEGA0AgBkEKSARAIAZBBnQiBSABaiEJIAIgBWohCv0MAAAAAAAAAAAAAAAAAAAAACEMQQAhBQNAIAVBEEgEQCAMIAkgBUECdCILav0ABAAgCiALav0ABAD95gH95AEhDCAFQQRqIQUMAQsLIAAgBkECdGoiBSAFKgIAIAwgDCAM/Q0ICQoLDA0ODwABAgMEBQYH/eQBIgz9HwAgDP0fAZKSOAIAIAZBAWohBgwBCwsgAEEwaiEAIAFBgAVqIQEgB0EBaiEHDAELCyACQYAFaiECIAhBAWohCAwBCwsL4AICCH8BewNAIAUgDEoEQEEAIQsDQCAGIAtKBEBBACEIA0AgCEEKSARAIAhBBnQiByAAaiEJIAMgB2ohCiACIAhBAnRqKgIA/RMhD0EAIQcDQCAHQRBIBEAgB0ECdCINIAlqIg4gDv0ABAAgDyAKIA1q/QAEAP3mAf3kAf0LBAAgB0EEakECdCINIAlqIg4gDv0ABAAgDyAKIA1q/QAEAP3mAf3kAf0LBAAgB0EIakECdCINIAlqIg4gDv0ABAAgDyAKIA1q/QAEAP3mAf3kAf0LBAAgB0EMakECdCINIAlqIg4gDv0ABAAgDyAKIA1q/QAEAP3mAf3kAf0LBAAgB0EQaiEHDAELCyAIQQFqIQgMAQsLIAAgAUECdGohACACQTBqIQIgAyAEQQJ0aiEDIAtBAWohCwwBCwsgAEGgASABa0ECdGohACADQaABIARrQQJ0aiEDIAxBAWohDAwBCwsLjAICAnsEfwNAIAQgCUoEQCAJQQJ0IgsgAGoiCiAK/QAEACAF/RP9DGZmZj9mZmY/ZmZmP2ZmZj8gAiALaiIK/QAEAP3mAf0MzczMPc3MzD3NzMw9zczMPSABIAtqIgz9AAQAIgj95gH95AEiB/3mAf0Md75/P3e+fz93vn8/d75/PyADIAtqIgv9AAQA/eYB/QxvEoM6bxKDOm8SgzpvEoM6IAggCP3mAf3mAf3kASII/eMBIAb9E/3mAf0Md8wrMnfMKzJ3zCsyd8wrMv3kAf3nAf3lAf0LBAAgCiAH/QsEACALIAj9CwQAIAz9DAAAAAAAAAAAAAAAAAAAAAD9CwQAIAlBBGohCQwBCwsL";
export const plain = ({ add, all, at, div, exp, get, get1, LANES, max, mul, put, put1, root, spread, sub, sum, turn, where }) => {

const J = 10; // classes
const D = 16; // numbers in a digit capsule
const ROW = 12; // room for the ten logits or couplings of a capsule: three times four
const DEEP = 64; // rows of b that stay in the nearest cache
const TAPS = 9; // along a side of the first kernel
const SIDE = 28;
const ACROSS = 10; // along a side of the first layer's maps

// @ts-ignore: a decorator of AssemblyScript
function dot(x, y, n) {
  let total = all(0);
  for (let k = 0; k < n; k += LANES) total = add(total, mul(get(at(x, k)), get(at(y, k))));
  return sum(total);
}

/** y += w x, n numbers of each, a multiple of 16. */
// @ts-ignore
function addScaled(y, w, x, n) {
  const scale = all(w);
  for (let k = 0; k < n; k += 4 * LANES) {
    put(at(y, k), add(get(at(y, k)), mul(scale, get(at(x, k)))));
    put(at(y, k + LANES), add(get(at(y, k + LANES)), mul(scale, get(at(x, k + LANES)))));
    put(at(y, k + 2 * LANES), add(get(at(y, k + 2 * LANES)), mul(scale, get(at(x, k + 2 * LANES)))));
    put(at(y, k + 3 * LANES), add(get(at(y, k + 3 * LANES)), mul(scale, get(at(x, k + 3 * LANES)))));
  }
}

// ------------------------------------------------------------------------------------------------ layers

/** c[m, n] += Σ_k a[m, k] b[k, n]. Blocks of 4 × 2 LANES stay in registers: M is a multiple of 4, N of 8. */
function matmul(c, cRow, a, aRow, aColumn, b, bRow, M, K, N) {
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
          p0 = add(p0, mul(w, x));
          q0 = add(q0, mul(w, y));
          w = spread(a1);
          p1 = add(p1, mul(w, x));
          q1 = add(q1, mul(w, y));
          w = spread(a2);
          p2 = add(p2, mul(w, x));
          q2 = add(q2, mul(w, y));
          w = spread(a3);
          p3 = add(p3, mul(w, x));
          q3 = add(q3, mul(w, y));
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
function transpose(to, from, M, N) {
  for (let n = 0; n < N; n += LANES) {
    for (let m = 0; m < M; m += LANES) turn(at(to, n * M + m), M, at(from, m * N + n), N);
  }
}

/** y[row] = bias for every row. */
function fillRows(y, bias, rows, N) {
  for (let row = 0; row < rows; row++) {
    for (let n = 0; n < N; n += LANES) put(at(y, row * N + n), get(at(bias, n)));
  }
}

/** total += the sum of the rows. */
function sumRows(total, y, rows, N) {
  for (let n = 0; n < N; n += LANES) {
    let x = get(at(total, n));
    for (let row = 0; row < rows; row++) x = add(x, get(at(y, row * N + n)));
    put(at(total, n), x);
  }
}

/** x = 0 where y is not above 0: ReLU where both are the same, its gradient where x is that above. */
function gate(x, y, n) {
  for (let k = 0; k < n; k += LANES) put(at(x, k), where(get(at(y, k)), get(at(x, k))));
}

function sigmoid(y, n) {
  for (let k = 0; k < n; k += LANES) put(at(y, k), div(all(1), add(all(1), exp(sub(all(0), get(at(y, k)))))));
}

/**
 * The first layer, over the ink of all patches: y[place] += grey · taps[tap], or back: taps[tap] += grey · y[place].
 * x [B, 28, 28], taps [81, C], y [B, 100, C]
 */
function overInk(y, x, taps, B, C, back) {
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

// ---------------------------------------------------------------------------------------------- capsules

/** Equation 1 for each row of `size` numbers: v = s / (n + 1/n), n = ‖s‖. */
function squash(v, s, rows, size) {
  for (let row = 0; row < rows; row++) {
    const n = root(max(all(dot(s, s, size)), all(1e-16)));
    const scale = div(all(1), add(n, div(all(1), n)));
    for (let d = 0; d < size; d += LANES) put(at(v, d), mul(scale, get(at(s, d))));
    v = at(v, size);
    s = at(s, size);
  }
}

/** ds of v = f s, f = n / (1 + n²): ds = f dv + f′/n (s · dv) s. */
function squashBack(ds, s, dv, rows, size) {
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

/** Equation 3: c = softmax(b) over the ten classes of each row; the two numbers of padding are 0. */
function softmax(c, b, rows) {
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
function softmaxBack(db, dc, c, rows) {
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
 * to += c_ij from, for all votes: s_j += c_ij û_j|i, or û_j|i += c_ij s_j. Of the two, û is [B, I, J, D], its row J · D
 * numbers; s is [B, J, D], its row 0: the same ten for every i. c [B, I, ROW]
 */
function addWeighted(to, toRow, c, from, fromRow, B, I) {
  for (let n = 0; n < B; n++) {
    for (let i = 0; i < I; i++) {
      for (let j = 0; j < J; j++) addScaled(at(to, j * D), get1(at(c, j)), at(from, j * D), D);
      to = at(to, toRow);
      c = at(c, ROW);
      from = at(from, fromRow);
    }
    to = at(to, J * D - toRow);
    from = at(from, J * D - fromRow);
  }
}

/** a_ij += û_j|i · v_j. û [B, I, J, D], v [B, J, D] -> a [B, I, ROW] */
function agreements(a, votes, v, B, I) {
  for (let n = 0; n < B; n++) {
    for (let i = 0; i < I; i++) {
      for (let j = 0; j < J; j++) put1(at(a, j), get1(at(a, j)) + dot(at(votes, j * D), at(v, j * D), D));
      a = at(a, ROW);
      votes = at(votes, J * D);
    }
    v = at(v, J * D);
  }
}

// ---------------------------------------------------------------------------------------------- learning

/** One step of Adam for n numbers, which sets their gradients g to 0. rate = lr / (1 - β1^t), scale = 1 / √(1 - β2^t) */
function adam(p, g, m, v, n, rate, scale) {
  for (let k = 0; k < n; k += LANES) {
    const gradient = get(at(g, k));
    const mean = add(mul(all(0.9), get(at(m, k))), mul(all(0.1), gradient));
    const square = add(mul(all(0.999), get(at(v, k))), mul(all(0.001), mul(gradient, gradient)));
    const size = add(mul(root(square), all(scale)), all(1e-8));
    put(at(p, k), sub(get(at(p, k)), div(mul(all(rate), mean), size)));
    put(at(m, k), mean);
    put(at(v, k), square);
    put(at(g, k), all(0));
  }
}

return { matmul, transpose, fillRows, sumRows, gate, sigmoid, overInk, squash, squashBack, softmax, softmaxBack, addWeighted, agreements, adam };
};
