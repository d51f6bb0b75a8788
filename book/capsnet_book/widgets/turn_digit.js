// A digit on a dial. Capsules that turn find its parts, which vote; votes that lie close together
// make the class, and say by how much the digit is turned. From the pose where they meet a decoder
// draws the digit. Below the ten bars, which stand still, are those of the book's capsules.
import { makeBar } from "./shared/bars.js";
import { bendDigit, STRAIGHT } from "./shared/bending.js";
import { measure, namedSlider } from "./shared/controls.js";
import { arcOf, DIGIT, makeDial, onRing, RING } from "./shared/dial.js";
import { digitAt, digitCanvas, digitRow, greysOf } from "./shared/digits.js";
import { makePad } from "./shared/pad.js";
import { wrapped } from "./shared/plane.js";
import { defineWidget } from "./shared/stage.js";
import { t } from "./shared/t.js";
import { seenInWords, turnInWords } from "./shared/turned_words.js";
import { makePoseDecoder, makeTurningNet } from "./shared/turning_net.js";
import { element, memoized, svg, withArticle } from "./shared/ui.js";
import { makeRaising } from "./turning/raising.js";

const DIGITS = Array.from("0123456789");
const FAMILIAR = 45; // degrees, either way: as both networks were trained

// ---------------------------------------------------------------------------------------- in words

/** What the reader's own network reads, in a sentence. */
function remarkOnOwn(reading, other) {
  return t`Your network sees ${seenInWords(reading)}. The book's capsules say ${other}.`;
}

/** What has happened, in a sentence. */
function remarkOn(reading, other, angle, pose) {
  const seen = seenInWords(reading);
  if (pose !== 0) {
    const along = t`You turned its pose alone: the drawing turns along, and keeps its form.`;
    return t`The capsules that turn see ${seen}. ${along}`;
  }
  if (Math.abs(angle) <= FAMILIAR)
    return t`The capsules that turn see ${seen}. The book's capsules say ${other}.`;
  const unseen = t`No training showed such an angle.`;
  return t`The capsules that turn see ${seen}. ${unseen} The book's capsules say ${other}.`;
}

// ---------------------------------------------------------------------------------------- the dial

const PIXEL = (2 * DIGIT) / 28;
const STROKE = 11; // half the length of the stroke at a part
const FAINT = 0.05; // presences below are not drawn

/**
 * A dial with what the network makes of the digit: its parts, and the angle that it believes.
 * @param {(degrees: number) => void} turnTo @param {() => number} turnNow
 */
function makePartsDial(turnTo, turnNow) {
  const strokes = svg("g", { class: "strokes" });
  const belief = svg("path", { class: "belief", d: "M0 0L-6 12H6Z" });
  const arc = svg("path", { class: "arc", d: arcOf(-FAMILIAR, FAMILIAR) });
  const dial = makeDial({ limit: 180, marks: [arc, strokes, belief], turnTo, turnNow });

  function show(parts, angle, believed) {
    const drawn = parts.filter(({ presence }) => presence > FAINT);
    strokes.replaceChildren(
      ...drawn.map(({ x, y, turn, presence }) => {
        const dx = Math.cos(turn) * STROKE;
        const dy = -Math.sin(turn) * STROKE;
        const cx = x * PIXEL;
        const cy = -y * PIXEL;
        const ends = { x1: cx - dx, y1: cy - dy, x2: cx + dx, y2: cy + dy };
        const dot = svg("circle", { cx: cx + dx, cy: cy + dy, r: 2.2 });
        return svg("g", { opacity: presence.toFixed(2) }, svg("line", ends), dot);
      }),
    );
    dial.show(angle, `${angle}°`);
    const [bx, by] = onRing(believed, RING - 9);
    belief.setAttribute("transform", `translate(${bx} ${by}) rotate(${-believed})`);
  }
  return { node: dial.node, canvas: dial.canvas, show };
}

// --------------------------------------------------------------------------------------- the votes

const HALF = 100; // the plane shows −100 … 100
const UNIT = 30; // of a vote's place
const JOINED = 60; // pairs that are drawn at most
const LOOSE = 0.04; // pairs and votes below this share of the best are not drawn
const TICK = 9;

/**
 * The votes for the best class: a dot where, a tick which way, lines between those that coincide.
 */
function makeVotes() {
  const lines = svg("g", { class: "joined" });
  const dots = svg("g", { class: "dots" });
  const axis = svg("path", { class: "axis", d: `M${-HALF} 0H${HALF}M0 ${-HALF}V${HALF}` });
  const picture = svg(
    "svg",
    {
      viewBox: `${-HALF} ${-HALF} ${2 * HALF} ${2 * HALF}`,
      class: "plane",
      role: "img",
      "data-role": "votes",
    },
    ...[axis, lines, dots],
  );
  const at = ({ place: [x, y] }) => [x * UNIT, -y * UNIT];

  function show({ votes, pairs, prediction }) {
    const best = pairs[0].closeness;
    const close = pairs.slice(0, JOINED).filter(({ closeness }) => closeness > LOOSE * best);
    lines.replaceChildren(
      ...close.map(({ first, second, closeness }) => {
        const [[x1, y1], [x2, y2]] = [at(votes[first]), at(votes[second])];
        return svg("line", { x1, y1, x2, y2, opacity: (closeness / best).toFixed(2) });
      }),
    );
    const most = Math.max(...votes.map(({ weight }) => weight));
    const drawn = votes.filter(({ weight }) => weight > LOOSE * most);
    dots.replaceChildren(
      ...drawn.map((vote) => {
        const [cx, cy] = at(vote);
        const long = Math.hypot(...vote.direction) || 1;
        const [dx, dy] = vote.direction.map((x) => (x / long) * TICK);
        const share = Math.sqrt(vote.weight / most);
        const tick = svg("line", { x1: cx, y1: cy, x2: cx + dx, y2: cy - dy });
        const dot = svg("circle", { cx, cy, r: 1.5 + 2.5 * share });
        return svg("g", { opacity: (0.25 + 0.75 * share).toFixed(2) }, tick, dot);
      }),
    );
    const whole = withArticle(prediction);
    const label = t`${drawn.length} votes for ${whole}, the closest pairs joined`;
    picture.setAttribute("aria-label", label);
  }
  return { picture, show };
}

// ---------------------------------------------------------------------------------------- the bars

/**
 * Ten upright bars. show(values, best, steady): best is in colour, in another one if it is not
 * `steady`.
 */
function makeColumns(title, says, names = DIGITS) {
  const bars = Array.from({ length: 10 }, () => makeBar("height"));
  const columns = bars.map(({ rail }, j) => element("span", {}, rail, names[j]));
  const node = element("div", { class: "upright", role: "img", "data-role": says }, ...columns);
  const heading = element("p", { class: "heading" }, title);
  function show(values, best, steady) {
    columns.forEach((column, j) => {
      bars[j].show(values[j]);
      column.classList.toggle("right", j === best && steady);
      column.classList.toggle("wrong", j === best && !steady);
    });
    const numbers = Array.from(values, (value) => value.toFixed(2)).join(", ");
    node.setAttribute("aria-label", `${title}: ${numbers}`);
  }
  return { node: element("div", {}, heading, node), show };
}

/** What the decoder draws, in a round frame as large as the digit on the dial. */
function makeDrawing(painter, decoder) {
  const canvas = digitCanvas("drawing", "");

  function show({ pose, prediction }, /** @type {number} */ turn) {
    painter.paint(canvas, decoder.draw(pose, prediction, turn));
    const label = t`The decoder's drawing: ${withArticle(prediction)}, ${turnInWords(turn)}`;
    canvas.setAttribute("aria-label", label);
  }
  return { node: element("div", { class: "dial drawn" }, canvas), show };
}

const captioned = (/** @type {string} */ words, ...inside) =>
  element("figure", {}, ...inside, element("figcaption", {}, words));

// ----------------------------------------------------------------------------------- the controls

const turnSlider = (/** @type {string} */ name, role, turnTo) =>
  namedSlider(name, {
    min: -180,
    max: 180,
    "data-role": role,
    oninput: (/** @type {any} */ { target }) => turnTo(target.valueAsNumber),
  });

/**
 * The digit that is turned: a given one, or the reader's on the pad. now() -> { id, image }; show()
 * marks it in the row.
 */
function makeSubject({ get, set, painter }, /** @type {() => void} */ changed) {
  const samples = greysOf(get("images")); // [N, 784]
  let own = false; // whether the digit on the pad is read, and not a given one
  const name = (/** @type {number} */ label) => t`Turn the handwritten ${label}`;
  const digits = digitRow(get("labels"), samples, name, (index) => {
    own = false;
    set({ index });
  });
  const drawn = () => {
    own = !pad.empty();
    changed();
  };
  const pad = makePad({ drawn, settled: changed });

  function now() {
    if (own) return { id: Array.from(pad.bytes()).join(), image: pad.image() };
    return { id: String(get("index")), image: digitAt(samples, get("index")) };
  }

  function show(/** @type {any} */ colours) {
    digits.show(own ? null : get("index"), painter);
    pad.paint(painter, colours);
  }
  const drawing = element("div", { class: "own-digit" }, pad.frame, pad.buttons);
  return { row: digits.row, drawing, now, show };
}

// ------------------------------------------------------------------------------------- the widget

const POSE_SLIDER = t`Turn its pose, and so the drawing alone`;
const LABEL = t`Turn a digit to any angle: capsules that turn, and the book's`;

/**
 * The controls and pictures that the two modes share, and those that either has alone: a drawing
 * and the slider of its pose, or the curve and the buttons of a training.
 */
function makeParts(widget, decoder, names, /** @type {() => void} */ redraw) {
  const { get, set } = widget;
  const turnTo = (/** @type {number} */ angle) => set({ angle });
  const turnPose = (/** @type {number} */ pose) => set({ pose });
  const isRaising = get("mode") === "raise";
  return {
    subject: makeSubject(widget, redraw),
    dial: makePartsDial(turnTo, () => get("angle")),
    votes: makeVotes(),
    turning: makeColumns(t`Capsules that turn`, "turning-bars"),
    others: makeColumns(t`The book's capsules`, "capsule-bars", names),
    slider: turnSlider(t`Turn the digit`, "angle", turnTo),
    drawing: isRaising ? undefined : makeDrawing(widget.painter, decoder),
    poseSlider: isRaising ? undefined : turnSlider(POSE_SLIDER, "pose", turnPose),
    raising: isRaising ? makeRaising(widget, redraw) : undefined,
  };
}

/** Lay the parts out. Return say(). */
function layOutParts({ root, layOut, stops }, parts, /** @type {() => void} */ redraw) {
  const { subject, dial, votes, turning, others, slider, drawing, poseSlider, raising } = parts;
  const second = raising
    ? raising.curve
    : captioned(t`What it draws from the pose that it reads.`, drawing.node);
  const stage = element(
    "div",
    { class: "turn-digit" },
    captioned(t`Shaded: shown in training. The small mark: what it believes.`, dial.node),
    second,
    captioned(
      t`Votes, each a place and a direction. Those that coincide are joined.`,
      votes.picture,
    ),
    element("div", { class: "answers" }, turning.node, others.node),
  );
  const { say } = layOut({
    stage,
    hands: raising
      ? [raising.bar, slider.node, subject.row]
      : [slider.node, poseSlider.node, subject.row],
    more: [subject.drawing],
    about: t`Draw your own digit`,
  });
  if (!raising) root.dataset.sticks = ""; // with the curve the stage would fill a phone
  stops.push(measure(root, redraw).stop);
  return say;
}

export default defineWidget("TurnDigit", LABEL, async (widget) => {
  const { root, get } = widget;
  const trained = await makeTurningNet(await widget.weights("turning"));
  const decoder = makePoseDecoder(await widget.weights("decoder"));
  const capsules = await widget.network();
  const redraw = () => widget.redraw(); // which start() sets later
  const parts = makeParts(widget, decoder, capsules.names, redraw);
  const { subject, dial, votes, turning, others, slider, drawing, poseSlider, raising } = parts;
  const say = layOutParts(widget, parts, redraw);

  // What both say of the digit as it was written: bars that still say so are in the same colour.
  const steady = { turning: 0, capsules: 0 };
  const readUpright = memoized((net, image) => {
    steady.turning = net.forward(image).prediction;
    steady.capsules = capsules.forward(image).prediction;
  });

  return () => {
    const angle = get("angle");
    const own = raising?.reader();
    const net = own ?? trained;
    const { id, image } = subject.now();
    readUpright([id, net], net, image);
    const turned = bendDigit(image, { ...STRAIGHT, turn: angle });
    const reading = net.forward(turned);
    const { lengths, prediction } = capsules.forward(turned);
    widget.painter.paint(dial.canvas, turned);
    dial.canvas.setAttribute("aria-label", t`A handwritten digit, turned by ${angle} degrees`);
    dial.show(reading.parts, angle, reading.turn);
    votes.show(reading);
    const pose = raising ? 0 : get("pose");
    const drawnTurn = wrapped(reading.turn + pose);
    drawing?.show(reading, drawnTurn);
    raising?.show();
    turning.show(reading.probabilities, reading.prediction, reading.prediction === steady.turning);
    others.show(lengths, prediction, prediction === steady.capsules);
    slider.show(angle, `${angle}°`);
    poseSlider?.show(pose, `${pose}°`);
    subject.show(widget.colours);
    root.dataset.prediction = String(reading.prediction);
    root.dataset.turn = reading.turn.toFixed(1);
    root.dataset.drawn = drawnTurn.toFixed(1);
    const name = capsules.names[prediction];
    const remark = own ? remarkOnOwn(reading, name) : remarkOn(reading, name, angle, pose);
    say(raising?.obstacle() || remark, raising?.progress());
  };
});
