// Chapter 12: four measured trainings, each with a slip. Which one is yours?
import { axes } from "../shared/controls.js";
import { element, svg } from "../shared/ui.js";
import { radioList } from "./radios.js";

const VIEW = { width: 300, height: 150, left: 30, right: 6, top: 10, bottom: 26 };
const MOST = 2.2; // of the loss

/**
 * What is said of a slip, by its name in results/breaks.json.
 * @type {Record<string, string>}
 */
const SAYS = {
  "`optimizer.step()` forgotten":
    "It stays at 0.90 to the last digit: no weight moves. " +
    "optimizer.step() was forgotten; " +
    "an optimizer that holds another network's weights looks the same. " +
    "Row: “The loss stays at 0.90”.",
  "`optimizer.zero_grad()` forgotten":
    "It rises to about 2, and every image has a capsule of length 1. " +
    "optimizer.zero_grad() was forgotten, so the gradients add up; " +
    "a learning rate of 0.1 looks much the same. Row: “The loss rises to about 2”.",
  "labels shuffled without their images":
    "It hangs between 0.5 and 0.6: it has learned the odds and nothing else. " +
    "The labels were shuffled without their images. " +
    "Row: “The margin loss hangs between 0.5 and 0.6”.",
  "a `detach` below the routing":
    "It learns, and stops early: 85 % are read, where the sound run reads 96 %. " +
    "A detach below the routing keeps the first layers from learning. " +
    "Row: “It learns, and stops early”.",
};
const NAMES = ["A", "B", "C", "D"];

/** A loss curve, and the sound run's behind it. @param {number[]} losses @param {number[]} sound */
function makeCurve(losses, sound, /** @type {number} */ steps) {
  const { x, y, path, below, beside } = axes({ ...VIEW, x: [0, steps], y: [0, MOST] });
  const pointsOf = (/** @type {number[]} */ values) =>
    values.map((loss, n) => [((n + 0.5) * steps) / values.length, Math.min(loss, MOST)]);
  const floor = svg("line", { class: "axis", x1: x(0), x2: x(steps), y1: y(0), y2: y(0) });
  return svg(
    "svg",
    { viewBox: `0 0 ${VIEW.width} ${VIEW.height}`, "aria-hidden": "true" },
    floor,
    ...below([0, steps]),
    ...beside([0, 0.9, 2], 6, String),
    svg("path", { class: "sound", d: path(pointsOf(sound)) }),
    svg("path", { class: "graph", d: path(pointsOf(losses)) }),
  );
}

/** The first and the last of a curve, for who cannot see it. */
const inWords = (/** @type {string} */ name, /** @type {number[]} */ losses) =>
  `Curve ${name}: the loss begins at ${losses[0].toFixed(2)} and ends at ` +
  `${losses.at(-1).toFixed(2)}`;

export function makeCurves(widget) {
  const { curves, steps } = widget.get("data");
  const [sound, ...slips] = curves;
  const options = slips.map(({ losses }, n) => ({
    inside: [element("b", {}, NAMES[n]), makeCurve(losses, sound.losses, steps)],
    label: inWords(NAMES[n], losses),
  }));
  const choose = (/** @type {number} */ chosen) => widget.set({ chosen });
  const asks = "The loss over one epoch; pale: a sound run. Which curve is like yours?";
  const list = radioList(asks, options, choose, "charts");
  return {
    stage: list.node,
    hands: [],
    draw() {
      const chosen = widget.get("chosen");
      list.show(chosen);
      const slip = slips[chosen]?.slip;
      return slip ? SAYS[slip] : "Four trainings, measured. Press the curve that you have seen.";
    },
  };
}
