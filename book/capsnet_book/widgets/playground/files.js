// Networks as files, as `save_weights` writes and `load_weights` reads them.
import { readSafetensors } from "../shared/core.js";
import { t } from "../shared/t.js";
import { element } from "../shared/ui.js";
import { SETTINGS } from "./settings.js";
import { fromText } from "./sign.js";
import { D, D_IN, HIDDEN, J, KERNEL, SIDE, TAPS } from "./sizes.js";

/** Return the network's sizes, under the names of Python's CapsNetConfig. */
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

/** Return JSON as ASCII: a byte a letter. */
const inAscii = (/** @type {string} */ json) =>
  json.replace(/[\u0080-\uffff]/g, (letter) => {
    const code = letter.charCodeAt(0).toString(16).padStart(4, "0");
    return `\\u${code}`;
  });

/**
 * Return a file's bytes: 8 bytes of length, a JSON header, the numbers.
 * @param {Record<string, { shape: number[], data: Float32Array<ArrayBuffer> }>} tensors
 * @param {any} config
 * @param {Record<string, string>} about  what else is said of the network
 */
export async function toSafetensors(tensors, config, about = {}) {
  const header = { __metadata__: { config: JSON.stringify(config), ...about } };
  let end = 0;
  for (const [name, { shape, data }] of Object.entries(tensors)) {
    header[name] = { dtype: "F32", shape, data_offsets: [end, end + data.byteLength] };
    end += data.byteLength;
  }
  const text = inAscii(JSON.stringify(header));
  const padded = text.padEnd(8 * Math.ceil(text.length / 8));
  const length = new BigUint64Array([BigInt(padded.length)]);
  const numbers = Object.values(tensors).map(({ data }) => data);
  const file = new Blob([length, padded, ...numbers]);
  return new Uint8Array(await file.arrayBuffer());
}

/** Return the config that a file holds. @throws {Error} where it holds none */
function configIn(/** @type {Record<string, string>} */ metadata) {
  try {
    const config = JSON.parse(metadata.config);
    if (config !== null && typeof config === "object") return config;
  } catch {} // no JSON is no config either
  throw new Error(t`expected a file that save_weights wrote; got one without a config`);
}

/** Return the set that a file's network reads. @throws {Error} where there is none such */
function dataIn({ data = JSON.stringify(SETTINGS.data.usual) }) {
  const name = SETTINGS.data.offers.find((offer) => JSON.stringify(offer) === data);
  if (name) return name;
  throw new Error(t`expected a network of ${SETTINGS.data.offers.join(" / ")}; got another`);
}

/** @throws {Error} where a weight is nan or infinite: nothing could be learned from there */
function expectFinite(/** @type {Record<string, { data: Float32Array }>} */ tensors) {
  for (const [name, { data }] of Object.entries(tensors)) {
    if (!data.every(Number.isFinite))
      throw new Error(t`expected finite numbers in ${name}; got nan or infinity`);
  }
}

/**
 * Return the network in a file, if one like it can be raised here.
 * @param {ArrayBuffer} bytes
 * @returns {{ tensors: any, types: number, rounds: number, data: string, remark: string,
 *   sign: import("./sign.js").Sign | undefined }} sign: the reader's; remark: what the page does
 *   otherwise than the file says
 * @throws {Error} in words, where it cannot
 */
export function fromSafetensors(bytes) {
  const { tensors, metadata } = readSafetensors(bytes);
  const config = configIn(metadata);
  const types = config.primary_types;
  const isOurs =
    SETTINGS.types.offers.includes(types) &&
    config.conv_channels === 8 * types &&
    String(config.decoder_hidden) === String(HIDDEN);
  if (!isOurs)
    throw new Error(
      t`expected a network of this page’s sizes (the small one, or its sisters); got others`,
    );
  expectFinite(tensors);
  const sign = fromText(metadata.sign);
  const data = dataIn(metadata);
  const { iterations } = config;
  const { offers, usual } = SETTINGS.rounds;
  const network = { tensors, types, data, sign };
  if (offers.includes(iterations)) return { ...network, rounds: iterations, remark: "" };
  const remark = t`It was saved with ${iterations} rounds of routing, which this page does not
    offer: here it has ${usual}.`;
  return { ...network, rounds: usual, remark };
}

/** Hand bytes to the reader as a file. */
export function download(bytes, name) {
  const url = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
