// Chapter 12: four losses that went wrong, beside a sound one. Which is that of which slip?
import { LONG } from "../shared/bars.js";
import { axes } from "../shared/controls.js";
import { digitFigure } from "../shared/digits.js";
import { t } from "../shared/t.js";
import { element, figure, format, memoized, pushButton, svg } from "../shared/ui.js";
import { radioList } from "./radios.js";
import { DIGITS, makeRow } from "./view.js";

/** @typedef {{ curve: number[], lengths: number[] }} Run
 *   of results/breaks.json: the mean loss of each 5 steps, and the lengths for a 7 afterwards */

const SOUND = "sound";
const LABEL = 7; // of the digit whose lengths are kept

/** The slips, in the order in which their curves stand. */
export const ORDER = ["labels", "rate", "detach", "step"];

/** In the order in which they are asked for.
 * @type {{ slip: string, asks: string, says: (facts: any) => string }[]} */
const ROUNDS = [
  {
    slip: "step",
    asks: t`Somebody forgot optimizer.step(). Which of the four losses is that?`,
    says: ({ last }) =>
      t`It stays at ${last} to the last digit, and all ten capsules stay as short as they were: no
        weight has moved.`,
  },
  {
    slip: "labels",
    asks: t`The labels were shuffled, the images were not. Which loss is that?`,
    says: ({ last, longest }) =>
      t`It falls to ${last} and stays there, with all ten capsules up to ${longest} long: this
        network has learned the odds, one class in ten, and nothing of the images.`,
  },
  {
    slip: "rate",
    asks: t`The learning rate was 0.1, far too large. Which loss is that?`,
    says: ({ last, long, longest }) =>
      t`It leaps up, and stays at ${last}: ${long} capsules are ${longest} long at once, where
        squash is flat and no gradient leads back.`,
  },
  {
    slip: "detach",
    asks: t`A detach below the routing cuts the gradient off. Which loss is that?`,
    says: ({ last, own, sound }) =>
      t`It falls, but slowly, to ${last}, where a sound one is at ${sound}: W learns, and the
        convolutions stay as they began. The ${LABEL} is ${own} long.`,
  },
];

const PLAN = { width: 220, height: 130, left: 26, right: 8, top: 10, bottom: 24 };
const MOST = 2.5; // the loss at the top

/** A loss over the digits that were learned from, in thousands; the sound one lies behind it. */
function makeCurve(/** @type {Run} */ run, /** @type {Run} */ sound) {
  const { x, y, path, below, beside } = axes({ ...PLAN, x: [0, 4], y: [0, MOST] });
  const count = run.curve.length;
  const points = (/** @type {number[]} */ losses) =>
    path(losses.map((loss, k) => [((k + 0.5) / count) * 4, Math.min(loss, MOST)]));
  const moments = [run.curve[0], run.curve[Math.floor(count / 4)], run.curve.at(-1)];
  const [first, later, last] = moments.map((loss) => format(loss));
  const words = t`A loss: first ${first}, later ${later}, later ${last}`;
  const about = { role: "img", "aria-label": words };
  const floor = svg("line", { class: "axis", x1: x(0), x2: x(4), y1: y(0), y2: y(0) });
  const marks = [...below([0, 2, 4]), ...beside([0, 1, 2])];
  const lines = [
    svg("path", { class: "graph sound", d: points(sound.curve) }),
    svg("path", { class: "graph own", d: points(run.curve) }),
  ];
  const size = `0 0 ${PLAN.width} ${PLAN.height}`;
  return svg("svg", { viewBox: size, ...about }, floor, ...marks, ...lines);
}

/** The numbers of a run that its words name. */
const factsOf = (/** @type {Run} */ run, /** @type {Run} */ sound) => ({
  last: format(run.curve.at(-1)),
  sound: format(sound.curve.at(-1)),
  longest: format(Math.max(...run.lengths)),
  long: run.lengths.filter((length) => length >= LONG).length,
  own: format(run.lengths[LABEL]),
});

/** @typedef {{ image: Float32Array, painter: any }} Seven */

/** A digit, and the lengths that a network gives it. */
function makeAnswer(/** @type {Seven} */ { image, painter }) {
  const given = digitFigure("given");
  const row = makeRow({ count: 10, label: t`the ten lengths`, tall: 110, names: DIGITS });
  const caption = element("figcaption");
  const node = element(
    "div",
    { class: "outcome pair" },
    given.node,
    figure("between", row.node, caption),
  );
  const show = (/** @type {number[]} */ lengths, /** @type {string} */ kind) => {
    painter.paint(given.canvas, image);
    given.name(t`a digit of the test`, t`The digit at hand`);
    row.show(lengths, (j) => (j === LABEL ? kind : ""));
    caption.textContent = kind
      ? t`what the network of this loss says to it, after 4,000 digits`
      : t`what a sound network says to it, after 4,000 digits`;
  };
  return { node, show };
}

export function makeCurves(widget, /** @type {Seven} */ seven) {
  const { get, set } = widget;
  /** @type {Record<string, Run>} */
  const runs = get("runs");
  const sound = runs[SOUND];
  const place = element("div");
  const answer = makeAnswer(seven);
  const last = ROUNDS.length - 1;
  const next = pushButton("next", t`Next slip`, () =>
    set({ round: get("round") === last ? 0 : get("round") + 1, chosen: -1 }),
  );
  const count = element("span", { class: "count" });
  /** @type {any} */
  let list;
  const begin = memoized((/** @type {number} */ number) => {
    const options = ORDER.map((slip) => ({ inside: [makeCurve(runs[slip], sound)] }));
    const choose = (/** @type {number} */ chosen) => set({ chosen });
    list = radioList(ROUNDS[number].asks, options, choose, "curves");
    place.replaceChildren(list.node);
  });
  return {
    stage: element("div", { class: "hunt" }, place, answer.node),
    hands: [element("div", { class: "bar" }, next, count)],
    draw() {
      const number = get("round");
      const chosen = get("chosen");
      begin([number], number);
      count.textContent = t`${number + 1} of ${ROUNDS.length}`;
      const slip = ORDER[chosen];
      const isRight = slip === ROUNDS[number].slip;
      const kind = slip ? (isRight ? "right" : "wrong") : "";
      list.show(chosen, kind);
      answer.show((runs[slip] ?? sound).lengths, kind);
      next.classList.toggle("primary-action", isRight);
      if (!slip)
        return t`Four trainings, each with one slip: the loss over the digits, in thousands. Grey is
          a sound one.`;
      const { says } = ROUNDS.find((round) => round.slip === slip) ?? ROUNDS[number];
      const words = says(factsOf(runs[slip], sound));
      return isRight ? t`That is the one. ${words}` : t`Another slip does that. ${words}`;
    },
  };
}
