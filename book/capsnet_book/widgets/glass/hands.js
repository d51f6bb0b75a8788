// What the parts of the glass network are taken hold of by: buttons that lie over them and say what they are. To look
// is to point at a part; to take apart is to press it, or to draw a line across votes.
import { arrowKeys, drag } from "../shared/controls.js";
import { clamp, element } from "../shared/ui.js";
import { crosses } from "./layout.js";
import { REACH, sentenceOn } from "./model.js";

/** @import { Focus } from "./model.js" */

const PARTS = ["maps", "primary", "predictions", "classes", "faders"];

/** For a stage (stage.js), on the area whose places are those of its plan. */
export const makeHands = (stage, area) => PARTS.map((part) => makeHand(stage, area, part));

/** -> { part, node, tell(): says what it is at }. @param {string} part */
function makeHand(stage, area, part) {
  const node = element("button", { type: "button", class: "hand", "data-part": part });
  /** @type {Focus | undefined} */
  let last;
  let kept = true; // what the drag that goes on makes of the parts it meets
  const stays = part === "maps" || part === "faders"; // what is not taken out
  const current = () => last ?? stage.session.strongest(part);
  function tell() {
    const keys = stays ? "Arrow keys." : "Arrow keys; Enter takes out and puts back.";
    node.setAttribute("aria-label", `${sentenceOn(current(), stage.session)} ${keys}`);
  }
  const point = (/** @type {Focus} */ to) => {
    if (stage.focus?.part === part && to.at === stage.focus.at && to.place === stage.focus.place)
      return;
    last = to;
    stage.point(to);
    tell();
  };
  function push(/** @type {number} */ fader, /** @type {number} */ number) {
    stage.session.setNumber(fader, number);
    stage.schedule();
    tell();
  }
  const pixels = ({ x, y }) => [x * stage.size.width, y * stage.size.height];
  const under = (/** @type {number[]} */ [x, y]) => ({
    part,
    ...stage.plan.hit[part](x, y, stage.session.answer.c.at(-1)),
  });

  function toggle(/** @type {Focus} */ at, keep = !stage.session.isKept(at)) {
    if (stage.session.isKept(at) === keep) return;
    stage.session.setKept(at, keep);
    stage.changed();
  }

  function meet(/** @type {number[]} */ to) {
    const at = under(to);
    if (stage.cutting.length > 1) {
      const [from] = stage.cutting.slice(-2);
      stage.session.cut((k) => crosses(stage.plan.curves[k], from, to));
      stage.changed();
    } else if (!stage.cutting.length) {
      if (stage.apart && !stays) toggle(at, kept);
      point(at);
    }
    if (part === "faders") push(at.at, stage.plan.level(to[1]) * REACH);
  }

  drag(node, {
    area,
    focus: node,
    start(place) {
      const to = pixels(place);
      kept = stage.apart && !stays && !stage.session.isKept(under(to));
      stage.cutting = stage.apart && part === "predictions" ? [to] : [];
      if (stage.cutting.length) stage.point(null);
      meet(to);
    },
    move(place) {
      const to = pixels(place);
      if (stage.cutting.length) stage.cutting.push(to);
      meet(to);
    },
    end() {
      if (stage.cutting.length === 1) toggle(under(stage.cutting[0]));
      stage.cutting = [];
      stage.schedule();
    },
  });
  node.addEventListener("pointermove", ({ buttons, clientX, clientY }) => {
    if (buttons || part === "faders") return;
    const { left, top } = area.getBoundingClientRect();
    point(under([clientX - left, clientY - top]));
  });
  node.addEventListener("pointerleave", ({ pointerType, buttons }) => {
    if (pointerType === "mouse" && !buttons) stage.point(null);
  });
  node.addEventListener("focus", () => node.matches(":focus-visible") && point(current()));
  node.addEventListener("blur", () => stage.point(null));
  node.addEventListener("click", ({ detail }) => {
    if (detail || stays) return; // a key was pressed, not a pointer
    toggle(current());
    tell();
  });
  arrowKeys(node, (dx, dy) => {
    const { network, numbers } = stage.session;
    const { at, place } = current();
    const [step, count] = {
      maps: [dx + dy * stage.plan.across, network.conv.O],
      primary: [dx + 3 * dy, network.I],
      predictions: [dx * network.J + dy, network.I * network.J],
      classes: [dx || dy, network.J],
      faders: [dx, network.D_out],
    }[part];
    point({ part, at: clamp(at + step, 0, count - 1), place });
    if (part === "faders" && dy) push(at, numbers[at] - dy * 0.05);
    stage.say(node.getAttribute("aria-label"));
  });
  return { part, node, tell };
}
