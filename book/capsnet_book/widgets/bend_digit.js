// A digit is turned, sheared, resized and moved; a capsule network and a CNN say what they see. Under each slider
// stands what either would say at every place of it, so that one sees where it breaks.
import { amountsOf, FARTHEST, halfPixel, remarkOnReach, runsOf, WAYS } from "./bend_digit_model.js";
import { makeBars } from "./shared/bars.js";
import { bendDigit, STRAIGHT } from "./shared/bending.js";
import { arrowKeys, drag, fitCanvas, measure, rangeInput } from "./shared/controls.js";
import { makeConvNet } from "./shared/conv_net.js";
import { makeNetwork } from "./shared/core.js";
import { toImage } from "./shared/ink.js";
import { unpackInt8 } from "./shared/int8.js";
import { drawStrokes } from "./shared/pad.js";
import { layOut } from "./shared/stage.js";
import {
  clamp,
  css,
  digitAt,
  digitButton,
  digitCanvas,
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
  themeColours,
  whenThemeChanges,
} from "./shared/ui.js";

/** @import { Bend, Way } from "./bend_digit_model.js" */

const QUIET = 150; // milliseconds without a change before the strips are computed
const BUDGET = 25; // milliseconds at a stretch that they may take

/** The two networks: what each makes of an image, as ten bars and an answer. */
async function readersOf(model, host) {
  const capsules = makeNetwork(unpackInt8(await sharedWeights(model, host)));
  const convolutions = makeConvNet(unpackInt8((await host.getModel(model.get("cnn"))).get("weights")));
  const byLengths = ({ lengths, prediction }) => ({ bars: lengths, prediction });
  const byShares = ({ probabilities, prediction }) => ({ bars: probabilities, prediction });
  return [
    {
      id: "capsnet",
      name: "CapsNet",
      unit: "length of each capsule",
      read: (image) => byLengths(capsules.forward(image)),
    },
    { id: "cnn", name: "CNN", unit: "softmax: shares of 1", read: (image) => byShares(convolutions.forward(image)) },
  ];
}

/** Ten bars of one network, and its answer. */
function makePanel({ id, name, unit }) {
  const verdict = element("strong", { "data-role": `verdict-${id}` });
  const bars = makeBars(`${name}, ${unit}`);
  const caption = element(
    "figcaption",
    {},
    element("span", { class: "says" }, `${name}: `, verdict),
    element("span", { class: "unit" }, unit),
  );
  const figure = element("figure", { class: "reader" }, caption, bars.list);
  const show = (values, prediction, truth) => {
    verdict.textContent = String(prediction);
    verdict.classList.toggle("wrong", prediction !== truth);
    bars.show(values, prediction);
  };
  return { figure, show };
}

/** The panels of all networks. show() writes down in `dataset` what each makes of an image, and returns it in words. */
function makePanels(readers, dataset) {
  const panels = readers.map(makePanel);
  const node = element("div", { class: "readers" }, ...panels.map(({ figure }) => figure));

  function show(image, truth) {
    const words = readers.map(({ id, name, read }, n) => {
      const { bars, prediction } = read(image);
      panels[n].show(bars, prediction, truth[n]);
      dataset[id] = prediction;
      dataset[`${id}Bars`] = Array.from(bars, (/** @type {number} */ x) => x.toFixed(5)).join(",");
      return `${name} says ${prediction}`;
    });
    return words.join(", ");
  }

  return { node, show };
}

// ------------------------------------------------------------------------------------------------- the sliders

/**
 * What a network says along a slider.
 * @param {{ id: string, name: string }} reader
 * @param {Way} way
 */
function makeStrip({ id, name }, way) {
  const strip = element("div", {
    class: "strip",
    role: "img",
    "data-role": `strip-${id}`,
    "aria-label": `${name} by ${way.name}: not computed yet`,
  });
  strip.style.setProperty("--places", String(way.places));
  const label = element("span", { class: "reader-name", "aria-hidden": "true" }, name);
  const line = element("div", { class: "strip-line" }, label, strip);
  const amounts = amountsOf(way);

  /** answers: a digit for each amount, -1 where it is not known yet. */
  function show(answers, truth) {
    const runs = runsOf(answers);
    strip.replaceChildren(
      ...runs.map(({ answer, from, to }) => {
        const kind = answer < 0 ? "open" : answer === truth ? "right" : "wrong";
        const run = element("span", { class: `run ${kind}` }, answer >= 0 && to > from ? String(answer) : "");
        run.style.flexGrow = String(to - from + 1);
        return run;
      }),
    );
    const stretch = ({ answer, from, to }) =>
      `${answer} from ${way.inWords(amounts[from])} to ${way.inWords(amounts[to])}`;
    const known = runs.filter(({ answer }) => answer >= 0).map(stretch);
    setAttributes(strip, { "aria-label": `${name} by ${way.name}: ${known.join("; ")}` });
    strip.dataset.answers = answers.join("");
  }

  return { line, show };
}

/**
 * One slider, and below it a strip for each network.
 * @param {Way} way
 * @param {(amount: number) => void} set
 */
function makeSlide(way, readers, set) {
  const { key, name, min, max, step, places } = way;
  const zero = STRAIGHT[key];
  const oninput = () => set(input.valueAsNumber);
  const { input, show: showInput } = rangeInput({
    min,
    max,
    step,
    zero,
    reset: () => set(zero),
    "data-way": key,
    "aria-label": name,
    oninput,
  });
  const value = element("output", { "aria-hidden": "true" });
  const strips = readers.map((reader) => makeStrip(reader, way));
  const caption = element("span", { class: "caption" }, element("span", {}, name), value);
  const row = element(
    "div",
    { class: "slide" },
    element("div", { class: "slide-line" }, caption, input),
    ...strips.map(({ line }) => line),
  );
  const answers = readers.map(() => new Int8Array(places).fill(-1));

  return {
    way,
    row,
    answers,
    amounts: amountsOf(way),
    known: () => !answers[0].includes(-1),
    forget: () => answers.forEach((each) => each.fill(-1)),
    showStrips: (truth) => strips.forEach(({ show }, n) => show(Array.from(answers[n]), truth[n])),
    show: (amount) => {
      showInput(amount, way.inWords(amount));
      value.textContent = way.inWords(amount);
    },
  };
}

/**
 * Computes strips bit by bit while nothing else happens: compute(slide, k) one place, show(slide), at last done().
 * start(slides) begins anew with these.
 */
function makeStripWork({ compute, show, done }) {
  let waiting; // for a quiet moment, or for the next stretch
  let open = []; // places that are still to be computed: [slide, k]

  function workOff() {
    const began = performance.now();
    const touched = new Set();
    while (open.length && performance.now() - began < BUDGET) {
      const [slide, k] = open.shift();
      compute(slide, k);
      touched.add(slide);
      if (k === slide.amounts.length - 1) slide.row.classList.remove("stale");
    }
    touched.forEach(show);
    if (open.length) waiting = setTimeout(workOff);
    else done();
  }

  function start(slides) {
    open = slides.flatMap((slide) => slide.amounts.map((_, k) => [slide, k]));
    for (const { row } of slides) row.classList.add("stale");
    clearTimeout(waiting);
    waiting = setTimeout(workOff, QUIET);
  }

  return { start, stop: () => clearTimeout(waiting) };
}

// --------------------------------------------------------------------------------------------------- the digit

/**
 * The digit, to be moved by hand and by keys.
 * @param {{ place(): { right: number, down: number }, move(to: Partial<Bend>, key?: string): void }} _
 *   place: where it is; move: `key` names the way if it is by keys
 */
function makeStage({ place, move }) {
  const stage = digitCanvas("bent", "", {
    class: "stage-digit",
    tabindex: 0,
    role: "application",
    "aria-roledescription": "digit to move",
  });
  let held; // where the digit lies, seen from the hand
  drag(stage, {
    focus: stage,
    start: ({ x, y }) => {
      held = { right: place().right - x * SIDE, down: place().down - y * SIDE };
    },
    move: ({ x, y }) => move({ right: halfPixel(held.right + x * SIDE), down: halfPixel(held.down + y * SIDE) }),
  });
  arrowKeys(stage, (dx, dy) => {
    const [key, by] = dx ? ["right", dx] : ["down", dy];
    move({ [key]: clamp(place()[key] + by, -FARTHEST, FARTHEST) }, key);
  });
  return stage;
}

/** A pad to draw a digit of one's own on: drawn(image) at every step of the pen. */
function makeSketchPad(drawn, coloursNow) {
  const pad = element("canvas", {
    class: "pad",
    "data-role": "pad",
    role: "img",
    "aria-label": "Drawing pad, for mouse and finger",
  });
  let strokes = null; // while the reader draws: lists of points [x, y] in the unit square
  pad.hidden = true;
  const size = measure(pad, paint);

  function paint() {
    if (!strokes) return;
    const { paper, stroke: ink } = coloursNow();
    const { brush, width } = fitCanvas(pad, { width: size.width, height: size.width });
    brush.fillStyle = css(paper);
    brush.fillRect(0, 0, width, width);
    drawStrokes(brush, width, strokes, ink);
  }

  function goOn({ x, y }) {
    if (!strokes) return;
    strokes.at(-1).push([clamp(x, 0, 1), clamp(y, 0, 1)]);
    paint();
    drawn(toImage(strokes));
  }

  drag(pad, {
    start: (at) => {
      strokes.push([]);
      goOn(at);
    },
    move: goOn,
  });

  /** Shows an empty pad, or hides it. */
  function show(open) {
    strokes = open ? [] : null;
    pad.hidden = !open;
    paint();
  }

  return { pad, paint, show, stop: size.stop };
}

/**
 * The digit or the pad, and the buttons below.
 * @param {{ place(): Bend, move(to: Partial<Bend>, key?: string): void, drawn(image: Float32Array): void,
 *   colours(): any }} _
 */
function makeSubject({ place, move, drawn, colours }) {
  const stage = makeStage({ place, move });
  const sketch = makeSketchPad(drawn, colours);
  const draw = pushButton("draw", "Draw one", () => {
    move(STRAIGHT);
    show(true);
  });
  const straight = pushButton("straight", "Straighten", () => move(STRAIGHT));
  const bar = element("div", { class: "bar" }, straight, draw);
  const node = element("div", { class: "subject" }, stage, sketch.pad, bar);

  /** Shows an empty pad, or the digit. */
  function show(pad) {
    stage.hidden = pad;
    draw.textContent = pad ? "Clear" : "Draw one";
    sketch.show(pad);
  }

  return { node, stage, show, paint: sketch.paint, stop: sketch.stop };
}

/** Buttons that choose a digit. */
function makeSamples(labels, choose) {
  const thumbs = labels.map((label, n) =>
    digitButton({
      "data-role": "digit",
      "aria-pressed": "false",
      "aria-label": `Bend the handwritten ${label}`,
      onclick: () => choose(n),
    }),
  );
  const attributes = { class: "samples", role: "group", "aria-label": "Handwritten digits to bend" };
  return { thumbs, node: element("div", attributes, ...thumbs.map(({ button }) => button)) };
}

/** The key to the colours of the strips. */
function makeKey() {
  const run = (kind) => element("span", { class: `run ${kind}` }, kind);
  const words = ["What each says along the slider: ", run("right"), " ", run("wrong")];
  return element("p", { class: "strip-key", "aria-hidden": "true" }, ...words);
}

// -------------------------------------------------------------------------------------------------- the widget

async function build(root, model, host) {
  const readers = await readersOf(model, host);
  const samples = greysOf(model.get("images")); // [N, 784]
  const labels = model.get("labels");

  let index = model.get("index"); // of the digit; null: the reader's own
  let image; // [784], straight
  let truth; // what each reader should say: the label; of a drawing, what it says while the drawing is straight
  let predictions; // what each says now, in words
  let moved = WAYS[0]; // the way that was used last
  let colours = themeColours(root);
  const bend = /** @type {Bend} */ (Object.fromEntries(WAYS.map(({ key }) => [key, model.get(key)])));

  const wayOf = (key) => WAYS.find((way) => way.key === key);
  const answersTo = (picture) => readers.map(({ read }) => read(picture).prediction);
  const subject = makeSubject({
    place: () => bend,
    move: (to, key) => setBend(to, wayOf(key)),
    drawn: (drawing) => {
      index = null;
      takeUp(drawing, answersTo(drawing));
    },
    colours: () => colours,
  });
  const { thumbs, node: thumbnails } = makeSamples(labels, choose);
  const panels = makePanels(readers, root.dataset);
  const slides = WAYS.map((way) => makeSlide(way, readers, (amount) => setBend({ [way.key]: amount }, way)));
  const [first, ...others] = slides.map(({ row }) => row);
  const { say, stop: stopSaying } = layOut(root, {
    stage: element("div", { class: "bending" }, subject.node, panels.node),
    hands: [element("div", { class: "slides" }, first), makeKey(), thumbnails],
    more: [element("div", { class: "slides" }, ...others)],
    about: "Shear it, resize it, move it",
  });
  root.dataset.sticks = "";
  const painter = makePainter(root);
  const work = makeStripWork({
    compute: ({ way, amounts, answers }, k) => {
      const bent = bendDigit(image, { ...bend, [way.key]: amounts[k] });
      for (const [n, answer] of answersTo(bent).entries()) answers[n][k] = answer;
    },
    show: ({ showStrips }) => showStrips(truth),
    done: () => {
      root.dataset.strips = "done";
      describe();
    },
  });

  function choose(n) {
    index = n;
    subject.show(false);
    save(model, { index });
    takeUp(
      digitAt(samples, n),
      readers.map(() => labels[n]),
    );
  }

  /** Another digit to bend. */
  function takeUp(pixels, answers) {
    image = pixels;
    truth = answers;
    for (const { forget } of slides) forget();
    changed();
  }

  /** @param {Partial<Bend>} to @param {Way} [way] */
  function setBend(to, way) {
    subject.show(false);
    Object.assign(bend, to);
    if (way) moved = way;
    save(model, to);
    changed(way);
  }

  /** Another digit, or another bend by one way: a strip does not depend on its own slider. @param {Way} [way] */
  function changed(way) {
    schedule();
    const stale = slides.filter((slide) => slide.way !== way || !slide.known());
    stale.sort((p, q) => Number(q.way === moved) - Number(p.way === moved)); // what the reader looks at comes first
    root.dataset.strips = "open";
    work.start(stale);
  }

  function update() {
    const bent = bendDigit(image, bend);
    predictions = panels.show(bent, truth);
    painter.paint(subject.stage, bent);
    const what = index === null ? "your digit" : `a handwritten ${labels[index]}`;
    setAttributes(subject.stage, { "aria-label": `${what}, bent. Arrow keys move it. ${predictions}` });
    for (const { way, show } of slides) show(bend[way.key]);
    thumbs.forEach(({ button }, n) => button.setAttribute("aria-pressed", String(n === index)));
    Object.assign(root.dataset, { index: index ?? "own", ...bend });
    describe();
  }
  const schedule = oncePerFrame(update);

  /** How far the way that was moved last can go before each network says something else. */
  function describe() {
    const { answers, known } = slides.find(({ way }) => way === moved);
    const done = known() && root.dataset.strips === "done";
    const readings = readers.map(({ name }, n) => ({ name, answers: Array.from(answers[n]), truth: truth[n] }));
    const reach = done ? remarkOnReach(moved, bend, readings) : "…";
    say(`${predictions}. ${reach}`);
  }

  const follow = (way) => () => {
    if (model.get(way.key) === bend[way.key]) return;
    bend[way.key] = model.get(way.key);
    moved = way;
    changed(way);
  };
  const stopListening = listen(model, {
    index: () => model.get("index") !== index && choose(model.get("index")),
    ...Object.fromEntries(WAYS.map((way) => [way.key, follow(way)])),
  });
  const refresh = () => {
    colours = themeColours(root);
    painter.refresh();
    thumbs.forEach(({ canvas }, n) => painter.paint(canvas, digitAt(samples, n)));
    subject.paint();
    update();
  };
  const stopWatching = whenThemeChanges(refresh);
  choose(index);
  refresh();
  return [stopListening, stopWatching, work.stop, subject.stop, schedule.cancel, stopSaying];
}

function render({ model, el, host }) {
  const root = makeRoot("BendDigit", "Bend a digit: what a capsule network and a CNN make of it");
  return mount(el, root, () => build(root, model, host));
}

export default { render };
