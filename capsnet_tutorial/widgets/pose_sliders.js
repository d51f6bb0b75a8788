// Sixteen sliders that bend a digit. The network reads the digit once; each move of a slider runs the decoder.
import { makeNetwork } from "./shared/core.js";
import { bytesOf, digitAt, digitCanvas, element, format, listen, makeAnnouncer, makePainter, makeRoot, mount, oncePerFrame, setAttributes, sharedWeights, thumbnail, whenThemeChanges } from "./shared/ui.js";


function render({ model, el, host }) {
  const root = makeRoot("PoseSliders", "Bend a digit: sixteen sliders move the numbers of its capsule");
  return mount(el, root, async () => {
    const network = makeNetwork(await sharedWeights(model, host));
    const images = Float32Array.from(bytesOf(model.get("images")), (grey) => grey / 255); // [N, 784]
    const labels = model.get("labels");
    const ranges = model.get("ranges");
    const D = network.D_out;

    // What is shown: a digit, its capsule as the network saw it, and what the sliders add to that.
    let index = model.get("index");
    let offsets = Float64Array.from(model.get("offsets"));
    let capsules; // [J, D], zero but for the label's capsule

    // ----------------------------------------------------------------------------------- elements
    const original = digitCanvas("original", "");
    const redrawn = digitCanvas("redrawn", "The digit redrawn from the 16 numbers");
    const caption = element("figcaption");
    const counter = element("span", { class: "counter" });
    const step = (role, text, sign, by) =>
      element("button", { type: "button", class: "step", "data-role": role, "aria-label": text, onclick: () => choose(index + by) }, sign);
    const previous = step("previous", "Previous digit", "‹", -1);
    const next = step("next", "Next digit", "›", +1);
    const reset = element("button", { type: "button", "data-role": "reset", onclick: () => setOffsets(new Float64Array(D)) }, "Reset");
    const sliders = ranges.map(([low, high], d) => makeSlider(d, low, high));
    const stepper = element("div", { class: "stepper" }, previous, counter, next);

    root.append(
      element("div", { class: "poses" },
        element("div", { class: "stage" },
          element("div", { class: "pair" },
            element("figure", {}, original, caption),
            element("figure", { class: "result" }, redrawn, element("figcaption", {}, "drawn from 16 numbers"))),
          element("div", { class: "bar" }, stepper, reset)),
        element("div", { class: "sliders" }, ...sliders.map((slider) => slider.row))),
    );
    const announce = makeAnnouncer(root);
    const { paint, refresh } = makePainter(root);

    /** One dimension: what it draws at its low end, the slider, what it draws at its high end. */
    function makeSlider(d, low, high) {
      const input = element("input", {
        type: "range", min: low, max: high, step: 0.01, value: 0, "data-dimension": d,
        oninput: () => {
          offsets[d] = input.valueAsNumber;
          model.set("offsets", Array.from(offsets));
          schedule();
        },
        onchange: () => model.save_changes(),
        ondblclick: () => setOffset(d, 0),
      });
      const end = (value, side) => {
        const canvas = thumbnail({ class: `end ${side}` });
        canvas.addEventListener("click", () => setOffset(d, value));
        return canvas;
      };
      const ends = [end(low, "low"), end(high, "high")];
      const name = element("span", { class: "name" });
      const value = element("output", { "aria-hidden": "true" });
      const row = element("div", { class: "slider" },
        element("div", { class: "caption" }, element("span", { class: "number" }, String(d + 1)), name, value),
        element("div", { class: "track" }, ends[0], input, ends[1]));
      input.style.setProperty("--zero", `${(-low / (high - low)) * 100}%`);
      return { row, input, name, value, ends, low, high };
    }

    // ------------------------------------------------------------------------------------- actions
    function choose(to) {
      index = (to + labels.length) % labels.length;
      offsets = new Float64Array(D);
      model.set("index", index);
      model.set("offsets", Array.from(offsets));
      model.save_changes();
      showDigit();
    }

    function setOffset(d, value) {
      const moved = offsets.slice();
      moved[d] = value;
      setOffsets(moved);
    }

    function setOffsets(values) {
      offsets = values;
      model.set("offsets", Array.from(offsets));
      model.save_changes();
      schedule();
    }

    // ------------------------------------------------------------------------------------- drawing
    const drawn = (d, offset) => { // the picture with dimension d moved
      const moved = capsules.slice();
      moved[labels[index] * D + d] += offset;
      return network.decode(moved);
    };

    function draw() {
      const moved = capsules.slice();
      for (let d = 0; d < D; d++) moved[labels[index] * D + d] += offsets[d];
      paint(redrawn, network.decode(moved));
      sliders.forEach(({ input, value, low, high }, d) => {
        input.valueAsNumber = offsets[d];
        input.style.setProperty("--at", `${((offsets[d] - low) / (high - low)) * 100}%`);
        setAttributes(input, { "aria-valuetext": format(offsets[d], 2, true) });
        value.textContent = format(offsets[d], 2, true);
        value.classList.toggle("moved", offsets[d] !== 0);
      });
    }
    const schedule = oncePerFrame(draw);

    /** A new digit: the network reads it, and its 16 numbers become the middle of the sliders. */
    function showDigit() {
      const image = digitAt(images, index);
      const label = labels[index];
      capsules = network.mask(network.forward(image).capsules, label);
      paint(original, image);
      caption.textContent = `${label === 8 ? "an" : "a"} ${label}, as written`;
      setAttributes(original, { "aria-label": `The digit as it was written: ${label}` });
      counter.textContent = `${index + 1} of ${labels.length}`;
      root.dataset.index = index;
      root.dataset.label = label;
      stepper.hidden = labels.length === 1;
      const names = model.get("names")[label];
      sliders.forEach(({ input, name, ends, low, high }, d) => {
        const text = names ? names[d] : "";
        name.textContent = name.title = text;
        setAttributes(input, { "aria-label": text ? `Dimension ${d + 1}, ${text}` : `Dimension ${d + 1}` });
        paint(ends[0], drawn(d, low));
        paint(ends[1], drawn(d, high));
      });
      draw();
      announce(`Digit ${index + 1} of ${labels.length}: ${label}`);
    }

    const stopListening = listen(model, {
      index: () => {
        if (model.get("index") === index) return;
        index = model.get("index");
        showDigit();
      },
      offsets: () => {
        offsets = Float64Array.from(model.get("offsets"));
        schedule();
      },
    });
    const stopWatching = whenThemeChanges(() => {
      refresh();
      showDigit();
    });
    showDigit();
    return [stopListening, stopWatching, schedule.cancel, announce.cancel];
  });
}

export default { render };
