// The sliders of a capsule's numbers: what each does to the drawing, its value, both ends' drawings.
import { rangeInput } from "./controls.js";
import { thumbnail } from "./digits.js";
import { t } from "./t.js";
import { element, format } from "./ui.js";

/** How far the paper moves each number, either way. */
export const REACH = 0.25;

/**
 * One number: the drawing at its low end, the slider, the drawing at its high end.
 * @param {number} d  which number, from 0 @param {(offset: number) => void} set
 */
export function makeNumber(d, set, side = 28) {
  const oninput = () => set(input.valueAsNumber);
  const limits = { min: -REACH, max: REACH, step: 0.01 };
  const { input, show: showInput } = rangeInput({ ...limits, "data-dimension": d, oninput });
  const end = (/** @type {number} */ offset) =>
    thumbnail({ class: "end", width: side, height: side, onclick: () => set(offset) });
  const low = end(-REACH);
  const high = end(REACH);
  const name = element("span", { class: "name" });
  const value = element("output", { "aria-hidden": "true" });
  const number = element("b", {}, String(d + 1));
  const caption = element("div", { class: "caption" }, number, name, value);
  const track = element("div", { class: "track" }, low, input, high);

  /** Shows an offset, and the number with it. */
  function show(/** @type {number} */ offset, /** @type {number} */ number) {
    const moved = format(offset, 2, true);
    const now = format(number);
    value.textContent = offset === 0 ? now : `${now} (${moved})`;
    value.classList.toggle("moved", offset !== 0);
    showInput(offset, t`${now}, moved by ${moved}`);
  }

  /** Names what the number does; "" for what is not known. */
  function rename(/** @type {string} */ words) {
    name.textContent = words;
    name.title = words;
    input.setAttribute("aria-label", words ? t`Number ${d + 1}, ${words}` : t`Number ${d + 1}`);
  }

  rename("");
  return {
    node: element("div", { class: "slider" }, caption, track),
    input,
    low,
    high,
    show,
    rename,
  };
}
