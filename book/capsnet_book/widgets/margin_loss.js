// Ten lengths to drag and the margin loss of each: its curve, its gradient, the step downhill.
import { arrowKeys, axes, drag, makeArrow } from "./shared/controls.js";
import { defineWidget } from "./shared/stage.js";
import { clamp, element, format, pushButton, rowOf, setAttributes, svg } from "./shared/ui.js";

const LONGEST = 0.999; // squash stays below 1
const M_PLUS = 0.9;
const M_MINUS = 0.1;
const LAMBDA = 0.5;
const RATE = 0.25; // a step downhill: this much of the gradient. The arrows show just that step

/** Equation 4, a class at a time, and its derivative. @param {number[]} lengths @param {Set<number>} present */
export function marginTerms(lengths, present) {
  const missed = lengths.map((length, k) =>
    Math.max(0, present.has(k) ? M_PLUS - length : length - M_MINUS),
  );
  const losses = missed.map((by, k) => (present.has(k) ? by ** 2 : LAMBDA * by ** 2));
  const gradients = missed.map((by, k) => (present.has(k) ? -2 * by : 2 * LAMBDA * by));
  return { losses, gradients, total: losses.reduce((sum, loss) => sum + loss, 0) };
}

/** The lengths after one step downhill. @param {number[]} lengths @param {number[]} gradients */
const stepDown = (lengths, gradients) =>
  lengths.map((length, k) =>
    clamp(Math.round(1e5 * (length - RATE * gradients[k])) / 1e5, 0, LONGEST),
  );

/** What the class whose curve is shown is told. */
function aboutClass(there, length) {
  const near = 0.005; // what rounds to 0.00
  if (there && length > M_PLUS - near) {
    return "Present and long enough: the curve is flat here, and nothing pulls any more.";
  }
  if (there) {
    return `Present and ${format(M_PLUS - length)} short of m⁺: pulled up, ever more gently towards the margin.`;
  }
  if (length < M_MINUS + near)
    return "Absent and short enough: the curve is flat here, and nothing pushes.";
  return `Absent and ${format(length - M_MINUS)} beyond m⁻: pushed down, with weight λ = ${format(LAMBDA)}.`;
}

/** What a step did; the sums of the losses before and after it, as text. */
function aboutStep(before, after, lost, left) {
  const moved = after.filter((length, k) => Math.abs(length - before[k]) > 1e-4).length;
  if (!moved) return "A step moves nothing: no arrow is left.";
  return `A step: ${moved} of ten lengths moved, and the margin loss went from ${lost} to ${left}.`;
}

// ------------------------------------------------------------------------------------------------ the widget

const MARGINS = [M_PLUS, M_MINUS];
const GRAPH = { width: 330, height: 236, left: 34, right: 12, top: 22, bottom: 34 };
const percents = (x) => `${100 * x}%`;

const LABEL = "Ten capsule lengths and their margin loss";

export default defineWidget("MarginLoss", LABEL, (widget) => {
  const { root, get, set, layOut } = widget;
  const first = { lengths: get("lengths"), present: get("present"), selected: get("selected") };
  const present = () => /** @type {Set<number>} */ (new Set(get("present")));
  const termsOf = (lengths) => marginTerms(lengths, present());
  const lost = (lengths = get("lengths")) => format(termsOf(lengths).total, 3);
  const start = `${lost()} is lost: each arrow shows where a step would move that class. Take one.`;
  widget.news = start;

  const setLength = (k, length) => {
    const near = clamp(Math.round(length * 1000) / 1000, 0, LONGEST);
    set({ lengths: get("lengths").with(k, near), selected: k });
  };

  function flip(k) {
    const there = present();
    if (!there.delete(k)) there.add(k);
    const { total } = marginTerms(get("lengths"), there);
    const none = there.size ? "" : " No digit is there: every capsule is asked to be short.";
    const words = `Class ${k} is ${there.has(k) ? "present" : "absent"}: the loss is ${format(total, 3)}.${none}`;
    set({ present: [...there].sort(), selected: k }, words);
  }

  function step() {
    const before = get("lengths");
    const after = stepDown(before, termsOf(before).gradients);
    set({ lengths: after }, aboutStep(before, after, lost(before), lost(after)));
  }

  const one = makeCurve();
  const ten = makeTen(first.lengths.map((_, k) => makeBar(k, { get, set, setLength, flip })));
  const buttons = rowOf(
    pushButton("step-margin", "Step down the margin loss", step, { class: "primary-action" }),
    pushButton("reset", "Reset", () => set(first, start)),
  );
  const { say } = layOut({
    stage: element("div", { class: "contest" }, ten.panel, one.panel),
    hands: [buttons],
  });

  return () => {
    const [lengths, there, selected] = [get("lengths"), present(), get("selected")];
    const terms = termsOf(lengths);
    Object.assign(root.dataset, { total: terms.total.toFixed(5), selected });
    one.show(selected, there.has(selected), lengths[selected], terms);
    ten.show(lengths, there, selected, terms);
    say(widget.news || `Class ${selected}. ${aboutClass(there.has(selected), lengths[selected])}`);
  };
});

/** The loss of one class over its length, if it is present and if it is not, with a dot where it stands. */
function makeCurve() {
  const { width, height, left, top } = GRAPH;
  const chart = axes(GRAPH);
  const { x: atX, y: atY, floor, end } = chart;
  const title = element("p", { class: "heading" });
  const flat = svg("rect", { class: "flat", y: top, height: floor - top });
  const edges = MARGINS.map((at) =>
    svg("path", { class: "limit", d: `M${atX(at)} ${top - 8}V${floor}` }),
  );
  const names = ["m⁺", "m⁻"].map((name, k) =>
    chart.text(name, atX(MARGINS[k]), floor + 15, { "text-anchor": "middle" }),
  );
  const [other, graph] = ["other", "graph"].map((kind) => svg("path", { class: kind }));
  const guides = svg("path", { class: "guide" });
  const arrow = makeArrow("step-arrow");
  const dot = svg("circle", { class: "knob v", r: 6.5 });
  const axis = svg("path", { class: "axis", d: `M${left} ${top - 8}V${floor}H${end}` });
  const labels = [
    ...chart.beside([1, 0.5, 0], 7),
    chart.text("loss", left - 12, top - 12),
    chart.text("length ‖v‖", end, height - 4, { class: "label v", "text-anchor": "end" }),
  ];
  const view = { viewBox: `0 0 ${width} ${height}`, class: "curve", "aria-hidden": "true" }; // the bars say it
  const picture = svg(
    "svg",
    view,
    flat,
    axis,
    ...edges,
    ...names,
    ...labels,
    other,
    graph,
    guides,
    arrow.node,
    dot,
  );
  const panel = element("div", { class: "one" }, title, picture);

  /** The curve of one class alone, as if it were present or absent. */
  function pathOf(isPresent) {
    const there = new Set(isPresent ? [0] : []);
    const lengths = Array.from({ length: 101 }, (_, n) => n / 100);
    return chart.path(lengths.map((length) => [length, marginTerms([length], there).losses[0]]));
  }

  function show(k, there, length, { losses, gradients }) {
    title.textContent = `Class ${k} is ${there ? "present: it should be long" : "absent: it should be short"}`;
    const [from, to] = there ? [M_PLUS, 1] : [0, M_MINUS];
    setAttributes(flat, { x: atX(from), width: Math.max(0, atX(to) - atX(from)) });
    graph.setAttribute("d", pathOf(there));
    other.setAttribute("d", pathOf(!there));
    const [x, y] = [atX(length), atY(Math.min(losses[k], 1.05))];
    guides.setAttribute("d", `M${x} ${floor}V${y}H${left}`);
    arrow.point([x, y], [atX(clamp(length - RATE * gradients[k], 0, 1)), y]);
    setAttributes(dot, { cx: x, cy: y });
  }
  return { panel, show };
}

/** A bar a class, and the sum of the losses. */
function makeTen(bars) {
  const lines = MARGINS.map((at) =>
    element("span", { class: "line", style: `bottom: ${percents(at)}` }),
  );
  const all = (part) => bars.map((bar) => bar[part]);
  const total = element("strong", { "data-role": "total" });
  const lead = element(
    "p",
    { class: "heading" },
    "Drag a bar. Press a digit to put it into the image, or out.",
  );
  const rails = element("div", { class: "rails", "data-role": "bars" }, ...lines, ...all("rail"));
  const under = ["loss", "button"].map((part) => element("div", { class: "under" }, ...all(part)));
  const sum = element(
    "p",
    { class: "sum" },
    element("span", {}, "margin loss, the sum of the ten"),
    total,
  );
  const panel = element("div", { class: "ten" }, lead, rails, ...under, sum);

  function show(lengths, present, selected, { losses, gradients, total: lost }) {
    bars.forEach((bar, k) =>
      bar.show(lengths[k], losses[k], gradients[k], present.has(k), k === selected),
    );
    total.textContent = format(lost, 3);
  }
  return { panel, show };
}

/** One class of the ten: its length to drag, its loss, a button that puts it into the image. */
function makeBar(k, { get, set, setLength, flip }) {
  const [fill, pull, knob] = ["fill", "pull", "knob"].map((kind) =>
    element("span", { class: kind }),
  );
  const slider = {
    role: "slider",
    "aria-orientation": "vertical",
    "aria-valuemin": 0,
    "aria-valuemax": 1,
  };
  const about = {
    class: "bar-rail",
    tabindex: 0,
    "data-class": k,
    onfocus: () => set({ selected: k }),
  };
  const rail = element("div", { ...about, ...slider }, fill, pull, knob);
  const toHeight = ({ y }) => setLength(k, 1 - y);
  drag(rail, { focus: rail, start: toHeight, move: toHeight });
  const by = (dx, dy, { shiftKey }) =>
    setLength(k, get("lengths")[k] + (dx - dy) * (shiftKey ? 0.1 : 0.01));
  arrowKeys(rail, by, {
    Home: () => setLength(k, 0),
    End: () => setLength(k, 1),
    " ": () => flip(k),
  });
  const button = pushButton("present", String(k), () => flip(k), {
    class: "digit",
    "data-class": k,
  });
  const loss = element("span", { class: "loss" });

  function show(length, lost, gradient, isThere, isSelected) {
    fill.style.height = knob.style.bottom = percents(length);
    const target = clamp(length - RATE * gradient, 0, 1);
    const [low, high] = [Math.min(target, length), Math.max(target, length)];
    pull.style.bottom = percents(low);
    pull.style.height = percents(high - low);
    pull.className = `pull ${high - low < 0.012 ? "none" : target > length ? "up" : "down"}`;
    rail.classList.toggle("present", isThere);
    rail.classList.toggle("selected", isSelected);
    setAttributes(rail, {
      "aria-label": `Length of class ${k}, ${isThere ? "present" : "absent"}`,
      "aria-valuenow": length.toFixed(3),
      "aria-valuetext": `${format(length)}, loss ${format(lost, 3)}`,
    });
    setAttributes(button, { "aria-pressed": isThere, "aria-label": `Class ${k} is present` });
    loss.textContent = lost < 0.005 ? "0" : format(lost).replace(/^0/, "");
    loss.classList.toggle("zero", lost < 0.005);
  }
  return { rail, button, loss, show };
}
