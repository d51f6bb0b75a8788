// @ts-nocheck
// `npm run kernels` writes this file from arithmetic.ts: as WebAssembly in base64, and without its types.
export const KERNELS_WASM =
  "AGFzbQEAAAABRQhgBH9/f38AYAV/f39/fwBgA39/fwBgAn9/AGAHf39/f39/fwBgBn9/f39/fwBgCn9/f39/f39/f38AYAd/f39/f319AAIPAQNlbnYGbWVtb3J5AgAAAxEQAQQAAAEAAAIDAgMFBgABBwe3AREGbWF0bXVsAAwJdHJhbnNwb3NlAAIIZmlsbFJvd3MADQdzdW1Sb3dzAAMEcmVsdQAKCHJlbHVCYWNrAAkHc2lnbW9pZAAIB292ZXJJbmsACwZzcXVhc2gABQpzcXVhc2hCYWNrAAQHc29mdG1heAAHC3NvZnRtYXhCYWNrAAYMd2VpZ2h0ZWRTdW1zAAAKYWdyZWVtZW50cwAOCXZvdGVzQmFjawABBGFkYW0ADwZtZW1vcnkCAArnKBD2AgIIfwF7A0AgBSADQaABbEgEQCAAIAVBAnRq/QwAAAAAAAAAAAAAAAAAAAAA/QsEACAFQQRqIQUMAQsLA0AgAyAKSgRAQQAhCQNAIAQgCUoEQEEAIQYDQCAGQQpIBEAgBkEGdCIFIABqIQcgAiAFaiEIIAEgBkECdGoqAgD9EyENQQAhBQNAIAVBEEgEQCAFQQJ0IgsgB2oiDCAM/QAEACANIAggC2r9AAQA/eYB/eQB/QsEACAFQQRqQQJ0IgsgB2oiDCAM/QAEACANIAggC2r9AAQA/eYB/eQB/QsEACAFQQhqQQJ0IgsgB2oiDCAM/QAEACANIAggC2r9AAQA/eYB/eQB/QsEACAFQQxqQQJ0IgsgB2oiDCAM/QAEACANIAggC2r9AAQA/eYB/eQB/QsEACAFQRBqIQUMAQsLIAZBAWohBgwBCwsgAUEwaiEBIAJBgAVqIQIgCUEBaiEJDAELCyAAQYAFaiEAIApBAWohCgwBCwsLrgQCCH8BewNAIAUgCkoEQEEAIQkDQCAGIAlKBEBBACEIA0AgCEEKSARAIAhBBnQiByAAaiELIAIgB2ohDCABIAhBAnRqKgIA/RMhD0EAIQcDQCAHQRBIBEAgB0ECdCINIAtqIg4gDv0ABAAgDyAMIA1q/QAEAP3mAf3kAf0LBAAgB0EEakECdCINIAtqIg4gDv0ABAAgDyAMIA1q/QAEAP3mAf3kAf0LBAAgB0EIakECdCINIAtqIg4gDv0ABAAgDyAMIA1q/QAEAP3mAf3kAf0LBAAgB0EMakECdCINIAtqIg4gDv0ABAAgDyAMIA1q/QAEAP3mAf3kAf0LBAAgB0EQaiEHDAELCyAIQQZ0IgcgAGohCyAEIAdqIQwgAyAIQQJ0aioCAP0TIQ9BACEHA0AgB0EQSARAIAdBAnQiDSALaiIOIA79AAQAIA8gDCANav0ABAD95gH95AH9CwQAIAdBBGpBAnQiDSALaiIOIA79AAQAIA8gDCANav0ABAD95gH95AH9CwQAIAdBCGpBAnQiDSALaiIOIA79AAQAIA8gDCANav0ABAD95gH95AH9CwQAIAdBDGpBAnQiDSALaiIOIA79AAQAIA8gDCANav0ABAD95gH95AH9CwQAIAdBEGohBwwBCwsgCEEBaiEIDAELCyAAQYAFaiEAIAFBMGohASADQTBqIQMgCUEBaiEJDAELCyACQYAFaiECIARBgAVqIQQgCkEBaiEKDAELCwuBAQEFfwNAIAIgBkoEQEEAIQQDQCADIARKBEAgASADIAZsIARqQQJ0aiEHIAAgAiAEbCAGakECdGohCEEAIQUDQCAFQQRIBEAgCCAFQQJ0aiAHIAMgBWxBAnRqKgIAOAIAIAVBAWohBQwBCwsgBEEBaiEEDAELCyAGQQRqIQYMAQsLC2cCAn8BewNAIAMgBEoEQCAAIARBAnRq/QAEACEGQQAhBQNAIAIgBUoEQCAGIAEgAyAFbCAEakECdGr9AAQA/eQBIQYgBUEBaiEFDAELCyAAIARBAnRqIAb9CwQAIARBBGohBAwBCwsLvwMCA3sDfwNAIAMgCUoEQP0MAAAAAAAAAAAAAAAAAAAAACEFQQAhCANAIAQgCEoEQCAFIAEgCEECdGr9AAQAIgUgBf3mAf3kASEFIAhBBGohCAwBCwsgBSAFIAX9DQgJCgsMDQ4PAAECAwQFBgf95AEiBf0fACAF/R8Bkv0T/QyVleYklZXmJJWV5iSVleYk/ekBIgf94wEhBv0MAAAAAAAAAAAAAAAAAAAAACEFQQAhCANAIAQgCEoEQCAFIAhBAnQiCiABav0ABAAgAiAKav0ABAD95gH95AEhBSAIQQRqIQgMAQsL/QwAAIA/AACAPwAAgD8AAIA/IAf95QH9DAAAgD8AAIA/AACAPwAAgD8gB/3kASIHIAf95gEgBv3mAf3nASAFIAUgBf0NCAkKCwwNDg8AAQIDBAUGB/3kASIF/R8AIAX9HwGS/RP95gEhBUEAIQgDQCAEIAhKBEAgCEECdCIKIABqIAYgB/3nASACIApq/QAEAP3mASAFIAEgCmr9AAQA/eYB/eQB/QsEACAIQQRqIQgMAQsLIARBAnQiCCAAaiEAIAEgCGohASACIAhqIQIgCUEBaiEJDAELCwuaAgIBewN/A0AgAiAGSgRA/QwAAAAAAAAAAAAAAAAAAAAAIQRBACEFA0AgAyAFSgRAIAQgASAFQQJ0av0ABAAiBCAE/eYB/eQBIQQgBUEEaiEFDAELC/0MAACAPwAAgD8AAIA/AACAPyAEIAQgBP0NCAkKCwwNDg8AAQIDBAUGB/3kASIE/R8AIAT9HwGS/RP9DJWV5iSVleYklZXmJJWV5iT96QH94wEiBP0MAACAPwAAgD8AAIA/AACAPyAE/ecB/eQB/ecBIQRBACEFA0AgAyAFSgRAIAVBAnQiByAAaiAEIAEgB2r9AAQA/eYB/QsEACAFQQRqIQUMAQsLIANBAnQiBSAAaiEAIAEgBWohASAGQQFqIQYMAQsLC/EBAgF7BH8DQCADIAZKBED9DAAAAAAAAAAAAAAAAAAAAAAhBEEAIQUDQCAFQQxIBEAgBCAFQQJ0IgcgAmr9AAQAIAEgB2r9AAQA/eYB/eQBIQQgBUEEaiEFDAELCyAEIAQgBP0NCAkKCwwNDg8AAQIDBAUGB/3kASIE/R8AIAT9HwGS/RMhBEEAIQUDQCAFQQxIBEAgBUECdCIHIABqIgggCP0ABAAgAiAHav0ABAAgASAHav0ABAAgBP3lAf3mAf3kAf0LBAAgBUEEaiEFDAELCyAAQTBqIQAgAUEwaiEBIAJBMGohAiAGQQFqIQYMAQsLC9IFAwJ9A38CewNAIAIgBkoEQCABKgIAIQRBASEHA0AgB0EKSARAIAEgB0ECdGoqAgAiAyAEXgRAIAMhBAsgB0EBaiEHDAELC0EAIQcDQCAHQQxIBED9DAAArsIAAK7CAACuwgAArsL9DAAArkIAAK5CAACuQgAArkIgB0ECdCIFIAFq/QAEACAE/RP95QH96AH96QEiCP0MO6q4PzuquD87qrg/O6q4P/3mAf1qIQkgACAFav0MAQ1QOQENUDkBDVA5AQ1QOSAIIAn9DACAMT8AgDE/AIAxPwCAMT/95gH95QEgCf0Mg4BeuYOAXrmDgF65g4Beuf3mAf3lASII/eYB/QxhC7Y6YQu2OmELtjphC7Y6/eQBIAj95gH9DImICDyJiAg8iYgIPImICDz95AEgCP3mAf0Mq6oqPauqKj2rqio9q6oqPf3kASAI/eYB/Qyrqio+q6oqPquqKj6rqio+/eQBIAj95gH9DAAAAD8AAAA/AAAAPwAAAD/95AEgCP3mAf0MAACAPwAAgD8AAIA/AACAP/3kASAI/eYB/QwAAIA/AACAPwAAgD8AAIA//eQBIAn9+AH9DH8AAAB/AAAAfwAAAH8AAAD9rgFBF/2rAf3mAf0LBAAgB0EEaiEHDAELC0EKIQcDQCAHQQxIBEAgACAHQQJ0akMAAAAAOAIAIAdBAWohBwwBCwv9DAAAAAAAAAAAAAAAAAAAAAAhCEEAIQcDQCAHQQxIBEAgCCAAIAdBAnRq/QAEAP3kASEIIAdBBGohBwwBCwv9DAAAgD8AAIA/AACAPwAAgD8gCCAIIAj9DQgJCgsMDQ4PAAECAwQFBgf95AEiCP0fACAI/R8Bkv0T/ecBIQhBACEHA0AgB0EMSARAIAAgB0ECdGoiBSAIIAX9AAQA/eYB/QsEACAHQQRqIQcMAQsLIABBMGohACABQTBqIQEgBkEBaiEGDAELCwvSAwICewJ/A0AgASAESgRA/QwAAK7CAACuwgAArsIAAK7C/QwAAK5CAACuQgAArkIAAK5C/QwAAAAAAAAAAAAAAAAAAAAAIAAgBEECdGoiBf0ABAD95QH96AH96QEiA/0MO6q4PzuquD87qrg/O6q4P/3mAf1qIQIgBf0MAACAPwAAgD8AAIA/AACAP/0MAACAPwAAgD8AAIA/AACAP/0MAQ1QOQENUDkBDVA5AQ1QOSADIAL9DACAMT8AgDE/AIAxPwCAMT/95gH95QEgAv0Mg4BeuYOAXrmDgF65g4Beuf3mAf3lASID/eYB/QxhC7Y6YQu2OmELtjphC7Y6/eQBIAP95gH9DImICDyJiAg8iYgIPImICDz95AEgA/3mAf0Mq6oqPauqKj2rqio9q6oqPf3kASAD/eYB/Qyrqio+q6oqPquqKj6rqio+/eQBIAP95gH9DAAAAD8AAAA/AAAAPwAAAD/95AEgA/3mAf0MAACAPwAAgD8AAIA/AACAP/3kASAD/eYB/QwAAIA/AACAPwAAgD8AAIA//eQBIAL9+AH9DH8AAAB/AAAAfwAAAH8AAAD9rgFBF/2rAf3mAf3kAf3nAf0LBAAgBEEEaiEEDAELCwtNAQN/A0AgAiADSgRAIANBAnQiBCAAaiIFIAEgBGr9AAQA/QwAAAAAAAAAAAAAAAAAAAAA/UQgBf0ABAD9Tv0LBAAgA0EEaiEDDAELCwtBAQJ/A0AgASACSgRAIAAgAkECdGoiA/0MAAAAAAAAAAAAAAAAAAAAACAD/QAEAP3pAf0LBAAgAkEEaiECDAELCwvdBAMKfwF7AX0DQCADIAxKBEBBACEKA0AgCkEKSARAQQAhCwNAIAtBCkgEQCABIAxBHGwgCkEBdGpBHGwgC0EBdGpBAnRqIQ1BACEIA0AgCEEJSARAQQAhCQNAIAlBCUgEQCANIAhBHGwgCWpBAnRqKgIAIhFDAAAAAFwEQCACIAhBCWwgCWogBGxBAnRqIQcgBQRAIBH9EyEQQQAhBgNAIAQgBkoEQCAGQQJ0Ig4gB2oiDyAP/QAEACAQIAAgDmr9AAQA/eYB/eQB/QsEACAGQQRqQQJ0Ig4gB2oiDyAP/QAEACAQIAAgDmr9AAQA/eYB/eQB/QsEACAGQQhqQQJ0Ig4gB2oiDyAP/QAEACAQIAAgDmr9AAQA/eYB/eQB/QsEACAGQQxqQQJ0Ig4gB2oiDyAP/QAEACAQIAAgDmr9AAQA/eYB/eQB/QsEACAGQRBqIQYMAQsLBSAR/RMhEEEAIQYDQCAEIAZKBEAgBkECdCIOIABqIg8gD/0ABAAgECAHIA5q/QAEAP3mAf3kAf0LBAAgBkEEakECdCIOIABqIg8gD/0ABAAgECAHIA5q/QAEAP3mAf3kAf0LBAAgBkEIakECdCIOIABqIg8gD/0ABAAgECAHIA5q/QAEAP3mAf3kAf0LBAAgBkEMakECdCIOIABqIg8gD/0ABAAgECAHIA5q/QAEAP3mAf3kAf0LBAAgBkEQaiEGDAELCwsLIAlBAWohCQwBCwsgCEEBaiEIDAELCyAAIARBAnRqIQAgC0EBaiELDAELCyAKQQFqIQoMAQsLIAxBAWohDAwBCwsLkQQCD38LewNAIAggC0oEQCAIIAtBQGsiCiAIIApIGyEYQQAhDANAIAkgDEoEQEEAIQ0DQCAHIA1KBEAgACABIA1sIAxqQQJ0aiIOIAFBAnQiCmoiDyAKaiIQIApqIREgDv0ABAAhGiAO/QAEECEbIA/9AAQAIRwgD/0ABBAhHSAQ/QAEACEeIBD9AAQQIR8gEf0ABAAhICAR/QAEECEhIAIgAyANbCAEIAtsakECdGoiEyADQQJ0IgpqIhQgCmoiFSAKaiEWIAUgBiALbCAMakECdGohEiALIQoDQCAKIBhIBEAgGiATKgIA/RMiGSAS/QAEACIi/eYB/eQBIRogGyAZIBL9AAQQIiP95gH95AEhGyAcIBQqAgD9EyIZICL95gH95AEhHCAdIBkgI/3mAf3kASEdIB4gFSoCAP0TIhkgIv3mAf3kASEeIB8gGSAj/eYB/eQBIR8gICAWKgIA/RMiGSAi/eYB/eQBISAgISAZICP95gH95AEhISAEQQJ0IhcgE2ohEyAUIBdqIRQgFSAXaiEVIBYgF2ohFiASIAZBAnRqIRIgCkEBaiEKDAELCyAOIBr9CwQAIA4gG/0LBBAgDyAc/QsEACAPIB39CwQQIBAgHv0LBAAgECAf/QsEECARICD9CwQAIBEgIf0LBBAgDUEEaiENDAELCyAMQQhqIQwMAQsLIAtBQGshCwwBCwsLTgECfwNAIAIgBUoEQEEAIQQDQCADIARKBEAgACADIAVsIARqQQJ0aiABIARBAnRq/QAEAP0LBAAgBEEEaiEEDAELCyAFQQFqIQUMAQsLC/oBAgd/AXsDQCADIAhKBEBBACEHA0AgBCAHSgRAQQAhBgNAIAZBCkgEQCAGQQZ0IgUgAWohCSACIAVqIQr9DAAAAAAAAAAAAAAAAAAAAAAhDEEAIQUDQCAFQRBIBEAgDCAJIAVBAnQiC2r9AAQAIAogC2r9AAQA/eYB/eQBIQwgBUEEaiEFDAELCyAAIAZBAnRqIgUgBSoCACAMIAwgDP0NCAkKCwwNDg8AAQIDBAUGB/3kASIM/R8AIAz9HwGSkjgCACAGQQFqIQYMAQsLIABBMGohACABQYAFaiEBIAdBAWohBwwBCwsgAkGABWohAiAIQQFqIQgMAQsLC4wCAgJ7BH8DQCAEIAlKBEAgCUECdCILIABqIgogCv0ABAAgBf0T/QxmZmY/ZmZmP2ZmZj9mZmY/IAIgC2oiCv0ABAD95gH9DM3MzD3NzMw9zczMPc3MzD0gASALaiIM/QAEACII/eYB/eQBIgf95gH9DHe+fz93vn8/d75/P3e+fz8gAyALaiIL/QAEAP3mAf0MbxKDOm8SgzpvEoM6bxKDOiAIIAj95gH95gH95AEiCP3jASAG/RP95gH9DHfMKzJ3zCsyd8wrMnfMKzL95AH95wH95QH9CwQAIAogB/0LBAAgCyAI/QsEACAM/QwAAAAAAAAAAAAAAAAAAAAA/QsEACAJQQRqIQkMAQsLCw==";
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

return { matmul, transpose, fillRows, sumRows, relu, reluBack, sigmoid, overInk, squash, squashBack, softmax, softmaxBack, weightedSums, agreements, votesBack, adam };
};
