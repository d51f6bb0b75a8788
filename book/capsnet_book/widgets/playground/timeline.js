// The timeline under the wall: a slider from fog to handwriting. Its right end is now.
import { rangeInput } from "../shared/controls.js";
import { t } from "../shared/t.js";
import { element, setAttributes } from "../shared/ui.js";

const NOW = t`now`;

/** Return a moment in words. @param {import("./untrained.js").Frame[]} frames */
function inWords([{ seen, mark }]) {
  const after = t`after ${seen.toLocaleString("en")} images`;
  return mark === undefined ? after : t`${after}, before your hand`;
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
