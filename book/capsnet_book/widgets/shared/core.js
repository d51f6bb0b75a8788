// The small capsule network, in plain JavaScript: read it beside the equations of the paper.
//
//   image ─ conv + ReLU ─ primary capsules u ─ prediction vectors û ─ routing
//         ─ digit capsules v ─ decoder
//
// A tensor is a flat Float32Array; its shape stands in a comment, the last axis runs fastest:
// element [i, j, d] of a tensor [I, J, D] is data[(i * J + j) * D + d].
import { t } from "./t.js";

/** @typedef {{ shape: number[], data: Float32Array }} Tensor */
/** @typedef {{ columns: Float32Array, bias: Float32Array }} Layer  y = W x + b; W by columns */
/** @typedef {Layer & { O: number, C: number, kernel: number, stride: number }} Convolution */

// ---------------------------------------------------------------------- the weights file

/**
 * Reads a safetensors file: 8 bytes of length, a JSON header, then the numbers.
 * A tensor of 8-bit integers (capsnet_book/networks.py) is multiplied row by row by NAME.scale.
 * @param {ArrayBuffer | ArrayBufferView} source
 * @returns {{ tensors: Record<string, Tensor>, metadata: Record<string, string> }}
 */
export function readSafetensors(source) {
  const bytes = ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
  try {
    return parsed(bytes);
  } catch (error) {
    const reason = error instanceof DamagedFile ? error.message : t`its header cannot be read`;
    throw new Error(
      t`weights: expected a whole safetensors file of F32, F16, I8 or U8; got ${bytes.length} bytes
        (${reason})`,
    );
  }
}

/** What is wrong with a file, in words for its reader. */
class DamagedFile extends Error {}

/** The tensors and metadata of a file's bytes; any exception means that the file is damaged. */
function parsed(/** @type {Uint8Array} */ bytes) {
  if (bytes.length < 8) throw new DamagedFile(t`too short for a header`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const start = 8 + Number(view.getBigUint64(0, true)); // where the numbers begin
  const header = new TextDecoder().decode(bytes.subarray(8, start));
  const { __metadata__: metadata = {}, ...entries } = JSON.parse(header);
  const tensors = {};
  for (const [name, { dtype, shape, data_offsets }] of Object.entries(entries)) {
    const [from, to] = data_offsets.map((offset) => start + offset);
    if (!READ[dtype]) throw new DamagedFile(t`${name} is of ${dtype}`);
    const whole = bytes.slice(from, to); // a copy, so that it is aligned
    const isCut = whole.length !== to - from || whole.length % SIZES[dtype] !== 0;
    const data = isCut ? [] : READ[dtype](whole.buffer);
    if (data.length !== shape.reduce((size, n) => size * n, 1))
      throw new DamagedFile(t`${name} is cut short`);
    tensors[name] = { shape, data };
  }
  for (const [name, { dtype }] of Object.entries(entries)) {
    if (dtype === "I8") scaleRows(tensors, name);
  }
  return { tensors, metadata };
}

/** Multiplies NAME [N, …] by NAME.scale [N], row by row, in place. */
function scaleRows(tensors, name) {
  const { shape, data } = tensors[name];
  const row = data.length / shape[0];
  const scale = tensors[`${name}.scale`].data;
  for (let k = 0; k < data.length; k++) data[k] *= scale[Math.floor(k / row)];
}

const SIZES = { F32: 4, F16: 2, I8: 1, U8: 1 }; // bytes of a number

/** Converts a tensor's bytes to numbers, by dtype. */
const READ = {
  F32: (raw) => new Float32Array(raw),
  F16: (raw) => halfToFloat(new Uint16Array(raw)),
  I8: (raw) => Float32Array.from(new Int8Array(raw)),
  U8: (raw) => new Uint8Array(raw),
};

/**
 * Converts float16 (1 bit of sign, 5 of exponent, 10 of fraction) to float32 (1, 8 and 23 bits)
 * by moving the bits.
 */
function halfToFloat(halves) {
  const floats = new Float32Array(halves.length);
  const bits = new Uint32Array(floats.buffer);
  for (let k = 0; k < halves.length; k++) {
    const sign = (halves[k] & 0x8000) << 16;
    const exponent = (halves[k] >> 10) & 31;
    const fraction = halves[k] & 1023;
    if (exponent === 0) {
      floats[k] = (sign ? -1 : 1) * fraction * 2 ** -24; // subnormal numbers, and 0
    } else {
      const widened = exponent === 31 ? 255 : exponent - 15 + 127; // 31: infinity or nan
      bits[k] = sign | (widened << 23) | (fraction << 13);
    }
  }
  return floats;
}

// ------------------------------------------------------------------------- the equations

/** What linear() computes in, for M inputs and N outputs. @param {number} M @param {number} N */
const roomFor = (M, N) => ({
  used: new Int32Array(M + 3), // where x is not 0; three more, for the last sweep
  sum: new Float64Array(N),
});

/**
 * A fully connected layer, y = W x + b. x [M], columns of W [M, N], b [N] -> y [N]
 *
 * Nearly all of the time goes into this loop. It therefore adds four columns of W in one sweep and
 * leaves out those whose x is 0: most pixels are 0, and so is half of a ReLU's output.
 * @param {Float32Array} x @param {Layer} layer
 */
export function linear(
  x,
  { columns, bias },
  y = new Float32Array(bias.length),
  { used, sum } = roomFor(x.length, bias.length),
) {
  const M = x.length;
  const N = bias.length;
  let count = 0;
  for (let m = 0; m < M; m++) if (x[m] !== 0) used[count++] = m;
  used.fill(0, count, count + 3);

  sum.set(bias);
  for (let k = 0; k < count; k += 4) {
    const m0 = used[k];
    const m1 = used[k + 1];
    const m2 = used[k + 2];
    const m3 = used[k + 3];
    const x0 = x[m0];
    const x1 = k + 1 < count ? x[m1] : 0; // past the end: weight 0
    const x2 = k + 2 < count ? x[m2] : 0;
    const x3 = k + 3 < count ? x[m3] : 0;
    for (let n = 0, at0 = m0 * N, at1 = m1 * N, at2 = m2 * N, at3 = m3 * N; n < N; n++) {
      sum[n] +=
        columns[at0 + n] * x0 +
        columns[at1 + n] * x1 +
        columns[at2 + n] * x2 +
        columns[at3 + n] * x3;
    }
  }
  y.set(sum);
  return y;
}

/**
 * Convolution without padding: the same fully connected layer is applied to the patch at each
 * place. x [C, size, size] -> [O, out, out]
 * @param {Float32Array} x @param {number} size @param {Convolution} convolution
 */
export function convolve(x, size, { C, O, kernel, stride, columns, bias }) {
  const out = sizeAfter(size, kernel, stride);
  const y = new Float32Array(O * out * out);
  const patch = new Float32Array(C * kernel * kernel);
  const channels = new Float32Array(O);
  const room = roomFor(patch.length, O);
  for (let row = 0; row < out; row++) {
    for (let column = 0; column < out; column++) {
      let k = 0;
      for (let c = 0; c < C; c++) {
        for (let dy = 0; dy < kernel; dy++) {
          const at = (c * size + row * stride + dy) * size + column * stride;
          for (let dx = 0; dx < kernel; dx++) patch[k++] = x[at + dx];
        }
      }
      linear(patch, { columns, bias }, channels, room);
      for (let o = 0; o < O; o++) y[(o * out + row) * out + column] = channels[o];
    }
  }
  return y;
}

export const relu = (/** @type {Float32Array} */ x) => x.map((number) => Math.max(0, number));

export const sigmoid = (/** @type {Float32Array} */ x) =>
  x.map((number) => 1 / (1 + Math.exp(-number)));

/**
 * Equation 1, in place, for the vector of `D` numbers that begins at `from`:
 * v = ‖s‖² / (1 + ‖s‖²) · s / ‖s‖ = s / (n + 1/n), n = ‖s‖.
 * @template {Float32Array | Float64Array | number[]} Vector
 * @param {Vector} s
 */
export function squash(s, from = 0, D = s.length) {
  const n = Math.max(norm(s, from, D), 1e-8); // without this floor the zero vector gives 0/0
  const scale = 1 / (n + 1 / n);
  for (let d = from; d < from + D; d++) s[d] *= scale;
  return s;
}

/** The length of the vector of `D` numbers that begins at `from`. */
export function norm(/** @type {ArrayLike<number>} */ s, from = 0, D = s.length) {
  let sum = 0;
  for (let d = from; d < from + D; d++) sum += s[d] * s[d];
  return Math.sqrt(sum);
}

/**
 * Primary capsules: a capsule is the D channels of one type at one place, squashed.
 * features [types · D, places] -> u [I, D], I = types · places
 */
export function primaryCapsules(/** @type {Float32Array} */ features, types, D) {
  const places = features.length / (types * D);
  const u = new Float32Array(features.length);
  for (let type = 0; type < types; type++) {
    for (let place = 0; place < places; place++) {
      const i = type * places + place;
      for (let d = 0; d < D; d++) u[i * D + d] = features[(type * D + d) * places + place];
      squash(u, i * D, D);
    }
  }
  return u;
}

/**
 * Equation 2: û_j|i = W_ij u_i. u [I, D_in], weight [I, J, D_in, D_out] -> û [I, J, D_out]
 * @param {ArrayLike<number>} u @param {{ shape: number[], data: ArrayLike<number> }} weight
 */
export function predictionVectors(u, weight) {
  const [I, J, D_in, D_out] = weight.shape;
  const W = weight.data;
  const u_hat = new Float32Array(I * J * D_out);
  for (let i = 0, k = 0; i < I; i++) {
    for (let j = 0; j < J; j++) {
      const to = (i * J + j) * D_out;
      for (let d_in = 0; d_in < D_in; d_in++) {
        const u_i = u[i * D_in + d_in];
        for (let d = 0; d < D_out; d++, k++) u_hat[to + d] += W[k] * u_i;
      }
    }
  }
  return u_hat;
}

/**
 * Procedure 1, routing by agreement. Returns the trace of all rounds: b, c [rounds][I, J] and
 * v [rounds][J, D]. b[t] are the logits of c[t]: b[0] is 0, c[0] is 1/J everywhere.
 * @param {Float32Array} u_hat  [I, J, D]
 */
export function route(u_hat, I, J, D, rounds) {
  const trace = { b: [], c: [], v: [] };
  const b = new Float32Array(I * J);
  for (let t = 0; t < rounds; t++) {
    const c = softmaxOverJ(b, I, J);
    trace.b.push(b.slice());

    const v = weightedSums(c, u_hat, I, J, D); // s_j
    for (let j = 0; j < J; j++) squash(v, j * D, D); // v_j = squash(s_j)

    const a = agreements(u_hat, v, I, J, D);
    for (let k = 0; k < I * J; k++) b[k] += a[k];
    trace.c.push(c);
    trace.v.push(v);
  }
  return trace;
}

/** s_j = Σ_i c_ij û_j|i. c [I, J], û [I, J, D] -> s [J, D] */
export function weightedSums(c, u_hat, I, J, D) {
  const s = new Float32Array(J * D);
  for (let i = 0; i < I; i++) {
    for (let j = 0; j < J; j++) {
      const c_ij = c[i * J + j];
      const from = (i * J + j) * D;
      for (let d = 0; d < D; d++) s[j * D + d] += c_ij * u_hat[from + d];
    }
  }
  return s;
}

/** a_ij = û_j|i · v_j. û [I, J, D], v [J, D] -> a [I, J] */
export function agreements(u_hat, v, I, J, D) {
  const a = new Float32Array(I * J);
  for (let k = 0; k < I * J; k++) {
    let sum = 0;
    for (let d = 0; d < D; d++) sum += u_hat[k * D + d] * v[(k % J) * D + d];
    a[k] = sum;
  }
  return a;
}

/**
 * Equation 3, the couplings: softmax over the J capsules above. b [I, J] -> c [I, J], Σ_j c_ij = 1
 * The largest logit is subtracted first, so that no exponential overflows.
 */
export function softmaxOverJ(b, I, J) {
  const c = new Float32Array(I * J);
  for (let i = 0; i < I; i++) {
    let largest = -Infinity;
    for (let j = 0; j < J; j++) largest = Math.max(largest, b[i * J + j]);
    let sum = 0;
    for (let j = 0; j < J; j++) {
      const share = Math.exp(b[i * J + j] - largest);
      c[i * J + j] = share;
      sum += share;
    }
    for (let j = 0; j < J; j++) c[i * J + j] /= sum;
  }
  return c;
}

/**
 * The reconstruction [784] that a decoder draws from digit capsules [J · D], all but one of them
 * masked to 0.
 * @param {Layer[]} decoder @param {Float32Array} capsules
 */
export function drawnBy(decoder, capsules) {
  const hidden = decoder.slice(0, -1).reduce((x, layer) => relu(linear(x, layer)), capsules);
  return sigmoid(linear(hidden, decoder.at(-1)));
}

// --------------------------------------------------------------------------- the network

/**
 * The network of a weights file, and its sizes. forward(image, rounds) is look(image) and
 * decide(u_hat, rounds); decode(capsules) and mask(v, …classes) are the decoder's.
 * @param {ArrayBuffer | ArrayBufferView} source
 */
export function makeNetwork(source) {
  const { tensors, metadata } = readSafetensors(source);
  const config = JSON.parse(metadata.config); // under the names of Python's CapsNetConfig

  const { image_size, primary_types, primary_dim: D_in, classes: J, class_dim: D_out } = config;
  const W = tensors["routed.weight"];
  const [I] = W.shape;
  const convSize = sizeAfter(image_size, config.conv_kernel, config.conv_stride);
  const conv = convolution(tensors, "conv", config.conv_stride);
  const primary = convolution(tensors, "primary.conv", config.primary_stride);
  const decoder = [...config.decoder_hidden, "last"].map((_, n) =>
    layer(tensors, `decoder.${2 * n}`),
  );

  const names = classNames(metadata, J);

  const decode = (/** @type {Float32Array} */ capsules) => drawnBy(decoder, capsules);

  /** The matrix W_ij of the k-th vote, k = i · J + j: [D_in, D_out]. */
  function matrixOf(/** @type {number} */ k) {
    const size = D_in * D_out;
    return W.data.subarray(k * size, (k + 1) * size);
  }

  /**
   * Section 4.1: sets all capsules but those of `classes` to zero. v [J, D_out] -> [J, D_out]
   * @param {Float32Array} v @param {number[]} classes
   */
  function mask(v, ...classes) {
    const masked = new Float32Array(v.length);
    for (const j of classes) masked.set(v.subarray(j * D_out, (j + 1) * D_out), j * D_out);
    return masked;
  }

  /**
   * The network up to the prediction vectors: all that comes before routing.
   * @param {Float32Array} image  [image_size · image_size], in [0, 1]
   */
  function look(image) {
    const edges = relu(convolve(image, image_size, conv)); // [conv_channels, convSize, convSize]
    const features = convolve(edges, convSize, primary); // [primary_types · D_in, places]
    const u = primaryCapsules(features, primary_types, D_in); // [I, D_in]
    return { edges, features, u, u_hat: predictionVectors(u, W) }; // û [I, J, D_out]
  }

  /** Routing, lengths, prediction and reconstruction from the votes û [I, J, D_out]. */
  function decide(/** @type {Float32Array} */ u_hat, rounds = config.iterations) {
    const { b, c, v } = route(u_hat, I, J, D_out, rounds); // lists with one entry a round
    const capsules = v[rounds - 1]; // [J, D_out]
    const lengths = lengthsOf(capsules, J, D_out); // [J]
    const prediction = lengths.indexOf(Math.max(...lengths));
    const reconstruction = decode(mask(capsules, prediction));
    return { b, c, v, capsules, lengths, prediction, reconstruction };
  }

  /** The whole network on one image. */
  function forward(/** @type {Float32Array} */ image, rounds = config.iterations) {
    const features = look(image);
    return { ...features, ...decide(features.u_hat, rounds) };
  }

  return {
    config,
    input: t`your digit`,
    names,
    I,
    J,
    D_in,
    D_out,
    W,
    conv,
    decoder,
    look,
    decide,
    forward,
    decode,
    mask,
    matrixOf,
  };
}

/**
 * What the J classes of a file's network are called: the names in the file, or their numbers.
 * @param {Record<string, string>} metadata @param {number} J
 * @returns {string[]}
 */
export function classNames({ class_names }, J) {
  const numbers = Array.from({ length: J }, (_, j) => String(j));
  if (class_names === undefined) return numbers;
  const names = JSON.parse(class_names);
  return numbers.map((number, j) => String(names[j] ?? number));
}

/** The length of each capsule, the network's confidence in that class. v [J, D] -> [J] */
export const lengthsOf = (v, J, D) => Float32Array.from({ length: J }, (_, j) => norm(v, j * D, D));

/**
 * A fully connected layer from tensors name.weight [N, M, …] and name.bias [N]; the weight is
 * stored by columns.
 * @param {Record<string, Tensor>} tensors
 * @returns {Layer}
 */
export function layer(tensors, name) {
  const { shape, data } = tensors[`${name}.weight`];
  const N = shape[0];
  const M = data.length / N;
  const columns = new Float32Array(M * N);
  for (let n = 0; n < N; n++) for (let m = 0; m < M; m++) columns[m * N + n] = data[n * M + m];
  return { columns, bias: tensors[`${name}.bias`].data };
}

/** @param {Record<string, Tensor>} tensors @returns {Convolution} */
export function convolution(tensors, name, stride) {
  const [O, C, kernel] = tensors[`${name}.weight`].shape; // [O, C, kernel, kernel]
  return { O, C, kernel, stride, ...layer(tensors, name) };
}

/** How many places a kernel has along an axis without padding. */
export const sizeAfter = (size, kernel, stride) => Math.floor((size - kernel) / stride) + 1;
