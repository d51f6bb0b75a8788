// A drawing is read after 1, 2, … rounds of routing, side by side: does the answer change?
import { makeBars } from "./shared/bars.js";
import { lengthsOf, makeNetwork } from "./shared/core.js";
import { makePad, tiePad } from "./shared/pad.js";
import { bytesOf, digitAt, element, format, listen, makeAnnouncer, makePainter, makeRoot, mount, oncePerFrame, setAttributes, sharedWeights, svg, themeColours, thumbnail, whenResized, whenThemeChanges } from "./shared/ui.js";

const MOST = 5; // rounds
const GUTTER = 56; // pixels left of the five columns, for what the rows are; the stylesheet has it too
const HEIGHT = 190; // of the chart
const APART = 13; // pixels between two labels

/** How evenly couplings are spread, the mean over i of −Σ_j c_ij log c_ij / log J. c [I, J] -> 0 (all to one) … 1 (even) */
export function entropyOf(c, I, J) {
  let sum = 0;
  for (const share of c) if (share > 0) sum -= share * Math.log(share);
  return sum / I / Math.log(J);
}

/** What an image is read as if routing stops after 1, 2, … rounds: [{ lengths, prediction, entropy, capsules }, …] */
export function readAfterEach(network, image, most = MOST) {
  const { I, J, D_out } = network;
  const { c, v } = network.forward(image, most);
  return v.map((capsules, t) => {
    const lengths = lengthsOf(capsules, J, D_out);
    return { lengths, prediction: lengths.indexOf(Math.max(...lengths)), entropy: entropyOf(c[t], I, J), capsules };
  });
}

/** Heights of labels, as near to where they belong as they can be without lying on each other. */
export function spread(heights, apart) {
  const order = heights.map((_, k) => k).sort((p, q) => heights[p] - heights[q]);
  const placed = heights.slice();
  order.slice(1).forEach((k, before) => (placed[k] = Math.max(placed[k], placed[order[before]] + apart)));
  return placed;
}

function render({ model, el, host }) {
  const root = makeRoot("RoundsOnDrawing", "Draw a digit, and read it after one to five rounds of routing");
  return mount(el, root, async () => {
    const network = makeNetwork(await sharedWeights(model, host));
    const samples = bytesOf(model.get("samples"));
    const [labels, disputed] = [model.get("labels"), model.get("disputed")];
    const classes = Array.from({ length: network.J }, (_, j) => j);
    const stops = Array.from({ length: MOST }, (_, t) => t);
    let rounds = model.get("rounds");
    let loaded = null; // the sample on the pad

    // ----------------------------------------------------------------------------------- elements
    const pad = makePad({ drawn: () => schedule(), settled: () => tie.share(), loaded: () => showLoaded(null), say: (words) => announce(words) });
    const pixelsOf = (n) => digitAt(samples, n);
    const sampleButtons = labels.map((label, n) => element("button", {
      type: "button", "data-role": disputed.includes(n) ? "disputed" : "sample",
      "aria-label": disputed.includes(n) ? `Load a ${label} on which the rounds disagree` : `Load a handwritten ${label}`,
      onclick: () => showSample(n),
    }, thumbnail()));
    const verdict = element("p", { class: "verdict", "data-role": "verdict" });
    const chart = svg("svg", { class: "growth", role: "img", "data-role": "chart", height: HEIGHT });
    const columns = stops.map((t) => {
      const [answer, length, entropy] = ["strong", "span", "span"].map((tag) => element(tag));
      const drawing = thumbnail();
      const button = element("button", { type: "button", class: "stop", "data-round": t + 1, onclick: () => stopAfter(t + 1) },
        element("span", {}, String(t + 1)), answer, length, entropy, drawing);
      return { button, answer, length, entropy, drawing };
    });
    const heads = ["rounds", "answer", "length", "entropy", "drawn"].map((word) => element("span", {}, word));
    const lead = element("p", { class: "lead" });
    const bars = makeBars();
    const group = (label, buttons) => element("div", { class: "samples", role: "group", "aria-label": label }, ...buttons);
    root.append(
      element("div", { class: "drawing" },
        element("div", { class: "left" },
          pad.frame,
          pad.buttons,
          group("Handwritten digits to load", sampleButtons.filter((_, n) => !disputed.includes(n))),
          element("div", { class: "disputed" },
            element("span", {}, "The rounds disagree on these:"),
            group("Digits on which the rounds disagree", sampleButtons.filter((_, n) => disputed.includes(n))))),
        element("div", { class: "right" },
          verdict,
          chart,
          element("div", { class: "stops", role: "group", "aria-label": "Stop after so many rounds" },
            element("div", { class: "heads", "aria-hidden": "true" }, ...heads), ...columns.map(({ button }) => button)))),
      element("section", { class: "after", "aria-label": "The ten lengths" },
        lead, bars.list));
    const announce = makeAnnouncer(root);
    const painter = makePainter(root);
    let colours;

    // ------------------------------------------------------------------------------------ actions
    function showSample(n) {
      pad.show(pixelsOf(n));
      showLoaded(n);
    }

    function showLoaded(n) {
      loaded = n;
      tie.share();
      update();
    }

    function stopAfter(r) {
      rounds = r;
      model.set("rounds", rounds);
      model.save_changes();
      update();
      announce(columns[r - 1].button.getAttribute("aria-label"));
    }

    // ------------------------------------------------------------------------------------ drawing
    function update() {
      if (pad.byHand()) loaded = null;
      const readings = readAfterEach(network, pad.image());
      const predictions = readings.map(({ prediction }) => prediction);
      pad.paint(painter, colours);
      drawChart(readings, predictions);
      columns.forEach(({ button, answer, length, entropy, drawing }, t) => {
        const { prediction, lengths, capsules } = readings[t];
        answer.textContent = pad.empty() ? "–" : String(prediction);
        length.textContent = format(lengths[prediction]);
        entropy.textContent = format(readings[t].entropy, 3);
        painter.paint(drawing, network.decode(network.mask(capsules, prediction)));
        button.classList.toggle("changed", prediction !== predictions.at(-1));
        setAttributes(button, {
          "aria-pressed": t + 1 === rounds,
          "aria-label": `Stop after ${count(t + 1)}: answer ${answer.textContent}, ${length.textContent} long, entropy ${entropy.textContent}`,
        });
      });
      const { lengths, prediction } = readings[rounds - 1];
      lead.textContent = `The ten lengths after ${count(rounds)}${rounds === 1 ? ": even shares, nothing is routed" : ""}`;
      bars.show(lengths, prediction);
      sampleButtons.forEach((button, n) => button.setAttribute("aria-pressed", n === loaded));
      verdict.textContent = pad.empty() ? "Nothing drawn yet." : inWords(predictions, loaded === null ? null : labels[loaded]);
      announce(verdict.textContent);
      setAttributes(root, {
        "data-rounds": rounds,
        "data-predictions": predictions.join(","),
        "data-entropy": readings.map(({ entropy }) => entropy.toFixed(6)).join(","),
        "data-lengths": Array.from(lengths, (length) => length.toFixed(6)).join(","),
      });
    }
    const schedule = oncePerFrame(update);

    /** A line a class: how long its capsule is after each round. Lines that cross are an answer that changes. */
    function drawChart(readings, predictions) {
      const width = Math.max(chart.clientWidth, 5 * GUTTER); // 0 as long as nobody sees it
      const [top, bottom] = [8, HEIGHT - 6];
      const x = (t) => GUTTER + ((t + 0.5) * (width - GUTTER)) / MOST;
      const y = (length) => bottom - length * (bottom - top);
      const last = readings.at(-1).lengths;
      const named = classes.filter((j) => predictions.includes(j) || last[j] > 0.2);
      const heights = spread(named.map((j) => y(last[j])), APART).map((height) => Math.min(height, bottom));
      const role = (j) => (j === predictions.at(-1) ? "last" : predictions.includes(j) ? "other" : "rest");
      const text = (atX, atY, words, more) => svg("text", { class: "label", x: atX, y: atY + 4, ...more }, words);
      chart.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
      chart.replaceChildren(
        svg("rect", { class: "chosen", x: x(rounds - 1.5), y: 0, width: x(1) - x(0), height: HEIGHT }),
        ...[0, 0.5, 1].flatMap((length) => [
          svg("path", { class: "axis", d: `M${GUTTER} ${y(length)}H${width}` }),
          text(GUTTER - 8, y(length), String(length), { "text-anchor": "end" }),
        ]),
        ...classes.slice().sort((p, q) => predictions.includes(p) - predictions.includes(q)).flatMap((j) => [
          svg("path", { class: `capsule ${role(j)}`, d: readings.map(({ lengths }, t) => `${t ? "L" : "M"}${x(t)} ${y(lengths[j])}`).join("") }),
          ...(role(j) === "rest" ? [] : readings.map(({ lengths }, t) => svg("circle", { class: role(j), cx: x(t), cy: y(lengths[j]), r: 3 }))),
        ]),
        ...named.map((j, k) => text(x(MOST - 1) + 9, heights[k], String(j), { class: `label ${role(j)}` })));
      setAttributes(chart, { "aria-label": `Lengths of the ten capsules after one to five rounds; the longest: ${predictions.join(", ")}` });
    }

    // ------------------------------------------------------------------------------- from outside
    const showPixels = (bytes) => {
      pad.show(bytes);
      showLoaded(null);
    };
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
      sampleButtons.forEach((button, n) => painter.paint(button.firstChild, pixelsOf(n), 255));
      update();
    };
    const stopWatching = whenThemeChanges(refresh);
    const stopMeasuring = whenResized(root, schedule);
    pad.show(bytesOf(model.get("image")));
    refresh();
    return [tie.stop, stopListening, stopWatching, stopMeasuring, schedule.cancel, announce.cancel];
  });
}

const count = (rounds) => (rounds === 1 ? "1 round" : `${rounds} rounds`);

/** Whether the answer depends on the number of rounds: which numbers of rounds say what, and what is right if that is known. */
export function inWords(predictions, label) {
  const said = [...new Set(predictions)];
  const written = label === null ? "" : ` It was written as ${a(label)}.`;
  if (said.length === 1) return `Every number of rounds says ${said[0]}.${said[0] === label ? "" : written}`;
  const when = (digit) => predictions.flatMap((each, t) => (each === digit ? [t + 1] : [])).join(", ");
  return `The rounds disagree: ${said.map((digit) => `${digit} after ${when(digit)}`).join("; ")}.${written}`;
}

const a = (digit) => `${digit === 8 ? "an" : "a"} ${digit}`;

export default { render };
