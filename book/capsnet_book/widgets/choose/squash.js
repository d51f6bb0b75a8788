// Chapter 4: which line squashes every vector, and can be differentiated at zero?

import { axes } from "../shared/controls.js";
import { norm, predictionVectors, route, weightedSums } from "../shared/core.js";
import { t } from "../shared/t.js";
import { setAttributes, svg } from "../shared/ui.js";
import { answerOf, hasNan, inWords, makeView } from "./view.js";

/** @typedef {import("./view.js").Setting} Setting */

const DIM = 8;
const PLACES = 9;
const RATE = 0.01; // of the one step
const EPS = 1e-8;

/**
 * What an option divides by, for a squared length q, and that divisor's slope times `gradient`: as
 * PyTorch goes back through sqrt and clamp_min.
 * @type {{ of: (q: number) => number, back: (q: number, gradient: number) => number }[]}
 */
const DIVISORS = [
  { of: (q) => Math.sqrt(q), back: (q, gradient) => gradient / (2 * Math.sqrt(q)) },
  {
    of: (q) => Math.max(Math.sqrt(q), EPS),
    back: (q, gradient) => (Math.sqrt(q) >= EPS ? gradient : 0) / (2 * Math.sqrt(q)),
  },
  {
    of: (q) => Math.sqrt(Math.max(q, EPS ** 2)),
    back: (q, gradient) =>
      q >= EPS ** 2 ? gradient / (2 * Math.sqrt(Math.max(q, EPS ** 2))) : 0 * gradient,
  },
  { of: () => 1, back: () => 0 },
];

/** v for one vector s, as an option computes it. @param {ArrayLike<number>} s */
export function squashBy(/** @type {number} */ option, s) {
  const q = norm(s) ** 2;
  const share = q / (1 + q);
  const divisor = DIVISORS[option].of(q);
  return Float32Array.from(s, (x) => (share * x) / divisor);
}

/** The gradient of the sum of v's numbers with respect to s. @param {ArrayLike<number>} s */
export function gradientBy(/** @type {number} */ option, s) {
  const q = norm(s) ** 2;
  const share = q / (1 + q);
  const { of, back } = DIVISORS[option];
  const divisor = of(q);
  const sum = Array.from(s).reduce((total, x) => total + x, 0);
  const ofShare = sum / divisor / (1 + q) ** 2;
  const ofDivisor = back(q, (-share * sum) / divisor / divisor);
  return Float32Array.from(s, (x) => share / divisor + 2 * x * (ofShare + ofDivisor));
}

/** The rows of [N, DIM], each made anew. */
function byRow(/** @type {Float32Array} */ rows, /** @type {number} */ dim, change) {
  const changed = new Float32Array(rows.length);
  for (let at = 0; at < rows.length; at += dim)
    changed.set(change(rows.subarray(at, at + dim)), at);
  return changed;
}

/** Class capsules [J, D_out] from capsules s [I, 8], with an option's squash in both layers. */
export function capsulesBy(/** @type {number} */ option, /** @type {any} */ network, s) {
  const { I, J, D_out, W } = network;
  const u_hat = predictionVectors(
    byRow(s, DIM, (row) => squashBy(option, row)),
    W,
  );
  if (hasNan(u_hat)) return new Float32Array(J * D_out).fill(Number.NaN);
  const { c } = route(u_hat, I, J, D_out, 3);
  return byRow(weightedSums(c[2], u_hat, I, J, D_out), D_out, (row) => squashBy(option, row));
}

/** Capsules [I, 8] before squash; the first one sees nothing. features [64, 9] */
export function withOneBlank(/** @type {Float32Array} */ features) {
  const s = new Float32Array(features.length);
  for (let k = DIM; k < s.length; k++) {
    const capsule = Math.floor(k / DIM);
    const channel = Math.floor(capsule / PLACES) * DIM + (k % DIM);
    s[k] = features[channel * PLACES + (capsule % PLACES)];
  }
  return s;
}

/** The same after one step down the gradient of Σ u, taken by the biases of the channels. */
export function afterStep(/** @type {number} */ option, /** @type {Float32Array} */ s) {
  const gradient = byRow(s, DIM, (row) => gradientBy(option, row));
  const ofBias = new Float32Array((s.length / PLACES) | 0);
  const channelOf = (/** @type {number} */ k) => Math.floor(k / DIM / PLACES) * DIM + (k % DIM);
  gradient.forEach((slope, k) => {
    ofBias[channelOf(k)] += slope;
  });
  return s.map((x, k) => x - RATE * ofBias[channelOf(k)]);
}

/** A number as PyTorch prints it: nan in small letters. */
const inTorch = (/** @type {number} */ x) => String(x).toLowerCase();

const FAR = 3;
const VIEW = { width: 320, height: 190, left: 30, right: 8, top: 12, bottom: 28 };

/** The length of v over the length of s, and a dot for the vector of zeros. */
function makeCurve() {
  const { x, y, path, below, beside } = axes({ ...VIEW, x: [0, FAR], y: [0, 1.5] });
  const one = svg("line", { class: "limit", x1: x(0), x2: x(FAR), y1: y(1), y2: y(1) });
  const floor = svg("line", { class: "axis", x1: x(0), x2: x(FAR), y1: y(0), y2: y(0) });
  const curve = svg("path", { class: "graph" });
  const dot = svg("circle", { cx: x(0), r: 6 });
  const place = { x: x(FAR), y: y(0) - 10, "text-anchor": "end" };
  const words = svg("text", { class: "label strong", ...place });
  const about = { role: "img", "aria-label": t`The length of v over the length of s` };
  const size = `0 0 ${VIEW.width} ${VIEW.height}`;
  const marks = [...below([0, 1, 2, 3]), ...beside([0, 1])];
  const node = svg("svg", { viewBox: size, ...about }, one, floor, ...marks, curve, dot, words);
  const show = (/** @type {number} */ option) => {
    dot.toggleAttribute("hidden", option < 0);
    if (option < 0) {
      curve.setAttribute("d", "");
      words.textContent = "";
      return;
    }
    const points = Array.from({ length: 61 }, (_, k) => {
      const length = Math.max((k * FAR) / 60, 1e-3);
      return [length, Math.min(norm(squashBy(option, [length, 0])), 1.6)];
    });
    curve.setAttribute("d", path(points));
    const [value] = squashBy(option, [0, 0]);
    const [slope] = gradientBy(option, [0, 0]);
    const broken = Number.isNaN(value) || Number.isNaN(slope);
    dot.setAttribute("cy", String(y(0)));
    setAttributes(dot, { class: `dot ${broken ? "wrong" : "right"}` });
    words.textContent = t`at zero: value ${inTorch(value)}, gradient ${inTorch(slope)}`;
  };
  return { node, show };
}

/** @type {import("./view.js").Option[]} */
const options = [
  {
    code: "v = squared / (1 + squared) * s / squared.sqrt()",
    says: ({ reads }) =>
      t`One capsule sees nothing: 0 divided by 0 is nan, and routing carries it everywhere. ` +
      `${reads}`,
  },
  {
    code: "v = squared / (1 + squared) * s / squared.sqrt().clamp_min(1e-8)",
    says: () =>
      t`The value at zero is right, and the network would read the digit. But on the way back the
        root at 0 has an infinite slope, and 0 times infinity is nan: after one step nothing is
        left.`,
  },
  {
    code: "v = squared / (1 + squared) * s / squared.clamp_min(1e-16).sqrt()",
    right: true,
    says: ({ reads }) =>
      t`The floor comes before the root: value and gradient at zero are 0, and a step later it still
        works. ${reads}`,
  },
  {
    code: "v = squared / (1 + squared) * s",
    says: ({ reads }) =>
      t`Nothing divides by the length: short vectors vanish, and long ones stay longer than 1.
        ${reads}`,
  },
];

export const squashing = {
  asks: t`One of this digit's 72 capsules sees nothing: its s is all zeros. With which line are v
    and its gradient numbers there, too, and not nan?`,
  before: { code: "squared = (s * s).sum(dim=-1, keepdim=True)  # ‖s‖²" },
  options,
  make(/** @type {Setting} */ setting) {
    const { network, image } = setting;
    const s = withOneBlank(network.look(image).features);
    const curve = makeCurve();
    const view = makeView(setting, curve.node);
    const show = (/** @type {number} */ option) => {
      curve.show(option);
      view.say(t`‖v‖ over ‖s‖`);
      if (option < 0) {
        view.draw(null, t`what it draws after one step`);
        return "";
      }
      const moved = answerOf(network, capsulesBy(option, network, afterStep(option, s)));
      view.draw(moved.drawing, t`what it draws after one step`);
      return options[option].says({ reads: inWords(moved) });
    };
    return { node: view.node, show };
  },
};
