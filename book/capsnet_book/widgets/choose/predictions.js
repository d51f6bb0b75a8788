// Chapter 5: which letters make all predictions of a batch?

import { makeArrow } from "../shared/controls.js";
import { route } from "../shared/core.js";
import { axesOf } from "../shared/principal.js";
import { t } from "../shared/t.js";
import { setAttributes, svg } from "../shared/ui.js";
import { answerOf, inWords, makeView } from "./view.js";

/** @typedef {import("./view.js").Setting} Setting */
/** @typedef {{ shape: number[], data: Float32Array }} Tensor */

/** Calls back for each number of the weight, with its indices. */
function forEachWeight(weight, call) {
  const [I, J, D_in, D_out] = weight.shape;
  let k = 0;
  for (let i = 0; i < I; i++)
    for (let j = 0; j < J; j++)
      for (let d = 0; d < D_in; d++)
        for (let e = 0; e < D_out; e++) call(weight.data[k++], i, j, d, e);
}

/**
 * What torch.einsum makes of one image with an option's letters. u [I, D_in],
 * weight [I, J, D_in, D_out]
 * @param {number} option @param {ArrayLike<number>} u @param {Tensor} weight @returns {Tensor}
 */
export function einsum(option, u, weight) {
  const [I, J, D_in, D_out] = weight.shape;
  const all = new Float32Array(D_in); // the sum of all u_i
  for (let k = 0; k < u.length; k++) all[k % D_in] += u[k];
  const shapes = [
    [I, J, D_out],
    [J, D_out],
    [I, J, D_out],
    [I, J, D_in],
  ];
  const shape = shapes[option];
  const data = new Float32Array(shape.reduce((size, n) => size * n, 1));
  forEachWeight(weight, (w, i, j, d, e) => {
    const pair = i * J + j;
    const places = [pair * D_out + e, j * D_out + e, pair * D_out + e, pair * D_in + d];
    const x = option === 2 ? all[d] : u[i * D_in + d];
    data[places[option]] += w * x;
  });
  return { shape, data };
}

/** Class capsules from predictions, or null where their shape cannot be routed and drawn. */
export function capsulesFrom(/** @type {Tensor} */ { shape, data }, /** @type {any} */ network) {
  const { I, J, D_out } = network;
  const fits = shape.length === 3 && shape[2] === D_out;
  return fits ? route(data, I, J, D_out, 3).v[2] : null;
}

const SIZE = { width: 320, height: 200 };
const MIDDLE = [SIZE.width / 2, SIZE.height / 2];
const REACH = 92; // of the longest arrow, in units of the viewBox

/** Vectors as arrows from one point, in the plane in which they differ most. */
function makeFan(/** @type {number} */ count) {
  const arrows = Array.from({ length: count }, () => makeArrow("vote"));
  const about = { role: "img", "aria-label": t`The predictions for one class as arrows` };
  const size = `0 0 ${SIZE.width} ${SIZE.height}`;
  const dot = svg("circle", { cx: MIDDLE[0], cy: MIDDLE[1], r: 3, class: "dot" });
  const node = svg("svg", { viewBox: size, class: "fan", ...about }, dot);
  node.append(...arrows.map((arrow) => arrow.node));
  const show = (/** @type {Float32Array[]} */ vectors, /** @type {string} */ kind) => {
    setAttributes(node, { class: `fan ${kind}` });
    const axes = vectors.length > 1 ? axesOf(vectors) : [];
    const inPlane = vectors.map((vector) =>
      [0, 1].map((n) =>
        axes[n] ? dotOf(vector, axes[n]) : Number(n === 0) * Math.hypot(...vector),
      ),
    );
    const longest = Math.max(...inPlane.map(([x, y]) => Math.hypot(x, y)), 1e-9);
    arrows.forEach((arrow, n) => {
      const [x, y] = inPlane[n] ?? [0, 0];
      const tip = [MIDDLE[0] + (x / longest) * REACH * 1.5, MIDDLE[1] - (y / longest) * REACH];
      arrow.point(MIDDLE, tip, { size: 7 });
    });
  };
  return { node, show };
}

const dotOf = (/** @type {ArrayLike<number>} */ a, /** @type {ArrayLike<number>} */ b) =>
  Array.from(a).reduce((sum, x, d) => sum + x * b[d], 0);

/** The vectors for class j. @param {Tensor} tensor @param {number} j @param {number} J */
function votesFor({ shape, data }, j, J) {
  const D = shape.at(-1);
  const parts = data.length / (J * D);
  return Array.from({ length: parts }, (_, i) =>
    data.subarray((i * J + j) * D, (i * J + j + 1) * D),
  );
}

/** @type {import("./view.js").Option[]} */
const options = [
  {
    code: 'u_hat = torch.einsum("bid,ijde->bije", u, weight)',
    right: true,
    says: ({ reads }) =>
      t`Part i meets its own matrices, d is summed over, and 16 numbers remain for each part and
        class. ${reads}`,
  },
  {
    code: 'u_hat = torch.einsum("bid,ijde->bje", u, weight)',
    says: () =>
      t`The i is missing in the result, so it is summed over: 72 predictions have become one. There
        is nobody left to agree, and routing has nothing to route.`,
  },
  {
    code: 'u_hat = torch.einsum("bkd,ijde->bije", u, weight)',
    says: ({ reads }) =>
      t`Here u has another letter than the weight: every matrix gets the sum of all 72 parts. The
        shape is right, but no part speaks for itself. ${reads}`,
  },
  {
    code: 'u_hat = torch.einsum("bid,ijde->bijd", u, weight)',
    says: () =>
      t`The e is summed over instead of the d: each prediction has 8 numbers, the part's own, each
        multiplied by one factor. The decoder expects 16.`,
  },
];

export const predictions = {
  asks: t`Which letters let each part predict each class?`,
  before: { code: "# u [B, 72, 8], weight [72, 10, 8, 16]" },
  options,
  after: { code: "v = route(u_hat)" },
  make(/** @type {Setting} */ setting) {
    const { network, image, label } = setting;
    const { u } = network.look(image);
    const fan = makeFan(network.I);
    const view = makeView(setting, fan.node);
    const show = (/** @type {number} */ option) => {
      if (option < 0) {
        fan.show([], "");
        view.say(t`the predictions for the ${label}`);
        view.draw(null, t`what it draws`);
        return "";
      }
      const weight = {
        shape: [network.I, network.J, network.D_in, network.D_out],
        data: network.W.data,
      };
      const u_hat = einsum(option, u, weight);
      fan.show(votesFor(u_hat, label, network.J), options[option].right ? "right" : "wrong");
      view.say(t`the predictions for the ${label}; shape [1, ${u_hat.shape.join(", ")}]`);
      const v = capsulesFrom(u_hat, network);
      if (!v) {
        view.draw(null, t`no drawing`);
        return options[option].says({});
      }
      const answer = answerOf(network, v);
      view.draw(answer.drawing, t`what the network draws: ${answer.name}`);
      return options[option].says({ reads: inWords(answer) });
    };
    return { node: view.node, show };
  },
};
