// Two parts to drag. Each predicts a house and a boat with a matrix of its own: û_j|i = W_ij u_i, four numbers a pose.
import { arrowKeys, carry, drag, grip } from "./shared/controls.js";
import { predictionVectors } from "./shared/core.js";
import { angleOf, direction, turnedPoint, wayTo, within, wrapped } from "./shared/plane.js";
import { defineWidget } from "./shared/stage.js";
import { element, figure, format, pushButton, rowOf, setAttributes, svg } from "./shared/ui.js";

/** @typedef {number[]} Pose  angle in degrees, x, y */

const PARTS = ["triangle", "rectangle"];
const WHOLES = ["house", "boat"];
const FARTHEST = 2.1; // from the middle to a part
const AGREE = 0.25; // two predictions that are closer than this count as the same
const TURN = 30; // degrees

// ------------------------------------------------------------------------------------------- what is predicted

/** A pose as the four numbers of a capsule: u = (cos, sin, x, y). @param {Pose} pose */
export const capsuleOf = ([angle, x, y]) => [...direction(angle), x, y];

/** All four predictions, û [2 parts][2 wholes][4]. @param {Pose[]} poses @param {any} weight  [2, 2, 4, 4] */
export function votesOf(poses, weight) {
  const u_hat = predictionVectors(poses.flatMap(capsuleOf), { shape: [2, 2, 4, 4], data: weight });
  return [0, 1].map((i) =>
    [0, 1].map((j) => Array.from(u_hat.subarray((2 * i + j) * 4, (2 * i + j + 1) * 4))),
  );
}

/** How far apart the two parts' predictions are, for each whole: ‖û_j|▲ − û_j|■‖ */
export const distancesOf = (/** @type {number[][][]} */ [first, second]) =>
  WHOLES.map((_, j) => Math.hypot(...first[j].map((x, d) => x - second[j][d])));

/** A pose seen from another one: the part that stands at `place` in a whole that stands at `whole`. */
function placed(/** @type {Pose} */ [angle, x, y], /** @type {Pose} */ [turn, dx, dy]) {
  const [byX, byY] = turnedPoint([dx, dy], angle);
  return [wrapped(angle + turn), x + byX, y + byY];
}

/** Both parts where whole `j` wants them: the one that the rectangle predicts, moved inwards if need be. */
export function arranged(
  j,
  /** @type {Pose[]} */ [, [turned, ...at]],
  /** @type {Pose[]} */ places,
) {
  const [turn, dx, dy] = places[2 + j];
  const angle = wrapped(turned - turn);
  const [, ...middle] = placed([angle, ...at], [0, -dx, -dy]);
  return PARTS.map((_, i) => placed([angle, ...within(middle, FARTHEST - 1)], places[2 * i + j]));
}

/** Everything turned about the middle of the picture. @param {Pose[]} poses */
export const turned = (poses, degrees) => poses.map((pose) => placed([degrees, 0, 0], pose));

/** What there is to see. */
function remarkOn(/** @type {number[]} */ [house, boat]) {
  const same = (one, other) =>
    `Both parts predict the same ${one}: same place, same angle. About a ${other} they disagree. So a ${one} it is.`;
  if (house < AGREE) return same("house", "boat");
  if (boat < AGREE) return same("boat", "house");
  return "Both parts are here, but they expect different houses and different boats. Parts alone are no whole.";
}

// ------------------------------------------------------------------------------------------------ the pictures

const HALF = 3.4; // a picture shows -HALF … HALF, both ways
const UNIT = 40; // units of the viewBox in a unit of the plane
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
/** The transform that puts an outline where (p, q, x, y) says, in the units of the viewBox, whose y points down. */
const placeAt = (/** @type {number[]} */ [p, q, x, y]) =>
  `matrix(${[p, -q, -q, -p].map((n) => n * UNIT)} ${onView(x, y)})`;
const join = (line, from, to) => line.setAttribute("d", `M${from}L${to}`);

/** The picture whose parts are dragged and turned. move(i, pose) */
function makeScene(poseOf, move) {
  const bodies = PARTS.map((part) => {
    const about = { "data-role": part, "aria-label": `The ${part}. Arrow keys move it.` };
    const limits = { "aria-valuemin": -FARTHEST, "aria-valuemax": FARTHEST };
    const shape = svg("path", { class: "body", d: SHAPES[part].body });
    return svg(
      "g",
      { class: `part ${part}`, tabindex: 0, role: "slider", ...about, ...limits },
      shape,
    );
  });
  const knobs = PARTS.map((part) => {
    const about = {
      "data-role": `turn-${part}`,
      "aria-label": `Angle of the ${part}. Arrow keys turn it.`,
    };
    return grip(
      { class: `handle ${part}`, "aria-valuemin": -180, "aria-valuemax": 180, ...about },
      12,
      7,
    );
  });
  const arms = PARTS.map((part) => svg("path", { class: `arm ${part}` }));
  const axis = svg("path", { class: "axis", d: `M0 ${SIZE / 2}H${SIZE}M${SIZE / 2} 0V${SIZE}` });
  const scene = svg(
    "svg",
    { ...VIEW, class: "plane scene", "data-role": "scene" },
    axis,
    ...bodies,
    ...arms,
    ...knobs,
  );
  PARTS.forEach((_, i) => {
    const shift = (/** @type {number[]} */ at) => move(i, [poseOf(i)[0], ...at]);
    const turn = (/** @type {number} */ angle) => move(i, [angle, ...poseOf(i).slice(1)]);
    const place = () => poseOf(i).slice(1);
    carry(bodies[i], { area: scene, steps: [0.1, 0.5], inUnits: inPlane, place, move: shift });
    drag(knobs[i], {
      area: scene,
      focus: knobs[i],
      move: (at) => {
        const [, x, y] = poseOf(i);
        turn(angleOf(inPlane(at)[1] - y, x - inPlane(at)[0])); // the knob is above the part
      },
    });
    arrowKeys(knobs[i], (dx, dy, { shiftKey }) =>
      turn(poseOf(i)[0] - (dx + dy) * (shiftKey ? 15 : 5)),
    );
  });

  function show(poses, apart) {
    const distances = `house predictions ${format(apart[0])} apart, boat predictions ${format(apart[1])} apart`;
    poses.forEach(([angle, x, y], i) => {
      const [cos, sin] = direction(angle);
      const { up, knob } = SHAPES[PARTS[i]];
      const above = (by) => onView(x - sin * by, y + cos * by);
      const turn = `turned by ${format(angle, 0)}°; ${distances}`;
      join(arms[i], above(up), above(knob));
      const place = { transform: placeAt([cos, sin, x, y]), "aria-valuenow": x.toFixed(2) };
      setAttributes(bodies[i], {
        ...place,
        "aria-valuetext": `at ${format(x, 1)}, ${format(y, 1)}, ${turn}`,
      });
      const rotation = {
        transform: `translate(${above(knob)})`,
        "aria-valuenow": angle.toFixed(0),
      };
      setAttributes(knobs[i], { ...rotation, "aria-valuetext": turn });
    });
  }
  return { scene, show };
}

/** The two predictions of one whole, and whether they agree. */
function makePanel(whole) {
  const outline = () => svg("path", { class: "outline", d: OUTLINES[whole] });
  const middle = () => svg("circle", { class: "middle", r: 0.13 });
  const ghosts = PARTS.map((part) => svg("g", { class: `ghost ${part}` }, outline(), middle()));
  const links = PARTS.map((part) => svg("path", { class: `link ${part}` }));
  const bodies = PARTS.map((part) => svg("path", { class: `faint ${part}`, d: SHAPES[part].body }));
  const layers = [...bodies, ...links, ghosts[1], ghosts[0]]; // the dashed ones on top
  const picture = svg("svg", { ...VIEW, class: "plane", role: "img" }, ...layers);
  const [verdict, distance] = [element("span", { class: "verdict-word" }), element("output")];
  const caption = element("figcaption", {}, verdict, element("span", {}, "distance ", distance));
  const panel = figure("panel", picture, caption);
  panel.prepend(element("p", { class: "heading" }, `Predicted: a ${whole}`));

  /** votes: a prediction of each part, [2][4]; apart: the distance between them. */
  function show(poses, votes, apart) {
    const agree = apart < AGREE;
    panel.classList.toggle("agree", agree);
    verdict.textContent = agree ? "they agree" : "they disagree";
    distance.textContent = format(apart);
    const both = `The ${whole} that the triangle predicts and the one that the rectangle predicts`;
    picture.setAttribute("aria-label", `${both}: ${format(apart)} apart`);
    poses.forEach((pose, i) => {
      bodies[i].setAttribute("transform", placeAt(capsuleOf(pose)));
      ghosts[i].setAttribute("transform", placeAt(votes[i]));
      join(links[i], onView(pose[1], pose[2]), onView(votes[i][2], votes[i][3]));
    });
  }
  return { panel, show };
}

const TURNED =
  `Both parts turned by ${TURN}° about the middle, and all four predictions turned with them. ` +
  "The distances are what they were, and no matrix changed.";
const LABEL = "Drag two parts and watch the wholes that they predict";

export default defineWidget("PartVotes", LABEL, (widget) => {
  const { root, get, set, layOut, animate, halt } = widget;
  const weight = Float64Array.from(get("weight"));
  const poses = () => get("poses");
  const go = (to, words = "") => {
    const way = wayTo(poses(), to, 0);
    animate((t) => set({ poses: way(t) }, words));
  };
  /** Part `i` somewhere else: not too far out, in thousandths. */
  const move = (i, [angle, x, y]) => {
    halt();
    const pose = [wrapped(angle), ...within([x, y], FARTHEST)].map(
      (n) => Math.round(n * 1000) / 1000,
    );
    set({ poses: poses().with(i, pose) });
  };

  const { scene, show } = makeScene((i) => poses()[i], move);
  const panels = WHOLES.map(makePanel);
  const arrange = (j) => () => go(arranged(j, poses(), get("places")));
  const buttons = rowOf(
    pushButton("make-house", "Make a house", arrange(0)),
    pushButton("make-boat", "Make a boat", arrange(1)),
    pushButton("turn-both", `Turn both by ${TURN}°`, () => go(turned(poses(), TURN), TURNED)),
  );
  const parts = element(
    "div",
    { class: "parts-side" },
    element("p", { class: "heading" }, "Two parts"),
    scene,
  );
  const wholes = element("div", { class: "panels" }, ...panels.map(({ panel }) => panel));
  const { say } = layOut({
    stage: element("div", { class: "part-votes" }, parts, wholes),
    hands: [buttons],
  });

  return () => {
    const u_hat = votesOf(poses(), weight);
    const apart = distancesOf(u_hat);
    root.dataset.apart = apart.map((x) => x.toFixed(4)).join(",");
    show(poses(), apart);
    panels.forEach((panel, j) => panel.show(poses(), [u_hat[0][j], u_hat[1][j]], apart[j]));
    say(widget.news || remarkOn(apart));
  };
});
