// The small CNN of capsnet_book/experiments/cnn.py, which capsules are compared with:
//
//   image ─ three times convolution + ReLU ─ two hidden layers + ReLU ─ ten scores
import {
  convolution,
  convolve,
  layer,
  linear,
  readSafetensors,
  relu,
  softmaxOverJ,
} from "./core.js";

/**
 * The network of a weights file.
 * forward(image) -> { scores [J], probabilities [J], prediction }
 * @param {ArrayBuffer | ArrayBufferView} source
 */
export function makeConvNet(source) {
  const { tensors, metadata } = readSafetensors(source);
  const config = JSON.parse(metadata.config);
  const names = Object.keys(tensors)
    .filter((name) => name.endsWith(".weight"))
    .map((name) => name.slice(0, -".weight".length));
  const depth = (/** @type {string} */ name) => Number(name.split(".")[1]); // of "layers.2": 2
  names.sort((p, q) => depth(p) - depth(q));
  const convolutions = names
    .slice(0, config.channels.length)
    .map((name) => convolution(tensors, name, config.stride));
  const dense = names.slice(config.channels.length).map((name) => layer(tensors, name));

  /** The whole network on one image, [image_size · image_size] numbers in [0, 1]. */
  function forward(/** @type {Float32Array} */ image) {
    let x = image;
    let side = config.image_size;
    for (const conv of convolutions) {
      const border = conv.kernel >> 1; // "same" padding, then every stride-th place
      x = relu(convolve(padded(x, conv.C, side, border), side + 2 * border, conv));
      side = Math.floor((side - 1) / conv.stride) + 1;
    }
    for (const hidden of dense.slice(0, -1)) x = relu(linear(x, hidden));
    const scores = linear(x, dense.at(-1));
    const prediction = scores.indexOf(Math.max(...scores));
    return { scores, probabilities: softmaxOverJ(scores, 1, scores.length), prediction };
  }

  return { config, forward };
}

/** Pads x [C, side, side] with a border of zeros around every channel. */
function padded(/** @type {Float32Array} */ x, C, side, border) {
  const wide = side + 2 * border;
  const y = new Float32Array(C * wide * wide);
  for (let c = 0; c < C; c++) {
    for (let row = 0; row < side; row++) {
      const from = (c * side + row) * side;
      y.set(x.subarray(from, from + side), (c * wide + row + border) * wide + border);
    }
  }
  return y;
}
