// A digit is rotated, sheared, resized and moved; a capsule network and a CNN read it. Under the
// slider that was moved last, two strips show what each network reads at every place of the slider:
// one sees where each breaks.
import { makeBars } from "./shared/bars.js";
import { bendDigit, STRAIGHT } from "./shared/bending.js";
import { namedSlider } from "./shared/controls.js";
import { makeConvNet } from "./shared/conv_net.js";
import { digitAt, digitCanvas, digitRow, greysOf } from "./shared/digits.js";
import { defineWidget } from "./shared/stage.js";
import { element, format, pushButton } from "./shared/ui.js";

/** @import { Bend } from "./shared/bending.js" */
/** @typedef {keyof Bend} Key */
/** @typedef {ReturnType<typeof wayOf>} Way  a way to bend a digit */
/** @typedef {{ id: string, name: string, unit: string, read: (image: Float32Array) => any }} Reader
 *   a network */
/** @typedef {{ answer: number, from: number, to: number }} Run  of equal answers */
/** @typedef {{ way: Way, bend: Bend, index: number, image: Float32Array, truth: number }} Subject
 *   what the strips are about: a digit, bent along `way` */

// ------------------------------------------------------------------------ the ways to bend

const FARTHEST = 8; // pixels that a digit can be moved

const degrees = (/** @type {number} */ x) => `${format(x, 0, true)}°`;
const pixels = (/** @type {number} */ x) => `${format(x, 1, true)} px`;

/**
 * A way to bend a digit: its slider's limits, and the amounts at which its strips are computed.
 * middle: the index of the amount that changes nothing.
 * @param {Key} key @param {string} name @param {number[]} limits  [min, max, step]
 * @param {number} places @param {(amount: number) => string} inWords
 */
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

// -------------------------------------------------------------------------------- in words

/**
 * Groups equal neighbours:
 * [7, 7, 1] -> [{ answer: 7, from: 0, to: 1 }, { answer: 1, from: 2, to: 2 }]
 * @param {number[]} answers
 */
function runsOf(answers) {
  /** @type {Run[]} */
  const runs = [];
  answers.forEach((answer, k) => {
    if (runs.at(-1)?.answer === answer) runs.at(-1).to = k;
    else runs.push({ answer, from: k, to: k });
  });
  return runs;
}

/** @param {Way} way @param {Run} run */
const reachOf = ({ inWords, amounts }, { from, to }) =>
  `from ${inWords(amounts[from])} to ${inWords(amounts[to])}`;

/**
 * Says how far a digit can be bent along a way before each network reads something else.
 * @param {Subject} subject @param {{ name: string, answers: number[] }[]} readings  along the way
 */
function remarkOnReach({ way, bend, truth }, readings) {
  const alone = WAYS.every(({ key }) => key === way.key || bend[key] === STRAIGHT[key]);
  const words = readings.map(({ name, answers }, n) => {
    const run = runsOf(answers).find(({ to }) => to >= way.middle);
    if (run.answer !== truth) return `${name} does not read it at all`;
    return `${name} ${n ? "" : "reads it "}${reachOf(way, run)}`;
  });
  return `By ${way.name}${alone ? " alone" : ", the rest as it is"}: ${words.join(", ")}.`;
}

// ------------------------------------------------------------------------------ the panels

/** Ten bars of one network, and its answer. @param {Reader} reader */
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

// ------------------------------------------------------------------------------ the strips

const QUIET = 150; // milliseconds without a change before the strips are computed
const OPEN = -1; // an answer that is not computed yet

const kindOf = (answer, truth) => {
  if (answer === OPEN) return "open";
  return answer === truth ? "right" : "wrong";
};

/** The answers of one network along a slider. @param {Reader} reader */
function makeStrip({ id, name }) {
  const strip = element("div", { class: "strip", role: "img", "data-role": `strip-${id}` });
  const label = element("span", { "aria-hidden": "true" }, name);
  const line = element("div", { class: "strip-line" }, label, strip);

  /** @param {Way} way @param {number[]} answers  one for each of its amounts */
  function show(way, answers, truth) {
    const runs = runsOf(answers);
    const pieces = runs.map(({ answer, from, to }) => {
      const digit = answer !== OPEN && to > from ? String(answer) : ""; // one place is too narrow
      const piece = element("span", { class: `run ${kindOf(answer, truth)}` }, digit);
      piece.style.flexGrow = String(to - from + 1);
      return piece;
    });
    strip.style.setProperty("--places", String(answers.length));
    strip.replaceChildren(...pieces);
    const known = runs.filter(({ answer }) => answer !== OPEN);
    const words = known.map((run) => `${run.answer} ${reachOf(way, run)}`).join("; ");
    strip.setAttribute("aria-label", `${name} by ${way.name}: ${words || "not computed yet"}`);
  }
  return { line, show };
}

/** The legend of the strips' two colours. */
function makeLegend() {
  const sample = (kind, word) => element("span", { class: `run ${kind}` }, word);
  return element(
    "p",
    { class: "strip-key", "aria-hidden": "true" },
    "along the slider: ",
    sample("right", "right"),
    " ",
    sample("wrong", "wrong"),
  );
}

/**
 * The strips of all networks, computed place by place so that the page stays responsive.
 * follow(subject) begins anew if the strips are another subject's; changed() is called whenever
 * there are more answers.
 * @param {Reader[]} readers @param {() => void} changed
 */
function makeStrips(readers, changed) {
  const strips = readers.map(makeStrip);
  const lines = strips.map(({ line }) => line);
  const node = element("div", { class: "strips" }, ...lines, makeLegend());
  /** @type {Subject} */
  let subject;
  let identity = ""; // of the subject that the answers belong to
  let answers = /** @type {number[][]} */ ([]); // of each network, at each amount
  let timer; // until the next place is computed

  function follow(/** @type {Subject} */ next) {
    subject = next;
    const { way, bend, index } = next;
    const changes = { ...bend, [way.key]: way.name }; // the strips hold for all amounts of `way`
    const wanted = JSON.stringify({ ...changes, index });
    if (wanted === identity) return;
    identity = wanted;
    answers = readers.map(() => new Array(way.amounts.length).fill(OPEN));
    clearTimeout(timer);
    timer = setTimeout(computePlace, QUIET);
  }

  const isComplete = () => !answers[0].includes(OPEN);

  function computePlace() {
    const { way, bend, image } = subject;
    const place = answers[0].indexOf(OPEN);
    const bent = bendDigit(image, { ...bend, [way.key]: way.amounts[place] });
    readers.forEach(({ read }, n) => {
      answers[n][place] = read(bent).prediction;
    });
    if (!isComplete()) timer = setTimeout(computePlace);
    changed();
  }

  function show() {
    strips.forEach((strip, n) => strip.show(subject.way, answers[n], subject.truth));
  }

  /** What the strips say, or "…" while they are computed. */
  function remark() {
    if (!isComplete()) return "…";
    const readings = readers.map(({ name }, n) => ({ name, answers: answers[n] }));
    return remarkOnReach(subject, readings);
  }

  return { node, follow, show, remark, stop: () => clearTimeout(timer) };
}

// ------------------------------------------------------------------------------ the widget

/** One slider a way, each in a row under which the strips can stand. */
function makeSlides(set) {
  return WAYS.map(({ key, name, min, max, step }) => {
    const oninput = () => set({ [key]: slider.input.valueAsNumber });
    const slider = namedSlider(name, { min, max, step, "data-way": key, oninput });
    return { ...slider, row: element("div", { class: "slide" }, slider.node) };
  });
}

const LABEL = "Bend a digit: what a capsule network and a CNN make of it";

export default defineWidget("BendDigit", LABEL, async (widget) => {
  const { root, get, set, layOut, painter, stops } = widget;
  const capsules = await widget.network();
  const convolutions = makeConvNet(await widget.weights("cnn"));
  /** @type {Reader[]} */
  const readers = [
    { id: "capsnet", name: "CapsNet", unit: "length of each capsule", read: capsules.forward },
    { id: "cnn", name: "CNN", unit: "softmax: shares of 1", read: convolutions.forward },
  ];
  const samples = greysOf(get("images")); // [N, 784]
  const labels = get("labels");
  const currentBend = () =>
    /** @type {Bend} */ (Object.fromEntries(WAYS.map(({ key }) => [key, get(key)])));

  const subject = digitCanvas("bent", "");
  const straight = pushButton("straight", "Straighten", () => set(STRAIGHT));
  const panels = readers.map(makePanel);
  const slides = makeSlides(set);
  const strips = makeStrips(readers, describe);
  const name = (label) => `Bend the handwritten ${label}`;
  const digits = digitRow(labels, samples, name, (index) => set({ index }));

  const [firstRow, ...otherRows] = slides.map(({ row }) => row);
  const left = element("div", {}, subject, element("div", { class: "bar" }, straight));
  const right = element("div", { class: "readers" }, ...panels.map(({ figure }) => figure));
  const { say, rest } = layOut({
    stage: element("div", { class: "bending" }, left, right),
    hands: [element("div", { class: "slides" }, firstRow), digits.row],
    more: [element("div", { class: "slides" }, ...otherRows)],
    about: "Shear it, resize it, move it",
  });
  root.dataset.sticks = "";
  stops.push(strips.stop);

  let way = WAYS[0]; // the way that was used last
  let bend = currentBend();
  let says = ""; // each network's answer

  /** Puts the strips under the slider that was moved last. */
  function placeStrips() {
    const at = WAYS.indexOf(way);
    if (strips.node.parentElement !== slides[at].row) slides[at].row.append(strips.node);
    if (at > 0) rest.open = true;
  }

  function describe() {
    strips.show();
    say(`${says}. ${strips.remark()}`);
  }

  return () => {
    const now = currentBend();
    const moved = WAYS.find(({ key }) => now[key] !== bend[key] && now[key] !== STRAIGHT[key]);
    way = moved ?? way;
    bend = now;
    const index = get("index");
    const image = digitAt(samples, index);
    const truth = labels[index];
    placeStrips();
    strips.follow({ way, bend, index, image, truth });

    const bent = bendDigit(image, bend);
    const words = readers.map(({ name, read }, n) => {
      const answer = read(bent);
      panels[n].show(answer.lengths ?? answer.probabilities, answer.prediction, truth);
      return `${name} says ${answer.prediction}`;
    });
    says = words.join(", ");
    painter.paint(subject, bent);
    subject.setAttribute("aria-label", `a handwritten ${truth}, bent. ${says}`);
    WAYS.forEach(({ key, inWords }, n) => slides[n].show(bend[key], inWords(bend[key])));
    digits.show(index, painter);
    describe();
  };
});
