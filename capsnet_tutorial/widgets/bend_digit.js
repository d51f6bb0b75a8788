// A digit is turned, sheared, resized and moved; a capsule network and a CNN say what they see. Under each slider
// stands what either would say at every place of it, so that one sees where it breaks.
import { makeBars } from "./shared/bars.js";
import { makeNetwork } from "./shared/core.js";
import { unpackInt8 } from "./shared/int8.js";
import { makeConvNet } from "./shared/conv_net.js";
import { STRAIGHT, bendDigit } from "./shared/bending.js";
import { PEN, toImage } from "./shared/ink.js";
import { SIDE, bytesOf, clamp, css, digitAt, digitCanvas, element, format, listen, makeAnnouncer, makePainter, makeRoot, mount, oncePerFrame, setAttributes, sharedWeights, themeColours, thumbnail, whenThemeChanges } from "./shared/ui.js";

const QUIET = 150; // milliseconds without a change before the strips are computed
const BUDGET = 25; // milliseconds at a stretch that they may take
const KEYS = { ArrowLeft: ["right", -1], ArrowRight: ["right", 1], ArrowUp: ["down", -1], ArrowDown: ["down", 1] };

const degrees = (x) => `${format(x, 0, true)}°`;
const pixels = (x) => `${format(x, 1, true)} px`;
/** What can be done to a digit: bounds and step of its slider, how many places its strips show. */
const WAYS = [
  { key: "turn", name: "turn", min: -90, max: 90, step: 1, places: 37, say: degrees },
  { key: "shear", name: "shear", min: -1, max: 1, step: 0.05, places: 21, say: (x) => format(x, 2, true) },
  { key: "size", name: "size", min: 0.5, max: 2, step: 0.05, places: 31, say: (x) => `× ${format(x)}` },
  { key: "right", name: "to the right", min: -8, max: 8, step: 0.5, places: 17, say: pixels },
  { key: "down", name: "down", min: -8, max: 8, step: 0.5, places: 17, say: pixels },
];

/** The amounts at which a way's strips look. */
export const amountsOf = ({ min, max, places }) => Array.from({ length: places }, (_, k) => min + (k * (max - min)) / (places - 1));

/** Equal neighbours together: [7, 7, 1] -> [{ answer: 7, from: 0, to: 1 }, { answer: 1, from: 2, to: 2 }] */
export function runsOf(answers) {
  const runs = [];
  answers.forEach((answer, k) => {
    if (runs.at(-1)?.answer === answer) runs.at(-1).to = k;
    else runs.push({ answer, from: k, to: k });
  });
  return runs;
}

function render({ model, el, host }) {
  const root = makeRoot("BendDigit", "Bend a digit: what a capsule network and a CNN make of it");
  return mount(el, root, async () => {
    const capsules = makeNetwork(unpackInt8(await sharedWeights(model, host)));
    const convolutions = makeConvNet(unpackInt8((await host.getModel(model.get("cnn"))).get("weights")));
    const readers = [
      { id: "capsnet", name: "CapsNet", unit: "length of each capsule", read: (image) => { const { lengths, prediction } = capsules.forward(image); return { bars: lengths, prediction }; } },
      { id: "cnn", name: "CNN", unit: "softmax: shares of 1", read: (image) => { const { probabilities, prediction } = convolutions.forward(image); return { bars: probabilities, prediction }; } },
    ];
    const samples = Float32Array.from(bytesOf(model.get("images")), (grey) => grey / 255); // [N, 784]
    const labels = model.get("labels");

    let index = model.get("index"); // of the digit; null: the reader's own
    let image; // [784], straight
    let truth; // what each reader should say: the label; of a drawing, what it says while the drawing is straight
    let strokes = null; // while the reader draws: lists of points [x, y] in the unit square
    const bend = Object.fromEntries(WAYS.map(({ key }) => [key, model.get(key)]));
    let moved = WAYS[0]; // the way that was used last

    // ----------------------------------------------------------------------------------- elements
    const stage = digitCanvas("bent", "", { class: "stage-digit", tabindex: 0, role: "application", "aria-roledescription": "digit to move" });
    const pad = element("canvas", { class: "pad", "data-role": "pad", role: "img", "aria-label": "Drawing pad, for mouse and finger" });
    pad.hidden = true;
    const button = (role, text, onclick) => element("button", { type: "button", "data-role": role, onclick }, text);
    const draw = button("draw", "Draw one", () => startDrawing());
    const straight = button("straight", "Straighten", () => setBend(STRAIGHT));
    const thumbs = labels.map((label, n) => element("button", {
      type: "button", "data-role": "digit", "aria-pressed": "false", "aria-label": `Bend the handwritten ${label}`, onclick: () => choose(n),
    }, thumbnail()));
    const panels = readers.map(makePanel);
    const slides = WAYS.map(makeSlide);
    const readout = element("p", { class: "readout", "data-role": "readout" });
    root.append(
      element("div", { class: "bending" },
        element("div", { class: "subject" },
          stage, pad,
          element("div", { class: "bar" }, straight, draw)),
        element("div", { class: "readers" }, ...panels.map(({ figure }) => figure))),
      element("div", { class: "samples", role: "group", "aria-label": "Handwritten digits to bend" }, ...thumbs),
      readout,
      element("div", { class: "slides" }, ...slides.map(({ row }) => row)),
      element("p", { class: "strip-key", "aria-hidden": "true" },
        "The answers along each slider: ", element("span", { class: "run right" }, "right"), " ", element("span", { class: "run wrong" }, "wrong")));
    const announce = makeAnnouncer(root);
    const painter = makePainter(root);

    /** Ten bars of one network. */
    function makePanel({ id, name, unit }) {
      const verdict = element("strong", { "data-role": `verdict-${id}` });
      const bars = makeBars(`${name}, ${unit}`);
      const figure = element("figure", { class: "reader" },
        element("figcaption", {}, element("span", { class: "says" }, `${name}: `, verdict), element("span", { class: "unit" }, unit)),
        bars.list);
      return { figure, verdict, bars };
    }

    /** One slider, and below it a strip for each network. */
    function makeSlide(way) {
      const { key, name, min, max, step, places } = way;
      const input = element("input", {
        type: "range", min, max, step, "data-way": key, "aria-label": name,
        oninput: () => setBend({ [key]: input.valueAsNumber }, way),
        ondblclick: () => setBend({ [key]: STRAIGHT[key] }, way),
      });
      input.style.setProperty("--zero", `${((STRAIGHT[key] - min) / (max - min)) * 100}%`);
      const value = element("output", { "aria-hidden": "true" });
      const strips = readers.map(({ id, name: reader }) => {
        const strip = element("div", { class: "strip", role: "img", "data-role": `strip-${id}`, "aria-label": `${reader} by ${way.name}: not computed yet` });
        strip.style.setProperty("--places", places);
        return { strip, line: element("div", { class: "strip-line" }, element("span", { class: "reader-name", "aria-hidden": "true" }, reader), strip) };
      });
      const row = element("div", { class: "slide" },
        element("div", { class: "slide-line" }, element("span", { class: "caption" }, element("span", {}, name), value), input),
        ...strips.map(({ line }) => line));
      return { way, row, input, value, strips: strips.map(({ strip }) => strip), amounts: amountsOf(way), answers: readers.map(() => new Int8Array(places).fill(-1)) };
    }

    // ------------------------------------------------------------------------------------- actions
    function choose(n) {
      index = n;
      stopDrawing();
      model.set("index", n);
      model.save_changes();
      takeUp(digitAt(samples, n), readers.map(() => labels[n]));
    }

    /** Another digit to bend; without a label, what a network says of it straight counts as right. */
    function takeUp(pixelsOfIt, labelsOfIt) {
      image = pixelsOfIt;
      truth = labelsOfIt ?? readers.map(({ read }) => read(image).prediction);
      for (const { answers } of slides) answers.forEach((each) => each.fill(-1));
      changed(null);
    }

    function setBend(to, way = null) {
      stopDrawing();
      Object.assign(bend, to);
      if (way) moved = way;
      for (const key of Object.keys(to)) model.set(key, bend[key]);
      model.save_changes();
      changed(way);
    }

    // ------------------------------------------------------------------------------ what is computed
    let waiting; // for a quiet moment, or for the next stretch
    let open = []; // places of strips still to be computed: [slide, k]

    /** A strip does not depend on its own slider. */
    function changed(way) {
      schedule();
      const stale = slides.filter((slide) => slide.way !== way || slide.answers[0].includes(-1));
      stale.sort((p, q) => (q.way === moved) - (p.way === moved)); // what the reader looks at comes first
      open = stale.flatMap((slide) => slide.amounts.map((_, k) => [slide, k]));
      for (const { row } of stale) row.classList.add("stale");
      root.dataset.strips = "open";
      clearTimeout(waiting);
      waiting = setTimeout(workOff, QUIET);
    }

    function workOff() {
      const start = performance.now();
      const touched = new Set();
      while (open.length && performance.now() - start < BUDGET) {
        const [slide, k] = open.shift();
        const bent = bendDigit(image, { ...bend, [slide.way.key]: slide.amounts[k] });
        readers.forEach(({ read }, n) => (slide.answers[n][k] = read(bent).prediction));
        touched.add(slide);
        if (k === slide.amounts.length - 1) slide.row.classList.remove("stale");
      }
      touched.forEach(showStrips);
      if (open.length) waiting = setTimeout(workOff);
      else {
        root.dataset.strips = "done";
        say();
      }
    }

    // ------------------------------------------------------------------------------------- drawing
    function update() {
      const bent = bendDigit(image, bend);
      painter.paint(stage, bent);
      const said = readers.map(({ read }) => read(bent));
      said.forEach(({ bars, prediction }, n) => {
        const panel = panels[n];
        panel.verdict.textContent = String(prediction);
        panel.verdict.classList.toggle("wrong", prediction !== truth[n]);
        panel.bars.show(bars, prediction);
        root.dataset[readers[n].id] = prediction;
        root.dataset[`${readers[n].id}Bars`] = Array.from(bars, (x) => x.toFixed(5)).join(",");
      });
      const what = index === null ? "your digit" : `a handwritten ${labels[index]}`;
      setAttributes(stage, { "aria-label": `${what}, bent. Arrow keys move it. ${said.map(({ prediction }, n) => `${readers[n].name} says ${prediction}`).join(", ")}` });
      slides.forEach(({ way, input, value }) => {
        const at = bend[way.key];
        input.valueAsNumber = at;
        input.style.setProperty("--at", `${((at - way.min) / (way.max - way.min)) * 100}%`);
        setAttributes(input, { "aria-valuetext": way.say(at) });
        value.textContent = way.say(at);
      });
      thumbs.forEach((thumb, n) => thumb.setAttribute("aria-pressed", n === index));
      Object.assign(root.dataset, { index: index ?? "own", ...bend });
      say();
    }
    const schedule = oncePerFrame(update);

    function showStrips({ way, strips, answers, amounts }) {
      strips.forEach((strip, n) => {
        const runs = runsOf(Array.from(answers[n]));
        strip.replaceChildren(...runs.map(({ answer, from, to }) => {
          const kind = answer < 0 ? "open" : answer === truth[n] ? "right" : "wrong";
          const run = element("span", { class: `run ${kind}` }, answer >= 0 && to > from ? String(answer) : "");
          run.style.flexGrow = to - from + 1;
          return run;
        }));
        const words = runs.filter(({ answer }) => answer >= 0).map(({ answer, from, to }) => `${answer} from ${way.say(amounts[from])} to ${way.say(amounts[to])}`);
        setAttributes(strip, { "aria-label": `${readers[n].name} by ${way.name}: ${words.join("; ")}` });
        strip.dataset.answers = Array.from(answers[n]).join("");
      });
    }

    /** How far the way that was moved last can go before each network says something else. */
    function say() {
      const slide = slides.find(({ way }) => way === moved);
      const alone = WAYS.every(({ key }) => key === moved.key || bend[key] === STRAIGHT[key]);
      const words = readers.map(({ name }, n) => {
        const reach = reachOf(Array.from(slide.answers[n]), truth[n], slide.amounts, STRAIGHT[moved.key]);
        return reach ? `${name} ${n ? "" : "reads it "}from ${moved.say(reach[0])} to ${moved.say(reach[1])}` : `${name} does not read it at all`;
      });
      const known = !slide.answers[0].includes(-1) && root.dataset.strips === "done";
      readout.textContent = known ? `By ${moved.name}${alone ? " alone" : ", the rest as it is"}: ${words.join(", ")}.` : "…";
      if (known) announce(`${panels.map(({ verdict }, n) => `${readers[n].name} says ${verdict.textContent}`).join(", ")}. ${readout.textContent}`);
    }

    // ----------------------------------------------------------------------- a hand on the digit, keys
    let held = null; // the pointer, where it was, and where the digit was then
    stage.addEventListener("pointerdown", (event) => {
      if (held || event.button !== 0) return;
      event.preventDefault();
      stage.focus({ preventScroll: true });
      stage.setPointerCapture(event.pointerId);
      held = { id: event.pointerId, x: event.clientX, y: event.clientY, right: bend.right, down: bend.down };
    });
    stage.addEventListener("pointermove", (event) => {
      if (event.pointerId !== held?.id) return;
      const pixel = stage.clientWidth / SIDE;
      const place = (from, by) => clamp(Math.round(2 * (from + by / pixel)) / 2, -8, 8);
      setBend({ right: place(held.right, event.clientX - held.x), down: place(held.down, event.clientY - held.y) });
    });
    const letGo = (event) => {
      if (event.pointerId === held?.id) held = null;
    };
    stage.addEventListener("pointerup", letGo);
    stage.addEventListener("pointercancel", letGo);
    stage.addEventListener("keydown", (event) => {
      if (!(event.key in KEYS)) return;
      event.preventDefault();
      const [key, by] = KEYS[event.key];
      setBend({ [key]: clamp(bend[key] + by, -8, 8) }, WAYS.find((way) => way.key === key));
    });

    // -------------------------------------------------------------------------- a digit of one's own
    function startDrawing() {
      setBend(STRAIGHT);
      strokes = [];
      stage.hidden = true;
      pad.hidden = false;
      draw.textContent = "Clear";
      paintPad();
    }

    function stopDrawing() {
      strokes = null;
      stage.hidden = false;
      pad.hidden = true;
      draw.textContent = "Draw one";
    }

    function paintPad() {
      const size = Math.round(pad.clientWidth * (window.devicePixelRatio || 1));
      const { paper, stroke: ink } = themeColours(root);
      pad.width = pad.height = size;
      const brush = pad.getContext("2d");
      brush.fillStyle = css(paper);
      brush.fillRect(0, 0, size, size);
      Object.assign(brush, { strokeStyle: css(ink), lineWidth: (PEN / SIDE) * size, lineCap: "round", lineJoin: "round" });
      for (const stroke of strokes) {
        brush.beginPath();
        brush.moveTo(stroke[0][0] * size, stroke[0][1] * size);
        for (const [x, y] of stroke) brush.lineTo(x * size, y * size);
        brush.stroke();
      }
    }

    let pen = null; // the pointer that draws
    const goOn = (event) => {
      const { left, top, width, height } = pad.getBoundingClientRect();
      strokes.at(-1).push([clamp((event.clientX - left) / width, 0, 1), clamp((event.clientY - top) / height, 0, 1)]);
      paintPad();
      index = null;
      takeUp(toImage(strokes), null);
    };
    pad.addEventListener("pointerdown", (event) => {
      if (pen !== null || event.button !== 0) return;
      event.preventDefault();
      pad.setPointerCapture(event.pointerId);
      pen = event.pointerId;
      strokes.push([]);
      goOn(event);
    });
    pad.addEventListener("pointermove", (event) => {
      if (event.pointerId === pen && strokes) goOn(event);
    });
    const liftPen = (event) => {
      if (event.pointerId === pen) pen = null;
    };
    pad.addEventListener("pointerup", liftPen);
    pad.addEventListener("pointercancel", liftPen);

    // -------------------------------------------------------------------------------- from outside
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
      painter.refresh();
      thumbs.forEach((thumb, n) => painter.paint(thumb.firstChild, digitAt(samples, n)));
      if (strokes) paintPad();
      update();
    };
    const stopWatching = whenThemeChanges(refresh);
    choose(index);
    refresh();
    return [stopListening, stopWatching, () => clearTimeout(waiting), schedule.cancel, announce.cancel];
  });
}

/** The stretch of right answers around `middle`: its first and last amount; null if it is wrong in the middle. */
export function reachOf(answers, truth, amounts, middle) {
  const run = runsOf(answers).find(({ from, to }) => amounts[from] <= middle + 1e-9 && amounts[to] >= middle - 1e-9);
  return run?.answer === truth ? [amounts[run.from], amounts[run.to]] : null;
}

export default { render };
