// Raise one: a capsule network trained from nothing in the page, watched, questioned, taught the reader's own hand.
import { makeBar, makeKeeping } from "./playground/bar.js";
import { makeChanges } from "./playground/changes.js";
import { makeCurve } from "./playground/curve.js";
import { makeHand } from "./playground/hand.js";
import { download } from "./playground/keep.js";
import { CLASSES, WALL } from "./playground/learner.js";
import { emptyPassage, makeNetworkView } from "./playground/network_view.js";
import { makeRandom } from "./playground/random.js";
import { compareSeeds } from "./playground/seeds.js";
import { makeSession } from "./playground/session.js";
import { fromAddress, settingsWith, toAddress } from "./playground/settings.js";
import { makeWall } from "./playground/wall.js";
import { inWords, nameOf } from "./playground/words.js";
import { layOut } from "./shared/stage.js";
import {
  digitAt,
  element,
  listen,
  makeRoot,
  mount,
  oncePerFrame,
  PIXELS,
  save,
  whenThemeChanges,
} from "./shared/ui.js";

const FOG = 128; // what an untrained network draws, in every pixel

/** The walls of both networks, side by side. chosen(k, n): tile n of the k-th. */
function makeWalls(root, chosen) {
  const label = "A hundred digits that it never learns from, as it draws them at this moment.";
  const walls = [0, 1].map((k) => {
    const wall = makeWall(root, { count: WALL, across: 10, label, chosen: (n) => chosen(k, n) });
    const caption = element("figcaption");
    return { ...wall, caption, figure: element("figure", { class: "wall-frame" }, wall.canvas, caption) };
  });
  const fog = new Uint8Array(WALL * PIXELS).fill(FOG);

  function show({ settings, learners, digits, watched }) {
    walls.forEach((wall, k) => {
      wall.figure.hidden = k >= settings.length;
      if (wall.figure.hidden) return;
      const frame = learners[k]?.frame;
      const wrong = frame ? learners[k].mistakes() : [];
      const written = () => Uint8Array.from(digits.test.images.subarray(0, WALL * PIXELS), (grey) => 17 * grey);
      const pictures = !frame ? fog : frame.wall.drawings.length ? frame.wall.drawings : written();
      wall.show({ pictures, mistaken: (n) => wrong[n] ?? false, selected: watched.learner === k ? watched.tile : -1 });
      const name = settings.length === 2 ? `${nameOf(settings, k)}. ` : "";
      const how = settings[k].drawing > 0 ? "as it draws them at this moment" : "as they are: it learns no drawing";
      const words = `${name}A hundred digits that it never learns from, ${how}. Orange: taken for another. Choose one.`;
      if (wall.caption.textContent !== words) wall.caption.textContent = words;
    });
  }
  return { figures: walls.map(({ figure }) => figure), show, refresh: () => walls.forEach((wall) => wall.refresh()) };
}

/** The picture of the network that is watched, and what it shows in words. @returns {[any, string]} */
function passageOf({ settings, learners, watched, digits, imageOf }) {
  const { frame, settings: its } = learners[Math.min(watched.learner, learners.length - 1)] ?? {};
  if (!frame) {
    const random = makeRandom(settings[0].seed);
    return [emptyPassage(settings[0].types, () => 2 * random() - 1), "A network that has learned nothing"];
  }
  const { drawings, lengths, answers } = frame.wall;
  const last = answers.length - 1; // after the wall and the reader's own
  const label = digits.test.labels[watched.tile];
  const passage = {
    ...{ types: its.types, image: imageOf(watched.tile), label, filters: frame.filters, ...frame.watched },
    lengths: lengths.subarray(last * CLASSES, (last + 1) * CLASSES),
    drawing: drawings.length ? Float32Array.from(digitAt(drawings, last), (grey) => grey / 255) : undefined,
  };
  return [passage, `The network reads a ${label} and answers ${answers[last]}`];
}

/** What is happening. @param {any[]} shown  learners with a frame */
function sentence(session, shown, state) {
  if (session.trouble) return session.trouble;
  if (session.loading) return "Fetching 4,500 handwritten digits …";
  const { loss, frame, plain } = shown[0] ?? {};
  if (session.pace === "step" && loss && session.running) {
    const right = Math.round(loss.right * loss.digits);
    return (
      `Step ${frame.steps}: ${loss.digits} digits went through, ${right} of them rightly. The loss is ` +
      `${(loss.margin + loss.drawing).toFixed(3)}; every weight moved a little, against its slope.`
    );
  }
  const words = inWords({ ...session, ...state, right: state.rights });
  return plain ? `${words} (This page may not run WebAssembly: plain JavaScript learns, slowly.)` : words;
}

/** Ties the session to the page: its settings to the model and the address, its running to a tab that is seen. */
function tieToPage(model, root, session, { change, attempt }) {
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

async function build(root, model, host) {
  const session = makeSession(model.get("settings").map(settingsWith), {
    fetchFile: async () => (await host.getModel(model.get("digits").digits)).get("weights"),
    changed: () => schedule(),
  });
  let [said, stopSeeds] = ["", () => {}];

  /** Does it, and says what went wrong. */
  async function attempt(/** @type {() => any} */ work) {
    try {
      await work();
    } catch (error) {
      Object.assign(session, { trouble: `That did not work: ${error.message}.`, running: false });
    }
    schedule();
  }

  function change(/** @type {any[]} */ settings, problems = "") {
    stopSeeds();
    changes.show(settings);
    attempt(() => session.change(settings));
    session.trouble = problems;
    page.tell(settings);
  }

  const bar = makeBar({
    toggle: () => attempt(session.running ? session.pause : session.train),
    again: () => attempt(session.restart),
    reseed: () => {
      const seed = Math.max(...session.settings.map((each) => each.seed)) + 1;
      change(session.settings.map((each) => ({ ...each, seed })));
    },
    setPace: (name) => {
      session.pace = name;
      if (session.running) attempt(session.train);
      schedule();
    },
  });
  const view = makeNetworkView(root);
  const curve = makeCurve();
  const walls = makeWalls(root, session.watch);
  const hand = makeHand(root, { session, say: (words) => speak(words) });
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
    more: () =>
      attempt(async () => {
        stopSeeds();
        stopSeeds = compareSeeds(session.settings, await session.fetched(), changes.tell);
      }),
  });
  const {
    say: speak,
    rest,
    stop: stopSaying,
  } = layOut(root, {
    stage: element(
      "div",
      { class: "scene" },
      bar.node,
      view.node,
      element("div", { class: "middle" }, ...walls.figures, element("div", { class: "aside" }, curve.node, hand.node)),
    ),
    hands: [keeping],
    more: [changes.node],
    about: "What can be changed",
  });

  function draw() {
    const shown = session.learners.filter(({ frame }) => frame);
    const state = {
      rights: shown.map((learner) => learner.right()),
      seen: Math.max(0, ...shown.map((learner) => learner.frame.seen)),
      started: shown.length > 0,
    };
    bar.show({ ...session, ...state, seconds: Math.max(0, ...shown.map(({ frame }) => frame.seconds)) });
    walls.show(session);
    curve.show(session.learners.map((learner) => learner.curve));
    const [passage, words] = passageOf(session);
    view.show(passage, words);
    hand.show(shown[0]?.frame);
    Object.assign(root.dataset, { right: state.rights.join(","), seen: state.seen, running: session.running });
    const happens = sentence(session, shown, state);
    if (happens !== said) speak(happens);
    said = happens;
    for (const { order } of shown) order({ do: "seen" });
  }
  const schedule = oncePerFrame(draw);

  const page = tieToPage(model, root, session, { change, attempt });
  const stopWatching = whenThemeChanges(() => {
    for (const part of [view, walls, hand]) part.refresh();
  });
  changes.show(session.settings);
  page.first();
  rest.open = session.settings.length === 2;
  draw();
  const ends = [session.stop, () => stopSeeds(), page.stop, stopWatching, stopSaying, schedule.cancel];
  return [...ends, view.stop, curve.stop, hand.stop];
}

function render({ model, el, host }) {
  const root = makeRoot("RaiseOne", "Raise a capsule network: trained from nothing, in this page");
  return mount(el, root, () => build(root, model, host));
}

export default { render };
