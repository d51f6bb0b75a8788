// The parts of a face to drag. A bag of parts asks whether each is there; a face capsule asks whether they agree.
import {
  FACE,
  inDegrees,
  judge,
  KINDS,
  NOSE,
  PARTS,
  PICASSO,
  REACH,
  readPose,
  remarkOn,
  SURE,
  straightTo,
  tidy,
  turned,
} from "./face_parts_model.js";
import { arrowKeys, drag, glide } from "./shared/controls.js";
import { defineWidget } from "./shared/stage.js";
import { bytesOf, element, format, pushButton, setAttributes, svg } from "./shared/ui.js";

const TURN = 30; // degrees, by which the button turns the whole
const MOMENT = 450; // milliseconds that an animation takes
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
const placeOf = (/** @type {number[]} */ [x, y]) => [HALF + x * UNIT, HALF + y * UNIT];
const transformOf = (/** @type {number[]} */ [x, y, turn, size]) =>
  `translate(${HALF + x * UNIT} ${HALF + y * UNIT}) rotate(${turn}) scale(${size * UNIT})`;

/** The parts, to be dragged, and what each thinks of the face. move(i, x, y) */
function makePicture(poseOf, move) {
  const whole = outline("whole");
  const ghosts = PARTS.map((_, i) => outline(`part-${i}`));
  const threads = PARTS.map((_, i) => svg("path", { class: `thread part-${i}` }));
  const centres = PARTS.map((_, i) => svg("circle", { class: `centre part-${i}`, r: 4.5 }));
  const parts = PARTS.map((name, i) => {
    const about = { "data-part": i, "aria-label": `${capital(name)}. Arrow keys move it.` };
    const limits = { "aria-valuemin": -REACH, "aria-valuemax": REACH };
    const rings = ["touch", "ring"].map((kind) => svg("circle", { class: kind, r: 26 }));
    const drawing = svg("g", { class: "drawing-of" }, ...drawingOf(i));
    return svg("g", { class: `part part-${i}`, tabindex: 0, role: "slider", ...about, ...limits }, ...rings, drawing);
  });
  const view = { viewBox: `0 0 ${SIDE_OF_VIEW} ${SIDE_OF_VIEW}`, class: "plane face", "data-role": "picture" };
  const picture = svg("svg", view, whole, ...ghosts, ...threads, ...parts, ...centres);
  parts.forEach((part, i) => {
    const inPicture = ({ x, y }) => [x, y].map((share) => (share * SIDE_OF_VIEW - HALF) / UNIT);
    let held; // where the part lies, seen from the hand
    drag(part, {
      area: picture,
      focus: part,
      start: (at) => {
        held = inPicture(at).map((x, d) => poseOf(i)[d] - x);
      },
      move: (at) => move(i, ...inPicture(at).map((x, d) => x + held[d])),
    });
    arrowKeys(part, (dx, dy, { shiftKey }) => {
      const by = shiftKey ? 0.25 : 0.05;
      move(i, poseOf(i)[0] + dx * by, poseOf(i)[1] + dy * by);
    });
  });

  /** opinions: the face as each part sees it, and `seen`, as the capsule does, poses all. */
  function show(poses, shown, opinions, seen, length) {
    setAttributes(whole, { transform: transformOf(seen), opacity: (length * length).toFixed(3) });
    poses.forEach(([x, y, turn, size], i) => {
      const to = placeOf(opinions[i]);
      setAttributes(ghosts[i], { transform: transformOf(opinions[i]) });
      threads[i].setAttribute("d", `M${placeOf([x, y])}L${to}`);
      setAttributes(centres[i], { cx: to[0], cy: to[1] });
      for (const node of [ghosts[i], threads[i], centres[i]]) node.toggleAttribute("hidden", !shown[i]);
      const where = `${format(x)} across, ${format(y)} down, turned ${format(turn, 0)} degrees`;
      setAttributes(parts[i], {
        transform: `translate(${placeOf([x, y])})`,
        "aria-valuenow": x.toFixed(2),
        "aria-valuetext": shown[i] ? where : `taken away, ${where}`,
      });
      parts[i].classList.toggle("away", !shown[i]);
      parts[i].lastElementChild.setAttribute("transform", `rotate(${turn}) scale(${size * UNIT})`);
    });
  }
  return { picture, show };
}

function makeVerdict(role, title, question) {
  const value = element("span", { class: "value" });
  const fill = element("span", { class: "fill" });
  const more = element("p", { "data-role": `${role}-more` });
  const head = element("p", { class: "title" }, element("strong", {}, title), value);
  const rail = element("span", { class: "rail" }, fill);
  const asks = element("p", { class: "question" }, question);
  const node = element("div", { class: `verdict-of ${role}`, "data-role": role }, head, rail, asks, more);
  const show = (x, words) => {
    value.textContent = format(x);
    fill.style.width = `${(100 * x).toFixed(1)}%`;
    more.textContent = words;
    return `${title} ${format(x)}, ${words}.`;
  };
  return { node, show };
}

const LABEL = "Move the parts of a face; a bag of parts and a face capsule judge";

export default defineWidget("FaceParts", LABEL, ({ root, get, set, layOut, stops }) => {
  const [weight, waves] = ["weight", "waves"].map((name) => new Float32Array(bytesOf(get(name)).slice().buffer));
  const poses = () => get("poses");
  const change = (to) => set({ poses: to.map(tidy) });
  let stop = () => {}; // the animation
  const picture = makePicture(
    (i) => poses()[i],
    (i, x, y) => {
      stop();
      change(poses().map((pose, k) => (k === i ? [x, y, ...pose.slice(2)] : pose)));
    },
  );
  const bag = makeVerdict("bag", "Bag of parts", "Is each kind of part somewhere?");
  const capsule = makeVerdict("capsule", "Face capsule", "Do the parts agree on a face?");
  const nose = pushButton("nose", "", () => set({ shown: get("shown").with(NOSE, !get("shown")[NOSE]) }));
  const along = (path) => {
    stop();
    stop = glide(MOMENT, (t) => change(path(t)));
  };
  const bar = element(
    "div",
    { class: "bar presets" },
    pushButton("picasso", "Picasso", () => along(straightTo(poses(), PICASSO)), { class: "primary-action" }),
    pushButton("face", "A face", () => along(straightTo(poses(), FACE))),
    pushButton("turn-whole", "Turn the whole", () => along(turned(poses(), TURN))),
    nose,
  );
  const verdicts = element("div", { class: "verdicts" }, bag.node, capsule.node);
  const { say } = layOut({ stage: element("div", { class: "faces" }, picture.picture, verdicts), hands: [bar] });
  stops.push(() => stop());

  return () => {
    const shown = get("shown");
    const { opinions, face, found, lengths, bag: score } = judge(poses(), shown, weight, waves);
    const [[length], seen, views] = [lengths, readPose(face), opinions.map(readPose)];
    picture.show(poses(), shown, views, seen, length);
    nose.textContent = shown[NOSE] ? "No nose" : "The nose again";
    Object.assign(root.dataset, { bag: score.toFixed(4), length: length.toFixed(4), turn: seen[2].toFixed(2) });
    const where = `at (${format(seen[0])}, ${format(seen[1])}), turned ${inDegrees(seen[2])}, size ${format(seen[3])}`;
    const kinds = Object.keys(KINDS).map((kind, k) => `${kind} ${found[k] ? "✓" : "✗"}`);
    const said = [
      bag.show(score, kinds.join(" ")),
      capsule.show(length, length < SURE ? "no pose worth naming" : where),
    ];
    const words = remarkOn({ length, bag: score, opinions: views, shown, turn: seen[2] });
    say(words, [...said, words].join(" "));
  };
});
