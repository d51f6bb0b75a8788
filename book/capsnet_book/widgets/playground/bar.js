// The bar above all: the primary button, what was counted, how fast it learns.
import { element, pushButton, setAttributes, write } from "../shared/ui.js";

const PACES = { step: "step by step", follow: "to follow", all: "full speed" }; // as training.js
const COUNTERS = ["of 100 right", "images seen", "of learning"];

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
  const about = { class: "paces", role: "group", "aria-label": "How fast" };
  const node = element("div", about, ...buttons);
  const show = () => {
    for (const button of buttons)
      setAttributes(button, { "aria-pressed": button.dataset.pace === session.pace });
  };
  return { node, show };
}

/** Make the bar. @param {any} session @param {Element} share  the button */
export function makeBar(session, share) {
  const press = () => session.act(() => (session.running ? session.pause() : session.train()));
  const train = pushButton("train", "▶ Train", press, { class: "primary-action train" });
  const over = pushButton("over", "Start over", () => session.act(() => session.restart()));
  const another = pushButton("another", "Another seed", () =>
    session.change(session.settings.map((setting) => ({ ...setting, seed: setting.seed + 1 }))),
  );
  const counters = makeCounters();
  const paces = makePaces(session);
  const main = element("div", { class: "main" }, train, over, another, share);
  const node = element("div", { class: "top" }, main, counters.node, paces.node);

  function show(/** @type {import("./untrained.js").Frame[]} */ frames) {
    const started = session.trainees.length > 0;
    const goOnLabel = session.isWayBack() ? "▶ From here" : "▶ Go on";
    const pausedLabel = started ? goOnLabel : "▶ Train";
    write(train, session.running ? "❚❚ Pause" : pausedLabel);
    over.disabled = !started;
    const right = frames.map((frame) => frame.right).join(" | ");
    const seen = Math.max(...frames.map((frame) => frame.seen));
    const seconds = Math.max(...frames.map((frame) => frame.seconds));
    counters.show(started ? right : "–", seen.toLocaleString("en"), inSeconds(seconds));
    paces.show();
  }

  return { node, show };
}
