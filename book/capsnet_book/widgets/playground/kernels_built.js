// @ts-nocheck
// `npm run kernels` writes this file from arithmetic.ts: as WebAssembly in base64, and without its types.
export const KERNELS_WASM =
  "AGFzbQEAAAABRghgBH9/f38AYAV/f39/fwBgBn9/f39/fwBgA39/fwBgAn9/AGAHf39/f39/fwBgC39/f39/f39/f39/AGAHf39/f399fQACDwEDZW52Bm1lbW9yeQIAAAMTEgIBBQAAAQAAAwQDBAYAAQIBBwfNARIGbWF0bXVsAAwJdHJhbnNwb3NlAAMIZmlsbFJvd3MADQdzdW1Sb3dzAAQEcmVsdQALCHJlbHVCYWNrAAoHc2lnbW9pZAAJC2NvbnZvbHZlSW5rAA8PY29udm9sdmVJbmtCYWNrAA4Gc3F1YXNoAAYKc3F1YXNoQmFjawAFB3NvZnRtYXgACAtzb2Z0bWF4QmFjawAHDHdlaWdodGVkU3VtcwABCmFncmVlbWVudHMAEAl2b3Rlc0JhY2sAAgRhZGFtABEGbWVtb3J5AgAKzSsS3QQDCn8BewF9A0AgAyAMSgRAQQAhCgNAIApBCkgEQEEAIQsDQCALQQpIBEAgASAMQRxsIApBAXRqQRxsIAtBAXRqQQJ0aiENQQAhCANAIAhBCUgEQEEAIQkDQCAJQQlIBEAgDSAIQRxsIAlqQQJ0aioCACIRQwAAAABcBEAgAiAIQQlsIAlqIARsQQJ0aiEHIAUEQCAR/RMhEEEAIQYDQCAEIAZKBEAgBkECdCIOIAdqIg8gD/0ABAAgECAAIA5q/QAEAP3mAf3kAf0LBAAgBkEEakECdCIOIAdqIg8gD/0ABAAgECAAIA5q/QAEAP3mAf3kAf0LBAAgBkEIakECdCIOIAdqIg8gD/0ABAAgECAAIA5q/QAEAP3mAf3kAf0LBAAgBkEMakECdCIOIAdqIg8gD/0ABAAgECAAIA5q/QAEAP3mAf3kAf0LBAAgBkEQaiEGDAELCwUgEf0TIRBBACEGA0AgBCAGSgRAIAZBAnQiDiAAaiIPIA/9AAQAIBAgByAOav0ABAD95gH95AH9CwQAIAZBBGpBAnQiDiAAaiIPIA/9AAQAIBAgByAOav0ABAD95gH95AH9CwQAIAZBCGpBAnQiDiAAaiIPIA/9AAQAIBAgByAOav0ABAD95gH95AH9CwQAIAZBDGpBAnQiDiAAaiIPIA/9AAQAIBAgByAOav0ABAD95gH95AH9CwQAIAZBEGohBgwBCwsLCyAJQQFqIQkMAQsLIAhBAWohCAwBCwsgACAEQQJ0aiEAIAtBAWohCwwBCwsgCkEBaiEKDAELCyAMQQFqIQwMAQsLC/YCAgh/AXsDQCAFIANBoAFsSARAIAAgBUECdGr9DAAAAAAAAAAAAAAAAAAAAAD9CwQAIAVBBGohBQwBCwsDQCADIApKBEBBACEJA0AgBCAJSgRAQQAhBgNAIAZBCkgEQCAGQQZ0IgUgAGohByACIAVqIQggASAGQQJ0aioCAP0TIQ1BACEFA0AgBUEQSARAIAVBAnQiCyAHaiIMIAz9AAQAIA0gCCALav0ABAD95gH95AH9CwQAIAVBBGpBAnQiCyAHaiIMIAz9AAQAIA0gCCALav0ABAD95gH95AH9CwQAIAVBCGpBAnQiCyAHaiIMIAz9AAQAIA0gCCALav0ABAD95gH95AH9CwQAIAVBDGpBAnQiCyAHaiIMIAz9AAQAIA0gCCALav0ABAD95gH95AH9CwQAIAVBEGohBQwBCwsgBkEBaiEGDAELCyABQTBqIQEgAkGABWohAiAJQQFqIQkMAQsLIABBgAVqIQAgCkEBaiEKDAELCwuuBAIIfwF7A0AgBSAKSgRAQQAhCQNAIAYgCUoEQEEAIQgDQCAIQQpIBEAgCEEGdCIHIABqIQsgAiAHaiEMIAEgCEECdGoqAgD9EyEPQQAhBwNAIAdBEEgEQCAHQQJ0Ig0gC2oiDiAO/QAEACAPIAwgDWr9AAQA/eYB/eQB/QsEACAHQQRqQQJ0Ig0gC2oiDiAO/QAEACAPIAwgDWr9AAQA/eYB/eQB/QsEACAHQQhqQQJ0Ig0gC2oiDiAO/QAEACAPIAwgDWr9AAQA/eYB/eQB/QsEACAHQQxqQQJ0Ig0gC2oiDiAO/QAEACAPIAwgDWr9AAQA/eYB/eQB/QsEACAHQRBqIQcMAQsLIAhBBnQiByAAaiELIAQgB2ohDCADIAhBAnRqKgIA/RMhD0EAIQcDQCAHQRBIBEAgB0ECdCINIAtqIg4gDv0ABAAgDyAMIA1q/QAEAP3mAf3kAf0LBAAgB0EEakECdCINIAtqIg4gDv0ABAAgDyAMIA1q/QAEAP3mAf3kAf0LBAAgB0EIakECdCINIAtqIg4gDv0ABAAgDyAMIA1q/QAEAP3mAf3kAf0LBAAgB0EMakECdCINIAtqIg4gDv0ABAAgDyAMIA1q/QAEAP3mAf3kAf0LBAAgB0EQaiEHDAELCyAIQQFqIQgMAQsLIABBgAVqIQAgAUEwaiEBIANBMGohAyAJQQFqIQkMAQsLIAJBgAVqIQIgBEGABWohBCAKQQFqIQoMAQsLC4EBAQV/A0AgAiAGSgRAQQAhBANAIAMgBEoEQCABIAMgBmwgBGpBAnRqIQcgACACIARsIAZqQQJ0aiEIQQAhBQNAIAVBBEgEQCAIIAVBAnRqIAcgAyAFbEECdGoqAgA4AgAgBUEBaiEFDAELCyAEQQFqIQQMAQsLIAZBBGohBgwBCwsLZwICfwF7A0AgAyAESgRAIAAgBEECdGr9AAQAIQZBACEFA0AgAiAFSgRAIAYgASADIAVsIARqQQJ0av0ABAD95AEhBiAFQQFqIQUMAQsLIAAgBEECdGogBv0LBAAgBEEEaiEEDAELCwu/AwIDewN/A0AgAyAJSgRA/QwAAAAAAAAAAAAAAAAAAAAAIQVBACEIA0AgBCAISgRAIAUgASAIQQJ0av0ABAAiBSAF/eYB/eQBIQUgCEEEaiEIDAELCyAFIAUgBf0NCAkKCwwNDg8AAQIDBAUGB/3kASIF/R8AIAX9HwGS/RP9DJWV5iSVleYklZXmJJWV5iT96QEiB/3jASEG/QwAAAAAAAAAAAAAAAAAAAAAIQVBACEIA0AgBCAISgRAIAUgCEECdCIKIAFq/QAEACACIApq/QAEAP3mAf3kASEFIAhBBGohCAwBCwv9DAAAgD8AAIA/AACAPwAAgD8gB/3lAf0MAACAPwAAgD8AAIA/AACAPyAH/eQBIgcgB/3mASAG/eYB/ecBIAUgBSAF/Q0ICQoLDA0ODwABAgMEBQYH/eQBIgX9HwAgBf0fAZL9E/3mASEFQQAhCANAIAQgCEoEQCAIQQJ0IgogAGogBiAH/ecBIAIgCmr9AAQA/eYBIAUgASAKav0ABAD95gH95AH9CwQAIAhBBGohCAwBCwsgBEECdCIIIABqIQAgASAIaiEBIAIgCGohAiAJQQFqIQkMAQsLC5oCAgF7A38DQCACIAZKBED9DAAAAAAAAAAAAAAAAAAAAAAhBEEAIQUDQCADIAVKBEAgBCABIAVBAnRq/QAEACIEIAT95gH95AEhBCAFQQRqIQUMAQsL/QwAAIA/AACAPwAAgD8AAIA/IAQgBCAE/Q0ICQoLDA0ODwABAgMEBQYH/eQBIgT9HwAgBP0fAZL9E/0MlZXmJJWV5iSVleYklZXmJP3pAf3jASIE/QwAAIA/AACAPwAAgD8AAIA/IAT95wH95AH95wEhBEEAIQUDQCADIAVKBEAgBUECdCIHIABqIAQgASAHav0ABAD95gH9CwQAIAVBBGohBQwBCwsgA0ECdCIFIABqIQAgASAFaiEBIAZBAWohBgwBCwsL8QECAXsEfwNAIAMgBkoEQP0MAAAAAAAAAAAAAAAAAAAAACEEQQAhBQNAIAVBDEgEQCAEIAVBAnQiByACav0ABAAgASAHav0ABAD95gH95AEhBCAFQQRqIQUMAQsLIAQgBCAE/Q0ICQoLDA0ODwABAgMEBQYH/eQBIgT9HwAgBP0fAZL9EyEEQQAhBQNAIAVBDEgEQCAFQQJ0IgcgAGoiCCAI/QAEACACIAdq/QAEACABIAdq/QAEACAE/eUB/eYB/eQB/QsEACAFQQRqIQUMAQsLIABBMGohACABQTBqIQEgAkEwaiECIAZBAWohBgwBCwsL0gUDAn0DfwJ7A0AgAiAGSgRAIAEqAgAhBEEBIQcDQCAHQQpIBEAgASAHQQJ0aioCACIDIAReBEAgAyEECyAHQQFqIQcMAQsLQQAhBwNAIAdBDEgEQP0MAACuwgAArsIAAK7CAACuwv0MAACuQgAArkIAAK5CAACuQiAHQQJ0IgUgAWr9AAQAIAT9E/3lAf3oAf3pASII/Qw7qrg/O6q4PzuquD87qrg//eYB/WohCSAAIAVq/QwBDVA5AQ1QOQENUDkBDVA5IAggCf0MAIAxPwCAMT8AgDE/AIAxP/3mAf3lASAJ/QyDgF65g4BeuYOAXrmDgF65/eYB/eUBIgj95gH9DGELtjphC7Y6YQu2OmELtjr95AEgCP3mAf0MiYgIPImICDyJiAg8iYgIPP3kASAI/eYB/Qyrqio9q6oqPauqKj2rqio9/eQBIAj95gH9DKuqKj6rqio+q6oqPquqKj795AEgCP3mAf0MAAAAPwAAAD8AAAA/AAAAP/3kASAI/eYB/QwAAIA/AACAPwAAgD8AAIA//eQBIAj95gH9DAAAgD8AAIA/AACAPwAAgD/95AEgCf34Af0MfwAAAH8AAAB/AAAAfwAAAP2uAUEX/asB/eYB/QsEACAHQQRqIQcMAQsLQQohBwNAIAdBDEgEQCAAIAdBAnRqQwAAAAA4AgAgB0EBaiEHDAELC/0MAAAAAAAAAAAAAAAAAAAAACEIQQAhBwNAIAdBDEgEQCAIIAAgB0ECdGr9AAQA/eQBIQggB0EEaiEHDAELC/0MAACAPwAAgD8AAIA/AACAPyAIIAggCP0NCAkKCwwNDg8AAQIDBAUGB/3kASII/R8AIAj9HwGS/RP95wEhCEEAIQcDQCAHQQxIBEAgACAHQQJ0aiIFIAggBf0ABAD95gH9CwQAIAdBBGohBwwBCwsgAEEwaiEAIAFBMGohASAGQQFqIQYMAQsLC9IDAgJ7An8DQCABIARKBED9DAAArsIAAK7CAACuwgAArsL9DAAArkIAAK5CAACuQgAArkL9DAAAAAAAAAAAAAAAAAAAAAAgACAEQQJ0aiIF/QAEAP3lAf3oAf3pASID/Qw7qrg/O6q4PzuquD87qrg//eYB/WohAiAF/QwAAIA/AACAPwAAgD8AAIA//QwAAIA/AACAPwAAgD8AAIA//QwBDVA5AQ1QOQENUDkBDVA5IAMgAv0MAIAxPwCAMT8AgDE/AIAxP/3mAf3lASAC/QyDgF65g4BeuYOAXrmDgF65/eYB/eUBIgP95gH9DGELtjphC7Y6YQu2OmELtjr95AEgA/3mAf0MiYgIPImICDyJiAg8iYgIPP3kASAD/eYB/Qyrqio9q6oqPauqKj2rqio9/eQBIAP95gH9DKuqKj6rqio+q6oqPquqKj795AEgA/3mAf0MAAAAPwAAAD8AAAA/AAAAP/3kASAD/eYB/QwAAIA/AACAPwAAgD8AAIA//eQBIAP95gH9DAAAgD8AAIA/AACAPwAAgD/95AEgAv34Af0MfwAAAH8AAAB/AAAAfwAAAP2uAUEX/asB/eYB/eQB/ecB/QsEACAEQQRqIQQMAQsLC00BA38DQCACIANKBEAgA0ECdCIEIABqIgUgASAEav0ABAD9DAAAAAAAAAAAAAAAAAAAAAD9RCAF/QAEAP1O/QsEACADQQRqIQMMAQsLC0EBAn8DQCABIAJKBEAgACACQQJ0aiID/QwAAAAAAAAAAAAAAAAAAAAAIAP9AAQA/ekB/QsEACACQQRqIQIMAQsLC7gFAg9/C3sDQCAIIAxKBEAgCCAMQUBrIgsgCCALSBshGUEAIQ0DQCAJIA1KBEBBACEOA0AgByAOSgRAIAAgASAObCANakECdGoiDyABQQJ0IgtqIhAgC2oiESALaiES/QwAAAAAAAAAAAAAAAAAAAAAIRz9DAAAAAAAAAAAAAAAAAAAAAAhHf0MAAAAAAAAAAAAAAAAAAAAACEe/QwAAAAAAAAAAAAAAAAAAAAAIR/9DAAAAAAAAAAAAAAAAAAAAAAhIP0MAAAAAAAAAAAAAAAAAAAAACEh/QwAAAAAAAAAAAAAAAAAAAAAIRsgCiAMcgR7IA/9AAQAIR0gEP0ABAAhHiAQ/QAEECEfIBH9AAQAISAgEf0ABBAhISAP/QAEECEcIBL9AAQQIRsgEv0ABAAF/QwAAAAAAAAAAAAAAAAAAAAACyEiIAIgAyAObCAEIAxsakECdGoiFCADQQJ0IgtqIhUgC2oiFiALaiEXIAUgBiAMbCANakECdGohEyAMIQsDQCALIBlIBEAgHSAUKgIA/RMiGiAT/QAEACIj/eYB/eQBIR0gHCAaIBP9AAQQIiT95gH95AEhHCAeIBUqAgD9EyIaICP95gH95AEhHiAfIBogJP3mAf3kASEfICAgFioCAP0TIhogI/3mAf3kASEgICEgGiAk/eYB/eQBISEgIiAXKgIA/RMiGiAj/eYB/eQBISIgGyAaICT95gH95AEhGyAEQQJ0IhggFGohFCAVIBhqIRUgFiAYaiEWIBcgGGohFyATIAZBAnRqIRMgC0EBaiELDAELCyAPIB39CwQAIA8gHP0LBBAgECAe/QsEACAQIB/9CwQQIBEgIP0LBAAgESAh/QsEECASICL9CwQAIBIgG/0LBBAgDkEEaiEODAELCyANQQhqIQ0MAQsLIAxBQGshDAwBCwsLTgECfwNAIAIgBUoEQEEAIQQDQCADIARKBEAgACADIAVsIARqQQJ0aiABIARBAnRq/QAEAP0LBAAgBEEEaiEEDAELCyAFQQFqIQUMAQsLCxAAIAIgASAAIAMgBEEBEAALrAEBA38gBEHkAGwhCANAIAcgCEgEQEEAIQYDQCAFIAZKBEAgACAFIAdsIAZqQQJ0aiADIAZBAnRq/QAEAP0LBAAgBkEEaiEGDAELCyAHQQFqIQcMAQsLIAAgASACIAQgBUEAEAAgBSAIbCECQQAhAQNAIAEgAkgEQCAAIAFBAnRqIgP9DAAAAAAAAAAAAAAAAAAAAAAgA/0ABAD96QH9CwQAIAFBBGohAQwBCwsL+gECB38BewNAIAMgCEoEQEEAIQcDQCAEIAdKBEBBACEGA0AgBkEKSARAIAZBBnQiBSABaiEJIAIgBWohCv0MAAAAAAAAAAAAAAAAAAAAACEMQQAhBQNAIAVBEEgEQCAMIAkgBUECdCILav0ABAAgCiALav0ABAD95gH95AEhDCAFQQRqIQUMAQsLIAAgBkECdGoiBSAFKgIAIAwgDCAM/Q0ICQoLDA0ODwABAgMEBQYH/eQBIgz9HwAgDP0fAZKSOAIAIAZBAWohBgwBCwsgAEEwaiEAIAFBgAVqIQEgB0EBaiEHDAELCyACQYAFaiECIAhBAWohCAwBCwsLjAICAnsEfwNAIAQgCUoEQCAJQQJ0IgsgAGoiCiAK/QAEACAF/RP9DGZmZj9mZmY/ZmZmP2ZmZj8gAiALaiIK/QAEAP3mAf0MzczMPc3MzD3NzMw9zczMPSABIAtqIgz9AAQAIgj95gH95AEiB/3mAf0Md75/P3e+fz93vn8/d75/PyADIAtqIgv9AAQA/eYB/QxvEoM6bxKDOm8SgzpvEoM6IAggCP3mAf3mAf3kASII/eMBIAb9E/3mAf0Md8wrMnfMKzJ3zCsyd8wrMv3kAf3nAf3lAf0LBAAgCiAH/QsEACALIAj9CwQAIAz9DAAAAAAAAAAAAAAAAAAAAAD9CwQAIAlBBGohCQwBCwsL";
export const plain = ({ add, all, at, div, exp, get, get1, LANES, max, mul, put, put1, root, sub, sum, where }) => {

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

/** c[m, n] (+)= Σ_k a[m, k] b[k, n]. Blocks of 4 × 2 LANES stay in registers: M is a multiple of 4, N of 8. */
function matmul(c, cRow, a, aRow, aColumn, b, bRow, M, K, N, more) {
  for (let k0 = 0; k0 < K; k0 += DEEP) {
    const end = K < k0 + DEEP ? K : k0 + DEEP;
    for (let n = 0; n < N; n += 2 * LANES) {
      for (let m = 0; m < M; m += 4) {
        const c0 = at(c, m * cRow + n);
        const c1 = at(c0, cRow);
        const c2 = at(c1, cRow);
        const c3 = at(c2, cRow);
        const zero = all(0);
        let p0 = zero, q0 = zero, p1 = zero, q1 = zero, p2 = zero, q2 = zero, p3 = zero, q3 = zero;
        if (more | k0) {
          p0 = get(c0);
          q0 = get(at(c0, LANES));
          p1 = get(c1);
          q1 = get(at(c1, LANES));
          p2 = get(c2);
          q2 = get(at(c2, LANES));
          p3 = get(c3);
          q3 = get(at(c3, LANES));
        }
        let a0 = at(a, m * aRow + k0 * aColumn);
        let a1 = at(a0, aRow);
        let a2 = at(a1, aRow);
        let a3 = at(a2, aRow);
        let from = at(b, k0 * bRow + n);
        for (let k = k0; k < end; k++) {
          const x = get(from);
          const y = get(at(from, LANES));
          let w = all(get1(a0));
          p0 = add(p0, mul(w, x));
          q0 = add(q0, mul(w, y));
          w = all(get1(a1));
          p1 = add(p1, mul(w, x));
          q1 = add(q1, mul(w, y));
          w = all(get1(a2));
          p2 = add(p2, mul(w, x));
          q2 = add(q2, mul(w, y));
          w = all(get1(a3));
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

/** to[n, m] = from[m, n] */
function transpose(to, from, M, N) {
  for (let m = 0; m < M; m += 4) {
    for (let n = 0; n < N; n++) {
      const source = at(from, m * N + n);
      const target = at(to, n * M + m);
      for (let k = 0; k < 4; k++) put1(at(target, k), get1(at(source, k * N)));
    }
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

function relu(y, n) {
  for (let k = 0; k < n; k += LANES) put(at(y, k), max(all(0), get(at(y, k))));
}

/** dy = 0 where y is 0. */
function reluBack(dy, y, n) {
  for (let k = 0; k < n; k += LANES) put(at(dy, k), where(get(at(y, k)), get(at(dy, k))));
}

function sigmoid(y, n) {
  for (let k = 0; k < n; k += LANES) put(at(y, k), div(all(1), add(all(1), exp(sub(all(0), get(at(y, k)))))));
}

/** Over the ink of all patches, y[place] += grey · taps[tap], or back: taps[tap] += grey · y[place]. */
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

/** The first layer and its ReLU. x [B, 28, 28], weight [81, C] -> y [B, 100, C] */
function convolveInk(y, x, weight, bias, B, C) {
  const places = B * ACROSS * ACROSS;
  fillRows(y, bias, places, C);
  overInk(y, x, weight, B, C, 0);
  relu(y, places * C);
}

/** dWeight += the gradient of the first layer's weights. dy [B, 100, C] */
function convolveInkBack(dWeight, x, dy, B, C) {
  overInk(dy, x, dWeight, B, C, 1);
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

/** s_j = Σ_i c_ij û_j|i. c [B, I, ROW], û [B, I, J, D] -> s [B, J, D] */
function weightedSums(s, c, votes, B, I) {
  for (let k = 0; k < B * J * D; k += LANES) put(at(s, k), all(0));
  for (let n = 0; n < B; n++) {
    for (let i = 0; i < I; i++) {
      for (let j = 0; j < J; j++) addScaled(at(s, j * D), get1(at(c, j)), at(votes, j * D), D);
      c = at(c, ROW);
      votes = at(votes, J * D);
    }
    s = at(s, J * D);
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

/** dû_j|i += c_ij ds_j + db_ij v_j. */
function votesBack(dVotes, c, ds, db, v, B, I) {
  for (let n = 0; n < B; n++) {
    for (let i = 0; i < I; i++) {
      for (let j = 0; j < J; j++) {
        addScaled(at(dVotes, j * D), get1(at(c, j)), at(ds, j * D), D);
        addScaled(at(dVotes, j * D), get1(at(db, j)), at(v, j * D), D);
      }
      dVotes = at(dVotes, J * D);
      c = at(c, ROW);
      db = at(db, ROW);
    }
    ds = at(ds, J * D);
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

return { matmul, transpose, fillRows, sumRows, relu, reluBack, sigmoid, convolveInk, convolveInkBack, squash, squashBack, softmax, softmaxBack, weightedSums, agreements, votesBack, adam };
};
