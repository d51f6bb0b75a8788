// The picture of the glass network, from left to right: the digit's maps, its capsules, their votes, ten lengths, the
// drawing and its sixteen numbers. What costs most, maps and votes, is painted when it changes and else only copied.
import { SIDE } from "../shared/digits.js";
import { clamp, element, format } from "../shared/ui.js";
import { patchOf } from "./layout.js";
import { REACH, votesOf } from "./model.js";
import { makePen } from "./pen.js";

const FULL = 0.5; // a coupling of this much, or more, has the full colour

/** @import { Box } from "./pen.js" */
/** @typedef {any} Scene  a session (model.js), plan, colours, painter, the part in focus; cutting: points of a way */

/** A canvas for paint(pen, scene), done again when one of the `causes` is another than before. */
function makeLayer(paint) {
  const canvas = element("canvas");
  let before = [];
  return (/** @type {any[]} */ causes, { width, height, ratio }, /** @type {Scene} */ scene, lit = []) => {
    if (causes.some((cause, n) => cause !== before[n]) || canvas.width !== width || canvas.height !== height) {
      before = causes;
      Object.assign(canvas, { width, height });
      const brush = canvas.getContext("2d");
      brush.scale(ratio, ratio);
      paint(makePen(brush, scene.colours), scene, lit);
    }
    return canvas;
  };
}

/** Copies no more of a layer than the box in which it has something: a whole one is half of a frame's time. */
function copyPart({ brush, ratio }, layer, /** @type {Box} */ { x, y, w, h }) {
  const [left, top, right, end] = [x, y, x + w, y + h].map((edge) => Math.max(0, Math.round(edge * ratio)));
  brush.drawImage(layer, left, top, right - left, end - top, left, top, right - left, end - top);
}

/** A digit in a frame. */
export function paintDigit(pen, box, grey, { painter }) {
  const small = element("canvas", { width: SIDE, height: SIDE });
  painter.paint(small, grey);
  pen.place(box, small, true);
  pen.frame("line", box);
}

/** A feature map's numbers, [places]. */
export const mapOf = ({ edges }, { O }, c) => edges.subarray((c * edges.length) / O, ((c + 1) * edges.length) / O);

function paintMaps(pen, { seen, network: { conv }, plan }) {
  const most = seen.edges.reduce((p, q) => Math.max(p, q), 1e-6);
  const side = Math.sqrt(seen.edges.length / conv.O);
  for (let c = 0; c < conv.O; c++) {
    const { x, y, w, h } = plan.square(c);
    pen.matrix({ x, y, w: w - 1, h: h - 1 }, mapOf(seen, conv, c), side, "ink", most);
  }
}

/** One vote's line, as thick as its coupling. */
function paintVote({ brush, ...pen }, { answer, network, plan }, k, bold) {
  const share = answer.c.at(-1)[k];
  const [[x0, y0], [x1, y1]] = plan.ends(k);
  pen.line(k % network.J === answer.prediction ? "accent" : "muted", Math.max(bold ? 1.2 : 0.4, 4.5 * share));
  brush.globalAlpha = Math.min(1, (bold ? 0.35 : 0.03) + share / FULL);
  brush.beginPath();
  brush.moveTo(x0, y0);
  brush.bezierCurveTo(plan.bend, y0, plan.bend, y1, x1, y1);
  brush.stroke();
  brush.globalAlpha = 1;
}

/** All votes that count, faint ones first. */
function paintVotes(pen, scene) {
  const c = scene.answer.c.at(-1);
  const order = Array.from(c, (_, k) => k).filter((k) => scene.votes[k]);
  for (const k of order.sort((p, q) => c[p] - c[q])) paintVote(pen, scene, k, false);
}

const inside = (/** @type {Box} */ { x, y, w, h }) => ({ x: x + 1, y: y + 1, w: w - 2, h: h - 2 });

/** The capsules below: the numbers of each side by side. */
function paintPrimary(pen, { seen, network: { D_in }, plan }) {
  plan.cells.forEach((cell, i) => {
    pen.fill("surface", cell.x, cell.y, cell.w, cell.h);
    pen.matrix(inside(cell), seen.u.subarray(i * D_in, (i + 1) * D_in), D_in, undefined, 0.7);
    pen.frame("line", inside(cell), 0.5);
  });
}

/** What is out is an empty frame. */
function paintOut(pen, { isKept, plan }) {
  plan.cells.forEach((cell, i) => {
    if (isKept({ part: "primary", at: i })) return;
    const { x, y, w, h } = cell;
    pen.fill("surface", x, y, w, h);
    pen.line("contrast", 1, x + 3, y + h - 3, x + w - 3, y + 3);
    pen.frame("contrast", inside(cell), 1);
  });
}

function paintClasses(pen, { answer, isKept, plan }) {
  const { x, y: top, w } = plan.boxes.classes;
  const [left, rail, thick] = [x + 22, w - 64, Math.min(12, plan.row * 0.5)];
  pen.brush.textBaseline = "middle";
  answer.lengths.forEach((length, j) => {
    const y = top + (j + 0.5) * plan.row;
    const [best, held] = [j === answer.prediction && length > 0, !isKept({ part: "classes", at: j })];
    const [role, weight] = best ? ["ink", 700] : ["muted", 400];
    pen.fill("raised", left, y - thick / 2, rail, thick);
    pen.fill(best ? "accent" : "muted", left, y - thick / 2, rail * length, thick);
    if (held) pen.frame("contrast", { x: left, y: y - thick / 2, w: rail, h: thick });
    pen.words(role, String(j), x + 8, y + 1, { weight, size: 14 });
    pen.words(held ? "contrast" : role, held ? "held" : format(length), left + rail + 6, y + 1, { weight });
  });
}

/** The sixteen numbers: each a rail, its middle 0. */
function paintFaders(pen, { numbers, answer, network: { D_out }, plan, focus }) {
  const { x, y, w, h } = plan.boxes.faders;
  const own = answer.capsules.subarray(answer.prediction * D_out, (answer.prediction + 1) * D_out);
  const [step, middle] = [w / D_out, y + h / 2];
  pen.fill("raised", x, y, w, h);
  pen.fill("line", x, middle - 0.5, w, 1);
  numbers.forEach((number, d) => {
    const [left, up] = [x + d * step, (clamp(number / REACH, -1, 1) * (h - 12)) / 2];
    const role = number === own[d] ? "accent" : "contrast";
    pen.fill(role, left + step / 2 - 1, middle, 2, -up);
    pen.fill(role, left + step * 0.1, middle - up - 3, step * 0.8, 6);
    if (focus?.part === "faders" && focus.at === d) pen.frame("ink", { x: left, y, w: step, h }, 1.5);
  });
}

/** The ways between the parts. */
function paintArrows(pen, { plan, answer }) {
  const { image, maps, primary, classes, reconstruction: drawing } = plan.boxes;
  const arrow = (role, /** @type {number[]} */ ...xy) => {
    pen.line(role, 1.5, ...xy);
    pen.head(role, ...xy);
  };
  const middle = image.y + image.h / 2;
  const role = answer.lengths[answer.prediction] > 0 ? "accent" : "muted";
  arrow("muted", image.x + image.w + 5, middle, maps.x - 5, middle);
  if (plan.high) {
    const [x, turn, to] = [maps.x + maps.w / 2, maps.y + maps.h + 16, primary.x + primary.w / 2];
    arrow("muted", x, turn - 12, x, turn, to, turn, to, turn + 13);
    const [from, low, end] = [classes.x + classes.w / 2, classes.y + classes.h + 14, drawing.x + drawing.w / 2];
    arrow(role, from, low - 10, from, low, end, low, end, low + 13);
  } else {
    arrow("muted", maps.x + maps.w + 5, middle, primary.x - 5, middle);
    const [x, y] = [classes.x + classes.w + 3, classes.y + (answer.prediction + 0.5) * plan.row];
    const aim = clamp(y, drawing.y + 12, drawing.y + drawing.h - 12);
    arrow(role, x, y, x + 9, y, x + 9, aim, drawing.x - 5, aim);
  }
}

/** Names and shapes above the parts. */
function paintNames(pen, { network: { I, J, D_in, D_out, conv, config }, seen, answer, plan }, lit) {
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
  pen.brush.textBaseline = "alphabetic";
  for (const [part, [name, shape]] of Object.entries(names)) {
    if (part === "faders" && plan.high) continue;
    const { x, y, w } = plan.boxes[part];
    const top = part === "faders" || plan.high ? y : plan.boxes.primary.y;
    const [at, align] = part === "predictions" ? [x + w / 2, "center"] : [x, "left"];
    pen.words(lit.includes(part) ? "accent" : "ink", name, at, top - 24, { weight: 650, align });
    pen.words("muted", shape, at, top - 9, { size: 11.5, align });
  }
}

/** What the part that is pointed at looks at. */
function paintFocus(pen, { focus, plan, network: { I, J, config } }) {
  const { image, classes } = plan.boxes;
  if (focus.part === "classes")
    pen.frame("contrast", { ...classes, y: classes.y + focus.at * plan.row + 2, h: plan.row - 4 }, 1.5);
  if (focus.part === "classes" || focus.part === "faders") return;
  const i = focus.part === "predictions" ? Math.floor(focus.at / J) : focus.at;
  const target = focus.part === "maps" ? plan.square(i) : plan.cells[i];
  const patch = patchOf(focus.part, focus.part === "maps" ? focus.place : i % (I / config.primary_types), config);
  const unit = image.w / config.image_size;
  const seen = { x: image.x + patch.x * unit, y: image.y + patch.y * unit, w: patch.w * unit, h: patch.h * unit };
  pen.brush.globalAlpha = 0.5;
  pen.line("contrast", 1, seen.x + seen.w, seen.y, target.x, target.y);
  pen.line("contrast", 1, seen.x + seen.w, seen.y + seen.h, target.x, target.y + target.h);
  pen.brush.globalAlpha = 1;
  pen.frame("contrast", seen, 2);
  pen.frame("contrast", target, 2);
}

/** The answer comes from left to right (in a high stage from top to bottom): what lies beyond `progress` is faint. */
function fade(brush, width, height, progress, high) {
  const soft = 140;
  const edge = progress * ((high ? height : width) + soft) - soft;
  const [x, y] = high ? [0, 1] : [1, 0];
  const veil = brush.createLinearGradient(x * edge, y * edge, x * (edge + soft), y * (edge + soft));
  veil.addColorStop(0, "rgb(0 0 0 / 0%)");
  veil.addColorStop(1, "rgb(0 0 0 / 85%)");
  brush.globalCompositeOperation = "destination-out";
  brush.fillStyle = veil;
  brush.fillRect(0, 0, width, height);
  brush.globalCompositeOperation = "source-over";
}

/** What stays while the digit does. */
function paintSeen(pen, scene) {
  paintMaps(pen, scene);
  paintPrimary(pen, scene);
}

/** What stays while one only looks, and while the faders move. */
function paintStill(pen, scene, lit) {
  for (const each of [paintOut, paintClasses, paintArrows]) each(pen, scene);
  paintNames(pen, scene, lit);
}

/** paint(sheet, scene, lit, progress) paints all but the pad. */
export function makePicture() {
  const seen = makeLayer(paintSeen);
  const votes = makeLayer(paintVotes);
  const still = makeLayer(paintStill);
  return function paint(sheet, /** @type {Scene} */ scene, lit, progress = 1) {
    const { brush, width, height, ratio } = sheet;
    const { plan, answer, colours, focus, network } = scene;
    const pen = makePen(brush, colours);
    const few = focus ? votesOf(focus, network.I, network.J) : [];
    const causes = [answer, plan, colours];
    brush.setTransform(1, 0, 0, 1, 0, 0);
    brush.clearRect(0, 0, width, height);
    const { primary, classes } = plan.boxes; // all votes lie between these
    const between = { x: primary.x - 3, y: primary.y - 3, w: classes.x - primary.x + 6, h: primary.h + 6 };
    brush.globalAlpha = few.length ? 0.12 : 1;
    copyPart(sheet, votes(causes, sheet, scene), between);
    brush.globalAlpha = 1;
    const parts = seen([scene.seen, plan, colours], sheet, scene);
    for (const box of [plan.boxes.maps, primary]) copyPart(sheet, parts, box);
    brush.setTransform(ratio, 0, 0, ratio, 0, 0);
    for (const k of few) if (scene.votes[k]) paintVote(pen, scene, k, true);
    brush.drawImage(still(causes, sheet, scene, lit), 0, 0, width / ratio, height / ratio);
    paintFaders(pen, scene);
    paintDigit(pen, plan.boxes.reconstruction, scene.drawing, scene);
    if (focus) paintFocus(pen, scene);
    pen.line("contrast", 2, ...scene.cutting.flat());
    if (progress < 1) fade(brush, width / ratio, height / ratio, progress, plan.high);
  };
}
