// Chapter 6: which line is the agreement, and which shares the parts out?
import { agreements, softmaxOverJ, squash, weightedSums } from "../shared/core.js";
import { t } from "../shared/t.js";
import { element } from "../shared/ui.js";
import { answerOf, DIGITS, hasNan, inWords, makeRow, makeView } from "./view.js";

/** @typedef {import("./view.js").Setting} Setting */
/** @typedef {(b: Float32Array, I: number, J: number) => Float32Array} Share */
/** @typedef {(u_hat: Float32Array, v: Float32Array, I: number, J: number, D: number) =>
 *   Float32Array | null} Agreement  null: its shape does not fit b */

const ROUNDS = 3;

/** [I, J] -> [J, I] */
const transposed = (/** @type {Float32Array} */ rows, I, J) =>
  Float32Array.from({ length: I * J }, (_, k) => rows[(k % I) * J + Math.floor(k / I)]);

/** b / b.sum(dim=2): each row divided by its sum. @type {Share} */
function divided(b, I, J) {
  const c = new Float32Array(I * J);
  for (let i = 0; i < I; i++) {
    const row = b.subarray(i * J, (i + 1) * J);
    const sum = row.reduce((total, x) => total + x, 0);
    for (let j = 0; j < J; j++) c[i * J + j] = row[j] / sum;
  }
  return c;
}

/** What the lines of `sharing` make of b [I, J]. @type {Share[]} */
export const SHARES = [
  (b, I, J) => transposed(softmaxOverJ(transposed(b, I, J), J, I), J, I),
  softmaxOverJ,
  divided,
  (b) => b.slice(),
];

/** Σ_d of a function of the two vectors' numbers. @returns {Agreement} */
function summed(/** @type {(x: number, y: number) => number} */ term, mean = false) {
  return (u_hat, v, I, J, D) => {
    const a = new Float32Array(I * J);
    for (let k = 0; k < I * J; k++) {
      let sum = 0;
      for (let d = 0; d < D; d++) sum += term(u_hat[k * D + d], v[(k % J) * D + d]);
      a[k] = mean ? sum / D : sum;
    }
    return a;
  };
}

/** What the lines of `agreeing` make of û [I, J, D] and v [J, D]. @type {Agreement[]} */
export const AGREEMENTS = [
  summed((x, y) => x * y, true),
  summed((x, y) => (x - y) ** 2),
  () => null,
  agreements,
];

/**
 * Procedure 1 with other lines in it; null where one raises an error.
 * @param {any} network @param {Float32Array} u_hat @param {{ share?: Share, agree?: Agreement }} _
 */
export function routeBy({ I, J, D_out }, u_hat, { share = softmaxOverJ, agree = agreements }) {
  const b = new Float32Array(I * J);
  /** @type {Float32Array} */
  let c = b;
  /** @type {Float32Array} */
  let v = b;
  for (let round = 0; round < ROUNDS; round++) {
    c = share(b, I, J);
    v = weightedSums(c, u_hat, I, J, D_out);
    for (let j = 0; j < J; j++) squash(v, j * D_out, D_out);
    const a = agree(u_hat, v, I, J, D_out);
    if (!a) return null;
    for (let k = 0; k < I * J; k++) b[k] += a[k];
  }
  return { c, v };
}

/** What each part gives, [I], and each class receives, [J]. c [I, J] */
export function given(/** @type {Float32Array} */ c, /** @type {number} */ J) {
  const gives = new Float32Array(c.length / J);
  const receives = new Float32Array(J);
  c.forEach((share, k) => {
    gives[Math.floor(k / J)] += share;
    receives[k % J] += share;
  });
  return { gives, receives };
}

/** The picture of both questions: what parts give and classes receive. */
function makePicture(setting, options, linesOf) {
  const { network, image, label } = setting;
  const { u_hat } = network.look(image);
  const givers = makeRow({
    count: network.I,
    label: t`each of the 72 parts gives`,
    line: 1,
    most: 1.4,
  });
  const takers = makeRow({
    count: network.J,
    label: t`each class receives`,
    most: 14,
    names: DIGITS,
  });
  const view = makeView(setting, element("div", {}, givers.node, takers.node));
  const show = (/** @type {number} */ option) => {
    const routed = option < 0 ? null : routeBy(network, u_hat, linesOf(option));
    const { gives, receives } = given(
      routed?.c ?? new Float32Array(network.I * network.J),
      network.J,
    );
    const verdict = options[option]?.right ? "right" : "wrong";
    const kind = option < 0 ? "" : verdict;
    givers.show(gives, () => kind);
    takers.show(receives, (j) => (j === label ? kind : ""));
    view.say(hasNan(gives) ? t`the shares: nan` : t`the shares after three rounds; dashed: 1`);
    if (!routed) {
      view.draw(null, option < 0 ? t`what it draws` : t`no drawing: an error`);
      return option < 0 ? "" : options[option].says({});
    }
    const answer = answerOf(network, routed.v);
    const read = answer.prediction < 0 ? "nothing" : answer.name;
    view.draw(answer.drawing, t`what the network draws: ${read}`);
    const sums = [...gives].sort((x, y) => x - y);
    const result = { least: sums[0], most: sums.at(-1), to: receives[label], label };
    return options[option].says({ ...result, reads: inWords(answer) });
  };
  return { node: view.node, show };
}

/** @type {import("./view.js").Option[]} */
const sharingOptions = [
  {
    code: "c = b.softmax(dim=1)",
    says: ({ least, most, reads }) =>
      t`The shares sum to 1 over the parts, not the classes. Every class receives exactly 1, and a
        part gives ${least.toFixed(2)} to ${most.toFixed(2)} in all. ${reads}`,
  },
  {
    code: "c = b.softmax(dim=2)",
    right: true,
    says: ({ to, label, reads }) =>
      t`Each part gives exactly 1, and the ${label} receives ${to.toFixed(1)} of 72. ${reads}`,
  },
  {
    code: "c = b / b.sum(dim=2, keepdim=True)",
    says: ({ reads }) => t`In the first round b is 0, and 0 divided by 0 is nan. ${reads}`,
  },
  {
    code: "c = b",
    says: ({ reads }) =>
      t`b starts at 0: nobody gives anything, so v is 0, no vote agrees with it, and b stays at 0.
        ${reads}`,
  },
];

/** @type {import("./view.js").Option[]} */
const agreeingOptions = [
  {
    code: "a = (u_hat * v[:, None]).mean(dim=3)",
    says: ({ to, label, reads }) =>
      t`The mean of 16 products in place of their sum, 16 times too little: the ${label} receives
        ${to.toFixed(1)} of 72, hardly more than the others. ${reads}`,
  },
  {
    code: "a = (u_hat - v[:, None]).square().sum(dim=3)",
    says: ({ to, label, reads }) =>
      t`That is a distance: the vote that fits worst gets the largest share. The ${label} receives
        ${to.toFixed(1)} of 72. ${reads}`,
  },
  {
    code: "a = (u_hat * v[:, None]).sum(dim=2)",
    says: () =>
      t`It sums over the classes, and b, [1, 72, 10], meets a, [1, 72, 16]: PyTorch raises an error.
        A friendly bug.`,
  },
  {
    code: "a = (u_hat * v[:, None]).sum(dim=3)",
    right: true,
    says: ({ to, label, reads }) =>
      t`The scalar product of each vote with what came out: the ${label} receives ${to.toFixed(1)}
        of 72. ${reads}`,
  },
];

export const sharing = {
  asks: t`Which line lets each part share out one voice among the ten classes?`,
  before: { code: "b = u_hat.new_zeros(B, I, J)\nfor _ in range(3):" },
  options: sharingOptions,
  after: {
    code: `    v = squash(torch.einsum("bij,bije->bje", c, u_hat))
    b = b + agreement(u_hat, v)`,
  },
  make: (/** @type {Setting} */ setting) =>
    makePicture(setting, sharingOptions, (option) => ({ share: SHARES[option] })),
};

export const agreeing = {
  asks: t`Which line says how well each vote fits what came out?`,
  before: { code: "# u_hat [B, 72, 10, 16], v [B, 10, 16]" },
  options: agreeingOptions,
  after: { code: "b = b + a  # [B, 72, 10]" },
  make: (/** @type {Setting} */ setting) =>
    makePicture(setting, agreeingOptions, (option) => ({ agree: AGREEMENTS[option] })),
};
