// A patch of 9×9 pixels on a dial, a neuron that looks for it, and a capsule of two such neurons:
// the arithmetic of chapter 2, "A number and a vector".
import { namedSlider } from "../shared/controls.js";
import { makeDial } from "../shared/dial.js";
import { angleOf, direction, wrapped } from "../shared/plane.js";
import { dot } from "../shared/principal.js";
import { t } from "../shared/t.js";
import {
  element,
  figure,
  format,
  pushButton,
  rowOf,
  setAttributes,
  svg,
  write,
} from "../shared/ui.js";
import { makeCapsuleArrow } from "./capsule.js";

/** @typedef {{ turn: number, contrast: number, answer: number, length: number, points: number }}
 *   Reading  turn: degrees clockwise; answer: the neuron's; length: the capsule's; points: degrees
 *   clockwise from the right, where the capsule points */

const SIDE = 9; // pixels
const STEPS = Array.from({ length: SIDE }, (_, k) => k - (SIDE - 1) / 2);
const RIGHT = STEPS.flatMap(() => STEPS); // [81], how far right of the middle a pixel lies
const DOWN = STEPS.flatMap((step) => STEPS.map(() => step)); // [81]
const SQUARES = dot(RIGHT, RIGHT);
const W = RIGHT.map((x) => x / SQUARES); // the neuron's weights
const W_DOWN = DOWN.map((x) => x / SQUARES);

const GREY = { middle: 0.5, range: 12 }; // as the chapter's figure paints the patches
const STEP = 30; // degrees by which the button turns the patch
const SILENT = 0.005; // answers below are written 0.00
const AT_RIGHT = -90; // where 0° stands on the ring, anticlockwise from its top

// ---------------------------------------------------------------------------------- the arithmetic

/** Grey values [81] that grow in one direction, by `contrast` a pixel. @param {number} turn */
export function patchOf(turn, /** @type {number} */ contrast) {
  const [cos, sin] = direction(turn);
  return RIGHT.map((x, k) => contrast * (x * cos + DOWN[k] * sin));
}

/** What the neuron says to a patch. */
export const neuron = (/** @type {number[]} */ patch) => Math.max(0, dot(W, patch));

/** The capsule of a patch: how much darker to the right, and how much darker downwards. */
export const capsule = (/** @type {number[]} */ patch) => [dot(W, patch), dot(W_DOWN, patch)];

/** What both say to a patch. @returns {Reading} */
export function readingOf(/** @type {number} */ turn, /** @type {number} */ contrast) {
  const patch = patchOf(turn, contrast);
  const [right, down] = capsule(patch);
  const length = Math.hypot(right, down);
  const points = Math.round(angleOf(right, down)) || 0; // never −0
  return { turn, contrast, answer: neuron(patch), length, points };
}

// ---------------------------------------------------------------------------------------- in words

/** What the neuron says, and to which other patch it says the same. @param {Reading} reading */
function aboutNeuron({ turn, contrast, answer }) {
  const says = format(answer);
  if (answer < SILENT) return t`The neuron says 0.00, as if nothing were there.`;
  if (turn !== 0)
    return t`The neuron says ${says}, as it does to a patch of contrast ${says} that is not
      turned.`;
  if (contrast === 1) return t`The neuron says 1.00: this is the patch that it looks for.`;
  const angle = Math.round(angleOf(answer, Math.sqrt(1 - answer ** 2)));
  return t`The neuron says ${says}, as it does to a patch of full contrast turned by ${angle}°.`;
}

/** The sentence under the stage. @param {Reading} reading */
export function aboutPatch(reading) {
  const { contrast, length, points } = reading;
  if (contrast === 0)
    return t`Nothing is left of the patch, and the capsule has neither length nor direction.`;
  return t`${aboutNeuron(reading)} The capsule is ${format(length)} long and points to ${points}°.`;
}

// ------------------------------------------------------------------------------------ the pictures

/** The neuron's one number as an upright bar from 0 to 1, as high as the capsule's circle. */
function makeNeuronBar() {
  const rail = { x: -24, width: 48 };
  const whole = svg("rect", { class: "neuron-rail", ...rail, y: -100, height: 200 });
  const bar = svg("rect", { class: "neuron-bar", ...rail });
  const ends = [-94, 100].map((y, n) => svg("text", { class: "label", x: -34, y }, n ? "0" : "1"));
  const view = { viewBox: "-116 -116 232 232", class: "neuron", role: "img" };
  const picture = svg("svg", view, whole, bar, ...ends);
  const caption = element("figcaption");
  function show(/** @type {number} */ answer) {
    setAttributes(bar, { y: 100 - 200 * answer, height: 200 * answer });
    picture.setAttribute("aria-label", t`The neuron's bar: ${format(answer)} of 1`);
    write(caption, t`the neuron says ${format(answer)}`);
  }
  return { node: figure("", picture, caption), show };
}

/** The capsule as an arrow: it points where the patch grows darker. */
function makePatchArrow() {
  const arrow = makeCapsuleArrow();
  const caption = element("figcaption");
  function show(/** @type {Reading} */ { length, points }) {
    const [right, down] = direction(points).map((x) => length * x);
    const words = t`The capsule as an arrow: ${format(length)} long, pointing to ${points}°`;
    arrow.show([right, -down], [], words);
    write(caption, t`the capsule, ${format(length)} long`);
  }
  return { node: figure("", arrow.picture, caption), show };
}

// -------------------------------------------------------------------------------------- the widget

/** Builds the dial of a patch. @param {any} widget */
export function buildPatch({ root, get, set, layOut, painter, animate, halt }) {
  const turnTo = (/** @type {number} */ turn) => set({ turn: Math.round(wrapped(turn)) || 0 });
  const dial = makeDial({
    limit: 180,
    zero: AT_RIGHT,
    label: t`Turn the patch. Arrow keys turn it.`,
    turnTo: (degrees) => {
      halt();
      turnTo(-degrees);
    },
    turnNow: () => -get("turn"),
  });
  setAttributes(dial.canvas, { width: SIDE, height: SIDE });
  const caption = element("figcaption");
  const bar = makeNeuronBar();
  const arrow = makePatchArrow();
  const slider = namedSlider(t`Contrast`, {
    step: 0.05,
    "data-role": "contrast",
    oninput: () => set({ contrast: slider.input.valueAsNumber }),
  });
  const turnOn = () => {
    const from = get("turn");
    animate((/** @type {number} */ t) => turnTo(from + t * STEP));
  };
  const button = pushButton("turn", t`Turn it by ${STEP}°`, turnOn, { class: "primary-action" });
  const turned = figure("dial-figure", dial.node, caption);
  const stage = element("div", { class: "turn-dial of-patch" }, turned, bar.node, arrow.node);
  const { say } = layOut({ stage, hands: [slider.node, rowOf(button)] });
  root.setAttribute("aria-label", t`Turn a patch, and see what a neuron and a capsule say`);

  return () => {
    const contrast = get("contrast");
    const reading = readingOf(get("turn"), contrast);
    const { turn, answer, length, points } = reading;
    const greys = patchOf(turn, contrast).map((x) => x / GREY.range + GREY.middle);
    painter.paint(dial.canvas, greys);
    const words = t`turned by ${turn}°`;
    dial.canvas.setAttribute("aria-label", t`A patch, ${words}, its contrast ${format(contrast)}`);
    dial.show(-turn, words);
    write(caption, words);
    slider.show(contrast, format(contrast));
    bar.show(answer);
    arrow.show(reading);
    root.dataset.values = [answer, length, points].map((x) => x.toFixed(3)).join(",");
    say(aboutPatch(reading));
  };
}
