// One image, ten capsules, ten drawings: the reader is the mask. The strip of drawings is the chooser.
import { capsulesKept, maskCapsules, RULES, remarkOnMask, squaredError, WEIGHT } from "./decode_capsule_model.js";
import { makeNetwork } from "./shared/core.js";
import { withPrompts } from "./shared/prompts.js";
import { layOut } from "./shared/stage.js";
import {
  digitAt,
  digitCanvas,
  digitRow,
  element,
  format,
  greysOf,
  listen,
  makePainter,
  makeRoot,
  mount,
  oncePerFrame,
  save,
  setAttributes,
  sharedWeights,
  thumbnail,
  whenThemeChanges,
  withArticle,
} from "./shared/ui.js";

/** The digit, its drawing and the drawing's error. */
function makeDrawing() {
  const original = digitCanvas("original", "");
  const drawing = digitCanvas("redrawn", "");
  const caption = element("figcaption");
  const source = element("figcaption");
  const error = element("strong", { "data-role": "error" });
  const weighed = element("span", { class: "weighed" });
  const nodes = [
    element(
      "div",
      { class: "pair" },
      element("figure", {}, original, caption),
      element("figure", { class: "result" }, drawing, source),
    ),
    element("p", { class: "error" }, element("span", {}, "squared error"), error, weighed),
  ];

  function name(label) {
    caption.textContent = `${withArticle(label)}, as written`;
    setAttributes(original, { "aria-label": `The digit as it was written: ${label}` });
  }

  function show(kept, loss) {
    source.textContent = kept.length === 1 ? `by capsule ${kept[0]}` : kept.length ? "by all ten" : "by none";
    setAttributes(drawing, { "aria-label": `The digit as drawn ${source.textContent}` });
    error.textContent = format(loss, 1);
    weighed.textContent = `× ${WEIGHT} = ${format(WEIGHT * loss, 4)}`;
    return `Drawn ${source.textContent}, squared error ${error.textContent}`;
  }

  return { nodes, original, drawing, name, show };
}

/** One of the ten capsules: what it would draw, and how long it is. */
function makeChoice(j, onclick) {
  const canvas = thumbnail();
  const fill = element("span", { class: "fill" });
  const value = element("span", { class: "value" });
  const button = element(
    "button",
    { type: "button", class: "capsule", "data-keep": j, onclick },
    canvas,
    element("span", { class: "name" }, element("b", {}, String(j)), value),
    element("span", { class: "rail" }, fill),
  );

  function show(length, error, kept, label) {
    fill.style.width = `${100 * length}%`;
    value.textContent = format(length);
    button.classList.toggle("kept", kept.includes(j));
    button.classList.toggle("label", j === label);
    setAttributes(button, {
      "aria-pressed": kept.length === 1 && kept[0] === j,
      "aria-label": `Capsule ${j}, ${format(length)} long, squared error ${format(error, 1)}`,
      title: `squared error ${format(error, 1)}`,
    });
  }

  return { button, canvas, show };
}

/** The rules that choose capsules. */
function makeRules(choose) {
  const buttons = Object.entries(RULES).map(([rule, text]) =>
    element("button", { type: "button", "data-keep": rule, onclick: () => choose(rule) }, text),
  );
  const node = element(
    "div",
    { class: "modes", role: "group", "aria-label": "What the mask lets through" },
    ...buttons,
  );
  const show = (keep) =>
    buttons.forEach((each) => each.setAttribute("aria-pressed", String(each.dataset.keep === keep)));
  return { node, show };
}

async function build(root, model, host) {
  const network = makeNetwork(await sharedWeights(model, host));
  const images = greysOf(model.get("images")); // [N, 784]
  const labels = model.get("labels");
  const { J, D_out: D } = network;

  let index = model.get("index");
  let keep = model.get("keep");
  let image, seen, capsules, errors; // the digit, the network's answer, v, error of each capsule

  const large = makeDrawing();
  const digits = digitRow(labels, "Handwritten digits", (label) => `Decode the handwritten ${label}`, choose);
  const rules = makeRules(setKeep);
  const choices = Array.from({ length: J }, (_, j) => makeChoice(j, () => setKeep(String(j))));
  const ten = element(
    "div",
    { class: "ten", role: "group", "aria-label": "The ten capsules" },
    ...choices.map(({ button }) => button),
  );
  const lead = element("p", { class: "lead" }, "What each capsule would draw. Choose one, or let a rule choose.");
  const { say, stop: stopSaying } = layOut(root, {
    stage: element(
      "div",
      { class: "decode" },
      element("div", { class: "side" }, ...large.nodes),
      element("div", { class: "choice" }, lead, ten),
    ),
    hands: [rules.node, digits.row],
  });
  const painter = makePainter(root);
  const { paint } = painter;

  function choose(to) {
    index = to;
    save(model, { index });
    look();
  }

  function setKeep(rule) {
    keep = rule;
    save(model, { keep });
    draw();
  }

  /** Draws from the capsules that are kept. */
  function draw() {
    const label = labels[index];
    const kept = capsulesKept(keep, seen.lengths, label);
    const picture = network.decode(maskCapsules(capsules, kept, D));
    const loss = squaredError(picture, image);
    paint(large.drawing, picture);
    const words = large.show(kept, loss);
    rules.show(keep);
    choices.forEach(({ show }, j) => show(seen.lengths[j], errors[j], kept, label));
    setAttributes(root, {
      "data-keep": keep,
      "data-kept": kept.join(","),
      "data-squared-error": loss.toFixed(4),
      "data-index": index,
      "data-label": label,
      "data-prediction": seen.prediction,
    });
    const about = remarkOnMask(keep, kept, seen, label, errors);
    say(about, `${labels[index]}, ${words}. ${about}`);
  }
  const schedule = oncePerFrame(draw);

  /** A new digit: ten drawings anew. */
  function look() {
    image = digitAt(images, index);
    seen = network.forward(image);
    capsules = seen.capsules;
    errors = choices.map(({ canvas }, j) => {
      const picture = network.decode(maskCapsules(capsules, [j], D));
      paint(canvas, picture);
      return squaredError(picture, image);
    });
    paint(large.original, image);
    large.name(labels[index]);
    digits.show(index);
    draw();
  }

  const stopListening = listen(model, {
    index: () => {
      if (model.get("index") === index) return;
      index = model.get("index");
      look();
    },
    keep: () => {
      keep = model.get("keep");
      schedule();
    },
  });
  const stopWatching = whenThemeChanges(() => {
    painter.refresh();
    digits.paint(painter, images);
    look();
  });
  digits.paint(painter, images);
  look();
  return [stopListening, stopWatching, schedule.cancel, stopSaying];
}

function render({ model, el, host }) {
  const root = makeRoot("DecodeCapsule", "Choose which of ten capsules is decoded");
  return mount(el, root, () => build(root, model, host));
}

export default { render: withPrompts(render) };
