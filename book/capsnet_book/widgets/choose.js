// One of several lines is chosen: it runs on the digit at hand, and what it does is seen.
// A line to choose, ten lines with a bug (chapter 11), or a loss (chapter 12).
import { makeBugHunt } from "./choose/bug_hunt.js";
import { capsules } from "./choose/capsules.js";
import { makeCurves } from "./choose/curves.js";
import { margin } from "./choose/margin.js";
import { masking } from "./choose/mask.js";
import { predictions } from "./choose/predictions.js";
import { codeOf, plainCode, radioList } from "./choose/radios.js";
import { agreeing, sharing } from "./choose/routing.js";
import { squashing } from "./choose/squash.js";
import { stepping } from "./choose/step.js";
import { digitAt, greysOf } from "./shared/digits.js";
import { defineWidget } from "./shared/stage.js";
import { t } from "./shared/t.js";
import { element } from "./shared/ui.js";

/** The questions whose answers are lines, by their names. @type {Record<string, any>} */
export const QUESTIONS = {
  capsules,
  squash: squashing,
  predictions,
  agreement: agreeing,
  sharing,
  margin,
  mask: masking,
  step: stepping,
};

const SEVEN = 7; // its place among the digits, which are one of each class,
const MISREAD = 10; // and one that the network takes for another

/** The seven that the trainings of chapter 12 were asked about. */
const givenSeven = ({ get, painter }) => ({
  painter,
  image: digitAt(greysOf(get("images")), SEVEN),
});

/** The digits and the network that lines run on. */
function settingsOf(widget, network) {
  const { get, host, painter } = widget;
  const images = greysOf(get("images"));
  const labels = get("labels");
  const kept = host?.keptDigit?.();
  const digitOf = (/** @type {boolean} */ isMisread) => {
    if (isMisread) return { image: digitAt(images, MISREAD), label: labels[MISREAD] };
    if (!kept) return { image: digitAt(images, SEVEN), label: labels[SEVEN] };
    const image = greysOf(kept);
    return { image, label: network.forward(image).prediction };
  };
  const others = [...labels.keys()].filter((n) => n < MISREAD && n !== SEVEN);
  const otherDigits = others.map((n) => digitAt(images, n));
  return (isMisread = false) => ({ network, painter, others: otherDigits, ...digitOf(isMisread) });
}

/** A question whose answer is a line. */
function makeLines(widget, question, settingOf) {
  const { before, after, options, asks } = question;
  const picture = question.make(settingOf(question === masking));
  const list = radioList(
    asks,
    options.map(({ code }) => ({ inside: [codeOf(code)] })),
    (chosen) => widget.set({ chosen }),
    "lines",
    { before: before ? [plainCode(before.code)] : [], after: after ? [plainCode(after.code)] : [] },
  );
  return {
    stage: element("div", { class: "hunt" }, list.node, picture.node),
    hands: [],
    draw() {
      const chosen = widget.get("chosen");
      const verdict = options[chosen]?.right ? "right" : "wrong";
      list.show(chosen, verdict);
      const words = picture.show(chosen in options ? chosen : -1);
      return words || t`Press a line: it runs on this digit, and you see what it does.`;
    },
  };
}

function makeQuestion(widget, /** @type {string} */ name, network) {
  if (name === "curves") return makeCurves(widget, givenSeven(widget));
  const settingOf = settingsOf(widget, network);
  if (name === "bugs") return makeBugHunt(widget, settingOf);
  return makeLines(widget, QUESTIONS[name], settingOf);
}

const LABEL = t`Choose one, and see what it does`;

export default defineWidget(t`Choose`, LABEL, async (widget) => {
  const { root, get, layOut } = widget;
  const name = get("question");
  root.dataset.question = name;
  const { stage, hands, draw } = makeQuestion(widget, name, await widget.network());
  const { say } = layOut({ stage, hands });
  return () => {
    root.dataset.chosen = get("chosen");
    root.dataset.round = get("round");
    say(draw());
  };
});
