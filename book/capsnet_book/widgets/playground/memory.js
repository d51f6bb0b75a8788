// One memory for all numbers of a training: WebAssembly's, or an ArrayBuffer of the same plan.
import { parameterList } from "./parameters.js";
import { D, D_IN, HIDDEN, J, MAPS, PIXELS, PLACES, ROW } from "./sizes.js";

const PAGE = 65536; // bytes; WebAssembly's

/**
 * Where everything lies: `at` has pointers in bytes, each a multiple of 16, of parameters and of what the layers hold
 * for a batch, by name; of(name, t) of what the routing holds of round t. The gradient of what lies at a pointer is
 * `gap` bytes further on. Of the parameters, first of all, with `count` numbers, Adam's two means and the average over
 * steps follow, and at `turn` bytes from each weight there is room for it transposed. `y` and `dy` show the numbers and
 * gradients of the layers.
 */
export function planMemory({ types, batch: B, rounds }) {
  const [C, I] = [8 * types, PLACES * types];
  const parameters = parameterList(types);
  const count = parameters.reduce((all, { size }) => all + size, 0);
  const rows = { c: B * I * ROW, s: B * J * D, v: B * J * D };
  const layers = {
    x: B * PIXELS,
    maps: B * MAPS * C,
    features: B * I * D_IN,
    u: B * I * D_IN,
    votes: B * I * J * D,
    b: B * I * ROW,
    ...Object.fromEntries(Object.entries(rows).map(([name, size]) => [name, rounds * size])),
    masked: B * J * D,
    hidden1: B * HIDDEN[0],
    hidden2: B * HIDDEN[1],
    drawing: B * PIXELS,
  };
  const first = 64; // nothing at 0
  const at = Object.fromEntries(parameters.map(({ name, from }) => [name, first + 4 * from]));
  let end = first + 4 * count;
  for (const [name, size] of Object.entries(layers)) {
    at[name] = end;
    end += 4 * size; // a batch is a multiple of 4
  }
  const gap = end - first;
  const mean = end + gap;
  const average = mean + 8 * count;
  const pages = Math.ceil((mean + 4 * 4 * count) / PAGE);
  const wasm = globalThis.WebAssembly; // where it is refused: a buffer that looks like its memory
  const memory = wasm
    ? new wasm.Memory({ initial: pages })
    : { buffer: new ArrayBuffer(pages * PAGE) };
  const view = (pointer, length) => new Float32Array(memory.buffer, pointer, length);
  const shown = (offset) =>
    Object.fromEntries(
      Object.keys(layers).map((name) => [name, view(at[name] + offset, layers[name])]),
    );
  return {
    ...{
      memory,
      at,
      gap,
      count,
      first,
      mean,
      square: mean + 4 * count,
      average,
      turn: average + 4 * count - first,
    },
    ...{ y: shown(0), dy: shown(gap) },
    of: (name, t) => at[name] + 4 * t * rows[name],
    parameters: view(first, count),
    slopes: view(first + gap, count),
    averages: view(average, count),
    slopesOfLayers: view(at.x + gap, (end - at.x) / 4),
  };
}
