// What is pressed and what runs: the primary button, the counters, the pace; and what becomes of the network.
import { element, pushButton } from "../shared/ui.js";
import { PACES } from "./session.js";

/**
 * The bar above all.
 * @param {{ toggle: () => void, again: () => void, reseed: () => void, setPace: (name: string) => void }} _
 */
export function makeBar({ toggle, again, reseed, setPace }) {
  const train = pushButton("train", "▶ Train", toggle, { class: "primary-action train" });
  const over = pushButton("over", "Start over", again);
  const seed = pushButton("another", "Another seed", reseed);
  const counter = (role, words) => {
    const value = element("b", { "data-role": role }, "–");
    return { value, node: element("div", { class: "counter" }, value, element("span", {}, words)) };
  };
  const right = counter("right", "of 100 right, unseen");
  const seen = counter("digits-seen", "digits seen");
  const seconds = counter("seconds", "of learning");
  const paces = Object.entries(PACES).map(([name, { label }]) =>
    pushButton("pace", label, () => setPace(name), { "data-pace": name }),
  );
  const node = element(
    "div",
    { class: "top" },
    element("div", { class: "main" }, train, over, seed),
    element("div", { class: "counters" }, right.node, seen.node, seconds.node),
    element("div", { class: "paces", role: "group", "aria-label": "How fast" }, ...paces),
  );
  const write = (node, words) => {
    if (node.textContent !== words) node.textContent = words;
  };
  return {
    node,
    /**
     * @param {{
     *   rights: number[], seen: number, seconds: number, running: boolean, started: boolean, pace: string,
     * }} state
     */
    show({ rights, seen: digits, seconds: time, running, started, pace }) {
      write(train, running ? "❚❚ Pause" : started ? "▶ Go on" : "▶ Train");
      over.disabled = !started;
      write(right.value, started ? rights.join(" | ") : "–");
      write(seen.value, digits.toLocaleString("en"));
      write(seconds.value, `${time < 100 ? time.toFixed(1) : Math.round(time)} s`);
      for (const button of paces) button.setAttribute("aria-pressed", String(button.dataset.pace === pace));
    },
  };
}

/**
 * Keep, download, upload: each returns the words to say when it is done.
 * @param {Record<string, (file?: File) => Promise<string>>} _
 */
export function makeKeeping({ keep, fetch, open }) {
  const words = element("p", { class: "remark", "data-role": "kept", "aria-live": "polite" });
  const told = async (work, given) => {
    try {
      words.textContent = await work(given);
    } catch (error) {
      words.textContent = `Not done: ${error.message}.`;
    }
  };
  const file = element("input", { type: "file", accept: ".safetensors", hidden: "", "data-role": "file" });
  file.addEventListener("change", async () => {
    if (file.files[0]) await told(open, file.files[0]);
    file.value = "";
  });
  return element(
    "section",
    { class: "keeping", "aria-label": "Keep it" },
    element("p", { class: "lead" }, "Keep it"),
    element(
      "div",
      { class: "bar" },
      pushButton("keep", "Keep it for this book", () => told(keep)),
      pushButton("download", "Download", () => told(fetch)),
      pushButton("upload", "Open a file", () => file.click()),
      file,
    ),
    words,
  );
}
