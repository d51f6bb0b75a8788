// What stands under the picture of the glass network: ten digits, what a touch does, the rounds of
// routing.
import { digitAt, digitRow } from "../shared/digits.js";
import { t } from "../shared/t.js";
import { element, pushButton, setAttributes, write } from "../shared/ui.js";
import { MOST_ROUNDS, roundsInWords } from "./model.js";

const group = (/** @type {string} */ label, /** @type {Element[]} */ ...inside) =>
  element("div", { class: "group", role: "group", "aria-label": label }, ...inside);

/**
 * The controls. digits: the row of digits; show(session, apart) shows what is set.
 * @param {Uint8Array} samples  a digit of each class, bytes
 * @param {{ choose: (digit: Uint8Array) => void, setApart: (apart: boolean) => void,
 *   addRounds: (count: number) => void, putTogether: () => void }} _
 */
export function makeControls(samples, { choose, setApart, addRounds, putTogether }) {
  const labels = Array.from({ length: 10 }, (_, n) => n);
  const name = (/** @type {number} */ n) => t`A handwritten ${n}`;
  const digits = digitRow(labels, samples, name, (n) => choose(digitAt(samples, n)), 255);

  const look = pushButton("touch", t`Look`, () => setApart(false));
  const takeApart = pushButton("touch", t`Take apart`, () => setApart(true));
  const fewer = pushButton("fewer", "−", () => addRounds(-1), {
    class: "step",
    "aria-label": t`One round of routing fewer`,
  });
  const rounds = element("output");
  const more = pushButton("more", "+", () => addRounds(1), {
    class: "step",
    "aria-label": t`One round of routing more`,
  });
  const whole = pushButton("whole", t`Put it together`, putTogether);
  const row = element(
    "div",
    { class: "controls" },
    digits.row,
    group(t`What a touch does`, look, takeApart),
    group(t`Rounds of routing`, fewer, rounds, more),
    whole,
  );

  function show(session, /** @type {boolean} */ apart) {
    setAttributes(look, { "aria-pressed": !apart });
    setAttributes(takeApart, { "aria-pressed": apart });
    write(rounds, roundsInWords(session.rounds));
    // Not `disabled`: a button that has just been pressed would lose the focus, and screen readers
    // would not hear what happened.
    setAttributes(fewer, { "aria-disabled": session.rounds === 1 });
    setAttributes(more, { "aria-disabled": session.rounds === MOST_ROUNDS });
    setAttributes(whole, { "aria-disabled": !session.touched });
  }
  return { row, digits, show };
}
