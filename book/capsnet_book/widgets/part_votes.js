// Two parts to drag. Each predicts a house and a boat with a matrix of its own: û_j|i = W_ij u_i,
// four numbers a pose.
import { arrowKeys, carry, drag, grip } from "./shared/controls.js";
import { predictionVectors } from "./shared/core.js";
import { angleOf, direction, turnedPoint, wayTo, within, wrapped } from "./shared/plane.js";
import { defineWidget } from "./shared/stage.js";
import { t } from "./shared/t.js";
import { element, figure, format, pushButton, rowOf, setAttributes, svg } from "./shared/ui.js";

/** @typedef {number[]} Pose  angle in degrees, x, y */

const PARTS = ["triangle", "rectangle"];
const WHOLES = ["house", "boat"];
const NAMES = { triangle: t`triangle`, rectangle: t`rectangle`, house: t`house`, boat: t`boat` };
const MOVES = {
  triangle: t`The triangle. Arrow keys move it.`,
  rectangle: t`The rectangle. Arrow keys move it.`,
};
const FARTHEST = 2.1; // from the middle to a part
const AGREE = 0.25; // two predictions this close count as the same
const NEARLY = 1; // and these are close to agreeing
const TURN = 30; // degrees

// --------------------------------------------------------------------------- the predictions

/** A pose as a capsule's four numbers: u = (cos, sin, x, y). @param {Pose} pose */
export const capsuleOf = ([angle, x, y]) => [...direction(angle), x, y];

/**
 * All four prediction vectors. -> û [2 parts][2 wholes][4]
 * @param {Pose[]} poses @param {ArrayLike<number>} weight  [2, 2, 4, 4]
 */
export function votesOf(poses, weight) {
  const u_hat = predictionVectors(poses.flatMap(capsuleOf), { shape: [2, 2, 4, 4], data: weight });
  const voteOf = (i, j) => Array.from(u_hat.subarray((2 * i + j) * 4, (2 * i + j + 1) * 4));
  return PARTS.map((_part, i) => WHOLES.map((_whole, j) => voteOf(i, j)));
}

/** The distance between the two parts' predictions of each whole: ‖û_j|▲ − û_j|■‖ */
export const distancesOf = (/** @type {number[][][]} */ [first, second]) =>
  WHOLES.map((_, j) => Math.hypot(...first[j].map((x, d) => x - second[j][d])));

/** The pose, in the picture, of a part that stands at `place` in a whole that stands at `whole`. */
function placed(/** @type {Pose} */ whole, /** @type {Pose} */ place) {
  const [angle, x, y] = whole;
  const [turn, dx, dy] = place;
  const [byX, byY] = turnedPoint([dx, dy], angle);
  return [wrapped(angle + turn), x + byX, y + byY];
}

/**
 * Poses of both parts that make whole `j`: the one that the rectangle predicts, moved inwards if
 * need be.
 * @param {number} j @param {Pose[]} poses
 * @param {Pose[]} places  of the parts in their wholes, [2 parts · 2 wholes]
 */
export function arranged(j, poses, places) {
  const [rectangleAngle, ...rectangleAt] = poses[1];
  const [turn, dx, dy] = places[2 + j]; // of the rectangle in the whole
  const angle = wrapped(rectangleAngle - turn);
  const [, ...middle] = placed([angle, ...rectangleAt], [0, -dx, -dy]);
  const whole = [angle, ...within(middle, FARTHEST - 1)];
  return PARTS.map((_, i) => placed(whole, places[2 * i + j]));
}

/**
 * All poses turned about the middle of the picture.
 * @param {Pose[]} poses @param {number} degrees
 */
export const turned = (poses, degrees) => poses.map((pose) => placed([degrees, 0, 0], pose));

/** Says what there is to see. @param {number[]} distances  of the house and of the boat */
function remarkOn([house, boat]) {
  if (house < AGREE) return aboutAgreement(NAMES.house, NAMES.boat);
  if (boat < AGREE) return aboutAgreement(NAMES.boat, NAMES.house);
  if (Math.min(house, boat) < NEARLY) {
    const nearer = house < boat ? NAMES.house : NAMES.boat;
    const together = t`The two predictions of the ${nearer} come together`;
    return t`Nearly. ${together}; push or turn a part until they coincide.`;
  }
  return t`Both parts are here, but they expect different houses and different boats. Parts alone
    are no whole.`;
}

function aboutAgreement(one, other) {
  const same = t`Both parts predict the same ${one}: same place, same angle.`;
  return t`${same} About a ${other} they disagree. So it is a ${one}.`;
}

// ----------------------------------------------------------------------------- the pictures

const HALF = 3.4; // pictures show −HALF to HALF, both ways
const UNIT = 40; // of the plane, in the units of the viewBox
const SIZE = 2 * HALF * UNIT;
const VIEW = { viewBox: `0 0 ${SIZE} ${SIZE}` };

// Outlines, in the part's or the whole's own axes: y points up.
const SHAPES = {
  triangle: { body: "M-1.1 -.45H1.1L0 .75Z", up: 0.75, knob: 1.25 },
  rectangle: { body: "M-1.1 -.5H1.1V.5H-1.1Z", up: 0.5, knob: 1.05 },
};
const WAVES = "M-1.7 -1.62q.28 .3 .57 0t.57 0t.57 0t.57 0t.57 0t.57 0";
const OUTLINES = {
  house: "M-1.1 -.05H1.1L0 1.15ZM-1.1 -1.05H1.1V-.05H-1.1ZM-.22 -1.05V-.45H.22V-1.05",
  boat: `M-1.1 -1.4H1.1V-.4H-1.1ZM-.25 -.4V1.8L.95 .7Z ${WAVES}`,
};

const onView = (x, y) => [(HALF + x) * UNIT, (HALF - y) * UNIT];
const inPlane = ({ x, y }) => [(2 * x - 1) * HALF, (1 - 2 * y) * HALF];
/** The transform that puts an outline to (cos, sin, x, y). The viewBox's y points down. */
const placeAt = (/** @type {number[]} */ [cos, sin, x, y]) =>
  `matrix(${[cos, -sin, -sin, -cos].map((n) => n * UNIT)} ${onView(x, y)})`;
const join = (line, from, to) => line.setAttribute("d", `M${from}L${to}`);

/** A part that is dragged, and moved by arrow keys. @param {string} part */
function makeBody(part) {
  const about = {
    class: `part ${part}`,
    tabindex: 0,
    role: "slider",
    "data-role": part,
    "aria-label": MOVES[part],
    "aria-valuemin": -FARTHEST,
    "aria-valuemax": FARTHEST,
  };
  return svg("g", about, svg("path", { class: "body", d: SHAPES[part].body }));
}

/** A knob that turns a part. @param {string} part */
function makeKnob(part) {
  const about = {
    class: `handle ${part}`,
    "data-role": `turn-${part}`,
    "aria-label": t`Angle of the ${NAMES[part]}. Arrow keys turn it.`,
    "aria-valuemin": -180,
    "aria-valuemax": 180,
  };
  return grip(about, 12, 7);
}

/**
 * The picture whose parts are dragged and turned.
 * @param {(i: number) => Pose} poseOf @param {(i: number, pose: Pose) => void} move
 */
function makeScene(poseOf, move) {
  const bodies = PARTS.map(makeBody);
  const knobs = PARTS.map(makeKnob);
  const arms = PARTS.map((part) => svg("path", { class: `arm ${part}` }));
  const axis = svg("path", { class: "axis", d: `M0 ${SIZE / 2}H${SIZE}M${SIZE / 2} 0V${SIZE}` });
  const view = { ...VIEW, class: "plane scene", "data-role": "scene" };
  const scene = svg("svg", view, axis, ...bodies, ...arms, ...knobs);

  PARTS.forEach((_, i) => {
    const shift = (/** @type {number[]} */ at) => move(i, [poseOf(i)[0], ...at]);
    const turn = (/** @type {number} */ angle) => move(i, [angle, ...poseOf(i).slice(1)]);
    const place = () => poseOf(i).slice(1);
    carry(bodies[i], { area: scene, steps: [0.1, 0.5], inUnits: inPlane, place, move: shift });
    const turnTowards = (at) => {
      const [, x, y] = poseOf(i);
      const [knobX, knobY] = inPlane(at);
      turn(angleOf(knobY - y, x - knobX)); // at angle 0 the knob is above the part
    };
    drag(knobs[i], { area: scene, focus: knobs[i], move: turnTowards });
    arrowKeys(knobs[i], (dx, dy, { shiftKey }) =>
      turn(poseOf(i)[0] - (dx + dy) * (shiftKey ? 15 : 5)),
    );
  });

  /** @param {number} i @param {Pose} pose @param {string} distances  in words */
  function showPart(i, [angle, x, y], distances) {
    const [cos, sin] = direction(angle);
    const { up, knob } = SHAPES[PARTS[i]];
    const above = (by) => onView(x - sin * by, y + cos * by);
    const turn = t`turned by ${format(angle, 0)}°; ${distances}`;
    join(arms[i], above(up), above(knob));
    setAttributes(bodies[i], {
      transform: placeAt([cos, sin, x, y]),
      "aria-valuenow": x.toFixed(2),
      "aria-valuetext": t`at ${format(x, 1)}, ${format(y, 1)}, ${turn}`,
    });
    setAttributes(knobs[i], {
      transform: `translate(${above(knob)})`,
      "aria-valuenow": angle.toFixed(0),
      "aria-valuetext": turn,
    });
  }

  /** @param {Pose[]} poses @param {number[]} distances  between the predictions of each whole */
  function show(poses, [house, boat]) {
    const houses = t`house predictions ${format(house)} apart`;
    const boats = t`boat predictions ${format(boat)} apart`;
    poses.forEach((pose, i) => showPart(i, pose, `${houses}, ${boats}`));
  }
  return { scene, show };
}

/** The two predictions of one whole, and whether they agree. @param {string} whole */
function makePanel(whole) {
  const outline = () => svg("path", { class: "outline", d: OUTLINES[whole] });
  const middle = () => svg("circle", { class: "middle", r: 0.13 });
  const ghosts = PARTS.map((part) => svg("g", { class: `ghost ${part}` }, outline(), middle()));
  const links = PARTS.map((part) => svg("path", { class: `link ${part}` }));
  const bodies = PARTS.map((part) => svg("path", { class: `faint ${part}`, d: SHAPES[part].body }));
  const layers = [...bodies, ...links, ghosts[1], ghosts[0]]; // the dashed ones on top
  const picture = svg("svg", { ...VIEW, class: "plane", role: "img" }, ...layers);
  const verdict = element("span", { class: "verdict-word" });
  const distance = element("output");
  const caption = element("figcaption", {}, verdict, element("span", {}, t`distance `, distance));
  const panel = figure("panel", picture, caption);
  panel.prepend(element("p", { class: "heading" }, t`Predicted: a ${NAMES[whole]}`));

  /**
   * @param {Pose[]} poses  of the parts
   * @param {number[][]} votes  a prediction of each part, [2][4]
   * @param {number} apart  the distance between them
   */
  function show(poses, votes, apart) {
    const agree = apart < AGREE;
    panel.classList.toggle("agree", agree);
    verdict.textContent = agree ? t`they agree` : t`they disagree`;
    distance.textContent = format(apart);
    const name = NAMES[whole];
    const both = t`The ${name} that the triangle predicts and the one that the rectangle predicts`;
    picture.setAttribute("aria-label", t`${both}: ${format(apart)} apart`);
    poses.forEach((pose, i) => {
      bodies[i].setAttribute("transform", placeAt(capsuleOf(pose)));
      ghosts[i].setAttribute("transform", placeAt(votes[i]));
      join(links[i], onView(pose[1], pose[2]), onView(votes[i][2], votes[i][3]));
    });
  }
  return { panel, show };
}

// ------------------------------------------------------------------------------- the widget

const TURNED = t`Both parts turned by ${TURN}° about the middle, and all four predictions turned
  with them. The distances are what they were, and no matrix changed.`;
const LABEL = t`Drag two parts and watch the wholes that they predict`;

export default defineWidget("PartVotes", LABEL, (widget) => {
  const { root, get, set, layOut, animate, halt } = widget;
  const weight = Float64Array.from(get("weight"));
  const poses = () => get("poses");
  const go = (/** @type {Pose[]} */ to, words = "") => {
    const way = wayTo(poses(), to, 0);
    animate((t) => set({ poses: way(t) }, words));
  };
  /** Moves part `i`: not too far out, in thousandths. @param {number} i @param {Pose} pose */
  const move = (i, [angle, x, y]) => {
    halt();
    const pose = [wrapped(angle), ...within([x, y], FARTHEST)];
    const rounded = pose.map((n) => Math.round(n * 1000) / 1000);
    set({ poses: poses().with(i, rounded) });
  };

  const parts = makeScene((i) => poses()[i], move);
  const panels = WHOLES.map(makePanel);
  const arrange = (j) => () => go(arranged(j, poses(), get("places")));
  const buttons = rowOf(
    pushButton("make-house", t`Make a house`, arrange(0)),
    pushButton("make-boat", t`Make a boat`, arrange(1)),
    pushButton("turn-both", t`Turn both by ${TURN}°`, () => go(turned(poses(), TURN), TURNED)),
  );
  const heading = element("p", { class: "heading" }, t`Two parts`);
  const left = element("div", { class: "parts-side" }, heading, parts.scene);
  const right = element("div", { class: "panels" }, ...panels.map(({ panel }) => panel));
  const { say } = layOut({
    stage: element("div", { class: "part-votes" }, left, right),
    hands: [buttons],
  });

  return () => {
    const votes = votesOf(poses(), weight);
    const distances = distancesOf(votes);
    root.dataset.apart = distances.map((x) => x.toFixed(4)).join(",");
    parts.show(poses(), distances);
    panels.forEach((panel, j) => panel.show(poses(), [votes[0][j], votes[1][j]], distances[j]));
    say(widget.news || remarkOn(distances));
  };
});
