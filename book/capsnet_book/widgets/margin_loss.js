// Ten lengths to drag and the margin loss of each: its curve, its gradient, the step downhill; beside it cross-entropy.
import {
  aboutAll,
  aboutClass,
  aboutStep,
  crossEntropy,
  LONGEST,
  marginTerms,
  RATE,
  stepDown,
} from "./margin_loss_model.js";
import { arrowKeys, axes, drag, grip, rangeInput, readout } from "./shared/controls.js";
import { layOut } from "./shared/stage.js";
import { clamp, element, format, listen, makeRoot, mount, oncePerFrame, setAttributes, svg } from "./shared/ui.js";

const GRAPH = { width: 330, height: 236, left: 34, right: 12, top: 22, bottom: 34 };
const MARGINS = ["mPlus", "mMinus"];

function render({ model, el }) {
  const root = makeRoot("MarginLoss", "Ten capsule lengths and their margin loss");
  return mount(el, root, () => {
    const state = readState(model);
    const actions = makeActions(state, model, () => schedule());
    const one = makeOne(state, actions);
    const ten = makeTen(state, actions);
    const cake = makeCake(state);
    const settings = makeSettings(state, model, () => schedule());
    const buttons = makeButtons(state, actions);
    const { say, stop: stopSaying } = layOut(root, {
      stage: element("div", { class: "contest" }, ten.panel, one.panel),
      hands: [buttons.row],
      more: [settings.row, cake.panel, buttons.entropy],
      about: "The margins, and cross-entropy on the same lengths",
    });

    function draw() {
      const { lengths, present, selected, setting } = state;
      const terms = marginTerms(lengths, present, setting);
      const entropy = crossEntropy(lengths, present);
      setAttributes(root, {
        "data-lengths": lengths.map((x) => x.toFixed(3)).join(","),
        "data-present": [...present].sort().join(","),
        "data-selected": selected,
        "data-total": terms.total.toFixed(5),
        "data-cross-entropy": entropy.loss === null ? "" : entropy.loss.toFixed(5),
      });
      one.show(terms);
      ten.show(terms);
      cake.show(entropy, aboutAll(present, terms.losses, entropy.shares, entropy.loss));
      settings.show();
      const about = aboutClass(present.has(selected), lengths[selected], setting);
      say(state.happened ?? `Class ${selected}. ${about}`);
    }
    const schedule = oncePerFrame(draw);

    const follow = () => {
      const said = state.happened;
      const came = readState(model);
      const changed = came.lengths.some((length, k) => length !== state.lengths[k]);
      Object.assign(state, came, { happened: changed ? null : said });
      schedule();
    };
    const traits = ["lengths", "present", "selected", "m_plus", "m_minus", "lambda_"];
    const stopListening = listen(model, Object.fromEntries(traits.map((trait) => [trait, follow])));
    draw();
    return [stopListening, schedule.cancel, stopSaying, buttons.stop];
  });
}

function readState(model) {
  return {
    lengths: model.get("lengths").slice(),
    present: /** @type {Set<number>} */ (new Set(model.get("present"))),
    selected: model.get("selected"),
    happened: /** @type {string | null} */ (null), // what the last step or press did, if that is the news
    setting: { mPlus: model.get("m_plus"), mMinus: model.get("m_minus"), lambda: model.get("lambda_") },
  };
}

/** What a reader can do: each changes the state, tells the model, and asks for a new drawing. */
function makeActions(state, model, schedule) {
  const first = structuredClone(state);
  const total = () => format(marginTerms(state.lengths, state.present, state.setting).total, 3);
  state.happened = `${total()} is lost: each arrow shows where a step would move that class. Take one.`;

  function setLength(k, length) {
    state.lengths[k] = clamp(Math.round(length * 1000) / 1000, 0, LONGEST);
    state.happened = null;
    model.set("lengths", state.lengths.slice());
    schedule();
  }

  function select(k) {
    if (k === state.selected) return;
    state.selected = k;
    state.happened = null;
    model.set("selected", k);
    schedule();
  }

  function flip(k) {
    const { present } = state;
    if (!present.delete(k)) present.add(k);
    model.set("present", [...present].sort());
    model.save_changes();
    state.happened = `Class ${k} is ${present.has(k) ? "present" : "absent"} now; the loss is ${total()}.`;
    if (present.size === 0) state.happened += " No digit is there: every capsule is asked to be short.";
    schedule();
  }

  function step(gradients, what) {
    const [before, lengths] = [total(), state.lengths];
    state.lengths = stepDown(lengths, gradients);
    model.set("lengths", state.lengths.slice());
    model.save_changes();
    state.happened = aboutStep(what, lengths, state.lengths, before, total());
    schedule();
  }

  function reset() {
    Object.assign(state, structuredClone(first));
    model.set("lengths", first.lengths.slice());
    model.set("present", [...first.present]);
    model.set("selected", first.selected);
    model.set("m_plus", first.setting.mPlus);
    model.set("m_minus", first.setting.mMinus);
    model.set("lambda_", first.setting.lambda);
    model.save_changes();
    schedule();
  }

  /** Arrow keys, Home and End change the length of class `which()`; `others` are more keys. */
  function lengthKeys(node, which, others = {}) {
    const saved = (work) => (event) => {
      work(event);
      model.save_changes();
    };
    const by = (dx, dy, event) => (dx - dy) * (event.shiftKey ? 0.1 : 0.01);
    arrowKeys(
      node,
      (dx, dy, event) => saved(() => setLength(which(), state.lengths[which()] + by(dx, dy, event)))(event),
      { Home: saved(() => setLength(which(), 0)), End: saved(() => setLength(which(), 1)), ...others },
    );
  }

  return { setLength, select, flip, step, reset, lengthKeys, save: () => model.save_changes() };
}

// ------------------------------------------------------------------------------------------- one class

/** The curve of the selected class, with a dot to drag. */
function makeOne(state, { setLength, lengthKeys, save }) {
  const curve = makeCurve();
  const title = element("p", { class: "heading" });
  const [length, loss, gradient] = [readout("length", "v", ""), readout("loss"), readout("gradient", "slope", "")];
  const panel = element(
    "div",
    { class: "one" },
    title,
    curve.picture,
    element("dl", { class: "numbers" }, length.entry, loss.entry, gradient.entry),
  );
  const along = ({ x }) => setLength(state.selected, curve.lengthAt(x));
  drag(curve.picture, {
    start(at) {
      along(at);
      curve.dot.focus({ preventScroll: true, focusVisible: false });
    },
    move: along,
    end: save,
  });
  lengthKeys(curve.dot, () => state.selected);

  function show({ losses, gradients }) {
    const { selected, present, setting } = state;
    const there = present.has(selected);
    const at = { length: state.lengths[selected], loss: losses[selected], gradient: gradients[selected] };
    title.textContent = `Class ${selected} is ${there ? "present: it should be long" : "absent: it should be short"}`;
    curve.show(there, at, setting);
    length.value.textContent = format(at.length);
    loss.value.textContent = format(at.loss, 3);
    gradient.value.textContent = format(at.gradient, 2, true);
    setAttributes(curve.dot, {
      "aria-label": `Length of class ${selected}`,
      "aria-valuenow": at.length.toFixed(3),
      "aria-valuetext": `${format(at.length)}; loss ${format(at.loss, 3)}, gradient ${format(at.gradient)}`,
    });
  }
  return { panel, show };
}

/** The loss of one class over its length, if it is present and if it is not. */
function makeCurve() {
  const { width, height, left, right, top } = GRAPH;
  const chart = axes(GRAPH);
  const { x: atX, y: atY, floor, end } = chart;
  const clip = `margin-clip-${Math.random().toString(36).slice(2)}`;
  const flat = svg("rect", { class: "flat", y: top, height: floor - top });
  const middle = { "text-anchor": "middle" };
  const edges = MARGINS.map(() => svg("path", { class: "limit" }));
  const edgeNames = ["m⁺", "m⁻"].map((name) => chart.text(name, 0, floor + 15, middle));
  const [other, graph] = [svg("path", { class: "other" }), svg("path", { class: "graph" })];
  const guides = svg("path", { class: "guide" });
  const arrow = makeStep();
  const dot = grip({ class: "handle v", "data-role": "dot", "aria-valuemin": 0, "aria-valuemax": 1 });
  const words = { 1: "1", 0.5: "½", 0: "0" };
  const picture = svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "curve", "data-role": "curve" },
    svg("clipPath", { id: clip }, svg("rect", { x: left, y: top - 8, width: end - left, height: floor - top + 10 })),
    flat,
    svg("path", { class: "axis", d: `M${left} ${top - 8}V${floor}H${end}` }),
    ...edges,
    ...edgeNames,
    ...chart.beside([1, 0.5, 0], 7, (y) => words[y]),
    chart.text("loss", left - 12, top - 12),
    chart.text("length ‖v‖", end, height - 4, { class: "label v", "text-anchor": "end" }),
    svg("g", { "clip-path": `url(#${clip})` }, other, graph),
    ...[guides, arrow.node, dot],
  );

  /** The curve of one class alone, as if it were present or absent. */
  function pathOf(isPresent, setting) {
    const there = new Set(isPresent ? [0] : []);
    const lengths = Array.from({ length: 101 }, (_, n) => n / 100);
    return chart.path(lengths.map((length) => [length, marginTerms([length], there, setting).losses[0]]));
  }

  function show(there, { length, loss, gradient }, setting) {
    MARGINS.forEach((key, k) => {
      const x = atX(setting[key]);
      edges[k].setAttribute("d", `M${x} ${top - 8}V${floor}`);
      edgeNames[k].setAttribute("x", String(x));
    });
    const [from, to] = there ? [setting.mPlus, 1] : [0, setting.mMinus];
    setAttributes(flat, { x: atX(from), width: Math.max(0, atX(to) - atX(from)) });
    graph.setAttribute("d", pathOf(there, setting));
    other.setAttribute("d", pathOf(!there, setting));
    const [x, y] = [atX(length), atY(Math.min(loss, 1.05))];
    dot.setAttribute("transform", `translate(${x} ${y})`);
    guides.setAttribute("d", `M${x} ${floor}V${y}H${left}`);
    arrow.point(x, atX(clamp(length - RATE * gradient, 0, 1)), y);
  }
  /** The length at a share of the picture's width. */
  const lengthAt = (x) => (x * width - left) / (width - left - right);
  return { picture, dot, show, lengthAt };
}

/** The arrow of one step downhill, level, from x to `to`. */
function makeStep() {
  const shaft = svg("path", { class: "shaft" });
  const head = svg("polygon", { class: "head" });
  const node = svg("g", { class: "step-arrow" }, shaft, head);
  const point = (x, to, y) => {
    const way = Math.sign(to - x);
    const size = Math.min(8, Math.abs(to - x) / 2);
    shaft.setAttribute("d", `M${x} ${y}H${to - way * size}`);
    const back = to - way * size;
    head.setAttribute("points", `${to},${y} ${back},${y - size * 0.6} ${back},${y + size * 0.6}`);
    node.toggleAttribute("hidden", Math.abs(to - x) < 2);
  };
  return { node, point };
}

// ------------------------------------------------------------------------------------------ ten classes

/** A bar a class, and the sum of the losses. */
function makeTen(state, actions) {
  const lines = MARGINS.map(() => element("span", { class: "line" }));
  const bars = state.lengths.map((_, k) => makeBar(k, actions));
  const all = (part) => bars.map((bar) => bar[part]);
  const total = element("strong", { "data-role": "total" });
  const panel = element(
    "div",
    { class: "ten" },
    element("p", { class: "heading" }, "Drag a bar. Press a digit to put it into the image, or out."),
    element("div", { class: "rails", "data-role": "bars" }, ...lines, ...all("rail")),
    element("div", { class: "under" }, ...all("loss")),
    element("div", { class: "under" }, ...all("button")),
    element("p", { class: "sum" }, element("span", {}, "margin loss, the sum of the ten"), total),
  );

  function show(terms) {
    MARGINS.forEach((key, k) => (lines[k].style.bottom = `${100 * state.setting[key]}%`));
    bars.forEach(({ show: showBar }, k) => {
      const isThere = state.present.has(k);
      showBar(state.lengths[k], terms.losses[k], terms.gradients[k], isThere, k === state.selected);
    });
    total.textContent = format(terms.total, 3);
  }
  return { panel, show };
}

/** What cross-entropy makes of the same lengths: one cake, shared by softmax. */
function makeCake(state) {
  const pieces = state.lengths.map((_, k) => element("span", { class: "share" }, String(k)));
  const cake = element("div", { class: "cake", role: "img", "data-role": "cake" }, ...pieces);
  const entropy = element("strong", { "data-role": "cross-entropy" });
  const words = element("p", { class: "remark", "data-role": "about-all" });
  const sum = element("p", { class: "sum" }, element("span", {}, "cross-entropy sees one cake"), entropy);
  const panel = element("div", { class: "contest-cake" }, sum, cake, words);

  function show({ shares, loss }, about) {
    entropy.textContent = loss === null ? "no target" : format(loss, 3);
    pieces.forEach((piece, k) => {
      piece.style.flexGrow = String(shares[k]);
      piece.classList.toggle("on", state.present.has(k));
    });
    const each = shares.map((p, k) => `${k} ${Math.round(100 * p)} %`);
    cake.setAttribute("aria-label", `Softmax of the lengths: ${each.join(", ")}`);
    words.textContent = about;
  }
  return { panel, show };
}

/** One class of the ten: its length to drag, its loss, a button that puts it into the image. */
function makeBar(k, { setLength, select, flip, lengthKeys, save }) {
  const fill = element("span", { class: "fill" });
  const knob = element("span", { class: "knob" });
  const pull = element("span", { class: "pull" });
  const rail = element(
    "div",
    {
      class: "bar-rail",
      tabindex: 0,
      role: "slider",
      "aria-orientation": "vertical",
      "aria-valuemin": 0,
      "aria-valuemax": 1,
      "data-class": k,
      onfocus: () => select(k),
    },
    ...[fill, pull, knob],
  );
  const toHeight = ({ y }) => setLength(k, 1 - y);
  drag(rail, {
    prevent: false,
    start(at) {
      select(k);
      toHeight(at);
    },
    move: toHeight,
    end: save,
  });
  lengthKeys(rail, () => k, { " ": () => flip(k) });
  const onclick = () => {
    select(k);
    flip(k);
  };
  const attributes = { type: "button", class: "digit", "data-role": "present", "data-class": k, onclick };
  const button = element("button", attributes, String(k));
  const loss = element("span", { class: "loss" });

  function show(length, lost, gradient, isThere, isSelected) {
    fill.style.height = knob.style.bottom = `${100 * length}%`;
    const target = clamp(length - RATE * gradient, 0, 1);
    const [low, high] = [Math.min(target, length), Math.max(target, length)];
    pull.style.bottom = `${100 * low}%`;
    pull.style.height = `${100 * (high - low)}%`;
    pull.className = `pull ${high - low < 0.012 ? "none" : target > length ? "up" : "down"}`;
    rail.classList.toggle("present", isThere);
    rail.classList.toggle("selected", isSelected);
    setAttributes(rail, {
      "aria-label": `Length of class ${k}, ${isThere ? "present" : "absent"}`,
      "aria-valuenow": length.toFixed(3),
      "aria-valuetext": `${format(length)}, loss ${format(lost, 3)}`,
    });
    setAttributes(button, { "aria-pressed": isThere, "aria-label": `Class ${k} is present` });
    button.classList.toggle("on", isThere);
    loss.textContent = lost < 0.005 ? "0" : format(lost).replace(/^0/, "");
    loss.classList.toggle("zero", lost < 0.005);
  }
  return { rail, button, loss, show };
}

// --------------------------------------------------------------------------------- sliders and buttons

function makeSettings(state, model, schedule) {
  const sliders = [
    makeSlider("m_plus", "mPlus", "m⁺", [0.5, 1, 0.01], "long enough, if present"),
    makeSlider("m_minus", "mMinus", "m⁻", [0, 0.5, 0.01], "short enough, if absent"),
    makeSlider("lambda_", "lambda", "λ", [0, 2, 0.05], "weight of the absent"),
  ];
  function makeSlider(trait, key, symbol, [min, max, step], meaning) {
    const { input, show } = rangeInput({
      min,
      max,
      step,
      "data-role": trait,
      "aria-label": `${symbol}, ${meaning}`,
      oninput: () => {
        state.setting[key] = input.valueAsNumber;
        model.set(trait, state.setting[key]);
        schedule();
      },
      onchange: () => model.save_changes(),
    });
    const value = element("output", { "aria-hidden": "true" });
    const caption = [element("span", { class: "number" }, symbol), element("span", { class: "name" }, meaning), value];
    const slider = element("div", { class: "slider" }, element("div", { class: "caption" }, ...caption), input);
    return {
      slider,
      refresh() {
        show(state.setting[key]);
        value.textContent = format(state.setting[key]);
      },
    };
  }
  const row = element("div", { class: "settings" }, ...sliders.map(({ slider }) => slider));
  return { row, show: () => sliders.forEach(({ refresh }) => refresh()) };
}

function makeButtons(state, { step, reset }) {
  const margin = makeRepeating(
    "step-margin",
    "One step downhill",
    () => step(marginTerms(state.lengths, state.present, state.setting).gradients, "A step"),
    "primary-action",
  );
  const entropy = makeRepeating("step-entropy", "One step down cross-entropy", () =>
    step(crossEntropy(state.lengths, state.present).gradients, "A step down cross-entropy"),
  );
  const again = element("button", { type: "button", "data-role": "reset", onclick: reset }, "Reset");
  const row = element("div", { class: "bar actions" }, margin.button, again);
  const stop = () => {
    margin.stop();
    entropy.stop();
  };
  return { row, entropy: entropy.button, stop };
}

/** A button that goes on while it is held; the keyboard repeats by itself. */
function makeRepeating(role, text, work, kind = "") {
  let timer;
  const stop = () => clearInterval(timer);
  const onpointerdown = (event) => {
    if (event.button) return;
    stop();
    const start = performance.now();
    timer = setInterval(() => performance.now() - start > 350 && work(), 70);
  };
  const attributes = { onpointerdown, onpointerup: stop, onpointerleave: stop, onpointercancel: stop };
  const more = { class: kind, "data-role": role, onclick: work, ...attributes };
  const button = element("button", { type: "button", ...more }, text);
  return { button, stop };
}

export default { render };
