// The same drawing, read by two networks that were trained with two ways to route. Weights come when they are chosen.
import { makeBars } from "./shared/bars.js";
import { paintCouplings } from "./shared/couplings.js";
import { makePad, tiePad } from "./shared/pad.js";
import { makeSamples } from "./shared/samples.js";
import { layOut } from "./shared/stage.js";
import {
  bytesOf,
  digitAt,
  element,
  listen,
  makePainter,
  makeRoot,
  mount,
  oncePerFrame,
  save,
  setAttributes,
  themeColours,
  whenThemeChanges,
} from "./shared/ui.js";
import { inWords, makeReader } from "./two_routings_model.js";

const SIDES = ["left", "right"];

/**
 * One of the two: which routing, what it reads, ten lengths, and who gets whose shares.
 * @param {string} side
 * @param {Record<string, string>} titles  of the routings, by name
 * @param {(name: string) => void} choose
 */
function makePanel(side, titles, choose) {
  const options = Object.entries(titles).map(([name, title]) => element("option", { value: name }, title));
  const select = element(
    "select",
    { "data-role": side, "aria-label": `Routing on the ${side}`, onchange: () => choose(select.value) },
    ...options,
  );
  const answer = element("strong");
  const bars = makeBars(`Lengths of the ten digit capsules, ${side}`);
  const map = element("canvas", { class: "shares", role: "img", "data-role": `shares-${side}` });
  const figure = element(
    "figure",
    { class: "routing" },
    select,
    element("figcaption", {}, "reads ", answer),
    element("div", { class: "lengths-and-shares" }, bars.list, map),
  );

  /** null: its weights are on their way. */
  function show(reading, empty, colours) {
    figure.classList.toggle("waits", reading === null);
    answer.textContent = reading === null ? "…" : empty ? "–" : String(reading.prediction);
    if (reading === null) return;
    const { c, lengths, prediction } = reading;
    const [J, I] = [lengths.length, c.length / lengths.length];
    if (map.width !== I || map.height !== J) Object.assign(map, { width: I, height: J });
    bars.show(lengths, prediction);
    paintCouplings(map, c, 1 / J, colours);
    setAttributes(map, { "aria-label": `Shares of ${I} capsules below for ${J} classes, ${side}` });
  }

  return { figure, select, show };
}

/** A reader by the name of its routing. Its weights are fetched when it is asked for the first time. */
function readersOf(model, host) {
  if (!host?.getModel) throw new Error("expected anywidget 0.11 or later in this page");
  const networks = model.get("networks");
  const readers = {};
  const fetched = async (name) => makeReader(name, (await host.getModel(networks[name])).get("weights"));
  return (name) => {
    readers[name] ??= fetched(name).catch((error) => {
      delete readers[name]; // the next choice tries again
      throw error;
    });
    return readers[name];
  };
}

async function build(root, model, host) {
  const readerOf = readersOf(model, host);
  const images = bytesOf(model.get("samples"));
  const [labels, titles] = [model.get("labels"), model.get("titles")];
  const chosen = { left: model.get("left"), right: model.get("right") };
  const read = { left: null, right: null }; // null: weights are on their way
  let loaded = null; // the sample on the pad
  let colours;

  const pad = makePad({
    drawn: () => schedule(),
    settled: () => tie.share(),
    loaded: () => showLoaded(null),
    say: (words) => say(words),
  });
  const panels = SIDES.map((side) => makePanel(side, titles, (name) => choose(side, name)));
  const samples = makeSamples(
    { images, labels, disputed: model.get("disputed"), load: (n) => showPixels(digitAt(images, n), n) },
    {
      lead: "These divide the zoo:",
      group: "Digits that divide the zoo",
      each: (label) => `Load a ${label} that divides the zoo`,
    },
  );
  const key = element(
    "div",
    { class: "legend" },
    "beside the lengths, what each of the capsules below gives to a class: less than an even share",
    element("span", { class: "scale" }),
    "more",
  );
  const { say, stop: stopSaying } = layOut(root, {
    stage: element(
      "div",
      {},
      element(
        "div",
        { class: "drawing" },
        element("div", { class: "left" }, pad.frame, pad.buttons),
        ...panels.map(({ figure }) => figure),
      ),
      key,
    ),
    hands: [samples.loads],
  });
  const painter = makePainter(root);

  /** Exactly these pixels, as they are; `n` if they are a sample's. */
  function showPixels(bytes, n = null) {
    pad.show(bytes);
    showLoaded(n);
  }

  function showLoaded(n) {
    loaded = n;
    tie.share();
    update();
  }

  /** Another routing on one side; what it was stays on view if the weights of the new one cannot be had. */
  async function choose(side, name) {
    const before = { name: chosen[side], read: read[side] };
    chosen[side] = name;
    read[side] = null;
    update();
    try {
      const reader = await readerOf(name);
      if (chosen[side] !== name) return; // another one was chosen meanwhile
      read[side] = reader;
      save(model, { [side]: name });
      update();
    } catch (error) {
      if (chosen[side] !== name) return;
      if (before.read === null) throw error;
      [chosen[side], read[side]] = [before.name, before.read];
      update();
      say(`The weights of ${titles[name]} cannot be loaded: ${error.message}`);
    }
  }

  function update() {
    if (pad.byHand()) loaded = null;
    const empty = pad.empty();
    const readings = SIDES.map((side) => read[side]?.(pad.image()) ?? null);
    pad.paint(painter, colours);
    panels.forEach(({ select, show }, n) => {
      select.value = chosen[SIDES[n]];
      show(readings[n], empty, colours);
    });
    samples.press(loaded);
    say(sentenceOf(readings, empty));
    const known = readings.filter((reading) => reading !== null);
    setAttributes(root, {
      "data-routings": SIDES.map((side) => (read[side] ? chosen[side] : "")).join(","),
      "data-predictions": known.map(({ prediction }) => prediction).join(","),
      "data-lengths": known.flatMap(({ lengths }) => Array.from(lengths, (length) => length.toFixed(6))).join(","),
    });
  }

  function sentenceOf(readings, empty) {
    const waits = SIDES.filter((_, n) => readings[n] === null).map((side) => titles[chosen[side]]);
    if (waits.length) return `Fetching the weights of ${waits.join(" and ")} …`;
    if (empty) return "Nothing drawn yet: draw a digit, or take one of those below.";
    const named = readings.map((reading, n) => ({ ...reading, name: titles[chosen[SIDES[n]]] }));
    return inWords(named, loaded === null ? null : labels[loaded]);
  }
  const schedule = oncePerFrame(update);

  root.addEventListener("capsnet:image", ({ detail }) => showPixels(detail));
  const tie = tiePad(pad, model, showPixels);
  const follow = (side) => () => model.get(side) !== chosen[side] && choose(side, model.get(side));
  const stopListening = listen(model, { left: follow("left"), right: follow("right") });
  const refresh = () => {
    painter.refresh();
    colours = themeColours(root);
    samples.paint(painter);
    update();
  };
  pad.show(bytesOf(model.get("image")));
  refresh();
  await Promise.all(SIDES.map((side) => choose(side, chosen[side])));
  const stopWatching = whenThemeChanges(refresh);
  return [tie.stop, stopListening, stopWatching, schedule.cancel, stopSaying];
}

function render({ model, el, host }) {
  const root = makeRoot("TwoRoutings", "Draw a digit, and two networks that route differently read it");
  return mount(el, root, () => build(root, model, host));
}

export default { render };
