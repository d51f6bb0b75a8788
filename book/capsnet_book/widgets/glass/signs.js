// The signs over the parts of the glass network: names, the arrows between parts, crosses over what
// is taken out, and the receptive field of the part that is pointed at.
import { t } from "../shared/t.js";
import { clamp, format, memoized, setAttributes, svg, write } from "../shared/ui.js";
import { patchOf } from "./layout.js";
import { placeOf, votesOf } from "./model.js";
import { lookOf } from "./votes.js";

/** @import { Box } from "./pen.js" */
/** @import { Scene } from "./paint.js" */

/** A path through points, given as x, y, x, y, … @param {number[]} xy */
const through = (...xy) => `M${xy}`;
const frameOf = (/** @type {Box} */ { x, y, w, h }) => `M${x} ${y}h${w}v${h}h${-w}z`;
const line = (/** @type {string} */ kind, /** @type {string} */ d) =>
  svg("path", { class: `line ${kind}`, d });

// ------------------------------------------------------------------------------ the arrows

/** An arrow to a part, from the left or from above. @param {string} role @param {number[]} xy */
function arrow(role, ...xy) {
  const [fromX, , x, y] = xy.slice(-4);
  const head = fromX === x ? "l-3 -6.5h6z" : "l-6.5 -3v6z";
  return [
    line(role, through(...xy)),
    svg("path", { class: `head ${role}`, d: `M${x} ${y}${head}` }),
  ];
}

/** The arrows between the parts. @param {Scene} scene */
function arrowsOf(scene) {
  const { plan, answer } = scene;
  const { image, maps } = plan.boxes;
  const middle = image.y + image.h / 2;
  const first = arrow("muted", image.x + image.w + 5, middle, maps.x - 5, middle);
  const role = answer.lengths[answer.prediction] > 0 ? "accent" : "muted";
  const others = plan.high ? arrowsInHighStage(plan, role) : arrowsInWideStage(scene, role);
  return [...first, ...others];
}

/**
 * Arrows that turn twice: down, aside, and down.
 * @param {Scene["plan"]} plan @param {string} role  of the second arrow
 */
function arrowsInHighStage({ boxes }, role) {
  const { maps, primary, classes, reconstruction } = boxes;
  const turning = (kind, fromX, y, toX) =>
    arrow(kind, fromX, y, fromX, y + 12, toX, y + 12, toX, y + 25);
  const middleOf = (/** @type {Box} */ { x, w }) => x + w / 2;
  const mapsEnd = maps.y + maps.h + 4;
  const classesEnd = classes.y + classes.h + 4;
  return [
    ...turning("muted", middleOf(maps), mapsEnd, middleOf(primary)),
    ...turning(role, middleOf(classes), classesEnd, middleOf(reconstruction)),
  ];
}

/** @param {Scene} scene @param {string} role  of the second arrow */
function arrowsInWideStage({ plan, answer }, role) {
  const { image, maps, primary, classes, reconstruction: drawing } = plan.boxes;
  const middle = image.y + image.h / 2;
  const x = classes.x + classes.w + 3;
  const y = classes.y + (answer.prediction + 0.5) * plan.row;
  const aim = clamp(y, drawing.y + 12, drawing.y + drawing.h - 12);
  return [
    ...arrow("muted", maps.x + maps.w + 5, middle, primary.x - 5, middle),
    ...arrow(role, x, y, x + 9, y, x + 9, aim, drawing.x - 5, aim),
  ];
}

// ------------------------------------------------------------------------------- the names

/** What a part is, for who has not read the book. */
const PLAIN_WORDS = {
  maps: t`where strokes are`,
  primary: t`an arrow each`,
  predictions: t`for ten digits`,
  classes: t`how sure of each`,
};

/** The shapes of the parts. @param {Scene} scene @returns {Record<string, string>} */
function shapesOf({ network, seen }) {
  const { I, J, D_in, D_out, conv } = network;
  const side = Math.sqrt(seen.edges.length / conv.O); // of a map
  return {
    maps: `${conv.O} × ${side} × ${side}`,
    primary: `${I} × ${D_in}`,
    predictions: `${I} × ${J} × ${D_out}`,
    classes: t`of ${J} × ${D_out}`,
  };
}

/** Names above the parts, and below them their shapes, or plain words. @param {Scene} scene */
function namesOf(scene) {
  const { network, answer, plan, lit, isPlain } = scene;
  const { I, J, D_out, conv, config } = network;
  const name = network.names[answer.prediction];
  const about = isPlain ? PLAIN_WORDS : shapesOf(scene);
  const names = {
    image: [t`your digit`, `${config.image_size} × ${config.image_size}`],
    maps: [t`${conv.O} feature maps`, about.maps],
    primary: [t`${I} capsules`, about.primary],
    predictions: [t`${I * J} votes`, about.predictions],
    classes: [t`${J} lengths`, about.classes],
    reconstruction: [t`its drawing`, t`from ${D_out} numbers`],
    faders: ["", t`the ${name}’s ${D_out} numbers`],
  };
  const hasName = (/** @type {string} */ part) => !plan.high || !["image", "faders"].includes(part);
  const parts = Object.keys(names).filter(hasName);
  return parts.flatMap((part) => {
    const [name, shape] = names[part];
    const { x, y, w } = plan.boxes[part];
    const isOwnLine = part === "faders" || plan.high; // else all names stand on one line
    const top = isOwnLine ? y : plan.boxes.primary.y;
    const isCentred = part === "predictions";
    const at = isCentred
      ? { x: x + w / 2, "text-anchor": "middle" }
      : { x, "text-anchor": "start" };
    return [
      svg(
        "text",
        { class: lit.includes(part) ? "part-name lit" : "part-name", y: top - 24, ...at },
        name,
      ),
      svg("text", { class: "shape", y: top - 9, ...at }, shape),
    ];
  });
}

/**
 * In a high stage the answer stands far below the pad: here it is above it, in sight of the hand.
 * show([plan, answer], scene) changes its nodes; new ones would cost styles and a layout.
 */
function makeReading() {
  const name = svg("text", { class: "part-name reading" });
  const value = svg("text", { class: "part-name", "text-anchor": "end" });
  const rail = svg("rect", { class: "rail", height: 6 });
  const bar = svg("rect", { class: "length", height: 6 });
  const node = svg("g", {}, name, value, rail, bar);

  const show = memoized((/** @type {Scene} */ { plan, answer, network }) => {
    const { prediction, lengths } = answer;
    const length = lengths[prediction];
    const isShown = plan.high && length > 0;
    setAttributes(node, { display: isShown ? "inline" : "none" });
    if (!isShown) return;
    const { x, y, w } = plan.boxes.image;
    write(name, t`reads ${network.names[prediction]}`);
    write(value, format(length));
    setAttributes(name, { x, y: y - 21 });
    setAttributes(value, { x: x + w, y: y - 21 });
    setAttributes(rail, { x, y: y - 16, width: w });
    setAttributes(bar, { x, y: y - 16, width: w * length });
  });
  return { node, show };
}

// ------------------------------------------------------------------- what changes by a touch

/** A crossed frame over each filter and each capsule that is taken out. @param {Scene} scene */
function crossesOf({ isKept, plan, network: { conv } }) {
  const isOut = (/** @type {string} */ part) => (_, /** @type {number} */ at) =>
    !isKept({ part, at });
  const squares = Array.from({ length: conv.O }, (_, c) => plan.square(c));
  const boxes = [...squares.filter(isOut("maps")), ...plan.cells.filter(isOut("primary"))];
  return boxes.map(({ x, y, w, h }) => {
    const frame = frameOf({ x: x + 1, y: y + 1, w: w - 2, h: h - 2 });
    const cross = `M${x + 3} ${y + h - 3}L${x + w - 3} ${y + 3}`;
    return svg("path", { class: "out", d: `${frame}${cross}` });
  });
}

/** The votes of the part that is pointed at. @param {Scene} scene */
function votesInFocus({ focus, answer, votes, plan: { ends, bend }, network: { I, J } }) {
  if (!focus) return [];
  const counted = votesOf(focus, I, J).filter((k) => votes[k]);
  return counted.map((k) => {
    const [[x0, y0], [x1, y1]] = ends(k);
    const { opacity, thick } = lookOf(answer.c.at(-1)[k], [0.35, 1.2]);
    const role = k % J === answer.prediction ? "accent" : "muted";
    const d = `M${x0} ${y0}C${bend} ${y0} ${bend} ${y1} ${x1} ${y1}`;
    return svg("path", { class: `vote ${role}`, "stroke-width": thick, opacity, d });
  });
}

/** Frames round the part that is pointed at, and round its receptive field. @param {Scene} scene */
function framesOf(scene) {
  const { focus, plan, network } = scene;
  if (!focus) return [];
  const { classes, faders } = plan.boxes;
  const { part, at } = focus;
  if (part === "faders") {
    const w = faders.w / network.D_out;
    return [line("ink", frameOf({ ...faders, x: faders.x + at * w, w }))];
  }
  if (part === "classes") {
    const y = classes.y + at * plan.row + 2;
    return [line("contrast", frameOf({ ...classes, y, h: plan.row - 4 }))];
  }
  return sightOf(scene);
}

/** The receptive field of a map's place or of a capsule, joined with it. @param {Scene} scene */
function sightOf(scene) {
  const { focus, plan, network } = scene;
  const { part, at } = focus;
  const { I, J, config } = network;
  const { image } = plan.boxes;
  const i = part === "predictions" ? Math.floor(at / J) : at;
  const target = part === "maps" ? plan.square(i) : plan.cells[i];
  const placesOfType = I / config.primary_types;
  const place = part === "maps" ? placeOf(focus, scene) : i % placesOfType;
  const patch = patchOf(part, place, config);
  const unit = image.w / config.image_size;
  const field = {
    x: image.x + patch.x * unit,
    y: image.y + patch.y * unit,
    w: patch.w * unit,
    h: patch.h * unit,
  };
  const right = field.x + field.w;
  const above = through(right, field.y, target.x, target.y);
  const below = through(right, field.y + field.h, target.x, target.y + target.h);
  return [
    line("faint", above + below),
    line("bold", frameOf(field)),
    line("bold", frameOf(target)),
  ];
}

/**
 * A group of marks: show(dependencies, scene) fills it anew where one of them has changed.
 * @param {(scene: Scene) => any[]} marksOf
 */
function makeGroup(marksOf) {
  const node = svg("g", {});
  const show = memoized((/** @type {Scene} */ scene) => node.replaceChildren(...marksOf(scene)));
  return { node, show };
}

/**
 * What lights up where the network is pointed at, and crosses over what is taken out, over a
 * picture that has names and arrows of its own. draw(scene) draws those that change.
 */
export function makeMarks() {
  const votes = makeGroup(votesInFocus);
  const crosses = makeGroup(crossesOf);
  const frames = makeGroup(framesOf);
  const layers = [votes.node, crosses.node, frames.node];
  const node = svg("svg", { class: "signs", "aria-hidden": "true" }, ...layers);

  function draw(/** @type {Scene} */ scene) {
    const { plan, answer, focus, seen } = scene;
    crosses.show([plan, answer], scene);
    votes.show([plan, answer, focus], scene);
    frames.show([plan, focus, seen], scene);
  }
  return { node, frames, draw };
}

/** All signs in one SVG. draw(scene) draws those that change. */
export function makeSigns() {
  const marks = makeMarks();
  const fixed = makeGroup((scene) => [...arrowsOf(scene), ...namesOf(scene)]);
  const reading = makeReading();
  const scissors = line("bold", ""); // the line that cuts votes
  marks.frames.node.before(fixed.node, reading.node);
  marks.node.append(scissors);

  function draw(/** @type {Scene} */ scene) {
    const { plan, answer, cutting } = scene;
    const aim = plan.high || answer.prediction; // in a high stage no arrow follows the answer
    const isRead = answer.lengths[answer.prediction] > 0;
    fixed.show([plan, aim, isRead], scene);
    reading.show([plan, answer], scene);
    marks.draw(scene);
    setAttributes(scissors, { d: cutting.length > 1 ? through(...cutting.flat()) : "" });
  }
  return { node: marks.node, draw };
}
