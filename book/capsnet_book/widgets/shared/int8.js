// Weights that travel in eight bits a number (capsnet_tutorial/int8.py): whole numbers, and a scale for each row.

/**
 * A safetensors file with int8 tensors -> the same file in float32; everything else is copied as it is.
 * NAME [N, …] of whole numbers and NAME.scale [N] become NAME [N, …] = whole numbers · scale, row by row.
 */
export function unpackInt8(source) {
  const bytes = new Uint8Array(source.buffer ?? source, source.byteOffset ?? 0, source.byteLength);
  const { start, metadata, entries } = readHeader(bytes);
  const piece = (name) => bytes.slice(start + entries[name].data_offsets[0], start + entries[name].data_offsets[1]);

  const header = { __metadata__: metadata };
  const pieces = [];
  let at = 0;
  for (const [name, { dtype, shape }] of Object.entries(entries)) {
    if (name.endsWith(".scale") && entries[name.slice(0, -".scale".length)]?.dtype === "I8") continue;
    let data = piece(name);
    if (dtype === "I8") {
      const [N] = shape;
      const scale = entries[`${name}.scale`];
      if (scale?.dtype !== "F32" || String(scale.shape) !== String([N])) {
        const came = scale ? `${scale.dtype} [${scale.shape}]` : "none";
        throw new Error(`weights: expected ${N} scales in F32 beside ${name} [${shape}], got ${came}`);
      }
      data = scaled(new Int8Array(data.buffer), new Float32Array(piece(`${name}.scale`).buffer));
    }
    header[name] = { dtype: dtype === "I8" ? "F32" : dtype, shape, data_offsets: [at, at + data.length] };
    at += data.length;
    pieces.push(data);
  }
  return joined(header, pieces, at);
}

/** Each row times its scale, as bytes of float32. */
function scaled(whole, scale) {
  const row = whole.length / scale.length;
  const floats = new Float32Array(whole.length);
  for (let k = 0; k < whole.length; k++) floats[k] = whole[k] * scale[Math.floor(k / row)];
  return new Uint8Array(floats.buffer);
}

function readHeader(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = bytes.length < 8 ? Infinity : 8 + Number(view.getBigUint64(0, true));
  if (start > bytes.length) throw new Error(`weights: expected a safetensors file, got ${bytes.length} bytes`);
  const { __metadata__: metadata, ...entries } = JSON.parse(new TextDecoder().decode(bytes.subarray(8, start)));
  const end = start + Math.max(...Object.values(entries).map(({ data_offsets: [, to] }) => to));
  if (end > bytes.length) throw new Error(`weights: expected ${end} bytes, got ${bytes.length}: the file is cut short`);
  return { start, metadata, entries };
}

function joined(header, pieces, length) {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const file = new Uint8Array(8 + text.length + length);
  new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true);
  file.set(text, 8);
  let at = 8 + text.length;
  for (const data of pieces) {
    file.set(data, at);
    at += data.length;
  }
  return file;
}
