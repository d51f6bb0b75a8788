// Every coupling of the small network on a digit: 72 nodes below, 10 above, 720 edges that thicken round by round.
import { BARS, inWords, makePlaces, ROUNDS, readCouplings } from "./coupling_graph_model.js";
import { arrowKeys, axes, fitCanvas, glide, measure } from "./shared/controls.js";
import { makeNetwork } from "./shared/core.js";
import { layOut, makeTime } from "./shared/stage.js";
import {
  bytesOf,
  clamp,
  css,
  digitAt,
  element,
  format,
  listen,
  makePainter,
  makeRoot,
  mix,
  mount,
  oncePerFrame,
  SIDE,
  setAttributes,
  sharedWeights,
  svg,
  themeColours,
  thumbnail,
  whenThemeChanges,
} from "./shared/ui.js";

const STEP = 550; // milliseconds from one round to the next
const REST = 700; // and until the one after

function render({ model, el, host }) {
  const root = makeRoot("CouplingGraph", "All couplings of the network as a graph, round by round");
  return mount(el, root, async () => {
    const network = makeNetwork(await sharedWeights(model, host));
    const places = makePlaces(network);
    const images = Float32Array.from(bytesOf(model.get("images")), (grey) => grey / 255); // [N, 784]
    const labels = model.get("labels");
    let index = model.get("index");
    let answer;
    let now = ""; // what was said last

    const focus = makeFocus(() => schedule());
    const samples = makeSamples(labels, choose);
    const clock = makeClock(model, root, { draw: () => update(), changed: () => schedule() });
    const uppers = makeUppers(network.J, focus);
    const graph = makeGraph(network, places, focus, root, () => schedule());
    const seen = makeSeen(places);
    const bars = makeHistogram(network.I * network.J);
    const curve = makeCurve(Math.log2(network.J));
    const { say, stop: stopSaying } = layOut(root, {
      stage: element("div", { class: "couplings" }, seen.seen, uppers.group, graph.canvas),
      hands: [clock.row, samples.group],
      more: [element("div", { class: "measures" }, bars.figure, curve.figure)],
      about: "All 720 couplings, counted, and how undecided they are",
    });
    const painter = makePainter(root);

    root.addEventListener("keydown", (event) => {
      if (event.key === "Escape") focus.clear();
    });

    function choose(to) {
      index = to;
      model.set("index", index);
      model.save_changes();
      showDigit();
    }

    function update() {
      const [round, moment, shown] = [clock.round(), clock.moment(), focus.now()];
      const { c, lengths, counts } = answer.momentAt(moment);
      const longest = lengths.indexOf(Math.max(...lengths));
      graph.draw(c, longest);
      uppers.show(lengths, longest);
      clock.show();
      bars.show(counts);
      curve.show(answer.entropy, moment);
      seen.showField(shown);
      const words = inWords(answer, places, round, shown);
      if (words !== now) say(words); // while it plays, only news is spoken
      now = words;
      Object.assign(root.dataset, {
        index,
        round,
        moment: moment.toFixed(3),
        readout: shown ? shown.layer : "all",
        shown: shown ? `${shown.layer} ${shown.node}` : "all",
        entropy: answer.entropy[round - 1].toFixed(4),
        counts: answer.counts[round - 1].join(","),
        lengths: Array.from(answer.lengths[round - 1], (length) => length.toFixed(4)).join(","),
      });
    }
    const schedule = oncePerFrame(update);

    function showDigit() {
      const image = digitAt(images, index);
      answer = readCouplings(network, image);
      seen.showDigit(painter, image, labels[index]);
      samples.show(index);
      update();
    }

    const stopListening = listen(model, {
      index: () => {
        if (model.get("index") === index) return;
        index = model.get("index");
        showDigit();
      },
      round: () => model.get("round") !== clock.round() && clock.jump(model.get("round")),
    });
    const refresh = () => {
      painter.refresh();
      graph.refresh();
      samples.paint(painter, images);
      showDigit();
    };
    const stopWatching = whenThemeChanges(refresh);
    refresh();
    return [clock.stop, stopListening, stopWatching, graph.stop, schedule.cancel, stopSaying];
  });
}

/** The node whose edges alone are shown, if any: under the pointer or the focus, else the one that was clicked. */
function makeFocus(changed) {
  let pointed = null; // { layer: "below" | "above", node }
  let pinned = null;
  const same = (p, q) => p?.layer === q?.layer && p?.node === q?.node;
  return {
    now: () => pointed ?? pinned,
    isShown: (node) => same(pointed ?? pinned, node),
    isPinned: (node) => same(pinned, node),
    point(to) {
      if (same(to, pointed)) return;
      pointed = to;
      changed();
    },
    pin(to) {
      pinned = same(to, pinned) ? null : to;
      if (pinned === null) pointed = null;
      changed();
    },
    unpin() {
      pinned = null;
      changed();
    },
    clear() {
      pinned = pointed = null;
      changed();
    },
  };
}

function makeSamples(labels, choose) {
  const buttons = labels.map((label, k) => {
    const name = `Show the handwritten ${label}`;
    const attributes = { "data-role": "digit", "aria-pressed": "false", "aria-label": name, onclick: () => choose(k) };
    return element("button", { type: "button", ...attributes }, thumbnail());
  });
  const about = { class: "samples", role: "group", "aria-label": "Handwritten digits to route" };
  const group = element("div", about, ...buttons);
  const show = (index) => buttons.forEach((button, k) => button.setAttribute("aria-pressed", String(k === index)));
  const paint = (painter, images) =>
    buttons.forEach((button, k) => painter.paint(button.firstChild, digitAt(images, k)));
  return { group, show, paint };
}

/** The ten capsules above. */
function makeUppers(J, focus) {
  const all = Array.from({ length: J }, (_, j) => {
    const fill = element("span", { class: "fill" });
    const value = element("span", { class: "value" });
    const node = { layer: "above", node: j };
    const button = element(
      "button",
      {
        type: "button",
        class: "above",
        "data-role": "above",
        "aria-pressed": "false",
        onclick: () => focus.pin(node),
        onfocus: () => button.matches(":focus-visible") && focus.point(node),
        onblur: () => focus.point(null),
        onpointerenter: (event) => event.pointerType === "mouse" && focus.point(node),
        onpointerleave: () => focus.point(null),
      },
      element("span", { class: "digit", "aria-hidden": "true" }, String(j)),
      element("span", { class: "rail" }, fill),
      value,
    );
    return { node, button, fill, value };
  });
  const about = { class: "uppers", role: "group", "aria-label": "The ten capsules above" };
  const group = element("div", about, ...all.map(({ button }) => button));
  function show(lengths, longest) {
    all.forEach(({ node, button, fill, value }, j) => {
      fill.style.height = `${lengths[j] * 100}%`;
      value.textContent = format(lengths[j]);
      button.classList.toggle("longest", j === longest);
      button.classList.toggle("shown", focus.isShown(node));
      const label = `Capsule ${j}, ${format(lengths[j])} long`;
      setAttributes(button, { "aria-pressed": focus.isPinned(node), "aria-label": label });
    });
  }
  return { group, show };
}

/** The control of the rounds. moment() runs to round(); in between, couplings are mixed. */
function makeClock(model, root, { draw, changed }) {
  let round = model.get("round");
  let moment = round;
  let stopGliding = () => {};

  function goTo(to) {
    round = moment = to;
    model.set("round", round);
    changed();
  }

  /** From the round that is shown to the next one, in small steps. */
  function forward() {
    const from = round;
    round += 1;
    model.set("round", round);
    const glideTo = (t) => {
      moment = from + t;
      draw();
    };
    stopGliding = glide(STEP, glideTo, () => round === ROUNDS && time.halt());
  }

  const time = makeTime({
    label: "Routing round",
    min: 1,
    max: ROUNDS,
    pace: STEP + REST,
    at: () => round,
    seek: goTo,
    words: (at) => `round ${at} of ${ROUNDS}`,
    forward,
    pause() {
      stopGliding();
      if (moment === round) return;
      moment = round;
      changed();
    },
    settled: () => model.save_changes(),
    dataset: root.dataset,
  });

  /** To a round that was set from outside. */
  function jump(to) {
    time.halt();
    round = moment = to;
    changed();
  }
  function stop() {
    time.halt();
    time.stop();
  }
  return { row: time.row, round: () => round, moment: () => moment, show: () => time.show(moment), jump, stop };
}

/** The couplings between the capsules above, buttons, and those below, which are drawn with them. */
function makeGraph(network, places, focus, root, changed) {
  const canvas = element("canvas", {
    class: "graph-canvas",
    tabindex: 0,
    role: "application",
    "data-role": "graph",
    "aria-roledescription": "graph of couplings",
    "aria-label":
      "Graph of all couplings. Arrow keys walk through the 72 capsules below, " +
      "Enter keeps one, Escape shows all edges.",
  });
  /** @type {DOMRect | undefined} */
  let box; // read when the pointer comes in and when things move: at every move it would force a layout
  const forget = () => {
    box = undefined;
  };
  for (const name of ["scroll", "resize"]) addEventListener(name, forget, { capture: true, passive: true });
  const size = measure(canvas, () => {
    forget();
    drawNames();
    changed();
  });
  const names = element("canvas"); // never in the page: there, each time that a font is set forces a layout
  const plan = () => planOf(network, places, size);
  let colours;
  let font;
  const below = () => (focus.now()?.layer === "below" ? focus.now().node : null);

  /** The nearest capsule below, if the pointer is among them. */
  function nearest({ clientX, clientY }) {
    box ??= canvas.getBoundingClientRect();
    const [atX, atY] = [clientX - box.left, clientY - box.top];
    const { lower, top, cell, slot } = plan();
    if (atY < top - cell) return null;
    const far = lower.map(([x, y]) => Math.hypot(x - atX, y - atY));
    const node = far.indexOf(Math.min(...far));
    return far[node] < slot / 2 ? { layer: "below", node } : null;
  }
  canvas.addEventListener("pointerenter", forget);
  canvas.addEventListener("pointermove", (event) => focus.point(nearest(event))); // a finger may slide along, too
  canvas.addEventListener("pointerleave", () => focus.point(null));
  canvas.addEventListener("click", (event) => {
    const node = nearest(event);
    if (node === null) focus.unpin();
    else if (event.detail) focus.pin(node);
  });
  canvas.addEventListener("blur", () => focus.point(null));
  const keep = () => {
    if (below() !== null) focus.pin({ layer: "below", node: below() });
  };
  const walk = (dx, dy) => {
    const node = below() === null ? 0 : places.neighbour(below(), dx, dy);
    focus.point({ layer: "below", node });
  };
  arrowKeys(canvas, walk, { Enter: keep, " ": keep });

  function refresh() {
    colours = themeColours(root);
    font = `12px ${getComputedStyle(root).fontFamily}`;
    drawNames();
  }

  function drawNames() {
    const { brush, ratio } = fitCanvas(names, size);
    brush.setTransform(ratio, 0, 0, ratio, 0, 0);
    brush.clearRect(0, 0, size.width, size.height);
    brush.fillStyle = css(colours.muted);
    brush.font = font;
    brush.textAlign = "center";
    for (const [type, [x, y]] of plan().names.entries()) brush.fillText(`type ${type}`, x, y);
  }

  function draw(c, longest) {
    const { brush, ratio } = fitCanvas(canvas, size);
    brush.setTransform(ratio, 0, 0, ratio, 0, 0);
    brush.clearRect(0, 0, size.width, size.height);
    const at = plan();
    drawEdges(brush, at, { c, J: network.J, longest, focus: focus.now() }, colours);
    drawNodes(brush, at, { c, J: network.J, chosen: below() }, colours);
    if (names.width) brush.drawImage(names, 0, 0, size.width, size.height);
  }

  function stop() {
    size.stop();
    for (const name of ["scroll", "resize"]) removeEventListener(name, forget, { capture: true });
  }
  return { canvas, draw, refresh, stop };
}

/**
 * Where things are on the canvas, in CSS pixels. Below, each type of capsule is a square of its places; on a narrow
 * page they stand in two rows, so that a finger finds a capsule.
 */
function planOf({ I, J }, { types, across, of }, { width, height }) {
  const rows = width < 560 ? 2 : 1;
  const inRow = Math.ceil(types / rows);
  const slot = width / inRow;
  const cell = Math.min(32, (slot * 0.86) / across);
  const tall = across * cell + 22;
  const top = height - rows * tall;
  const corner = (type) => [(type % inRow) * slot, top + Math.floor(type / inRow) * tall];
  const lower = Array.from({ length: I }, (_, i) => {
    const [type, row, column] = of(i);
    const [x, y] = corner(type);
    return [x + slot / 2 + (column - (across - 1) / 2) * cell, y + (row + 0.5) * cell];
  });
  const names = Array.from({ length: types }, (_, type) => {
    const [x, y] = corner(type);
    return [x + slot / 2, y + across * cell + 15];
  });
  const upper = Array.from({ length: J }, (_, j) => [((j + 0.5) / J) * width, 0]);
  return { slot, cell, top, lower, upper, names };
}

function drawEdges(brush, { lower, upper }, { c, J, longest, focus }, colours) {
  const isShown = (i, j) => focus === null || focus.node === (focus.layer === "below" ? i : j);
  // Thin edges first, so that the thick ones lie on top.
  const order = Array.from(c.keys())
    .filter((k) => isShown(Math.floor(k / J), k % J))
    .sort((p, q) => c[p] - c[q]);
  brush.lineCap = "round";
  for (const k of order) {
    const [[x0, y0], [x1, y1]] = [lower[Math.floor(k / J)], upper[k % J]];
    const loud = k % J === longest ? colours.accent : colours.contrast;
    brush.strokeStyle = css(mix(colours.muted, loud, clamp((c[k] - 0.12) * 8, 0, 1)));
    brush.globalAlpha = clamp((focus ? 0.4 : 0.06) + 1.1 * c[k], 0, 1);
    brush.lineWidth = 0.35 + 6.5 * c[k];
    const bend = (y0 - y1) * 0.45;
    brush.beginPath();
    brush.moveTo(x0, y0);
    brush.bezierCurveTo(x0, y0 - bend, x1, y1 + bend, x1, y1 - 3);
    brush.stroke();
  }
  brush.globalAlpha = 1;
}

/** Capsules below, coloured once they have a favourite. */
function drawNodes(brush, { lower, cell }, { c, J, chosen }, colours) {
  lower.forEach(([x, y], i) => {
    const strongest = Math.max(...c.subarray(i * J, (i + 1) * J));
    const isChosen = i === chosen;
    const decided = mix(colours.muted, colours.accent, clamp((strongest - 0.12) * 4, 0, 1));
    brush.fillStyle = css(isChosen ? colours.contrast : decided);
    brush.beginPath();
    brush.arc(x, y, cell * 0.24 * (isChosen ? 1.4 : 1), 0, 2 * Math.PI);
    brush.fill();
    if (!isChosen) return;
    brush.strokeStyle = css(colours.contrast);
    brush.lineWidth = 2;
    brush.beginPath();
    brush.arc(x, y, Math.max(cell * 0.62, 7), 0, 2 * Math.PI);
    brush.stroke();
  });
}

/** The digit with the patch that a capsule sees. */
function makeSeen(places) {
  const field = element("span", { class: "field", hidden: "" });
  const about = { class: "seen-small", role: "img", "data-role": "seen" };
  const seen = element("canvas", { width: SIDE, height: SIDE, ...about });
  const frame = element("div", { class: "seen-frame" }, seen, field);

  function showField(focus) {
    field.hidden = focus?.layer !== "below";
    if (field.hidden) return;
    const { left, top, side } = places.patchOf(focus.node);
    const share = (x) => `${(x / SIDE) * 100}%`;
    Object.assign(field.style, { left: share(left), top: share(top), width: share(side), height: share(side) });
  }
  function showDigit(painter, image, label) {
    painter.paint(seen, image);
    setAttributes(seen, { "aria-label": `The digit: ${label}` });
  }
  return { seen: frame, showField, showDigit };
}

// ------------------------------------------------------------------------------------------ two pictures

/** How many of the couplings have which size; counts upwards, on a logarithmic scale. */
function makeHistogram(couplings) {
  const plan = { width: 340, height: 190, left: 34, right: 8, top: 12, bottom: 38, x: [-0.5 / BARS, 1 + 0.5 / BARS] };
  const chart = axes(plan);
  const { width, height, left, right, top } = plan;
  const { x: atX, floor, end, text } = chart;
  const most = Math.log10(couplings);
  const tall = (count) => (count < 0.5 ? 0 : ((Math.log10(Math.max(count, 1)) + 0.25) / (most + 0.25)) * (floor - top));
  const wide = atX(0.84 / BARS) - atX(0);
  const rects = Array.from({ length: BARS + 1 }, (_, k) =>
    svg("rect", { class: "count", x: atX((k - 0.42) / BARS), width: wide, y: floor, height: 0 }),
  );
  const ticks = [1, 10, 100].flatMap((count) => [
    svg("path", { class: "axis", d: `M${left - 4} ${floor - tall(count)}H${end}` }),
    text(String(count), left - 8, floor - tall(count) + 4, { "text-anchor": "end" }),
  ]);
  const label = { role: "img", "aria-label": "How many couplings have which size", "data-role": "histogram" };
  const picture = svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, ...label },
    ...ticks,
    ...rects,
    svg("path", { class: "axis", d: `M${left} ${floor}H${end}` }),
    ...chart.below([0, 0.1, 0.5, 1]),
    text("coupling c", (left + width - right) / 2, height - 4, { "text-anchor": "middle" }),
  );
  const figure = element("figure", {}, element("figcaption", {}, `The ${couplings} couplings, counted`), picture);
  const show = (counts) =>
    counts.forEach((count, k) => setAttributes(rects[k], { y: floor - tall(count), height: tall(count) }));
  return { figure, show };
}

/** The mean entropy of the couplings, round by round; at most `most` bits. */
function makeCurve(most) {
  const plan = { width: 340, height: 190, left: 34, right: 12, top: 12, bottom: 38 };
  const { width, height, left, right, top } = plan;
  const chart = axes({ ...plan, left: left + 8, x: [1, ROUNDS], y: [0, 3.6] });
  const { x: atX, y: atY, end, text } = chart;
  const line = svg("path", { class: "entropy" });
  const dots = Array.from({ length: ROUNDS }, (_, r) => svg("circle", { class: "round-dot", cx: atX(r + 1), r: 3 }));
  const dot = svg("circle", { class: "now-dot", r: 6 });
  const value = svg("text", { class: "label now", "text-anchor": "middle" });
  const label = { role: "img", "aria-label": "Mean entropy of the couplings by round", "data-role": "entropy" };
  const picture = svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, ...label },
    svg("path", { class: "limit", d: `M${left} ${atY(most)}H${end}` }),
    svg("path", { class: "axis", d: `M${left} ${top}V${atY(0)}H${end}` }),
    ...chart.beside([0, 1, 2, 3], 16),
    ...chart.below([1, 3, 10]),
    text("round", (left + width - right) / 2, height - 4, { "text-anchor": "middle" }),
    ...[line, ...dots, dot, value],
  );
  const caption = element("figcaption", {}, "How undecided: mean entropy, bits");
  const figure = element("figure", {}, caption, picture);
  function show(entropy, at) {
    line.setAttribute("d", chart.path(entropy.map((bits, r) => [r + 1, bits])));
    dots.forEach((each, r) => each.setAttribute("cy", String(atY(entropy[r]))));
    const [t, part] = [Math.floor(at) - 1, at % 1];
    const bits = part ? entropy[t] + (entropy[t + 1] - entropy[t]) * part : entropy[t];
    setAttributes(dot, { cx: atX(at), cy: atY(bits) });
    value.textContent = format(bits);
    setAttributes(value, { x: clamp(atX(at), left + 20, width - right - 14), y: atY(bits) + 24 });
  }
  return { figure, show };
}

export default { render };
