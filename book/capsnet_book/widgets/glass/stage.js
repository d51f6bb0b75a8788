// The glass network's stage: the picture, what stands around it, and what it answers.
import { fitCanvas, glide, measure } from "../shared/controls.js";
import { makePad } from "../shared/pad.js";
import {
  digitAt,
  digitRow,
  element,
  makeAnnouncer,
  makePainter,
  makeRoot,
  oncePerFrame,
  pushButton,
  themeColours,
  whenThemeChanges,
} from "../shared/ui.js";
import { makeHands } from "./hands.js";
import { planOf } from "./layout.js";
import { paintLens } from "./lens.js";
import { goneOf, hasInk, makeSession, scoreOf, sentenceOn } from "./model.js";
import { makePicture } from "./paint.js";

const SWEEP = 600; // milliseconds from the digit to its drawing

/** Shows words, and leaves a node alone that has them. */
const write = (node, words) => {
  if (node.textContent !== words) node.textContent = words;
};

/** What stands under the picture: ten digits, what a touch does, the rounds of routing. */
function makeControls(pad, samples, { choose, setApart, setRounds }) {
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
  const rows = [
    [digits.row, pad.buttons],
    [group("What a touch does", ...touch), group("Rounds of routing", steps[0], rounds, steps[1]), whole],
  ].map((row) => element("div", { class: "controls" }, ...row));
  const show = (session, apart) => {
    touch.forEach((button, n) => button.setAttribute("aria-pressed", String(apart === Boolean(n))));
    write(rounds, `${session.rounds} ${session.rounds === 1 ? "round" : "rounds"}`);
    steps.forEach((button, n) => (button.disabled = session.rounds === [1, 10][n]));
    whole.disabled = !session.touched;
  };
  return { rows, digits, show };
}

/**
 * A stage for a network that use(network) gives it; show(bytes) gives it a digit.
 * @param {{ samples: Uint8Array, lit: string[], first: Uint8Array, keep(bytes: Uint8Array): void,
 *   answered(stage: any): void }} _  samples: a digit of each class; lit: the parts to enlarge; answered: told of all
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
  let magnified = []; // what the lens was painted of
  const schedulePad = oncePerFrame(paintPad);

  const pad = makePad({ drawn: schedulePad, settled, loaded: drawn, say });
  const hands = makeHands(stage, canvas);
  const controls = makeControls(pad, samples, {
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
  root.append(scene, score, element("div", { class: "glance" }, words, lens), ...controls.rows);
  stage.size = measure(scene, lay);
  const lensSize = measure(lens, schedule);

  function lay() {
    if (!stage.session || !stage.size.width) return;
    stage.plan = planOf(stage.size, lit, stage.session.network);
    for (const { part, node } of [{ part: "image", node: pad.frame }, ...hands]) {
      const { x, y, w, h } = stage.plan.boxes[part];
      Object.assign(node.style, { left: `${x}px`, top: `${y}px`, width: `${w}px`, height: `${h}px` });
    }
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
    write(words, sentenceOn(stage.focus ?? looked, session));
    const causes = [stage.looked, session.answer, stage.colours, lensSize.width];
    if (causes.every((cause, n) => cause === magnified[n])) return;
    magnified = causes;
    paintLens(fitCanvas(lens, lensSize), { ...shown, focus: looked });
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

  /** @param {any} network */
  function use(network) {
    const had = stage.session;
    Object.assign(stage, { session: makeSession(network), focus: null, looked: null });
    if (!had) pad.show(first);
    drawn();
    lay();
  }

  return { root, controls: controls.rows[1], use, show, paint: schedulePad };
}
