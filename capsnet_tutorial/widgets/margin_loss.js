// Ten lengths to drag and the margin loss of each: its curve, its gradient, the step downhill; beside it cross-entropy.
import { clamp, element, format, listen, makeAnnouncer, makeRoot, mount, oncePerFrame, setAttributes, svg } from "./shared/ui.js";

const CLASSES = 10;
const LONGEST = 0.999; // squash stays below 1
const RATE = 0.25; // a step downhill: this much of the gradient. The arrows show just that step
const GRAPH = { width: 330, height: 236, left: 34, right: 12, top: 22, bottom: 34 };

/** Equation 4, a class at a time, and its derivative. lengths [J], present: a Set of classes -> { losses, gradients, total } */
export function marginTerms(lengths, present, { mPlus = 0.9, mMinus = 0.1, lambda = 0.5 } = {}) {
  const losses = lengths.map((length, k) =>
    present.has(k) ? Math.max(0, mPlus - length) ** 2 : lambda * Math.max(0, length - mMinus) ** 2);
  const gradients = lengths.map((length, k) =>
    present.has(k) ? -2 * Math.max(0, mPlus - length) : 2 * lambda * Math.max(0, length - mMinus));
  return { losses, gradients, total: losses.reduce((sum, loss) => sum + loss, 0) };
}

/** What softmax makes of the lengths, and the cross-entropy with the present classes, all alike. null: none is present. */
export function crossEntropy(lengths, present) {
  const exponentials = lengths.map(Math.exp);
  const sum = exponentials.reduce((all, x) => all + x, 0);
  const shares = exponentials.map((x) => x / sum);
  const target = lengths.map((_, k) => (present.has(k) ? 1 / present.size : 0));
  const gradients = shares.map((share, k) => (present.size ? share - target[k] : 0));
  const loss = present.size ? shares.reduce((all, share, k) => all - target[k] * Math.log(share), 0) : null;
  return { shares, gradients, loss };
}

function render({ model, el }) {
  const root = makeRoot("MarginLoss", "Ten capsule lengths and their margin loss");
  return mount(el, root, () => {
    let lengths = model.get("lengths").slice();
    let present = new Set(model.get("present"));
    let selected = model.get("selected");
    let setting = readSetting();

    function readSetting() {
      return { mPlus: model.get("m_plus"), mMinus: model.get("m_minus"), lambda: model.get("lambda_") };
    }

    // -------------------------------------------------------------------------------------- the curve
    const { width, height, left, right, top, bottom } = GRAPH;
    const atX = (length) => left + length * (width - left - right);
    const atY = (loss) => height - bottom - Math.min(loss, 1.05) * (height - top - bottom);
    const clip = `margin-clip-${Math.random().toString(36).slice(2)}`;
    const flat = svg("rect", { class: "flat", y: top, height: height - top - bottom });
    const edges = { mPlus: svg("path", { class: "limit" }), mMinus: svg("path", { class: "limit" }) };
    const edgeNames = {
      mPlus: svg("text", { class: "label", y: height - bottom + 15, "text-anchor": "middle" }, "m⁺"),
      mMinus: svg("text", { class: "label", y: height - bottom + 15, "text-anchor": "middle" }, "m⁻"),
    };
    const other = svg("path", { class: "other" });
    const graph = svg("path", { class: "graph" });
    const guides = svg("path", { class: "guide" });
    const arrow = makeStep();
    const dot = svg("g", { class: "handle v", tabindex: 0, role: "slider", "data-role": "dot", "aria-valuemin": 0, "aria-valuemax": 1 },
      svg("circle", { class: "touch", r: 22 }), svg("circle", { class: "ring", r: 11 }), svg("circle", { class: "knob", r: 6.5 }));
    const curve = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "curve", "data-role": "curve" },
      svg("clipPath", { id: clip }, svg("rect", { x: left, y: top - 8, width: width - left - right, height: height - top - bottom + 10 })),
      flat,
      svg("path", { class: "axis", d: `M${left} ${top - 8}V${atY(0)}H${width - right}` }),
      edges.mPlus, edges.mMinus, edgeNames.mPlus, edgeNames.mMinus,
      svg("text", { class: "label", x: left - 7, y: atY(1) + 4, "text-anchor": "end" }, "1"),
      svg("text", { class: "label", x: left - 7, y: atY(0.5) + 4, "text-anchor": "end" }, "½"),
      svg("text", { class: "label", x: left - 7, y: atY(0) + 4, "text-anchor": "end" }, "0"),
      svg("text", { class: "label", x: left - 12, y: top - 12 }, "loss"),
      svg("text", { class: "label v", x: width - right, y: height - 4, "text-anchor": "end" }, "length ‖v‖"),
      svg("g", { "clip-path": `url(#${clip})` }, other, graph), guides, arrow.node, dot);

    const toggle = element("button", { type: "button", class: "switch", "data-role": "toggle", onclick: () => flip(selected) });
    const title = element("span");
    const number = (symbol, kind = "") => {
      const value = element("dd");
      return { value, entry: element("div", {}, element("dt", { class: kind }, symbol), value) };
    };
    const [numberLength, numberLoss, numberGradient] = [number("length", "v"), number("loss"), number("gradient", "slope")];
    const onePanel = element("div", { class: "one" },
      element("div", { class: "heading" }, title, toggle),
      curve,
      element("dl", { class: "numbers" }, numberLength.entry, numberLoss.entry, numberGradient.entry));

    // --------------------------------------------------------------------------------------- the bars
    const lines = { mPlus: element("span", { class: "line" }), mMinus: element("span", { class: "line" }) };
    const bars = lengths.map((_, k) => makeBar(k));
    const rails = element("div", { class: "rails", "data-role": "bars" }, lines.mPlus, lines.mMinus, ...bars.map(({ rail }) => rail));
    const under = element("div", { class: "under" }, ...bars.map(({ loss }) => loss));
    const digits = element("div", { class: "under" }, ...bars.map(({ button }) => button));
    const total = element("strong", { "data-role": "total" });
    const cake = element("div", { class: "cake", role: "img", "data-role": "cake" }, ...bars.map(({ share }) => share));
    const entropy = element("strong", { "data-role": "cross-entropy" });
    const tenPanel = element("div", { class: "ten" },
      element("div", { class: "heading" }, element("span", {}, "Drag a bar; press a digit to put it in the image")),
      rails, under, digits,
      element("p", { class: "sum" }, element("span", {}, "margin loss, the sum of the ten"), total),
      element("p", { class: "sum second" }, element("span", {}, "cross-entropy sees one cake"), entropy),
      cake);

    function makeBar(k) {
      const fill = element("span", { class: "fill" });
      const knob = element("span", { class: "knob" });
      const pull = element("span", { class: "pull" });
      const rail = element("div", { class: "bar-rail", tabindex: 0, role: "slider", "aria-orientation": "vertical", "aria-valuemin": 0, "aria-valuemax": 1, "data-class": k }, fill, pull, knob);
      const at = (event) => {
        const box = rail.getBoundingClientRect();
        setLength(k, (box.bottom - event.clientY) / box.height);
      };
      rail.addEventListener("pointerdown", (event) => {
        if (event.button) return;
        rail.setPointerCapture(event.pointerId);
        select(k);
        at(event);
      });
      rail.addEventListener("pointermove", (event) => {
        if (rail.hasPointerCapture(event.pointerId)) at(event);
      });
      rail.addEventListener("lostpointercapture", () => model.save_changes());
      rail.addEventListener("focus", () => select(k));
      rail.addEventListener("keydown", (event) => byKey(event, k));
      const button = element("button", { type: "button", class: "digit", "data-role": "present", "data-class": k, onclick: () => { select(k); flip(k); } }, String(k));
      const loss = element("span", { class: "loss" });
      const share = element("span", { class: "share" }, String(k));
      return { rail, fill, knob, pull, button, loss, share };
    }

    // ------------------------------------------------------------------------------ sliders and buttons
    const sliders = [
      makeSlider("m_plus", "mPlus", "m⁺", 0.5, 1, 0.01, "long enough, if present"),
      makeSlider("m_minus", "mMinus", "m⁻", 0, 0.5, 0.01, "short enough, if absent"),
      makeSlider("lambda_", "lambda", "λ", 0, 2, 0.05, "weight of the absent"),
    ];
    function makeSlider(trait, key, symbol, min, max, step, meaning) {
      const input = element("input", {
        type: "range", min, max, step, "data-role": trait, "aria-label": `${symbol}, ${meaning}`,
        oninput: () => {
          setting[key] = input.valueAsNumber;
          model.set(trait, setting[key]);
          schedule();
        },
        onchange: () => model.save_changes(),
      });
      input.style.setProperty("--zero", "0%");
      const value = element("output", { "aria-hidden": "true" });
      const row = element("div", { class: "slider" },
        element("div", { class: "caption" }, element("span", { class: "number" }, symbol), element("span", { class: "name" }, meaning), value), input);
      return { row, input, value, key, min, max };
    }
    const action = (role, text, onclick) => element("button", { type: "button", "data-role": role, onclick }, text);
    const timers = new Set();
    /** A button that goes on while it is held; the keyboard repeats by itself. */
    function repeating(role, text, work) {
      const button = action(role, text, work);
      let timer;
      const stop = () => clearInterval(timer);
      button.addEventListener("pointerdown", (event) => {
        if (event.button) return;
        stop();
        const start = performance.now();
        timer = setInterval(() => performance.now() - start > 350 && work(), 70);
        timers.add(timer);
      });
      for (const name of ["pointerup", "pointerleave", "pointercancel"]) button.addEventListener(name, stop);
      return button;
    }
    const actions = element("div", { class: "bar actions" },
      repeating("step-margin", "Step down the margin loss", () => step(marginTerms(lengths, present, setting).gradients)),
      repeating("step-entropy", "Step down cross-entropy", () => step(crossEntropy(lengths, present).gradients)),
      action("reset", "Reset", reset));
    const remark = element("p", { class: "remark", "data-role": "remark" });
    root.append(element("div", { class: "contest" }, onePanel, tenPanel),
      element("div", { class: "settings" }, ...sliders.map(({ row }) => row)), actions, remark);
    const announce = makeAnnouncer(root);
    const first = { lengths: lengths.slice(), present: [...present], selected, setting: { ...setting } };

    // ---------------------------------------------------------------------------------------- actions
    function setLength(k, length) {
      lengths[k] = clamp(Math.round(length * 1000) / 1000, 0, LONGEST);
      model.set("lengths", lengths.slice());
      schedule();
    }

    function select(k) {
      if (k === selected) return;
      selected = k;
      model.set("selected", k);
      schedule();
    }

    function flip(k) {
      if (!present.delete(k)) present.add(k);
      model.set("present", [...present].sort());
      model.save_changes();
      schedule();
      announce(`Class ${k} is ${present.has(k) ? "present" : "absent"}; total loss ${format(marginTerms(lengths, present, setting).total)}`);
    }

    function step(gradients) {
      lengths = lengths.map((length, k) => clamp(Math.round(1e5 * (length - RATE * gradients[k])) / 1e5, 0, LONGEST));
      model.set("lengths", lengths.slice());
      model.save_changes();
      schedule();
      announce(`Total loss ${format(marginTerms(lengths, present, setting).total, 3)}`);
    }

    function reset() {
      lengths = first.lengths.slice();
      present = new Set(first.present);
      selected = first.selected;
      setting = { ...first.setting };
      model.set("lengths", lengths.slice());
      model.set("present", first.present.slice());
      model.set("selected", selected);
      model.set("m_plus", setting.mPlus);
      model.set("m_minus", setting.mMinus);
      model.set("lambda_", setting.lambda);
      model.save_changes();
      schedule();
    }

    function byKey(event, k) {
      const by = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 }[event.key];
      if (by) setLength(k, lengths[k] + by * (event.shiftKey ? 0.1 : 0.01));
      else if (event.key === "Home") setLength(k, 0);
      else if (event.key === "End") setLength(k, 1);
      else if (event.key === " " && event.currentTarget !== dot) flip(k);
      else return;
      event.preventDefault();
      model.save_changes();
    }

    const alongCurve = (event) => {
      const box = curve.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * width;
      setLength(selected, (x - left) / (width - left - right));
    };
    curve.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      curve.setPointerCapture(event.pointerId);
      alongCurve(event);
      event.preventDefault();
      dot.focus({ preventScroll: true, focusVisible: false });
    });
    curve.addEventListener("pointermove", (event) => {
      if (curve.hasPointerCapture(event.pointerId)) alongCurve(event);
    });
    curve.addEventListener("lostpointercapture", () => model.save_changes());
    dot.addEventListener("keydown", (event) => byKey(event, selected));

    // ---------------------------------------------------------------------------------------- drawing
    /** The curve of one class alone, as if it were present or absent. */
    function pathOf(isPresent) {
      const there = new Set(isPresent ? [0] : []);
      return Array.from({ length: 101 }, (_, n) => {
        const loss = marginTerms([n / 100], there, setting).losses[0];
        return `${n ? "L" : "M"}${atX(n / 100).toFixed(1)} ${(height - bottom - loss * (height - top - bottom)).toFixed(1)}`;
      }).join("");
    }

    function draw() {
      const { losses, gradients, total: sum } = marginTerms(lengths, present, setting);
      const { shares, loss: lost } = crossEntropy(lengths, present);
      const there = present.has(selected);
      const [length, loss, gradient] = [lengths[selected], losses[selected], gradients[selected]];
      setAttributes(root, {
        "data-lengths": lengths.map((x) => x.toFixed(3)).join(","),
        "data-present": [...present].sort().join(","),
        "data-selected": selected,
        "data-total": sum.toFixed(5),
        "data-cross-entropy": lost === null ? "" : lost.toFixed(5),
      });

      title.textContent = `Class ${selected} is`;
      toggle.textContent = there ? "present" : "absent";
      setAttributes(toggle, { "aria-pressed": there, "aria-label": `Class ${selected} is present` });
      toggle.classList.toggle("on", there);
      for (const key of ["mPlus", "mMinus"]) {
        const x = atX(setting[key]);
        edges[key].setAttribute("d", `M${x} ${top - 8}V${atY(0)}`);
        edgeNames[key].setAttribute("x", x);
        lines[key].style.bottom = `${100 * setting[key]}%`;
      }
      const [from, to] = there ? [setting.mPlus, 1] : [0, setting.mMinus];
      setAttributes(flat, { x: atX(from), width: Math.max(0, atX(to) - atX(from)) });
      graph.setAttribute("d", pathOf(there));
      other.setAttribute("d", pathOf(!there));
      const [x, y] = [atX(length), atY(loss)];
      dot.setAttribute("transform", `translate(${x} ${y})`);
      guides.setAttribute("d", `M${x} ${atY(0)}V${y}H${atX(0)}`);
      arrow.point(x, atX(clamp(length - RATE * gradient, 0, 1)), y);
      numberLength.value.textContent = format(length);
      numberLoss.value.textContent = format(loss, 3);
      numberGradient.value.textContent = format(gradient, 2, true);
      setAttributes(dot, { "aria-label": `Length of class ${selected}`, "aria-valuenow": length.toFixed(3), "aria-valuetext": `${format(length)}; loss ${format(loss, 3)}, gradient ${format(gradient)}` });

      bars.forEach(({ rail, fill, knob, pull, button, loss: lossText, share }, k) => {
        const isThere = present.has(k);
        fill.style.height = knob.style.bottom = `${100 * lengths[k]}%`;
        const target = clamp(lengths[k] - RATE * gradients[k], 0, 1);
        const [low, high] = [Math.min(target, lengths[k]), Math.max(target, lengths[k])];
        pull.style.bottom = `${100 * low}%`;
        pull.style.height = `${100 * (high - low)}%`;
        pull.className = `pull ${high - low < 0.012 ? "none" : target > lengths[k] ? "up" : "down"}`;
        rail.classList.toggle("present", isThere);
        rail.classList.toggle("selected", k === selected);
        setAttributes(rail, {
          "aria-label": `Length of class ${k}, ${isThere ? "present" : "absent"}`,
          "aria-valuenow": lengths[k].toFixed(3),
          "aria-valuetext": `${format(lengths[k])}, loss ${format(losses[k], 3)}`,
        });
        setAttributes(button, { "aria-pressed": isThere, "aria-label": `Class ${k} is present` });
        button.classList.toggle("on", isThere);
        lossText.textContent = losses[k] < 0.005 ? "0" : format(losses[k]).replace(/^0/, "");
        lossText.classList.toggle("zero", losses[k] < 0.005);
        share.style.flexGrow = shares[k];
        share.classList.toggle("on", isThere);
      });
      total.textContent = format(sum, 3);
      entropy.textContent = lost === null ? "no target" : format(lost, 3);
      cake.setAttribute("aria-label", `Softmax of the lengths: ${shares.map((p, k) => `${k} ${Math.round(100 * p)} %`).join(", ")}`);
      for (const { input, value, key, min, max } of sliders) {
        input.valueAsNumber = setting[key];
        input.style.setProperty("--at", `${(100 * (setting[key] - min)) / (max - min)}%`);
        value.textContent = format(setting[key]);
      }
      remark.textContent = `${aboutClass(there, length, setting)} ${aboutAll(present, losses, shares, lost)}`;
    }
    const schedule = oncePerFrame(draw);

    const stopListening = listen(model, {
      lengths: () => { lengths = model.get("lengths").slice(); schedule(); },
      present: () => { present = new Set(model.get("present")); schedule(); },
      selected: () => { selected = model.get("selected"); schedule(); },
      m_plus: () => { setting = readSetting(); schedule(); },
      m_minus: () => { setting = readSetting(); schedule(); },
      lambda_: () => { setting = readSetting(); schedule(); },
    });
    draw();
    return [stopListening, schedule.cancel, announce.cancel, () => timers.forEach(clearInterval)];
  });
}

/** What the class whose curve is shown is told. */
function aboutClass(there, length, { mPlus, mMinus, lambda }) {
  const near = 0.005; // what rounds to 0.00
  if (there && length > mPlus - near) return "Present and long enough: the curve is flat here, and nothing pulls any more.";
  if (there) return `Present and ${format(mPlus - length)} short of m⁺: pulled up, ever more gently towards the margin.`;
  if (length < mMinus + near) return "Absent and short enough: the curve is flat here, and nothing pushes.";
  if (lambda === 0) return "Absent and too long, but with λ = 0 nobody minds.";
  return `Absent and ${format(length - mMinus)} beyond m⁻: pushed down, with weight λ = ${format(lambda)}.`;
}

/** What the ten together show. */
function aboutAll(present, losses, shares, lost) {
  if (lost === null) return "No digit is there: the margin loss asks every capsule to be short. Softmax must still hand out the whole cake.";
  const settled = losses.every((loss) => loss < 1e-5);
  if (settled) return `All ten are content: the margin loss is 0. Cross-entropy still finds ${format(lost)} to complain about.`;
  if (present.size > 1) return `${present.size} classes are there at once: each has its own margin to reach, while softmax makes them share one cake.`;
  const [k] = present;
  return `Softmax gives class ${k} a share of ${format(100 * shares[k], 0)} %; even the lengths 1 and nine times 0 would give it only 23 %.`;
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
    head.setAttribute("points", `${to},${y} ${to - way * size},${y - size * 0.6} ${to - way * size},${y + size * 0.6}`);
    node.toggleAttribute("hidden", Math.abs(to - x) < 2);
  };
  return { node, point };
}

export default { render };
