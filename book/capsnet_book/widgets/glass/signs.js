// What is drawn over the parts of the glass network: their names, the ways between them, what is out, and what the part
// that is pointed at looks at.
import { clamp, memoized, setAttributes, svg } from "../shared/ui.js";
import { patchOf } from "./layout.js";
import { votesOf } from "./model.js";
import { lookOf } from "./votes.js";

/** @import { Box } from "./pen.js" */
/** @import { Scene } from "./paint.js" */

/** A line through points, given as x, y, x, y, … @param {number[]} xy */
const through = (...xy) => `M${xy}`;
const frameOf = (/** @type {Box} */ { x, y, w, h }) => `M${x} ${y}h${w}v${h}h${-w}z`;
const line = (kind, d) => svg("path", { class: `line ${kind}`, d });

/** The way to a part, from the left or from above. */
function arrow(role, /** @type {number[]} */ ...xy) {
  const [fromX, , x, y] = xy.slice(-4);
  const head = fromX === x ? "l-3 -6.5h6z" : "l-6.5 -3v6z";
  return [
    line(role, through(...xy)),
    svg("path", { class: `head ${role}`, d: `M${x} ${y}${head}` }),
  ];
}

/** The ways between the parts. @param {Scene} scene */
function waysOf({ plan, answer }) {
  const { image, maps, primary, classes, reconstruction: drawing } = plan.boxes;
  const middle = image.y + image.h / 2;
  const role = answer.lengths[answer.prediction] > 0 ? "accent" : "muted";
  const first = arrow("muted", image.x + image.w + 5, middle, maps.x - 5, middle);
  if (plan.high) {
    const [x, turn, to] = [maps.x + maps.w / 2, maps.y + maps.h + 16, primary.x + primary.w / 2];
    const [from, low, end] = [
      classes.x + classes.w / 2,
      classes.y + classes.h + 14,
      drawing.x + drawing.w / 2,
    ];
    const second = arrow("muted", x, turn - 12, x, turn, to, turn, to, turn + 13);
    return [
      ...first,
      ...second,
      ...arrow(role, from, low - 10, from, low, end, low, end, low + 13),
    ];
  }
  const [x, y] = [classes.x + classes.w + 3, classes.y + (answer.prediction + 0.5) * plan.row];
  const aim = clamp(y, drawing.y + 12, drawing.y + drawing.h - 12);
  const second = arrow("muted", maps.x + maps.w + 5, middle, primary.x - 5, middle);
  return [...first, ...second, ...arrow(role, x, y, x + 9, y, x + 9, aim, drawing.x - 5, aim)];
}

/** Names and shapes above the parts. @param {Scene} scene */
function namesOf({ network: { I, J, D_in, D_out, conv, config }, seen, answer, plan, lit }) {
  const size = Math.sqrt(seen.edges.length / conv.O);
  const names = {
    image: ["your digit", `${config.image_size} × ${config.image_size}`],
    maps: [`${conv.O} feature maps`, `${conv.O} × ${size} × ${size}`],
    primary: [`${I} capsules`, `${I} × ${D_in}`],
    predictions: [`${I * J} votes`, `${I} × ${J} × ${D_out}`],
    classes: [`${J} lengths`, `of ${J} × ${D_out}`],
    reconstruction: ["its drawing", `from ${D_out} numbers`],
    faders: ["", `the ${answer.prediction}’s ${D_out} numbers`],
  };
  return Object.entries(names).flatMap(([part, [name, shape]]) => {
    if (part === "faders" && plan.high) return [];
    const { x, y, w } = plan.boxes[part];
    const top = part === "faders" || plan.high ? y : plan.boxes.primary.y;
    const [at, anchor] = part === "predictions" ? [x + w / 2, "middle"] : [x, "start"];
    const about = { x: at, "text-anchor": anchor };
    return [
      svg(
        "text",
        { class: lit.includes(part) ? "part-name lit" : "part-name", y: top - 24, ...about },
        name,
      ),
      svg("text", { class: "shape", y: top - 9, ...about }, shape),
    ];
  });
}

/** What is out is an empty frame. @param {Scene} scene */
function outOf({ isKept, plan }) {
  return plan.cells.flatMap(({ x, y, w, h }, at) => {
    if (isKept({ part: "primary", at })) return [];
    const cross = `M${x + 3} ${y + h - 3}L${x + w - 3} ${y + 3}`;
    return svg("path", {
      class: "out",
      d: `${frameOf({ x: x + 1, y: y + 1, w: w - 2, h: h - 2 })}${cross}`,
    });
  });
}

/** The votes of what is pointed at. @param {Scene} scene */
function fewOf({ focus, answer, votes, plan: { ends, bend }, network: { I, J } }) {
  if (!focus) return [];
  return votesOf(focus, I, J).flatMap((k) => {
    if (!votes[k]) return [];
    const [[x0, y0], [x1, y1]] = ends(k);
    const { opacity, thick } = lookOf(answer.c.at(-1)[k], [0.35, 1.2]);
    const about = {
      "stroke-width": thick,
      opacity,
      d: `M${x0} ${y0}C${bend} ${y0} ${bend} ${y1} ${x1} ${y1}`,
    };
    return svg("path", {
      class: ["vote", k % J === answer.prediction ? "accent" : "muted"].join(" "),
      ...about,
    });
  });
}

/** What the part that is pointed at looks at. @param {Scene} scene */
function focusOf({ focus, plan, network: { I, J, D_out, config } }) {
  if (!focus) return [];
  const { image, classes, faders } = plan.boxes;
  const { part, at, place } = focus;
  if (part === "faders")
    return [
      line(
        "ink",
        frameOf({ ...faders, x: faders.x + (at * faders.w) / D_out, w: faders.w / D_out }),
      ),
    ];
  if (part === "classes")
    return [
      line("contrast", frameOf({ ...classes, y: classes.y + at * plan.row + 2, h: plan.row - 4 })),
    ];
  const i = part === "predictions" ? Math.floor(at / J) : at;
  const target = part === "maps" ? plan.square(i) : plan.cells[i];
  const patch = patchOf(part, part === "maps" ? place : i % (I / config.primary_types), config);
  const unit = image.w / config.image_size;
  const seen = {
    x: image.x + patch.x * unit,
    y: image.y + patch.y * unit,
    w: patch.w * unit,
    h: patch.h * unit,
  };
  const right = seen.x + seen.w;
  const sight =
    through(right, seen.y, target.x, target.y) +
    through(right, seen.y + seen.h, target.x, target.y + target.h);
  return [line("faint", sight), line("bold", frameOf(seen)), line("bold", frameOf(target))];
}

/** -> { node, draw(scene) } */
export function makeSigns() {
  const groups = Array.from({ length: 5 }, () => svg("g", {}));
  const [few, out, fixed, focus, scissors] = groups; // from the lowest
  const way = line("bold", "");
  scissors.append(way);
  const node = svg("svg", { class: "signs", "aria-hidden": "true" }, ...groups);
  const fill = (group, of) =>
    memoized((/** @type {Scene} */ scene) => group.replaceChildren(...of(scene)));
  const show = {
    fixed: fill(fixed, (scene) => [...waysOf(scene), ...namesOf(scene)]),
    out: fill(out, outOf),
    few: fill(few, fewOf),
    focus: fill(focus, focusOf),
  };
  function draw(/** @type {Scene} */ scene) {
    const { plan, answer } = scene;
    show.fixed(
      [plan, plan.high || answer.prediction, answer.lengths[answer.prediction] > 0],
      scene,
    );
    show.out([plan, answer], scene);
    show.few([plan, answer, scene.focus], scene);
    show.focus([plan, scene.focus], scene);
    setAttributes(way, { d: scene.cutting.length > 1 ? through(...scene.cutting.flat()) : "" });
  }
  return { node, draw };
}
