// One image, ten capsules, ten drawings: the reader is the mask. The strip of drawings is the chooser.
import { makeBar } from "./shared/bars.js";
import { asWritten, digitAt, digitFigure, digitRow, greysOf, thumbnail } from "./shared/digits.js";
import { defineWidget } from "./shared/stage.js";
import { element, format, memoized, pushButton, setAttributes } from "./shared/ui.js";

const RULES = { longest: "Longest", label: "True label", all: "All ten", none: "None" };

/** What the mask lets through, a list of capsules. @param {string} keep  a key of RULES, or "0" … "9" */
function capsulesKept(keep, { lengths, prediction }, label) {
  const chosen = { all: [...lengths.keys()], none: [], label: [label], longest: [prediction] };
  return chosen[keep] ?? [Number(keep)];
}

/** The reconstruction loss of one image: squared differences, summed over the pixels. */
export const squaredError = (drawing, image) =>
  image.reduce((sum, grey, k) => sum + (drawing[k] - grey) ** 2, 0);

/** What this choice shows; errors: of each capsule's drawing. @param {number[]} kept */
function remarkOn(kept, { prediction, lengths }, label, errors) {
  if (kept.length === 0)
    return "160 zeros go in. What comes out are the decoder's biases: no digit, but a blur of them all.";
  if (kept.length > 1)
    return "Nothing is masked. In training one capsule at a time was decoded, and the nine short ones disturb it.";
  const [j] = kept;
  if (j === prediction && j === label)
    return `The longest capsule is the label's, too. It holds this ${label}: its slant, its width, its strokes.`;
  if (j === prediction)
    return `The longest capsule, not the label's, ${label}: it draws what the network takes this digit for.`;
  if (j === label)
    return `The label's capsule, but not the longest: it draws the ${label} that the network nearly saw.`;
  const faint = `Capsule ${j} is only ${format(lengths[j])} long, so nearly nothing goes in`;
  return `${faint}, and the drawing is nearly that of "None". Squared error ${format(errors[j], 1)}.`;
}

/** One of the ten capsules: what it would draw, and how long it is. */
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

const LABEL = "Choose which of ten capsules is decoded";

export default defineWidget(
  "DecodeCapsule",
  LABEL,
  async ({ root, get, set, layOut, painter, network: load }) => {
    const network = await load();
    const images = greysOf(get("images")); // [N, 784]
    const labels = get("labels");
    const drawnBy = (...kept) => network.decode(network.mask(seen.capsules, ...kept));
    let image, seen, errors; // the digit, the network's answer, the error of each capsule's drawing

    const original = digitFigure("original");
    const drawing = digitFigure("redrawn", "result");
    const error = element("strong");
    const pair = element("div", { class: "pair" }, original.node, drawing.node);
    const loss = element("p", { class: "error" }, element("span", {}, "squared error"), error);
    const name = (label) => `Decode the handwritten ${label}`;
    const digits = digitRow(labels, images, name, (index) => set({ index }));
    const rules = Object.entries(RULES).map(([keep, text]) =>
      pushButton("rule", text, () => set({ keep }), { "data-keep": keep }),
    );
    const choices = [...Array(network.J).keys()].map((j) =>
      makeChoice(j, () => set({ keep: String(j) })),
    );
    const group = (kind, label, nodes) =>
      element("div", { class: kind, role: "group", "aria-label": label }, ...nodes);
    const buttons = choices.map(({ button }) => button);
    const lead = element(
      "p",
      { class: "lead" },
      "What each capsule would draw. Choose one, or let a rule choose.",
    );
    const ten = element("div", {}, lead, group("ten", "The ten capsules", buttons));
    const { say } = layOut({
      stage: element("div", { class: "decode" }, element("div", {}, pair, loss), ten),
      hands: [group("modes", "What the mask lets through", rules), digits.row],
    });

    /** A new digit: ten drawings anew. */
    const look = memoized((index) => {
      image = digitAt(images, index);
      seen = network.forward(image);
      errors = choices.map(({ canvas }, j) => {
        const picture = drawnBy(j);
        painter.paint(canvas, picture);
        return squaredError(picture, image);
      });
      painter.paint(original.canvas, image);
      original.name(...asWritten(labels[index]));
    });

    return () => {
      const [index, keep] = [get("index"), get("keep")];
      const label = labels[index];
      look([index, painter.shades()], index);
      digits.show(index, painter);
      const kept = capsulesKept(keep, seen, label);
      const picture = drawnBy(...kept);
      const wrong = squaredError(picture, image);
      const by =
        kept.length === 1 ? `by capsule ${kept[0]}` : kept.length ? "by all ten" : "by none";
      painter.paint(drawing.canvas, picture);
      drawing.name(by, `The digit as drawn ${by}`);
      error.textContent = format(wrong, 1);
      for (const button of rules)
        button.setAttribute("aria-pressed", String(button.dataset.keep === keep));
      choices.forEach(({ show }, j) => show(seen.lengths[j], errors[j], kept, j === label));
      root.dataset.squaredError = wrong.toFixed(4);
      const about = remarkOn(kept, seen, label, errors);
      say(about, `${label}, drawn ${by}, squared error ${error.textContent}. ${about}`);
    };
  },
);
