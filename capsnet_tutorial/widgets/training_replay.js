// A training run, played again: its curves, and at each recorded moment what the network made of five digits.
import { LONG, makeBars } from "./shared/bars.js";
import { readSafetensors } from "./shared/core.js";
import { bytesOf, clamp, css, digitAt, digitCanvas, element, format, listen, makeAnnouncer, makePainter, makeRoot, mix, mount, setAttributes, svg, themeColours, whenResized, whenThemeChanges } from "./shared/ui.js";

const PACE = 700; // milliseconds a moment
const CHART = { height: 216, left: 40, right: 46, top: 14, bottom: 44 };
const RANGE = [0.002, 0.7]; // of the chart's upright axis, which is logarithmic
const FULL = 4; // so many times an equal share, or as little, has the full colour
const TICKS = [0, 1, 2, 5, 10, 20, 40, 60];
const KEYS = { ArrowRight: 1, ArrowUp: 1, PageUp: 1, ArrowLeft: -1, ArrowDown: -1, PageDown: -1 };

function render({ model, el }) {
  const root = makeRoot("TrainingReplay", "The training of the small network, played again");
  return mount(el, root, () => {
    const run = readRecording(bytesOf(model.get("recording")));
    const last = run.epochs.length - 1;
    let moment = run.epochs.indexOf(model.get("epoch"));
    let digit = model.get("digit");
    let ticking; // while it plays

    // -------------------------------------------------------------------------------------- the chart
    const chart = svg("svg", { class: "chart", "data-role": "chart" });
    const axes = svg("path", { class: "axis" });
    const labels = svg("g");
    const lines = Object.fromEntries(["loss", "error"].map((name) => [name, svg("path", { class: `line of-${name}` })]));
    const dots = Object.fromEntries(["loss", "error"].map((name) => [name, svg("circle", { class: `dot of-${name}`, r: 5 })]));
    const plumb = svg("line", { class: "plumb" });
    const handle = svg("g", { class: "handle v", tabindex: 0, role: "slider", "data-role": "scrubber", "aria-label": "Epochs of training", "aria-valuemin": 0, "aria-valuemax": run.epochs[last] },
      svg("circle", { class: "touch", r: 22 }), svg("circle", { class: "ring", r: 12 }), svg("circle", { class: "knob", r: 7 }));
    chart.append(axes, labels, plumb, lines.loss, lines.error, dots.loss, dots.error, handle);

    const play = element("button", { type: "button", class: "play", "data-role": "play", onclick: toggle });
    const clock = element("span", { class: "clock", "data-role": "clock" });
    const readings = Object.fromEntries([["loss", "loss"], ["error", "validation error"]].map(([name, text]) => {
      const value = element("strong");
      return [name, { value, node: element("span", { class: `reading of-${name}`, "data-role": name }, `${text} `, value) }];
    }));

    // ------------------------------------------------------------------------------------- the digits
    const cards = run.labels.map((label, n) => {
      const original = digitCanvas("written", `The digit as it was written, labelled ${label}`);
      const redrawn = digitCanvas("drawn", "");
      const verdict = element("span", { class: "verdict" });
      const button = element("button", { type: "button", class: "card", "data-digit": n, onclick: () => choose(n) }, original, redrawn, verdict);
      return { original, redrawn, verdict, button };
    });

    // ------------------------------------------------------------------------------------ the routing
    const lead = element("p", { class: "lead" });
    const map = element("canvas", { class: "votes", "data-role": "couplings", role: "img" });
    const bars = makeBars("Lengths of the ten digit capsules", run.J);
    const remark = element("p", { class: "remark", "data-role": "remark" });

    root.append(element("div", { class: "replay" },
      element("div", { class: "top" }, play, clock, readings.loss.node, readings.error.node),
      chart,
      element("div", { class: "cards", role: "group", "aria-label": "Five digits, as written and as redrawn; choose one to see its routing" }, ...cards.map(({ button }) => button)),
      element("section", { class: "sent", "aria-label": "Routing" },
        lead,
        element("div", { class: "matrix" }, map, bars.list),
        element("div", { class: "legend", "aria-hidden": "true" },
          element("span", {}, "less than a tenth"), element("span", { class: "scale" }), element("span", {}, "more"))),
      remark));
    const announce = makeAnnouncer(root);
    const painter = makePainter(root);
    let colours = themeColours(root);
    const calm = matchMedia("(prefers-reduced-motion: reduce)");

    // ---------------------------------------------------------------------------------------- actions
    function show(at) {
      moment = clamp(at, 0, last);
      model.set("epoch", run.epochs[moment]);
      draw();
    }

    function settle(at) {
      stop();
      show(at);
      model.save_changes();
    }

    function choose(n) {
      digit = n;
      model.set("digit", n);
      model.save_changes();
      draw();
    }

    /** Plays to the end, from the beginning if it is there. Where less motion is wished for: one moment a press. */
    function toggle() {
      if (ticking) return settle(moment);
      if (calm.matches) return settle(moment === last ? 0 : moment + 1);
      if (moment === last) show(0);
      ticking = setInterval(() => (moment < last - 1 ? show(moment + 1) : settle(last)), PACE);
      drawButton();
    }

    function stop() {
      clearInterval(ticking);
      ticking = undefined;
      drawButton();
    }

    function drawButton() {
      play.textContent = ticking ? "Pause" : calm.matches ? (moment === last ? "From 0" : "Next") : moment === last ? "Replay" : "Play";
      root.dataset.playing = Boolean(ticking);
    }

    // ----------------------------------------------------------------------------- the chart's layout
    let width = 0;
    const atX = (epoch) => CHART.left + (Math.log1p(epoch) / Math.log1p(run.epochs[last])) * (width - CHART.left - CHART.right);
    const atY = (value) => {
      const [low, high] = RANGE.map(Math.log);
      return CHART.top + ((high - Math.log(value)) / (high - low)) * (CHART.height - CHART.top - CHART.bottom);
    };
    const ground = CHART.height - CHART.bottom;

    function layOut() {
      if (chart.clientWidth === width || !chart.clientWidth) return;
      width = chart.clientWidth;
      setAttributes(chart, { viewBox: `0 0 ${width} ${CHART.height}` });
      const [from, to] = [CHART.left, width - CHART.right];
      axes.setAttribute("d", `M${from} ${CHART.top}V${ground}H${to}` + [0.1, 0.01].map((y) => `M${from} ${atY(y)}H${to}`).join(""));
      const text = (words, x, y, more) => svg("text", { class: "label", x, y, ...more }, words);
      labels.replaceChildren(
        ...[0.1, 0.01].flatMap((y) => [
          text(String(y), from - 6, atY(y) + 4, { class: "label of-loss", "text-anchor": "end" }),
          text(`${format(100 * y, 0)} %`, to + 6, atY(y) + 4, { class: "label of-error" }),
        ]),
        ...TICKS.map((epoch) => text(String(epoch), atX(epoch), ground + 38, { "text-anchor": "middle" })),
        text("epochs", to + 12, ground + 38, {}),
      );
      for (const [name, key] of [["loss", "loss"], ["error", "validation_error"]]) {
        lines[name].setAttribute("d", run.curve.map((point, k) => `${k ? "L" : "M"}${atX(point.epoch).toFixed(1)} ${atY(point[key]).toFixed(1)}`).join(""));
      }
      draw();
    }

    // ---------------------------------------------------------------------------------------- drawing
    function draw() {
      const epoch = run.epochs[moment];
      const point = run.curve.find((each) => each.epoch === epoch); // none before training
      Object.assign(root.dataset, { epoch, digit, moment });
      clock.textContent = epoch === 0 ? "untrained" : `${epoch} epoch${epoch === 1 ? "" : "s"}`;
      const said = { loss: point ? format(point.loss, 4) : "–", error: point ? `${format(100 * point.validation_error, 2)} %` : "–" };
      for (const [name, { value }] of Object.entries(readings)) value.textContent = said[name];
      if (width) {
        const x = atX(epoch);
        setAttributes(plumb, { x1: x, x2: x, y1: CHART.top, y2: ground + 12 });
        setAttributes(handle, { transform: `translate(${x} ${ground + 12})` });
        for (const [name, key] of [["loss", "loss"], ["error", "validation_error"]]) {
          dots[name].toggleAttribute("hidden", !point);
          if (point) setAttributes(dots[name], { cx: x, cy: atY(point[key]) });
        }
      }
      const spoken = point ? `after ${clock.textContent}: loss ${said.loss}, validation error ${said.error}` : "untrained";
      setAttributes(handle, { "aria-valuenow": epoch, "aria-valuetext": spoken });

      cards.forEach(({ original, redrawn, verdict, button }, n) => {
        const { lengths, prediction } = run.at(moment, n);
        const right = prediction === run.labels[n];
        painter.paint(original, digitAt(run.images, n));
        painter.paint(redrawn, run.reconstruction(moment, n));
        verdict.textContent = `${prediction} ${right ? "✓" : "✗"}`;
        button.classList.toggle("wrong", !right);
        button.classList.toggle("unsure", lengths[prediction] < 0.5);
        setAttributes(redrawn, { "aria-label": `Redrawn as ${prediction}` });
        setAttributes(button, { "aria-pressed": String(n === digit), "data-prediction": prediction });
      });
      drawRouting();
      drawButton();
    }

    function drawRouting() {
      const { lengths, couplings, prediction, decided, most } = run.at(moment, digit);
      lead.textContent = `Where the ${run.I} primary capsules of this ${run.labels[digit]} send their votes, and the ten lengths`;
      bars.show(lengths, prediction, (length) => length >= LONG);
      root.dataset.lengths = Array.from(lengths, (length) => length.toFixed(4)).join(",");
      root.dataset.decided = decided;
      setAttributes(map, { "aria-label": `Couplings of the last round. The largest is ${format(most)}; ${decided} of ${run.I} capsules give one digit more than twice an equal share.` });
      remark.textContent = inWords(run, moment, digit);
      announce(`${clock.textContent}. ${remark.textContent}`);

      const ratio = window.devicePixelRatio || 1;
      const [across, down] = [map.clientWidth, map.clientHeight].map((size) => Math.round(size * ratio));
      if (!across) return;
      if (map.width !== across || map.height !== down) Object.assign(map, { width: across, height: down });
      const brush = map.getContext("2d");
      brush.clearRect(0, 0, across, down);
      const gap = 0.5; // between the types, in cells
      const places = run.I / run.types;
      const [w, h] = [across / (run.I + gap * (run.types - 1)), down / run.J];
      for (let i = 0; i < run.I; i++) {
        const x = (i + gap * Math.floor(i / places)) * w;
        for (let j = 0; j < run.J; j++) {
          const t = clamp(Math.log(couplings[i * run.J + j] * run.J) / Math.log(FULL), -1, 1);
          brush.fillStyle = css(mix(colours.raised, t < 0 ? colours.contrast : colours.accent, Math.abs(t)));
          brush.fillRect(x, j * h, w + 0.2, h - ratio);
        }
      }
    }

    // ------------------------------------------------------------------------- mouse, touch, keyboard
    const momentAt = (event) => {
      const x = event.clientX - chart.getBoundingClientRect().left;
      const far = run.epochs.map((epoch) => Math.abs(atX(epoch) - x));
      return far.indexOf(Math.min(...far));
    };
    chart.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      event.preventDefault();
      chart.setPointerCapture(event.pointerId);
      handle.focus({ preventScroll: true });
      stop();
      show(momentAt(event));
    });
    chart.addEventListener("pointermove", (event) => {
      if (chart.hasPointerCapture(event.pointerId) && momentAt(event) !== moment) show(momentAt(event));
    });
    chart.addEventListener("lostpointercapture", () => model.save_changes());
    handle.addEventListener("keydown", (event) => {
      if (event.key in KEYS) settle(moment + KEYS[event.key]);
      else if (event.key === "Home") settle(0);
      else if (event.key === "End") settle(last);
      else if (event.key === " ") toggle();
      else return;
      event.preventDefault();
    });

    const stopListening = listen(model, {
      epoch: () => {
        if (model.get("epoch") !== run.epochs[moment]) settle(run.epochs.indexOf(model.get("epoch")));
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
    const stopMeasuring = whenResized(chart, () => {
      layOut();
      drawRouting();
    });
    calm.addEventListener("change", stop);
    draw();
    layOut();
    return [stop, stopListening, stopWatching, stopMeasuring, () => calm.removeEventListener("change", stop), announce.cancel];
  });
}

/** The recorded run: what was said about it, and at(moment, digit), what the network made of a digit then. */
export function readRecording(bytes) {
  const { tensors, metadata } = readSafetensors(bytes);
  const { epochs, labels, curve, about } = JSON.parse(metadata.recording);
  const [, N, I, J] = tensors.couplings.shape;
  const part = ({ data, shape }, moment, n) => {
    const size = shape.slice(2).reduce((product, side) => product * side, 1);
    return data.subarray((moment * N + n) * size, (moment * N + n + 1) * size);
  };
  const at = (moment, n) => {
    const lengths = part(tensors.lengths, moment, n); // [J]
    const couplings = part(tensors.couplings, moment, n); // [I, J]
    const largest = Array.from({ length: I }, (_, i) => Math.max(...couplings.subarray(i * J, (i + 1) * J)));
    return {
      lengths, couplings,
      prediction: lengths.indexOf(Math.max(...lengths)),
      most: Math.max(...largest),
      decided: largest.filter((c) => c > 2 / J).length, // capsules that give one digit more than twice an equal share
    };
  };
  const reconstruction = (moment, n) => part(tensors.reconstructions, moment, n);
  return { epochs, labels, curve, I, J, types: about.types, images: tensors.images.data, at, reconstruction };
}

/** What there is to see. */
export function inWords(run, moment, digit) {
  const { lengths, prediction, decided, most } = run.at(moment, digit);
  if (run.epochs[moment] === 0) return "Before training every capsule is all but zero and every coupling is one tenth: no capsule below prefers any above. With nothing to draw from, all five drawings are the same grey.";
  const label = run.labels[digit];
  const name = `${label === 8 ? "an" : "a"} ${label}`;
  const long = Array.from(lengths.keys()).filter((j) => lengths[j] >= LONG).sort((p, q) => lengths[q] - lengths[p]);
  const votes = decided === 0
    ? `No primary capsule gives any digit twice an equal share of its vote; the largest coupling is ${format(most)}.`
    : `${decided} of the ${run.I} primary capsules give${decided === 1 ? "s" : ""} one digit more than twice an equal share; the largest coupling is ${format(most)}.`;
  if (long.length === 0) return `Written as ${name}. No capsule is half long yet; the longest is ${prediction}, ${format(lengths[prediction])}. ${votes}`;
  if (long.length > 1) return `Written as ${name}. Several capsules are long: ${long.map((j) => `${j} (${format(lengths[j])})`).join(", ")}. ${votes}`;
  return `Written as ${name}, and ${prediction === label ? "recognised" : `taken for ${prediction === 8 ? "an" : "a"} ${prediction}`}: that capsule is ${format(lengths[prediction])} long. ${votes}`;
}

export default { render };
