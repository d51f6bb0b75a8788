// One image, ten capsules, ten drawings: the reader is the mask. The strip of drawings is the chooser.
import { makeNetwork, norm } from "./shared/core.js";
import { bytesOf, digitAt, digitCanvas, element, format, listen, makeAnnouncer, makePainter, makeRoot, mount, oncePerFrame, setAttributes, sharedWeights, thumbnail, whenThemeChanges } from "./shared/ui.js";

const STRETCHED = 0.95; // about as long as the capsule of a digit that the network is sure of
const WEIGHT = 0.0005; // of the reconstruction loss beside the margin loss
const WORDS = { longest: "Longest", label: "True label", all: "All ten", none: "None" };

/** What the mask lets through: a list of capsules. `keep` is a key of WORDS or "0" … "9". */
export function capsulesKept(keep, lengths, label) {
  if (keep === "all") return Array.from(lengths, (_, j) => j);
  if (keep === "none") return [];
  if (keep === "label") return [label];
  if (keep === "longest") return [lengths.indexOf(Math.max(...lengths))];
  return [Number(keep)];
}

/** Section 4.1: all capsules but those are set to zero. v [J, D] -> [J, D] */
export function maskCapsules(v, kept, D) {
  const masked = new Float32Array(v.length);
  for (const j of kept) masked.set(v.subarray(j * D, (j + 1) * D), j * D);
  return masked;
}

/** Each capsule as long as `length`, its direction as it was. v [J, D] -> [J, D] */
export function stretchCapsules(v, D, length = STRETCHED) {
  return v.map((x, k) => {
    const n = norm(v, k - (k % D), D);
    return n ? (x / n) * length : 0;
  });
}

/** The reconstruction loss of one image: squared differences, summed over the pixels. */
export function squaredError(drawing, image) {
  return image.reduce((sum, grey, k) => sum + (drawing[k] - grey) ** 2, 0);
}

function render({ model, el, host }) {
  const root = makeRoot("DecodeCapsule", "Choose which of ten capsules is decoded");
  return mount(el, root, async () => {
    const network = makeNetwork(await sharedWeights(model, host));
    const images = Float32Array.from(bytesOf(model.get("images")), (grey) => grey / 255); // [N, 784]
    const labels = model.get("labels");
    const { J, D_out: D } = network;

    let index = model.get("index");
    let keep = model.get("keep");
    let stretch = model.get("stretch");
    let image, seen, capsules, errors; // the digit, what the network made of it, v as it is drawn, error of each capsule

    // ----------------------------------------------------------------------------------- elements
    const original = digitCanvas("original", "");
    const drawing = digitCanvas("redrawn", "");
    const caption = element("figcaption");
    const drawnFrom = element("figcaption");
    const error = element("strong", { "data-role": "error" });
    const weighed = element("span", { class: "weighed" });
    const counter = element("span", { class: "counter" });
    const step = (role, text, sign, by) =>
      element("button", { type: "button", class: "step", "data-role": role, "aria-label": text, onclick: () => choose(index + by) }, sign);
    const stepper = element("div", { class: "stepper" }, step("previous", "Previous digit", "‹", -1), counter, step("next", "Next digit", "›", +1));
    const modes = Object.entries(WORDS).map(([word, text]) =>
      element("button", { type: "button", "data-keep": word, onclick: () => setKeep(word) }, text));
    const box = element("input", { type: "checkbox", "data-role": "stretch", onchange: () => setStretch(box.checked) });
    const choices = Array.from({ length: J }, (_, j) => makeChoice(j));
    const remark = element("p", { class: "remark", "data-role": "remark" });
    root.append(
      element("div", { class: "decode" },
        element("div", { class: "side" },
          element("div", { class: "pair" },
            element("figure", {}, original, caption),
            element("figure", { class: "result" }, drawing, drawnFrom)),
          element("p", { class: "error" }, element("span", {}, "squared error"), error, weighed),
          stepper),
        element("div", { class: "choice" },
          element("p", { class: "lead" }, "What each capsule would draw. Choose one."),
          element("div", { class: "ten", role: "group", "aria-label": "The ten capsules" }, ...choices.map(({ button }) => button)),
          element("p", { class: "lead" }, "Or let a rule choose."),
          element("div", { class: "modes", role: "group", "aria-label": "What the mask lets through" }, ...modes),
          element("label", { class: "stretch" }, box, element("span", {}, `make every capsule ${format(STRETCHED)} long`)))),
      remark);
    const announce = makeAnnouncer(root);
    const { paint, refresh } = makePainter(root);

    function makeChoice(j) {
      const canvas = thumbnail();
      const fill = element("span", { class: "fill" });
      const value = element("span", { class: "value" });
      const button = element("button", { type: "button", class: "capsule", "data-keep": j, onclick: () => setKeep(String(j)) },
        canvas, element("span", { class: "name" }, element("b", {}, String(j)), value), element("span", { class: "rail" }, fill));
      return { button, canvas, fill, value };
    }

    // ------------------------------------------------------------------------------------ actions
    function choose(to) {
      index = (to + labels.length) % labels.length;
      model.set("index", index);
      model.save_changes();
      look();
      announce(`Digit ${index + 1} of ${labels.length}: ${labels[index]}. ${remark.textContent}`);
    }

    function setKeep(word) {
      keep = word;
      model.set("keep", keep);
      model.save_changes();
      draw();
      announce(`Drawn ${drawnFrom.textContent}, squared error ${error.textContent}`);
    }

    function setStretch(on) {
      stretch = on;
      model.set("stretch", stretch);
      model.save_changes();
      look();
    }

    // ------------------------------------------------------------------------------------ drawing
    function draw() {
      const label = labels[index];
      const kept = capsulesKept(keep, seen.lengths, label);
      const picture = network.decode(maskCapsules(capsules, kept, D));
      const lost = squaredError(picture, image);
      paint(drawing, picture);
      drawnFrom.textContent = kept.length === 1 ? `by capsule ${kept[0]}` : kept.length ? "by all ten" : "by none";
      setAttributes(drawing, { "aria-label": `The digit as drawn ${drawnFrom.textContent}` });
      error.textContent = format(lost, 1);
      weighed.textContent = `× ${WEIGHT} = ${format(WEIGHT * lost, 4)}`;
      for (const mode of modes) mode.setAttribute("aria-pressed", mode.dataset.keep === keep);
      choices.forEach(({ button, fill, value }, j) => {
        const length = seen.lengths[j];
        fill.style.width = `${100 * length}%`;
        value.textContent = format(length);
        button.classList.toggle("kept", kept.includes(j));
        button.classList.toggle("label", j === label);
        setAttributes(button, {
          "aria-pressed": kept.length === 1 && kept[0] === j,
          "aria-label": `Capsule ${j}, ${format(length)} long, squared error ${format(errors[j], 1)}`,
          title: `squared error ${format(errors[j], 1)}`,
        });
      });
      setAttributes(root, {
        "data-keep": keep,
        "data-kept": kept.join(","),
        "data-squared-error": lost.toFixed(4),
        "data-index": index,
        "data-label": label,
        "data-prediction": seen.prediction,
      });
      remark.textContent = stretch ? aboutStretch(kept, seen.lengths) : inWords(keep, kept, seen, label, errors);
    }
    const schedule = oncePerFrame(draw);

    /** A new digit, or the same with its capsules stretched: ten drawings anew. */
    function look() {
      const label = labels[index];
      image = digitAt(images, index);
      seen = network.forward(image);
      capsules = stretch ? stretchCapsules(seen.capsules, D) : seen.capsules;
      errors = choices.map(({ canvas }, j) => {
        const picture = network.decode(maskCapsules(capsules, [j], D));
        paint(canvas, picture);
        return squaredError(picture, image);
      });
      paint(original, image);
      caption.textContent = `${label === 8 ? "an" : "a"} ${label}, as written`;
      setAttributes(original, { "aria-label": `The digit as it was written: ${label}` });
      counter.textContent = `${index + 1} of ${labels.length}`;
      stepper.hidden = labels.length === 1;
      box.checked = stretch;
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
      stretch: () => {
        if (model.get("stretch") === stretch) return;
        stretch = model.get("stretch");
        look();
      },
    });
    const stopWatching = whenThemeChanges(() => {
      refresh();
      look();
    });
    look();
    return [stopListening, stopWatching, schedule.cancel, announce.cancel];
  });
}

/** What this choice shows. */
function inWords(keep, kept, { prediction, lengths }, label, errors) {
  if (kept.length === 0) return "160 zeros go in. What comes out are the decoder's biases: no digit, but a blur of them all.";
  if (kept.length > 1) return "Nothing is masked. In training the decoder never saw more than one capsule at a time, and the nine short ones disturb it.";
  const [j] = kept;
  if (keep === "label" && prediction !== label) return `The true label says ${label}, though capsule ${prediction} is longer. In training this is the capsule that has to learn to draw.`;
  if (j === prediction && prediction !== label) return `The longest capsule, ${prediction}, is not the label's, ${label}: the network misreads this digit, and draws what it takes it for.`;
  if (j === prediction) return `The longest capsule is the label's as well, so that both rules agree. It holds this ${label}: its slant, its width, its strokes.`;
  if (j === label) return `The label's capsule, but not the longest. It draws the ${label} that the network nearly saw.`;
  return `Capsule ${j} is only ${format(lengths[j])} long, so nearly nothing goes in, and the drawing is nearly that of "None". Squared error ${format(errors[j], 1)}.`;
}

function aboutStretch(kept, lengths) {
  const faint = kept.filter((j) => lengths[j] < 0.3);
  if (!faint.length) return "This capsule was long before, so the drawing hardly changes.";
  if (kept.length > 1) return "All ten at full length at once: ten drawings on top of one another.";
  return `Capsule ${faint[0]} was ${format(lengths[faint[0]])} long. At full length its direction is laid bare, and it is no digit of its class: where the length says "not here", the sixteen numbers were never asked to mean anything.`;
}

export default { render };
