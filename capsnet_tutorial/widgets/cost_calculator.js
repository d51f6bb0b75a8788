// Sizes in; parameters, operations, bytes and the least time out, for routing with û and without.
import { clamp, element, listen, makeAnnouncer, makeRoot, mount, oncePerFrame, setAttributes } from "./shared/ui.js";

const CACHE_BYTES = 8 * 2 ** 20; // implicit.CACHE_BYTES: what the buffer of routing without û may take
const IMAGE = 28;
const PRESETS = {
  paper: { channels: 256, kernel: 9, stride: 1, primaryKernel: 9, types: 32, hidden: [512, 1024] },
  small: { channels: 64, kernel: 9, stride: 2, primaryKernel: 5, types: 8, hidden: [128, 256] },
};
const BATCHES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/**
 * What a forward pass costs. Operations are those of matrix products and convolutions, two for a multiplication and an
 * addition; bytes are what has to come from memory and go there if each product reads its inputs and writes its result once.
 * sizes: { preset, batch, types, inDim, outCapsules, outDim, rounds, bytes }
 * -> { grid, inCapsules, uHat, buffer, stages: { convolutions, withUHat, without, decoder } of { parameters, flops, bytes } }
 */
export function costs({ preset, batch, types, inDim, outCapsules, outDim, rounds, bytes }) {
  const { channels, kernel, stride, primaryKernel, hidden } = PRESETS[preset];
  const side = Math.floor((IMAGE - kernel) / stride) + 1;
  const grid = Math.floor((side - primaryKernel) / 2) + 1;
  const inCapsules = types * grid ** 2;

  const weights = [channels * kernel ** 2, types * inDim * channels * primaryKernel ** 2];
  const maps = [IMAGE ** 2, channels * side ** 2, inCapsules * inDim]; // numbers an image
  const convolutions = {
    parameters: weights[0] + channels + weights[1] + types * inDim,
    flops: 2 * batch * (side ** 2 * weights[0] + grid ** 2 * weights[1]),
    bytes: bytes * (batch * (maps[0] + 2 * maps[1] + maps[2]) + weights[0] + weights[1]),
  };

  const matrices = inCapsules * outCapsules * inDim * outDim;
  const u = batch * inCapsules * inDim;
  const predictions = batch * inCapsules * outCapsules * outDim; // û
  const pairs = batch * inCapsules * outCapsules; // c, or the agreement
  const outputs = batch * outCapsules * outDim; // s, or v
  const products = 2 * rounds - 1; // a weighted sum every round, an agreement after all but the last
  const withUHat = {
    parameters: matrices,
    flops: 2 * predictions * inDim + products * 2 * predictions,
    bytes: bytes * (u + matrices + predictions + products * (predictions + pairs + outputs)),
  };
  const without = { // the first sum has even couplings: one product, and no c to read; float32 throughout
    parameters: matrices,
    flops: products * 2 * predictions * inDim,
    bytes: 4 * (products * (u + matrices + outputs) + (products - 1) * pairs),
  };
  const atOnce = clamp(Math.floor(CACHE_BYTES / (4 * u)), 1, outCapsules);

  const widths = [outCapsules * outDim, ...hidden, IMAGE ** 2];
  const decoder = { parameters: 0, flops: 0, bytes: 0 };
  for (let k = 1; k < widths.length; k++) {
    decoder.parameters += (widths[k - 1] + 1) * widths[k];
    decoder.flops += 2 * batch * widths[k - 1] * widths[k];
    decoder.bytes += bytes * (batch * (widths[k - 1] + widths[k]) + widths[k - 1] * widths[k]);
  }
  return { grid, inCapsules, uHat: bytes * predictions, buffer: rounds > 1 ? 4 * u * atOnce : 0, stages: { convolutions, withUHat, without, decoder } };
}

/** The roofline: seconds that a stage takes at least, and which of the two is the limit. peak in GFLOP/s, bandwidth in GB/s */
export function leastTime({ flops, bytes }, peak, bandwidth) {
  const [arithmetic, memory] = [flops / (1e9 * peak), bytes / (1e9 * bandwidth)];
  return { seconds: Math.max(arithmetic, memory), limit: arithmetic >= memory ? "arithmetic" : "memory" };
}

function render({ model, el }) {
  const root = makeRoot("CostCalculator", "What a capsule network costs, by its sizes");
  return mount(el, root, () => {
    const announce = makeAnnouncer(root);
    const get = (trait) => model.get(trait);
    const set = (trait, value) => {
      model.set(trait, value);
      schedule();
    };

    // ------------------------------------------------------------------------------------------- sizes
    const plain = { of: (at) => at, at: (value) => value };
    const sliders = [
      makeSlider("batch", "B", "images at once", 0, BATCHES.length - 1, { of: (at) => BATCHES[at], at: (value) => Math.log2(value) }),
      makeSlider("primary_types", "I", "capsules below", 1, 64, plain),
      makeSlider("in_dim", "Dᵢₙ", "numbers in each", 2, 32, plain, "D in, numbers in each capsule below"),
      makeSlider("out_capsules", "J", "capsules above", 1, 100, plain),
      makeSlider("out_dim", "Dₒᵤₜ", "numbers in each", 2, 64, plain, "D out, numbers in each capsule above"),
      makeSlider("iterations", "R", "rounds of routing", 1, 10, plain),
    ];
    function makeSlider(trait, symbol, meaning, min, max, scale, label = `${symbol}, ${meaning}`) {
      const input = element("input", {
        type: "range", min, max, step: 1, "data-role": trait, "aria-label": label,
        oninput: () => set(trait, scale.of(input.valueAsNumber)),
        onchange: changed,
      });
      input.style.setProperty("--zero", "0%");
      const value = element("output", { "aria-hidden": "true" });
      const row = element("div", { class: "slider" },
        element("div", { class: "caption" }, element("span", { class: "number" }, symbol), element("span", { class: "name" }, meaning), value), input);
      return { trait, row, input, value, min, max, scale };
    }

    const choice = (trait, value, text) => element("button", {
      type: "button", "data-role": trait, "data-value": value,
      onclick: () => {
        set(trait, value);
        if (trait === "preset") set("primary_types", PRESETS[value].types);
        changed();
      },
    }, text);
    const choices = [
      choice("preset", "paper", "the paper’s"), choice("preset", "small", "the small one"),
      choice("number_bytes", 4, "float32"), choice("number_bytes", 2, "bfloat16"),
    ];
    const group = (label, ...buttons) => element("div", { class: "choice", role: "group", "aria-label": label }, element("span", {}, label), ...buttons);

    // ----------------------------------------------------------------------------------------- machine
    const speeds = [
      makeSpeed("peak", "float32, GFLOP/s"), makeSpeed("half_peak", "bfloat16, GFLOP/s"), makeSpeed("bandwidth", "memory, GB/s"),
    ];
    function makeSpeed(trait, text) {
      const input = element("input", {
        type: "number", min: 0.1, step: "any", "data-role": trait, inputmode: "decimal",
        oninput: () => {
          const wrong = !(input.valueAsNumber >= 0.1 && input.valueAsNumber <= (trait === "bandwidth" ? 1e5 : 1e7));
          input.setAttribute("aria-invalid", wrong);
          if (!wrong) set(trait, input.valueAsNumber);
        },
        onchange: changed,
      });
      return { trait, input, row: element("label", {}, element("span", {}, text), input) };
    }

    // ----------------------------------------------------------------------------------------- answers
    const answers = { parameters: "parameters", "u-hat": "all û take", buffer: "the buffer instead takes", time: "least time for all" };
    const shown = Object.fromEntries(Object.keys(answers).map((role) => [role, element("dd", { "data-role": role })]));
    const list = element("dl", { class: "numbers" }, ...Object.entries(answers).map(([role, text]) => element("div", {}, element("dt", {}, text), shown[role])));
    const names = { convolutions: "convolutions", withUHat: "routing with û", without: "routing without û", decoder: "decoder" };
    const rows = Object.fromEntries(Object.entries(names).map(([stage, name]) => {
      const [flops, bytes, time, limit] = Array.from({ length: 4 }, () => element("td"));
      const fill = element("span", { class: "fill" });
      const row = element("tr", { "data-stage": stage }, element("th", { scope: "row" }, name, element("span", { class: "rail", "aria-hidden": "true" }, fill)), flops, bytes, time, limit);
      return [stage, { row, fill, flops, bytes, time, limit }];
    }));
    const table = element("table", { class: "stages" },
      element("thead", {}, element("tr", {}, ...["forward", "GFLOP", "MB moved", "ms, at least", "limit"].map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, ...Object.values(rows).map(({ row }) => row)));
    const remark = element("p", { class: "remark", "data-role": "remark" });

    root.append(element("div", { class: "costs" },
      element("div", { class: "choices" }, group("network", choices[0], choices[1]), group("numbers", choices[2], choices[3])),
      element("div", { class: "sizes" }, ...sliders.map(({ row }) => row)),
      element("div", { class: "speeds", role: "group", "aria-label": "The machine" }, ...speeds.map(({ row }) => row)),
      list, table, remark));

    function changed() {
      model.save_changes();
      announce(`${shown["u-hat"].textContent} of û, or ${shown.buffer.textContent}; at least ${shown.time.textContent}`);
    }

    // ----------------------------------------------------------------------------------------- drawing
    function draw() {
      const bytes = get("number_bytes");
      const { grid, inCapsules, uHat, buffer, stages } = costs({
        preset: get("preset"), batch: get("batch"), types: get("primary_types"), inDim: get("in_dim"),
        outCapsules: get("out_capsules"), outDim: get("out_dim"), rounds: get("iterations"), bytes,
      });
      const peakOf = (stage) => (bytes === 2 && stage !== "without" ? get("half_peak") : get("peak"));
      const times = Object.fromEntries(Object.entries(stages).map(([stage, cost]) => [stage, leastTime(cost, peakOf(stage), get("bandwidth"))]));
      const longest = Math.max(...Object.values(times).map(({ seconds }) => seconds));
      for (const [stage, { flops, bytes: moved, time, limit, fill }] of Object.entries(rows)) {
        flops.textContent = short(stages[stage].flops / 1e9);
        moved.textContent = short(stages[stage].bytes / 1e6);
        time.textContent = short(1000 * times[stage].seconds);
        limit.textContent = times[stage].limit;
        fill.style.width = `${(100 * times[stage].seconds) / longest}%`;
      }
      const { convolutions, without, decoder } = stages;
      const seconds = times.convolutions.seconds + times.without.seconds + times.decoder.seconds;
      const parameters = convolutions.parameters + without.parameters + decoder.parameters;
      shown.parameters.textContent = parameters.toLocaleString("en");
      shown["u-hat"].textContent = memory(uHat);
      shown.buffer.textContent = buffer ? memory(buffer) : "nothing";
      shown.time.textContent = `${short(1000 * seconds)} ms`;
      setAttributes(root, { "data-parameters": parameters, "data-u-hat": uHat, "data-buffer": buffer, "data-milliseconds": (1000 * seconds).toFixed(4) });

      for (const { trait, input, value, min, max, scale } of sliders) {
        const at = scale.at(get(trait));
        const text = String(trait === "primary_types" ? inCapsules : get(trait));
        input.valueAsNumber = at;
        input.style.setProperty("--at", `${(100 * (at - min)) / (max - min)}%`);
        input.setAttribute("aria-valuetext", trait === "primary_types" ? `${text}: ${get(trait)} types on ${grid} times ${grid} places` : text);
        value.textContent = text;
      }
      for (const button of choices) {
        const on = String(get(button.dataset.role)) === button.dataset.value;
        button.setAttribute("aria-pressed", on);
        button.classList.toggle("on", on);
      }
      for (const { trait, input } of speeds) {
        if (input !== document.activeElement) input.value = get(trait);
      }
      remark.textContent = remarkOn(stages, times, seconds);
    }
    const schedule = oncePerFrame(draw);
    const traits = [...sliders, ...speeds].map(({ trait }) => trait).concat("preset", "number_bytes");
    const stopListening = listen(model, Object.fromEntries(traits.map((trait) => [trait, schedule])));
    draw();
    return [stopListening, schedule.cancel, announce.cancel];
  });
}

/** What the numbers mean: who takes the time, and what leaving û out changes. */
function remarkOn({ withUHat, without }, times, seconds) {
  const share = Math.round((100 * times.convolutions.seconds) / seconds);
  const more = without.flops / withUHat.flops;
  const work = Math.abs(more - 1) < 0.05 ? "as much arithmetic as" : `${short(more)} times the arithmetic of`;
  return `Without û there is ${work} routing with it, and ${memory(without.bytes)} to move instead of ${memory(withUHat.bytes)}. The convolutions take ${share} % of the least time. No program reaches it: operations wait for each other, and squash and softmax are not counted.`;
}

/** Three digits that count. */
function short(x) {
  if (x >= 100) return Math.round(x).toLocaleString("en");
  return x >= 10 ? x.toFixed(1) : x >= 0.01 || x === 0 ? x.toFixed(2) : x.toPrecision(1);
}

const memory = (bytes) => (bytes >= 1e9 ? `${short(bytes / 1e9)} GB` : `${short(bytes / 1e6)} MB`);

export default { render };
