// All that is pressed: the primary button with the counters and the pace; what can be changed; what becomes of the
// network.
import { element, pushButton } from "../shared/ui.js";
import { PACES } from "./session.js";
import { read, SETTINGS, valueInWords } from "./settings.js";

/** Shows words, and leaves a node alone that has them. */
export const write = (node, words) => {
  if (node.textContent !== words) node.textContent = words;
};

/**
 * The bar above all.
 * @param {{ toggle: () => void, again: () => void, reseed: () => void, setPace: (name: string) => void }} _
 */
export function makeBar({ toggle, again, reseed, setPace }) {
  const train = pushButton("train", "▶ Train", toggle, { class: "primary-action train" });
  const over = pushButton("over", "Start over", again);
  const seed = pushButton("another", "Another seed", reseed);
  const counters = { right: "of 100 right", digits: "digits seen", seconds: "of learning" };
  const values = Object.keys(counters).map((role) => element("b", { "data-role": `counted-${role}` }));
  const paces = Object.entries(PACES).map(([name, { label }]) =>
    pushButton("pace", label, () => setPace(name), { "data-pace": name }),
  );
  const node = element(
    "div",
    { class: "top" },
    element("div", { class: "main" }, train, over, seed),
    element(
      "div",
      { class: "counters" },
      ...Object.values(counters).map((words, n) => element("div", {}, values[n], element("span", {}, words))),
    ),
    element("div", { class: "paces", role: "group", "aria-label": "How fast" }, ...paces),
  );
  /** @param {{ rights: number[], seen: number, seconds: number, running: boolean, pace: string }} _ */
  function show({ rights, seen, seconds, running, pace }) {
    const started = rights.length > 0;
    write(train, running ? "❚❚ Pause" : started ? "▶ Go on" : "▶ Train");
    over.disabled = !started;
    const time = `${seconds < 100 ? seconds.toFixed(1) : Math.round(seconds)} s`;
    [started ? rights.join(" | ") : "–", seen.toLocaleString("en"), time].forEach((words, n) =>
      write(values[n], words),
    );
    for (const button of paces) button.setAttribute("aria-pressed", String(button.dataset.pace === pace));
  }
  return { node, show };
}

/**
 * A row for each setting, a column for each network.
 * @param {{ changed: (settings: any[]) => void, refused: (name: string, text: string) => void, more: () => void }} _
 *   changed: the reader wants these settings; refused: what was typed is none; more: ten more seeds
 */
export function makeChanges({ changed, refused, more }) {
  const table = element("div", { class: "settings" });
  const beside = pushButton("beside", "", () => changed(shown.length === 1 ? [shown[0], shown[0]] : shown.slice(0, 1)));
  const seeds = pushButton("seeds", "Ten more seeds", more);
  let shown = [];

  function cell(name, k) {
    const { offers, label } = SETTINGS[name];
    const value = shown[k][name];
    const set = (to) => changed(shown.map((each, which) => (which === k ? { ...each, [name]: to } : each)));
    const more = { "data-setting": name, "aria-label": `${label}${["", ", the other"][k]}` };
    if (name === "seed") {
      const input = element("input", { type: "number", min: 0, max: 999999, value, ...more });
      input.addEventListener("change", () => {
        const typed = read(name, input.value);
        if (typed !== undefined) return set(typed);
        refused(name, input.value);
        input.value = String(value);
      });
      return input;
    }
    const all = offers.includes(value) ? offers : [...offers, value].sort((p, q) => p - q);
    const options = all.map((offer) => element("option", { value: String(offer) }, valueInWords(name, offer)));
    const select = element("select", more, ...options);
    select.selectedIndex = all.indexOf(value);
    select.addEventListener("change", () => set(all[select.selectedIndex]));
    return select;
  }

  /** @param {any[]} settings  of one network, or of two */
  function show(settings) {
    shown = settings;
    const rows = Object.keys(SETTINGS).map((name) => {
      const differs = settings.length === 2 && settings[0][name] !== settings[1][name];
      const label = element("span", { class: "name" }, SETTINGS[name].label);
      return element(
        "div",
        { class: differs ? "setting differs" : "setting" },
        label,
        ...settings.map((_, k) => cell(name, k)),
      );
    });
    table.replaceChildren(...rows);
    table.classList.toggle("two", settings.length === 2);
    write(beside, settings.length === 1 ? "Two at once" : "Only one");
    seeds.hidden = settings.length === 1;
  }

  const about = "A change starts over. The same seed gives the same noise and the same digits in the same order.";
  const buttons = element("div", { class: "bar" }, beside);
  return {
    node: element("div", { class: "changes" }, table, buttons, element("p", { class: "remark" }, about)),
    seeds,
    show,
  };
}

/**
 * Keep, download, open: each returns the words to say when it is done.
 * @param {Record<string, (file?: File) => Promise<string>>} _
 */
export function makeKeeping({ keep, fetch, open }) {
  const words = element("p", { class: "remark", "data-role": "kept", "aria-live": "polite" });
  const told = (work, /** @type {File} */ given = undefined) =>
    work(given).then(
      (done) => write(words, done),
      (error) => write(words, `Not done: ${error.message}.`),
    );
  const file = element("input", { type: "file", accept: ".safetensors", hidden: "", "data-role": "file" });
  file.addEventListener("change", async () => {
    if (file.files[0]) await told(open, file.files[0]);
    file.value = "";
  });
  const buttons = [
    pushButton("keep", "Keep it for this book", () => told(keep)),
    pushButton("download", "Download", () => told(fetch)),
    pushButton("upload", "Open a file", () => file.click()),
  ];
  return element(
    "div",
    { class: "keeping", role: "group", "aria-label": "Keep it" },
    element("div", { class: "bar" }, ...buttons, file),
    words,
  );
}
