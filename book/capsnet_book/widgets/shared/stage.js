// The grammar of all widgets: a stage with one picture, and under it a sentence that says what just happened; what
// the hand does; the rest behind a fold.
import { element, makeAnnouncer } from "./ui.js";

/**
 * Lays a widget out. say(words, spoken) writes the sentence at once; screen readers hear it (or `spoken`) when things
 * are quiet. rest: the fold. stop() when the widget is taken down.
 * @param {HTMLElement} root
 * @param {{ stage: Element, hands?: Element[], more?: Element[], about?: string, beside?: boolean }} _
 *   more: behind a fold that says what it is `about`; beside: on wide pages the hands stand beside the stage
 */
export function layOut(root, { stage, hands = [], more = [], about = "More", beside = false }) {
  const sentence = element("p", { class: "sentence", "data-role": "sentence" });
  const card = element("div", { class: "stage" }, stage, sentence);
  const layout = element("div", { class: beside ? "layout beside" : "layout" }, card);
  if (hands.length) layout.append(element("div", { class: "hands" }, ...hands));
  const rest = fold(about, ...more);
  if (more.length) layout.append(rest);
  root.append(layout);
  const announce = makeAnnouncer(root);
  const say = (/** @type {string} */ words, spoken = words) => {
    if (sentence.textContent !== words) sentence.textContent = words;
    announce(spoken);
  };
  return { say, rest, stop: announce.cancel };
}

/** What is there for those who ask. @param {string} about @param {Element[]} inside */
export const fold = (about, ...inside) =>
  element("details", { class: "more", "data-role": "more" }, element("summary", {}, about), ...inside);
