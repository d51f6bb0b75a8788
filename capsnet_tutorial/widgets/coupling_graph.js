// Every coupling of the small network on a digit: 72 nodes below, 10 above, 720 edges that thicken round by round.
import { lengthsOf, makeNetwork, norm } from "./shared/core.js";
import { SIDE, bytesOf, clamp, css, digitAt, element, format, listen, makeAnnouncer, makePainter, makeRoot, mix, mount, oncePerFrame, setAttributes, sharedWeights, svg, themeColours, thumbnail, whenResized, whenThemeChanges } from "./shared/ui.js";

const ROUNDS = 10; // what is computed; the network was trained with three
const STEP = 550; // milliseconds from one round to the next
const REST = 700; // and until the one after
const BARS = 20; // a bar of the histogram is a twentieth wide, and the first is around 0
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Mean over i of −Σ_j c_ij log2 c_ij: how undecided a capsule below is, in bits. log2 J if it shares itself evenly. */
export function meanEntropy(c, I, J) {
  let bits = 0;
  for (let k = 0; k < I * J; k++) if (c[k] > 0) bits -= c[k] * Math.log2(c[k]);
  return bits / I;
}

/** How many couplings are nearest to 0, to 1/20, … to 1. */
export function histogram(c) {
  const counts = new Array(BARS + 1).fill(0);
  for (const coupling of c) counts[Math.round(coupling * BARS)]++;
  return counts;
}

/** How much of v_j comes from capsule i: c_ij û_j|i along the direction of s_j, as a share of ‖s_j‖. -> [I] */
export function sharesOf(j, c, u_hat, v, I, J, D) {
  const shares = new Float64Array(I);
  const length = norm(v, j * D, D);
  let all = 0;
  for (let i = 0; i < I; i++) {
    for (let d = 0; d < D; d++) shares[i] += (c[i * J + j] * u_hat[(i * J + j) * D + d] * v[j * D + d]) / length;
    all += shares[i];
  }
  return shares.map((part) => part / all);
}

function render({ model, el, host }) {
  const root = makeRoot("CouplingGraph", "All couplings of the network as a graph, round by round");
  return mount(el, root, async () => {
    const network = makeNetwork(await sharedWeights(model, host));
    const { I, J, D_out: D } = network;
    const images = Float32Array.from(bytesOf(model.get("images")), (grey) => grey / 255); // [N, 784]
    const labels = model.get("labels");
    const { primary_types: types, conv_kernel, conv_stride, primary_kernel, primary_stride } = network.config;
    const places = I / types;
    const across = Math.sqrt(places);
    const still = matchMedia("(prefers-reduced-motion: reduce)");

    // What is shown: a digit, a moment between round 1 and ROUNDS, and perhaps one node's edges only.
    let index = model.get("index");
    let round = model.get("round");
    let moment = round; // runs to `round`; in between, couplings are mixed
    let pointed = null; // { layer: "below" | "above", node }, under the pointer or the focus
    let pinned = null; // the same, chosen by a click
    let answer;
    const focus = () => pointed ?? pinned;

    // ----------------------------------------------------------------------------------- elements
    const thumbs = labels.map((label, k) => {
      const canvas = thumbnail();
      const onclick = () => choose(k);
      return element("button", { type: "button", "data-role": "digit", "aria-pressed": "false", "aria-label": `Show the handwritten ${label}`, onclick }, canvas);
    });
    const above = Array.from({ length: J }, (_, j) => {
      const fill = element("span", { class: "fill" });
      const value = element("span", { class: "value" });
      const node = { layer: "above", node: j };
      const button = element("button", {
        type: "button", class: "above", "data-role": "above", "aria-pressed": "false",
        onclick: () => pin(node), onfocus: () => button.matches(":focus-visible") && point(node), onblur: () => point(null),
        onpointerenter: (event) => event.pointerType === "mouse" && point(node), onpointerleave: () => point(null),
      }, element("span", { class: "digit", "aria-hidden": "true" }, String(j)), element("span", { class: "rail" }, fill), value);
      return { button, fill, value };
    });
    const graph = element("canvas", {
      class: "graph-canvas", tabindex: 0, role: "application", "data-role": "graph", "aria-roledescription": "graph of couplings",
      "aria-label": "Graph of all couplings. Arrow keys walk through the 72 capsules below, Enter keeps one, Escape shows all edges.",
    });
    const field = element("span", { class: "field", hidden: "" });
    const seen = element("canvas", { width: SIDE, height: SIDE, class: "seen-small", role: "img", "data-role": "seen" });
    const play = element("button", { type: "button", "data-role": "play", onclick: () => (playing ? pause() : start()) });
    const slider = element("input", {
      type: "range", min: 1, max: ROUNDS, step: 1, "data-role": "round", "aria-label": "Routing round",
      oninput: () => {
        pause();
        goTo(slider.valueAsNumber);
      },
      onchange: () => model.save_changes(),
    });
    slider.style.setProperty("--zero", "0%");
    const counter = element("output", { class: "counter", "data-role": "counter", "aria-hidden": "true" });
    const readout = element("p", { class: "readout", "data-role": "readout" });
    const bars = makeHistogram();
    const curve = makeCurve();
    root.append(
      element("div", { class: "samples", role: "group", "aria-label": "Handwritten digits to route" }, ...thumbs),
      element("div", { class: "couplings" },
        element("div", { class: "uppers", role: "group", "aria-label": "The ten capsules above" }, ...above.map(({ button }) => button)),
        graph),
      element("div", { class: "bar rounds-bar" }, play, element("div", { class: "scrub" }, slider), counter),
      element("div", { class: "said" }, element("div", { class: "seen-frame" }, seen, field), readout),
      element("div", { class: "measures" }, bars.figure, curve.figure));
    const announce = makeAnnouncer(root);
    const painter = makePainter(root);
    let colours;

    // -------------------------------------------------------------------------------------- moments
    let frame = 0;
    let rest = 0;
    let playing = false;

    function goTo(to, at = to) {
      round = to;
      moment = at;
      model.set("round", round);
      schedule();
    }

    /** From the round that is shown to the next one, in small steps; without them for readers who want no motion. */
    function glide() {
      const [from, start] = [round, performance.now()];
      round += 1;
      model.set("round", round);
      const step = (now) => {
        const t = still.matches ? 1 : clamp((now - start) / STEP, 0, 1);
        moment = from + t * t * (3 - 2 * t);
        update();
        if (t < 1) frame = requestAnimationFrame(step);
        else if (round < ROUNDS) rest = setTimeout(glide, REST);
        else pause();
      };
      frame = requestAnimationFrame(step);
    }

    function start() {
      playing = true;
      if (round === ROUNDS || !begun) goTo(1);
      begun = true;
      showPlay();
      rest = setTimeout(glide, REST);
    }
    let begun = false; // the first Play starts at round 1, a later one goes on

    function pause() {
      cancelAnimationFrame(frame);
      clearTimeout(rest);
      if (!playing) return;
      playing = false;
      moment = round;
      model.save_changes();
      showPlay();
      schedule();
    }

    function showPlay() {
      play.textContent = playing ? "❚❚ Pause" : "▶ Play";
      root.dataset.playing = playing;
    }

    // -------------------------------------------------------------------------------------- choosing
    function choose(to) {
      index = to;
      model.set("index", index);
      model.save_changes();
      showDigit();
    }

    const same = (p, q) => p?.layer === q?.layer && p?.node === q?.node;

    function point(to) {
      if (same(to, pointed)) return;
      pointed = to;
      schedule();
    }

    function pin(to) {
      pinned = same(to, pinned) ? null : to;
      if (pinned === null) pointed = null;
      schedule();
    }

    // ---------------------------------------------------------------------------------- the graph's plan
    /** Where things are on the canvas, in CSS pixels. Below, each type of capsule is a square of its places. */
    function plan() {
      const width = graph.clientWidth;
      const height = graph.clientHeight;
      const slot = width / types;
      const cell = Math.min(24, (slot * 0.78) / across);
      const top = height - across * cell - 22;
      const lower = Array.from({ length: I }, (_, i) => {
        const [type, place] = [Math.floor(i / places), i % places];
        const [down, right] = [Math.floor(place / across), place % across];
        return [(type + 0.5) * slot + (right - (across - 1) / 2) * cell, top + (down + 0.5) * cell];
      });
      const upper = Array.from({ length: J }, (_, j) => [((j + 0.5) / J) * width, 0]);
      return { width, height, slot, cell, top, lower, upper };
    }
    let layout;

    /** The nearest capsule below, if the pointer is among them. */
    function nearest({ offsetX, offsetY }) {
      if (offsetY < layout.top - layout.cell) return null;
      const far = layout.lower.map(([x, y]) => Math.hypot(x - offsetX, y - offsetY));
      const node = far.indexOf(Math.min(...far));
      return far[node] < layout.slot / 2 ? { layer: "below", node } : null;
    }
    graph.addEventListener("pointermove", (event) => point(nearest(event))); // a finger may slide along, too
    graph.addEventListener("pointerleave", () => point(null));
    graph.addEventListener("click", (event) => {
      const node = nearest(event);
      if (node === null) pinned = null;
      else if (event.detail) pin(node);
      schedule();
    });
    graph.addEventListener("blur", () => point(null));
    graph.addEventListener("keydown", (event) => {
      const now = focus()?.layer === "below" ? focus().node : null;
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        return now !== null && pin({ layer: "below", node: now });
      }
      if (!(event.key in KEYS)) return;
      event.preventDefault();
      if (now === null) return point({ layer: "below", node: 0 });
      const [dx, dy] = KEYS[event.key];
      const [type, place] = [Math.floor(now / places), now % places];
      const down = clamp(Math.floor(place / across) + dy, 0, across - 1);
      const right = clamp(type * across + (place % across) + dx, 0, types * across - 1); // over all types
      point({ layer: "below", node: Math.floor(right / across) * places + down * across + (right % across) });
    });
    root.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      pinned = pointed = null;
      schedule();
    });

    // ---------------------------------------------------------------------------------------- drawing
    /** What holds at this moment: a round's own numbers, or a mixture of two rounds' while one glides into the next. */
    function now() {
      const [t, part] = [Math.floor(moment) - 1, moment % 1];
      if (part === 0) return { c: answer.c[t], lengths: answer.lengths[t], counts: answer.counts[t] };
      const between = (p, q) => p.map((x, k) => x + (q[k] - x) * part);
      return {
        c: between(answer.c[t], answer.c[t + 1]),
        lengths: between(answer.lengths[t], answer.lengths[t + 1]),
        counts: between(answer.counts[t], answer.counts[t + 1]),
      };
    }

    function update() {
      const { c, lengths, counts } = now();
      const longest = lengths.indexOf(Math.max(...lengths));
      drawGraph(c, longest);
      above.forEach(({ button, fill, value }, j) => {
        fill.style.height = `${lengths[j] * 100}%`;
        value.textContent = format(lengths[j]);
        button.classList.toggle("longest", j === longest);
        button.classList.toggle("shown", same(focus(), { layer: "above", node: j }));
        setAttributes(button, { "aria-pressed": same(pinned, { layer: "above", node: j }), "aria-label": `Capsule ${j}, ${format(lengths[j])} long` });
      });
      slider.valueAsNumber = round;
      slider.style.setProperty("--at", `${((moment - 1) / (ROUNDS - 1)) * 100}%`);
      setAttributes(slider, { "aria-valuetext": `round ${round} of ${ROUNDS}` });
      counter.textContent = `round ${round} of ${ROUNDS}`;
      bars.show(counts);
      curve.show(answer.entropy, moment);
      showReadout(longest);
      root.dataset.index = index;
      root.dataset.round = round;
      root.dataset.moment = moment.toFixed(3);
      root.dataset.shown = focus() ? `${focus().layer} ${focus().node}` : "all";
      root.dataset.entropy = answer.entropy[round - 1].toFixed(4);
      root.dataset.counts = answer.counts[round - 1].join(",");
      root.dataset.lengths = Array.from(answer.lengths[round - 1], (length) => length.toFixed(4)).join(",");
    }
    const schedule = oncePerFrame(update);

    function drawGraph(c, longest) {
      layout = plan();
      const { width, height, lower, upper, cell, slot, top } = layout;
      const scale = window.devicePixelRatio || 1;
      const size = [Math.round(width * scale), Math.round(height * scale)];
      if (graph.width !== size[0] || graph.height !== size[1]) [graph.width, graph.height] = size;
      const brush = graph.getContext("2d");
      brush.setTransform(scale, 0, 0, scale, 0, 0);
      brush.clearRect(0, 0, width, height);
      const chosen = focus();
      const isShown = (i, j) => chosen === null || chosen.node === (chosen.layer === "below" ? i : j);

      // Thin edges first, so that the thick ones lie on top.
      const order = Array.from(c.keys()).filter((k) => isShown(Math.floor(k / J), k % J)).sort((p, q) => c[p] - c[q]);
      brush.lineCap = "round";
      for (const k of order) {
        const [[x0, y0], [x1, y1]] = [lower[Math.floor(k / J)], upper[k % J]];
        brush.strokeStyle = css(mix(colours.muted, k % J === longest ? colours.accent : colours.contrast, clamp((c[k] - 0.12) * 8, 0, 1)));
        brush.globalAlpha = clamp((chosen ? 0.4 : 0.06) + 1.1 * c[k], 0, 1);
        brush.lineWidth = 0.35 + 6.5 * c[k];
        const bend = (y0 - y1) * 0.45;
        brush.beginPath();
        brush.moveTo(x0, y0);
        brush.bezierCurveTo(x0, y0 - bend, x1, y1 + bend, x1, y1 - 3);
        brush.stroke();
      }
      brush.globalAlpha = 1;

      // Capsules below, coloured once they have a favourite.
      lower.forEach(([x, y], i) => {
        const strongest = Math.max(...c.subarray(i * J, (i + 1) * J));
        const isChosen = chosen?.layer === "below" && chosen.node === i;
        brush.fillStyle = css(isChosen ? colours.contrast : mix(colours.muted, colours.accent, clamp((strongest - 0.12) * 4, 0, 1)));
        brush.beginPath();
        brush.arc(x, y, Math.min(cell * 0.24, 4) * (isChosen ? 1.7 : 1), 0, 2 * Math.PI);
        brush.fill();
        if (isChosen) {
          brush.strokeStyle = css(colours.contrast);
          brush.lineWidth = 2;
          brush.beginPath();
          brush.arc(x, y, Math.max(cell * 0.62, 7), 0, 2 * Math.PI);
          brush.stroke();
        }
      });
      brush.fillStyle = css(colours.muted);
      brush.font = `12px ${getComputedStyle(root).fontFamily}`;
      brush.textAlign = "center";
      for (let type = 0; type < types; type++) {
        brush.fillText(slot > 62 ? `type ${type}` : String(type), (type + 0.5) * slot, top + across * cell + 16);
      }
    }

    // -------------------------------------------------------------------------------------- in words
    const percent = (share) => (share < 0.005 ? "less than 1 %" : share > 0.995 && share < 1 ? "more than 99 %" : `${Math.round(share * 100)} %`);
    const nameOf = (i) => {
      const [type, place] = [Math.floor(i / places), i % places];
      return `${i} (type ${type}, row ${Math.floor(place / across)}, column ${place % across})`;
    };

    function showReadout(longest) {
      const chosen = focus();
      const [c, v] = [answer.c[round - 1], answer.v[round - 1]];
      field.hidden = chosen?.layer !== "below";
      let text;
      if (chosen?.layer === "below") {
        const row = c.subarray(chosen.node * J, (chosen.node + 1) * J);
        const favourite = row.indexOf(Math.max(...row));
        const rows = Math.floor((chosen.node % places) / across) * conv_stride * primary_stride;
        const columns = (chosen.node % across) * conv_stride * primary_stride;
        const reach = conv_kernel + (primary_kernel - 1) * conv_stride; // pixels along its patch
        const share = (x) => `${(x / SIDE) * 100}%`;
        Object.assign(field.style, { left: share(columns), top: share(rows), width: share(reach), height: share(reach) });
        text = round === 1
          ? `Capsule ${nameOf(chosen.node)}: round 1, a tenth of its vote for every digit.`
          : `Capsule ${nameOf(chosen.node)}: ${percent(row[favourite])} of its vote goes to ${favourite}. Its part in what capsule ${longest} hears: ${percentOf(chosen.node, longest, c, v)}.`;
      } else if (chosen) {
        const shares = sharesOf(chosen.node, c, answer.u_hat, v, I, J, D);
        const loudest = shares.indexOf(Math.max(...shares));
        let mean = 0;
        for (let i = 0; i < I; i++) mean += c[i * J + chosen.node] / I;
        text = `Capsule ${chosen.node} is ${format(answer.lengths[round - 1][chosen.node])} long and gets ${percent(mean)} of all votes. Most of what it hears comes from capsule ${nameOf(loudest)}: ${percent(shares[loudest])}.`;
      } else {
        const thick = c.filter((coupling) => coupling > 0.5).length;
        const close = c.filter((coupling) => Math.abs(coupling - 1 / J) < 0.05).length;
        const length = format(answer.lengths[round - 1][longest]);
        text = round === 1
          ? `Round 1: all ${I * J} couplings are a tenth. Capsule ${longest} is the longest already, with ${length}.`
          : `Round ${round}: ${close} of ${I * J} couplings are still within 0.05 of a tenth, ${thick} ${thick === 1 ? "is" : "are"} above a half. Capsule ${longest} is ${length} long.`;
      }
      if (readout.textContent !== text) {
        readout.textContent = text;
        announce(text);
      }
      root.dataset.readout = chosen ? chosen.layer : "all";
    }

    function percentOf(i, j, c, v) {
      const share = sharesOf(j, c, answer.u_hat, v, I, J, D)[i];
      return share < -0.005 ? `${format(share * 100, 0)} %: it points the other way` : percent(Math.max(share, 0));
    }

    // ---------------------------------------------------------------------------------- two pictures
    function makeHistogram() {
      const [width, height, left, right, top, bottom] = [340, 190, 34, 8, 12, 38];
      const most = Math.log10(I * J);
      const atX = (coupling) => left + (coupling + 0.5 / BARS) / (1 + 1 / BARS) * (width - left - right);
      const tall = (count) => (count < 0.5 ? 0 : ((Math.log10(Math.max(count, 1)) + 0.25) / (most + 0.25)) * (height - top - bottom));
      const floor = height - bottom;
      const rects = Array.from({ length: BARS + 1 }, (_, k) =>
        svg("rect", { class: "count", x: atX((k - 0.42) / BARS), width: atX(0.84 / BARS) - atX(0), y: floor, height: 0 }));
      const text = (x, y, words, more = {}) => svg("text", { class: "label", x, y, ...more }, words);
      const middle = { "text-anchor": "middle" };
      const end = { "text-anchor": "end" };
      const ticks = [1, 10, 100].map((count) => [
        svg("path", { class: "axis", d: `M${left - 4} ${floor - tall(count)}H${width - right}` }),
        text(left - 8, floor - tall(count) + 4, String(count), end),
      ]).flat();
      const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "How many couplings have which size", "data-role": "histogram" },
        ...ticks, ...rects, svg("path", { class: "axis", d: `M${left} ${floor}H${width - right}` }),
        ...[0, 0.1, 0.5, 1].map((c) => text(atX(c), floor + 16, String(c), middle)),
        text((left + width - right) / 2, height - 4, "coupling c", middle));
      const figure = element("figure", {}, element("figcaption", {}, `The ${I * J} couplings, counted`), picture);
      return { figure, show: (counts) => counts.forEach((count, k) => setAttributes(rects[k], { y: floor - tall(count), height: tall(count) })) };
    }

    function makeCurve() {
      const [width, height, left, right, top, bottom] = [340, 190, 34, 12, 12, 38];
      const most = Math.log2(J);
      const atX = (r) => left + 8 + ((r - 1) / (ROUNDS - 1)) * (width - left - right - 8);
      const atY = (bits) => height - bottom - (bits / 3.6) * (height - top - bottom);
      const line = svg("path", { class: "entropy" });
      const dots = Array.from({ length: ROUNDS }, (_, r) => svg("circle", { class: "round-dot", cx: atX(r + 1), r: 3 }));
      const dot = svg("circle", { class: "now-dot", r: 6 });
      const value = svg("text", { class: "label now", "text-anchor": "middle" });
      const text = (x, y, words, more = {}) => svg("text", { class: "label", x, y, ...more }, words);
      const middle = { "text-anchor": "middle" };
      const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Mean entropy of the couplings by round", "data-role": "entropy" },
        svg("path", { class: "limit", d: `M${left} ${atY(most)}H${width - right}` }),
        svg("path", { class: "axis", d: `M${left} ${top}V${atY(0)}H${width - right}` }),
        ...[0, 1, 2, 3].map((bits) => text(left - 8, atY(bits) + 4, String(bits), { "text-anchor": "end" })),
        ...[1, 3, 10].map((r) => text(atX(r), height - bottom + 16, String(r), middle)),
        text((left + width - right) / 2, height - 4, "round", middle), line, ...dots, dot, value);
      const figure = element("figure", {}, element("figcaption", {}, "How undecided: mean entropy, bits"), picture);
      return {
        figure,
        show: (entropy, at) => {
          line.setAttribute("d", entropy.map((bits, r) => `${r ? "L" : "M"}${atX(r + 1)} ${atY(bits)}`).join(""));
          dots.forEach((each, r) => each.setAttribute("cy", atY(entropy[r])));
          const [t, part] = [Math.floor(at) - 1, at % 1];
          const bits = part ? entropy[t] + (entropy[t + 1] - entropy[t]) * part : entropy[t];
          setAttributes(dot, { cx: atX(at), cy: atY(bits) });
          value.textContent = format(bits);
          setAttributes(value, { x: clamp(atX(at), left + 20, width - right - 14), y: atY(bits) + 24 });
        },
      };
    }

    // ------------------------------------------------------------------------------------ a new digit
    function showDigit() {
      const image = digitAt(images, index);
      const { u_hat, c, v } = network.forward(image, ROUNDS);
      answer = { u_hat, c, v, lengths: v.map((each) => lengthsOf(each, J, D)), entropy: c.map((each) => meanEntropy(each, I, J)), counts: c.map(histogram) };
      painter.paint(seen, image);
      setAttributes(seen, { "aria-label": `The digit: ${labels[index]}` });
      thumbs.forEach((button, k) => button.setAttribute("aria-pressed", k === index));
      update();
    }

    const stopListening = listen(model, {
      index: () => {
        if (model.get("index") === index) return;
        index = model.get("index");
        showDigit();
      },
      round: () => {
        if (model.get("round") === round) return;
        pause();
        round = moment = model.get("round");
        schedule();
      },
    });
    const refresh = () => {
      painter.refresh();
      colours = themeColours(root);
      thumbs.forEach((button, k) => painter.paint(button.firstChild, digitAt(images, k)));
      showDigit();
    };
    const stopWatching = whenThemeChanges(refresh);
    const stopMeasuring = whenResized(graph, schedule);
    showPlay();
    refresh();
    return [pause, stopListening, stopWatching, stopMeasuring, schedule.cancel, announce.cancel];
  });
}

export default { render };
