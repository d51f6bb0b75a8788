// A scene of parts to turn; two networks vote, and the votes stay together or fall apart.
import { drag, rangeInput } from "./shared/controls.js";
import { defineWidget } from "./shared/stage.js";
import { element, pushButton, setAttributes, svg } from "./shared/ui.js";
import { OWN, read, remarkOn, shownNumbers, turned, WHOLES } from "./turn_scene_model.js";

const HALF = 100; // the pictures show -HALF … HALF
const UNIT = 31; // of the scene: parts lie within three of the plane's units
const REACH = 80; // so far from the middle lies the farthest vote when nothing is turned
// The five parts in their own axes; each shows where its front is.
const SHAPES = [
  "M-8 -6L9 0L-8 6Z",
  "M-7 -7H3L8 0L3 7H-7Z",
  "M-8 -3H2V-7L9 0L2 7V3H-8Z",
  "M-8 -7H-3V3H8V7H-8Z",
  "M-7 0A7 7 0 0 1 7 0L10 0L4 6L-2 0L1 0A3 3 0 0 0 -7 0Z",
];
const KINDS = { matrices: "Matrices: M W", vectors: "Vectors: W u" };

function makeScene() {
  const field = svg("g", {});
  const picture = svg(
    "svg",
    { viewBox: `${-HALF} ${-HALF} ${2 * HALF} ${2 * HALF}`, class: "plane", role: "img", "data-role": "scene" },
    svg("circle", { class: "disc", r: HALF - 1 }),
    field,
  );
  function show(parts, degrees) {
    field.replaceChildren(
      ...parts.map(([angle, x, y, type], i) =>
        svg("path", {
          class: i < OWN ? "own" : "other",
          d: SHAPES[type],
          transform: `translate(${x * UNIT} ${-y * UNIT}) rotate(${(-angle * 180) / Math.PI})`,
        }),
      ),
    );
    const besides = parts.length > OWN ? ` and ${parts.length - OWN} others` : "";
    picture.setAttribute("aria-label", `Five parts of a whole${besides}, turned by ${degrees} degrees`);
  }
  return { picture, show };
}

/** The votes for the whole that is there, and the ten lengths. */
function makePanel(kind) {
  const dots = svg("g", {});
  const bars = Array.from({ length: WHOLES }, (_, j) =>
    svg("rect", { class: "length", x: -HALF + 10 + j * 18, width: 14 }),
  );
  const picture = svg(
    "svg",
    { viewBox: `${-HALF} ${-HALF} ${2 * HALF} ${2 * HALF}`, class: "plane", role: "img", "data-role": kind },
    svg("path", { class: "axis", d: `M${-HALF} 0H${HALF}M0 ${-HALF}V${HALF}` }),
    dots,
  );
  const names = bars.map((_, j) => svg("text", { class: "class-number", x: -HALF + 17 + j * 18, y: 54 }, String(j)));
  const view = `${-HALF} 0 ${2 * HALF} 58`;
  const lengths = svg("svg", { viewBox: view, class: "lengths-row", role: "img" }, ...bars, ...names);
  const panel = element(
    "figure",
    { class: "votes" },
    element("p", { class: "heading" }, KINDS[kind]),
    picture,
    lengths,
  );

  /** numbers: which two of a vote are shown; scale: from them to the picture. */
  function show({ u_hat, c, lengths: long, answer, D }, whole, numbers, scale) {
    const at = (i) => numbers.map((d) => u_hat[(i * WHOLES + whole) * D + d] * scale);
    const count = c.length / WHOLES;
    dots.replaceChildren(
      ...Array.from({ length: count }, (_, k) => count - 1 - k).map((i) => {
        const [x, y] = at(i);
        const share = c[i * WHOLES + whole];
        return svg("circle", { class: i < OWN ? "own" : "other", cx: x, cy: -y, r: 3 + 5 * Math.sqrt(share) });
      }),
    );
    bars.forEach((bar, j) => {
      names[j].classList.toggle("right", j === whole);
      setAttributes(bar, { y: 40 - 40 * long[j], height: Math.max(1, 40 * long[j]) });
      bar.classList.toggle("right", j === whole);
      bar.classList.toggle("wrong", j === answer && j !== whole);
    });
    const right = answer === whole ? "knows the whole" : "takes it for another";
    picture.setAttribute("aria-label", `Votes of ${kind} for the whole; the network ${right}`);
    lengths.setAttribute("aria-label", `Lengths of the ten capsules: ${long.map((x) => x.toFixed(2)).join(", ")}`);
  }
  return { panel, show };
}

const LABEL = "Turn a scene of parts and watch their votes";

export default defineWidget("TurnScene", LABEL, ({ root, get, set, layOut }) => {
  const [scenes, weights] = [get("scenes"), get("weights")];
  const scene = makeScene();
  const panels = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, makePanel(kind)]));
  const makeSlider = (trait, name, limits) => {
    const about = { "aria-label": name, "data-role": trait, oninput: () => set({ [trait]: input.valueAsNumber }) };
    const { input, show } = rangeInput({ ...limits, ...about });
    const value = element("output");
    const row = element("label", { class: "slider" }, element("span", { class: "caption" }, name, value), input);
    const write = (x, text) => {
      value.textContent = text;
      show(x, text);
    };
    return { input, row, show: write };
  };
  const turn = makeSlider("angle", "Turn the scene", { min: -180, max: 180, zero: 0, reset: () => set({ angle: 0 }) });
  const clutter = makeSlider("clutter", "Parts of no whole", { min: 0, max: 12 });
  const another = pushButton("next", "Another whole", () => set({ whole: (get("whole") + 1) % WHOLES }));
  const rounds = [1, 3].map((count) =>
    pushButton(`rounds-${count}`, count === 1 ? "One round" : "Three rounds", () => set({ rounds: count })),
  );
  const group = element("div", { role: "group", "aria-label": "Rounds of routing", class: "bar presets" }, ...rounds);
  const heading = element("p", { class: "heading" }, "The scene");
  const figures = [element("figure", { class: "votes" }, heading, scene.picture), panels.matrices.panel];
  const { say } = layOut({
    stage: element("div", { class: "turn-scene" }, ...figures, panels.vectors.panel),
    hands: [turn.row, clutter.row, element("div", { class: "bar presets" }, another, group)],
  });

  // The scene itself can be taken hold of.
  let from = 0;
  const angleAt = ({ x, y }) => (Math.atan2(0.5 - y, x - 0.5) * 180) / Math.PI;
  drag(scene.picture, {
    focus: turn.input,
    start: (at) => (from = get("angle") - angleAt(at)),
    move: (at) => {
      const to = Math.round(from + angleAt(at));
      set({ angle: to - 360 * Math.round(to / 360) });
    },
  });

  return () => {
    const [whole, angle, others, count] = ["whole", "angle", "clutter", "rounds"].map(get);
    const upright = scenes[whole].slice(0, OWN + others);
    const parts = turned(upright, angle);
    const readings = Object.fromEntries(
      Object.keys(KINDS).map((kind) => {
        const still = read(kind, weights[kind], upright.slice(0, OWN), 1);
        const numbers = shownNumbers(kind, still, whole);
        const size = (i) => Math.hypot(...numbers.map((d) => still.u_hat[(i * WHOLES + whole) * still.D + d]));
        const reading = read(kind, weights[kind], parts, count);
        panels[kind].show(reading, whole, numbers, REACH / Math.max(...[...Array(OWN).keys()].map(size)));
        return [kind, reading];
      }),
    );
    scene.show(parts, angle);
    turn.show(angle, `${angle}°`);
    clutter.show(others, String(others));
    rounds.forEach((button, k) => button.setAttribute("aria-pressed", String(count === [1, 3][k])));
    root.dataset.lengths = readings.vectors.lengths.map((x) => x.toFixed(3)).join(",");
    say(remarkOn(readings.matrices, readings.vectors, whole, angle));
  };
});
