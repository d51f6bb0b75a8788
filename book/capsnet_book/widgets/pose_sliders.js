// Sixteen sliders that bend a digit: one large, the one that changes the drawing most, and fifteen more. The network
// reads the digit once; each move of a slider runs the decoder.
import { rangeInput } from "./shared/controls.js";
import { asWritten, digitAt, digitFigure, digitRow, greysOf, thumbnail } from "./shared/digits.js";
import { defineWidget } from "./shared/stage.js";
import { element, format, memoized, pushButton, rowOf } from "./shared/ui.js";

const REACH = 0.25; // so far the paper moves each number

/** Capsules [J, D] with numbers [D] added to that of class `j`. @param {Float32Array} capsules */
export function withOffsets(capsules, j, offsets) {
  const moved = capsules.slice();
  for (let d = 0; d < offsets.length; d++) moved[j * offsets.length + d] += offsets[d];
  return moved;
}

/** How many pixels differ by more than a tenth of full ink. */
const pixelsChanged = (/** @type {Float32Array} */ p, /** @type {Float32Array} */ q) =>
  p.reduce((count, grey, k) => count + Number(Math.abs(grey - q[k]) > 0.1), 0);

/** One of the numbers: what it draws at its low end, the slider, what it draws at its high end. */
function makeSlider(d, set) {
  const oninput = () => set(input.valueAsNumber);
  const limits = { min: -REACH, max: REACH, step: 0.01 };
  const { input, show } = rangeInput({ ...limits, "data-dimension": d, oninput });
  const ends = [-REACH, REACH].map((offset) =>
    thumbnail({ class: "end", onclick: () => set(offset) }),
  );
  const name = element("span", { class: "name" });
  const value = element("output", { "aria-hidden": "true" });
  const caption = element(
    "div",
    { class: "caption" },
    element("b", {}, `number ${d + 1}`),
    name,
    value,
  );
  const row = element(
    "div",
    { class: "slider" },
    caption,
    element("div", { class: "track" }, ends[0], input, ends[1]),
  );
  return {
    row,
    show(offset) {
      value.textContent = format(offset, 2, true);
      value.classList.toggle("moved", offset !== 0);
      show(offset, value.textContent);
    },
    /** `draw(canvas, offset)` paints what an end draws, and returns it. -> how many pixels change between the ends */
    showEnds(text, draw) {
      name.textContent = name.title = text;
      input.setAttribute("aria-label", text ? `Dimension ${d + 1}, ${text}` : `Dimension ${d + 1}`);
      return pixelsChanged(draw(ends[0], -REACH), draw(ends[1], REACH));
    },
  };
}

/** What the hand has done to the digit; changed: so many pixels. */
function inWords({ label, offsets, names, changed }) {
  const moved = offsets.flatMap((offset, d) => (offset ? [d] : []));
  if (!moved.length)
    return `Sixteen numbers, read from the ${label}, and the ${label} drawn from them again. Move one.`;
  const [d] = moved;
  const called = names?.[d] ? ` (${names[d]})` : "";
  const one = `Number ${d + 1}${called} moved by ${format(offsets[d], 2, true)}`;
  const who = moved.length > 1 ? `${moved.length} numbers moved` : one;
  return `${who}: ${changed} pixel${changed === 1 ? "" : "s"} of the ${label} changed.`;
}

const LABEL = "Bend a digit: sixteen sliders move the numbers of its capsule";

export default defineWidget(
  "PoseSliders",
  LABEL,
  async ({ root, get, set, layOut, painter, host, network: load }) => {
    const network = await load();
    const own = (await host.getModel(get("network"))).get("own"); // the reader's, in the place of what was named
    const names = () => (own ? {} : get("names"));
    const images = greysOf(get("images")); // [N, 784]
    const labels = get("labels");
    const none = new Array(network.D_out).fill(0);
    let capsules; // [J, D], zero but for the label's capsule
    let straight; // what it draws when nothing is added
    let primary = 0; // the number that changes the drawing most

    const original = digitFigure("original");
    const redrawn = digitFigure("redrawn", "result");
    const picture = element("div", { class: "bent-digit" }, redrawn.node, original.node);
    redrawn.name("drawn from 16 numbers", "The digit redrawn from the 16 numbers");
    const choose = (index) => set({ index, offsets: none });
    const digits = digitRow(labels, images, (label) => `Bend the handwritten ${label}`, choose);
    const sliders = none.map((_, d) =>
      makeSlider(d, (offset) => set({ offsets: get("offsets").with(d, offset) })),
    );
    const large = element("div", { class: "large" });
    const others = element("div", { class: "sliders" });
    const reset = rowOf(pushButton("reset", "Reset", () => choose(get("index"))));
    const { say, rest } = layOut({
      stage: picture,
      hands: [large, digits.row, reset],
      more: [others],
      about: "Fifteen more",
      beside: true,
    });
    root.dataset.sticks = "";
    rest.open = Object.keys(names()).length > 0; // who names them wants all in view

    /** A new digit: the network reads it, and its 16 numbers become the middle of the sliders. */
    const look = memoized((index) => {
      const [image, label] = [digitAt(images, index), labels[index]];
      capsules = network.mask(network.forward(image).capsules, label);
      straight = network.decode(capsules);
      painter.paint(original.canvas, image);
      original.name(...asWritten(label));
      const effects = sliders.map(({ showEnds }, d) =>
        showEnds(names()[label]?.[d] ?? "", (canvas, offset) => {
          const bent = network.decode(withOffsets(capsules, label, none.with(d, offset)));
          painter.paint(canvas, bent);
          return bent;
        }),
      );
      primary = effects.indexOf(Math.max(...effects));
      Object.assign(root.dataset, { index, label, primary });
      large.replaceChildren(sliders[primary].row);
      others.replaceChildren(...sliders.filter((_, d) => d !== primary).map(({ row }) => row));
    });

    return () => {
      const [index, offsets] = [get("index"), get("offsets")];
      const label = labels[index];
      look([index, painter.shades()], index);
      digits.show(index, painter);
      if (offsets.some((offset, d) => offset && d !== primary)) rest.open = true;
      const bent = network.decode(withOffsets(capsules, label, offsets));
      painter.paint(redrawn.canvas, bent);
      sliders.forEach(({ show }, d) => show(offsets[d]));
      say(
        inWords({ label, offsets, names: names()[label], changed: pixelsChanged(bent, straight) }),
      );
    };
  },
);
