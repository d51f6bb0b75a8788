// The network at work on one digit, from left to right: what it was given, its filters, an arrow
// for each primary capsule, every vote as thick as its coupling, ten lengths, and the picture that
// it draws of its answer.
import { makePen } from "../glass/pen.js";
import { paintVotes } from "../glass/votes.js";
import { LONG, makeBars } from "../shared/bars.js";
import { fitCanvas, measure } from "../shared/controls.js";
import { thumbnail } from "../shared/digits.js";
import { t } from "../shared/t.js";
import { element, figure, memoized, write } from "../shared/ui.js";
import { makeLooking } from "./looking.js";
import { cellsIn, endsIn, filterIn } from "./passage_plan.js";
import { FILTERS, filterShown } from "./reading.js";
import { setOf } from "./sets.js";
import { capsuleHere } from "./silence.js";
import { D_IN, J, KERNEL, PLACES } from "./sizes.js";

const PALE = 0.12; // the weight that has the full colour, at least: noise begins pale

/**
 * @typedef {import("./untrained.js").Frame} Frame
 * @typedef {import("./untrained.js").Watched & { types: number, filters: Float32Array }} Passage
 *   a CNN's has neither u nor c
 * @typedef {any} Pen  glass/pen.js
 * @typedef {{ width: number, height: number }} Size
 */

/** Return the box of a whole canvas. @param {Size} size */
const whole = ({ width, height }) => ({ x: 0, y: 0, w: width, h: height });

/** Paint sixteen of the filters. @param {Pen} pen @param {Size} size @param {Passage} passage */
function paintFilters(pen, size, { filters }) {
  const C = filters.length / KERNEL ** 2;
  for (let n = 0; n < FILTERS; n++) {
    const filter = filterShown(n, C);
    const weights = Float32Array.from({ length: KERNEL ** 2 }, (_, k) => filters[k * C + filter]);
    const most = Math.max(PALE, ...weights.map(Math.abs));
    pen.matrix(filterIn(whole(size), n), weights, KERNEL, undefined, most);
  }
}

/**
 * Paint an arrow for each capsule: as long as the capsule, in the direction of its first two
 * numbers. @param {Pen} pen @param {Size} size @param {Passage} passage
 */
function paintArrows(pen, size, { u, types }) {
  if (!u) return;
  cellsIn(whole(size), types).forEach(({ x, y, w, h }, i) => {
    const from = capsuleHere(i, types) * D_IN;
    const reach = Math.min(w, h) * 0.46;
    pen.capsule(x + w / 2, y + h / 2, reach, u.subarray(from, from + D_IN));
  });
}

/**
 * Paint every vote, a line from below to above.
 * @param {Pen} pen @param {Size} size @param {Passage} passage
 */
function paintShares(pen, size, { c, answer, types }) {
  if (!c) return;
  const shares = Float32Array.from(
    c,
    (_, k) => c[capsuleHere(Math.floor(k / J), types) * J + (k % J)],
  );
  paintVotes(pen, { c: shares, J, answer, ends: endsIn(whole(size), types), bend: size.width / 2 });
}

/** Make a canvas, painted as large as it is shown. @param {(pen: Pen, size: Size) => void} paint */
function makeCanvas(widget, paint) {
  const node = element("canvas", { "aria-hidden": "true" });
  const size = measure(node, draw);
  widget.stops.push(size.stop);
  function draw() {
    if (!size.width || !size.height) return;
    const { brush, ratio } = fitCanvas(node, size);
    brush.setTransform(ratio, 0, 0, ratio, 0, 0);
    brush.clearRect(0, 0, size.width, size.height);
    paint(makePen(brush, widget.colours), size);
    brush.globalAlpha = 1;
  }
  return { node, draw };
}

/** Return what a screen reader hears of a passage. @param {import("./untrained.js").Watched} _ */
const labelOf = ({ label, answer }, names) =>
  answer === undefined
    ? t`A network that has learned nothing`
    : t`The network reads a ${names[label]} and answers ${names[answer]}`;

/**
 * Make the picture of a network: what it does with the digit that is watched.
 * @param {any} widget @param {any} session
 * @returns {{ node: Element, glance: Element, parts: { show: (frames: Frame[]) => void }[] }}
 *   glance: what the part that is pointed at computes; parts: each paints a part of it, in its turn
 */
export function makeNetworkView(widget, session) {
  /** @type {Passage | undefined} */
  let passage;
  const canvas = (paint) => makeCanvas(widget, (pen, size) => passage && paint(pen, size, passage));
  const digit = thumbnail();
  const filters = canvas(paintFilters);
  const capsules = canvas(paintArrows);
  const votes = canvas(paintShares);
  const bars = makeBars(t`How long the ten capsules are`);
  const drawing = thumbnail();

  const titles = Array.from({ length: 6 }, () => element("strong"));
  const part = (name, n, picture, about) => {
    const caption = element("figcaption", {}, titles[n], element("span", {}, about));
    return figure(`part part-${name}`, picture, caption);
  };
  const node = element(
    "div",
    { class: "passage", role: "group" },
    part("digit", 0, digit, t`choose another in the wall`),
    part("filters", 1, filters.node, t`noise that turns into strokes`),
    part("capsules", 2, capsules.node, t`an arrow each`),
    part("votes", 3, votes.node, t`thick: a large share of a capsule`),
    part("lengths", 4, bars.list, t`the longest is its answer`),
    part("drawing", 5, drawing, t`of the answer’s 16 numbers`),
  );

  const looking = makeLooking(widget, session, node, {
    image: digit,
    maps: filters.node,
    primary: capsules.node,
    predictions: votes.node,
    classes: bars.list,
  });

  const nameParts = memoized((types, { one }, isCNN) => {
    const names = [
      one,
      t`16 of ${8 * types} filters`,
      t`${PLACES * types} capsules`,
      t`${PLACES * types * J} votes`,
      isCNN ? t`10 shares of a softmax` : t`10 lengths`,
      t`its drawing`,
    ];
    node.classList.toggle("cnn", isCNN);
    names.forEach((name, n) => write(titles[n], name));
  });

  function showFirst(/** @type {Frame} */ { net, types, watched }) {
    const isCNN = net === "cnn";
    node.setAttribute("aria-label", labelOf(watched, session.names()));
    const set = setOf(session.settings);
    nameParts([types, set, isCNN], types, set, isCNN);
    widget.painter.paint(digit, watched.image);
    filters.draw();
    capsules.draw();
  }

  function showRest(/** @type {Frame} */ { watched }) {
    const { label, answer, lengths, drawing: picture } = watched;
    const isMistake = answer !== undefined && answer !== label;
    votes.draw();
    bars.list.classList.toggle("mistaken", isMistake);
    bars.name(session.names());
    bars.show(lengths, answer, (length, j) => j === answer && length >= LONG);
    drawing.hidden = picture.length === 0;
    if (picture.length) widget.painter.paint(drawing, picture);
  }

  const lookAt = (/** @type {Frame} */ frame) => looking.show(frame);
  const parts = [showFirst, showRest, lookAt].map((paint) => {
    const renew = memoized(paint);
    return {
      show(/** @type {Frame[]} */ frames) {
        const frame = frames[session.watched.network] ?? frames[0];
        passage = { types: frame.types, filters: frame.filters, ...frame.watched };
        renew([frame, widget.colours, session.own.sign, session.settings[0].data], frame);
      },
    };
  });
  return { node, glance: looking.node, parts };
}
