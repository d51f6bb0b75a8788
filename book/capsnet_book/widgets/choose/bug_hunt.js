// Ten lines, of which the wrong one is pressed; round after round.

import { t } from "../shared/t.js";
import { element, memoized, pushButton } from "../shared/ui.js";
import { ROUNDS } from "./bugs.js";
import { codeOf, plainCode, radioList } from "./radios.js";

const ASKS = t`These lines run without an error. One of them is wrong: press it.`;

/** The lines of a round, each an option but an empty one. */
function makeList(/** @type {import("./bugs.js").Round} */ round, choose) {
  const lines = round.code.split("\n");
  const options = lines.map((line) => ({ inside: [codeOf(line || " ")] }));
  const list = radioList(ASKS, options, choose, "lines");
  const wrong = list.labels[round.wrong];
  const mended = plainCode(round.mended);
  mended.classList.add("mended");
  wrong.after(mended);
  lines.forEach((line, place) => {
    if (!line) list.labels[place].replaceWith(plainCode(" "));
  });
  const show = (/** @type {number} */ chosen) => {
    const found = chosen === round.wrong;
    list.show(chosen, found ? "struck" : "cleared");
    mended.toggleAttribute("hidden", !found);
  };
  return { node: list.node, show };
}

export function makeBugHunt(widget, settingOf) {
  const { get, set } = widget;
  const place = element("div", { class: "hunt" });
  const last = ROUNDS.length - 1;
  const next = pushButton("next", t`Next bug`, () =>
    set({ round: get("round") === last ? 0 : get("round") + 1, chosen: -1 }),
  );
  const count = element("span", { class: "count" });
  /** @type {any} */
  let list;
  /** @type {any} */
  let picture;
  const begin = memoized((/** @type {number} */ number) => {
    const round = ROUNDS[number];
    list = makeList(round, (chosen) => set({ chosen }));
    picture = round.make(settingOf(round.bug === "mask-prediction"));
    place.replaceChildren(list.node, picture.node);
  });
  return {
    stage: place,
    hands: [element("div", { class: "bar" }, next, count)],
    draw() {
      const number = get("round");
      const chosen = get("chosen");
      begin([number], number);
      const { bug, wrong, hint } = ROUNDS[number];
      const isFound = chosen === wrong;
      list.show(chosen);
      const damage = picture.show(false);
      next.classList.toggle("primary-action", isFound);
      count.textContent = t`${number + 1} of ${ROUNDS.length}`;
      if (isFound) {
        const mended = picture.show(true);
        return t`That is the one: ${bug}. ${damage} With the line mended: ${mended}`;
      }
      if (chosen >= 0) return t`Line ${chosen + 1} is right. ${hint}`;
      // The damage in words would name the line; the picture alone leaves the hunt to the reader.
      return t`The picture shows what these lines make of the digit. Which line does that?`;
    },
  };
}
