// What can be changed: a row for each setting, a column for each network, and ten more seeds.
import { element, pushButton } from "../shared/ui.js";
import { SETTINGS, valueInWords } from "./settings.js";

/**
 * @param {{ changed: (settings: any[]) => void, more: () => void }} _  changed: the reader wants these settings;
 *   more: ten more seeds
 */
export function makeChanges({ changed, more }) {
  const table = element("div", { class: "settings" });
  const beside = pushButton("beside", "", () => toggle());
  const seeds = pushButton("seeds", "Ten more seeds", more, { hidden: "" });
  const result = element("p", { class: "result-words", "data-role": "seeds-result", "aria-live": "polite" });
  let shown = [];

  function toggle() {
    changed(shown.length === 1 ? [shown[0], { ...shown[0] }] : shown.slice(0, 1));
  }

  function cell(name, k) {
    const { offers, label } = SETTINGS[name];
    const value = shown[k][name];
    const all = offers.includes(value) ? offers : [...offers, value].sort((p, q) => p - q);
    const set = (to) => changed(shown.map((each, which) => (which === k ? { ...each, [name]: to } : each)));
    const aria = { "aria-label": shown.length === 2 ? `${label}, ${k ? "the other" : "the one"}` : label };
    if (name === "seed") {
      const input = element("input", { type: "number", min: 0, max: 999999, value, "data-setting": name, ...aria });
      input.addEventListener("change", () => {
        const seed = input.valueAsNumber;
        if (Number.isInteger(seed) && seed >= 0 && seed <= 999999) set(seed);
        else input.value = String(value); // what is no seed is taken back
      });
      return input;
    }
    const options = all.map((offer) => element("option", { value: String(offer) }, valueInWords(name, offer) ?? offer));
    const select = element("select", { "data-setting": name, ...aria }, ...options);
    select.selectedIndex = all.indexOf(value);
    select.addEventListener("change", () => set(all[select.selectedIndex]));
    return select;
  }

  /** @param {any[]} settings  of one network, or of two */
  function show(settings) {
    shown = settings;
    const rows = Object.keys(SETTINGS).map((name) => {
      const differs = settings.length === 2 && settings[0][name] !== settings[1][name];
      const row = element("div", { class: differs ? "setting differs" : "setting" });
      row.append(element("span", { class: "name" }, SETTINGS[name].label), ...settings.map((_, k) => cell(name, k)));
      return row;
    });
    const heads = ["", "one", "the other"].map((words) => element("span", { class: "name" }, words));
    table.replaceChildren(...(settings.length === 2 ? [element("div", { class: "setting" }, ...heads)] : []), ...rows);
    table.classList.toggle("two", settings.length === 2);
    beside.textContent = settings.length === 1 ? "Two at once" : "Only one";
    seeds.hidden = settings.length === 1;
    result.textContent = "";
  }

  const node = element(
    "div",
    { class: "changes" },
    table,
    element("div", { class: "bar" }, beside, seeds),
    result,
    element(
      "p",
      { class: "remark" },
      "A change starts over. The same seed gives the same noise and the same digits in the same order.",
    ),
  );
  return { node, show, tell: (words) => (result.textContent = words) };
}
