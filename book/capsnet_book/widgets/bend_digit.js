// A digit is turned, sheared, resized and moved; a capsule network and a CNN say what they see. Under the slider that was
// moved stands what either would say at every place of it, so that one sees where it breaks.
import { makeBars } from "./shared/bars.js";
import { bendDigit, STRAIGHT } from "./shared/bending.js";
import { namedSlider } from "./shared/controls.js";
import { makeConvNet } from "./shared/conv_net.js";
import { digitAt, digitCanvas, digitRow, greysOf } from "./shared/digits.js";
import { defineWidget } from "./shared/stage.js";
import { element, format, pushButton } from "./shared/ui.js";

const FARTHEST = 8; // pixels that a digit can be moved

const degrees = (/** @type {number} */ x) => `${format(x, 0, true)}°`;
const pixels = (/** @type {number} */ x) => `${format(x, 1, true)} px`;

/** What a slider does; `amounts` at which its strips look, the one that does nothing at `middle`. */
function wayOf(key, name, [min, max, step], places, inWords) {
  const amounts = Array.from({ length: places }, (_, k) => min + (k * (max - min)) / (places - 1));
  const middle = Math.round(((STRAIGHT[key] - min) / (max - min)) * (places - 1));
  return { key, name, min, max, step, inWords, amounts, middle };
}

const WAYS = [
  wayOf("turn", "turn", [-90, 90, 1], 37, degrees),
  wayOf("shear", "shear", [-1, 1, 0.05], 21, (x) => format(x, 2, true)),
  wayOf("size", "size", [0.5, 2, 0.05], 31, (x) => `× ${format(x)}`),
  wayOf("right", "to the right", [-FARTHEST, FARTHEST, 0.5], 17, pixels),
  wayOf("down", "down", [-FARTHEST, FARTHEST, 0.5], 17, pixels),
];

/** Equal neighbours together: [7, 7, 1] -> [{ answer: 7, from: 0, to: 1 }, { answer: 1, from: 2, to: 2 }] */
function runsOf(answers) {
  const runs = [];
  answers.forEach((answer, k) => {
    if (runs.at(-1)?.answer === answer) runs.at(-1).to = k;
    else runs.push({ answer, from: k, to: k });
  });
  return runs;
}

/** How far a run goes. */
const reachOf = ({ inWords, amounts }, { from, to }) =>
  `from ${inWords(amounts[from])} to ${inWords(amounts[to])}`;

/** How far a way can go before each network says something else. readings: answers along the way, by name */
function remarkOnReach(way, bend, readings, truth) {
  const alone = WAYS.every(({ key }) => key === way.key || bend[key] === STRAIGHT[key]);
  const words = readings.map(({ name, answers }, n) => {
    const run = runsOf(answers).find(({ to }) => to >= way.middle);
    if (run.answer !== truth) return `${name} does not read it at all`;
    return `${name} ${n ? "" : "reads it "}${reachOf(way, run)}`;
  });
  return `By ${way.name}${alone ? " alone" : ", the rest as it is"}: ${words.join(", ")}.`;
}

// ------------------------------------------------------------------------------------------------ the widget

const QUIET = 150; // milliseconds without a change before the strips are computed

/** Ten bars of one network, and its answer. */
function makePanel({ id, name, unit }) {
  const verdict = element("strong", { "data-role": `verdict-${id}` });
  const bars = makeBars(`${name}, ${unit}`);
  const says = element("span", { class: "says" }, `${name}: `, verdict);
  const caption = element("figcaption", {}, says, element("span", { class: "unit" }, unit));
  const show = (values, prediction, truth) => {
    verdict.textContent = String(prediction);
    verdict.classList.toggle("wrong", prediction !== truth);
    bars.show(values, prediction);
  };
  return { figure: element("figure", { class: "reader" }, caption, bars.list), show };
}

/** What a network says along a slider; the sentence says it in words. */
function makeStrip({ id, name }) {
  const strip = element("div", { class: "strip", "data-role": `strip-${id}` });
  const line = element(
    "div",
    { class: "strip-line", "aria-hidden": "true" },
    element("span", {}, name),
    strip,
  );

  /** answers: a digit for each amount, -1 where it is not known yet. @param {number[]} answers */
  function show(answers, truth) {
    strip.style.setProperty("--places", String(answers.length));
    strip.replaceChildren(
      ...runsOf(answers).map(({ answer, from, to }) => {
        const kind = answer < 0 ? "open" : answer === truth ? "right" : "wrong";
        const run = element(
          "span",
          { class: `run ${kind}` },
          answer >= 0 && to > from ? String(answer) : "",
        );
        run.style.flexGrow = String(to - from + 1);
        return run;
      }),
    );
  }
  return { line, show };
}

const LABEL = "Bend a digit: what a capsule network and a CNN make of it";

export default defineWidget(
  "BendDigit",
  LABEL,
  async ({ root, get, set, layOut, painter, stops, ...widget }) => {
    const capsules = await widget.network();
    const convolutions = makeConvNet(await widget.weights("cnn"));
    const readers = [
      { id: "capsnet", name: "CapsNet", unit: "length of each capsule", read: capsules.forward },
      { id: "cnn", name: "CNN", unit: "softmax: shares of 1", read: convolutions.forward },
    ];
    const samples = greysOf(get("images")); // [N, 784]
    const labels = get("labels");
    let moved = WAYS[0]; // the way that was used last
    let answers = []; // of each reader along that way; -1: not known yet
    let computed = ""; // what they are of
    let timer; // until the next stretch of strips
    let says = ""; // what each says now

    const bend = () =>
      /** @type {typeof STRAIGHT} */ (Object.fromEntries(WAYS.map(({ key }) => [key, get(key)])));
    const image = () => digitAt(samples, get("index"));
    const truth = () => labels[get("index")];
    const subject = digitCanvas("bent", "");
    const straight = pushButton("straight", "Straighten", () => set(STRAIGHT));
    const panels = readers.map(makePanel);
    const slides = WAYS.map(({ key, name, min, max, step }) => {
      const oninput = () => set({ [key]: slider.input.valueAsNumber });
      const slider = namedSlider(name, { min, max, step, "data-way": key, oninput });
      return { ...slider, row: element("div", { class: "slide" }, slider.node) };
    });
    const strips = readers.map(makeStrip);
    const stripes = element("div", { class: "strips" }, ...strips.map(({ line }) => line));
    const name = (label) => `Bend the handwritten ${label}`;
    const digits = digitRow(labels, samples, name, (index) => set({ index }));
    const [first, ...others] = slides.map(({ row }) => row);
    const subjects = element("div", {}, subject, element("div", { class: "bar" }, straight));
    const answering = element("div", { class: "readers" }, ...panels.map(({ figure }) => figure));
    const { say, rest } = layOut({
      stage: element("div", { class: "bending" }, subjects, answering),
      hands: [element("div", { class: "slides" }, first), digits.row],
      more: [element("div", { class: "slides" }, ...others)],
      about: "Shear it, resize it, move it",
    });
    root.dataset.sticks = "";
    stops.push(() => clearTimeout(timer));

    /** The strips stand under the slider that was moved last, and do not depend on it. */
    function begin() {
      const at = WAYS.indexOf(moved);
      if (stripes.parentElement !== slides[at].row) slides[at].row.append(stripes);
      if (at > 0) rest.open = true;
      const of = JSON.stringify({ ...bend(), index: get("index"), [moved.key]: moved.name });
      if (of === computed) return;
      computed = of;
      answers = readers.map(() => new Array(moved.amounts.length).fill(-1));
      clearTimeout(timer);
      timer = setTimeout(workOff, QUIET);
    }

    /** Computes the strips place by place, while nothing else happens. */
    function workOff() {
      const at = answers[0].indexOf(-1);
      const bent = bendDigit(image(), { ...bend(), [moved.key]: moved.amounts[at] });
      for (const [n, { read }] of readers.entries()) answers[n][at] = read(bent).prediction;
      if (answers[0].includes(-1)) timer = setTimeout(workOff);
      describe();
    }

    function describe() {
      strips.forEach(({ show }, n) => show(answers[n], truth()));
      const readings = readers.map(({ name }, n) => ({ name, answers: answers[n] }));
      const known = !answers[0].includes(-1);
      say(`${says}. ${known ? remarkOnReach(moved, bend(), readings, truth()) : "…"}`);
    }

    let before = bend();
    return () => {
      moved =
        WAYS.find(({ key }) => get(key) !== before[key] && get(key) !== STRAIGHT[key]) ?? moved;
      before = bend();
      begin();
      const bent = bendDigit(image(), before);
      const words = readers.map(({ name, read }, n) => {
        const answer = read(bent);
        panels[n].show(answer.lengths ?? answer.probabilities, answer.prediction, truth());
        return `${name} says ${answer.prediction}`;
      });
      says = words.join(", ");
      painter.paint(subject, bent);
      subject.setAttribute("aria-label", `a handwritten ${truth()}, bent. ${says}`);
      WAYS.forEach(({ key, inWords }, n) => slides[n].show(before[key], inWords(before[key])));
      digits.show(get("index"), painter);
      describe();
    };
  },
);
