// The glass network's stage: the picture, what stands around it, and what it answers.
import { measure, wantsCalm } from "../shared/controls.js";
import { digitAt, makePainter, themeColours, whenThemeChanges } from "../shared/digits.js";
import { makePad } from "../shared/pad.js";
import {
  element,
  inSpareTime,
  makeAnnouncer,
  makeRoot,
  makeTurns,
  memoized,
  setAttributes,
} from "../shared/ui.js";
import { makeControls } from "./controls.js";
import { makeHands } from "./hands.js";
import { planOf } from "./layout.js";
import { makeGlance } from "./lens.js";
import { hasInk, makeSession, scoreOf } from "./model.js";
import { makePicture } from "./paint.js";
import { makeSigns } from "./signs.js";

const SWEEP = 600; // milliseconds from the digit to its drawing
const REST = 400; // milliseconds without a change, before what is not looked at follows

/** Which of ten digits this is. */
const whichOf = (samples, /** @type {Uint8Array} */ bytes) =>
  [...Array(10).keys()].find((n) => digitAt(samples, n).every((ink, k) => ink === bytes[k]));

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

/** The answer comes from left to right, or from top to bottom: a veil goes that way. @param {HTMLElement} veil */
function sweep(veil, high) {
  if (!wantsCalm())
    veil.animate(
      { scale: ["1 1", high ? "1 0" : "0 1"] },
      { duration: SWEEP, easing: "ease-in-out" },
    );
}

/**
 * A stage for a network that use(network) gives it; show(bytes) gives it a digit. samples: a digit of each class; lit:
 * the parts to enlarge; first: the digit to begin with; answered(stage, copy) is told what is answered, when the hand
 * rests; copy(part, canvas) puts a part there.
 */
export function makeStage({ samples, lit, first, keep, answered }) {
  const root = makeRoot("Glass", "The network, to be taken apart");
  const painter = makePainter(document.documentElement);
  const picture = makePicture();
  const signs = makeSigns();
  const veil = element("div", { class: "veil" });
  const goOn = inSpareTime(paint, (room) => turns.go(room), rest);
  const say = makeAnnouncer(root);
  const stage = /** @type {any} */ ({
    focus: null,
    cutting: [],
    apart: false,
    schedule,
    say,
    point,
    changed,
  });
  Object.assign(stage, { lit, painter, colours: themeColours(document.documentElement) });
  const glance = makeGlance(stage, lit);
  const showDigits = memoized(() => controls.digits.show(whichOf(samples, pad.bytes()), painter));
  const parts = [...picture.show, signs.draw, glance.show].map(
    (show) => () => show({ ...stage.session, ...stage }),
  );
  const turns = makeTurns([() => showDigits([pad.image(), stage.colours]), read, ...parts]);
  let [timer, padIsNew, untold] = [0, false, false]; // what the pad shows; what is answered

  const pad = makePad({ drawn: renewPad, settled });
  pad.show(first);
  const scene = element("div", { class: "scene" });
  const hands = makeHands(stage, scene);
  const controls = makeControls(samples, {
    choose: show,
    setApart(apart) {
      stage.apart = apart;
      root.toggleAttribute("data-apart", apart);
      changed();
    },
    setRounds(by, whole) {
      stage.session.setRounds(
        whole ? stage.session.network.config.iterations : stage.session.rounds + by,
        whole,
      );
      changed();
    },
  });
  scene.append(
    ...Object.values(picture.canvases),
    signs.node,
    veil,
    pad.frame,
    ...hands.map(({ node }) => node),
  );
  root.append(scene, controls.row, glance.score, glance.node);
  stage.size = measure(scene, lay);

  function renewPad(wait = REST) {
    padIsNew = true;
    follow(wait);
  }

  function lay() {
    if (!stage.session || !stage.size.width) return;
    stage.plan = planOf(stage.size, lit, stage.session.network);
    seat(stage.plan, pad, hands, { scene, digits: controls.digits.row });
    renewPad(0);
  }

  /** -> whether there is room for the parts */
  function paint() {
    if (padIsNew) pad.paint(painter, stage.colours);
    padIsNew = false;
    return Boolean(stage.plan);
  }

  function schedule() {
    turns.begin();
    goOn();
  }

  /** What is on the pad runs through the network. */
  function read() {
    if (stage.session.image === pad.image()) return;
    stage.session.read(pad.image());
    changed(stage.changing ? REST : 0);
  }

  /** Something answers otherwise than before. */
  function changed(wait = REST) {
    const { session } = stage;
    setAttributes(root, { "data-prediction": session.answer.prediction });
    controls.show(session, stage.apart);
    follow(wait);
  }

  /** The parts show what is new; and come to rest themselves when nothing else is for a while. */
  function follow(wait = REST) {
    [untold, stage.changing] = [true, wait > 0];
    schedule();
    clearTimeout(timer);
    if (wait) timer = setTimeout(follow, wait, 0);
  }

  /** Nothing is new: when the hand rests, who does not look hears of it, and the page. */
  function rest() {
    if (!untold || stage.changing) return;
    untold = false;
    for (const { tell } of hands) tell();
    say(scoreOf(stage.session));
    answered(stage, copy);
  }

  /** @param {import("./model.js").Focus | null} focus  the part that is looked at; the lens keeps the last one */
  function point(focus) {
    stage.focus = focus;
    root.toggleAttribute("data-focus", ["primary", "predictions", "classes"].includes(focus?.part));
    if (focus && focus.part !== "faders") stage.looked = focus;
    schedule();
  }

  const copy = (part, small) =>
    part === "image" ? painter.paint(small, pad.image()) : picture.copy(part, stage.plan, small);

  function show(/** @type {Uint8Array} */ bytes) {
    keep(bytes);
    pad.show(bytes);
    drawn();
  }

  function drawn() {
    if (stage.plan) sweep(veil, stage.plan.high);
    renewPad(0);
  }

  function settled() {
    if (hasInk(pad.bytes())) keep(pad.bytes());
    drawn();
  }

  whenThemeChanges(() => {
    painter.refresh();
    stage.colours = themeColours(document.documentElement);
    renewPad(0);
  });

  function use(/** @type {any} */ network) {
    Object.assign(stage, { session: makeSession(network), looked: null });
    stage.session.read(pad.image());
    point(null);
    changed(0);
    lay();
    drawn();
  }

  return { root, controls: controls.row, use, show };
}
