// Chapter 7: which line is the margin loss?

import { t } from "../shared/t.js";
import { element } from "../shared/ui.js";
import { answerOf, DIGITS, inWords, makeRow, makeView } from "./view.js";

/** @typedef {import("./view.js").Setting} Setting */

const LONG = 0.9;
const SHORT = 0.1;
const STEPS = 400;
const RATE = 0.02;
const CLASSES = 10;

/**
 * The loss of one length and its slope, as an option weighs them. `present`: T, 1 or 0.
 * @type {((missing: number, excess: number, present: number) => { loss: number, slope: number })[]}
 */
const LINES = [
  (missing, excess, present) => ({
    loss: present * missing + 0.5 * (1 - present) * excess,
    slope: -present * Number(missing > 0) + 0.5 * (1 - present) * Number(excess > 0),
  }),
  (missing, excess, present) => ({
    loss: present * missing ** 2 + 0.5 * excess ** 2,
    slope: -2 * present * missing + excess,
  }),
  (missing, excess, present) => ({
    loss: present * missing ** 2 + 0.5 * (1 - present) * excess ** 2,
    slope: -2 * present * missing + (1 - present) * excess,
  }),
  (missing, excess, present) => ({
    loss: (1 - present) * missing ** 2 + 0.5 * present * excess ** 2,
    slope: -2 * (1 - present) * missing + present * excess,
  }),
];

/**
 * The loss of ten lengths, and its gradient.
 * @param {number} option @param {ArrayLike<number>} lengths
 */
export function marginBy(option, lengths, /** @type {number} */ label) {
  const terms = Array.from(lengths, (x, j) =>
    LINES[option](Math.max(LONG - x, 0), Math.max(x - SHORT, 0), Number(j === label)),
  );
  return {
    loss: terms.reduce((sum, term) => sum + term.loss, 0),
    gradient: terms.map((term) => term.slope),
  };
}

/** Where ten lengths come to rest under an option's loss, for these labels in equal shares. */
export function settled(/** @type {number} */ option, lengths, /** @type {number[]} */ labels) {
  let now = Array.from(lengths, Number);
  for (let step = 0; step < STEPS; step++) {
    const gradients = labels.map((label) => marginBy(option, now, label).gradient);
    now = now.map((x, j) => {
      const slope = gradients.reduce((sum, gradient) => sum + gradient[j], 0) / labels.length;
      return Math.min(1, Math.max(0, x - RATE * slope));
    });
  }
  return now;
}

const ALL = Array.from({ length: CLASSES }, (_, j) => j);
const HALF = ALL.map(() => 0.5);

/** @type {import("./view.js").Option[]} */
const options = [
  {
    code: "L = T * missing + 0.5 * (1 - T) * excess",
    says: () =>
      t`Without the squares all is well where the label is known. But a network in doubt is driven
        to 0.1 everywhere: nine weak pulls down outweigh one up, at every length. It falls silent.`,
  },
  {
    code: "L = T * missing**2 + 0.5 * excess**2",
    says: ({ own }) =>
      t`The (1 − T) is missing: the right capsule is pulled down as well, and stops at
        ${own.toFixed(2)} instead of 0.90.`,
  },
  {
    code: "L = T * missing**2 + 0.5 * (1 - T) * excess**2",
    right: true,
    says: ({ own, next, doubt, reads }) =>
      t`The right capsule is ${own.toFixed(2)} long, the next one ${next.toFixed(2)}. In doubt all
        ten stay ${doubt.toFixed(2)} long: "perhaps". ${reads}`,
  },
  {
    code: "L = (1 - T) * missing**2 + 0.5 * T * excess**2",
    says: ({ label }) =>
      t`The halves are swapped: all capsules grow but that of the ${label}. The drawing is of no
        digit.`,
  },
];

/** Vectors made as long as `lengths` say. v [J, D_out] */
function stretched(network, /** @type {Float32Array} */ v, now, lengths) {
  return v.map((x, k) => {
    const j = Math.floor(k / network.D_out);
    return (x * lengths[j]) / Math.max(now[j], 1e-9);
  });
}

export const margin = {
  asks: t`Which line makes the right capsule long and the others short?`,
  before: { code: "missing = (0.9 - lengths).clamp_min(0)\nexcess = (lengths - 0.1).clamp_min(0)" },
  options,
  after: { code: "loss = L.sum(dim=1).mean()" },
  make(/** @type {Setting} */ setting) {
    const { network, image, label } = setting;
    const { capsules, lengths } = network.forward(image);
    const known = makeRow({ count: CLASSES, label: t`lengths that it leads to for this ${label}` });
    const doubt = makeRow({
      count: CLASSES,
      label: t`and where any digit may be meant`,
      names: DIGITS,
    });
    const view = makeView(setting, element("div", {}, known.node, doubt.node));
    const show = (/** @type {number} */ option) => {
      const own = option < 0 ? lengths : settled(option, lengths, [label]);
      const open = option < 0 ? HALF : settled(option, HALF, ALL);
      const kind = options[option]?.right ? "right" : "wrong";
      known.show(own, (j) => (j === label && option >= 0 ? kind : ""));
      doubt.show(open, () => (option === 0 ? kind : ""));
      view.say(
        option < 0 ? t`the lengths before` : t`the lengths after ${STEPS} steps down this loss`,
      );
      if (option < 0) {
        view.draw(null, t`what it draws`);
        return "";
      }
      const answer = answerOf(network, stretched(network, capsules, lengths, own));
      view.draw(answer.drawing, t`what its longest capsule draws: ${answer.name}`);
      const next = Math.max(...own.filter((_, j) => j !== label));
      const result = { own: own[label], next, doubt: open[label], label, reads: inWords(answer) };
      return options[option].says(result);
    };
    return { node: view.node, show };
  },
};
