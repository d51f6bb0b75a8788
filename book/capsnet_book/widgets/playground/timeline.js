// The timeline under the wall: a slider from fog to handwriting. Its right end is now.
import { rangeInput } from "../shared/controls.js";
import { t } from "../shared/t.js";
import { element, pushButton, setAttributes, write } from "../shared/ui.js";

const NOW = t`now`;

/** Return a moment in words. @param {import("./untrained.js").Frame[]} frames */
function inWords([{ seen, cause }]) {
  const after = t`after ${seen.toLocaleString("en")} images`;
  if (!cause) return after;
  return cause.kind === "sign" ? t`${after}, before your sign` : t`${after}, before your hand`;
}

/** Make the timeline. @param {any} session */
export function makeTimeline(session) {
  const slider = rangeInput({
    min: 0,
    max: 0,
    step: 1,
    "data-role": "timeline",
    "aria-label": t`Back in time`,
    oninput: () => session.goTo(slider.input.valueAsNumber),
  });
  const value = element("output", { "aria-hidden": "true" });
  const caption = element("div", { class: "caption" }, element("span", {}, t`Back in time`), value);
  const node = element("div", { class: "slider timeline" }, caption, slider.input);

  function show() {
    const { moments } = session.history;
    const isPast = session.moment !== undefined;
    const place = isPast ? session.moment : moments.length;
    const words = isPast ? inWords(moments[session.moment]) : NOW;
    setAttributes(slider.input, { max: moments.length });
    slider.input.disabled = moments.length === 0;
    slider.show(place, words);
    value.textContent = words;
    value.classList.toggle("moved", isPast);
  }

  return { node, show };
}

/**
 * Return what a training has come to, in words.
 * @param {import("./earlier.js").Earlier} training
 */
function resultOf({ trainees }) {
  const frames = trainees.flatMap(({ frame }) => (frame ? [frame] : []));
  const right = frames.map((frame) => frame.right).join(" | ");
  const seen = Math.max(...frames.map((frame) => frame.seen));
  return t`${right} of 100 right after ${seen.toLocaleString("en")} images`;
}

/**
 * Make the button that brings the training back in whose place another one was put, and a small one
 * that does the same where a phone's row has room for a sign alone.
 * @param {any} session
 */
export function makeWayBack(session) {
  const words = element("small");
  const press = () => session.act(() => session.bringBack());
  const node = pushButton("bring-back", t`↶ The network before`, press, { hidden: "" });
  const small = pushButton("bring-back-small", "↶", press, { hidden: "", class: "jump" });
  node.append(words);

  function show() {
    const training = session.earlier.latest();
    node.hidden = !training;
    small.hidden = !training;
    if (!training) return;
    const result = resultOf(training);
    write(words, result);
    setAttributes(small, { "aria-label": t`The network before: ${result}` });
  }

  return { node, small, show };
}
