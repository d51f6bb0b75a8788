// Chapter 9: which lines take a step? The decoder's last layer learns ten digits, here.
import { axes } from "../shared/controls.js";
import { linear, relu, sigmoid } from "../shared/core.js";
import { PIXELS } from "../shared/digits.js";
import { t } from "../shared/t.js";
import { format, setAttributes, svg } from "../shared/ui.js";
import { makeView } from "./view.js";

/** @typedef {import("./view.js").Setting} Setting */

const STEPS = 60;
const RATE = 0.02;
const BETA = [0.9, 0.999];
const EPS = 1e-8;

/** The calls of each option, in order. */
const CALLS = [
  ["backward", "step"],
  ["backward", "zero_grad", "step"],
  ["zero_grad", "backward"],
  ["zero_grad", "backward", "step"],
];

/** What the layer is given for a digit, [M], and what it should draw, [784].
 * @typedef {{ inputs: Float32Array, image: Float32Array }} Lesson */

/**
 * Trains a layer that begins at zero to draw digits, one a step and in turn, by Adam with PyTorch's
 * defaults, in an option's order of calls. Parameters [784, M + 1]: the last column is the bias.
 * Returns the squared error of the last digit before each step and at the end, and its drawing.
 * @param {number} option @param {Lesson[]} lessons
 */
export function trained(option, lessons, steps = STEPS) {
  const given = lessons.map(({ inputs }) => Float32Array.from([...inputs, 1]));
  const last = lessons.length - 1;
  const M = given[last].length;
  const weights = new Float32Array(PIXELS * M);
  const gradient = new Float32Array(PIXELS * M);
  const first = new Float32Array(PIXELS * M);
  const second = new Float32Array(PIXELS * M);
  const losses = [];
  const draw = (/** @type {number} */ n) => drawnBy(weights, given[n]);
  const note = () => losses.push(squaredError(draw(last), lessons[last].image));
  const calls = {
    zero_grad: () => gradient.fill(0),
    backward(/** @type {number} */ t) {
      const n = (t - 1) % lessons.length;
      addGradient(gradient, draw(n), lessons[n].image, given[n]);
    },
    step: (/** @type {number} */ t) => stepOfAdam(weights, gradient, first, second, t),
  };
  for (let t = 1; t <= steps; t++) {
    note();
    for (const call of CALLS[option]) calls[call](t);
  }
  note();
  return { losses, drawing: draw(last) };
}

const squaredError = (/** @type {Float32Array} */ drawing, /** @type {Float32Array} */ image) =>
  drawing.reduce((sum, grey, n) => sum + (grey - image[n]) ** 2, 0);

/** sigmoid(W x), [784]. */
function drawnBy(/** @type {Float32Array} */ weights, /** @type {Float32Array} */ x) {
  const y = new Float32Array(PIXELS);
  const M = x.length;
  for (let n = 0; n < PIXELS; n++) {
    let sum = 0;
    for (let m = 0; m < M; m++) sum += weights[n * M + m] * x[m];
    y[n] = sum;
  }
  return sigmoid(y);
}

/** Adds the gradient of the summed squared differences. */
function addGradient(gradient, drawing, image, x) {
  const M = x.length;
  for (let n = 0; n < PIXELS; n++) {
    const y = drawing[n];
    const slope = 2 * (y - image[n]) * y * (1 - y);
    for (let m = 0; m < M; m++) gradient[n * M + m] += slope * x[m];
  }
}

function stepOfAdam(weights, gradient, first, second, /** @type {number} */ t) {
  const size = RATE / (1 - BETA[0] ** t);
  const correction = Math.sqrt(1 - BETA[1] ** t);
  for (let k = 0; k < weights.length; k++) {
    const g = gradient[k];
    first[k] = BETA[0] * first[k] + (1 - BETA[0]) * g;
    second[k] = BETA[1] * second[k] + (1 - BETA[1]) * g * g;
    weights[k] -= (size * first[k]) / (Math.sqrt(second[k]) / correction + EPS);
  }
}

const VIEW = { width: 320, height: 190, left: 34, right: 8, top: 12, bottom: 30 };

/** The loss over the steps. */
function makeCurve(/** @type {number} */ most) {
  const { x, y, path, below, beside } = axes({ ...VIEW, x: [0, STEPS], y: [0, most] });
  const floor = svg("line", { class: "axis", x1: x(0), x2: x(STEPS), y1: y(0), y2: y(0) });
  const curve = svg("path", { class: "graph" });
  const about = { role: "img", "aria-label": t`The squared error of the drawing, step by step` };
  const size = `0 0 ${VIEW.width} ${VIEW.height}`;
  const marks = [...below([0, 20, 40, 60]), ...beside([0, 100])];
  const node = svg("svg", { viewBox: size, ...about }, floor, ...marks, curve);
  const show = (/** @type {number[]} */ losses, /** @type {string} */ kind) => {
    curve.setAttribute("d", path(losses.map((loss, t) => [t, Math.min(loss, most)])));
    setAttributes(curve, { class: `graph ${kind}` });
  };
  return { node, show };
}

/** What the last layer of the decoder is given for an image. */
function inputsFor(/** @type {any} */ network, /** @type {Float32Array} */ image) {
  const { capsules, prediction } = network.forward(image);
  return network.decoder
    .slice(0, -1)
    .reduce((x, layer) => relu(linear(x, layer)), network.mask(capsules, prediction));
}

/** @type {import("./view.js").Option[]} */
const options = [
  {
    code: "loss.backward()\noptimizer.step()",
    says: ({ first, last }) =>
      t`Nothing clears the old gradients: each step goes along the sum of all so far, those of the
        nine other digits too. The squared error begins at ${first} and ends at ${last}.`,
  },
  {
    code: "loss.backward()\noptimizer.zero_grad()\noptimizer.step()",
    says: () =>
      t`The gradients are cleared just before they would be used: every step is zero. The drawing
        stays grey.`,
  },
  {
    code: "optimizer.zero_grad()\nloss.backward()",
    says: () => t`The gradient is computed, but no step is taken. The drawing stays grey.`,
  },
  {
    code: "optimizer.zero_grad()\nloss.backward()\noptimizer.step()",
    right: true,
    says: ({ first, last }) =>
      t`Clear, backward, step: the squared error falls from ${first} to ${last} in ${STEPS} steps.`,
  },
];

export const stepping = {
  asks: t`Ten digits take turns, one a step. Which lines let the decoder learn to draw this one?`,
  before: { code: "loss = capsnet_loss(network(images, labels), images, labels)" },
  options,
  make(/** @type {Setting} */ setting) {
    const lessons = [...setting.others, setting.image].map((image) => {
      const inputs = inputsFor(setting.network, image);
      return { inputs, image };
    });
    const { losses: start } = trained(0, lessons, 0);
    const curve = makeCurve(2 * start[0]);
    const view = makeView(setting, curve.node);
    /** @type {Map<number, ReturnType<typeof trained>>} */
    const runs = new Map(); // each option trains once
    const show = (/** @type {number} */ option) => {
      if (option < 0) {
        curve.show([], "");
        view.say(t`squared error over ${STEPS} steps`);
        view.draw(null, t`what it has learned to draw`);
        return "";
      }
      if (!runs.has(option)) runs.set(option, trained(option, lessons));
      const { losses, drawing } = runs.get(option);
      curve.show(losses, options[option].right ? "right" : "wrong");
      view.say(t`squared error over ${STEPS} steps; the last layer of the decoder learns`);
      view.draw(drawing, t`what it draws after ${STEPS} steps`);
      const rounded = (/** @type {number} */ x) => format(x, x < 10 ? 1 : 0);
      const [first, last] = [losses[0], losses.at(-1)].map(rounded);
      return options[option].says({ first, last });
    };
    return { node: view.node, show };
  },
};
