// Raise one: a capsule network trained from nothing in the page, watched, questioned, taught the reader's own hand.
import { makeCurve, makePairs } from "./playground/charts.js";
import { download } from "./playground/files.js";
import { makeHand } from "./playground/hand.js";
import { emptyPassage, makeNetworkView } from "./playground/network_view.js";
import { makeBar, makeChanges, makeKeeping, write } from "./playground/panel.js";
import { makeRandom } from "./playground/random.js";
import { compareSeeds, errorOf, pairsInWords } from "./playground/seeds.js";
import { makeSession } from "./playground/session.js";
import { fromAddress, refusal, settingsWith, toAddress } from "./playground/settings.js";
import { J, WALL } from "./playground/sizes.js";
import { makeWall } from "./playground/wall.js";
import { inWords, nameOf } from "./playground/words.js";
import { digitAt, PIXELS } from "./shared/digits.js";
import { defineWidget } from "./shared/stage.js";
import { element, listen, onNews, save } from "./shared/ui.js";

const FOG = 128; // what an untrained network draws, in every pixel
const TELLING = 5; // pairs after which the records join them

/** The walls of both networks, side by side. chosen(k, n): tile n of the k-th. */
function makeWalls(widget, chosen) {
  const label = "A hundred digits that it never learns from, as it draws them at this moment.";
  const walls = [0, 1].map((k) => {
    const wall = makeWall(widget, { count: WALL, label, chosen: (n) => chosen(k, n) });
    const caption = element("figcaption");
    return { ...wall, caption, figure: element("figure", { class: "wall-frame" }, wall.canvas, caption) };
  });
  const fog = new Uint8Array(WALL * PIXELS).fill(FOG);

  function show({ settings, engines, watched }) {
    walls.forEach((wall, k) => {
      wall.figure.hidden = k >= settings.length;
      if (wall.figure.hidden) return;
      const frame = engines[k]?.frame;
      const wrong = frame ? engines[k].mistakes() : [];
      const written = () => engines[k].test.images.subarray(0, WALL * PIXELS).map((grey) => 17 * grey);
      const pictures = !frame ? fog : frame.wall.drawings.length ? frame.wall.drawings : written();
      wall.show({ pictures, mistaken: (n) => wrong[n] ?? false, selected: watched.engine === k ? watched.tile : -1 });
      const name = settings.length === 2 ? `${nameOf(settings, k)}. ` : "";
      const how = settings[k].drawing > 0 ? "as it draws them at this moment" : "as they are: it learns no drawing";
      write(
        wall.caption,
        `${name}A hundred digits that it never learns from, ${how}. Orange: taken for another. Choose one.`,
      );
    });
  }
  return { figures: walls.map(({ figure }) => figure), show };
}

/** The picture of the network that is watched, and what it shows in words. @returns {[any, string]} */
function passageOf({ settings, engines, watched, imageOf }) {
  const { frame, test, settings: its } = engines[watched.engine] ?? {};
  if (!frame) {
    const random = makeRandom(settings[0].seed);
    return [emptyPassage(settings[0].types, () => 2 * random() - 1), "A network that has learned nothing"];
  }
  const { drawings, lengths, answers } = frame.wall;
  const last = answers.length - 1; // after the wall and the reader's own
  const label = test.labels[watched.tile];
  const passage = {
    ...{ types: its.types, image: imageOf(watched.tile), label, filters: frame.filters, ...frame.watched },
    lengths: lengths.subarray(last * J, (last + 1) * J),
    drawing: drawings.length ? Float32Array.from(digitAt(drawings, last), (grey) => grey / 255) : undefined,
  };
  return [passage, `The network reads a ${label} and answers ${answers[last]}`];
}

/** Ties the session to the page: its settings to the model and the address, its running to a tab that is seen. */
function tieToPage(model, root, session, { change, refused, attempt }) {
  const addressed = () => model.get("addressed") && root.closest("figure.live-widget") !== null;
  let waits = false; // until the tab is seen again
  const hidden = () => {
    if (!document.hidden && waits) attempt(session.train);
    waits = document.hidden && session.running;
    if (waits) session.pause();
  };
  const addressChanged = () => {
    const found = addressed() && fromAddress(location.hash);
    if (found) change(found.settings, found.problems.join(" "));
    else if (found === undefined && location.hash.length > 1 && !document.getElementById(location.hash.slice(1)))
      refused("This address names no setting and no place of this page.");
  };
  document.addEventListener("visibilitychange", hidden);
  addEventListener("hashchange", addressChanged);
  const stopListening = listen(model, {
    settings: () => {
      const came = model.get("settings").map(settingsWith);
      if (JSON.stringify(came) !== JSON.stringify(session.settings)) change(came);
    },
  });
  return {
    tell(settings) {
      if (addressed()) history.replaceState(null, "", toAddress(settings));
      save(model, { settings });
    },
    first: addressChanged,
    stop() {
      document.removeEventListener("visibilitychange", hidden);
      removeEventListener("hashchange", addressChanged);
      stopListening();
    },
  };
}

/** Two settings, pair by pair: the one that is watched, and ten more in the background. */
function makeComparison(session, model, attempt) {
  let [found, stop] = [[], () => {}];
  const chart = makePairs();
  const result = element("p", { class: "result-words", "data-role": "seeds-result", "aria-live": "polite" });
  const node = element("div", { class: "comparison" }, chart.node, result);
  function show() {
    const { settings, engines } = session;
    node.hidden = settings.length === 1;
    if (node.hidden) return;
    const [one, other] = engines.map(({ curve }) => errorOf(curve));
    const pairs = one >= 0 && other >= 0 ? [one - other, ...found] : found;
    const names = [0, 1].map((k) => nameOf(settings, k));
    write(
      result,
      pairs.length ? pairsInWords(pairs, names) : "When both have learned from 8,000 digits, the first dot falls.",
    );
    chart.show(pairs, pairs.length < TELLING ? [] : model.get("records"), names);
  }
  return {
    node,
    show,
    again() {
      stop();
      [found, stop] = [[], () => {}];
    },
    more: () =>
      attempt(async () => {
        stop();
        const sample = await session.fetched();
        session.pause(); // the seeds have the machine
        found = [];
        stop = compareSeeds(session.settings, sample, {
          found: (difference) => attempt(() => found.push(difference)),
          failed: (words) => (session.trouble = words),
        });
      }),
    stop() {
      stop();
      chart.stop();
    },
  };
}

function build(widget) {
  const { root, model, host } = widget;
  const session = makeSession(model.get("settings").map(settingsWith), {
    fetchFile: async () => (await host.getModel(model.get("digits").digits)).get("weights"),
    changed: () => widget.redraw(),
  });

  /** Does it, and says what went wrong. */
  async function attempt(/** @type {() => any} */ work) {
    try {
      await work();
    } catch (error) {
      Object.assign(session, { trouble: `That did not work: ${error.message}.`, running: false });
    }
    widget.redraw();
  }

  function change(/** @type {any[]} */ settings, problems = "") {
    comparison.again();
    changes.show(settings);
    attempt(() => session.change(settings));
    page.tell(settings);
    refused(problems);
  }

  function refused(/** @type {string} */ words) {
    session.trouble = words;
    widget.redraw();
  }

  const bar = makeBar({
    toggle() {
      session.trouble = "";
      attempt(session.running ? session.pause : session.train);
    },
    again: () => attempt(session.restart),
    reseed: () => change(session.settings.map((each) => ({ ...each, seed: each.seed + 1 }))),
    setPace(name) {
      session.pace = name;
      attempt(() => session.running && session.train());
    },
  });
  const view = makeNetworkView(widget);
  const curve = makeCurve();
  const walls = makeWalls(widget, session.watch);
  const hand = makeHand(widget, { session, say: (words) => speak(words) });
  const comparison = makeComparison(session, model, attempt);
  const keeping = makeKeeping({
    async keep() {
      if (session.settings[0].types !== 8)
        throw new Error("the other widgets show networks of 72 capsules, of 8 types");
      const bytes = await session.file();
      save(model, { weights: new DataView(bytes.buffer) });
      root.dispatchEvent(new CustomEvent("capsnet:network", { bubbles: true, detail: bytes })); // to the page
      return "Kept. From now on each widget that asks a network can ask yours: look under it.";
    },
    async fetch() {
      download(await session.file(), "my_capsnet.safetensors");
      return 'In a notebook: load_weights("my_capsnet.safetensors").';
    },
    async open(file) {
      await session.open(await file.arrayBuffer());
      changes.show(session.settings);
      return `Opened ${file.name}. It goes on learning from there.`;
    },
  });
  const changes = makeChanges({
    changed: change,
    refused: (name, text) => refused(refusal(name, text)),
    more: comparison.more,
  });
  comparison.node.append(changes.seeds);
  const aside = element("div", { class: "aside" }, curve.node, comparison.node, hand.node);
  const middle = element("div", { class: "middle" }, ...walls.figures, aside);
  const { say: speak } = widget.layOut({
    stage: element("div", { class: "scene" }, bar.node, view.node, middle),
    hands: [keeping],
    more: [changes.node],
    about: "What can be changed",
  });

  const tell = onNews(speak);

  function draw() {
    const shown = session.engines.filter(({ frame }) => frame);
    const rights = shown.map((engine) => engine.right());
    const [seen, seconds] = ["seen", "seconds"].map((name) => Math.max(0, ...shown.map(({ frame }) => frame[name])));
    bar.show({ ...session, rights, seen, seconds });
    middle.classList.toggle("two", session.settings.length === 2);
    walls.show(session);
    curve.show(session.engines.map((engine) => engine.curve));
    comparison.show();
    const [passage, words] = passageOf(session);
    view.show(passage, words);
    hand.show(shown[0]?.frame);
    Object.assign(root.dataset, { right: rights.join(","), seen, running: session.running });
    const happens = inWords(session, shown);
    tell([happens], happens);
    for (const { order } of shown) order({ do: "seen" });
  }

  const page = tieToPage(model, root, session, { change, refused, attempt });
  widget.stops.push(...[session, comparison, page, view, curve, hand].map(({ stop }) => stop));
  changes.show(session.settings);
  page.first();
  return draw;
}

export default defineWidget("RaiseOne", "Raise a capsule network: trained from nothing, in this page", build);
