// Buttons over the parts of the glass network, by which they are pointed at and taken out; screen
// readers hear what each part is. To look is to point at a part; to take apart is to press it, or
// to draw a line across votes.
import { arrowKeys, drag } from "../shared/controls.js";
import { t } from "../shared/t.js";
import { clamp, element } from "../shared/ui.js";
import { crosses } from "./layout.js";
import { REACH, sentenceOn } from "./model.js";

/** @import { Place } from "../shared/controls.js" */
/** @import { Focus } from "./model.js" */

/** The parts of a stage, and what is said of the key that takes out; "" where none does. */
const PARTS = {
  maps: "",
  primary: t`Enter takes out and puts back.`,
  predictions: t`Enter takes out and puts back.`,
  classes: t`Enter takes out and puts back.`,
  faders: "",
};
const NUDGE = 0.05; // of a fader, by an arrow key

/**
 * The hands of a stage (stage.js).
 * @param {HTMLElement} area  places are shares of it
 * @param {Record<string, string>} parts  as PARTS
 */
export const makeHands = (stage, area, parts = PARTS) =>
  Object.entries(parts).map(([part, enter]) => makeHand(stage, area, part, enter));

/**
 * The button over one part. tell() renews its name for screen readers.
 * @param {HTMLElement} area @param {string} part @param {string} enter
 */
function makeHand(stage, area, part, enter) {
  const node = element("button", { type: "button", class: "probe", "data-part": part });
  const isFixed = enter === "";
  const isFader = part === "faders";
  /** @type {Focus | undefined} */
  let last; // what was pointed at last
  const current = () => last ?? stage.session.strongest(part);

  function tell() {
    const keys = isFixed ? t`Arrow keys.` : t`Arrow keys; ${enter}`;
    node.setAttribute("aria-label", `${sentenceOn(current(), stage.session)} ${keys}`);
  }

  function point(/** @type {Focus} */ to) {
    const { focus } = stage;
    if (focus?.part === part && to.at === focus.at && to.place === focus.place) return;
    last = to;
    stage.point(to);
    tell();
  }

  function toggle(/** @type {Focus} */ at, keep = !stage.session.isKept(at)) {
    if (stage.session.isKept(at) === keep) return;
    stage.session.setKept(at, keep);
    stage.changed();
  }

  function push(/** @type {number} */ fader, /** @type {number} */ number) {
    stage.session.setNumber(fader, number);
    stage.schedule();
    tell();
  }

  const hand = { node, part, isFixed, isFader, current, tell, point, toggle, push };
  followPointer(stage, area, hand);
  followKeys(stage, hand);
  return { part, node, tell };
}

/** @typedef {any} Hand  see makeHand */

/** Pointing and dragging. @param {HTMLElement} area @param {Hand} hand */
function followPointer(stage, area, hand) {
  const { node, part, isFixed, isFader, point, toggle, push } = hand;
  let keeps = true; // what the drag does with the parts that it meets
  const pixels = (/** @type {Place} */ { x, y }) => [x * stage.size.width, y * stage.size.height];
  /** @type {(pixel: number[]) => Focus} */
  const under = ([x, y]) => ({
    part,
    ...stage.plan.hit[part](x, y, stage.session.answer.c.at(-1)),
  });
  const isCutting = () => stage.cutting.length > 0;

  /** Cuts the votes that the last piece of the line crosses. */
  function cut(/** @type {number[]} */ to) {
    const from = stage.cutting.at(-2);
    stage.session.cut((k) => crosses(stage.plan.curves[k], from, to));
    stage.changed();
  }

  function meet(/** @type {number[]} */ to) {
    const at = under(to);
    if (stage.apart && !isFixed) toggle(at, keeps);
    point(at);
    if (isFader) push(at.at, stage.plan.level(to[1]) * REACH);
  }

  drag(node, {
    area,
    focus: node,
    start(place) {
      const to = pixels(place);
      keeps = stage.apart && !isFixed && !stage.session.isKept(under(to));
      if (stage.apart && part === "predictions") {
        stage.cutting = [to];
        stage.point(null);
      } else {
        stage.cutting = [];
        meet(to);
      }
    },
    move(place) {
      const to = pixels(place);
      if (isCutting()) {
        stage.cutting.push(to);
        cut(to);
      } else meet(to);
    },
    end() {
      const isPress = stage.cutting.length === 1; // no line: the vote itself is pressed
      if (isPress) toggle(under(stage.cutting[0]));
      stage.cutting = [];
      stage.schedule();
    },
  });

  node.addEventListener("pointermove", ({ buttons, clientX, clientY }) => {
    if (buttons || isFader) return;
    const { left, top } = area.getBoundingClientRect();
    point(under([clientX - left, clientY - top]));
  });
  node.addEventListener("pointerleave", ({ pointerType, buttons }) => {
    if (pointerType === "mouse" && !buttons) stage.point(null);
  });
}

/** Arrow keys walk along a part, Enter takes out. @param {Hand} hand */
function followKeys(stage, hand) {
  const { node, part, isFixed, isFader, current, tell, point, toggle, push } = hand;
  node.addEventListener("focus", () => node.matches(":focus-visible") && point(current()));
  node.addEventListener("blur", () => stage.point(null));
  node.addEventListener("click", ({ detail }) => {
    const isKey = detail === 0;
    if (!isKey || isFixed) return;
    toggle(current());
    tell();
  });

  /** How far an arrow key goes in a part, and which is the last thing in it. */
  function walkIn(/** @type {number} */ dx, /** @type {number} */ dy) {
    const { session, plan } = stage;
    const { I, J, D_out, conv } = session.network;
    const along = (/** @type {number[]} */ [right, down]) => dx * right + dy * down;
    const { maps, primary } = plan.steps;
    if (part === "maps") return { step: along(maps), last: conv.O - maps[0] };
    if (part === "primary") return { step: along(primary), last: I - 1 };
    if (part === "predictions") return { step: along([J, 1]), last: I * J - 1 };
    if (part === "classes") return { step: dx || dy, last: J - 1 };
    return { step: dx, last: D_out - 1 };
  }

  arrowKeys(node, (dx, dy) => {
    const { at, place } = current();
    const { step, last } = walkIn(dx, dy);
    point({ part, at: clamp(at + step, 0, last), place });
    if (isFader && dy) push(at, stage.session.numbers[at] - dy * NUDGE);
    stage.say(node.getAttribute("aria-label"));
  });
}
