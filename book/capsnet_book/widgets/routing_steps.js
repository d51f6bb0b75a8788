// Routing by agreement, a step at a time. In the book the page's scrolling moves it, elsewhere buttons and arrow keys.
import {
  arrowsOf,
  I,
  J,
  LAST,
  momentAt,
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
import {
  clamp,
  element,
  format,
  makeAnnouncer,
  pushButton,
  setAttributes,
  svg,
} from "./shared/ui.js";

const PACE = 700; // milliseconds a step

// ------------------------------------------------------------------------------------------- the procedure

const LINES = [
  { name: "u_hat", equation: "û_j|i, the votes", code: "u_hat  # [B, I, J, D_out]" },
  { name: "b0", equation: "b_ij = 0", code: "b = torch.zeros(u_hat.shape[:3])" },
  { name: "c", equation: "c_ij = softmax_j b_ij", code: "c = b.softmax(dim=2)" },
  { name: "s", equation: "s_j = Σ_i c_ij û_j|i", code: "s = (c.unsqueeze(3) * u_hat).sum(dim=1)" },
  { name: "v", equation: "v_j = squash(s_j)", code: "v = squash(s)" },
  { name: "a", equation: "a_ij = v_j · û_j|i", code: "a = agreement(u_hat, v)" },
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
  { d: "M.16 .19H.8", name: { words: "bar", x: 0.46, y: 0.1, anchor: "middle" } },
  { d: "M.8 .19L.46 .88", name: { words: "stem", x: 0.74, y: 0.58, anchor: "start" } },
  { d: "M.2 .66h.001", name: { words: "speck", x: 0.21, y: 0.83, anchor: "middle" } },
]; // of the 7, in a square of 1, and where their names stand

/** Where everything stands in a picture of that width, in CSS pixels. One scale for both planes holds all points. */
function layoutOf(width, points) {
  const narrow = width < 480;
  const [gap, label] = [narrow ? 8 : 14, narrow ? 11 : 13];
  const ends = (d) =>
    points.map((each) => [Math.min, Math.max].map((end) => end(...each.map((point) => point[d]))));
  const [across, up] = [ends(0), ends(1)];
  const [low, top] = [
    Math.min(...up.map(([from]) => from)) - 0.25,
    Math.max(...up.map(([, to]) => to)) + 0.25,
  ];
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

const partOf = (k) => PARTS[Math.floor(k / J)];
const nameOf = (k) => STROKES[Math.floor(k / J)].name.words;

function arrow(kind, from, to, size) {
  const { node, point } = makeArrow(kind);
  point(from, to, { size });
  return node;
}

/** The picture: above the planes of the wholes with the votes in them, below the parts, between them the shares. */
function makeScene(trace, changed) {
  const picture = svg("svg", { class: "picture", role: "img", "data-role": "picture" });
  const node = element("div", { class: "routing-scene" }, picture);
  const points = pointsOf(trace);
  let layout;
  const size = measure(node, () => {
    if (size.width < 100) return; // not laid out yet: nothing would fit
    layout = layoutOf(size.width, points);
    node.toggleAttribute("data-narrow", layout.narrow);
    const { width, height } = layout;
    setAttributes(picture, { viewBox: `0 0 ${width} ${height}`, width, height });
    changed();
  });

  function draw(/** @type {ReturnType<typeof momentAt>} */ moment) {
    if (!layout) return;
    const { gathered, shared, laid, measured, seen } = moment;
    const votes = votesOf(layout, moment, arrowsOf(trace, moment));
    const places = placesOf(layout, votes);
    const beside = (kind, word) =>
      places.map((place, k) =>
        svg("text", { class: `tip ${kind} ${partOf(k)}`, ...place }, word(k)),
      );
    const arrows = (kind, vectors) =>
      WHOLES.map((_, j) =>
        arrow(kind, layout.at(j, [0, 0]), layout.at(j, pairOf(vectors, j)), layout.narrow ? 9 : 13),
      );
    /** From the lowest: how strongly it is seen, and what it is made of. @type {[number, SVGElement[]][]} */
    const layers = [
      [1.5 * gathered, groundOf(layout)],
      [shared, sharesOf(layout, moment)],
      [1, partsOf(layout, moment)],
      [
        measured,
        [...agreementOf(layout, moment), ...beside("product", (k) => format(moment.a[k], 2, true))],
      ],
      [1, votes.map(({ mark }) => mark)],
      [gathered * (1 - laid) * (1 - measured), beside("", nameOf)],
      [seen.s, arrows("sum", moment.s)],
      [seen.v, arrows("capsule", moment.v)],
      [1.5 * gathered, wholesOf(layout, moment)],
    ];
    picture.replaceChildren(
      ...layers.map(([opacity, marks]) => (opacity < 0.002 ? "" : svg("g", { opacity }, ...marks))),
    );
  }
  return { node, picture, draw, stop: size.stop };
}

/** The two numbers of a whole's vector. */
const pairOf = (vectors, j) => [vectors[2 * j], vectors[2 * j + 1]];

function groundOf({ planes, plane, unit, at }) {
  return planes.flatMap((x, j) => {
    const [cx, cy] = at(j, [0, 0]);
    const ground = svg("rect", {
      class: "ground",
      rx: 10,
      x,
      y: 0,
      width: plane.wide,
      height: plane.high,
    });
    return [ground, svg("circle", { class: "disc", cx, cy, r: unit })];
  });
}

/** Each whole's name, and how long it is. */
function wholesOf({ planes, plane, at, narrow }, { lengths }) {
  return WHOLES.flatMap((whole, j) => {
    const [x, wide] = [planes[j] + 12, plane.wide - 24];
    const [cx, cy] = at(j, [0, 0]);
    const length = lengths?.[j];
    const gauge = (kind, width) =>
      svg("rect", { class: kind, rx: 2.5, x, y: 10, width, height: 5 });
    const said = length === undefined ? "" : `‖v‖ = ${format(length)}`;
    return [
      ...[gauge("gauge-rail", wide), gauge("gauge", wide * clamp(length ?? 0, 0, 1))],
      svg("circle", { class: "origin", r: 2.5, cx, cy }),
      svg("text", { class: "whole", x, y: narrow ? 32 : 38 }, String(whole)),
      svg("text", { class: "length-of-v", x: x + (narrow ? 18 : 26), y: narrow ? 31 : 37 }, said),
    ];
  });
}

/** The 7, a part's own stroke before the others; together at first, then each in its place. */
function partsOf({ big, columns, middle, icon, label }, { gathered }) {
  const t = eased(gathered);
  return PARTS.flatMap((part, i) => {
    const size = big.size + (icon - big.size) * t;
    const [x, y] = mixed(
      [big.x - size / 2, big.y - size / 2],
      [columns[i] - size / 2, middle - size / 2],
      t,
    );
    const strokes = STROKES.filter((_, k) => k !== i).map(({ d }) => svg("path", { d }));
    const others = svg("g", { class: "others", opacity: t }, ...strokes);
    const own = svg("path", { class: "own", d: STROKES[i].d });
    const transform = `translate(${x} ${y}) scale(${size})`;
    const seven = svg("g", { class: `icon ${part}`, transform }, others, own);
    const { words, x: nameX, y: nameY, anchor } = STROKES[i].name;
    const [atX, atY] = mixed(
      [x + nameX * size, y + nameY * size],
      [columns[i], middle + icon / 2 + 14],
      t,
    );
    const about = {
      "text-anchor": t > 0.5 ? "middle" : anchor,
      style: `font-size: ${label + 4 * (1 - t)}px`,
    };
    return [seven, svg("text", { class: `part-name ${part}`, x: atX, y: atY, ...about }, words)];
  });
}

/** How each part shares itself out: a bar, and a ribbon up to each whole. */
function sharesOf({ bar, columns, planes, plane, middle, icon, narrow }, { c, b, shared }) {
  const tops = WHOLES.map((_, j) => {
    const all = PARTS.reduce((sum, _, i) => sum + c[i * J + j], 0);
    return planes[j] + plane.wide / 2 - (all * bar.wide) / 2;
  });
  const far = icon / 2 + (narrow ? 3 : 9);
  return Array.from({ length: I * J }, (_, k) => {
    const [i, j] = [Math.floor(k / J), k % J];
    const left = columns[i] - bar.wide / 2;
    const x = j === 0 ? left : left + bar.wide * c[k - 1];
    const width = bar.wide * c[k];
    const top = tops[j];
    tops[j] += width;
    const [side, away] = j === 0 ? [left, -1] : [left + bar.wide, 1];
    const beside = { "text-anchor": j === 0 ? "end" : "start" };
    const share = narrow ? format(c[k]).replace(/^0/, "") : format(c[k]);
    const flow = ribbon(
      [x, x + width, bar.y],
      [top, top + width, bar.y + (plane.high - bar.y) * shared],
    );
    return [
      svg("path", { class: `ribbon ${partOf(k)}`, d: flow }),
      svg("rect", { class: `segment ${partOf(k)}`, x, y: bar.y, width, height: bar.high }),
      svg(
        "text",
        { class: "share", x: side + away * (narrow ? 3 : 5), y: bar.y + bar.high - 1, ...beside },
        share,
      ),
      svg(
        "text",
        { class: "logit", x: columns[i] + away * far, y: middle + 5, ...beside },
        format(b[k], 2, true),
      ),
    ];
  }).flat();
}

/** The votes as arrows: each a mark, where its tip is, where it points to, of which whole. */
function votesOf({ at, narrow }, { c, laid, gathered, seen: { v } }, arrows) {
  const faded = laid * clamp(v * 2, 0, 1); // once squash begins
  const [thin, thick] = narrow ? [1, 4.5] : [1.2, 6.5];
  return arrows.map(([from, tip], k) => {
    const [start, end] = [at(k % J, from), at(k % J, mixed(from, tip, gathered))];
    const mark = arrow(`vote ${partOf(k)}`, start, end, (narrow ? 8 : 11) + 4 * c[k]);
    setAttributes(mark, {
      opacity: gathered * (1 - 0.8 * faded),
      "stroke-width": thin + thick * c[k],
    });
    return { mark, end, to: [end[0] - start[0], end[1] - start[1]], j: k % J };
  });
}

/** Where names and numbers stand, beside the arrows' tips: within the plane, and not on each other. */
function placesOf({ label, planes, plane }, votes) {
  const places = [];
  const room = 3.4 * label; // of the longest
  planes.forEach((left, j) => {
    const own = votes.map((vote, k) => ({ ...vote, k })).filter((vote) => vote.j === j);
    own.sort((one, other) => one.end[1] - other.end[1]);
    let above = Number.NEGATIVE_INFINITY;
    for (const { end, to, k } of own) {
      const space = end[0] - 7 - room - left; // to the tip's left
      const leftwards = to[0] < 0 && (space > 0 || to[1] < 0);
      const over = Math.max(0, end[0] + 7 + room - left - plane.wide); // beyond the plane's edge: then below the tip
      const aside = leftwards ? Math.min(0, space) : over;
      const y = Math.max(
        end[1] + label / 3 + (aside && label * Math.sign(aside)),
        above + label + 1,
      );
      above = y;
      places[k] = {
        x: end[0] + (leftwards ? -7 : 7) - aside,
        y,
        "text-anchor": leftwards ? "end" : "start",
      };
    }
  });
  return places;
}

/** How far each vote reaches along v. */
function agreementOf({ at, narrow }, { a, v, measured }) {
  return WHOLES.flatMap((_, j) => {
    const length = Math.hypot(...pairOf(v, j)) || 1;
    const [ux, uy] = pairOf(v, j).map((x) => x / length);
    const along = (/** @type {number} */ reach) => at(j, [reach * ux, reach * uy]);
    const zero = along(0);
    const feet = PARTS.map((part, i) => {
      const foot = along((a[i * J + j] / length) * measured);
      const aside = (i - 1) * (narrow ? 3 : 4.5); // so that the three do not lie on each other
      const [sx, sy] = [uy * aside, ux * aside];
      const d = `M${zero[0] + sx} ${zero[1] + sy}L${foot[0] + sx} ${foot[1] + sy}`;
      return svg("path", { class: `foot ${part}`, d });
    });
    return [svg("path", { class: "along", d: `M${along(-1.5)}L${along(2.6)}` }), ...feet];
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
    track.toggleAttribute(
      "data-pinned",
      fits && !wantsCalm() && track.closest("figure.live-widget") !== null,
    );
  });

  /** Scrolls to the middle of a step's stretch, or past the last; the stage, which sticks, stands still. */
  function scrollTo(step) {
    const { top, bottom } = (stretches[step] ?? track).getBoundingClientRect();
    const by = step > LAST ? bottom - covered() : (top + bottom - window.innerHeight) / 2;
    window.scrollBy({ top: by, behavior: "instant" });
  }
  return { pinned, scrollTo, stops: [size.stop, () => observer.disconnect()] };
}

// ----------------------------------------------------------------------------------------------- the widget

const START = {
  title: "Routing, step by step",
  text: "Three parts vote for two wholes, and agree in three rounds.",
};
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
  const { input, show: showAt } = rangeInput({
    min: 0,
    max: LAST,
    "data-role": "time",
    "aria-label": "Step",
    oninput,
  });
  const back = pushButton("back", "‹", () => at > 0 && goTo(at - 1), {
    class: "step",
    "aria-label": "One step back",
  });
  const next = pushButton("next", "Start", () => at < LAST && goTo(at + 1), {
    class: "primary-action",
  });
  const skip = pushButton("skip", "Skip ↓", () => scrolling.scrollTo(LAST + 1), { class: "skip" });
  const side = element(
    "div",
    { class: "side" },
    element("div", { class: "words" }, title, text),
    procedure.node,
  );
  const board = element("div", { class: "board" }, scene.node, side);
  const bar = element("div", { class: "steps-bar" }, back, input, next, skip);
  const stage = element("div", { class: "pinned-stage" }, board, bar);
  const track = element("div", { class: "scroll-track" }, stage);
  root.append(track);
  const announce = makeAnnouncer(root);
  const scrolling = followScrolling(track, stage, show);
  stops.push(...scrolling.stops, scene.stop, announce.cancel);

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
    setAttributes(back, { "aria-disabled": at <= 0 }); // not `disabled`: a button just pressed would lose the focus
    setAttributes(next, { "aria-disabled": at === LAST });
    next.textContent = at < 0 ? "Start" : "Next";
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
