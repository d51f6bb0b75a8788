// The primary capsules of a network: what each reads, and how a stroke of the pen moves it.
import { convolution, convolve, norm, primaryCapsules, readSafetensors, relu, sizeAfter } from "./shared/core.js";
import { clamp, format, PIXELS, SIDE } from "./shared/ui.js";

/** @typedef {{ top: number, left: number, size: number }} Patch  in pixels of the image */

const PEN = 1.3; // radius of the pen, in pixels of the digit
const ACROSS = 4; // types side by side

/** The network as far as its primary capsules: { config, types, side, places, D, I, read(image) -> { s, u } }. */
export function makeFront(source) {
  const { tensors, metadata } = readSafetensors(source);
  const config = JSON.parse(metadata.config);
  const { image_size, primary_types: types, primary_dim: D } = config;
  const conv = convolution(tensors, "conv", config.conv_stride);
  const primary = convolution(tensors, "primary.conv", config.primary_stride);
  const edges = sizeAfter(image_size, conv.kernel, conv.stride);
  const side = sizeAfter(edges, primary.kernel, primary.stride);
  const places = side * side;
  const I = types * places;

  /** One image [784] -> the capsules before squash and after it, s and u [I, D]. */
  function read(/** @type {Float32Array} */ image) {
    const features = convolve(relu(convolve(image, image_size, conv)), edges, primary); // [types · D, places]
    const s = new Float32Array(I * D);
    for (let i = 0; i < I; i++) {
      const [type, place] = [Math.floor(i / places), i % places];
      for (let d = 0; d < D; d++) s[i * D + d] = features[(type * D + d) * places + place];
    }
    return { s, u: primaryCapsules(features, types, D) };
  }

  return { config, types, side, places, D, I, read };
}

/**
 * The pixels that a capsule in this row and column reads. Nothing is padded.
 * @returns {Patch}
 */
export function patchOf({ conv_kernel, conv_stride, primary_kernel, primary_stride }, row, column) {
  const jump = conv_stride * primary_stride;
  return { top: row * jump, left: column * jump, size: conv_kernel + (primary_kernel - 1) * conv_stride };
}

/** Where capsule `i` stands. @param {number} i */
export function placeOf(i, { side, places }) {
  return { type: Math.floor(i / places), row: Math.floor((i % places) / side), column: i % side };
}

/** The capsule beside `i` in the field of all types, or at its border `i` itself. @param {number} i */
export function neighbourOf(i, dx, dy, { types, side, places }) {
  const { type, row, column } = placeOf(i, { side, places });
  const x = clamp((type % ACROSS) * side + column + dx, 0, ACROSS * side - 1);
  const y = clamp(Math.floor(type / ACROSS) * side + row + dy, 0, (types / ACROSS) * side - 1);
  return (Math.floor(y / side) * ACROSS + Math.floor(x / side)) * places + (y % side) * side + (x % side);
}

/**
 * A straight stroke of the pen, in place: ink is added where `ink` is true, taken away where it is false.
 * @param {Float32Array} image
 * @param {number[]} from
 * @param {number[]} to
 * @param {boolean} ink
 */
export function stroke(image, [x0, y0], [x1, y1], ink) {
  const steps = Math.max(1, Math.ceil(Math.hypot(x1 - x0, y1 - y0) / 0.4));
  for (let k = 0; k <= steps; k++) dab(image, x0 + ((x1 - x0) * k) / steps, y0 + ((y1 - y0) * k) / steps, ink);
  return image;
}

/** The pen put down at (x, y). */
function dab(image, x, y, ink) {
  const [left, right] = [Math.max(0, Math.floor(x - PEN - 1)), Math.min(SIDE - 1, Math.ceil(x + PEN))];
  const [top, bottom] = [Math.max(0, Math.floor(y - PEN - 1)), Math.min(SIDE - 1, Math.ceil(y + PEN))];
  for (let row = top; row <= bottom; row++) {
    for (let column = left; column <= right; column++) {
      const wet = clamp(PEN + 0.5 - Math.hypot(column + 0.5 - x, row + 0.5 - y), 0, 1);
      const at = row * SIDE + column;
      image[at] = ink ? Math.max(image[at], wet) : Math.min(image[at], 1 - wet);
    }
  }
}

/**
 * How far a vector has turned, in degrees; 0 is exact.
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 * @param {number} from
 * @param {number} D
 */
export function turned(a, b, from, D) {
  let [dot, same] = [0, true];
  for (let k = from; k < from + D; k++) {
    dot += a[k] * b[k];
    same &&= a[k] === b[k];
  }
  if (same) return 0;
  return (Math.acos(clamp(dot / (norm(a, from, D) * norm(b, from, D)), -1, 1)) * 180) / Math.PI;
}

/** Which capsules are not what they were: a list of their numbers. */
export function movedCapsules(before, now, I, D) {
  return Array.from({ length: I }, (_, i) => i).filter((i) => {
    for (let k = i * D; k < (i + 1) * D; k++) if (before[k] !== now[k]) return true;
    return false;
  });
}

/**
 * How many pixels are not as they were written, and how many of these lie in a patch.
 * @param {Float32Array} image
 * @param {Float32Array} written
 * @param {Patch} patch
 */
export function changesOf(image, written, { top, left, size }) {
  let [changed, inside] = [0, 0];
  for (let k = 0; k < PIXELS; k++) {
    if (image[k] === written[k]) continue;
    changed++;
    const [y, x] = [Math.floor(k / SIDE), k % SIDE];
    if (y >= top && y < top + size && x >= left && x < left + size) inside++;
  }
  return { changed, inside };
}

/**
 * What the pen has done to the chosen capsule and to all.
 * @param {{ changed: number, inside: number, moved: number[], chosen: number, degrees: number }} _
 * @param {Patch} patch
 */
export function remarkOnField({ changed, inside, moved, chosen, degrees }, { top, left, size }, { types, I }) {
  if (changed === 0) {
    const where = `rows ${top} to ${top + size - 1} and columns ${left} to ${left + size - 1}`;
    const others = `The other ${types - 1} types read the same patch.`;
    return `It reads ${size} × ${size} pixels, ${where}. ${others} Now draw on the digit.`;
  }
  const pixels = `You changed ${changed === 1 ? "one pixel" : `${changed} pixels`}`;
  if (moved.length === 0) return `${pixels}, and none of the ${I} capsules moved.`;
  const field = `In the whole field ${moved.length} of ${I} capsules moved.`;
  if (inside === 0) return `${pixels}, none in this patch: this capsule did not move at all. ${field}`;
  if (!moved.includes(chosen)) return `${pixels}, ${inside} in this patch, yet this capsule did not move. ${field}`;
  const those = inside === changed ? "all" : `${inside} of them`;
  return `${pixels}, ${those} in this patch, and its arrow turned by ${format(degrees, 1)}°. ${field}`;
}
