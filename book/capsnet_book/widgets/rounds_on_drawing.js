// A drawing is read after 1, 2, … rounds of routing, side by side: does the answer change?
import { inRounds, inWords, MOST, readAfterEach, spread } from "./rounds_on_drawing_model.js";
import { makeBars } from "./shared/bars.js";
import { axes, measure } from "./shared/controls.js";
import { makeNetwork } from "./shared/core.js";
import { makePad, tiePad } from "./shared/pad.js";
import { makeSamples } from "./shared/samples.js";
import { layOut } from "./shared/stage.js";
import {
  bytesOf,
  digitAt,
  element,
  format,
  listen,
  makePainter,
  makeRoot,
  mount,
  oncePerFrame,
  save,
  setAttributes,
  sharedWeights,
  svg,
  themeColours,
  thumbnail,
  whenThemeChanges,
} from "./shared/ui.js";

/** @import { Reading } from "./rounds_on_drawing_model.js" */

const GUTTER = 56; // pixels left of the five columns, for what the rows are; the stylesheet has it too
const HEIGHT = 190; // of the chart
const APART = 13; // pixels between two labels

// --------------------------------------------------------------------------------------------------- the chart

/** A line a class: how long its capsule is after each round. Lines that cross are an answer that changes. */
function makeChart(changed) {
  const chart = svg("svg", { class: "growth", role: "img", "data-role": "chart", height: HEIGHT });
  let size; // measured when it is first drawn

  /** @param {Reading[]} readings @param {number[]} predictions @param {number} rounds  the chosen number of them */
  function show(readings, predictions, rounds) {
    size ??= measure(chart, changed);
    const width = Math.max(size.width, 5 * GUTTER); // 0 as long as nobody sees it
    const plan = axes({ width, height: HEIGHT, left: GUTTER, right: 0, top: 8, bottom: 6, x: [-0.5, MOST - 0.5] });
    chart.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    chart.replaceChildren(
      svg("rect", { class: "chosen", x: plan.x(rounds - 1.5), y: 0, width: plan.x(1) - plan.x(0), height: HEIGHT }),
      ...[0, 0.5, 1].map((length) => svg("path", { class: "axis", d: `M${GUTTER} ${plan.y(length)}H${width}` })),
      ...plan.beside([0, 0.5, 1]),
      ...linesOf(readings, predictions, plan),
      ...namesOf(readings, predictions, plan),
    );
    const label = `Lengths of the ten capsules after one to five rounds; the longest: ${predictions.join(", ")}`;
    setAttributes(chart, { "aria-label": label });
  }

  return { chart, show, stop: () => size?.stop() };
}

/** Whether class `j` is the "last" answer, some "other" one, or of the "rest". */
const roleOf = (j, predictions) => (j === predictions.at(-1) ? "last" : predictions.includes(j) ? "other" : "rest");

function linesOf(readings, predictions, plan) {
  const classes = Array.from(readings[0].lengths, (_, j) => j);
  const answersLast = (p, q) => Number(predictions.includes(p)) - Number(predictions.includes(q));
  return classes.sort(answersLast).flatMap((j) => {
    const role = roleOf(j, predictions);
    const points = readings.map(({ lengths }, t) => [t, lengths[j]]);
    const line = svg("path", { class: `capsule ${role}`, d: plan.path(points) });
    const dot = ([t, length]) => svg("circle", { class: role, cx: plan.x(t), cy: plan.y(length), r: 3 });
    return role === "rest" ? [line] : [line, ...points.map(dot)];
  });
}

/** The names of the lines that are answers, or long at the end. */
function namesOf(readings, predictions, plan) {
  const last = readings.at(-1).lengths;
  const named = Array.from(last, (_, j) => j).filter((j) => predictions.includes(j) || last[j] > 0.2);
  const heights = spread(
    named.map((j) => plan.y(last[j])),
    APART,
  ).map((height) => Math.min(height, plan.floor));
  const kind = (j) => ({ class: `label ${roleOf(j, predictions)}` });
  return named.map((j, k) => plan.text(String(j), plan.x(MOST - 1) + 9, heights[k] + 4, kind(j)));
}

// ------------------------------------------------------------------------------------------------- the columns

/** The answer after so many rounds: a button that chooses them. */
function makeColumn(rounds, onclick) {
  const answer = element("strong");
  const [length, entropy] = [element("span"), element("span")];
  const drawing = thumbnail();
  const button = element(
    "button",
    { type: "button", class: "stop", "data-round": rounds, onclick },
    element("span", {}, String(rounds)),
    answer,
    length,
    entropy,
    drawing,
  );

  /** @param {Reading} reading @param {{ empty: boolean, pressed: boolean, changes: boolean }} _  changes: later on */
  function show({ prediction, lengths, entropy: spreading }, { empty, pressed, changes }) {
    answer.textContent = empty ? "–" : String(prediction);
    length.textContent = format(lengths[prediction]);
    entropy.textContent = format(spreading, 3);
    button.classList.toggle("changed", changes);
    const result = `answer ${answer.textContent}, ${length.textContent} long, entropy ${entropy.textContent}`;
    setAttributes(button, { "aria-pressed": pressed, "aria-label": `Stop after ${inRounds(rounds)}: ${result}` });
  }

  return { button, drawing, show };
}

// -------------------------------------------------------------------------------------------------- the widget

async function build(root, model, host) {
  const network = makeNetwork(await sharedWeights(model, host));
  const images = bytesOf(model.get("samples"));
  const labels = model.get("labels");
  let rounds = model.get("rounds");
  let loaded = null; // the sample on the pad
  let colours;

  const pad = makePad({
    drawn: () => schedule(),
    settled: () => tie.share(),
    loaded: () => showLoaded(null),
    say: (words) => say(words),
  });
  const samples = makeSamples(
    { images, labels, disputed: model.get("disputed"), load: (n) => showPixels(digitAt(images, n), n) },
    {
      lead: "The rounds disagree on these:",
      group: "Digits on which the rounds disagree",
      each: (label) => `Load a ${label} on which the rounds disagree`,
    },
  );
  const { chart, show: showChart, stop: stopMeasuring } = makeChart(() => schedule());
  const columns = Array.from({ length: MOST }, (_, t) => makeColumn(t + 1, () => stopAfter(t + 1)));
  const heads = ["rounds", "answer", "length", "entropy", "drawn"].map((word) => element("span", {}, word));
  const lead = element("p", { class: "lead" });
  const bars = makeBars();
  const stops = element(
    "div",
    { class: "stops", role: "group", "aria-label": "Stop after so many rounds" },
    element("div", { class: "heads", "aria-hidden": "true" }, ...heads),
    ...columns.map(({ button }) => button),
  );
  const { say, stop: stopSaying } = layOut(root, {
    stage: element(
      "div",
      { class: "drawing" },
      element("div", { class: "left" }, pad.frame, pad.buttons),
      element("div", { class: "right" }, chart, stops),
    ),
    hands: [samples.loads],
    more: [element("section", { class: "after", "aria-label": "The ten lengths" }, lead, bars.list)],
    about: "The ten lengths",
  });
  const painter = makePainter(root);

  /** Exactly these pixels, as they are; `n` if they are a sample's. */
  function showPixels(bytes, n = null) {
    pad.show(bytes);
    showLoaded(n);
  }

  function showLoaded(n) {
    loaded = n;
    tie.share();
    update();
  }

  function stopAfter(t) {
    rounds = t;
    save(model, { rounds });
    update();
  }

  function update() {
    if (pad.byHand()) loaded = null;
    const readings = readAfterEach(network, pad.image());
    const predictions = readings.map(({ prediction }) => prediction);
    const empty = pad.empty();
    pad.paint(painter, colours);
    showChart(readings, predictions, rounds);
    columns.forEach(({ drawing, show }, t) => {
      const { prediction, capsules } = readings[t];
      painter.paint(drawing, network.decode(network.mask(capsules, prediction)));
      show(readings[t], { empty, pressed: t + 1 === rounds, changes: prediction !== predictions.at(-1) });
    });
    const { lengths, prediction } = readings[rounds - 1];
    const even = rounds === 1 ? ": even shares, nothing is routed" : "";
    lead.textContent = `The ten lengths after ${inRounds(rounds)}${even}`;
    bars.show(lengths, prediction);
    samples.press(loaded);
    say(empty ? "Nothing drawn yet." : inWords(predictions, loaded === null ? null : labels[loaded]));
    setAttributes(root, {
      "data-rounds": rounds,
      "data-predictions": predictions.join(","),
      "data-entropy": readings.map(({ entropy }) => entropy.toFixed(6)).join(","),
      "data-lengths": Array.from(lengths, (length) => length.toFixed(6)).join(","),
    });
  }
  const schedule = oncePerFrame(update);

  root.addEventListener("capsnet:image", ({ detail }) => showPixels(detail));
  const tie = tiePad(pad, model, showPixels);
  const stopListening = listen(model, {
    rounds: () => {
      rounds = model.get("rounds");
      schedule();
    },
  });
  const refresh = () => {
    painter.refresh();
    colours = themeColours(root);
    samples.paint(painter);
    update();
  };
  const stopWatching = whenThemeChanges(refresh);
  pad.show(bytesOf(model.get("image")));
  refresh();
  return [tie.stop, stopListening, stopWatching, stopMeasuring, schedule.cancel, stopSaying];
}

function render({ model, el, host }) {
  const root = makeRoot("RoundsOnDrawing", "Draw a digit, and read it after one to five rounds of routing");
  return mount(el, root, () => build(root, model, host));
}

export default { render };
