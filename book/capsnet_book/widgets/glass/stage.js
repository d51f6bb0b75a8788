// The glass network's stage: the picture, what stands around it, and what it answers.
import { fitCanvas, glide, measure } from "../shared/controls.js";
import { digitAt, digitRow, makePainter, themeColours, whenThemeChanges } from "../shared/digits.js";
import { makePad } from "../shared/pad.js";
import { element, makeAnnouncer, makeRoot, oncePerFrame, onNews, pushButton } from "../shared/ui.js";
import { makeHands } from "./hands.js";
import { planOf } from "./layout.js";
import { paintLens } from "./lens.js";
import { goneOf, hasInk, makeSession, scoreOf, sentenceOn } from "./model.js";
import { makePicture } from "./paint.js";

const SWEEP = 600; // milliseconds from the digit to its drawing
const HINTS = [
  "Point at any part: a map, a capsule, a vote, a length. ",
  "Press a capsule or a length to take it out; draw a line across votes to cut them. ",
];

/** Shows words, and leaves a node alone that has them. */
const write = (node, words) => {
  if (node.textContent !== words) node.textContent = words;
};

/** What stands under the picture: ten digits, what a touch does, the rounds of routing. */
function makeControls(samples, { choose, setApart, setRounds }) {
  const name = (n) => `A handwritten ${n}`;
  const digits = digitRow([...Array(10).keys()], samples, name, (n) => choose(digitAt(samples, n)), 255);
  const touch = ["Look", "Take apart"].map((words, n) => pushButton("touch", words, () => setApart(n === 1)));
  const rounds = element("output");
  const steps = ["fewer", "more"].map((way, n) => {
    const about = { class: "step", "aria-label": `One round of routing ${way}` };
    return pushButton(way, "−+"[n], () => setRounds(2 * n - 1, false), about);
  });
  const whole = pushButton("whole", "Put it together", () => setRounds(0, true));
  const group = (label, ...inside) => element("div", { class: "group", role: "group", "aria-label": label }, ...inside);
  const about = [group("What a touch does", ...touch), group("Rounds of routing", steps[0], rounds, steps[1]), whole];
  const row = element("div", { class: "controls" }, digits.row, ...about);
  const show = (session, apart) => {
    touch.forEach((button, n) => button.setAttribute("aria-pressed", String(apart === Boolean(n))));
    write(rounds, `${session.rounds} ${session.rounds === 1 ? "round" : "rounds"}`);
    steps.forEach((button, n) => (button.disabled = session.rounds === [1, 10][n]));
    whole.disabled = !session.touched;
  };
  return { row, digits, show };
}

/** Puts what is taken hold of over its part of the picture. In a high stage the pad's buttons find no room under it. */
function seat({ boxes, high }, pad, hands, { scene, digits }) {
  if (high) digits.after(pad.buttons);
  else scene.append(pad.buttons);
  const under = { ...boxes.image, y: boxes.image.y + boxes.image.h + 8, h: 36 };
  const put = ({ style }, { x, y, w, h }) =>
    Object.assign(style, { left: `${x}px`, top: `${y}px`, width: `${w}px`, height: `${h}px` });
  put(pad.frame, boxes.image);
  put(pad.buttons, under);
  for (const { part, node } of hands) put(node, boxes[part]);
}

/**
 * A stage for a network that use(network) gives it; show(bytes) gives it a digit. samples: a digit of each class; lit:
 * the parts to enlarge; first: the digit to begin with; answered(stage) is told of all that is answered.
 */
export function makeStage({ samples, lit, first, keep, answered }) {
  const root = makeRoot("Glass", "The network, to be taken apart");
  const painter = makePainter(document.documentElement);
  const picture = makePicture();
  const canvas = element("canvas", { class: "picture", "aria-hidden": "true" });
  const lens = element("canvas", { class: "lens", "aria-hidden": "true" });
  const score = element("p", { class: "sentence", "data-role": "score" });
  const words = element("p", { class: "words" });
  const schedule = oncePerFrame(paint);
  const say = makeAnnouncer(root);
  const stage = /** @type {any} */ ({ focus: null, cutting: [], apart: false, schedule, say, point, changed });
  let progress = 1; // of the answer, on its way from left to right
  let stop = () => {};
  const magnify = onNews((shown) => paintLens(fitCanvas(lens, lensSize), shown));
  const schedulePad = oncePerFrame(paintPad);

  const pad = makePad({ drawn: schedulePad, settled, loaded: drawn, say });
  const hands = makeHands(stage, canvas);
  const controls = makeControls(samples, {
    choose(bytes) {
      keep(bytes);
      show(bytes);
    },
    setApart(apart) {
      stage.apart = apart;
      root.toggleAttribute("data-apart", apart);
      changed();
    },
    setRounds(by, whole) {
      stage.session.setRounds(whole ? stage.session.network.config.iterations : stage.session.rounds + by, whole);
      changed();
    },
  });
  const scene = element("div", { class: "scene" }, pad.frame, canvas, ...hands.map(({ node }) => node));
  root.append(scene, controls.row, score, element("div", { class: "glance" }, words, lens));
  stage.size = measure(scene, lay);
  const lensSize = measure(lens, schedule);

  function lay() {
    if (!stage.session || !stage.size.width) return;
    stage.plan = planOf(stage.size, lit, stage.session.network);
    seat(stage.plan, pad, hands, { scene, digits: controls.digits.row });
    changed();
    schedulePad();
  }

  function paint() {
    const { session, plan, size } = stage;
    if (!plan) return;
    if (session.image !== pad.image()) {
      session.read(pad.image());
      changed();
    }
    stage.colours ??= themeColours(root);
    const shown = { ...session, plan, painter, colours: stage.colours, cutting: stage.cutting, focus: stage.focus };
    picture(fitCanvas(canvas, size), shown, lit, progress);
    const own = ["maps", "predictions", "classes", "primary"].find((part) => lit.includes(part)) ?? "predictions";
    const looked = stage.looked ?? session.strongest(own);
    const hint = stage.focus || session.touched ? "" : HINTS[Number(stage.apart)];
    write(words, `${hint}${sentenceOn(stage.focus ?? looked, session)}`);
    const causes = [stage.looked, session.answer, stage.colours, lensSize.width];
    magnify(causes, { ...shown, focus: looked });
  }

  /** What the hand draws, and the ten digits. */
  function paintPad() {
    stage.colours ??= themeColours(root);
    pad.paint(painter, stage.colours);
    controls.digits.show(same(), painter);
    schedule();
  }

  /** Something answers otherwise than before. */
  function changed() {
    const { session } = stage;
    write(score, scoreOf(session));
    Object.assign(root.dataset, { prediction: session.answer.prediction, gone: goneOf(session).numbers });
    controls.show(session, stage.apart);
    for (const { tell } of hands) tell();
    say(score.textContent);
    answered(stage);
    schedule();
  }

  /** @param {import("./model.js").Focus | null} focus  the part that is looked at; the lens keeps the last one */
  function point(focus) {
    stage.focus = focus;
    if (focus && focus.part !== "faders") stage.looked = focus;
    schedule();
  }

  const same = () => [...Array(10).keys()].find((n) => digitAt(samples, n).every((ink, k) => ink === bytes()[k]));
  const bytes = () => Uint8Array.from(pad.image(), (ink) => Math.round(ink * 255));
  function show(picture) {
    pad.show(picture);
    drawn();
  }

  /** The pad's digit runs through the network, from left to right. */
  function drawn() {
    stage.session.read(pad.image());
    changed();
    schedulePad();
    stop();
    stop = glide(SWEEP, (t) => {
      progress = t;
      schedule();
    });
  }

  function settled() {
    if (hasInk(bytes())) keep(bytes());
    drawn();
  }

  whenThemeChanges(() => {
    painter.refresh();
    stage.colours = undefined;
    schedulePad();
    if (stage.session) answered(stage);
  });

  function use(/** @type {any} */ network) {
    const had = stage.session;
    Object.assign(stage, { session: makeSession(network), focus: null, looked: null });
    if (!had) pad.show(first);
    drawn();
    lay();
  }

  return { root, controls: controls.row, use, show, paint: schedulePad };
}
