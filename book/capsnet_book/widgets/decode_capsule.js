// One image, ten capsules, ten drawings: the reader is the mask, and chooses among the drawings.
import { makeBar } from "./shared/bars.js";
import { asWritten, digitAt, digitFigure, digitRow, greysOf, thumbnail } from "./shared/digits.js";
import { defineWidget } from "./shared/stage.js";
import { element, format, memoized, pushButton, setAttributes } from "./shared/ui.js";

/** @typedef {{ prediction: number, lengths: Float32Array, capsules: Float32Array }} Answer
 *   of the network */

const RULES = { longest: "Longest", label: "True label", all: "All ten", none: "None" };

/**
 * The capsules that the mask lets through.
 * @param {string} keep  a key of RULES, or "0" … "9" @param {Answer} answer @param {number} label
 */
function capsulesKept(keep, { lengths, prediction }, label) {
  const chosen = { all: [...lengths.keys()], none: [], label: [label], longest: [prediction] };
  return chosen[keep] ?? [Number(keep)];
}

/**
 * The reconstruction loss of one image: squared differences, summed over the pixels.
 * @param {Float32Array} drawing @param {Float32Array} image
 */
export const squaredError = (drawing, image) =>
  image.reduce((sum, grey, k) => sum + (drawing[k] - grey) ** 2, 0);

/**
 * Says what a choice shows.
 * @param {number[]} kept  the capsules that are decoded @param {string} keep  the rule that chose
 * @param {Answer} answer @param {number} label @param {number[]} errors  of each capsule's drawing
 */
function remarkOn(kept, keep, { prediction, lengths }, label, errors) {
  if (kept.length === 0) {
    return (
      "160 zeros go in. What comes out are the decoder's biases: " +
      "no digit, but a blur of them all."
    );
  }
  if (kept.length > 1) {
    return (
      "Nothing is masked. In training the decoder never saw more than one capsule at a time, " +
      "and the nine short ones disturb it."
    );
  }
  const [j] = kept;
  if (keep === "label" && prediction !== label) {
    const longer = `The true label says ${label}, though capsule ${prediction} is longer.`;
    return `${longer} In training this is the capsule that has to learn to draw.`;
  }
  if (j === prediction && prediction !== label) {
    const other = `The longest capsule, ${prediction}, is not the label's, ${label}`;
    return `${other}: the network misreads this digit, and draws what it takes it for.`;
  }
  if (j === prediction) {
    const agreed = "The longest capsule is the label's as well, so that both rules agree.";
    return `${agreed} It holds this ${label}: its slant, its width, its strokes.`;
  }
  if (j === label) {
    const nearly = `It draws the ${label} that the network nearly saw.`;
    return `The label's capsule, but not the longest. ${nearly}`;
  }
  const faint = `Capsule ${j} is only ${format(lengths[j])} long, so nearly nothing goes in`;
  const error = `Squared error ${format(errors[j], 1)}.`;
  return `${faint}, and the drawing is nearly that of "None". ${error}`;
}

/** Names those who drew. @param {number[]} kept */
function drawnBy(kept) {
  if (kept.length === 0) return "by none";
  return kept.length === 1 ? `by capsule ${kept[0]}` : "by all ten";
}

/** One of the ten capsules: its drawing and its length, on a button. */
function makeChoice(j, onclick) {
  const canvas = thumbnail();
  const bar = makeBar();
  const name = element("span", { class: "name" }, element("b", {}, String(j)), bar.value);
  const about = { type: "button", class: "capsule", "data-keep": j, onclick };
  const button = element("button", about, canvas, name, bar.rail);
  const show = (length, error, kept, isLabel) => {
    bar.show(length);
    button.classList.toggle("kept", kept.includes(j));
    button.classList.toggle("label", isLabel);
    const label = `Capsule ${j}, ${format(length)} long, squared error ${format(error, 1)}`;
    setAttributes(button, {
      "aria-pressed": kept.length === 1 && kept[0] === j,
      "aria-label": label,
    });
  };
  return { button, canvas, show };
}

const group = (kind, label, nodes) =>
  element("div", { class: kind, role: "group", "aria-label": label }, ...nodes);

/** Original and drawing side by side, and the squared error under them. */
function makePair() {
  const original = digitFigure("original");
  const drawing = digitFigure("redrawn", "result");
  const error = element("strong");
  const pair = element("div", { class: "pair" }, original.node, drawing.node);
  const loss = element("p", { class: "error" }, element("span", {}, "squared error"), error);
  return { original, drawing, error, node: element("div", {}, pair, loss) };
}

const LABEL = "Choose which of ten capsules is decoded";

export default defineWidget("DecodeCapsule", LABEL, async (widget) => {
  const { root, get, set, layOut, painter } = widget;
  const network = await widget.network();
  const images = greysOf(get("images")); // [N, 784]
  const labels = get("labels");

  const pair = makePair();
  const name = (label) => `Decode the handwritten ${label}`;
  const digits = digitRow(labels, images, name, (index) => set({ index }));
  const rules = Object.entries(RULES).map(([keep, text]) =>
    pushButton("rule", text, () => set({ keep }), { "data-keep": keep }),
  );
  const choices = Array.from({ length: network.J }, (_, j) =>
    makeChoice(j, () => set({ keep: String(j) })),
  );
  const lead = "What each capsule would draw. Choose one, or let a rule choose.";
  const buttons = choices.map(({ button }) => button);
  const ten = group("ten", "The ten capsules", buttons);
  const right = element("div", {}, element("p", { class: "lead" }, lead), ten);
  const { say } = layOut({
    stage: element("div", { class: "decode" }, pair.node, right),
    hands: [group("modes", "What the mask lets through", rules), digits.row],
  });

  /** @type {Float32Array} */
  let image;
  /** @type {Answer} */
  let answer;
  /** @type {number[]} */
  let errors; // of each capsule's drawing
  const decoded = (...kept) => network.decode(network.mask(answer.capsules, ...kept));

  /** Reads a new digit and draws it ten times. */
  const read = memoized((/** @type {number} */ index) => {
    image = digitAt(images, index);
    answer = network.forward(image);
    errors = choices.map(({ canvas }, j) => {
      const drawing = decoded(j);
      painter.paint(canvas, drawing);
      return squaredError(drawing, image);
    });
    painter.paint(pair.original.canvas, image);
    pair.original.name(...asWritten(labels[index]));
  });

  return () => {
    const index = get("index");
    const keep = get("keep");
    const label = labels[index];
    read([index, painter.shades()], index);
    digits.show(index, painter);
    const kept = capsulesKept(keep, answer, label);
    const drawing = decoded(...kept);
    const error = squaredError(drawing, image);
    const by = drawnBy(kept);
    painter.paint(pair.drawing.canvas, drawing);
    pair.drawing.name(by, `The digit as drawn ${by}`);
    pair.error.textContent = format(error, 1);
    for (const button of rules)
      button.setAttribute("aria-pressed", String(button.dataset.keep === keep));
    choices.forEach(({ show }, j) => show(answer.lengths[j], errors[j], kept, j === label));
    root.dataset.squaredError = error.toFixed(4);
    const remark = remarkOn(kept, keep, answer, label, errors);
    say(remark, `${label}, drawn ${by}, squared error ${format(error, 1)}. ${remark}`);
  };
});
