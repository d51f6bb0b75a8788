// Two parts to drag. Each predicts a house and a boat with a matrix of its own: û_j|i = W_ij u_i.
import {
  AGREE,
  arranged,
  capsuleOf,
  distancesOf,
  FARTHEST,
  moved,
  PARTS,
  remarkOn,
  turned,
  votesOf,
  WHOLES,
  wayTo,
} from "./part_votes_model.js";
import { arrowKeys, drag, glide, grip } from "./shared/controls.js";
import { defineWidget } from "./shared/stage.js";
import { element, format, pushButton, setAttributes, svg } from "./shared/ui.js";

const HALF = 3.4; // the picture shows -HALF … HALF, both ways
const UNIT = 40; // units of the viewBox in a unit of the plane
const SIZE = 2 * HALF * UNIT; // of the viewBox
const VIEW = { viewBox: `0 0 ${SIZE} ${SIZE}` };
const TURN = 30; // degrees
const MOMENT = 450; // milliseconds that an animation takes

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
    return svg("g", { class: `part ${part}`, tabindex: 0, role: "slider", ...about, ...limits }, shape);
  });
  const knobs = PARTS.map((part) => {
    const about = { "data-role": `turn-${part}`, "aria-label": `Angle of the ${part}. Arrow keys turn it.` };
    return grip({ class: `handle ${part}`, "aria-valuemin": -180, "aria-valuemax": 180, ...about }, 12, 7);
  });
  const arms = PARTS.map((part) => svg("path", { class: `arm ${part}` }));
  const axis = svg("path", { class: "axis", d: `M0 ${SIZE / 2}H${SIZE}M${SIZE / 2} 0V${SIZE}` });
  const scene = svg("svg", { ...VIEW, class: "plane scene", "data-role": "scene" }, axis, ...bodies, ...arms, ...knobs);
  PARTS.forEach((_, i) => {
    follow(bodies[i], i, ([x, y], [x0, y0], [angle, atX, atY]) => [angle, atX + x - x0, atY + y - y0]);
    follow(knobs[i], i, ([x, y], _, [, atX, atY]) => [(Math.atan2(atX - x, y - atY) * 180) / Math.PI, atX, atY]);
    arrowKeys(bodies[i], (dx, dy, { shiftKey }) => {
      const [[angle, x, y], step] = [poseOf(i), shiftKey ? 0.5 : 0.1];
      move(i, [angle, x + dx * step, y - dy * step]);
    });
    arrowKeys(knobs[i], (dx, dy, { shiftKey }) => {
      const [angle, ...place] = poseOf(i);
      move(i, [angle - (dx + dy) * (shiftKey ? 15 : 5), ...place]);
    });
  });

  /** `to(now, then, start)`: the pointer's place now and when it went down, and the part's pose then -> its pose. */
  function follow(node, i, to) {
    let then, start;
    const inPlane = ({ x, y }) => [(2 * x - 1) * HALF, (1 - 2 * y) * HALF];
    drag(node, {
      area: scene,
      focus: node,
      start: (at) => {
        [then, start] = [inPlane(at), poseOf(i)];
      },
      move: (at) => move(i, to(inPlane(at), then, start)),
    });
  }

  function show(poses, apart) {
    const distances = `house predictions ${format(apart[0])} apart, boat predictions ${format(apart[1])} apart`;
    poses.forEach(([angle, x, y], i) => {
      const [cos, sin] = capsuleOf(poses[i]);
      const { up, knob } = SHAPES[PARTS[i]];
      const above = (by) => onView(x - sin * by, y + cos * by);
      const turn = `turned by ${format(angle, 0)}°; ${distances}`;
      join(arms[i], above(up), above(knob));
      const place = { transform: placeAt([cos, sin, x, y]), "aria-valuenow": x.toFixed(2) };
      setAttributes(bodies[i], { ...place, "aria-valuetext": `at ${format(x, 1)}, ${format(y, 1)}, ${turn}` });
      const rotation = { transform: `translate(${above(knob)})`, "aria-valuenow": angle.toFixed(0) };
      setAttributes(knobs[i], { ...rotation, "aria-valuetext": turn });
    });
  }
  return { scene, show };
}

/** The two predictions of one whole, and whether they agree. */
function makePanel(whole) {
  const ghosts = PARTS.map((part) =>
    svg("g", { class: `ghost ${part}` }, svg("path", { class: "outline", d: OUTLINES[whole] })),
  );
  for (const ghost of ghosts) ghost.append(svg("circle", { class: "middle", r: 0.13 }));
  const links = PARTS.map((part) => svg("path", { class: `link ${part}` }));
  const bodies = PARTS.map((part) => svg("path", { class: `faint ${part}`, d: SHAPES[part].body }));
  const layers = [...bodies, ...links, ghosts[1], ghosts[0]]; // the dashed ones on top
  const picture = svg("svg", { ...VIEW, class: "plane", role: "img" }, ...layers);
  const [verdict, distance] = [element("span", { class: "verdict-word" }), element("output")];
  const caption = element("figcaption", {}, verdict, element("span", {}, "distance ", distance));
  const heading = element("p", { class: "heading" }, `Predicted: a ${whole}`);
  const panel = element("figure", { class: "panel", "data-role": whole }, heading, picture, caption);

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

export default defineWidget("PartVotes", LABEL, ({ root, get, set, layOut, stops }) => {
  const weight = Float64Array.from(get("weight"));
  const places = get("places");
  const poses = () => get("poses");
  let gone = { to: undefined, words: "" }; // where a button leads, and what it says there
  let halt = () => {};

  const { scene, show } = makeScene(
    (i) => poses()[i],
    (i, pose) => {
      halt();
      set({ poses: moved(poses(), i, pose) });
    },
  );
  const panels = WHOLES.map(makePanel);
  const button = (role, label, to, words = "") => pushButton(role, label, () => go(to(), words));
  const bar = element(
    "div",
    { class: "bar presets" },
    button("make-house", "Make a house", () => arranged(0, poses(), places)),
    button("make-boat", "Make a boat", () => arranged(1, poses(), places)),
    button("turn-both", `Turn both by ${TURN}°`, () => turned(poses(), TURN), TURNED),
  );
  const parts = element("div", { class: "parts-side" }, element("p", { class: "heading" }, "Two parts"), scene);
  const wholes = element("div", { class: "panels" }, ...panels.map(({ panel }) => panel));
  const { say } = layOut({ stage: element("div", { class: "part-votes" }, parts, wholes), hands: [bar] });
  stops.push(() => halt());

  /** All parts to their new poses. */
  function go(to, words) {
    halt();
    gone = { to, words };
    const way = wayTo(poses(), to);
    root.dataset.moving = "true";
    const stop = glide(MOMENT, (t) => set({ poses: way(t) }), end);
    function end() {
      stop();
      delete root.dataset.moving;
    }
    halt = end;
  }

  return () => {
    const u_hat = votesOf(poses(), weight);
    const apart = distancesOf(u_hat);
    root.dataset.apart = apart.map((x) => x.toFixed(4)).join(",");
    show(poses(), apart);
    panels.forEach((panel, j) => panel.show(poses(), [u_hat[0][j], u_hat[1][j]], apart[j]));
    const there = "moving" in root.dataset || String(poses()) === String(gone.to);
    say((there && gone.words) || remarkOn(apart));
  };
});
