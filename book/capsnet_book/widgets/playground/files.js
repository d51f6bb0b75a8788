// Networks as files, as `save_weights` writes and `load_weights` reads them.
import { readSafetensors } from "../shared/core.js";
import { element } from "../shared/ui.js";
import { SETTINGS } from "./settings.js";
import { D, D_IN, HIDDEN, J, KERNEL, SIDE, TAPS } from "./sizes.js";

/** The network's sizes, under the names of Python's CapsNetConfig. */
export const configOf = ({ types, rounds }) => ({
  image_size: SIDE,
  in_channels: 1,
  conv_channels: 8 * types,
  conv_kernel: KERNEL,
  conv_stride: 2,
  primary_types: types,
  primary_dim: D_IN,
  primary_kernel: TAPS,
  primary_stride: 2,
  classes: J,
  class_dim: D,
  iterations: rounds,
  decoder_hidden: HIDDEN,
});

/** @param {Record<string, { shape: number[], data: Float32Array<ArrayBuffer> }>} tensors @param {any} config */
export async function toSafetensors(tensors, config) {
  const header = { __metadata__: { config: JSON.stringify(config) } };
  let end = 0;
  for (const [name, { shape, data }] of Object.entries(tensors)) {
    header[name] = { dtype: "F32", shape, data_offsets: [end, end + data.byteLength] };
    end += data.byteLength;
  }
  const text = JSON.stringify(header);
  const padded = text.padEnd(8 * Math.ceil(text.length / 8)); // all of it ASCII
  const length = new BigUint64Array([BigInt(padded.length)]);
  const file = new Blob([length, padded, ...Object.values(tensors).map(({ data }) => data)]);
  return new Uint8Array(await file.arrayBuffer());
}

/** The network in a file, if one like it can be raised here. @param {ArrayBuffer} bytes */
export function fromSafetensors(bytes) {
  const { tensors, metadata } = readSafetensors(bytes);
  if (!metadata.config)
    throw new Error("expected a file that save_weights wrote; got one without a config");
  const {
    primary_types: types,
    iterations: rounds,
    conv_channels,
    decoder_hidden,
  } = JSON.parse(metadata.config);
  if (
    !SETTINGS.types.offers.includes(types) ||
    conv_channels !== 8 * types ||
    String(decoder_hidden) !== `${HIDDEN}`
  )
    throw new Error(
      "expected a network of this page’s sizes (the small one, or its sisters); got others",
    );
  return {
    tensors,
    types,
    rounds: SETTINGS.rounds.offers.includes(rounds) ? rounds : SETTINGS.rounds.usual,
  };
}

/** Hands bytes to the reader as a file. */
export function download(bytes, name) {
  const url = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
