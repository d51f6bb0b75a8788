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
import { withPrompts } from "./shared/prompts.js";
import { layOut } from "./shared/stage.js";
import {
  bytesOf,
  element,
  format,
  listen,
  makeRoot,
  mount,
  oncePerFrame,
  pushButton,
  save,
  setAttributes,
  svg,
} from "./shared/ui.js";

const TURN = 30; // degrees, by which the button turns the whole
const MOMENT = 450; // milliseconds that an animation takes
const SIDE_OF_VIEW = 340; // of the picture, in the units of its viewBox
const HALF = SIDE_OF_VIEW / 2;
const UNIT = 88; // half the height of a head

// ------------------------------------------------------------------------------------------------ the drawings

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

// ------------------------------------------------------------------------------------------------- the picture

/**
 * The parts, to be dragged, and what each thinks of the face.
 * @param {{ poseOf(i: number): number[], move(i: number, x: number, y: number): void, done(): void }} _
 */
function makePicture({ poseOf, move, done }) {
  const whole = outline("whole");
  const ghosts = PARTS.map((_, i) => outline(`part-${i}`));
  const threads = PARTS.map((_, i) => svg("path", { class: `thread part-${i}` }));
  const centres = PARTS.map((_, i) => svg("circle", { class: `centre part-${i}`, r: 4.5 }));
  const parts = PARTS.map(makePart);
  const picture = svg(
    "svg",
    { viewBox: `0 0 ${SIDE_OF_VIEW} ${SIDE_OF_VIEW}`, class: "plane face", "data-role": "picture" },
    whole,
    ...ghosts,
    ...threads,
    ...parts,
    ...centres,
  );
  parts.forEach((part, i) => {
    const inPicture = ({ x, y }) => [x, y].map((share) => (share * SIDE_OF_VIEW - HALF) / UNIT);
    let held; // where the part lies, seen from the hand
    drag(part, {
      area: picture,
      focus: part,
      start: (at) => {
        const [x, y] = inPicture(at);
        held = [poseOf(i)[0] - x, poseOf(i)[1] - y];
      },
      move: (at) => {
        const [x, y] = inPicture(at);
        move(i, x + held[0], y + held[1]);
      },
      end: done,
    });
    arrowKeys(part, (dx, dy, event) => {
      const by = event.shiftKey ? 0.25 : 0.05;
      move(i, poseOf(i)[0] + dx * by, poseOf(i)[1] + dy * by);
      done();
    });
  });

  /** opinions: the face as each part sees it, and `seen`, as the capsule does, poses all. */
  function show(poses, shown, opinions, seen, length) {
    setAttributes(whole, { transform: transformOf(seen), opacity: (length * length).toFixed(3) });
    poses.forEach((pose, i) => {
      const [from, to] = [placeOf(pose), placeOf(opinions[i])];
      setAttributes(ghosts[i], { transform: transformOf(opinions[i]) });
      threads[i].setAttribute("d", `M${from}L${to}`);
      setAttributes(centres[i], { cx: to[0], cy: to[1] });
      for (const node of [ghosts[i], threads[i], centres[i]]) node.toggleAttribute("hidden", !shown[i]);
      showPart(parts[i], pose, shown[i]);
    });
  }

  return { picture, show };
}

function makePart(name, i) {
  return svg(
    "g",
    {
      class: `part part-${i}`,
      tabindex: 0,
      role: "slider",
      "data-part": i,
      "aria-valuemin": -REACH,
      "aria-valuemax": REACH,
      "aria-label": `${capital(name)}. Arrow keys move it.`,
    },
    svg("circle", { class: "touch", r: 26 }),
    svg("circle", { class: "ring", r: 26 }),
    svg("g", { class: "drawing-of" }, ...drawingOf(i)),
  );
}

/** @param {SVGElement} part @param {number[]} pose @param {boolean} shown */
function showPart(part, [x, y, turn, size], shown) {
  const away = shown ? "" : "taken away, ";
  setAttributes(part, {
    transform: `translate(${placeOf([x, y])})`,
    "aria-valuenow": x.toFixed(2),
    "aria-valuetext": `${away}${format(x)} across, ${format(y)} down, turned ${format(turn, 0)} degrees`,
  });
  part.classList.toggle("away", !shown);
  part.lastElementChild.setAttribute("transform", `rotate(${turn}) scale(${size * UNIT})`);
}

// ------------------------------------------------------------------------------------------------ the verdicts

function makeVerdict(role, title, question) {
  const value = element("span", { class: "value" });
  const fill = element("span", { class: "fill" });
  const rail = element("span", { class: "rail" }, fill);
  const node = element(
    "div",
    { class: `verdict-of ${role}`, "data-role": role },
    element("p", { class: "title" }, element("strong", {}, title), value),
    rail,
    element("p", { class: "question" }, question),
  );
  const show = (x) => {
    value.textContent = format(x);
    fill.style.width = `${(100 * x).toFixed(1)}%`;
  };
  return { node, show };
}

/** The bag's and the capsule's verdicts. show() returns both in words. */
function makeVerdicts() {
  const bag = makeVerdict("bag", "Bag of parts", "Is each kind of part somewhere?");
  const kinds = Object.keys(KINDS).map((kind) => element("span", { class: "kind", "data-kind": kind }));
  bag.node.append(element("p", { class: "kinds" }, ...kinds));
  const capsule = makeVerdict("capsule", "Face capsule", "Do the parts agree on a face?");
  const pose = element("p", { class: "pose", "data-role": "pose" });
  capsule.node.append(pose);

  function show(score, found, length, seen) {
    bag.show(score);
    capsule.show(length);
    kinds.forEach((kind, k) => {
      kind.textContent = `${kind.dataset.kind} ${found[k] ? "✓" : "✗"}`;
      kind.classList.toggle("missing", !found[k]);
    });
    const place = `at (${format(seen[0])}, ${format(seen[1])})`;
    const inWords = `${place}, turned ${inDegrees(seen[2])}, size ${format(seen[3])}`;
    pose.textContent = length < SURE ? "no pose worth naming" : inWords;
    return `Bag of parts ${format(score)}. Face capsule ${format(length)} long, ${pose.textContent}.`;
  }

  return { nodes: [bag.node, capsule.node], show };
}

// -------------------------------------------------------------------------------------------------- the widget

function build(root, model) {
  const floats = (name) => new Float32Array(bytesOf(model.get(name)).slice().buffer);
  const [weight, waves] = [floats("weight"), floats("waves")];
  let stop = () => {}; // the animation

  const poses = () => model.get("poses");
  const change = (to) => model.set("poses", to.map(tidy));
  const picture = makePicture({
    poseOf: (i) => poses()[i],
    move: (i, x, y) => {
      stop();
      change(poses().map(([ownX, ownY, ...rest], k) => (k === i ? [x, y, ...rest] : [ownX, ownY, ...rest])));
    },
    done: () => model.save_changes(),
  });
  const verdicts = makeVerdicts();
  const nose = pushButton("nose", "", () =>
    save(model, { shown: model.get("shown").with(NOSE, !model.get("shown")[NOSE]) }),
  );
  const bar = element(
    "div",
    { class: "bar presets" },
    pushButton("picasso", "Picasso", () => goAlong(straightTo(poses(), PICASSO)), { class: "primary-action" }),
    pushButton("face", "A face", () => goAlong(straightTo(poses(), FACE))),
    pushButton("turn-whole", "Turn the whole", () => goAlong(turned(poses(), TURN))),
    nose,
  );
  const { say, stop: stopSaying } = layOut(root, {
    stage: element(
      "div",
      { class: "faces" },
      picture.picture,
      element("div", { class: "verdicts" }, ...verdicts.nodes),
    ),
    hands: [bar],
  });

  function draw() {
    const shown = model.get("shown");
    const { opinions, face, found, lengths, bag } = judge(poses(), shown, weight, waves);
    const [length] = lengths;
    const [seen, views] = [readPose(face), opinions.map(readPose)];
    picture.show(poses(), shown, views, seen, length);
    nose.textContent = shown[NOSE] ? "No nose" : "The nose again";
    setAttributes(root, {
      "data-bag": bag.toFixed(4),
      "data-length": length.toFixed(4),
      "data-turn": seen[2].toFixed(2),
    });
    const words = remarkOn({ length, bag, opinions, shown, turn: seen[2] });
    say(words, `${verdicts.show(bag, found, length, seen)} ${words}`);
  }
  const schedule = oncePerFrame(draw);

  /** Moves all parts along a path, t from 0 to 1 -> poses. */
  function goAlong(path) {
    stop();
    stop = glide(
      MOMENT,
      (t) => change(path(t)),
      () => model.save_changes(),
    );
  }

  const stopListening = listen(model, { poses: schedule, shown: schedule });
  draw();
  return [stopListening, () => stop(), stopSaying, schedule.cancel];
}

function render({ model, el }) {
  const root = makeRoot("FaceParts", "Move the parts of a face; a bag of parts and a face capsule judge");
  return mount(el, root, () => build(root, model));
}

export default { render: withPrompts(render) };
