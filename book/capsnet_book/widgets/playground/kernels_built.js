// @ts-nocheck
// `npm run kernels` writes this file from arithmetic.ts: as WebAssembly in base64, and without its types.
export const KERNELS_WASM =
  "AGFzbQEAAAABRwhgBH9/f38AYAV/f39/fwBgA39/fwBgAn9/AGAGf39/f39/AGAKf39/f39/f39/fwBgB39/f39/f38AYAl/f39/f399fX0AAg8BA2VudgZtZW1vcnkCAAADDw4AAAEAAAIDBAUCAAEGBwefAQ8GbWF0bXVsAAgJdHJhbnNwb3NlAAAIZmlsbFJvd3MACgdzdW1Sb3dzAAEEZ2F0ZQAJB3NpZ21vaWQABgdvdmVySW5rAAcGc3F1YXNoAAMKc3F1YXNoQmFjawACB3NvZnRtYXgABQtzb2Z0bWF4QmFjawAEC2FkZFdlaWdodGVkAAwKYWdyZWVtZW50cwALBGFkYW0ADQZtZW1vcnkCAArUJQ7SAgIEfwZ7A0AgAyAFSgRAQQAhBANAIAIgBEoEQCAAIAIgBWwgBGpBAnRqIgYgASADIARsIAVqQQJ0aiIH/QAEACIKIAcgA0ECdGr9AAQAIgv9DQABAgMQERITBAUGBxQVFhciDCAHIANBA3Rq/QAEACINIAcgA0EMbGr9AAQAIgj9DQABAgMQERITBAUGBxQVFhciCf0NAAECAwQFBgcQERITFBUWF/0LBAAgBiACQQJ0aiAMIAn9DQgJCgsMDQ4PGBkaGxwdHh/9CwQAIAYgAkEDdGogCiAL/Q0ICQoLGBkaGwwNDg8cHR4fIgkgDSAI/Q0ICQoLGBkaGwwNDg8cHR4fIgj9DQABAgMEBQYHEBESExQVFhf9CwQAIAYgAkEMbGogCSAI/Q0ICQoLDA0ODxgZGhscHR4f/QsEACAEQQRqIQQMAQsLIAVBBGohBQwBCwsLZwICfwF7A0AgAyAESgRAIAAgBEECdGr9AAQAIQZBACEFA0AgAiAFSgRAIAYgASADIAVsIARqQQJ0av0ABAD95AEhBiAFQQFqIQUMAQsLIAAgBEECdGogBv0LBAAgBEEEaiEEDAELCwu/AwIDewN/A0AgAyAJSgRA/QwAAAAAAAAAAAAAAAAAAAAAIQVBACEIA0AgBCAISgRAIAUgASAIQQJ0av0ABAAiBSAF/eYB/eQBIQUgCEEEaiEIDAELCyAFIAUgBf0NCAkKCwwNDg8AAQIDBAUGB/3kASIF/R8AIAX9HwGS/RP9DJWV5iSVleYklZXmJJWV5iT96QEiB/3jASEG/QwAAAAAAAAAAAAAAAAAAAAAIQVBACEIA0AgBCAISgRAIAUgCEECdCIKIAFq/QAEACACIApq/QAEAP3mAf3kASEFIAhBBGohCAwBCwv9DAAAgD8AAIA/AACAPwAAgD8gB/3lAf0MAACAPwAAgD8AAIA/AACAPyAH/eQBIgcgB/3mASAG/eYB/ecBIAUgBSAF/Q0ICQoLDA0ODwABAgMEBQYH/eQBIgX9HwAgBf0fAZL9E/3mASEFQQAhCANAIAQgCEoEQCAIQQJ0IgogAGogBiAH/ecBIAIgCmr9AAQA/eYBIAUgASAKav0ABAD95gH95AH9CwQAIAhBBGohCAwBCwsgBEECdCIIIABqIQAgASAIaiEBIAIgCGohAiAJQQFqIQkMAQsLC5oCAgF7A38DQCACIAZKBED9DAAAAAAAAAAAAAAAAAAAAAAhBEEAIQUDQCADIAVKBEAgBCABIAVBAnRq/QAEACIEIAT95gH95AEhBCAFQQRqIQUMAQsL/QwAAIA/AACAPwAAgD8AAIA/IAQgBCAE/Q0ICQoLDA0ODwABAgMEBQYH/eQBIgT9HwAgBP0fAZL9E/0MlZXmJJWV5iSVleYklZXmJP3pAf3jASIE/QwAAIA/AACAPwAAgD8AAIA/IAT95wH95AH95wEhBEEAIQUDQCADIAVKBEAgBUECdCIHIABqIAQgASAHav0ABAD95gH9CwQAIAVBBGohBQwBCwsgA0ECdCIFIABqIQAgASAFaiEBIAZBAWohBgwBCwsL8QECAXsEfwNAIAMgBkoEQP0MAAAAAAAAAAAAAAAAAAAAACEEQQAhBQNAIAVBDEgEQCAEIAVBAnQiByACav0ABAAgASAHav0ABAD95gH95AEhBCAFQQRqIQUMAQsLIAQgBCAE/Q0ICQoLDA0ODwABAgMEBQYH/eQBIgT9HwAgBP0fAZL9EyEEQQAhBQNAIAVBDEgEQCAFQQJ0IgcgAGoiCCAI/QAEACACIAdq/QAEACABIAdq/QAEACAE/eUB/eYB/eQB/QsEACAFQQRqIQUMAQsLIABBMGohACABQTBqIQEgAkEwaiECIAZBAWohBgwBCwsL0gUDAn0DfwJ7A0AgAiAGSgRAIAEqAgAhBEEBIQcDQCAHQQpIBEAgASAHQQJ0aioCACIDIAReBEAgAyEECyAHQQFqIQcMAQsLQQAhBwNAIAdBDEgEQP0MAACuwgAArsIAAK7CAACuwv0MAACuQgAArkIAAK5CAACuQiAHQQJ0IgUgAWr9AAQAIAT9E/3lAf3oAf3pASII/Qw7qrg/O6q4PzuquD87qrg//eYB/WohCSAAIAVq/QwBDVA5AQ1QOQENUDkBDVA5IAggCf0MAIAxPwCAMT8AgDE/AIAxP/3mAf3lASAJ/QyDgF65g4BeuYOAXrmDgF65/eYB/eUBIgj95gH9DGELtjphC7Y6YQu2OmELtjr95AEgCP3mAf0MiYgIPImICDyJiAg8iYgIPP3kASAI/eYB/Qyrqio9q6oqPauqKj2rqio9/eQBIAj95gH9DKuqKj6rqio+q6oqPquqKj795AEgCP3mAf0MAAAAPwAAAD8AAAA/AAAAP/3kASAI/eYB/QwAAIA/AACAPwAAgD8AAIA//eQBIAj95gH9DAAAgD8AAIA/AACAPwAAgD/95AEgCf34Af0MfwAAAH8AAAB/AAAAfwAAAP2uAUEX/asB/eYB/QsEACAHQQRqIQcMAQsLQQohBwNAIAdBDEgEQCAAIAdBAnRqQwAAAAA4AgAgB0EBaiEHDAELC/0MAAAAAAAAAAAAAAAAAAAAACEIQQAhBwNAIAdBDEgEQCAIIAAgB0ECdGr9AAQA/eQBIQggB0EEaiEHDAELC/0MAACAPwAAgD8AAIA/AACAPyAIIAggCP0NCAkKCwwNDg8AAQIDBAUGB/3kASII/R8AIAj9HwGS/RP95wEhCEEAIQcDQCAHQQxIBEAgACAHQQJ0aiIFIAggBf0ABAD95gH9CwQAIAdBBGohBwwBCwsgAEEwaiEAIAFBMGohASAGQQFqIQYMAQsLC9IDAgJ7An8DQCABIARKBED9DAAArsIAAK7CAACuwgAArsL9DAAArkIAAK5CAACuQgAArkL9DAAAAAAAAAAAAAAAAAAAAAAgACAEQQJ0aiIF/QAEAP3lAf3oAf3pASID/Qw7qrg/O6q4PzuquD87qrg//eYB/WohAiAF/QwAAIA/AACAPwAAgD8AAIA//QwAAIA/AACAPwAAgD8AAIA//QwBDVA5AQ1QOQENUDkBDVA5IAMgAv0MAIAxPwCAMT8AgDE/AIAxP/3mAf3lASAC/QyDgF65g4BeuYOAXrmDgF65/eYB/eUBIgP95gH9DGELtjphC7Y6YQu2OmELtjr95AEgA/3mAf0MiYgIPImICDyJiAg8iYgIPP3kASAD/eYB/Qyrqio9q6oqPauqKj2rqio9/eQBIAP95gH9DKuqKj6rqio+q6oqPquqKj795AEgA/3mAf0MAAAAPwAAAD8AAAA/AAAAP/3kASAD/eYB/QwAAIA/AACAPwAAgD8AAIA//eQBIAP95gH9DAAAgD8AAIA/AACAPwAAgD/95AEgAv34Af0MfwAAAH8AAAB/AAAAfwAAAP2uAUEX/asB/eYB/eQB/ecB/QsEACAEQQRqIQQMAQsLC90EAwp/AXsBfQNAIAMgDEoEQEEAIQoDQCAKQQpIBEBBACELA0AgC0EKSARAIAEgDEEcbCAKQQF0akEcbCALQQF0akECdGohDUEAIQgDQCAIQQlIBEBBACEJA0AgCUEJSARAIA0gCEEcbCAJakECdGoqAgAiEUMAAAAAXARAIAIgCEEJbCAJaiAEbEECdGohByAFBEAgEf0TIRBBACEGA0AgBCAGSgRAIAZBAnQiDiAHaiIPIA/9AAQAIBAgACAOav0ABAD95gH95AH9CwQAIAZBBGpBAnQiDiAHaiIPIA/9AAQAIBAgACAOav0ABAD95gH95AH9CwQAIAZBCGpBAnQiDiAHaiIPIA/9AAQAIBAgACAOav0ABAD95gH95AH9CwQAIAZBDGpBAnQiDiAHaiIPIA/9AAQAIBAgACAOav0ABAD95gH95AH9CwQAIAZBEGohBgwBCwsFIBH9EyEQQQAhBgNAIAQgBkoEQCAGQQJ0Ig4gAGoiDyAP/QAEACAQIAcgDmr9AAQA/eYB/eQB/QsEACAGQQRqQQJ0Ig4gAGoiDyAP/QAEACAQIAcgDmr9AAQA/eYB/eQB/QsEACAGQQhqQQJ0Ig4gAGoiDyAP/QAEACAQIAcgDmr9AAQA/eYB/eQB/QsEACAGQQxqQQJ0Ig4gAGoiDyAP/QAEACAQIAcgDmr9AAQA/eYB/eQB/QsEACAGQRBqIQYMAQsLCwsgCUEBaiEJDAELCyAIQQFqIQgMAQsLIAAgBEECdGohACALQQFqIQsMAQsLIApBAWohCgwBCwsgDEEBaiEMDAELCwuNBAIPfwt7A0AgCCALSgRAIAggC0FAayIKIAggCkgbIRhBACEMA0AgCSAMSgRAQQAhDQNAIAcgDUoEQCAAIAEgDWwgDGpBAnRqIg4gAUECdCIKaiIPIApqIhAgCmohESAO/QAEACEaIA79AAQQIRsgD/0ABAAhHCAP/QAEECEdIBD9AAQAIR4gEP0ABBAhHyAR/QAEACEgIBH9AAQQISEgAiADIA1sIAQgC2xqQQJ0aiITIANBAnQiCmoiFCAKaiIVIApqIRYgBSAGIAtsIAxqQQJ0aiESIAshCgNAIAogGEgEQCAaIBP9CQIAIhkgEv0ABAAiIv3mAf3kASEaIBsgGSAS/QAEECIj/eYB/eQBIRsgHCAU/QkCACIZICL95gH95AEhHCAdIBkgI/3mAf3kASEdIB4gFf0JAgAiGSAi/eYB/eQBIR4gHyAZICP95gH95AEhHyAgIBb9CQIAIhkgIv3mAf3kASEgICEgGSAj/eYB/eQBISEgBEECdCIXIBNqIRMgFCAXaiEUIBUgF2ohFSAWIBdqIRYgEiAGQQJ0aiESIApBAWohCgwBCwsgDiAa/QsEACAOIBv9CwQQIA8gHP0LBAAgDyAd/QsEECAQIB79CwQAIBAgH/0LBBAgESAg/QsEACARICH9CwQQIA1BBGohDQwBCwsgDEEIaiEMDAELCyALQUBrIQsMAQsLC00BA38DQCACIANKBEAgA0ECdCIEIABqIgUgASAEav0ABAD9DAAAAAAAAAAAAAAAAAAAAAD9RCAF/QAEAP1O/QsEACADQQRqIQMMAQsLC04BAn8DQCACIAVKBEBBACEEA0AgAyAESgRAIAAgAyAFbCAEakECdGogASAEQQJ0av0ABAD9CwQAIARBBGohBAwBCwsgBUEBaiEFDAELCwv6AQIHfwF7A0AgAyAISgRAQQAhBwNAIAQgB0oEQEEAIQYDQCAGQQpIBEAgBkEGdCIFIAFqIQkgAiAFaiEK/QwAAAAAAAAAAAAAAAAAAAAAIQxBACEFA0AgBUEQSARAIAwgCSAFQQJ0Igtq/QAEACAKIAtq/QAEAP3mAf3kASEMIAVBBGohBQwBCwsgACAGQQJ0aiIFIAUqAgAgDCAMIAz9DQgJCgsMDQ4PAAECAwQFBgf95AEiDP0fACAM/R8BkpI4AgAgBkEBaiEGDAELCyAAQTBqIQAgAUGABWohASAHQQFqIQcMAQsLIAJBgAVqIQIgCEEBaiEIDAELCwvgAgIIfwF7A0AgBSAMSgRAQQAhCwNAIAYgC0oEQEEAIQgDQCAIQQpIBEAgCEEGdCIHIABqIQkgAyAHaiEKIAIgCEECdGoqAgD9EyEPQQAhBwNAIAdBEEgEQCAHQQJ0Ig0gCWoiDiAO/QAEACAPIAogDWr9AAQA/eYB/eQB/QsEACAHQQRqQQJ0Ig0gCWoiDiAO/QAEACAPIAogDWr9AAQA/eYB/eQB/QsEACAHQQhqQQJ0Ig0gCWoiDiAO/QAEACAPIAogDWr9AAQA/eYB/eQB/QsEACAHQQxqQQJ0Ig0gCWoiDiAO/QAEACAPIAogDWr9AAQA/eYB/eQB/QsEACAHQRBqIQcMAQsLIAhBAWohCAwBCwsgACABQQJ0aiEAIAJBMGohAiADIARBAnRqIQMgC0EBaiELDAELCyAAQaABIAFrQQJ0aiEAIANBoAEgBGtBAnRqIQMgDEEBaiEMDAELCwu0AgIEewV/A0AgBSANSgRAIA1BAnQiECAAaiIOIA79AAQAIAb9E/0MZmZmP2ZmZj9mZmY/ZmZmPyACIBBqIg/9AAQA/eYB/QzNzMw9zczMPc3MzD3NzMw9IAEgEGoiEf0ABAAiCv3mAf3kASIJ/eYB/Qx3vn8/d75/P3e+fz93vn8/IAMgEGoiDv0ABAD95gH9DG8SgzpvEoM6bxKDOm8SgzogCiAK/eYB/eYB/eQBIgv94wEgB/0T/eYB/Qx3zCsyd8wrMnfMKzJ3zCsy/eQB/ecB/eUBIgr9CwQAIAQgEGoiEP0ABAAhDCAQIAwgCP0TIAogDP3lAf3mAf3kAf0LBAAgDyAJ/QsEACAOIAv9CwQAIBH9DAAAAAAAAAAAAAAAAAAAAAD9CwQAIA1BBGohDQwBCwsL";
export const plain = ({ add, all, at, div, exp, get, get1, LANES, max, mul, put, put1, root, spread, sub, sum, turn, where }) => {

const J = 10; // classes
const D = 16; // numbers in a digit capsule
const ROW = 12; // room for the ten logits or couplings of a capsule: three times four
const DEEP = 64; // rows of b that stay in the nearest cache
const TAPS = 9; // along a side of the first kernel
const SIDE = 28;
const ACROSS = 10; // along a side of the first layer's maps

function dot(x, y, n) {
  let total = all(0);
  for (let k = 0; k < n; k += LANES) total = add(total, mul(get(at(x, k)), get(at(y, k))));
  return sum(total);
}

/** y += w x, n numbers of each, a multiple of 16. */
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

/**
 * One step of Adam for n numbers p, which sets their gradients g to 0 and moves their average a by a `share` of the way to
 * them. rate = lr / (1 - β1^t), scale = 1 / √(1 - β2^t)
 */
function adam(p, g, m, v, a, n, rate, scale, share) {
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

return { matmul, transpose, fillRows, sumRows, gate, sigmoid, overInk, squash, squashBack, softmax, softmaxBack, addWeighted, agreements, adam };
};
