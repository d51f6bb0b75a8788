// Routing by agreement, a step at a time. In the book the page's scrolling moves it, elsewhere
// buttons and arrow keys do.
import {
  arrowsOf,
  I,
  J,
  LAST,
  momentAt,
  PART_NAMES,
  PARTS,
  pointsOf,
  STEPS,
  traceOf,
  WHOLES,
  wordsOf,
} from "./routing_model.js";
import {
  arrowKeys,
  eased,
  makeArrow,
  measure,
  mixed,
  rangeInput,
  wantsCalm,
} from "./shared/controls.js";
import { defineWidget } from "./shared/stage.js";
import { t } from "./shared/t.js";
import {
  clamp,
  element,
  format,
  makeAnnouncer,
  pushButton,
  setAttributes,
  svg,
} from "./shared/ui.js";

/** @import { Moment, Step, Trace } from "./routing_model.js" */
/** @typedef {number[]} Point  [x, y], in the units of the viewBox */
/** @typedef {ReturnType<typeof layoutOf>} Layout */

const PACE = 700; // milliseconds a step

// --------------------------------------------------------------------------- the procedure

const LINES = [
  { name: "u_hat", equation: t`û_j|i, the votes`, code: "u_hat  # [B, I, J, D_out]" },
  { name: "b0", equation: "b_ij = 0", code: "b = torch.zeros(u_hat.shape[:3])" },
  { name: "c", equation: "c_ij = softmax_j b_ij", code: "c = b.softmax(dim=2)" },
  { name: "s", equation: "s_j = Σ_i c_ij û_j|i", code: "s = (c.unsqueeze(3) * u_hat).sum(dim=1)" },
  { name: "v", equation: "v_j = squash(s_j)", code: "v = squash(s)" },
  { name: "a", equation: "a_ij = v_j · û_j|i", code: "a = agreement(u_hat, v)" },
  { name: "b", equation: "b_ij ← b_ij + a_ij", code: "b = b + a" },
];
const LINES_BEFORE_LOOP = 2;

/** The class of an equation's letter: vectors are bold, other letters italic. */
function classOf(/** @type {string} */ base) {
  if ("ûsv".includes(base)) return "vector";
  const isUpright = base.length > 1 || base === "Σ";
  return isUpright ? "" : "scalar";
}

/** Sets an equation: "b_ij" is b with the index ij. @param {string} text */
const notation = (text) =>
  text.split(/(\p{L}+_[ij|]+)/u).map((token) => {
    const [base, index] = token.split("_");
    if (index === undefined) return token;
    const letter = element("span", { class: classOf(base) }, base);
    return element("span", {}, letter, element("sub", {}, index));
  });

/** The lines of the procedure; those of the present step are lit. */
function makeProcedure() {
  const rows = LINES.map(({ name, equation, code }) => {
    const formula = element("span", { class: "equation" }, ...notation(equation));
    return element("p", { class: "line", "data-line": name }, formula, element("code", {}, code));
  });
  const before = rows.slice(0, LINES_BEFORE_LOOP);
  const inside = rows.slice(LINES_BEFORE_LOOP);
  const round = element("span", { class: "rounds-done" });
  const loop = element("div", { class: "loop" }, round, ...inside);
  const node = element("div", { class: "procedure" }, ...before, loop);
  const show = (/** @type {Step} */ { lines, round: count }) => {
    for (const row of rows) row.classList.toggle("lit", lines.includes(row.dataset.line));
    round.textContent = count ? t`round ${count} of 3` : t`3 rounds`;
  };
  return { node, show };
}

// ------------------------------------------------------------------------------ the layout

/** The strokes of the 7 in a unit square, and where their names stand. */
const STROKES = [
  { d: "M.16 .19H.8", name: { words: PART_NAMES[0], x: 0.46, y: 0.1, anchor: "middle" } },
  { d: "M.8 .19L.46 .88", name: { words: PART_NAMES[1], x: 0.74, y: 0.58, anchor: "start" } },
  { d: "M.2 .66h.001", name: { words: PART_NAMES[2], x: 0.21, y: 0.83, anchor: "middle" } },
];

/** The sizes of a picture that is less than 480 pixels wide, and of others; in CSS pixels. */
const SIZES = {
  narrow: {
    gap: 8,
    label: 11,
    highest: 150, // a plane
    flow: 56, // height of the ribbons
    barHigh: 10,
    icon: 34,
    head: 9,
    voteHead: 8,
    vote: [1, 4.5], // thickness of a vote without a share, and what a whole share adds
    foot: 3,
    shareGap: 3,
    logitGap: 3,
    whole: { y: 32, lengthX: 18, lengthY: 31 },
  },
  wide: {
    gap: 14,
    label: 13,
    highest: 230,
    flow: 90,
    barHigh: 13,
    icon: 62,
    head: 13,
    voteHead: 11,
    vote: [1.2, 6.5],
    foot: 4.5,
    shareGap: 5,
    logitGap: 9,
    whole: { y: 38, lengthX: 26, lengthY: 37 },
  },
};

/** The smallest and the largest of numbers. @param {number[]} numbers */
const extentOf = (numbers) => [Math.min(...numbers), Math.max(...numbers)];

/**
 * Where everything stands in a picture of this width. One scale for both planes holds all points.
 * @param {number} width  in CSS pixels @param {number[][][]} points  [x, y] of each whole
 */
function layoutOf(width, points) {
  const narrow = width < 480;
  const sizes = narrow ? SIZES.narrow : SIZES.wide;
  const across = points.map((whole) => extentOf(whole.map(([x]) => x)));
  const [lowest, highest] = extentOf(points.flat().map(([, y]) => y));
  const low = lowest - 0.25;
  const top = highest + 0.25;
  const wide = (width - sizes.gap) / 2; // of a plane
  const widest = Math.max(...across.map(([from, to]) => to - from));
  const fitting = wide / 1.12 / widest; // pixels for a length of 1, if only the width counted
  const high = Math.min(Math.ceil(fitting * (top - low)), sizes.highest);
  const unit = Math.min(fitting, high / (top - low));
  const planes = [0, wide + sizes.gap]; // their left edges
  const spare = (high - unit * (top - low)) / 2;
  const { flow, icon } = sizes;
  const bar = { wide: Math.min((wide - 24) / I, 92), high: sizes.barHigh, y: high + flow };
  const middle = bar.y + bar.high + 8 + icon / 2; // of the icons
  return {
    sizes,
    narrow,
    width,
    unit,
    planes,
    bar,
    icon,
    middle,
    plane: { wide, high },
    big: { x: width / 2, y: (high + flow) / 2 + 10, size: Math.min(high + flow - 20, 270) },
    columns: PARTS.map((_, i) => (width * (i + 0.5)) / I),
    height: middle + icon / 2 + 20,
    /** A point of a whole's plane, whose y points up. @returns {Point} */
    at(/** @type {number} */ j, /** @type {ArrayLike<number>} */ point) {
      const [from, to] = across[j];
      const x = planes[j] + wide / 2 + unit * (point[0] - (from + to) / 2);
      return [x, spare + unit * (top - point[1])];
    },
  };
}

// ----------------------------------------------------------------------------- the picture

const partOf = (/** @type {number} */ k) => PARTS[Math.floor(k / J)]; // of a vote
const nameOf = (/** @type {number} */ k) => STROKES[Math.floor(k / J)].name.words;

/** The two numbers of a whole's vector. @param {ArrayLike<number>} vectors  [J · 2] */
const pairOf = (vectors, /** @type {number} */ j) => [vectors[2 * j], vectors[2 * j + 1]];

function arrow(kind, /** @type {Point} */ from, /** @type {Point} */ to, size) {
  const { node, point } = makeArrow(kind);
  point(from, to, { size });
  return node;
}

/**
 * The picture: above, the planes of the wholes with the votes in them; below, the parts; between
 * them, the shares.
 * @param {Trace} trace @param {() => void} changed  called when it is laid out anew
 */
function makeScene(trace, changed) {
  const picture = svg("svg", { class: "picture", role: "img", "data-role": "picture" });
  const node = element("div", { class: "routing-scene" }, picture);
  const points = pointsOf(trace);
  /** @type {Layout | undefined} */
  let layout;
  const size = measure(node, () => {
    if (size.width < 100) return; // not laid out yet: nothing would fit
    layout = layoutOf(size.width, points);
    node.toggleAttribute("data-narrow", layout.narrow);
    const { width, height } = layout;
    setAttributes(picture, { viewBox: `0 0 ${width} ${height}`, width, height });
    changed();
  });

  function draw(/** @type {Moment} */ moment) {
    if (!layout) return;
    const visible = layersOf(layout, trace, moment).filter(({ opacity }) => opacity >= 0.002);
    picture.replaceChildren(
      ...visible.map(({ opacity, marks }) => svg("g", { opacity }, ...marks)),
    );
  }
  return { node, picture, draw, stop: size.stop };
}

/**
 * The layers of the picture, the lowest first.
 * @param {Layout} layout @param {Trace} trace @param {Moment} moment
 */
function layersOf(layout, trace, moment) {
  const { gathered, shared, laid, measured, seen } = moment;
  const votes = votesOf(layout, moment, arrowsOf(trace, moment));
  const places = placesOf(layout, votes);
  const beside = (kind, /** @type {(k: number) => string} */ word) =>
    places.map((place, k) => svg("text", { class: `tip ${kind} ${partOf(k)}`, ...place }, word(k)));
  const vectors = (kind, /** @type {ArrayLike<number>} */ numbers) =>
    WHOLES.map((_, j) => {
      const tip = layout.at(j, pairOf(numbers, j));
      return arrow(kind, layout.at(j, [0, 0]), tip, layout.sizes.head);
    });
  const products = beside("product", (k) => format(moment.a[k], 2, true));
  return [
    { opacity: 1.5 * gathered, marks: groundOf(layout) },
    { opacity: shared, marks: sharesOf(layout, moment) },
    { opacity: 1, marks: partsOf(layout, moment) },
    { opacity: measured, marks: [...agreementOf(layout, moment), ...products] },
    { opacity: 1, marks: votes.map(({ mark }) => mark) },
    { opacity: gathered * (1 - laid) * (1 - measured), marks: beside("", nameOf) },
    { opacity: seen.s, marks: vectors("sum", moment.s) },
    { opacity: seen.v, marks: vectors("capsule", moment.v) },
    { opacity: 1.5 * gathered, marks: wholesOf(layout, moment) },
  ];
}

/** The planes, each with its unit disc. @param {Layout} layout */
function groundOf({ planes, plane, unit, at }) {
  return planes.flatMap((x, j) => {
    const [cx, cy] = at(j, [0, 0]);
    const size = { rx: 10, x, y: 0, width: plane.wide, height: plane.high };
    const disc = svg("circle", { class: "disc", cx, cy, r: unit });
    return [svg("rect", { class: "ground", ...size }), disc];
  });
}

/** Each whole's name, and the length of its v. @param {Layout} layout @param {Moment} moment */
function wholesOf({ planes, plane, at, sizes }, { lengths }) {
  return WHOLES.flatMap((whole, j) => {
    const x = planes[j] + 12;
    const rail = plane.wide - 24;
    const [cx, cy] = at(j, [0, 0]);
    const length = lengths ? lengths[j] : 0;
    const gauge = (kind, width) =>
      svg("rect", { class: kind, rx: 2.5, x, y: 10, width, height: 5 });
    const words = lengths ? `‖v‖ = ${format(length)}` : "";
    const { y, lengthX, lengthY } = sizes.whole;
    return [
      gauge("gauge-rail", rail),
      gauge("gauge", rail * clamp(length, 0, 1)),
      svg("circle", { class: "origin", r: 2.5, cx, cy }),
      svg("text", { class: "whole", x, y }, String(whole)),
      svg("text", { class: "length-of-v", x: x + lengthX, y: lengthY }, words),
    ];
  });
}

/**
 * The 7, a part's own stroke before the others; together at first, then each in its place.
 * @param {Layout} layout @param {Moment} moment
 */
function partsOf({ big, columns, middle, icon, sizes }, { gathered }) {
  const t = eased(gathered);
  const size = big.size + (icon - big.size) * t;
  const together = [big.x - size / 2, big.y - size / 2];
  return PARTS.flatMap((part, i) => {
    const [x, y] = mixed(together, [columns[i] - size / 2, middle - size / 2], t);
    const strokes = STROKES.filter((_, k) => k !== i).map(({ d }) => svg("path", { d }));
    const others = svg("g", { class: "others", opacity: t }, ...strokes);
    const own = svg("path", { class: "own", d: STROKES[i].d });
    const transform = `translate(${x} ${y}) scale(${size})`;
    const seven = svg("g", { class: `icon ${part}`, transform }, others, own);

    const { words, ...name } = STROKES[i].name;
    const under = [columns[i], middle + icon / 2 + 14];
    const [nameX, nameY] = mixed([x + name.x * size, y + name.y * size], under, t);
    const about = {
      class: `part-name ${part}`,
      x: nameX,
      y: nameY,
      "text-anchor": t > 0.5 ? "middle" : name.anchor,
      style: `font-size: ${sizes.label + 4 * (1 - t)}px`,
    };
    return [seven, svg("text", about, words)];
  });
}

/** A share's way from a segment of a part's bar, at y0, up to a plane's lower edge, at y1. */
function ribbon([x0, x1, y0], [top0, top1, y1]) {
  const half = (y0 + y1) / 2;
  const left = `M${x0} ${y0}C${x0} ${half} ${top0} ${half} ${top0} ${y1}`;
  return `${left}H${top1}C${top1} ${half} ${x1} ${half} ${x1} ${y0}Z`;
}

/**
 * How each part shares itself out: a bar, and a ribbon up to each whole.
 * @param {Layout} layout @param {Moment} moment
 */
function sharesOf(layout, moment) {
  const { bar, planes, plane } = layout;
  // The left end, at a plane, of the next ribbon to it: ribbons lie side by side.
  const ends = WHOLES.map((_, j) => {
    const all = PARTS.reduce((sum, _part, i) => sum + moment.c[i * J + j], 0);
    return planes[j] + plane.wide / 2 - (all * bar.wide) / 2;
  });
  return PARTS.flatMap((_, i) =>
    WHOLES.flatMap((_whole, j) => {
      const marks = shareOf(layout, moment, i, j, ends[j]);
      ends[j] += bar.wide * moment.c[i * J + j];
      return marks;
    }),
  );
}

/**
 * One part's share for one whole: its ribbon, its segment of the bar, share and logit as numbers.
 */
function shareOf(
  /** @type {Layout} */ { bar, columns, plane, middle, icon, narrow, sizes },
  /** @type {Moment} */ { c, b, shared },
  /** @type {number} */ i,
  /** @type {number} */ j,
  /** @type {number} */ end,
) {
  const k = i * J + j;
  const left = columns[i] - bar.wide / 2;
  const x = j === 0 ? left : left + bar.wide * c[k - 1];
  const width = bar.wide * c[k];
  const rise = (plane.high - bar.y) * shared;
  const flow = ribbon([x, x + width, bar.y], [end, end + width, bar.y + rise]);
  const away = j === 0 ? -1 : 1; // numbers of the first whole stand on the left
  const side = j === 0 ? left : left + bar.wide;
  const anchor = { "text-anchor": j === 0 ? "end" : "start" };
  const share = narrow ? format(c[k]).replace(/^0/, "") : format(c[k]);
  const shareAt = { x: side + away * sizes.shareGap, y: bar.y + bar.high - 1 };
  const logitAt = { x: columns[i] + away * (icon / 2 + sizes.logitGap), y: middle + 5 };
  return [
    svg("path", { class: `ribbon ${partOf(k)}`, d: flow }),
    svg("rect", { class: `segment ${partOf(k)}`, x, y: bar.y, width, height: bar.high }),
    svg("text", { class: "share", ...shareAt, ...anchor }, share),
    svg("text", { class: "logit", ...logitAt, ...anchor }, format(b[k], 2, true)),
  ];
}

/**
 * The votes as arrows: each a mark, where its tip is, where it points to, of which whole.
 * @param {Layout} layout @param {Moment} moment @param {number[][][]} arrows
 */
function votesOf({ at, sizes }, { c, laid, gathered, seen }, arrows) {
  const faded = laid * clamp(seen.v * 2, 0, 1); // once squash begins
  const [thin, added] = sizes.vote;
  return arrows.map(([from, tip], k) => {
    const j = k % J;
    const start = at(j, from);
    const end = at(j, mixed(from, tip, gathered));
    const mark = arrow(`vote ${partOf(k)}`, start, end, sizes.voteHead + 4 * c[k]);
    setAttributes(mark, {
      opacity: gathered * (1 - 0.8 * faded),
      "stroke-width": thin + added * c[k],
    });
    return { mark, end, to: [end[0] - start[0], end[1] - start[1]], j };
  });
}

const TIP = 7; // pixels from an arrow's tip to its name

/**
 * Where names and numbers stand, beside the arrows' tips: within the plane, and not on each other.
 * @param {Layout} layout @param {ReturnType<typeof votesOf>} votes
 */
function placesOf({ sizes, planes, plane }, votes) {
  const { label } = sizes;
  const places = [];
  planes.forEach((left, j) => {
    const own = [...votes.keys()].filter((k) => votes[k].j === j);
    own.sort((p, q) => votes[p].end[1] - votes[q].end[1]);
    let above = Number.NEGATIVE_INFINITY; // the y of the name above
    for (const k of own) {
      const place = placeOf(votes[k], left, plane.wide, label);
      place.y = Math.max(place.y, above + label + 1);
      above = place.y;
      places[k] = place;
    }
  });
  return places;
}

/** The place of one name, in a plane with this left edge and width. */
function placeOf({ end, to }, left, wide, /** @type {number} */ label) {
  const room = 3.4 * label; // for the longest name
  const [x, y] = end;
  const space = x - TIP - room - left; // to the tip's left
  const excess = Math.max(0, x + TIP + room - left - wide); // beyond the plane's right edge
  const leftwards = to[0] < 0 && (space > 0 || to[1] < 0);
  const inwards = leftwards ? Math.min(0, space) : excess; // then the name stands under the tip
  return {
    x: x + (leftwards ? -TIP : TIP) - inwards,
    y: y + label / 3 + (inwards && label * Math.sign(inwards)),
    "text-anchor": leftwards ? "end" : "start",
  };
}

/** How far each vote reaches along v. @param {Layout} layout @param {Moment} moment */
function agreementOf({ at, sizes }, { a, v, measured }) {
  return WHOLES.flatMap((_, j) => {
    const [vx, vy] = pairOf(v, j);
    const length = Math.hypot(vx, vy) || 1;
    const ux = vx / length;
    const uy = vy / length;
    const along = (/** @type {number} */ reach) => at(j, [reach * ux, reach * uy]);
    const zero = along(0);
    const feet = PARTS.map((part, i) => {
      const foot = along((a[i * J + j] / length) * measured);
      const aside = (i - 1) * sizes.foot; // so that the three do not lie on each other
      const sx = uy * aside;
      const sy = ux * aside;
      const d = `M${zero[0] + sx} ${zero[1] + sy}L${foot[0] + sx} ${foot[1] + sy}`;
      return svg("path", { class: `foot ${part}`, d });
    });
    return [svg("path", { class: "along", d: `M${along(-1.5)}L${along(2.6)}` }), ...feet];
  });
}

// --------------------------------------------------------------------------- the scrolling

/**
 * Lets the page's scrolling choose a step: the stage sticks in the window while its track scrolls
 * past, and an observer reports which step's stretch of the track is at the middle of the window.
 * Only in a page of the book, where the stage fits into the window, and not where the reader wants
 * less motion.
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
  /** The height of the window that the page's own bar covers. */
  const covered = () => Number.parseFloat(getComputedStyle(stage).top) || 0;
  const size = measure(stage, () => {
    const fits = stage.offsetHeight <= window.innerHeight - 2 * covered();
    const isInBook = track.closest("figure.live-widget") !== null;
    track.toggleAttribute("data-pinned", fits && !wantsCalm() && isInBook);
  });

  /** Scrolls to the middle of a step's stretch, or past the last one; the stage stays in place. */
  function scrollTo(/** @type {number} */ step) {
    const { top, bottom } = (stretches[step] ?? track).getBoundingClientRect();
    const by = step > LAST ? bottom - covered() : (top + bottom - window.innerHeight) / 2;
    window.scrollBy({ top: by, behavior: "instant" });
  }
  return { pinned, scrollTo, stops: [size.stop, () => observer.disconnect()] };
}

// ------------------------------------------------------------------------------ the widget

const NOT_BEGUN = -1; // the step before the reader begins
const START = {
  title: t`Routing, step by step`,
  text: t`Three parts vote for two wholes, and agree in three rounds.`,
};
const LABEL = t`Routing by agreement, step by step: three parts vote for two wholes`;
/** The step that is shown before the reader begins: it does not show the answer yet. */
const POSTER = STEPS.findIndex(({ kind }) => kind === "votes");

/** The buttons and the slider. @param {{ back: () => void, next: () => void, skip: () => void,
 *   goTo: (step: number) => void }} _ */
function makeControls({ back, next, skip, goTo }) {
  const backButton = pushButton("back", "‹", back, {
    class: "step",
    "aria-label": t`One step back`,
  });
  const { input, show: showStep } = rangeInput({
    min: 0,
    max: LAST,
    "data-role": "time",
    "aria-label": t`Step`,
    oninput: () => goTo(input.valueAsNumber),
  });
  const nextButton = pushButton("next", t`Start`, next, { class: "primary-action" });
  const skipButton = pushButton("skip", t`Skip ↓`, skip, { class: "skip" });
  const bar = element("div", { class: "steps-bar" }, backButton, input, nextButton, skipButton);

  function show(/** @type {number} */ at, /** @type {string} */ title) {
    const step = Math.max(at, 0);
    showStep(step, t`${step + 1} of ${STEPS.length}: ${title}`);
    // Not `disabled`: a button that has just been pressed would lose the focus.
    setAttributes(backButton, { "aria-disabled": at <= 0 });
    setAttributes(nextButton, { "aria-disabled": at === LAST });
    nextButton.textContent = at === NOT_BEGUN ? t`Start` : t`Next`;
  }
  return { bar, show };
}

export default defineWidget("RoutingSteps", LABEL, ({ root, get, animate, stops }) => {
  const trace = traceOf(get("u_hat"));
  let time = POSTER;
  let at = NOT_BEGUN;

  const scene = makeScene(trace, draw);
  const procedure = makeProcedure();
  const title = element("p", { class: "step-title", "data-role": "title" });
  const text = element("p", { class: "step-text", "data-role": "text" });
  const controls = makeControls({
    back: () => at > 0 && goTo(at - 1),
    next: () => at < LAST && goTo(at + 1),
    skip: () => scrolling.scrollTo(LAST + 1),
    goTo,
  });
  const words = element("div", { class: "words" }, title, text);
  const side = element("div", { class: "side" }, words, procedure.node);
  const board = element("div", { class: "board" }, scene.node, side);
  const stage = element("div", { class: "pinned-stage" }, board, controls.bar);
  const track = element("div", { class: "scroll-track" }, stage);
  root.append(track);
  const announce = makeAnnouncer(root);
  const scrolling = followScrolling(track, stage, show);
  stops.push(...scrolling.stops, scene.stop, announce.cancel);

  function draw() {
    scene.draw(momentAt(trace, time));
  }

  function goTo(/** @type {number} */ step) {
    const goal = clamp(step, 0, LAST);
    if (scrolling.pinned()) scrolling.scrollTo(goal);
    show(goal);
  }

  /** Moves to a step. */
  function show(/** @type {number} */ goal) {
    if (goal === at) return;
    const from = at === NOT_BEGUN ? goal : time;
    at = goal;
    showWords();
    const move = (/** @type {number} */ t) => {
      time = from + (goal - from) * t;
      draw();
    };
    animate(move, PACE * clamp(Math.abs(goal - from), 0.4, 2));
  }

  /** Shows all that depends on the step alone. */
  function showWords() {
    const words = at === NOT_BEGUN ? START : wordsOf(at, trace);
    title.textContent = words.title;
    text.textContent = words.text;
    procedure.show(STEPS[Math.max(at, 0)]);
    controls.show(at, words.title);
    scene.picture.setAttribute("aria-label", `${words.title}. ${words.text}`);
    root.dataset.step = String(at);
    announce(`${words.title}. ${words.text}`);
  }

  arrowKeys(root, (dx) => (dx ? goTo(at + dx) : false), {
    Home: () => goTo(0),
    End: () => goTo(LAST),
  });
  showWords();
  return draw;
});
