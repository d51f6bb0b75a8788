// The parts of a face to drag. A bag of parts asks whether each is there; a face capsule asks whether they agree. The
// matrices of the parts are made by hand.
import { makeBar } from "./shared/bars.js";
import { carry } from "./shared/controls.js";
import { norm, predictionVectors, route } from "./shared/core.js";
import { angleOf, direction, turnedPoint, wayTo, within, wrapped } from "./shared/plane.js";
import { defineWidget } from "./shared/stage.js";
import {
  bytesOf,
  clamp,
  element,
  format,
  pushButton,
  rowOf,
  setAttributes,
  svg,
} from "./shared/ui.js";

/** @typedef {number[]} Pose  x, y, turn in degrees, size */

const PARTS = ["left eye", "right eye", "nose", "mouth"];
const NOSE = 2;
const KINDS = { eye: [0, 1], nose: [2], mouth: [3] }; // a bag does not tell one eye from the other
/** @type {Pose[]} */
const FACE = [
  [-0.38, -0.22, 0, 1],
  [0.38, -0.22, 0, 1],
  [0, 0.12, 0, 1],
  [0, 0.52, 0, 1],
];
/** @type {Pose[]} */
const PICASSO = [
  [0.42, 0.5, 35, 1],
  [-0.3, -0.62, -20, 1.2],
  [0.55, -0.3, 70, 1],
  [-0.5, 0.25, -60, 1],
];
const REACH = 1.6; // no part leaves this disc
const SURE = 0.5; // a face capsule at least this long says that there is a face
const NEAR = 0.35; // an opinion that is closer than this to the capsule's agrees with it
const TURN = 30; // degrees, by which the button turns the whole

// --------------------------------------------------------------------------------------------- what is judged

const [I, J, D_in, WAVES] = [4, 10, 4, 8];
const D = 2 * WAVES;
const VOICE = 2.5; // the length of one prediction vector
const ROUNDS = 3;

/** u, (x, y, size·cos, size·sin) of a part. @param {Pose} pose */
const numbersOf = ([x, y, turn, size]) => [x, y, ...direction(turn).map((part) => size * part)];

/** The same the other way round. @returns {Pose} */
const poseOf = (/** @type {number[]} */ [x, y, a, b]) => [x, y, angleOf(a, b), Math.hypot(a, b)];

/** An opinion (x, y, a, b) in waves [WAVES, D_in], VOICE long: the same opinion, the same direction. -> [D] */
function inWaves(opinion, waves) {
  const u_hat = new Float32Array(D);
  const scale = VOICE / Math.sqrt(WAVES);
  for (let m = 0; m < WAVES; m++) {
    let phase = 0;
    for (let d = 0; d < D_in; d++) phase += waves[m * D_in + d] * opinion[d];
    u_hat[m] = scale * Math.cos(phase);
    u_hat[WAVES + m] = scale * Math.sin(phase);
  }
  return u_hat;
}

/**
 * What the parts predict, and what becomes of it: opinions [I][4] about the face, couplings [I] to it, the lengths of
 * all J wholes, the face (x, y, a, b), which kinds of parts are found, and the bag's score.
 * @param {Pose[]} poses
 */
export function judge(poses, shown, weight, waves) {
  const u = Float32Array.from(poses.flatMap(numbersOf));
  const all = predictionVectors(u, { shape: [I, J, D_in, D_in], data: weight }); // [I, J, 4]
  const u_hat = new Float32Array(I * J * D); // a part that is not there says nothing: 0
  for (let k = 0; k < I * J; k++)
    if (shown[Math.floor(k / J)])
      u_hat.set(inWaves(all.subarray(k * D_in, (k + 1) * D_in), waves), k * D);
  const { c, v } = route(u_hat, I, J, D, ROUNDS);
  const couplings = Array.from({ length: I }, (_, i) => (shown[i] ? c[ROUNDS - 1][i * J] : 0));
  const opinions = Array.from({ length: I }, (_, i) =>
    Array.from(all.subarray(i * J * D_in, i * J * D_in + D_in)),
  );
  const total = couplings.reduce((sum, c_i) => sum + c_i, 0) || 1;
  const mean = (d) =>
    opinions.reduce((sum, opinion, i) => sum + couplings[i] * opinion[d], 0) / total;
  const found = Object.values(KINDS).map((parts) => Number(parts.some((i) => shown[i]))); // the max pooling
  return {
    opinions,
    couplings,
    face: Array.from({ length: D_in }, (_, d) => mean(d)),
    found,
    lengths: Array.from({ length: J }, (_, j) => norm(v[ROUNDS - 1], j * D, D)),
    bag: found.reduce((sum, x) => sum + x, 0) / found.length,
  };
}

/** What there is to see. @param {{ opinions: number[][], [name: string]: any }} _ */
function remarkOn({ length, opinions, face, shown, turn }) {
  const far = opinions.map((opinion) => Math.hypot(...opinion.map((x, d) => x - face[d])));
  const apart = PARTS.filter((_, i) => far[i] > NEAR);
  if (!shown[NOSE]) {
    const rest = `The parts that are left ${length > SURE ? "still agree on one" : "make no"} face.`;
    return `What is missing, the bag notices: that is what it is good at. ${rest}`;
  }
  if (apart.length === 0 && Math.abs(turn) > 5) {
    const agreed = `All agree, and all say “turned by ${inDegrees(turn)}”.`;
    return `${agreed} The length is what it was for the upright face; the pose has turned along.`;
  }
  if (apart.length === 0) {
    return "Four opinions, one face: the outlines lie on top of each other, and the capsule is long.";
  }
  if (apart.length === 1) {
    const other = `the ${apart[0]} thinks the face is somewhere else, or turned, or of another size`;
    return `Three parts agree; ${other}. The other three still make a face.`;
  }
  if (length > SURE)
    return "Some parts still agree, and the capsule is not sure. The bag is: nothing is missing.";
  return (
    "Everything is there, so the bag is content. But each part believes in another face: " +
    "their vectors point different ways, and the sum stays short."
  );
}

const inDegrees = (/** @type {number} */ angle) => `${format(angle, 0)}°`;

// ------------------------------------------------------------------------------------------------ the pictures

const SIDE_OF_VIEW = 340; // of the picture, in the units of its viewBox
const HALF = SIDE_OF_VIEW / 2;
const UNIT = 88; // half the height of a head

const HEAD =
  "M0 -1C.5 -1 .78 -.62 .76 -.12C.74 .45 .42 1 0 1C-.42 1 -.74 .45 -.76 -.12C-.78 -.62 -.5 -1 0 -1M0 -1V-1.14";
const EYE = [
  "M-.2 0Q0 -.17 .2 0Q0 .15 -.2 0Z",
  "M-.07 0A.07 .07 0 1 1 .07 0A.07 .07 0 1 1 -.07 0Z",
  "M-.24 -.13Q-.12 -.28 .17 -.2",
  "M-.2 0L-.27 -.05M-.15 -.05L-.2 -.1",
];
const NOSE_LINES = ["M.02 -.2Q-.06 0 -.12 .08Q-.1 .15 .01 .13Q.1 .15 .12 .08"];
const MOUTH = ["M-.27 -.04Q0 .22 .27 -.04Q.1 .03 0 0Q-.1 .03 -.27 -.04Z"];
const THIN = { "vector-effect": "non-scaling-stroke" };

/** Brow and lashes are at the outer side: a left eye is no right eye. */
function drawingOf(i) {
  const paths = [EYE, EYE, NOSE_LINES, MOUTH][i];
  const transform = i === 1 ? "scale(-1 1)" : undefined;
  const kind = (k) => ((i < 2 && k === 1) || i === 3 ? "full" : "line");
  return paths.map((d, k) => svg("path", { d, transform, class: kind(k), ...THIN }));
}

const outline = (kind) => svg("path", { class: `outline ${kind}`, d: HEAD, ...THIN });
const capital = (text) => text[0].toUpperCase() + text.slice(1);
const onView = (x, y) => [HALF + x * UNIT, HALF + y * UNIT];
const inPlane = ({ x, y }) => [x, y].map((share) => (share * SIDE_OF_VIEW - HALF) / UNIT);
const inOwnAxes = (/** @type {Pose} */ [, , turn, size]) => `rotate(${turn}) scale(${size * UNIT})`;
const transformOf = (/** @type {Pose} */ pose) =>
  `translate(${onView(pose[0], pose[1])}) ${inOwnAxes(pose)}`;

/** The parts, to be dragged, and what each thinks of the face. move(i, [x, y]) */
function makePicture(posesNow, move) {
  const whole = outline("whole");
  const ghosts = PARTS.map((_, i) => outline(`part-${i}`));
  const threads = PARTS.map((_, i) => svg("path", { class: `thread part-${i}` }));
  const centres = PARTS.map((_, i) => svg("circle", { class: `centre part-${i}`, r: 4.5 }));
  const parts = PARTS.map((name, i) => {
    const about = { "data-part": i, "aria-label": `${capital(name)}. Arrow keys move it.` };
    const limits = { "aria-valuemin": -REACH, "aria-valuemax": REACH };
    const rings = ["touch", "ring"].map((kind) => svg("circle", { class: kind, r: 26 }));
    const drawing = svg("g", { class: "drawing-of" }, ...drawingOf(i));
    return svg(
      "g",
      { class: `part part-${i}`, tabindex: 0, role: "slider", ...about, ...limits },
      ...rings,
      drawing,
    );
  });
  const view = {
    viewBox: `0 0 ${SIDE_OF_VIEW} ${SIDE_OF_VIEW}`,
    class: "plane face",
    "data-role": "picture",
  };
  const picture = svg("svg", view, whole, ...ghosts, ...threads, ...parts, ...centres);
  parts.forEach((part, i) => {
    const place = () => posesNow()[i].slice(0, 2);
    carry(part, {
      area: picture,
      steps: [0.05, 0.25],
      inUnits: inPlane,
      place,
      move: (to) => move(i, to),
    });
  });

  /** opinions: the face as each part sees it, and `seen`, as the capsule does, poses all. */
  function show(poses, shown, opinions, seen, length) {
    setAttributes(whole, { transform: transformOf(seen), opacity: (length * length).toFixed(3) });
    poses.forEach(([x, y, turn], i) => {
      const [from, to] = [onView(x, y), onView(opinions[i][0], opinions[i][1])];
      ghosts[i].setAttribute("transform", transformOf(opinions[i]));
      threads[i].setAttribute("d", `M${from}L${to}`);
      setAttributes(centres[i], { cx: to[0], cy: to[1] });
      for (const node of [ghosts[i], threads[i], centres[i]])
        node.toggleAttribute("hidden", !shown[i]);
      const where = `${format(x)} across, ${format(y)} down, turned ${format(turn, 0)} degrees`;
      setAttributes(parts[i], {
        transform: `translate(${from})`,
        "aria-valuenow": x.toFixed(2),
        "aria-valuetext": shown[i] ? where : `taken away, ${where}`,
      });
      parts[i].classList.toggle("away", !shown[i]);
      parts[i].lastElementChild.setAttribute("transform", inOwnAxes(poses[i]));
    });
  }
  return { picture, show };
}

function makeVerdict(role, title, question) {
  const bar = makeBar();
  const more = element("p");
  const head = element("p", { class: "title" }, element("strong", {}, title), bar.value);
  const asks = element("p", { class: "question" }, question);
  const node = element("div", { class: `verdict-of ${role}` }, head, bar.rail, asks, more);
  const show = (x, words) => {
    bar.show(x);
    more.textContent = words;
    return `${title} ${format(x)}, ${words}.`;
  };
  return { node, show };
}

const LABEL = "Move the parts of a face; a bag of parts and a face capsule judge";

export default defineWidget("FaceParts", LABEL, ({ root, get, set, layOut, animate, halt }) => {
  const [weight, waves] = ["weight", "waves"].map(
    (name) => new Float32Array(bytesOf(get(name)).slice().buffer),
  );
  const poses = () => get("poses");
  const round = (/** @type {number} */ x) => Math.round(x * 1e4) / 1e4;
  /** Within bounds: inside the disc, turned by −180° to 180°, of a possible size; rounded. */
  const tidy = (/** @type {Pose} */ [x, y, turn, size]) =>
    [...within([x, y], REACH), wrapped(turn), clamp(size, 0.5, 1.6)].map(round);
  const put = (/** @type {Pose[]} */ to) => set({ poses: to.map(tidy) });
  const picture = makePicture(poses, (i, to) => {
    halt();
    put(poses().with(i, [...to, ...poses()[i].slice(2)]));
  });
  const go = (/** @type {Pose[]} */ to) => {
    const way = wayTo(poses(), to, 2);
    animate((t) => put(way(t)));
  };
  function turnAll() {
    const start = poses();
    const at = (angle) =>
      start.map(([x, y, turn, size]) => [...turnedPoint([x, y], angle), turn + angle, size]);
    animate((t) => put(at(TURN * t)));
  }
  const bag = makeVerdict("bag", "Bag of parts", "Is each kind of part somewhere?");
  const capsule = makeVerdict("capsule", "Face capsule", "Do the parts agree on a face?");
  const nose = pushButton("nose", "", () =>
    set({ shown: get("shown").with(NOSE, !get("shown")[NOSE]) }),
  );
  const buttons = rowOf(
    pushButton("picasso", "Picasso", () => go(PICASSO), { class: "primary-action" }),
    pushButton("face", "A face", () => go(FACE)),
    pushButton("turn-whole", "Turn the whole", turnAll),
    nose,
  );
  const verdicts = element("div", { class: "verdicts" }, bag.node, capsule.node);
  const { say } = layOut({
    stage: element("div", { class: "faces" }, picture.picture, verdicts),
    hands: [buttons],
  });

  return () => {
    const shown = get("shown");
    const { opinions, face, found, lengths, bag: score } = judge(poses(), shown, weight, waves);
    const [[length], seen, views] = [lengths, poseOf(face), opinions.map(poseOf)];
    picture.show(poses(), shown, views, seen, length);
    nose.textContent = shown[NOSE] ? "No nose" : "The nose again";
    root.dataset.length = length.toFixed(4);
    const where = `at (${format(seen[0])}, ${format(seen[1])}), turned ${inDegrees(seen[2])}, size ${format(seen[3])}`;
    const kinds = Object.keys(KINDS).map((kind, k) => `${kind} ${found[k] ? "✓" : "✗"}`);
    const pose = length < SURE ? "no pose worth naming" : where;
    const said = [bag.show(score, kinds.join(" ")), capsule.show(length, pose)];
    const words = remarkOn({ length, opinions, face, shown, turn: seen[2] });
    say(words, [...said, words].join(" "));
  };
});
