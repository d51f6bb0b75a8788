// All that is pressed: the primary button with the counters and the pace; what can be changed; what becomes of the
// network.
import { element, pushButton, rowOf, save, setAttributes, write } from "../shared/ui.js";
import { download } from "./files.js";
import { differences, SETTINGS, valueInWords } from "./settings.js";

const PACES = { step: "step by step", follow: "to follow", all: "full speed" }; // as training.js has them

/** The bar above all. @param {any} session */
export function makeBar(session) {
  const press = () => session.act(() => (session.running ? session.pause() : session.train()));
  const train = pushButton("train", "▶ Train", press, { class: "primary-action train" });
  const over = pushButton("over", "Start over", () => session.act(() => session.restart()));
  const another = () =>
    session.change(session.settings.map((each) => ({ ...each, seed: each.seed + 1 })));
  const counters = ["of 100 right", "digits seen", "of learning"];
  const values = counters.map(() => element("b"));
  const paces = Object.entries(PACES).map(([name, label]) =>
    pushButton("pace", label, () => session.act(() => session.setPace(name)), {
      "data-pace": name,
    }),
  );
  const counted = counters.map((words, n) =>
    element("div", {}, values[n], element("span", {}, words)),
  );
  const main = element(
    "div",
    { class: "main" },
    train,
    over,
    pushButton("another", "Another seed", another),
  );
  const pace = element(
    "div",
    { class: "paces", role: "group", "aria-label": "How fast" },
    ...paces,
  );
  const node = element(
    "div",
    { class: "top" },
    main,
    element("div", { class: "counters" }, ...counted),
    pace,
  );

  function show(/** @type {any[]} */ frames) {
    const started = session.trainees.length > 0;
    const [seen, seconds] = ["seen", "seconds"].map((name) =>
      Math.max(...frames.map((frame) => frame[name])),
    );
    write(train, session.running ? "❚❚ Pause" : started ? "▶ Go on" : "▶ Train");
    over.disabled = !started;
    const time = `${seconds < 100 ? seconds.toFixed(1) : Math.round(seconds)} s`;
    const right = frames.map((frame) => frame.right).join(" | ");
    [started ? right : "–", seen.toLocaleString("en"), time].forEach((words, n) =>
      write(values[n], words),
    );
    for (const button of paces)
      setAttributes(button, { "aria-pressed": button.dataset.pace === session.pace });
  }
  return { node, show };
}

/** A row for each setting, a column for each network. @param {any} session */
export function makeChanges(session) {
  const table = element("div", { class: "settings" });
  const words =
    "A change starts over. The same seed gives the same noise and the same digits in the same order.";
  let shown = []; // settings
  const beside = pushButton("beside", "", () =>
    session.change(shown.length === 1 ? [shown[0], shown[0]] : shown.slice(0, 1)),
  );

  function cell(name, k) {
    const { offers, label } = SETTINGS[name];
    const value = shown[k][name];
    const all = offers.includes(value) ? offers : [...offers, value].sort((p, q) => p - q);
    const options = all.map((offer) =>
      element("option", { value: String(offer) }, valueInWords(name, offer)),
    );
    const about = { "data-setting": name, "aria-label": `${label}${["", ", the other"][k]}` };
    const select = element("select", about, ...options);
    select.selectedIndex = all.indexOf(value);
    const set = (to) =>
      session.change(shown.map((each, which) => (which === k ? { ...each, [name]: to } : each)));
    select.addEventListener("change", () => set(all[select.selectedIndex]));
    return select;
  }

  function row(name) {
    const differs = differences(shown[0], shown.at(-1)).includes(name);
    const about = { class: differs ? "setting differs" : "setting" };
    const label = element("span", { class: "name" }, SETTINGS[name].label);
    return element("div", about, label, ...shown.map((_, k) => cell(name, k)));
  }

  function show() {
    if (session.settings === shown) return;
    shown = session.settings;
    const at = [...table.querySelectorAll("select")].indexOf(
      /** @type {any} */ (document.activeElement),
    );
    table.replaceChildren(...Object.keys(SETTINGS).map(row));
    table.querySelectorAll("select")[at]?.focus();
    table.classList.toggle("two", shown.length === 2);
    write(beside, shown.length === 1 ? "Two at once" : "Only one");
  }

  const remark = element("p", { class: "remark" }, words);
  return { node: element("div", {}, table, rowOf(beside), remark), show };
}

/** Keep, download, open: each says what it has done. @param {any} widget @param {any} session */
export function makeKeeping({ model }, session) {
  const words = element("p", { class: "remark", "data-role": "kept", "aria-live": "polite" });
  const told = (/** @type {() => Promise<string>} */ work) =>
    work().then(
      (done) => write(words, done),
      (error) => write(words, `Not done: ${error.message}.`),
    );

  async function keep() {
    if (session.settings[0].types !== 8)
      throw new Error("the other widgets show networks of 72 capsules, of 8 types");
    const bytes = await session.file();
    save(model, { weights: new DataView(bytes.buffer) });
    const lasts = await globalThis.capsnetOwn?.change({ bytes, asked: true }); // the book's page (live-host.js)
    if (lasts === false) return "Kept while this page is open: the browser lets it store nothing.";
    return "Kept. From now on each widget that asks a network can ask yours: look under it.";
  }

  async function fetch() {
    download(await session.file(), "my_capsnet.safetensors");
    return 'In a notebook: load_weights("my_capsnet.safetensors").';
  }

  async function open() {
    const [given] = file.files;
    await session.open(await given.arrayBuffer());
    return `Opened ${given.name}. It goes on learning from there.`;
  }

  const file = element("input", {
    type: "file",
    accept: ".safetensors",
    hidden: "",
    "data-role": "file",
  });
  file.addEventListener("change", async () => {
    if (file.files[0]) await told(open);
    file.value = "";
  });
  const buttons = rowOf(
    pushButton("keep", "Keep it for this book", () => told(keep)),
    pushButton("download", "Download", () => told(fetch)),
    pushButton("upload", "Open a file", () => file.click()),
  );
  return element("div", { role: "group", "aria-label": "Keep it" }, buttons, file, words);
}
