// The small CNN that capsules are compared with (capsnet_tutorial/baseline.py), in plain JavaScript:
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

/** The network of a weights file: { forward(image) -> { scores [J], probabilities [J], prediction } }. */
export function makeConvNet(source) {
  const { tensors, metadata } = readSafetensors(source);
  const config = JSON.parse(metadata.config);
  const names = Object.keys(tensors)
    .filter((name) => name.endsWith(".weight"))
    .map((name) => name.slice(0, -".weight".length));
  names.sort((p, q) => Number(p.split(".")[1]) - Number(q.split(".")[1])); // layers.0, layers.2, …
  const convolutions = names
    .slice(0, config.channels.length)
    .map((name) => convolution(tensors, name, config.stride));
  const dense = names.slice(config.channels.length).map((name) => layer(tensors, name));

  /** One image, [image_size · image_size] numbers in [0, 1], through the whole network. */
  function forward(image) {
    let [x, side] = [image, config.image_size];
    for (const each of convolutions) {
      const border = each.kernel >> 1;
      x = relu(convolve(padded(x, each.C, side, border), side + 2 * border, each));
      side = Math.floor((side - 1) / each.stride) + 1; // "same" padding, then every stride-th place
    }
    for (const each of dense.slice(0, -1)) x = relu(linear(x, each));
    const scores = linear(x, dense.at(-1));
    const prediction = scores.indexOf(Math.max(...scores));
    return { scores, probabilities: softmaxOverJ(scores, 1, scores.length), prediction };
  }

  return { config, forward };
}

/** x [C, side, side] with a border of zeros around every channel. */
function padded(x, C, side, border) {
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
