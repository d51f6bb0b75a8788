// The bar above all: the primary button, what was counted, how fast it learns.

import { t } from "../shared/t.js";
import { element, pushButton, setAttributes, write } from "../shared/ui.js";

const PACES = { step: t`step by step`, follow: t`to follow`, all: t`full speed` }; // as training.js
const COUNTERS = [t`of 100 right`, t`images seen`, t`of learning`];

const inSeconds = (/** @type {number} */ seconds) =>
  `${seconds < 100 ? seconds.toFixed(1) : Math.round(seconds)} s`;

/** Make the group of counters. show(…) writes their values. */
function makeCounters() {
  const values = COUNTERS.map(() => element("b"));
  const counters = COUNTERS.map((words, n) =>
    element("div", {}, values[n], element("span", {}, words)),
  );
  const node = element("div", { class: "counters" }, ...counters);
  const show = (/** @type {string[]} */ ...texts) => {
    texts.forEach((text, n) => write(values[n], text));
  };
  return { node, show };
}

/** Make the choice of the pace. @param {any} session */
function makePaces(session) {
  const buttons = Object.entries(PACES).map(([pace, label]) =>
    pushButton("pace", label, () => session.act(() => session.setPace(pace)), {
      "data-pace": pace,
    }),
  );
  const about = { class: "paces", role: "group", "aria-label": t`How fast` };
  const node = element("div", about, ...buttons);
  const show = () => {
    for (const button of buttons)
      setAttributes(button, { "aria-pressed": button.dataset.pace === session.pace });
  };
  return { node, show };
}

/**
 * Make the bar.
 * @param {any} session
 * @param {Element} share  the button
 * @param {Element[]} jumps  ways to other parts, for a phone
 */
export function makeBar(session, share, jumps) {
  const press = () => session.act(() => (session.running ? session.pause() : session.train()));
  const train = pushButton("train", t`▶ Train`, press, { class: "primary-action train" });
  const over = pushButton("over", t`Start over`, () => session.act(() => session.restart()));
  const another = pushButton("another", t`Another seed`, () =>
    session.change(session.settings.map((setting) => ({ ...setting, seed: setting.seed + 1 }))),
  );
  const counters = makeCounters();
  const paces = makePaces(session);
  const main = element("div", { class: "main" }, train, ...jumps);
  const again = element("div", { class: "again" }, over, another, share);
  const node = element("div", { class: "top" }, main, again, counters.node, paces.node);

  function show(/** @type {import("./untrained.js").Frame[]} */ frames) {
    const started = session.trainees.length > 0;
    const goOnLabel = session.isWayBack() ? t`▶ From here` : t`▶ Go on`;
    const pausedLabel = started ? goOnLabel : t`▶ Train`;
    write(train, session.running ? t`❚❚ Pause` : pausedLabel);
    over.disabled = !started;
    const right = frames.map((frame) => frame.right).join(" | ");
    const seen = Math.max(...frames.map((frame) => frame.seen));
    const seconds = Math.max(...frames.map((frame) => frame.seconds));
    counters.show(started ? right : "–", seen.toLocaleString("en"), inSeconds(seconds));
    paces.show();
  }

  return { node, show };
}
