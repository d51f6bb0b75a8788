// Ten lengths to drag and the margin loss of each: its curve, its gradient, the step downhill; beside it cross-entropy.
import {
  aboutClass,
  aboutStep,
  crossEntropy,
  LONGEST,
  M_MINUS,
  M_PLUS,
  marginTerms,
  RATE,
  stepDown,
} from "./margin_loss_model.js";
import { arrowKeys, axes, drag, grip, makeArrow } from "./shared/controls.js";
import { withPrompts } from "./shared/prompts.js";
import { layOut } from "./shared/stage.js";
import { clamp, element, format, listen, makeRoot, mount, oncePerFrame, setAttributes, svg } from "./shared/ui.js";

const MARGINS = [M_PLUS, M_MINUS];
const GRAPH = { width: 330, height: 236, left: 34, right: 12, top: 22, bottom: 34 };

function render({ model, el }) {
  const root = makeRoot("MarginLoss", "Ten capsule lengths and their margin loss");
  return mount(el, root, () => {
    const state = readState(model);
    const actions = makeActions(state, model, () => schedule());
    const one = makeOne(state, actions);
    const ten = makeTen(state, actions);
    const cake = makeCake(state);
    const buttons = makeButtons(state, actions);
    const { say, stop: stopSaying } = layOut(root, {
      stage: element("div", { class: "contest" }, ten.panel, one.panel),
      hands: [buttons.row],
      more: [cake.panel, buttons.entropy],
      about: "Cross-entropy on the same lengths",
    });

    function draw() {
      const { lengths, present, selected } = state;
      const terms = marginTerms(lengths, present);
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
      cake.show(entropy);
      const about = aboutClass(present.has(selected), lengths[selected]);
      say(state.happened ?? `Class ${selected}. ${about}`);
    }
    const schedule = oncePerFrame(draw);

    const follow = () => {
      if (actions.busy()) return;
      Object.assign(state, readState(model)); // from outside: what happened before is no news any more
      schedule();
    };
    const stopListening = listen(model, { lengths: follow, present: follow, selected: follow });
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
  };
}

/** What a reader can do: each changes the state, tells the model, and asks for a new drawing. */
function makeActions(state, model, schedule) {
  const first = structuredClone(state);
  const total = () => format(marginTerms(state.lengths, state.present).total, 3);
  let telling = false;
  state.happened = `${total()} is lost: each arrow shows where a step would move that class. Take one.`;

  /** @param {Partial<typeof state>} changes @param {string | null} happened  in words */
  function change(changes, happened = null) {
    Object.assign(state, changes, { happened });
    telling = true;
    model.set({ lengths: state.lengths.slice(), present: [...state.present].sort(), selected: state.selected });
    telling = false;
    schedule();
  }
  const save = () => model.save_changes();
  const setLength = (/** @type {number} */ k, /** @type {number} */ length) =>
    change({ lengths: state.lengths.with(k, clamp(Math.round(length * 1000) / 1000, 0, LONGEST)) });
  const select = (/** @type {number} */ k) => k === state.selected || change({ selected: k });

  function flip(k) {
    const present = new Set(state.present);
    if (!present.delete(k)) present.add(k);
    const { total: lost } = marginTerms(state.lengths, present);
    const none = present.size === 0 ? " No digit is there: every capsule is asked to be short." : "";
    change(
      { present },
      `Class ${k} is ${present.has(k) ? "present" : "absent"}: the loss is ${format(lost, 3)}.${none}`,
    );
    save();
  }

  function step(gradients, what) {
    const [before, lengths] = [total(), state.lengths];
    state.lengths = stepDown(lengths, gradients);
    change({}, aboutStep(what, lengths, state.lengths, before, total()));
    save();
  }

  function reset() {
    change(structuredClone(first), first.happened);
    save();
  }

  /** Arrow keys, Home and End change the length of class `which()`; `others` are more keys. */
  function lengthKeys(node, which, others = {}) {
    const saved = (work) => (event) => {
      work(event);
      save();
    };
    const by = (dx, dy, event) => (dx - dy) * (event.shiftKey ? 0.1 : 0.01);
    arrowKeys(
      node,
      (dx, dy, event) => saved(() => setLength(which(), state.lengths[which()] + by(dx, dy, event)))(event),
      { Home: saved(() => setLength(which(), 0)), End: saved(() => setLength(which(), 1)), ...others },
    );
  }

  return { setLength, select, flip, step, reset, lengthKeys, save, busy: () => telling };
}

// ------------------------------------------------------------------------------------------- one class

/** The curve of the selected class, with a dot to drag. */
function makeOne(state, { setLength, lengthKeys, save }) {
  const curve = makeCurve();
  const title = element("p", { class: "heading" });
  const panel = element("div", { class: "one" }, title, curve.picture);
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
    const { selected, present } = state;
    const there = present.has(selected);
    const at = { length: state.lengths[selected], loss: losses[selected], gradient: gradients[selected] };
    title.textContent = `Class ${selected} is ${there ? "present: it should be long" : "absent: it should be short"}`;
    curve.show(there, at);
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
  const edges = MARGINS.map((at) => svg("path", { class: "limit", d: `M${atX(at)} ${top - 8}V${floor}` }));
  const edgeNames = ["m⁺", "m⁻"].map((name, k) => chart.text(name, atX(MARGINS[k]), floor + 15, middle));
  const [other, graph] = [svg("path", { class: "other" }), svg("path", { class: "graph" })];
  const guides = svg("path", { class: "guide" });
  const arrow = makeArrow("step-arrow");
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
  function pathOf(isPresent) {
    const there = new Set(isPresent ? [0] : []);
    const lengths = Array.from({ length: 101 }, (_, n) => n / 100);
    return chart.path(lengths.map((length) => [length, marginTerms([length], there).losses[0]]));
  }

  function show(there, { length, loss, gradient }) {
    const [from, to] = there ? [M_PLUS, 1] : [0, M_MINUS];
    setAttributes(flat, { x: atX(from), width: Math.max(0, atX(to) - atX(from)) });
    graph.setAttribute("d", pathOf(there));
    other.setAttribute("d", pathOf(!there));
    const [x, y] = [atX(length), atY(Math.min(loss, 1.05))];
    dot.setAttribute("transform", `translate(${x} ${y})`);
    guides.setAttribute("d", `M${x} ${floor}V${y}H${left}`);
    arrow.point([x, y], [atX(clamp(length - RATE * gradient, 0, 1)), y]);
  }
  /** The length at a share of the picture's width. */
  const lengthAt = (x) => (x * width - left) / (width - left - right);
  return { picture, dot, show, lengthAt };
}

// ------------------------------------------------------------------------------------------ ten classes

/** A bar a class, and the sum of the losses. */
function makeTen(state, actions) {
  const lines = MARGINS.map((at) => element("span", { class: "line", style: `bottom: ${100 * at}%` }));
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
  const sum = element("p", { class: "sum" }, element("span", {}, "cross-entropy sees one cake"), entropy);
  const panel = element("div", { class: "contest-cake" }, sum, cake);

  function show({ shares, loss }) {
    entropy.textContent = loss === null ? "no target" : format(loss, 3);
    pieces.forEach((piece, k) => {
      piece.style.flexGrow = String(shares[k]);
      piece.classList.toggle("on", state.present.has(k));
    });
    const each = shares.map((p, k) => `${k} ${Math.round(100 * p)} %`);
    cake.setAttribute("aria-label", `Softmax of the lengths: ${each.join(", ")}`);
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

// ----------------------------------------------------------------------------------------------- buttons

function makeButtons(state, { step, reset }) {
  const margin = makeRepeating(
    "step-margin",
    "Step down the margin loss",
    () => step(marginTerms(state.lengths, state.present).gradients, "A step"),
    "primary-action",
  );
  const entropy = makeRepeating("step-entropy", "Step down cross-entropy", () =>
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

export default { render: withPrompts(render) };
