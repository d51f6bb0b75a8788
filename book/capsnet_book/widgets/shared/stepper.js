// One of several digits: buttons to the one before and the one after, and between them which one it is.
import { element } from "./ui.js";

/** @param {(by: number) => void} step  by -1 or 1 */
export function makeStepper(step) {
  const button = (role, label, sign, by) => {
    const attributes = {
      type: "button",
      class: "step",
      "data-role": role,
      "aria-label": label,
      onclick: () => step(by),
    };
    return element("button", attributes, sign);
  };
  const counter = element("span", { class: "counter" });
  const previous = button("previous", "Previous digit", "‹", -1);
  const next = button("next", "Next digit", "›", +1);
  const stepper = element("div", { class: "stepper" }, previous, counter, next);

  /** Shows "index + 1 of count", or nothing if there is but one. @param {number} index @param {number} count */
  function show(index, count) {
    counter.textContent = `${index + 1} of ${count}`;
    stepper.hidden = count === 1;
  }

  return { stepper, show };
}
