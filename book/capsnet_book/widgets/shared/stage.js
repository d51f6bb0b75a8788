// The grammar of all widgets: a stage with one picture, and under it a sentence that says what just happened; what
// the hand does; the rest behind a fold. And one control for all that plays.
import { player, rangeInput } from "./controls.js";
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

/**
 * The control of time: a button that plays and pauses, a slider over the steps, and where it stands. Playing ends at
 * the last step; from there it begins anew. Where less motion is wished for, the button goes one step on.
 * @param {{
 *   label: string, max: number, min?: number, pace: number, at: () => number, seek: (at: number) => void,
 *   words: (at: number) => string, spoken?: (at: number) => string, forward?: () => void, pause?: () => void,
 *   settled?: () => void, dataset: DOMStringMap,
 * }} _  label: what the slider is called; seek: shows a step; forward: goes one on, if not by seek(); pause: ends
 *   a glide; settled: the hand has let go; dataset: of the root, whose `playing` says so
 * @returns show(moment) is to be called when a step is drawn: `moment` may lie between two
 */
export function makeTime({
  label,
  max,
  min = 0,
  pace,
  at,
  seek,
  words,
  spoken = words,
  forward,
  pause,
  settled,
  dataset,
}) {
  const button = element("button", { type: "button", class: "play", "data-role": "play" });
  const { input, show: showAt } = rangeInput({
    min,
    max,
    "data-role": "time",
    "aria-label": label,
    oninput: () => {
      halt();
      seek(input.valueAsNumber);
    },
    onchange: () => settled?.(),
  });
  const where = element("output", { class: "where", "data-role": "where", "aria-hidden": "true" });
  const row = element("div", { class: "time" }, button, input, where);
  let begun = false;

  const goOn = () => {
    if (forward) forward();
    else seek(at() + 1);
    if (at() >= max && !forward) halt();
  };

  function halt() {
    pause?.();
    if (!play.playing()) return;
    play.stop();
    settled?.();
  }

  const play = player({
    button,
    pace,
    pause: halt,
    forward: () => (at() >= max ? halt() : goOn()),
    begin() {
      if (at() >= max || !begun) seek(min);
      begun = true;
    },
    calmly: () => {
      seek(at() >= max ? min : at() + 1);
      settled?.();
    },
    show(playing, calm) {
      const again = at() >= max;
      const idle = calm ? (again ? "Back to the start" : "Next step") : again ? "Play again" : "Play";
      button.textContent = playing ? "❚❚" : again ? "↺" : calm ? "❯" : "▶";
      button.setAttribute("aria-label", playing ? "Pause" : idle);
      button.title = playing ? "Pause" : idle;
      dataset.playing = String(playing);
    },
  });

  function show(moment = at()) {
    showAt(at(), spoken(at()), moment);
    where.textContent = words(at());
    play.refresh();
  }
  return { row, show, halt, toggle: play.toggle, playing: play.playing, stop: play.remove };
}
