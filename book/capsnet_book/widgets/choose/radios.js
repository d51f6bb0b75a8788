// Lines of which one is pressed: a group of radio buttons.
import { element, setAttributes } from "../shared/ui.js";

let groups = 0; // a group's name is its own in the page

/**
 * A question and its options. show(chosen, verdict): verdict is a class of the chosen option's,
 * "right" or "wrong", or "".
 * @param {string} asks
 * @param {{ inside: (Node | string)[] }[]} options  inside: what an option shows
 * @param {(place: number) => void} choose @param {string} kind  a class
 * @param {{ before?: Element[], after?: Element[] }} [around]  what is no option
 */
export function radioList(asks, options, choose, kind, { before = [], after = [] } = {}) {
  groups += 1;
  const name = `capsnet-choose-${groups}`;
  const inputs = options.map((_, place) => {
    const about = { type: "radio", name, value: place, "data-option": place };
    return element("input", { ...about, onchange: () => choose(place) });
  });
  const labels = options.map(({ inside }, place) =>
    element("label", { class: "option" }, inputs[place], ...inside),
  );
  const legend = element("legend", {}, asks);
  const node = element(
    "fieldset",
    { class: `asked ${kind}` },
    legend,
    ...before,
    ...labels,
    ...after,
  );
  const show = (/** @type {number} */ chosen, verdict = "") => {
    inputs.forEach((input, place) => {
      input.checked = place === chosen;
      setAttributes(labels[place], { class: place === chosen ? `option ${verdict}` : "option" });
    });
  };
  return { node, labels, show };
}

/** Code as it is read, one line or several. */
export const codeOf = (/** @type {string} */ text) => element("code", {}, text);

/** Code between the options, which cannot be pressed. */
export const plainCode = (/** @type {string} */ text) =>
  element("p", { class: "plain" }, codeOf(text));
