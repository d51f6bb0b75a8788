// A training run, played again: its curves, and at each recorded moment what the network made of five digits.
import { LONG, makeBars } from "./shared/bars.js";
import { axes, drag, fitCanvas, measure } from "./shared/controls.js";
import { layOut, makeTime } from "./shared/stage.js";
import {
  bytesOf,
  clamp,
  css,
  digitAt,
  digitCanvas,
  element,
  format,
  listen,
  makePainter,
  makeRoot,
  mix,
  mount,
  setAttributes,
  svg,
  themeColours,
  whenThemeChanges,
} from "./shared/ui.js";
import { inWords, readRecording } from "./training_replay_model.js";

const PACE = 700; // milliseconds a moment
const CHART = { height: 216, left: 40, right: 46, top: 14, bottom: 44 };
const RANGE = [0.002, 0.7]; // of the chart's upright axis, which is logarithmic
const FULL = 4; // so many times an equal share, or as little, has the full colour
const TICKS = [0, 1, 2, 5, 10, 20, 40, 60];
const CURVES = { loss: "loss", error: "validation_error" }; // what the chart shows: a class, and a key of the record

function render({ model, el }) {
  const root = makeRoot(
    "TrainingReplay",
    "The training of the small network, played again",
    "Recorded: what the network was while it was trained; this page only plays it again.",
  );
  return mount(el, root, () => {
    const run = readRecording(bytesOf(model.get("recording")));
    const last = run.epochs.length - 1;
    let moment = run.epochs.indexOf(model.get("epoch"));
    let digit = model.get("digit");

    const chart = makeChart(run, () => draw());
    const top = makeTop();
    const cards = makeCards(run, choose);
    const routing = makeRouting(run, () => routing.paint(moment, digit, colours));
    const time = makeTime({
      label: "Moment of the training",
      max: last,
      pace: PACE,
      at: () => moment,
      seek: show,
      words: (at) => clockAt(run.epochs[at]),
      spoken: (at) => spokenAt(run, at),
      settled: () => model.save_changes(),
      dataset: root.dataset,
    });
    root.classList.add("replay");
    const { say, stop: stopSaying } = layOut(root, {
      stage: element("div", {}, top.row, chart.picture, cards.group),
      hands: [time.row],
      more: [routing.section],
      about: "How this digit was routed at that moment",
    });
    const painter = makePainter(root);
    let colours = themeColours(root);

    // ---------------------------------------------------------------------------------------- actions
    function show(at) {
      moment = clamp(at, 0, last);
      model.set("epoch", run.epochs[moment]);
      draw();
    }

    function choose(n) {
      digit = n;
      model.set("digit", n);
      model.save_changes();
      draw();
    }

    drag(chart.picture, {
      start(at) {
        time.halt();
        show(chart.nearest(at.x));
      },
      move: ({ x }) => chart.nearest(x) !== moment && show(chart.nearest(x)),
      end: () => model.save_changes(),
    });

    // ---------------------------------------------------------------------------------------- drawing
    function draw() {
      const said = top.show(run, moment);
      Object.assign(root.dataset, { epoch: run.epochs[moment], digit, moment });
      chart.show(moment, said);
      cards.show(moment, digit, painter);
      const { lengths, decided } = run.at(moment, digit);
      root.dataset.lengths = Array.from(lengths, (length) => length.toFixed(4)).join(",");
      root.dataset.decided = String(decided);
      routing.show(moment, digit);
      routing.paint(moment, digit, colours);
      const words = inWords(run, moment, digit);
      say(words, `${said.spoken}. ${words}`);
      time.show();
    }

    const stopListening = listen(model, {
      epoch: () => {
        if (model.get("epoch") === run.epochs[moment]) return;
        time.halt();
        show(run.epochs.indexOf(model.get("epoch")));
      },
      digit: () => {
        digit = model.get("digit");
        draw();
      },
    });
    const stopWatching = whenThemeChanges(() => {
      painter.refresh();
      colours = themeColours(root);
      draw();
    });
    draw();
    return [time.stop, stopListening, stopWatching, chart.stop, routing.stop, stopSaying];
  });
}

const clockAt = (epoch) => (epoch === 0 ? "untrained" : `${epoch} epoch${epoch === 1 ? "" : "s"}`);

const pointAt = (run, moment) => run.curve.find(({ epoch }) => epoch === run.epochs[moment]);
const percent = (/** @type {number} */ error) => `${format(100 * error, 2)} %`;

/** The clock, loss and error of a moment, for ears. */
function spokenAt(run, moment) {
  const point = pointAt(run, moment);
  if (!point) return clockAt(0);
  const { loss, validation_error: error, epoch } = point;
  return `after ${clockAt(epoch)}: loss ${format(loss, 4)}, validation error ${percent(error)}`;
}

/** The row above the chart: the clock, loss and error. */
function makeTop() {
  const clock = element("span", { class: "clock", "data-role": "clock" });
  const reading = (name, text) => {
    const value = element("strong");
    return { value, node: element("span", { class: `reading of-${name}`, "data-role": name }, `${text} `, value) };
  };
  const [loss, error] = [reading("loss", "loss"), reading("error", "validation error")];
  const row = element("div", { class: "top" }, clock, loss.node, error.node);

  /** -> what it says, and the curves' point at this moment: none before training */
  function show(run, moment) {
    const epoch = run.epochs[moment];
    const point = pointAt(run, moment);
    clock.textContent = clockAt(epoch);
    loss.value.textContent = point ? format(point.loss, 4) : "–";
    error.value.textContent = point ? percent(point.validation_error) : "–";
    const spoken = `after ${clock.textContent}: loss ${loss.value.textContent}, `;
    return { spoken: point ? `${spoken}validation error ${error.value.textContent}` : "untrained", point };
  }
  return { row, show };
}

/** Loss and validation error over the epochs; a line and a knob show the moment. */
function makeChart(run, changed) {
  const last = run.epochs.at(-1);
  const label = "Loss and validation error over the epochs";
  const picture = svg("svg", { class: "chart", "data-role": "chart", role: "img", "aria-label": label });
  const ground = CHART.height - CHART.bottom;
  const [frame, labels] = [svg("path", { class: "axis" }), svg("g")];
  const each = (make) => Object.fromEntries(Object.keys(CURVES).map((name) => [name, make(name)]));
  const lines = each((name) => svg("path", { class: `line of-${name}` }));
  const dots = each((name) => svg("circle", { class: `dot of-${name}`, r: 5 }));
  const plumb = svg("line", { class: "plumb" });
  const handle = svg("circle", { class: "moment", r: 8 });
  picture.append(frame, labels, plumb, lines.loss, lines.error, dots.loss, dots.error, handle);

  const size = measure(picture, () => fit());
  let laidOut; // so wide
  let chart;
  /** The axes and the curves, as wide as the chart is now. */
  function fit() {
    const { width } = size;
    if (width === laidOut || !width) return;
    laidOut = width;
    chart = axes({ ...CHART, width, x: [0, last], y: RANGE, warp: { x: Math.log1p, y: Math.log } });
    const { y, end, text } = chart;
    setAttributes(picture, { viewBox: `0 0 ${width} ${CHART.height}` });
    const levels = [0.1, 0.01];
    const rules = levels.map((value) => `M${CHART.left} ${y(value)}H${end}`).join("");
    frame.setAttribute("d", `M${CHART.left} ${CHART.top}V${ground}H${end}${rules}`);
    const loss = { class: "label of-loss", "text-anchor": "end" };
    labels.replaceChildren(
      ...levels.flatMap((value) => [
        text(String(value), CHART.left - 6, y(value) + 4, loss),
        text(`${format(100 * value, 0)} %`, end + 6, y(value) + 4, { class: "label of-error" }),
      ]),
      ...chart.below(TICKS, 38),
      text("epochs", end + 12, ground + 38),
    );
    for (const [name, key] of Object.entries(CURVES)) {
      lines[name].setAttribute("d", chart.path(run.curve.map((point) => [point.epoch, point[key]])));
    }
    changed();
  }

  function show(moment, { point }) {
    const epoch = run.epochs[moment];
    if (!chart) return;
    const x = chart.x(epoch);
    setAttributes(plumb, { x1: x, x2: x, y1: CHART.top, y2: ground + 12 });
    setAttributes(handle, { transform: `translate(${x} ${ground + 12})` });
    for (const [name, key] of Object.entries(CURVES)) {
      dots[name].toggleAttribute("hidden", !point);
      if (point) setAttributes(dots[name], { cx: x, cy: chart.y(point[key]) });
    }
  }

  /** The moment nearest to a share of the chart's width. */
  function nearest(share) {
    const far = run.epochs.map((epoch) => Math.abs(chart.x(epoch) - share * size.width));
    return far.indexOf(Math.min(...far));
  }

  return { picture, show, nearest, stop: size.stop };
}

/** The five digits, as written and as redrawn. */
function makeCards(run, choose) {
  const cards = run.labels.map((label, n) => {
    const original = digitCanvas("written", `The digit as it was written, labelled ${label}`);
    const redrawn = digitCanvas("drawn", "");
    const verdict = element("span", { class: "verdict" });
    const attributes = { type: "button", class: "card", "data-digit": n, onclick: () => choose(n) };
    return { original, redrawn, verdict, button: element("button", attributes, original, redrawn, verdict) };
  });
  const label = "Five digits, as written and as redrawn; choose one to see its routing";
  const buttons = cards.map(({ button }) => button);
  const group = element("div", { class: "cards", role: "group", "aria-label": label }, ...buttons);

  function show(moment, digit, painter) {
    cards.forEach(({ original, redrawn, verdict, button }, n) => {
      const { lengths, prediction } = run.at(moment, n);
      const right = prediction === run.labels[n];
      painter.paint(original, digitAt(run.images, n));
      painter.paint(redrawn, run.reconstruction(moment, n));
      verdict.textContent = `${prediction} ${right ? "✓" : "✗"}`;
      button.classList.toggle("wrong", !right);
      button.classList.toggle("unsure", lengths[prediction] < LONG);
      setAttributes(redrawn, { "aria-label": `Redrawn as ${prediction}` });
      setAttributes(button, { "aria-pressed": String(n === digit), "data-prediction": prediction });
    });
  }
  return { group, show };
}

/** The couplings of one digit as a map, and the ten lengths. */
function makeRouting(run, changed) {
  const lead = element("p", { class: "lead" });
  const map = element("canvas", { class: "votes", "data-role": "couplings", role: "img" });
  const bars = makeBars("Lengths of the ten digit capsules", run.J);
  const legend = [
    element("span", {}, "less than a tenth"),
    element("span", { class: "scale" }),
    element("span", {}, "more"),
  ];
  const section = element(
    "section",
    { class: "sent", "aria-label": "Routing" },
    lead,
    element("div", { class: "matrix" }, map, bars.list),
    element("div", { class: "legend", "aria-hidden": "true" }, ...legend),
  );
  const size = measure(map, changed);

  function show(moment, digit) {
    const { lengths, prediction, decided, most } = run.at(moment, digit);
    const who = `the ${run.I} primary capsules of this ${run.labels[digit]}`;
    lead.textContent = `Where ${who} send their votes, and the ten lengths`;
    bars.show(lengths, prediction, (length) => length >= LONG);
    const label =
      `Couplings of the last round. The largest is ${format(most)}; ` +
      `${decided} of ${run.I} capsules give one digit more than twice an equal share.`;
    setAttributes(map, { "aria-label": label });
  }

  function paint(moment, digit, colours) {
    if (!size.width) return;
    const { couplings } = run.at(moment, digit);
    const { brush, width, height, ratio } = fitCanvas(map, size);
    brush.clearRect(0, 0, width, height);
    const gap = 0.5; // between the types, in cells
    const places = run.I / run.types;
    const [w, h] = [width / (run.I + gap * (run.types - 1)), height / run.J];
    for (let i = 0; i < run.I; i++) {
      const x = (i + gap * Math.floor(i / places)) * w;
      for (let j = 0; j < run.J; j++) {
        const t = clamp(Math.log(couplings[i * run.J + j] * run.J) / Math.log(FULL), -1, 1);
        brush.fillStyle = css(mix(colours.raised, t < 0 ? colours.contrast : colours.accent, Math.abs(t)));
        brush.fillRect(x, j * h, w + 0.2, h - ratio);
      }
    }
  }
  return { section, show, paint, stop: size.stop };
}

export default { render };
