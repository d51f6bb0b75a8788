// Ways to the wall and to the pad: on a phone they lie a screen apart.
import { wantsCalm } from "../shared/controls.js";
import { pushButton } from "../shared/ui.js";

/**
 * Make a button that leads to a part of the widget, and moves the focus there.
 * @param {string} role @param {string} text @param {string} name  for screen readers
 * @param {Element} part  that is scrolled to
 * @param {HTMLElement} target  in it, that gets the focus
 */
export function makeJump(role, text, name, part, target) {
  const go = () => {
    part.scrollIntoView({ block: "start", behavior: wantsCalm() ? "auto" : "smooth" });
    target.focus({ preventScroll: true });
  };
  return pushButton(role, text, go, { class: "jump", "aria-label": name });
}
