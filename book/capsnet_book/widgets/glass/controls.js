// What stands under the picture of the glass network: ten digits, what a touch does, the rounds of routing.
import { digitAt, digitRow } from "../shared/digits.js";
import { element, pushButton, setAttributes, write } from "../shared/ui.js";

/** -> { row, digits, show(session, apart) } */
export function makeControls(samples, { choose, setApart, setRounds }) {
  const name = (n) => `A handwritten ${n}`;
  const digits = digitRow(
    [...Array(10).keys()],
    samples,
    name,
    (n) => choose(digitAt(samples, n)),
    255,
  );
  const touch = ["Look", "Take apart"].map((words, n) =>
    pushButton("touch", words, () => setApart(n === 1)),
  );
  const rounds = element("output");
  const steps = ["fewer", "more"].map((way, n) => {
    const about = { class: "step", "aria-label": `One round of routing ${way}` };
    return pushButton(way, "−+"[n], () => setRounds(2 * n - 1, false), about);
  });
  const whole = pushButton("whole", "Put it together", () => setRounds(0, true));
  const group = (label, ...inside) =>
    element("div", { class: "group", role: "group", "aria-label": label }, ...inside);
  const about = [
    group("What a touch does", ...touch),
    group("Rounds of routing", steps[0], rounds, steps[1]),
    whole,
  ];
  const row = element("div", { class: "controls" }, digits.row, ...about);
  const show = (session, apart) => {
    touch.forEach((button, n) => setAttributes(button, { "aria-pressed": apart === Boolean(n) }));
    write(rounds, `${session.rounds} ${session.rounds === 1 ? "round" : "rounds"}`);
    // Not `disabled`: a button that has just been pressed would lose the focus, and the news would not be heard.
    steps.forEach((button, n) =>
      setAttributes(button, { "aria-disabled": session.rounds === [1, 10][n] }),
    );
    setAttributes(whole, { "aria-disabled": !session.touched });
  };
  return { row, digits, show };
}
