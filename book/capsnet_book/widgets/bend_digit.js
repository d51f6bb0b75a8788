// A digit is turned, sheared, resized and moved; a capsule network and a CNN say what they see. Under the slider that was
// moved stands what either would say at every place of it, so that one sees where it breaks.
import { amountsOf, FARTHEST, halfPixel, remarkOnReach, runsOf, WAYS } from "./bend_digit_model.js";
import { makeBars } from "./shared/bars.js";
import { bendDigit, STRAIGHT } from "./shared/bending.js";
import { arrowKeys, drag, rangeInput } from "./shared/controls.js";
import { makeConvNet } from "./shared/conv_net.js";
import { makeNetwork } from "./shared/core.js";
import { withPrompts } from "./shared/prompts.js";
import { layOut } from "./shared/stage.js";
import {
  clamp,
  digitAt,
  digitCanvas,
  digitRow,
  element,
  greysOf,
  listen,
  makePainter,
  makeRoot,
  mount,
  oncePerFrame,
  pushButton,
  SIDE,
  save,
  setAttributes,
  sharedWeights,
  whenThemeChanges,
} from "./shared/ui.js";

/** @import { Bend, Way } from "./bend_digit_model.js" */
/** @typedef {{ id: string, name: string, unit: string,
 *   read: (image: Float32Array) => { bars: Float32Array, prediction: number } }} Reader */

const QUIET = 150; // milliseconds without a change before the strips are computed
const BUDGET = 25; // milliseconds at a stretch that they may take

/** The two networks. @returns {Promise<Reader[]>} */
async function readersOf(model, host) {
  const capsules = makeNetwork(await sharedWeights(model, host));
  const convolutions = makeConvNet((await host.getModel(model.get("cnn"))).get("weights"));
  const byLengths = ({ lengths, prediction }) => ({ bars: lengths, prediction });
  const byShares = ({ probabilities, prediction }) => ({ bars: probabilities, prediction });
  return [
    { id: "capsnet", name: "CapsNet", unit: "length of each capsule", read: (x) => byLengths(capsules.forward(x)) },
    { id: "cnn", name: "CNN", unit: "softmax: shares of 1", read: (x) => byShares(convolutions.forward(x)) },
  ];
}

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

/** What a network says along a slider. @param {Reader} reader */
function makeStrip({ id, name }) {
  const strip = element("div", { class: "strip", role: "img", "data-role": `strip-${id}` });
  const line = element("div", { class: "strip-line" }, element("span", { "aria-hidden": "true" }, name), strip);

  /** answers: a digit for each amount, -1 where it is not known yet. @param {Way} way @param {number[]} answers */
  function show(way, answers, truth) {
    const [runs, amounts] = [runsOf(answers), amountsOf(way)];
    strip.style.setProperty("--places", String(way.places));
    strip.replaceChildren(
      ...runs.map(({ answer, from, to }) => {
        const kind = answer < 0 ? "open" : answer === truth ? "right" : "wrong";
        const run = element("span", { class: `run ${kind}` }, answer >= 0 && to > from ? String(answer) : "");
        run.style.flexGrow = String(to - from + 1);
        return run;
      }),
    );
    const known = runs.filter(({ answer }) => answer >= 0);
    const words = known.map(
      ({ answer, from, to }) => `${answer} from ${way.inWords(amounts[from])} to ${way.inWords(amounts[to])}`,
    );
    setAttributes(strip, { "aria-label": `${name} by ${way.name}: ${words.join("; ") || "not computed yet"}` });
    strip.dataset.answers = answers.join("");
  }

  return { line, show };
}

/** One slider. @param {Way} way @param {(amount: number) => void} set */
function makeSlide({ key, name, min, max, step, inWords }, set) {
  const zero = STRAIGHT[key];
  const oninput = () => set(input.valueAsNumber);
  const reset = () => set(zero);
  const { input, show: showInput } = rangeInput({
    ...{ min, max, step, zero, reset, oninput },
    "data-way": key,
    "aria-label": name,
  });
  const value = element("output", { "aria-hidden": "true" });
  const caption = element("span", { class: "caption" }, element("span", {}, name), value);
  const row = element("div", { class: "slide" }, element("div", { class: "slide-line" }, caption, input));
  const show = (amount) => {
    showInput(amount, inWords(amount));
    value.textContent = inWords(amount);
  };
  return { row, show };
}

/**
 * The digit, to be moved by hand and by keys.
 * @param {{ place(): Bend, move(to: Partial<Bend>): void }} _
 */
function makeSubject({ place, move }) {
  const digit = digitCanvas("bent", "", {
    class: "stage-digit",
    tabindex: 0,
    role: "application",
    "aria-roledescription": "digit to move",
  });
  let held; // where the digit lies, seen from the hand
  drag(digit, {
    focus: digit,
    start: ({ x, y }) => {
      held = { right: place().right - x * SIDE, down: place().down - y * SIDE };
    },
    move: ({ x, y }) => move({ right: halfPixel(held.right + x * SIDE), down: halfPixel(held.down + y * SIDE) }),
  });
  arrowKeys(digit, (dx, dy) => {
    const [key, by] = dx ? ["right", dx] : ["down", dy];
    move({ [key]: clamp(place()[key] + by, -FARTHEST, FARTHEST) });
  });
  return digit;
}

async function build(root, model, host) {
  const readers = await readersOf(model, host);
  const samples = greysOf(model.get("images")); // [N, 784]
  const labels = model.get("labels");
  let moved = WAYS[0]; // the way that was used last
  let answers = []; // of each reader along that way; -1: not known yet
  let timer; // until the next stretch of strips
  let says = ""; // what each says now

  const bend = () => /** @type {Bend} */ (Object.fromEntries(WAYS.map(({ key }) => [key, model.get(key)])));
  const image = () => digitAt(samples, model.get("index"));
  const truth = () => labels[model.get("index")];
  const subject = makeSubject({ place: bend, move: (to) => save(model, to) });
  const straight = pushButton("straight", "Straighten", () => save(model, STRAIGHT));
  const panels = readers.map(makePanel);
  const slides = WAYS.map((way) => makeSlide(way, (amount) => save(model, { [way.key]: amount })));
  const strips = readers.map(makeStrip);
  const run = (kind) => element("span", { class: `run ${kind}` }, kind);
  const key = element("p", { class: "strip-key", "aria-hidden": "true" }, "along the slider: ", run("right"), " ");
  key.append(run("wrong"));
  const stripes = element("div", { class: "strips" }, ...strips.map(({ line }) => line), key);
  const digits = digitRow(
    labels,
    "Handwritten digits to bend",
    (label) => `Bend the handwritten ${label}`,
    (index) => save(model, { index }),
  );
  const [first, ...others] = slides.map(({ row }) => row);
  const { say, rest, stop } = layOut(root, {
    stage: element(
      "div",
      { class: "bending" },
      element("div", {}, subject, element("div", { class: "bar" }, straight)),
      element("div", { class: "readers" }, ...panels.map(({ figure }) => figure)),
    ),
    hands: [element("div", { class: "slides" }, first), digits.row],
    more: [element("div", { class: "slides" }, ...others)],
    about: "Shear it, resize it, move it",
  });
  root.dataset.sticks = "";
  const painter = makePainter(root);

  /** The strips stand under the slider that was moved last. @param {Way} [way] */
  function begin(way = moved) {
    const stale = way !== moved || !answers.length;
    moved = way;
    const at = WAYS.indexOf(way);
    if (stripes.parentElement !== slides[at].row) slides[at].row.append(stripes);
    if (at > 0) rest.open = true;
    if (!stale) return;
    answers = readers.map(() => new Array(moved.places).fill(-1));
    root.dataset.strips = "open";
    clearTimeout(timer);
    timer = setTimeout(workOff, QUIET);
  }

  /** Computes the strips bit by bit, while nothing else happens. */
  function workOff() {
    const [began, amounts] = [performance.now(), amountsOf(moved)];
    let at = answers[0].indexOf(-1);
    for (; at >= 0 && performance.now() - began < BUDGET; at = answers[0].indexOf(-1)) {
      const bent = bendDigit(image(), { ...bend(), [moved.key]: amounts[at] });
      for (const [n, { read }] of readers.entries()) answers[n][at] = read(bent).prediction;
    }
    if (at >= 0) timer = setTimeout(workOff);
    else root.dataset.strips = "done";
    describe();
  }

  function describe() {
    strips.forEach(({ show }, n) => show(moved, answers[n], truth()));
    const readings = readers.map(({ name }, n) => ({ name, answers: answers[n] }));
    const known = !answers[0].includes(-1);
    say(`${says}. ${known ? remarkOnReach(moved, bend(), readings, truth()) : "…"}`);
  }

  function draw() {
    const bent = bendDigit(image(), bend());
    const words = readers.map(({ id, name, read }, n) => {
      const { bars, prediction } = read(bent);
      panels[n].show(bars, prediction, truth());
      root.dataset[id] = String(prediction);
      return `${name} says ${prediction}`;
    });
    says = words.join(", ");
    painter.paint(subject, bent);
    const label = `a handwritten ${truth()}, bent. Arrow keys move it. ${says}`;
    setAttributes(subject, { "aria-label": label });
    WAYS.forEach(({ key }, n) => slides[n].show(model.get(key)));
    digits.show(model.get("index"));
    Object.assign(root.dataset, { index: model.get("index"), ...bend() });
    describe();
  }
  const schedule = oncePerFrame(draw);

  /** A strip does not depend on its own slider. @param {Way} way */
  const follow = (way) => () => {
    if (way !== moved) answers = [];
    begin(way);
    schedule();
  };
  const another = () => {
    answers = [];
    begin();
    schedule();
  };
  const refresh = () => {
    painter.refresh();
    digits.paint(painter, samples);
    draw();
  };
  begin();
  refresh();
  const stopListening = listen(model, {
    index: another,
    ...Object.fromEntries(WAYS.map((way) => [way.key, follow(way)])),
  });
  const stopWatching = whenThemeChanges(refresh);
  return [stopListening, stopWatching, () => clearTimeout(timer), schedule.cancel, stop];
}

function render({ model, el, host }) {
  const root = makeRoot("BendDigit", "Bend a digit: what a capsule network and a CNN make of it");
  return mount(el, root, () => build(root, model, host));
}

export default { render: withPrompts(render) };
