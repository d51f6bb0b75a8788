// Routing by agreement, a step at a time. In the book the page's scrolling moves it, elsewhere buttons and arrow keys.
import {
  arrowsOf,
  bothLengths,
  I,
  J,
  LAST,
  mixed,
  momentAt,
  PARTS,
  pointsOf,
  realVotes,
  roundAt,
  STEPS,
  traceOf,
  WHOLES,
  wordsOf,
} from "./routing_steps_model.js";
import { arrowKeys, drag, glide, makeArrow, measure, wantsCalm } from "./shared/controls.js";
import { makeNetwork } from "./shared/core.js";
import { pinned } from "./shared/pinned.js";
import {
  clamp,
  digitCanvas,
  element,
  format,
  greysOf,
  makeAnnouncer,
  makePainter,
  makeRoot,
  mount,
  pushButton,
  setAttributes,
  sharedWeights,
  svg,
  whenThemeChanges,
} from "./shared/ui.js";

const PACE = 800; // milliseconds a step
const POSTER = STEPS.findIndex(({ kind }) => kind === "votes"); // before the reader begins: no answer yet

// ------------------------------------------------------------------------------------------- the procedure

// [mark, text] is a symbol that can be pointed at; "_" begins an index.
const LINES = [
  { name: "u_hat", equation: [["u_hat", "û_j|i"], ", the votes"], code: [["u_hat", "u_hat"], "  # [B, I, J, D_out]"] },
  {
    name: "b0",
    equation: [["b", "b_ij"], " = 0"],
    code: [["b", "b"], " = torch.zeros(", ["u_hat", "u_hat"], ".shape[:3])"],
  },
  {
    name: "c",
    equation: [["c", "c_ij"], " = softmax_j ", ["b", "b_ij"]],
    code: [["c", "c"], " = ", ["b", "b"], ".softmax(dim=2)"],
  },
  {
    name: "s",
    equation: [["s", "s_j"], " = Σ_i ", ["c", "c_ij"], " ", ["u_hat", "û_j|i"]],
    code: [["s", "s"], " = (", ["c", "c"], ".unsqueeze(3) * ", ["u_hat", "u_hat"], ").sum(dim=1)"],
  },
  {
    name: "v",
    equation: [["v", "v_j"], " = squash(", ["s", "s_j"], ")"],
    code: [["v", "v"], " = squash(", ["s", "s"], ")"],
  },
  {
    name: "a",
    equation: [["a", "a_ij"], " = ", ["v", "v_j"], " · ", ["u_hat", "û_j|i"]],
    code: [["a", "a"], " = (", ["u_hat", "u_hat"], " * ", ["v", "v"], ".unsqueeze(1)).sum(dim=3)"],
  },
  {
    name: "b",
    equation: [["b", "b_ij"], " ← ", ["b", "b_ij"], " + ", ["a", "a_ij"]],
    code: [["b", "b"], " = ", ["b", "b"], " + ", ["a", "a"]],
  },
];
const LOOP = ["c", "s", "v", "a", "b"]; // the lines of a round

const MARKS = [
  ["u_hat", "û", "votes"],
  ["b", "b", "logits"],
  ["c", "c", "shares"],
  ["s", "s", "sum"],
  ["v", "v", "capsule"],
  ["a", "a", "agreement"],
];
const VECTORS = "ûsv";

/** "b_ij" as b with the index ij. @param {string} text */
function notation(text) {
  const [base, index] = text.split("_");
  const symbol = [...base].filter((letter) => /\p{L}/u.test(letter)).length === 1 && !base.includes("Σ");
  const name = symbol ? element("i", { class: VECTORS.includes(base) ? "vector" : "scalar" }, base) : base;
  return index === undefined ? [name] : [name, element("sub", {}, index.trim()), index.endsWith(" ") ? " " : ""];
}

/** Symbols and what stands between them. @param {(string | string[])[]} tokens @param {(text: string) => any[]} set */
const tokens = (tokens, set) =>
  tokens.flatMap((token) =>
    typeof token === "string"
      ? set(token)
      : element("span", { class: "symbol", "data-mark": token[0] }, ...set(token[1])),
  );

/**
 * The lines of the procedure; those of the present step are lit.
 * @param {{ goToLine: (name: string) => void }} _
 */
function makeProcedure({ goToLine }) {
  const rows = LINES.map(({ name, equation, code }) => {
    const formula = element("span", { class: "equation" }, ...tokens(equation, notation));
    const line = element("code", {}, ...tokens(code, (text) => [text]));
    const attributes = { type: "button", class: "line", "data-mark": name.replace("0", ""), "data-line": name };
    const row = element("button", { ...attributes, onclick: () => goToLine(name) }, formula, line);
    return { name, row };
  });
  const [before, loop] = [false, true].map((inLoop) =>
    rows.filter(({ name }) => LOOP.includes(name) === inLoop).map(({ row }) => row),
  );
  const round = element("span", { class: "rounds-done" });
  const box = element("div", { class: "loop" }, round, ...loop);
  const node = element("div", { class: "procedure", role: "group", "aria-label": "The procedure" }, ...before, box);
  function show(/** @type {import("./routing_steps_model.js").Step} */ step) {
    rows.forEach(({ name, row }) => {
      row.classList.toggle("lit", step.lines.includes(name));
      if (step.lines.includes(name)) row.setAttribute("aria-current", "step");
      else row.removeAttribute("aria-current");
    });
    node.dataset.kind = step.kind;
    round.textContent = step.round ? `round ${step.round} of 3` : "3 rounds";
  }
  return { node, show };
}

/** Lights what is pointed at: a mark of the picture by its symbol. */
function makeLights(root, scene) {
  let kept = ""; // by a press, until the next one
  const chips = MARKS.map(([mark, symbol, word]) => {
    const sign = element("i", { class: VECTORS.includes(symbol) ? "vector" : "scalar" }, symbol);
    const attributes = { type: "button", class: `chip of-${mark}`, "data-mark": mark, "aria-pressed": "false" };
    return element("button", { ...attributes, onclick: () => keep(mark) }, sign, element("span", {}, word));
  });
  const group = element(
    "div",
    { class: "chips", role: "group", "aria-label": "What is what in the picture" },
    ...chips,
  );
  function light(mark) {
    if (mark) scene.dataset.lit = mark;
    else delete scene.dataset.lit;
    for (const each of root.querySelectorAll(".symbol, .chip"))
      each.classList.toggle("pointed", each.dataset.mark === mark);
  }
  function keep(mark) {
    kept = kept === mark ? "" : mark;
    chips.forEach((chip) => chip.setAttribute("aria-pressed", String(chip.dataset.mark === kept)));
    light(kept);
  }
  root.addEventListener("pointerover", (event) => {
    if (event.pointerType === "mouse") light(event.target.closest?.("[data-mark]")?.dataset.mark ?? kept);
  });
  root.addEventListener("pointerleave", () => light(kept));
  return { group };
}

// ---------------------------------------------------------------------------------------------- the picture

const STROKES = [
  { d: "M.16 .19H.8", name: { x: 0.46, y: 0.1, anchor: "middle" } },
  { d: "M.8 .19L.46 .88", name: { x: 0.74, y: 0.58, anchor: "start" } },
  { d: "M.2 .66h.001", name: { x: 0.21, y: 0.83, anchor: "middle" } },
]; // of the 7, in a square of 1, and where their names stand

/** Where everything stands in a picture of that width: in CSS pixels. */
function layoutOf(width, points, realPoints) {
  const narrow = width < 480;
  const [gap, label] = [narrow ? 8 : 14, narrow ? 11 : 13];
  const plane = { wide: (width - gap) / 2, high: 0 };
  const toy = frameOf(points, { wide: plane.wide, high: Number.POSITIVE_INFINITY });
  plane.high = Math.min(Math.ceil(toy.needs), narrow ? 150 : 230);
  const box = { ...plane };
  const flow = narrow ? 56 : 90; // where the shares flow
  const bar = { wide: Math.min((plane.wide - 24) / I, 92), high: narrow ? 10 : 13, y: plane.high + flow };
  const icon = narrow ? 34 : 62;
  const middle = bar.y + bar.high + 8 + icon / 2; // of the icons
  return {
    narrow,
    width,
    label,
    plane,
    planes: [0, plane.wide + gap],
    frames: [frameOf(points, box), frameOf(realPoints, box)],
    bar,
    icon,
    big: { x: width / 2, y: (plane.high + flow) / 2 + 10, size: Math.min(plane.high + flow - 20, 270) },
    columns: PARTS.map((_, i) => (width * (i + 0.5)) / I),
    middle,
    height: middle + icon / 2 + 20,
  };
}

/** One scale for both planes, so that all points of each are within its box; y up. */
function frameOf(points, { wide, high }) {
  const ends = (d) => points.map((each) => [Math.min, Math.max].map((end) => end(...each.map((point) => point[d]))));
  const [across, up] = [ends(0), ends(1)];
  const [low, top] = [Math.min(...up.map(([from]) => from)) - 0.25, Math.max(...up.map(([, to]) => to)) + 0.25];
  const span = Math.max(...across.map(([from, to]) => to - from)) * 1.12;
  const unit = Math.min(wide / span, high / (top - low));
  const spare = Number.isFinite(high) ? (high - unit * (top - low)) / 2 : 0;
  const origins = across.map(([from, to]) => [wide / 2 - (unit * (from + to)) / 2, spare + unit * top]);
  return { unit, origins, needs: unit * (top - low) };
}

/** A share's way from a segment of a part's bar up to a plane's lower edge. */
function ribbon([x0, x1, y0], [top0, top1, y1]) {
  const half = (y0 + y1) / 2;
  return (
    `M${x0} ${y0}C${x0} ${half} ${top0} ${half} ${top0} ${y1}` + `H${top1}C${top1} ${half} ${x1} ${half} ${x1} ${y0}Z`
  );
}

const seen = (node, opacity) => {
  node.style.opacity = opacity.toFixed(3);
  node.style.visibility = opacity < 0.002 ? "hidden" : "";
};
const mark = (kind, ...children) => svg("g", { class: `mark of-${kind}` }, ...children);
const each = (count, make) => Array.from({ length: count }, (_, k) => make(k));
const partOf = (k) => PARTS[Math.floor(k / J)];

/** What the picture is made of. */
function makeMarks(count) {
  const text = (kind) => svg("text", { class: kind });
  const nodes = {
    planes: WHOLES.map(() => svg("rect", { class: "ground", rx: 10 })),
    discs: WHOLES.map(() => svg("circle", { class: "disc" })),
    origins: WHOLES.map(() => svg("circle", { class: "origin", r: 2.5 })),
    names: WHOLES.map((whole) => svg("text", { class: "whole" }, String(whole))),
    rails: WHOLES.map(() => svg("rect", { class: "gauge-rail", rx: 2.5, height: 5 })),
    gauges: WHOLES.map(() => svg("rect", { class: "gauge", rx: 2.5, height: 5 })),
    lengths: WHOLES.map(() => text("length-of-v")),
    ribbons: each(I * J, (k) => svg("path", { class: `ribbon ${partOf(k)}` })),
    segments: each(I * J, (k) => svg("rect", { class: `segment ${partOf(k)}` })),
    shares: each(I * J, () => text("share")),
    logits: each(I * J, () => text("logit")),
    votes: each(I * J, (k) => makeArrow(`vote ${partOf(k)}`)),
    labels: each(I * J, (k) => text(`tip ${partOf(k)}`)),
    products: each(I * J, (k) => text(`tip product ${partOf(k)}`)),
    lines: WHOLES.map(() => svg("path", { class: "along" })),
    drops: each(I * J, (k) => svg("path", { class: `drop ${partOf(k)}` })),
    feet: each(I * J, (k) => svg("path", { class: `foot ${partOf(k)}` })),
    sums: WHOLES.map(() => makeArrow("sum")),
    capsules: WHOLES.map(() => makeArrow("capsule")),
    icons: PARTS.map((part, i) =>
      svg(
        "g",
        { class: `icon ${part}` },
        svg("g", { class: "others" }, ...STROKES.filter((_, k) => k !== i).map(({ d }) => svg("path", { d }))),
        svg("path", { class: "own", d: STROKES[i].d }),
      ),
    ),
    titles: PARTS.map((part) => svg("text", { class: `part-name ${part}` }, part)),
    rowNames: ["c", "b"].map((name) => svg("text", { class: "row-name" }, name)),
    links: each(count * J, () => svg("line", { class: "link" })),
    rays: each(count * J, () => svg("line", { class: "ray" })),
    dots: each(count, () => svg("circle", { class: "capsule-dot" })),
  };
  const three = svg("g", { class: "three" });
  const arrowNodes = (arrows) => arrows.map(({ node }) => node);
  three.append(
    mark("c", ...nodes.ribbons, ...nodes.segments, ...nodes.shares, nodes.rowNames[0]),
    mark("b", ...nodes.logits, nodes.rowNames[1]),
  );
  const picture = svg(
    "svg",
    { class: "picture", role: "img", "data-role": "picture" },
    svg("g", {}, ...nodes.planes, ...nodes.discs),
    mark("c", ...nodes.links),
    three,
    svg("g", { class: "icons" }, ...nodes.icons, ...nodes.titles),
    svg("g", {}, ...nodes.dots),
    mark("a", ...nodes.lines, ...nodes.drops, ...nodes.feet, ...nodes.products),
    mark("u_hat", ...nodes.rays, ...arrowNodes(nodes.votes), ...nodes.labels),
    mark("s", ...arrowNodes(nodes.sums)),
    mark("v", ...nodes.rails, ...nodes.gauges, ...arrowNodes(nodes.capsules), ...nodes.lengths),
    svg("g", {}, ...nodes.origins, ...nodes.names),
  );
  return { ...nodes, three, picture };
}

/**
 * The picture: above the planes of the wholes with the votes in them, below the parts, between them the shares.
 * @param {import("./routing_steps_model.js").Trace} trace
 * @param {ReturnType<typeof realVotes>} real
 */
function makeScene(trace, real, changed) {
  const marks = makeMarks(real.I);
  const digit = digitCanvas("digit", `A written ${WHOLES[0]}`, { class: "digit" });
  const node = element("div", { class: "routing-scene" }, marks.picture, digit);
  const points = pointsOf(trace);
  const realPoints = real.wholes.map(({ places }) => [...places, [-1, -1], [1, 1]]);
  let layout;
  const size = measure(node, () => {
    if (!size.width) return;
    layout = layoutOf(size.width, points, realPoints);
    node.toggleAttribute("data-narrow", layout.narrow);
    furnishPlaces(marks, digit, layout);
    changed();
  });

  /** @param {ReturnType<typeof momentAt>} moment */
  function draw(moment) {
    if (!layout) return;
    const place = placesOf(layout, moment.real);
    drawParts(marks, layout, moment);
    drawShares(marks, layout, moment);
    drawVotes(marks, place, trace, moment, layout);
    drawAgreement(marks, place, moment, layout);
    drawCapsules(marks, place, moment, layout, real);
    drawReal(marks, place, moment, layout, real, trace);
    seen(digit, clamp(2 * moment.real - 1, 0, 1));
    const grounds = clamp(moment.gathered * 1.5, 0, 1);
    for (const each of [...marks.planes, ...marks.discs, ...marks.origins, ...marks.names, ...marks.rails])
      seen(each, grounds);
  }
  return { node, picture: marks.picture, digit, draw, stop: size.stop };
}

/** What does not move, once the width is known. */
function furnishPlaces(marks, digit, { width, height, plane, planes, bar, middle, narrow, columns, icon }) {
  setAttributes(marks.picture, { viewBox: `0 0 ${width} ${height}`, width, height });
  planes.forEach((left, j) => {
    setAttributes(marks.planes[j], { x: left, y: 0, width: plane.wide, height: plane.high });
    setAttributes(marks.names[j], { x: left + 12, y: narrow ? 32 : 38 });
    setAttributes(marks.lengths[j], { x: left + (narrow ? 30 : 38), y: narrow ? 31 : 37 });
    setAttributes(marks.rails[j], { x: left + 12, y: 10, width: plane.wide - 24 });
    setAttributes(marks.gauges[j], { x: left + 12, y: 10 });
  });
  const left = Math.max(0, columns[0] - bar.wide / 2 - 54);
  setAttributes(marks.rowNames[0], { x: left, y: bar.y + bar.high - 1 });
  setAttributes(marks.rowNames[1], { x: left, y: middle + 5 });
  const side = icon + (narrow ? 14 : 20);
  Object.assign(digit.style, { left: 0, top: `${bar.y + (height - bar.y - side) / 2}px`, width: `${side}px` });
}

/** Pixels of a point of a whole's plane, on the way from the three parts' scale to the real votes'. */
function placesOf({ frames: [from, to], planes }, real) {
  const unit = from.unit + (to.unit - from.unit) * real;
  const origins = planes.map((left, j) =>
    mixed(from.origins[j], to.origins[j], real).map((x, d) => (d ? x : x + left)),
  );
  const at = (j, [x, y]) => [origins[j][0] + unit * x, origins[j][1] - unit * y];
  return { unit, origins, at };
}

function drawParts(marks, { big, columns, middle, icon, label }, { gathered, real }) {
  const t = gathered * gathered * (3 - 2 * gathered);
  const stay = clamp(1 - 1.6 * real, 0, 1);
  PARTS.forEach((_, i) => {
    const size = big.size + (icon - big.size) * t;
    const [x, y] = mixed([big.x - size / 2, big.y - size / 2], [columns[i] - size / 2, middle - size / 2], t);
    marks.icons[i].setAttribute("transform", `translate(${x} ${y}) scale(${size})`);
    marks.icons[i].firstChild.style.opacity = t;
    seen(marks.icons[i], stay);
    const { x: nameX, y: nameY, anchor } = STROKES[i].name;
    const [atX, atY] = mixed([x + nameX * size, y + nameY * size], [columns[i], middle + icon / 2 + 14], t);
    setAttributes(marks.titles[i], { x: atX, y: atY, "text-anchor": t > 0.5 ? "middle" : anchor });
    marks.titles[i].style.fontSize = `${label + 4 * (1 - t)}px`;
    seen(marks.titles[i], stay);
  });
}

function drawShares(marks, { bar, columns, planes, plane, middle, icon, narrow }, { c, b, shared, real }) {
  const stay = clamp(1 - 1.6 * real, 0, 1);
  const tops = WHOLES.map((_, j) => {
    const all = PARTS.reduce((sum, _, i) => sum + c[i * J + j], 0);
    return planes[j] + plane.wide / 2 - (all * bar.wide) / 2;
  });
  for (let k = 0; k < I * J; k++) {
    const [i, j] = [Math.floor(k / J), k % J];
    const left = columns[i] - bar.wide / 2;
    const from = j === 0 ? left : left + bar.wide * c[k - 1];
    const wide = bar.wide * c[k];
    const y = bar.y + (plane.high - bar.y) * shared;
    marks.ribbons[k].setAttribute("d", ribbon([from, from + wide, bar.y], [tops[j], tops[j] + wide, y]));
    tops[j] += wide;
    setAttributes(marks.segments[k], { x: from, y: bar.y, width: wide, height: bar.high });
    const aside = narrow ? 3 : 5;
    const side =
      j === 0 ? { x: left - aside, "text-anchor": "end" } : { x: left + bar.wide + aside, "text-anchor": "start" };
    setAttributes(marks.shares[k], { ...side, y: bar.y + bar.high - 1 });
    const beside = (icon / 2 + (narrow ? 3 : 9)) * (j === 0 ? -1 : 1);
    setAttributes(marks.logits[k], { x: columns[i] + beside, y: middle + 5, "text-anchor": side["text-anchor"] });
    marks.shares[k].textContent = narrow ? format(c[k]).replace(/^0/, "") : format(c[k]);
    marks.logits[k].textContent = format(b[k], 2, true);
  }
  seen(marks.three, Math.min(shared, stay));
}

function drawVotes(marks, { at }, trace, moment, { narrow, label, planes, plane }) {
  const { c, laid, gathered, real, measured } = moment;
  const stay = clamp(1 - 2 * real, 0, 1) * gathered;
  const arrows = arrowsOf(trace, moment);
  const faded = laid * clamp(moment.seen.v * 2, 0, 1); // once squash begins
  const [thin, thick] = narrow ? [1, 4.5] : [1.2, 6.5];
  const tips = arrows.map(([from, tip], k) => {
    const grown = mixed(from, tip, gathered);
    const [start, end] = [at(k % J, from), at(k % J, grown)];
    marks.votes[k].point(start, end, { size: (narrow ? 8 : 11) + 4 * c[k] });
    marks.votes[k].node.style.strokeWidth = thin + thick * c[k];
    seen(marks.votes[k].node, stay * (1 - 0.8 * faded));
    return { end, to: [end[0] - start[0], end[1] - start[1]], j: k % J };
  });
  WHOLES.forEach((_, j) => placeLabels(tips, j, { label, left: planes[j], wide: plane.wide }, marks));
  for (let k = 0; k < I * J; k++) {
    seen(marks.labels[k], stay * gathered * (1 - laid) * (1 - measured));
    marks.labels[k].textContent = partOf(k);
  }
}

/** Names and numbers beside the arrows' tips: within the plane, and not on each other. */
function placeLabels(tips, j, { label, left, wide }, { labels, products }) {
  const own = tips.map((tip, k) => ({ ...tip, k })).filter((tip) => tip.j === j);
  own.sort((one, other) => one.end[1] - other.end[1]);
  const room = 3.4 * label; // of the longest
  let above = Number.NEGATIVE_INFINITY;
  for (const { end, to, k } of own) {
    const space = end[0] - 7 - room - left; // to the tip's left
    const leftwards = to[0] < 0 && (space > 0 || to[1] < 0);
    const over = Math.max(0, end[0] + 7 + room - left - wide); // beyond the plane's edge: then below the tip
    const aside = leftwards ? Math.min(0, space) : over;
    const y = Math.max(end[1] + label / 3 + (aside && label * Math.sign(aside)), above + label + 1);
    above = y;
    const x = leftwards ? end[0] - 7 - aside : end[0] + 7 - aside;
    for (const each of [labels[k], products[k]])
      setAttributes(each, { x, y, "text-anchor": leftwards ? "end" : "start" });
  }
}

function drawAgreement(marks, { at }, { a, v, measured, real, u_hat }, { narrow }) {
  const stay = measured * clamp(1 - 2 * real, 0, 1);
  WHOLES.forEach((_, j) => {
    const along = [v[j * 2], v[j * 2 + 1]];
    const length = Math.hypot(...along) || 1;
    const [ux, uy] = along.map((x) => x / length);
    const [from, to] = [at(j, [-1.5 * ux, -1.5 * uy]), at(j, [2.6 * ux, 2.6 * uy])];
    marks.lines[j].setAttribute("d", `M${from}L${to}`);
    seen(marks.lines[j], stay);
    for (let i = 0; i < I; i++) {
      const k = i * J + j;
      const reach = a[k] / length; // of the vote along v
      const [vote, foot] = [at(j, [u_hat[k * 2], u_hat[k * 2 + 1]]), at(j, [reach * ux, reach * uy])];
      const end = mixed(vote, foot, measured);
      const aside = (i - 1) * (narrow ? 3 : 4.5); // so that the three do not lie on each other
      const [sx, sy] = [uy * aside, ux * aside];
      const zero = at(j, [0, 0]);
      marks.drops[k].setAttribute("d", `M${vote}L${end}`);
      marks.feet[k].setAttribute("d", `M${zero[0] + sx} ${zero[1] + sy}L${foot[0] + sx} ${foot[1] + sy}`);
      marks.products[k].textContent = format(a[k], 2, true);
      for (const each of [marks.drops[k], marks.feet[k], marks.products[k]]) seen(each, stay);
    }
  });
}

function drawCapsules(marks, { at, unit, origins }, moment, { planes, plane, narrow }, real) {
  const now = real.wholes.map(({ rounds }) => roundAt(rounds, moment.realRound));
  const lengths = moment.lengths ?? [0, 0];
  WHOLES.forEach((_, j) => {
    const [s, v] = [moment.s, moment.v].map((vectors) => [vectors[j * 2], vectors[j * 2 + 1]]);
    const zero = at(j, [0, 0]);
    setAttributes(marks.discs[j], { cx: zero[0], cy: zero[1], r: unit });
    setAttributes(marks.origins[j], { cx: zero[0], cy: zero[1] });
    marks.sums[j].point(zero, at(j, s), { size: narrow ? 9 : 13 });
    seen(marks.sums[j].node, moment.seen.s * clamp(1 - 2 * moment.real, 0, 1));
    const tip = mixed(v, now[j].v, moment.real);
    marks.capsules[j].point(zero, at(j, tip), { size: narrow ? 9 : 13 });
    seen(marks.capsules[j].node, Math.max(moment.seen.v, moment.real));
    const length = lengths[j] + (now[j].length - lengths[j]) * moment.real;
    marks.gauges[j].setAttribute("width", ((plane.wide - 24) * clamp(length, 0, 1)).toFixed(1));
    const known = moment.lengths || moment.real ? 1 : 0;
    marks.lengths[j].textContent = known ? `‖v‖ = ${format(length)}` : "";
    seen(marks.gauges[j], known);
  });
  return [origins, planes];
}

function drawReal(
  marks,
  { at },
  moment,
  { planes, plane, bar, height, width, columns, middle, icon, narrow },
  real,
  trace,
) {
  const { real: x, realRound } = moment;
  const shown = x > 0;
  for (const each of [...marks.links, ...marks.rays, ...marks.dots]) each.style.visibility = shown ? "" : "hidden";
  if (!shown) return;
  const t = x * x * (3 - 2 * x);
  const now = real.wholes.map(({ rounds }) => roundAt(rounds, realRound));
  const left = icon + (narrow ? 26 : 44);
  const pitch = (width - left) / (real.I / 9);
  const step = Math.min(pitch / 3.7, (height - bar.y) / 3.6);
  const old = arrowsOf(trace, { ...moment, laid: 0 });
  for (let i = 0; i < real.I; i++) {
    const [type, place] = [Math.floor(i / 9), i % 9];
    const home = [
      left + pitch * (type + 0.5) + ((place % 3) - 1) * step,
      bar.y + (height - bar.y) / 2 + (Math.floor(place / 3) - 1) * step,
    ];
    const [px, py] = mixed([columns[i % I], middle], home, t);
    const most = Math.max(now[0].c[i], now[1].c[i]);
    setAttributes(marks.dots[i], { cx: px, cy: py, r: (narrow ? 2 : 3) + 3 * most });
    marks.dots[i].style.opacity = x;
    now.forEach(({ c }, j) => {
      const [ray, link] = [marks.rays[i * J + j], marks.links[i * J + j]];
      const [fromX, fromY] = at(j, [0, 0]);
      const [toX, toY] = mixed(at(j, old[(i % I) * J + j][1]), at(j, real.wholes[j].places[i]), t);
      setAttributes(ray, { x1: fromX, y1: fromY, x2: toX, y2: toY });
      ray.style.opacity = x * clamp(0.3 + 1.2 * c[i], 0, 0.95);
      ray.style.strokeWidth = 0.9 + (narrow ? 3 : 5) * c[i];
      const foot = planes[j] + plane.wide * (0.12 + 0.76 * ((i + 0.5) / real.I));
      setAttributes(link, { x1: px, y1: py, x2: foot, y2: plane.high });
      link.style.opacity = x * clamp(0.1 + 1.2 * c[i], 0, 0.85);
      link.style.strokeWidth = 0.4 + (narrow ? 6 : 9) * c[i];
    });
  }
}

// ----------------------------------------------------------------------------------------------- the widget

/** A slider of steps, in groups: a press, a drag and keys choose one. */
function makeRail({ goTo }) {
  const names = { 0: ["votes"], 1: ["round ", "1"], 2: ["round ", "2"], 3: ["round ", "3"], 4: ["real"] };
  const groupOf = ({ kind, round }) => (kind === "dissolve" || kind === "real" ? 4 : round);
  const ticks = STEPS.map((step, k) =>
    element("span", {
      class: "step-tick",
      "data-first": k && groupOf(step) !== groupOf(STEPS[k - 1]) ? "" : undefined,
    }),
  );
  const groups = Object.entries(names).map(([group, [word, number = ""]]) => {
    const own = ticks.filter((_, k) => groupOf(STEPS[k]) === Number(group));
    const row = element("span", { class: "ticks" }, ...own);
    const name = element("span", {}, number ? element("span", { class: "roomy" }, word) : word, number);
    return element("span", { class: "tick-group", style: `flex: ${own.length}` }, row, name);
  });
  const node = element(
    "div",
    {
      class: "steps-rail",
      tabindex: 0,
      role: "slider",
      "data-role": "rail",
      "aria-label": "Step",
      "aria-valuemin": 1,
      "aria-valuemax": STEPS.length,
    },
    ...groups,
  );
  let centres = []; // of the ticks, read once a drag: at every move it would force a layout
  const pick = (_, event) => {
    const far = (k) => Math.abs(centres[k] - event.clientX);
    goTo(ticks.reduce((best, _tick, k) => (far(k) < far(best) ? k : best), 0));
  };
  const start = (at, event) => {
    centres = ticks.map((tick) => {
      const { left, width } = tick.getBoundingClientRect();
      return left + width / 2;
    });
    pick(at, event);
  };
  drag(node, { prevent: false, start, move: pick });
  function show(at, title) {
    ticks.forEach((tick, k) => {
      tick.classList.toggle("past", k < at);
      tick.classList.toggle("now", k === at);
    });
    setAttributes(node, { "aria-valuenow": at + 1, "aria-valuetext": `${at + 1} of ${STEPS.length}: ${title}` });
  }
  return { node, show };
}

function build(root, model, network) {
  const trace = traceOf(model.get("u_hat"));
  const image = greysOf(model.get("image"));
  const real = realVotes(network, image);
  let time = 0;
  let at = -1; // the step whose words are shown
  let begun = false;
  let stopGliding = () => {};

  const scene = makeScene(trace, real, () => draw());
  const procedure = makeProcedure({ goToLine });
  const lights = makeLights(root, scene.node);
  const title = element("p", { class: "step-title", "data-role": "title" });
  const text = element("p", { class: "step-text", "data-role": "text" });
  const rail = makeRail({ goTo });
  const back = pushButton("back", "‹", () => step(-1), { class: "step", "aria-label": "One step back" });
  const next = pushButton("next", "Next", () => step(+1), { class: "primary" });
  const skip = pushButton("skip", "Skip ↓", () => pin.leave(), { class: "skip" });
  const words = element("div", { class: "words" }, title, text);
  const side = element("div", { class: "side" }, words, procedure.node);
  const stage = element(
    "div",
    { class: "pinned-stage" },
    element("div", { class: "board" }, scene.node, side, lights.group),
    element("div", { class: "steps-bar" }, back, rail.node, next, skip),
  );
  const track = element("div", { class: "scroll-track" }, stage);
  root.append(track);
  const announce = makeAnnouncer(root);
  const painter = makePainter(root);
  const pin = pinned({ track, stage, last: LAST, move: follow, changed: () => changed() });

  function follow(to) {
    if (to === time && begun) return;
    begun = true;
    stopGliding();
    time = to;
    draw();
  }

  function goTo(to) {
    const goal = clamp(to, 0, LAST);
    if (pin.active()) return pin.scrollTo(goal);
    const from = begun ? time : goal;
    begun = true;
    stopGliding();
    if (wantsCalm()) {
      time = goal;
      return draw();
    }
    root.dataset.moving = "true";
    stopGliding = glide(
      PACE * clamp(Math.abs(goal - from), 0.4, 2.5),
      (t) => {
        time = from + (goal - from) * t;
        draw();
      },
      () => delete root.dataset.moving,
    );
  }

  /** One step further or back; a press while the page is on its way counts from where that leads. */
  function step(by) {
    if (!begun) return goTo(0);
    goTo((pin.goal() ?? Math.ceil(time - 1e-6)) + by);
  }

  /** To where a line is computed in this round. @param {string} name */
  function goToLine(name) {
    const rounds = STEPS.map(({ lines, round }, k) => ({ k, round, has: lines.includes(name) }));
    const { round } = STEPS[Math.max(0, at)];
    const own = rounds.filter(({ has }) => has);
    goTo((own.find((each) => each.round === round) ?? own[0]).k);
  }

  function draw() {
    const moment = momentAt(trace, begun ? time : POSTER);
    scene.draw({ ...moment, u_hat: trace.u_hat });
    const shown = begun ? moment.step : POSTER;
    if (shown === at && root.dataset.begun === String(begun)) return;
    at = shown;
    root.dataset.begun = String(begun);
    show();
  }

  /** All that changes with the step alone. */
  function show() {
    const words = begun
      ? wordsOf(at, trace, real)
      : { title: "Routing, step by step", text: "Three parts vote for two wholes, and come to agree in three rounds." };
    title.textContent = words.title;
    text.textContent = words.text;
    procedure.show(STEPS[at]);
    rail.show(begun ? at : -1, words.title);
    back.disabled = !begun || at === 0;
    next.disabled = at === LAST;
    next.textContent = begun ? "Next" : "Start";
    scene.picture.setAttribute("aria-label", `${words.title}. ${words.text}`);
    Object.assign(root.dataset, dataOf(momentAt(trace, at), at));
    announce(`${words.title}. ${words.text}`);
  }

  function changed() {
    root.dataset.pinned = String(pin.active());
    skip.hidden = !pin.active();
  }

  arrowKeys(root, (dx) => (dx ? step(dx) : false), { Home: () => goTo(0), End: () => goTo(LAST) });
  const refresh = () => {
    painter.refresh();
    painter.paint(scene.digit, image);
  };
  refresh();
  changed();
  pin.arrange();
  draw();
  return [pin.stop, scene.stop, whenThemeChanges(refresh), () => stopGliding(), announce.cancel];
}

/** What tests and other scripts can read off the root, of a step that is done. */
function dataOf({ b, c, v, lengths }, at) {
  const inDigits = (numbers) => Array.from(numbers, (x) => x.toFixed(5)).join(",");
  return {
    step: at,
    kind: STEPS[at].kind,
    round: STEPS[at].round,
    b: inDigits(b),
    c: inDigits(c),
    v: inDigits(v),
    lengths: inDigits(lengths ?? bothLengths(v)),
  };
}

function render({ model, el, host }) {
  const root = makeRoot("RoutingSteps", "Routing by agreement, step by step: three parts vote for two wholes");
  return mount(el, root, async () => build(root, model, makeNetwork(await sharedWeights(model, host))));
}

export default { render };
