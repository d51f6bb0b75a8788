// What a capsule network costs: parameters, operations, bytes and the least time, from its sizes.
import { clamp } from "./shared/ui.js";

const CACHE_BYTES = 8 * 2 ** 20; // fast.CACHE_BYTES: what the buffer of routing without û may take
const IMAGE = 28;
export const PRESETS = {
  paper: { channels: 256, kernel: 9, stride: 1, primaryKernel: 9, types: 32, hidden: [512, 1024] },
  small: { channels: 64, kernel: 9, stride: 2, primaryKernel: 5, types: 8, hidden: [128, 256] },
};

/**
 * What a forward pass costs. Operations are those of matrix products and convolutions, two for a multiplication and
 * an addition; bytes are what moves from and to memory if each product reads its inputs and writes its result once.
 * sizes: { preset, batch, types, inDim, outCapsules, outDim, rounds, bytes }
 * -> { grid, inCapsules, uHat, buffer, stages }; stages: convolutions, withUHat, without and decoder, each of
 * { parameters, flops, bytes }
 */
export function costs({ preset, batch, types, inDim, outCapsules, outDim, rounds, bytes }) {
  const { channels, kernel, stride, primaryKernel, hidden } = PRESETS[preset];
  const side = Math.floor((IMAGE - kernel) / stride) + 1;
  const grid = Math.floor((side - primaryKernel) / 2) + 1;
  const inCapsules = types * grid ** 2;

  const weights = [channels * kernel ** 2, types * inDim * channels * primaryKernel ** 2];
  const maps = [IMAGE ** 2, channels * side ** 2, inCapsules * inDim]; // numbers an image
  const convolutions = {
    parameters: weights[0] + channels + weights[1] + types * inDim,
    flops: 2 * batch * (side ** 2 * weights[0] + grid ** 2 * weights[1]),
    bytes: bytes * (batch * (maps[0] + 2 * maps[1] + maps[2]) + weights[0] + weights[1]),
  };

  const matrices = inCapsules * outCapsules * inDim * outDim;
  const u = batch * inCapsules * inDim;
  const predictions = batch * inCapsules * outCapsules * outDim; // û
  const pairs = batch * inCapsules * outCapsules; // c, or the agreement
  const outputs = batch * outCapsules * outDim; // s, or v
  const products = 2 * rounds - 1; // a weighted sum every round, an agreement after all but the last
  const withUHat = {
    parameters: matrices,
    flops: 2 * predictions * inDim + products * 2 * predictions,
    bytes: bytes * (u + matrices + predictions + products * (predictions + pairs + outputs)),
  };
  const without = {
    // the first sum has even couplings: one product, and no c to read; float32 throughout
    parameters: matrices,
    flops: products * 2 * predictions * inDim,
    bytes: 4 * (products * (u + matrices + outputs) + (products - 1) * pairs),
  };
  const atOnce = clamp(Math.floor(CACHE_BYTES / (4 * u)), 1, outCapsules);

  const widths = [outCapsules * outDim, ...hidden, IMAGE ** 2];
  const decoder = { parameters: 0, flops: 0, bytes: 0 };
  for (let k = 1; k < widths.length; k++) {
    decoder.parameters += (widths[k - 1] + 1) * widths[k];
    decoder.flops += 2 * batch * widths[k - 1] * widths[k];
    decoder.bytes += bytes * (batch * (widths[k - 1] + widths[k]) + widths[k - 1] * widths[k]);
  }
  return {
    grid,
    inCapsules,
    uHat: bytes * predictions,
    buffer: rounds > 1 ? 4 * u * atOnce : 0,
    stages: { convolutions, withUHat, without, decoder },
  };
}

/** The roofline: seconds that a stage takes at least, and what limits it. peak in GFLOP/s, bandwidth in GB/s */
export function leastTime({ flops, bytes }, peak, bandwidth) {
  const [arithmetic, memory] = [flops / (1e9 * peak), bytes / (1e9 * bandwidth)];
  return { seconds: Math.max(arithmetic, memory), limit: arithmetic >= memory ? "arithmetic" : "memory" };
}

/** What the numbers mean: who takes the time, and what leaving û out changes. */
export function remarkOn({ withUHat, without }, times, seconds) {
  const share = Math.round((100 * times.convolutions.seconds) / seconds);
  const more = without.flops / withUHat.flops;
  const work = Math.abs(more - 1) < 0.05 ? "as much arithmetic as" : `${short(more)} times the arithmetic of`;
  const moved = `${memory(without.bytes)} to move instead of ${memory(withUHat.bytes)}`;
  return (
    `Without û there is ${work} routing with it, and ${moved}. The convolutions take ${share} % of the least time. ` +
    "No program reaches it: operations wait for each other, and squash and softmax are not counted."
  );
}

/** Three digits that count. */
export function short(x) {
  if (x >= 100) return Math.round(x).toLocaleString("en");
  return x >= 10 ? x.toFixed(1) : x >= 0.01 || x === 0 ? x.toFixed(2) : x.toPrecision(1);
}

export const memory = (bytes) => (bytes >= 1e9 ? `${short(bytes / 1e9)} GB` : `${short(bytes / 1e6)} MB`);
