// One image, ten capsules, ten drawings: the reader is the mask. The strip of drawings is the chooser.
import { capsulesKept, maskCapsules, RULES, remarkOnMask, squaredError, WEIGHT } from "./decode_capsule_model.js";
import { makeFading } from "./shared/controls.js";
import { defineWidget } from "./shared/stage.js";
import {
  digitAt,
  digitCanvas,
  digitRow,
  element,
  format,
  greysOf,
  onNews,
  setAttributes,
  thumbnail,
  withArticle,
} from "./shared/ui.js";

/** One of the ten capsules: what it would draw, and how long it is. */
function makeChoice(j, onclick) {
  const canvas = thumbnail();
  const fill = element("span", { class: "fill" });
  const value = element("span", { class: "value" });
  const name = element("span", { class: "name" }, element("b", {}, String(j)), value);
  const rail = element("span", { class: "rail" }, fill);
  const button = element("button", { type: "button", class: "capsule", "data-keep": j, onclick }, canvas, name, rail);
  const show = (length, error, kept, isLabel) => {
    fill.style.width = `${100 * length}%`;
    value.textContent = format(length);
    button.classList.toggle("kept", kept.includes(j));
    button.classList.toggle("label", isLabel);
    const about = `Capsule ${j}, ${format(length)} long, squared error ${format(error, 1)}`;
    setAttributes(button, { "aria-pressed": kept.length === 1 && kept[0] === j, "aria-label": about });
  };
  return { button, canvas, show };
}

const LABEL = "Choose which of ten capsules is decoded";

export default defineWidget("DecodeCapsule", LABEL, async ({ root, get, set, layOut, painter, network: load }) => {
  const network = await load();
  const images = greysOf(get("images")); // [N, 784]
  const labels = get("labels");
  const { J, D_out: D } = network;
  let image, seen, errors; // the digit, the network's answer, the error of each capsule's drawing

  const original = digitCanvas("original", "");
  const drawing = digitCanvas("redrawn", "");
  const paint = { original: makeFading(painter, original), drawing: makeFading(painter, drawing) };
  const [written, source] = [element("figcaption"), element("figcaption")];
  const error = element("strong", { "data-role": "error" });
  const weighed = element("span");
  const pair = element(
    "div",
    { class: "pair" },
    element("figure", {}, original, written),
    element("figure", { class: "result" }, drawing, source),
  );
  const loss = element("p", { class: "error" }, element("span", {}, "squared error"), error, weighed);
  const name = (label) => `Decode the handwritten ${label}`;
  const digits = digitRow(labels, images, name, (index) => set({ index }));
  const rules = Object.entries(RULES).map(([rule, text]) =>
    element("button", { type: "button", "data-keep": rule, onclick: () => set({ keep: rule }) }, text),
  );
  const choices = Array.from({ length: J }, (_, j) => makeChoice(j, () => set({ keep: String(j) })));
  const group = (kind, label, nodes) => element("div", { class: kind, role: "group", "aria-label": label }, ...nodes);
  const ten = group(
    "ten",
    "The ten capsules",
    choices.map(({ button }) => button),
  ); // prettier-ignore
  const lead = element("p", { class: "lead" }, "What each capsule would draw. Choose one, or let a rule choose.");
  const large = element("div", {}, pair, loss);
  const { say } = layOut({
    stage: element("div", { class: "decode" }, large, element("div", {}, lead, ten)),
    hands: [group("modes", "What the mask lets through", rules), digits.row],
  });

  /** A new digit: ten drawings anew. */
  const look = onNews((index) => {
    image = digitAt(images, index);
    seen = network.forward(image);
    errors = choices.map(({ canvas }, j) => {
      const picture = network.decode(maskCapsules(seen.capsules, [j], D));
      painter.paint(canvas, picture);
      return squaredError(picture, image);
    });
    paint.original(image);
    written.textContent = `${withArticle(labels[index])}, as written`;
    original.setAttribute("aria-label", `The digit as it was written: ${labels[index]}`);
  });

  return () => {
    const [index, keep] = [get("index"), get("keep")];
    const label = labels[index];
    look([index, painter.shades()], index);
    digits.show(index, painter);
    const kept = capsulesKept(keep, seen.lengths, label);
    const picture = network.decode(maskCapsules(seen.capsules, kept, D)).slice();
    const wrong = squaredError(picture, image);
    paint.drawing(picture);
    source.textContent = kept.length === 1 ? `by capsule ${kept[0]}` : kept.length ? "by all ten" : "by none";
    drawing.setAttribute("aria-label", `The digit as drawn ${source.textContent}`);
    error.textContent = format(wrong, 1);
    weighed.textContent = `× ${WEIGHT} = ${format(WEIGHT * wrong, 4)}`;
    for (const button of rules) button.setAttribute("aria-pressed", String(button.dataset.keep === keep));
    choices.forEach(({ show }, j) => show(seen.lengths[j], errors[j], kept, j === label));
    Object.assign(root.dataset, { kept: kept.join(","), squaredError: wrong.toFixed(4) });
    const about = remarkOnMask(keep, kept, seen, label, errors);
    say(about, `${label}, drawn ${source.textContent}, squared error ${error.textContent}. ${about}`);
  };
});
