// Ten lengths to drag, and the margin loss of each: its curve, its gradient, the step downhill.
import { arrowKeys, axes, drag, makeArrow } from "./shared/controls.js";
import { defineWidget } from "./shared/stage.js";
import { t } from "./shared/t.js";
import {
  clamp,
  element,
  format,
  listed,
  pushButton,
  rowOf,
  setAttributes,
  svg,
  withArticle,
} from "./shared/ui.js";

/** @typedef {ReturnType<typeof marginTerms>} Terms */

const LONGEST = 0.999; // squash stays below 1
const M_PLUS = 0.9;
const M_MINUS = 0.1;
const LAMBDA = 0.5;
const RATE = 0.25; // a step downhill is this much of the gradient; the arrows show that step

/**
 * Equation 4, class by class: losses, gradients, and the total loss.
 * @param {number[]} lengths @param {Set<number>} present  the classes in the image
 */
export function marginTerms(lengths, present) {
  const violations = lengths.map((length, k) =>
    Math.max(0, present.has(k) ? M_PLUS - length : length - M_MINUS),
  );
  const losses = violations.map((by, k) => (present.has(k) ? by ** 2 : LAMBDA * by ** 2));
  const gradients = violations.map((by, k) => (present.has(k) ? -2 * by : 2 * LAMBDA * by));
  return { losses, gradients, total: losses.reduce((sum, loss) => sum + loss, 0) };
}

/** The lengths after one step downhill. @param {number[]} lengths @param {number[]} gradients */
const stepDown = (lengths, gradients) =>
  lengths.map((length, k) =>
    clamp(Math.round(1e5 * (length - RATE * gradients[k])) / 1e5, 0, LONGEST),
  );

// ------------------------------------------------------------------------------- in words

const NEAR = 0.005; // rounds to 0.00

/** Says what the loss does to a class. @param {boolean} isPresent @param {number} length */
function aboutClass(isPresent, length) {
  if (isPresent && length > M_PLUS - NEAR)
    return t`Present and long enough: the curve is flat here, and nothing pulls any more.`;
  if (isPresent) {
    const short = t`Present and ${format(M_PLUS - length)} short of m⁺`;
    return t`${short}: pulled up, ever more gently towards the margin.`;
  }
  if (length < M_MINUS + NEAR)
    return t`Absent and short enough: the curve is flat here, and nothing pushes.`;
  const beyond = t`Absent and ${format(length - M_MINUS)} beyond m⁻`;
  return t`${beyond}: pushed down, with weight λ = ${format(LAMBDA)}.`;
}

/**
 * Says that a class has been put into the image, or taken out of it.
 * @param {Set<number>} present
 */
function aboutPresence(k, present, total) {
  const presence = present.has(k) ? t`present` : t`absent`;
  const none = present.size ? "" : t` No digit is there: every capsule is asked to be short.`;
  return t`Class ${k} is ${presence}: the loss is ${format(total, 3)}.${none}`;
}

/**
 * Says what a step did.
 * @param {number[]} before  lengths @param {number[]} after
 * @param {string} lost  the loss before it @param {string} left  the loss after it
 */
function aboutStep(before, after, lost, left) {
  const moved = after.filter((length, k) => Math.abs(length - before[k]) > 1e-4).length;
  if (!moved) return t`A step moves nothing: no arrow is left.`;
  return t`A step: ${moved} of ten lengths moved, and the margin loss went from ${lost} to
    ${left}.`;
}

/** Asks for the lengths that a picture should have. @param {Set<number>} present */
function asking(present) {
  const named = listed([...present].map((digit) => withArticle(digit)));
  const what = present.size ? `${named[0].toUpperCase()}${named.slice(1)}` : t`Nothing`;
  const be = present.size > 1 ? t`lie on one another` : t`is on the sheet`;
  return t`${what} ${be}. How long should each capsule be? Set the bars, then show the loss.`;
}

/** Says what a guess costs, and whether a softmax could say it. @param {number[]} lengths */
function aboutGuess(lengths, lost) {
  const sum = lengths.reduce((total, length) => total + length, 0);
  const isShare = Math.abs(sum - 1) < NEAR;
  const softmax = isShare ? t`so do the shares of a softmax` : t`the shares of a softmax sum to 1`;
  const words = t`Your ten lengths sum to ${format(sum)}; ${softmax}.`;
  return t`${words} The margin loss of your guess is ${lost}.`;
}

// ------------------------------------------------------------------------------ the widget

const MARGINS = [M_PLUS, M_MINUS];
const GRAPH = { width: 330, height: 236, left: 34, right: 12, top: 22, bottom: 34 };
const percents = (/** @type {number} */ x) => `${100 * x}%`;

const LABEL = t`Ten capsule lengths and their margin loss`;

export default defineWidget("MarginLoss", LABEL, (widget) => {
  const { root, get, set, layOut } = widget;
  const presentNow = () => /** @type {Set<number>} */ (new Set(get("present")));
  const termsOf = (/** @type {number[]} */ lengths) => marginTerms(lengths, presentNow());
  const lossOf = (/** @type {number[]} */ lengths) => format(termsOf(lengths).total, 3);
  const start = () => {
    const lost = t`${lossOf(get("lengths"))} is lost`;
    return t`${lost}: each arrow shows where a step would move that class. Take one.`;
  };
  if (!get("guessing")) widget.news = start();

  const setLength = (/** @type {number} */ k, /** @type {number} */ length) => {
    const rounded = clamp(Math.round(length * 1000) / 1000, 0, LONGEST);
    set({ lengths: get("lengths").with(k, rounded), selected: k });
  };

  function flip(/** @type {number} */ k) {
    const present = presentNow();
    if (!present.delete(k)) present.add(k);
    const { total } = marginTerms(get("lengths"), present);
    set({ present: [...present].sort(), selected: k }, aboutPresence(k, present, total));
  }

  function step() {
    const before = get("lengths");
    const after = stepDown(before, termsOf(before).gradients);
    set({ lengths: after }, aboutStep(before, after, lossOf(before), lossOf(after)));
  }

  const curve = makeCurve();
  const ten = makeTen(get("lengths").map((_, k) => makeBar(k, { get, set, setLength, flip })));
  const show = pushButton(
    "show-loss",
    t`Show the loss`,
    () => set({ guessing: false }, aboutGuess(get("lengths"), lossOf(get("lengths")))),
    { class: "primary-action" },
  );
  const down = pushButton("step-margin", t`Step down the margin loss`, step);
  /** Lets other digits be there. @param {number[]} present */
  const scene = (present, lengths = get("lengths")) => set({ present, lengths, selected: 3 });
  const hesitate = () => {
    scene([3], get("hesitant"));
    widget.news = start();
  };
  const hesitant = pushButton("scene-hesitant", t`A 3, and the network hesitates`, hesitate);
  const buttons = rowOf(
    show,
    down,
    pushButton("scene-both", t`A 3 on an 8`, () => scene([3, 8])),
    pushButton("scene-blank", t`An empty sheet`, () => scene([])),
    hesitant,
  );
  const { say } = layOut({
    stage: element("div", { class: "contest" }, ten.panel, curve.panel),
    hands: [buttons],
  });

  let shownPresent = presentNow();
  return () => {
    const lengths = get("lengths");
    const present = presentNow();
    const selected = get("selected");
    const terms = termsOf(lengths);
    const isGuess = get("guessing");
    root.toggleAttribute("data-guessing", isGuess);
    show.hidden = !isGuess;
    down.hidden = isGuess;
    down.classList.toggle("primary-action", terms.total >= NEAR);
    hesitant.hidden = isGuess;
    Object.assign(root.dataset, { total: terms.total.toFixed(5), selected });
    curve.show(selected, present.has(selected), lengths[selected], terms);
    ten.show(lengths, present, selected, terms);
    if (isGuess) {
      shownPresent = present;
      return say(asking(present));
    }
    const flipped = lengths.map((_, k) => k).filter((k) => present.has(k) !== shownPresent.has(k));
    shownPresent = present;
    // A prompt in the text flips a class without selecting it: then that class is spoken of.
    if (!widget.news && flipped.length === 1)
      widget.news = aboutPresence(flipped[0], present, terms.total);
    const watched = aboutClass(present.has(selected), lengths[selected]);
    say(widget.news || t`Class ${selected}. ${watched}`);
  };
});

// -------------------------------------------------------------------------------- the curve

/**
 * The loss of one class over its length, if it is present and if it is absent, with a dot at its
 * length.
 */
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
  const other = svg("path", { class: "other" });
  const graph = svg("path", { class: "graph" });
  const guides = svg("path", { class: "guide" });
  const arrow = makeArrow("step-arrow");
  const dot = svg("circle", { class: "knob v", r: 6.5 });
  const axis = svg("path", { class: "axis", d: `M${left} ${top - 8}V${floor}H${end}` });
  const labels = [
    ...chart.beside([1, 0.5, 0], 7),
    chart.text(t`loss`, left - 12, top - 12),
    chart.text(t`length ‖v‖`, end, height - 4, { class: "label v", "text-anchor": "end" }),
  ];
  const ground = [flat, axis, ...edges, ...names, ...labels];
  // Hidden from screen readers: the bars say what it shows.
  const view = { viewBox: `0 0 ${width} ${height}`, class: "curve", "aria-hidden": "true" };
  const picture = svg("svg", view, ...ground, other, graph, guides, arrow.node, dot);

  /** The loss of a class, as if it were present or absent. */
  function pathOf(/** @type {boolean} */ isPresent) {
    const present = new Set(isPresent ? [0] : []);
    const lengths = Array.from({ length: 101 }, (_, n) => n / 100);
    return chart.path(lengths.map((length) => [length, marginTerms([length], present).losses[0]]));
  }

  /** @param {number} k @param {boolean} isPresent @param {number} length @param {Terms} terms */
  function show(k, isPresent, length, { losses, gradients }) {
    const wish = isPresent ? t`present: it should be long` : t`absent: it should be short`;
    title.textContent = t`Class ${k} is ${wish}`;
    const [from, to] = isPresent ? [M_PLUS, 1] : [0, M_MINUS]; // where nothing is lost
    setAttributes(flat, { x: atX(from), width: Math.max(0, atX(to) - atX(from)) });
    graph.setAttribute("d", pathOf(isPresent));
    other.setAttribute("d", pathOf(!isPresent));
    const x = atX(length);
    const y = atY(Math.min(losses[k], 1.05));
    guides.setAttribute("d", `M${x} ${floor}V${y}H${left}`);
    arrow.point([x, y], [atX(clamp(length - RATE * gradients[k], 0, 1)), y]);
    setAttributes(dot, { cx: x, cy: y });
  }
  return { panel: element("div", { class: "one" }, title, picture), show };
}

// ------------------------------------------------------------------------------ the ten bars

/** A bar a class, and the sum of the losses. @param {ReturnType<typeof makeBar>[]} bars */
function makeTen(bars) {
  const lines = MARGINS.map((at) =>
    element("span", { class: "line", style: `bottom: ${percents(at)}` }),
  );
  const lead = t`Drag a bar. Press a digit to put it into the image, or out.`;
  const heading = element("p", { class: "heading" }, lead);
  const allRails = bars.map(({ rail }) => rail);
  const rails = element("div", { class: "rails", "data-role": "bars" }, ...lines, ...allRails);
  const losses = element("div", { class: "under" }, ...bars.map(({ loss }) => loss));
  const buttons = element("div", { class: "under" }, ...bars.map(({ button }) => button));
  const total = element("strong", { "data-role": "total" });
  const words = element("span", {}, t`margin loss, the sum of the ten`);
  const sum = element("p", { class: "sum" }, words, total);
  const panel = element("div", { class: "ten" }, heading, rails, losses, buttons, sum);

  /** @param {number[]} lengths @param {Set<number>} present @param {Terms} terms */
  function show(lengths, present, selected, terms) {
    bars.forEach((bar, k) => {
      bar.show(lengths[k], terms.losses[k], terms.gradients[k]);
      bar.mark(present.has(k), k === selected);
    });
    total.textContent = format(terms.total, 3);
  }
  return { panel, show };
}

/** One class of the ten: its length to drag, its loss, a button that puts it into the image. */
function makeBar(/** @type {number} */ k, { get, set, setLength, flip }) {
  const fill = element("span", { class: "fill" });
  const pull = element("span", { class: "pull" }); // an arrow: the step downhill
  const knob = element("span", { class: "knob" });
  const about = {
    class: "bar-rail",
    tabindex: 0,
    role: "slider",
    "data-class": k,
    "aria-orientation": "vertical",
    "aria-valuemin": 0,
    "aria-valuemax": 1,
    onfocus: () => set({ selected: k }),
  };
  const rail = element("div", about, fill, pull, knob);
  const toHeight = ({ y }) => setLength(k, 1 - y);
  drag(rail, { focus: rail, start: toHeight, move: toHeight });
  const moveBy = (dx, dy, { shiftKey }) =>
    setLength(k, get("lengths")[k] + (dx - dy) * (shiftKey ? 0.1 : 0.01));
  arrowKeys(rail, moveBy, {
    Home: () => setLength(k, 0),
    End: () => setLength(k, 1),
    " ": () => flip(k),
  });
  const button = pushButton("present", String(k), () => flip(k), {
    class: "digit",
    "data-class": k,
  });
  const loss = element("span", { class: "loss" });

  /** @param {number} length @param {number} lost @param {number} gradient */
  function show(length, lost, gradient) {
    fill.style.height = percents(length);
    knob.style.bottom = percents(length);
    const target = clamp(length - RATE * gradient, 0, 1);
    pull.style.bottom = percents(Math.min(target, length));
    pull.style.height = percents(Math.abs(target - length));
    pull.className = `pull ${directionOf(target - length)}`;
    setAttributes(rail, {
      "aria-valuenow": length.toFixed(3),
      "aria-valuetext": t`${format(length)}, loss ${format(lost, 3)}`,
    });
    loss.textContent = lost < NEAR ? "0" : format(lost).replace(/^0/, "");
    loss.classList.toggle("zero", lost < NEAR);
  }

  function mark(/** @type {boolean} */ isPresent, /** @type {boolean} */ isSelected) {
    rail.classList.toggle("present", isPresent);
    rail.classList.toggle("selected", isSelected);
    const presence = isPresent ? t`present` : t`absent`;
    setAttributes(rail, { "aria-label": t`Length of class ${k}, ${presence}` });
    setAttributes(button, { "aria-pressed": isPresent, "aria-label": t`Class ${k} is present` });
  }
  return { rail, button, loss, show, mark };
}

/** The class of a step's arrow. */
function directionOf(/** @type {number} */ step) {
  if (Math.abs(step) < 0.012) return "none"; // too short to be seen
  return step > 0 ? "up" : "down";
}
