// Chapter 8: which capsules may draw while the network learns?

import { t } from "../shared/t.js";
import { format } from "../shared/ui.js";
import { DIGITS, makeRow, makeView } from "./view.js";

/** @typedef {import("./view.js").Setting} Setting */

/** softmax over ten numbers. @param {ArrayLike<number>} numbers */
export function softmax(numbers) {
  const powers = Array.from(numbers, (x) => Math.exp(x));
  const sum = powers.reduce((total, x) => total + x, 0);
  return powers.map((x) => x / sum);
}

const oneHot = (/** @type {number} */ j) => Array.from({ length: 10 }, (_, k) => Number(k === j));

/**
 * What an option keeps of each capsule. @param {number} option @param {ArrayLike<number>} lengths
 */
export function keptBy(option, lengths, /** @type {number} */ label) {
  const longest = Array.from(lengths).indexOf(Math.max(...Array.from(lengths)));
  return [
    () => oneHot(longest),
    () => oneHot(label),
    () => oneHot(label).map((share) => 1 - share),
    () => softmax(lengths),
  ][option]();
}

/** Capsules [J, D] times what is kept of each. @param {Float32Array} v @param {number[]} kept */
export const masked = (v, kept) =>
  v.map((x, k) => x * kept[Math.floor(k / (v.length / kept.length))]);

/** @type {import("./view.js").Option[]} */
const options = [
  {
    code: "keep = F.one_hot(lengths.argmax(dim=1), 10)",
    says: ({ label, read, error }) =>
      t`The capsule of the ${read} draws, and is blamed for not drawing the ${label} (squared error
        ${error}): it would learn to draw a ${label}. The ${label}'s own capsule learns nothing.`,
  },
  {
    code: "keep = F.one_hot(labels, 10)",
    right: true,
    says: ({ label, error }) =>
      t`The capsule of the ${label} draws, though it is not the longest: this one has to learn it
        (squared error ${error}).`,
  },
  {
    code: "keep = 1 - F.one_hot(labels, 10)",
    says: ({ label, error }) =>
      t`The mask is inverted: all capsules draw but that of the ${label}. The drawing is of no
        digit, squared error ${error}.`,
  },
  {
    code: "keep = lengths.softmax(dim=1)",
    says: ({ error }) =>
      t`All ten draw at once, each with about a tenth of its numbers: a blur, squared error
        ${error}. No capsule has to hold the pose alone.`,
  },
];

export const masking = {
  asks: t`In training: the network takes this digit for another one. Which line lets the right
    capsule draw?`,
  before: { code: "# lengths [B, 10], labels [B]" },
  options,
  after: { code: "drawing = decoder((v * keep[:, :, None]).flatten(1))" },
  make(/** @type {Setting} */ setting) {
    const { network, image, label } = setting;
    const { capsules, lengths, prediction } = network.forward(image);
    const read = network.names[prediction];
    const words = t`lengths; it reads ${read}, its label is ${label}`;
    const row = makeRow({ count: 10, label: words, tall: 110, names: DIGITS });
    const view = makeView(setting, row.node);
    const show = (/** @type {number} */ option) => {
      const kept = option < 0 ? null : keptBy(option, lengths, label);
      const kind = options[option]?.right ? "right" : "wrong";
      row.show(lengths, (j) => (kept && kept[j] > 0 ? kind : ""));
      view.say(kept ? t`in colour: the capsules that draw` : t`the lengths of the ten capsules`);
      if (!kept) {
        view.draw(null, t`what is drawn`);
        return "";
      }
      const drawing = network.decode(masked(capsules, kept));
      view.draw(drawing, t`what is drawn`);
      const error = drawing.reduce((sum, grey, k) => sum + (grey - image[k]) ** 2, 0);
      return options[option].says({ label, read, error: format(error, 0) });
    };
    return { node: view.node, show };
  },
};
