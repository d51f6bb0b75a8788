// What can be changed: a row for each setting, a column for each network.

import { t } from "../shared/t.js";
import { element, pushButton, rowOf, write } from "../shared/ui.js";
import { differences, SETTINGS, valueInWords } from "./settings.js";

/** The pictures have a switch, and the CNN its experiment. */
const ELSEWHERE = ["data", "net"];
const NAMES = Object.keys(SETTINGS).filter((name) => !ELSEWHERE.includes(name));
const REMARK = t`A change starts over. The same seed gives the same noise and the same images in the
  same order.`;

/** Make the choice of one setting of the k-th network. @param {any[]} settings */
function makeChoice(session, settings, name, k) {
  const { offers, label } = SETTINGS[name];
  const value = settings[k][name];
  const isOffered = offers.includes(value); // an address may hold others
  const values = isOffered ? offers : [...offers, value].sort((p, q) => p - q);
  const options = values.map((offer) =>
    element("option", { value: String(offer) }, valueInWords(name, offer)),
  );
  const choice = element("select", {
    "data-setting": name,
    "aria-label": k === 0 ? label : t`${label}, the other`,
    onchange: () => {
      const changed = { ...settings[k], [name]: values[choice.selectedIndex] };
      session.change(settings.with(k, changed));
    },
  });
  choice.append(...options);
  choice.selectedIndex = values.indexOf(value);
  return choice;
}

function makeRow(session, settings, name) {
  const differs = differences(settings[0], settings.at(-1)).includes(name);
  return element(
    "div",
    { class: differs ? "setting differs" : "setting" },
    element("span", { class: "name" }, SETTINGS[name].label),
    ...settings.map((_, k) => makeChoice(session, settings, name, k)),
  );
}

/** Make the table. @param {any} session */
export function makeSettingsTable(session) {
  const table = element("div", { class: "settings" });
  let settings = []; // those that are shown

  const beside = pushButton("beside", "", () => {
    const [first] = settings;
    session.change(settings.length === 1 ? [first, first] : [first]);
  });

  function show() {
    if (session.settings === settings) return;
    settings = session.settings;
    const choices = [...table.querySelectorAll("select")];
    const focused = choices.indexOf(/** @type {any} */ (document.activeElement));
    table.replaceChildren(...NAMES.map((name) => makeRow(session, settings, name)));
    table.querySelectorAll("select")[focused]?.focus(); // a new one, in the old one's place
    table.classList.toggle("two", settings.length === 2);
    write(beside, settings.length === 1 ? t`Two at once` : t`Only one`);
  }

  const remark = element("p", { class: "remark" }, REMARK);
  return { node: element("div", { class: "changes" }, table, rowOf(beside), remark), show };
}
