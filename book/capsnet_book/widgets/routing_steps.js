// Routing by agreement, a step at a time. In the book the page's scrolling moves it, elsewhere buttons and arrow keys.
import { arrowsOf, I, J, LAST, momentAt, PARTS, pointsOf, STEPS, traceOf, WHOLES, wordsOf } from "./routing_model.js";
import { arrowKeys, eased, makeArrow, measure, mixed, rangeInput, wantsCalm } from "./shared/controls.js";
import { defineWidget } from "./shared/stage.js";
import { clamp, element, format, makeAnnouncer, pushButton, setAttributes, svg } from "./shared/ui.js";

const PACE = 700; // milliseconds a step
const WAY = 0.3; // of the window's height: so far the page scrolls from step to step, here and in the styles

// ------------------------------------------------------------------------------------------- the procedure

const LINES = [
  { name: "u_hat", equation: "û_j|i, the votes", code: "u_hat  # [B, I, J, D_out]" },
  { name: "b0", equation: "b_ij = 0", code: "b = torch.zeros(u_hat.shape[:3])" },
  { name: "c", equation: "c_ij = softmax_j b_ij", code: "c = b.softmax(dim=2)" },
  { name: "s", equation: "s_j = Σ_i c_ij û_j|i", code: "s = (c.unsqueeze(3) * u_hat).sum(dim=1)" },
  { name: "v", equation: "v_j = squash(s_j)", code: "v = squash(s)" },
  { name: "a", equation: "a_ij = v_j · û_j|i", code: "a = (u_hat * v.unsqueeze(1)).sum(dim=3)" },
  { name: "b", equation: "b_ij ← b_ij + a_ij", code: "b = b + a" },
];
const BEFORE = 2; // lines before the loop

/** "b_ij" as b with the index ij; vectors in bold. @param {string} text */
const notation = (text) =>
  text.split(/(\p{L}+_[ij|]+)/u).map((token) => {
    const [base, index] = token.split("_");
    if (index === undefined) return token;
    const kind = "ûsv".includes(base) ? "vector" : base.length > 1 || base === "Σ" ? "" : "scalar";
    return element("span", {}, element("span", { class: kind }, base), element("sub", {}, index));
  });

/** The lines of the procedure; those of the present step are lit. */
function makeProcedure() {
  const rows = LINES.map(({ name, equation, code }) => {
    const formula = element("span", { class: "equation" }, ...notation(equation));
    return element("p", { class: "line", "data-line": name }, formula, element("code", {}, code));
  });
  const round = element("span", { class: "rounds-done" });
  const loop = element("div", { class: "loop" }, round, ...rows.slice(BEFORE));
  const node = element("div", { class: "procedure" }, ...rows.slice(0, BEFORE), loop);
  const show = (/** @type {(typeof STEPS)[number]} */ { lines, round: count }) => {
    for (const row of rows) row.classList.toggle("lit", lines.includes(row.dataset.line));
    round.textContent = count ? `round ${count} of 3` : "3 rounds";
  };
  return { node, show };
}

// ---------------------------------------------------------------------------------------------- the picture

const STROKES = [
  { d: "M.16 .19H.8", name: { x: 0.46, y: 0.1, anchor: "middle" } },
  { d: "M.8 .19L.46 .88", name: { x: 0.74, y: 0.58, anchor: "start" } },
  { d: "M.2 .66h.001", name: { x: 0.21, y: 0.83, anchor: "middle" } },
]; // of the 7, in a square of 1, and where their names stand

/** Where everything stands in a picture of that width, in CSS pixels. One scale for both planes holds all points. */
function layoutOf(width, points) {
  const narrow = width < 480;
  const [gap, label] = [narrow ? 8 : 14, narrow ? 11 : 13];
  const ends = (d) => points.map((each) => [Math.min, Math.max].map((end) => end(...each.map((point) => point[d]))));
  const [across, up] = [ends(0), ends(1)];
  const [low, top] = [Math.min(...up.map(([from]) => from)) - 0.25, Math.max(...up.map(([, to]) => to)) + 0.25];
  const wide = (width - gap) / 2; // a plane
  const widest = wide / 1.12 / Math.max(...across.map(([from, to]) => to - from)); // pixels for 1
  const high = Math.min(Math.ceil(widest * (top - low)), narrow ? 150 : 230);
  const unit = Math.min(widest, high / (top - low));
  const planes = [0, wide + gap];
  const spare = (high - unit * (top - low)) / 2;
  const flow = narrow ? 56 : 90; // where the shares flow
  const bar = { wide: Math.min((wide - 24) / I, 92), high: narrow ? 10 : 13, y: high + flow };
  const icon = narrow ? 34 : 62;
  const middle = bar.y + bar.high + 8 + icon / 2; // of the icons
  return {
    ...{ narrow, width, label, unit, planes, bar, icon, middle },
    plane: { wide, high },
    big: { x: width / 2, y: (high + flow) / 2 + 10, size: Math.min(high + flow - 20, 270) },
    columns: PARTS.map((_, i) => (width * (i + 0.5)) / I),
    height: middle + icon / 2 + 20,
    /** A point of a whole's plane; y up. */
    at(j, [x, y]) {
      const [from, to] = across[j];
      return [planes[j] + wide / 2 + unit * (x - (from + to) / 2), spare + unit * (top - y)];
    },
  };
}

/** A share's way from a segment of a part's bar up to a plane's lower edge. */
function ribbon([x0, x1, y0], [top0, top1, y1]) {
  const half = (y0 + y1) / 2;
  const left = `M${x0} ${y0}C${x0} ${half} ${top0} ${half} ${top0} ${y1}`;
  return `${left}H${top1}C${top1} ${half} ${x1} ${half} ${x1} ${y0}Z`;
}

const seen = (node, opacity) => {
  node.style.opacity = opacity.toFixed(3);
  node.style.visibility = opacity < 0.002 ? "hidden" : "";
};
const each = (count, make) => Array.from({ length: count }, (_, k) => make(k));
const partOf = (k) => PARTS[Math.floor(k / J)];

/** The 7, a part's own stroke before the others. */
function iconOf(part, i) {
  const others = STROKES.filter((_, k) => k !== i).map(({ d }) => svg("path", { d }));
  const own = svg("path", { class: "own", d: STROKES[i].d });
  return svg("g", { class: `icon ${part}` }, svg("g", { class: "others" }, ...others), own);
}

/** What the picture is made of; what comes and goes together is a group. */
function makeMarks() {
  const text = (kind) => svg("text", { class: kind });
  const group = (...marks) => svg("g", {}, ...marks.flat().map((mark) => mark.node ?? mark));
  const marks = {
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
    labels: each(I * J, (k) => svg("text", { class: `tip ${partOf(k)}` }, partOf(k))),
    products: each(I * J, (k) => text(`tip product ${partOf(k)}`)),
    lines: WHOLES.map(() => svg("path", { class: "along" })),
    feet: each(I * J, (k) => svg("path", { class: `foot ${partOf(k)}` })),
    sums: WHOLES.map(() => makeArrow("sum")),
    capsules: WHOLES.map(() => makeArrow("capsule")),
    icons: PARTS.map(iconOf),
    titles: PARTS.map((part) => svg("text", { class: `part-name ${part}` }, part)),
  };
  const groups = {
    ground: group(marks.planes, marks.discs),
    sharing: group(marks.ribbons, marks.segments, marks.shares, marks.logits),
    parts: group(marks.icons, marks.titles),
    agreement: group(marks.lines, marks.feet, marks.products),
    votes: group(marks.votes),
    names: group(marks.labels),
    sums: group(marks.sums),
    capsules: group(marks.capsules),
    wholes: group(marks.rails, marks.gauges, marks.lengths, marks.origins, marks.names),
  };
  const picture = svg("svg", { class: "picture", role: "img", "data-role": "picture" }, ...Object.values(groups));
  return { ...marks, groups, picture };
}

/** The picture: above the planes of the wholes with the votes in them, below the parts, between them the shares. */
function makeScene(trace, changed) {
  const marks = makeMarks();
  const node = element("div", { class: "routing-scene" }, marks.picture);
  const points = pointsOf(trace);
  let layout;
  const size = measure(node, () => {
    if (size.width < 100) return; // not laid out yet: nothing would fit
    layout = layoutOf(size.width, points);
    node.toggleAttribute("data-narrow", layout.narrow);
    furnishPlaces(marks, layout);
    changed();
  });

  function draw(/** @type {ReturnType<typeof momentAt>} */ moment) {
    if (!layout) return;
    drawParts(marks, layout, moment);
    drawShares(marks, layout, moment);
    drawVotes(marks, layout, moment, arrowsOf(trace, moment));
    drawAgreement(marks, layout, moment);
    drawCapsules(marks, layout, moment);
    const { gathered, shared, laid, measured } = moment;
    const strengths = {
      ...{ ground: 1.5 * gathered, wholes: 1.5 * gathered, sharing: shared, agreement: measured },
      names: gathered * (1 - laid) * (1 - measured),
      ...{ sums: moment.seen.s, capsules: moment.seen.v },
    };
    for (const [group, opacity] of Object.entries(strengths)) seen(marks.groups[group], opacity);
  }
  return { node, picture: marks.picture, draw, stop: size.stop };
}

/** What does not move, once the width is known. */
function furnishPlaces(marks, { width, height, plane, planes, narrow }) {
  setAttributes(marks.picture, { viewBox: `0 0 ${width} ${height}`, width, height });
  planes.forEach((left, j) => {
    setAttributes(marks.planes[j], { x: left, y: 0, width: plane.wide, height: plane.high });
    setAttributes(marks.names[j], { x: left + 12, y: narrow ? 32 : 38 });
    setAttributes(marks.lengths[j], { x: left + (narrow ? 30 : 38), y: narrow ? 31 : 37 });
    setAttributes(marks.rails[j], { x: left + 12, y: 10, width: plane.wide - 24 });
    setAttributes(marks.gauges[j], { x: left + 12, y: 10 });
  });
}

function drawParts(marks, { big, columns, middle, icon, label }, { gathered }) {
  const t = eased(gathered);
  PARTS.forEach((_, i) => {
    const size = big.size + (icon - big.size) * t;
    const [x, y] = mixed([big.x - size / 2, big.y - size / 2], [columns[i] - size / 2, middle - size / 2], t);
    marks.icons[i].setAttribute("transform", `translate(${x} ${y}) scale(${size})`);
    marks.icons[i].firstChild.style.opacity = t;
    const { x: nameX, y: nameY, anchor } = STROKES[i].name;
    const [atX, atY] = mixed([x + nameX * size, y + nameY * size], [columns[i], middle + icon / 2 + 14], t);
    setAttributes(marks.titles[i], { x: atX, y: atY, "text-anchor": t > 0.5 ? "middle" : anchor });
    marks.titles[i].style.fontSize = `${label + 4 * (1 - t)}px`;
  });
}

function drawShares(marks, { bar, columns, planes, plane, middle, icon, narrow }, { c, b, shared }) {
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
}

function drawVotes(marks, { at, narrow, label, planes, plane }, { c, laid, gathered, seen: { v } }, arrows) {
  const faded = laid * clamp(v * 2, 0, 1); // once squash begins
  const [thin, thick] = narrow ? [1, 4.5] : [1.2, 6.5];
  const tips = arrows.map(([from, tip], k) => {
    const grown = mixed(from, tip, gathered);
    const [start, end] = [at(k % J, from), at(k % J, grown)];
    marks.votes[k].point(start, end, { size: (narrow ? 8 : 11) + 4 * c[k] });
    marks.votes[k].node.style.strokeWidth = thin + thick * c[k];
    seen(marks.votes[k].node, gathered * (1 - 0.8 * faded));
    return { end, to: [end[0] - start[0], end[1] - start[1]], j: k % J };
  });
  WHOLES.forEach((_, j) => placeLabels(tips, j, { label, left: planes[j], wide: plane.wide }, marks));
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

function drawAgreement(marks, { at, narrow }, { a, v, measured }) {
  WHOLES.forEach((_, j) => {
    const along = [v[j * 2], v[j * 2 + 1]];
    const length = Math.hypot(...along) || 1;
    const [ux, uy] = along.map((x) => x / length);
    const [from, to] = [at(j, [-1.5 * ux, -1.5 * uy]), at(j, [2.6 * ux, 2.6 * uy])];
    marks.lines[j].setAttribute("d", `M${from}L${to}`);
    for (let i = 0; i < I; i++) {
      const k = i * J + j;
      const reach = a[k] / length; // of the vote along v
      const foot = at(j, [reach * measured * ux, reach * measured * uy]);
      const aside = (i - 1) * (narrow ? 3 : 4.5); // so that the three do not lie on each other
      const [sx, sy] = [uy * aside, ux * aside];
      const zero = at(j, [0, 0]);
      marks.feet[k].setAttribute("d", `M${zero[0] + sx} ${zero[1] + sy}L${foot[0] + sx} ${foot[1] + sy}`);
      marks.products[k].textContent = format(a[k], 2, true);
    }
  });
}

function drawCapsules(marks, { at, unit, plane, narrow }, moment) {
  WHOLES.forEach((_, j) => {
    const [s, v] = [moment.s, moment.v].map((vectors) => [vectors[j * 2], vectors[j * 2 + 1]]);
    const zero = at(j, [0, 0]);
    setAttributes(marks.discs[j], { cx: zero[0], cy: zero[1], r: unit });
    setAttributes(marks.origins[j], { cx: zero[0], cy: zero[1] });
    marks.sums[j].point(zero, at(j, s), { size: narrow ? 9 : 13 });
    marks.capsules[j].point(zero, at(j, v), { size: narrow ? 9 : 13 });
    const length = moment.lengths?.[j];
    marks.gauges[j].setAttribute("width", ((plane.wide - 24) * clamp(length ?? 0, 0, 1)).toFixed(1));
    marks.lengths[j].textContent = length === undefined ? "" : `‖v‖ = ${format(length)}`;
  });
}

// -------------------------------------------------------------------------------------------- the scrolling

/**
 * Lets the page's scrolling choose a step: the stage sticks in the window while its track scrolls past, and one
 * observer says which step's stretch of the track is at the middle of the window. Only in a page of the book, where the
 * stage fits into the window, and where less motion is not wished for.
 * @param {HTMLElement} track @param {HTMLElement} stage @param {(step: number) => void} reached
 */
function followScrolling(track, stage, reached) {
  const stretches = STEPS.map(() => element("div"));
  track.append(element("div", { class: "scroll-steps", "aria-hidden": "true" }, ...stretches));
  const pinned = () => "pinned" in track.dataset;
  const observer = new IntersectionObserver(
    (entries) => {
      const last = entries.findLast(({ isIntersecting }) => isIntersecting);
      if (last && pinned()) reached(stretches.indexOf(/** @type {any} */ (last.target)));
    },
    { rootMargin: "-50% 0px -50% 0px" },
  );
  for (const stretch of stretches) observer.observe(stretch);
  const covered = () => Number.parseFloat(getComputedStyle(stage).top) || 0; // of the window, by the page's own bar
  const size = measure(stage, () => {
    const fits = stage.offsetHeight <= window.innerHeight - 2 * covered();
    track.toggleAttribute("data-pinned", fits && !wantsCalm() && track.closest("figure.live-widget") !== null);
  });

  /** Scrolls to the middle of a step's stretch, or past the last; the stage, which sticks, stands still. */
  function scrollTo(step) {
    const { top, bottom } = track.getBoundingClientRect();
    const by = step > LAST ? bottom : top + (step + 0.5) * WAY * window.innerHeight;
    window.scrollBy({ top: by - covered(), behavior: "instant" });
  }
  const stop = () => {
    observer.disconnect();
    size.stop();
  };
  return { pinned, scrollTo, stop };
}

// ----------------------------------------------------------------------------------------------- the widget

const START = { title: "Routing, step by step", text: "Three parts vote for two wholes, and agree in three rounds." };
const LABEL = "Routing by agreement, step by step: three parts vote for two wholes";
const POSTER = STEPS.findIndex(({ kind }) => kind === "votes"); // before the reader begins: no answer yet

export default defineWidget("RoutingSteps", LABEL, ({ root, get, animate, stops }) => {
  const trace = traceOf(get("u_hat"));
  let time = POSTER;
  let at = -1; // the step, -1 before the reader begins

  const scene = makeScene(trace, () => draw());
  const procedure = makeProcedure();
  const title = element("p", { class: "step-title", "data-role": "title" });
  const text = element("p", { class: "step-text", "data-role": "text" });
  const oninput = () => goTo(input.valueAsNumber);
  const { input, show: showAt } = rangeInput({ min: 0, max: LAST, "data-role": "time", "aria-label": "Step", oninput });
  const back = pushButton("back", "‹", () => goTo(at - 1), { class: "step", "aria-label": "One step back" });
  const next = pushButton("next", "Start", () => goTo(at + 1), { class: "primary-action" });
  const skip = pushButton("skip", "Skip ↓", () => scrolling.scrollTo(LAST + 1), { class: "skip" });
  const side = element("div", { class: "side" }, element("div", { class: "words" }, title, text), procedure.node);
  const board = element("div", { class: "board" }, scene.node, side);
  const bar = element("div", { class: "steps-bar" }, back, input, next, skip);
  const stage = element("div", { class: "pinned-stage" }, board, bar);
  const track = element("div", { class: "scroll-track" }, stage);
  root.append(track);
  const announce = makeAnnouncer(root);
  const scrolling = followScrolling(track, stage, show);
  stops.push(scrolling.stop, scene.stop, announce.cancel);

  function goTo(/** @type {number} */ to) {
    const goal = clamp(to, 0, LAST);
    if (scrolling.pinned()) scrolling.scrollTo(goal);
    show(goal);
  }

  function show(/** @type {number} */ goal) {
    if (goal === at) return;
    const from = at < 0 ? goal : time;
    at = goal;
    showWords();
    const move = (/** @type {number} */ t) => {
      time = from + (goal - from) * t;
      draw();
    };
    animate(move, PACE * clamp(Math.abs(goal - from), 0.4, 2));
  }

  const draw = () => scene.draw(momentAt(trace, time));

  /** All that changes with the step alone. */
  function showWords() {
    const words = at < 0 ? START : wordsOf(at, trace);
    const step = Math.max(at, 0);
    title.textContent = words.title;
    text.textContent = words.text;
    procedure.show(STEPS[step]);
    showAt(step, `${step + 1} of ${STEPS.length}: ${words.title}`);
    back.disabled = at <= 0;
    next.disabled = at === LAST;
    next.textContent = at < 0 ? "Start" : "Next";
    scene.picture.setAttribute("aria-label", `${words.title}. ${words.text}`);
    root.dataset.step = String(at);
    announce(`${words.title}. ${words.text}`);
  }

  arrowKeys(root, (dx) => (dx ? goTo(at + dx) : false), { Home: () => goTo(0), End: () => goTo(LAST) });
  showWords();
  return draw;
});
