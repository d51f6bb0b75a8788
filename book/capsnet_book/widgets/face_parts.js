// The parts of a face to drag. A bag of parts asks whether each is there; a face capsule asks
// whether they agree. The parts' matrices are made by hand.
import { makeBar } from "./shared/bars.js";
import { carry } from "./shared/controls.js";
import { norm, predictionVectors, route } from "./shared/core.js";
import { angleOf, direction, turnedPoint, wayTo, within, wrapped } from "./shared/plane.js";
import { defineWidget } from "./shared/stage.js";
import { t } from "./shared/t.js";
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

const PARTS = [t`left eye`, t`right eye`, t`nose`, t`mouth`];
const NOSE = 2;
/** To a bag both eyes are the same kind. @type {[string, number[]][]}  name, parts */
const KINDS = [
  [t`eye`, [0, 1]],
  [t`nose`, [2]],
  [t`mouth`, [3]],
];
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
const REACH = 1.6; // the radius of the disc in which parts lie
const SURE = 0.5; // a face capsule this long says that there is a face
const NEAR = 0.35; // an opinion this close to the capsule's agrees with it
const TURN = 30; // degrees by which the button turns the whole

// ------------------------------------------------------------------------------ the judgement

const I = 4; // parts
const J = 10; // wholes, the face and nine others
const D_in = 4;
const WAVES = 8;
const D = 2 * WAVES;
const VOICE = 2.5; // the length of one prediction vector
const ROUNDS = 3;

/** A part's capsule u: (x, y, size · cos, size · sin). @param {Pose} pose */
const capsuleOf = ([x, y, turn, size]) => [x, y, ...direction(turn).map((part) => size * part)];

/** The inverse of capsuleOf. @param {number[]} capsule @returns {Pose} */
const poseOf = ([x, y, a, b]) => [x, y, angleOf(a, b), Math.hypot(a, b)];

/**
 * An opinion (x, y, a, b) as a prediction vector [D], VOICE long. Equal opinions give equal
 * directions, since each number becomes the phase of a wave.
 * @param {Float32Array} opinion @param {Float32Array} waves  [WAVES, D_in]
 */
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

/** The mean of opinions [I][4], weighted by couplings [I]. @param {number[][]} opinions */
function weightedMean(opinions, couplings) {
  const total = couplings.reduce((sum, c_i) => sum + c_i, 0) || 1;
  const mean = (d) => opinions.reduce((sum, opinion, i) => sum + couplings[i] * opinion[d], 0);
  return Array.from({ length: D_in }, (_, d) => mean(d) / total);
}

/**
 * The parts' predictions, routed. opinions [I][4]: about the face; couplings [I] to it; face
 * (x, y, a, b): the capsule's own opinion; lengths [J] of all wholes; found: which kinds of parts
 * are there, 0 or 1; bag: the score of the bag of parts.
 * @param {Pose[]} poses @param {boolean[]} shown  whether each part is there
 * @param {Float32Array} weight  [I, J, 4, 4] @param {Float32Array} waves  [WAVES, 4]
 */
export function judge(poses, shown, weight, waves) {
  const u = Float32Array.from(poses.flatMap(capsuleOf));
  const all = predictionVectors(u, { shape: [I, J, D_in, D_in], data: weight }); // [I, J, 4]
  const u_hat = new Float32Array(I * J * D); // 0, no vote, for a part that is not there
  for (let k = 0; k < I * J; k++) {
    const isThere = shown[Math.floor(k / J)];
    if (isThere) u_hat.set(inWaves(all.subarray(k * D_in, (k + 1) * D_in), waves), k * D);
  }
  const { c, v } = route(u_hat, I, J, D, ROUNDS);
  const couplings = Array.from({ length: I }, (_, i) => (shown[i] ? c[ROUNDS - 1][i * J] : 0));
  const opinions = Array.from({ length: I }, (_, i) =>
    Array.from(all.subarray(i * J * D_in, i * J * D_in + D_in)),
  );
  // The bag takes the maximum over the parts of a kind.
  const found = KINDS.map(([, parts]) => Number(parts.some((i) => shown[i])));
  return {
    opinions,
    couplings,
    face: weightedMean(opinions, couplings),
    found,
    lengths: Array.from({ length: J }, (_, j) => norm(v[ROUNDS - 1], j * D, D)),
    bag: found.reduce((sum, x) => sum + x, 0) / found.length,
  };
}

// -------------------------------------------------------------------------------- in words

/**
 * Says what there is to see.
 * @param {ReturnType<typeof judge>} judgement @param {boolean[]} shown
 */
export function remarkOn(judgement, shown) {
  const { opinions, face, lengths } = judgement;
  const length = lengths[0]; // of the face capsule
  if (shown.includes(false)) return remarkOnMissing(judgement, shown);
  const [, , turn] = poseOf(face);
  const distances = opinions.map((opinion) => Math.hypot(...opinion.map((x, d) => x - face[d])));
  const apart = PARTS.filter((_, i) => distances[i] > NEAR);
  if (apart.length === 0 && Math.abs(turn) > 5) {
    const agreed = t`All agree, and all say “turned by ${inDegrees(turn)}”.`;
    const same = t`The length is what it was for the upright face; the pose has turned along.`;
    return t`${agreed} ${same}`;
  }
  if (apart.length === 0) {
    return t`Four opinions, one face: the outlines lie on top of each other, and the capsule is
      long.`;
  }
  if (apart.length === 1) {
    const elsewhere = t`thinks the face is somewhere else, or turned, or of another size`;
    return t`Three parts agree; the ${apart[0]} ${elsewhere}. The other three still make a face.`;
  }
  if (length > SURE)
    return t`Some parts still agree, and the capsule is not sure. The bag is: nothing is missing.`;
  return t`Everything is there, so the bag is content. But each part believes in another face: their
    vectors point different ways, and the sum stays short.`;
}

/** The same where parts are missing. @param {ReturnType<typeof judge>} judgement */
function remarkOnMissing({ lengths, bag }, shown) {
  if (!shown.includes(true)) return t`No parts, no opinions: both say 0.`;
  const missing =
    bag === 1
      ? t`The bag misses nothing: one eye is as good as two for a maximum.`
      : t`The bag notices what is missing: that is what it is good at.`;
  const agreement = lengths[0] > SURE ? t`still agree on one` : t`make no`;
  return t`${missing} The parts that are left ${agreement} face.`;
}

const inDegrees = (/** @type {number} */ angle) => `${format(angle, 0)}°`;

// ----------------------------------------------------------------------------- the pictures

const SIDE_OF_VIEW = 340; // in the units of the viewBox
const HALF = SIDE_OF_VIEW / 2;
const UNIT = 88; // half the height of a head

const HEAD =
  "M0 -1C.5 -1 .78 -.62 .76 -.12C.74 .45 .42 1 0 1" +
  "C-.42 1 -.74 .45 -.76 -.12C-.78 -.62 -.5 -1 0 -1M0 -1V-1.14";
const EYE = [
  "M-.2 0Q0 -.17 .2 0Q0 .15 -.2 0Z",
  "M-.07 0A.07 .07 0 1 1 .07 0A.07 .07 0 1 1 -.07 0Z",
  "M-.24 -.13Q-.12 -.28 .17 -.2",
  "M-.2 0L-.27 -.05M-.15 -.05L-.2 -.1",
];
const NOSE_LINES = ["M.02 -.2Q-.06 0 -.12 .08Q-.1 .15 .01 .13Q.1 .15 .12 .08"];
const MOUTH = ["M-.27 -.04Q0 .22 .27 -.04Q.1 .03 0 0Q-.1 .03 -.27 -.04Z"];
const THIN = { "vector-effect": "non-scaling-stroke" };

/** A part's drawing. Brow and lashes are at an eye's outer side, which tells left from right. */
function drawingOf(/** @type {number} */ i) {
  const paths = [EYE, EYE, NOSE_LINES, MOUTH][i];
  const transform = i === 1 ? "scale(-1 1)" : undefined;
  const isPupil = (k) => i < 2 && k === 1;
  const kind = (k) => (isPupil(k) || i === 3 ? "full" : "line");
  return paths.map((d, k) => svg("path", { d, transform, class: kind(k), ...THIN }));
}

const outline = (kind) => svg("path", { class: `outline ${kind}`, d: HEAD, ...THIN });
const capital = (/** @type {string} */ text) => text[0].toUpperCase() + text.slice(1);
const onView = (/** @type {number} */ x, /** @type {number} */ y) => [
  HALF + x * UNIT,
  HALF + y * UNIT,
];
const inPlane = ({ x, y }) => [x, y].map((share) => (share * SIDE_OF_VIEW - HALF) / UNIT);
const inOwnAxes = (/** @type {Pose} */ [, , turn, size]) => `rotate(${turn}) scale(${size * UNIT})`;
const transformOf = (/** @type {Pose} */ pose) =>
  `translate(${onView(pose[0], pose[1])}) ${inOwnAxes(pose)}`;

/** One part, to be dragged or moved by arrow keys. @param {string} name @param {number} i */
function makePart(name, i) {
  const about = {
    class: `part part-${i}`,
    tabindex: 0,
    role: "slider",
    "data-part": i,
    "aria-label": t`${capital(name)}. Arrow keys move it.`,
    "aria-valuemin": -REACH,
    "aria-valuemax": REACH,
  };
  const rings = ["touch", "ring"].map((kind) => svg("circle", { class: kind, r: 26 }));
  const drawing = svg("g", { class: "drawing-of" }, ...drawingOf(i));
  return svg("g", about, ...rings, drawing);
}

/**
 * The parts, to be dragged, and each one's opinion about the face.
 * @param {() => Pose[]} currentPoses @param {(i: number, to: number[]) => void} move
 */
function makePicture(currentPoses, move) {
  const whole = outline("whole");
  const ghosts = PARTS.map((_, i) => outline(`part-${i}`));
  const threads = PARTS.map((_, i) => svg("path", { class: `thread part-${i}` }));
  const centres = PARTS.map((_, i) => svg("circle", { class: `centre part-${i}`, r: 4.5 }));
  const parts = PARTS.map(makePart);
  const view = {
    viewBox: `0 0 ${SIDE_OF_VIEW} ${SIDE_OF_VIEW}`,
    class: "plane face",
    "data-role": "picture",
  };
  const picture = svg("svg", view, whole, ...ghosts, ...threads, ...parts, ...centres);
  parts.forEach((part, i) => {
    const place = () => currentPoses()[i].slice(0, 2);
    carry(part, {
      area: picture,
      steps: [0.05, 0.25],
      inUnits: inPlane,
      place,
      move: (to) => move(i, to),
    });
  });

  /** Shows one part, and the face as it sees it. @param {Pose} pose @param {Pose} opinion */
  function showPart(i, pose, opinion, isThere) {
    const [x, y, turn] = pose;
    const from = onView(x, y);
    const to = onView(opinion[0], opinion[1]);
    ghosts[i].setAttribute("transform", transformOf(opinion));
    threads[i].setAttribute("d", `M${from}L${to}`);
    setAttributes(centres[i], { cx: to[0], cy: to[1] });
    for (const node of [ghosts[i], threads[i], centres[i]])
      node.toggleAttribute("hidden", !isThere);
    const where = t`${format(x)} across, ${format(y)} down, turned ${format(turn, 0)} degrees`;
    setAttributes(parts[i], {
      transform: `translate(${from})`,
      "aria-valuenow": x.toFixed(2),
      "aria-valuetext": isThere ? where : t`taken away, ${where}`,
    });
    parts[i].classList.toggle("away", !isThere);
    parts[i].lastElementChild.setAttribute("transform", inOwnAxes(pose));
  }

  /**
   * @param {Pose[]} poses  of the parts @param {boolean[]} shown
   * @param {Pose[]} opinions  of the parts about the face
   * @param {Pose} face  as the capsule sees it
   * @param {number} length  of the face capsule
   */
  function show(poses, shown, opinions, face, length) {
    setAttributes(whole, { transform: transformOf(face), opacity: (length * length).toFixed(3) });
    poses.forEach((pose, i) => showPart(i, pose, opinions[i], shown[i]));
  }
  return { picture, show };
}

/** The verdict of the bag, or of the capsule: a bar and its words. */
function makeVerdict(role, title, question) {
  const bar = makeBar();
  const more = element("p");
  const head = element("p", { class: "title" }, element("strong", {}, title), bar.value);
  const asks = element("p", { class: "question" }, question);
  const node = element("div", { class: `verdict-of ${role}` }, head, bar.rail, asks, more);
  /** Returns what it says, for screen readers. */
  const show = (/** @type {number} */ x, /** @type {string} */ words) => {
    bar.show(x);
    more.textContent = words;
    return t`${title} ${format(x)}, ${words}.`;
  };
  return { node, show };
}

/** The two verdicts side by side. */
function makeVerdicts() {
  const bag = makeVerdict("bag", t`Bag of parts`, t`Is each kind of part somewhere?`);
  const capsule = makeVerdict("capsule", t`Face capsule`, t`Do the parts agree on a face?`);
  const node = element("div", { class: "verdicts" }, bag.node, capsule.node);

  /** Returns what they say. @param {ReturnType<typeof judge>} judgement @param {Pose} face */
  function show({ bag: score, found, lengths }, face) {
    const [x, y, turn, size] = face;
    const place = t`at (${format(x)}, ${format(y)})`;
    const where = t`${place}, turned ${inDegrees(turn)}, size ${format(size)}`;
    const pose = lengths[0] < SURE ? t`no pose worth naming` : where;
    const kinds = KINDS.map(([kind], k) => `${kind} ${found[k] ? "✓" : "✗"}`);
    return [bag.show(score, kinds.join(" ")), capsule.show(lengths[0], pose)];
  }
  return { node, show };
}

// ------------------------------------------------------------------------------- the widget

const round = (/** @type {number} */ x) => Math.round(x * 1e4) / 1e4;

/** A pose within bounds (inside the disc, turned by −180° to 180°, of a possible size), rounded. */
const tidy = (/** @type {Pose} */ [x, y, turn, size]) =>
  [...within([x, y], REACH), wrapped(turn), clamp(size, 0.5, 1.6)].map(round);

/** All poses turned about the middle. @param {Pose[]} poses @param {number} angle */
const turned = (poses, angle) =>
  poses.map(([x, y, turn, size]) => [...turnedPoint([x, y], angle), turn + angle, size]);

const LABEL = t`Move the parts of a face; a bag of parts and a face capsule judge`;

export default defineWidget("FaceParts", LABEL, ({ root, get, set, layOut, animate, halt }) => {
  const floatsOf = (name) => new Float32Array(bytesOf(get(name)).slice().buffer);
  const weight = floatsOf("weight");
  const waves = floatsOf("waves");
  const poses = () => get("poses");
  const put = (/** @type {Pose[]} */ to) => set({ poses: to.map(tidy) });
  const go = (/** @type {Pose[]} */ to) => {
    const way = wayTo(poses(), to, 2);
    animate((t) => put(way(t)));
  };
  function turnAll() {
    const start = poses();
    animate((t) => put(turned(start, TURN * t)));
  }
  const toggleNose = () => set({ shown: get("shown").with(NOSE, !get("shown")[NOSE]) });

  const picture = makePicture(poses, (i, to) => {
    halt();
    put(poses().with(i, [...to, ...poses()[i].slice(2)]));
  });
  const verdicts = makeVerdicts();
  const nose = pushButton("nose", "", toggleNose);
  const picasso = pushButton("picasso", t`Picasso`, () => go(PICASSO));
  const isPicasso = () => poses().every((pose, i) => pose.every((x, k) => x === PICASSO[i][k]));
  const buttons = rowOf(
    picasso,
    pushButton("face", t`A face`, () => go(FACE)),
    pushButton("turn-whole", t`Turn the whole`, turnAll),
    nose,
  );
  const { say } = layOut({
    stage: element("div", { class: "faces" }, picture.picture, verdicts.node),
    hands: [buttons],
  });

  return () => {
    const shown = get("shown");
    const judgement = judge(poses(), shown, weight, waves);
    const length = judgement.lengths[0];
    const face = poseOf(judgement.face);
    picture.show(poses(), shown, judgement.opinions.map(poseOf), face, length);
    picasso.classList.toggle("primary-action", !isPicasso());
    nose.textContent = shown[NOSE] ? t`No nose` : t`The nose again`;
    root.dataset.length = length.toFixed(4);
    const verdictWords = verdicts.show(judgement, face);
    const remark = remarkOn(judgement, shown);
    say(remark, [...verdictWords, remark].join(" "));
  };
});
