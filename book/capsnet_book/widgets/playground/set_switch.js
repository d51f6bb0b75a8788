// The switch between digits and animals. Only what is asked for is fetched.

import { t } from "../shared/t.js";
import { element, pushButton, setAttributes } from "../shared/ui.js";
import { SETS } from "./sets.js";

/**
 * Make the switch between the sets.
 * @param {any} session
 * @returns {{ node: Element, show: () => void }}
 */
export function makeSetSwitch(session) {
  const change = (/** @type {string} */ data) =>
    session.change(session.settings.map((setting) => ({ ...setting, data })));
  const buttons = Object.entries(SETS).map(([data, { title }]) =>
    pushButton("data", title, () => change(data), { "data-set": data }),
  );
  const about = { class: "sets", role: "group", "aria-label": t`What it learns to read` };
  const node = element("div", about, ...buttons);

  function show() {
    for (const button of buttons)
      setAttributes(button, { "aria-pressed": button.dataset.set === session.settings[0].data });
  }

  return { node, show };
}
