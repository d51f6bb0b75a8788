// Sizes in; parameters, operations, bytes and the least time out, for routing with û and without.
import { costs, leastTime, memory, PRESETS, remarkOn, short } from "./cost_calculator_model.js";
import { rangeInput } from "./shared/controls.js";
import { layOut } from "./shared/stage.js";
import { element, listen, makeRoot, mount, oncePerFrame, setAttributes } from "./shared/ui.js";

const BATCHES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

function render({ model, el }) {
  const root = makeRoot("CostCalculator", "What a capsule network costs, by its sizes");
  return mount(el, root, () => {
    const form = {
      get: (trait) => model.get(trait),
      set(trait, value) {
        model.set(trait, value);
        schedule();
      },
      changed: () => model.save_changes(),
    };
    const choices = makeChoices(form);
    const sizes = makeSizes(form);
    const speeds = makeSpeeds(form);
    const answers = makeAnswers();
    const chart = makeChart();
    const table = makeTable();
    const [batch, ...others] = sizes.rows;
    root.classList.add("costs");
    const { say, stop: stopSaying } = layOut(root, {
      stage: element("div", {}, chart.node, answers.list),
      hands: [element("div", { class: "first" }, choices.networks, batch)],
      more: [choices.numbers, element("div", { class: "sizes" }, ...others), speeds.group, table.node],
      about: "Other sizes, other numbers, another machine",
    });

    function draw() {
      const bill = computeBill(form.get);
      chart.show(bill);
      table.show(bill);
      answers.show(bill);
      setAttributes(root, {
        "data-parameters": bill.parameters,
        "data-u-hat": bill.uHat,
        "data-buffer": bill.buffer,
        "data-milliseconds": (1000 * bill.seconds).toFixed(4),
      });
      for (const each of [sizes, choices, speeds]) each.show(bill);
      say(remarkOn(bill.stages, bill.times, bill.seconds), answers.spoken());
    }
    const schedule = oncePerFrame(draw);
    const traits = [...sizes.traits, ...speeds.traits, "preset", "number_bytes"];
    const stopListening = listen(model, Object.fromEntries(traits.map((trait) => [trait, schedule])));
    draw();
    return [stopListening, schedule.cancel, stopSaying];
  });
}

/** All that the widget shows of the model's sizes and of a machine's speeds; `get(trait)` gives them. */
function computeBill(get) {
  const bytes = get("number_bytes");
  const cost = costs({
    preset: get("preset"),
    batch: get("batch"),
    types: get("primary_types"),
    inDim: get("in_dim"),
    outCapsules: get("out_capsules"),
    outDim: get("out_dim"),
    rounds: get("iterations"),
    bytes,
  });
  const peakOf = (stage) => (bytes === 2 && stage !== "without" ? get("half_peak") : get("peak"));
  const entries = Object.entries(cost.stages);
  const times = Object.fromEntries(
    entries.map(([stage, each]) => [stage, leastTime(each, peakOf(stage), get("bandwidth"))]),
  );
  const { convolutions, without, decoder } = cost.stages;
  return {
    ...cost,
    times,
    seconds: times.convolutions.seconds + times.without.seconds + times.decoder.seconds,
    parameters: convolutions.parameters + without.parameters + decoder.parameters,
  };
}

// ------------------------------------------------------------------------------------------------ sizes

function makeSizes({ get, set, changed }) {
  const plain = { of: (at) => at, at: (value) => value };
  const doubled = { of: (at) => BATCHES[at], at: (value) => Math.log2(value) };
  const sliders = [
    makeSlider("batch", "B", "images at once", [0, BATCHES.length - 1], { scale: doubled }),
    makeSlider("primary_types", "I", "capsules below", [1, 64]),
    makeSlider("in_dim", "Dᵢₙ", "numbers in each", [2, 32], { label: "D in, numbers in each capsule below" }),
    makeSlider("out_capsules", "J", "capsules above", [1, 100]),
    makeSlider("out_dim", "Dₒᵤₜ", "numbers in each", [2, 64], { label: "D out, numbers in each capsule above" }),
    makeSlider("iterations", "R", "rounds of routing", [1, 10]),
  ];
  function makeSlider(trait, symbol, meaning, [min, max], { scale = plain, label = `${symbol}, ${meaning}` } = {}) {
    const { input, show } = rangeInput({
      min,
      max,
      "data-role": trait,
      "aria-label": label,
      oninput: () => set(trait, scale.of(input.valueAsNumber)),
      onchange: changed,
    });
    const value = element("output", { "aria-hidden": "true" });
    const caption = [element("span", { class: "number" }, symbol), element("span", { class: "name" }, meaning), value];
    const row = element("div", { class: "slider" }, element("div", { class: "caption" }, ...caption), input);
    const refresh = ({ inCapsules, grid }) => {
      const now = get(trait);
      const below = trait === "primary_types";
      value.textContent = String(below ? inCapsules : now);
      const places = ` types on ${grid} times ${grid} places`;
      show(scale.at(now), below ? `${inCapsules}: ${now}${places}` : String(now));
    };
    return { trait, row, refresh };
  }
  const show = (bill) => sliders.forEach(({ refresh }) => refresh(bill));
  return { rows: sliders.map(({ row }) => row), show, traits: sliders.map(({ trait }) => trait) };
}

/** Which network, and how many bytes a number has. */
function makeChoices({ get, set, changed }) {
  const choice = (trait, value, text) => {
    const onclick = () => {
      set(trait, value);
      if (trait === "preset") set("primary_types", PRESETS[value].types);
      changed();
    };
    return element("button", { type: "button", "data-role": trait, "data-value": value, onclick }, text);
  };
  const networks = [choice("preset", "paper", "the paper’s"), choice("preset", "small", "the small one")];
  const numbers = [choice("number_bytes", 4, "float32"), choice("number_bytes", 2, "bfloat16")];
  const group = (label, buttons) => {
    const attributes = { class: "choice", role: "group", "aria-label": label };
    return element("div", attributes, element("span", {}, label), ...buttons);
  };
  const show = () => {
    for (const button of [...networks, ...numbers]) {
      const on = String(get(button.dataset.role)) === button.dataset.value;
      button.setAttribute("aria-pressed", String(on));
      button.classList.toggle("on", on);
    }
  };
  return { networks: group("network", networks), numbers: group("numbers", numbers), show };
}

/** The machine. */
function makeSpeeds({ get, set, changed }) {
  const speed = (trait, text, most) => {
    const input = element("input", {
      type: "number",
      min: 0.1,
      step: "any",
      "data-role": trait,
      inputmode: "decimal",
      oninput: () => {
        const wrong = !(input.valueAsNumber >= 0.1 && input.valueAsNumber <= most);
        input.setAttribute("aria-invalid", String(wrong));
        if (!wrong) set(trait, input.valueAsNumber);
      },
      onchange: changed,
    });
    return { trait, input, row: element("label", {}, element("span", {}, text), input) };
  };
  const speeds = [
    speed("peak", "float32, GFLOP/s", 1e7),
    speed("half_peak", "bfloat16, GFLOP/s", 1e7),
    speed("bandwidth", "memory, GB/s", 1e5),
  ];
  const attributes = { class: "speeds", role: "group", "aria-label": "The machine" };
  const group = element("div", attributes, ...speeds.map(({ row }) => row));
  const show = () => {
    for (const { trait, input } of speeds) if (input !== document.activeElement) input.value = get(trait);
  };
  return { group, show, traits: speeds.map(({ trait }) => trait) };
}

// ---------------------------------------------------------------------------------------------- answers

function makeAnswers() {
  const names = {
    parameters: "parameters",
    "u-hat": "all û take",
    buffer: "the buffer instead takes",
    time: "least time for all",
  };
  const values = Object.fromEntries(Object.keys(names).map((role) => [role, element("dd", { "data-role": role })]));
  const entries = Object.entries(names).map(([role, text]) =>
    element("div", {}, element("dt", {}, text), values[role]),
  );
  const list = element("dl", { class: "numbers" }, ...entries);
  const show = ({ parameters, uHat, buffer, seconds }) => {
    values.parameters.textContent = parameters.toLocaleString("en");
    values["u-hat"].textContent = memory(uHat);
    values.buffer.textContent = buffer ? memory(buffer) : "nothing";
    values.time.textContent = `${short(1000 * seconds)} ms`;
  };
  const spoken = () => {
    const [uHat, buffer, time] = ["u-hat", "buffer", "time"].map((role) => values[role].textContent);
    return `${uHat} of û, or ${buffer}; at least ${time}`;
  };
  return { list, show, spoken };
}

const PARTS = {
  convolutions: "convolutions",
  withUHat: "routing with û",
  without: "routing without û",
  decoder: "decoder",
};

/** A bar for each part of the network: the least time that it takes. */
function makeChart() {
  const rows = Object.entries(PARTS).map(([stage, name]) => {
    const fill = element("span", { class: "fill" });
    const value = element("span", { class: "value" });
    const bar = element("span", { class: "rail" }, fill);
    return { stage, fill, value, row: element("li", { "data-part": stage }, element("span", {}, name), bar, value) };
  });
  const label = "The least time that each part takes in a forward pass";
  const list = element("ol", { class: "times", "aria-label": label }, ...rows.map(({ row }) => row));
  const show = ({ times }) => {
    const longest = Math.max(...Object.values(times).map(({ seconds }) => seconds));
    for (const { stage, fill, value } of rows) {
      const { seconds, limit } = times[stage];
      fill.style.width = `${(100 * seconds) / longest}%`;
      value.textContent = `${short(1000 * seconds)} ms, by ${limit}`;
    }
  };
  return { node: list, show };
}

/** The table of what each part of the network takes. */
function makeTable() {
  const heads = ["forward", "GFLOP", "MB moved", "ms, at least", "limit"];
  const rows = Object.entries(PARTS).map(([stage, name]) => {
    const cells = Array.from({ length: 4 }, () => element("td"));
    return {
      stage,
      row: element("tr", { "data-stage": stage }, element("th", { scope: "row" }, name), ...cells),
      cells,
    };
  });
  const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)));
  const body = element("tbody", {}, ...rows.map(({ row }) => row));
  const table = element("table", { class: "stages" }, element("thead", {}, head), body);
  const show = ({ stages, times }) => {
    for (const { stage, cells } of rows) {
      const { seconds, limit } = times[stage];
      const texts = [short(stages[stage].flops / 1e9), short(stages[stage].bytes / 1e6), short(1000 * seconds), limit];
      for (const [k, cell] of cells.entries()) cell.textContent = texts[k];
    }
  };
  return { node: table, show };
}

export default { render };
