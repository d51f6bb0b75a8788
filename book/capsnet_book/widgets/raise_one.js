// Raise one: a capsule network trained from nothing in the page, watched, questioned, taught the reader's own hand.
// What goes on is the session's; its parts show how the networks stand, whatever has changed.
import { makeCurve } from "./playground/charts.js";
import { makeComparison } from "./playground/comparison.js";
import { makeHand } from "./playground/hand.js";
import { makeNetworkView } from "./playground/network_view.js";
import { makeBar, makeChanges, makeKeeping } from "./playground/panel.js";
import { Session } from "./playground/session.js";
import { fromAddress, settingsWith, toAddress } from "./playground/settings.js";
import { WALL } from "./playground/sizes.js";
import { makeWall } from "./playground/wall.js";
import { inWords, nameOf, rightOf } from "./playground/words.js";
import { defineWidget } from "./shared/stage.js";
import { element, listen, onNews, pushButton, save } from "./shared/ui.js";

/** The wall of the k-th network. */
function makeWallOf(widget, session, k) {
  const label = "A hundred digits that it never learns from, as it draws them at this moment.";
  const chosen = (n) => session.act(() => session.watch(k, n));
  const { figure, show } = makeWall(widget, "wall-frame", label, chosen);
  return {
    node: figure,
    show(/** @type {any[]} */ frames) {
      const { settings, watched } = session;
      figure.hidden = k >= settings.length;
      if (figure.hidden) return;
      const name = settings.length === 2 ? `${nameOf(settings, k)}. ` : "";
      const how = settings[k].drawing > 0 ? "as it draws them at this moment" : "as they are: it learns no drawing";
      const words = `${name}A hundred digits that it never learns from, ${how}. Orange: taken for another. Choose one.`;
      const { pictures, wrong } = frames[k];
      show(pictures, wrong.slice(0, WALL), words, watched.network === k ? watched.tile : -1);
    },
  };
}

/** Ties the session to the page: its settings to the model and the address, its running to a tab that is seen. */
function tieToPage({ model, root }, session) {
  const end = new AbortController();
  const addressed = () => model.get("addressed") && root.closest("figure.live-widget") !== null;
  let told = JSON.stringify(session.settings);
  let waits = false; // until the tab is seen again

  function hidden() {
    if (!document.hidden && waits) session.act(() => session.train());
    waits = document.hidden && session.running;
    if (waits) session.pause();
  }

  function addressChanged() {
    const found = addressed() && fromAddress(location.hash);
    if (found) session.change(found.settings, found.problems.join(" "));
    else if (found === undefined && location.hash.length > 1 && !document.getElementById(location.hash.slice(1)))
      session.set({ notice: "This address names no setting and no place of this page." });
  }

  function settingsCame() {
    const came = model.get("settings").map(settingsWith);
    if (JSON.stringify(came) !== told) session.change(came);
  }

  function show() {
    const { settings } = session;
    if (JSON.stringify(settings) === told) return;
    told = JSON.stringify(settings);
    if (addressed()) history.replaceState(null, "", toAddress(settings));
    save(model, { settings });
  }

  document.addEventListener("visibilitychange", hidden, { signal: end.signal });
  globalThis.addEventListener("hashchange", addressChanged, { signal: end.signal });
  end.signal.addEventListener("abort", listen(model, { settings: settingsCame }));
  addressChanged();

  async function share() {
    await navigator.clipboard.writeText(location.href);
    session.notice = "Copied: the address of this page, which holds the settings.";
  }
  const buttons = addressed() ? [pushButton("share", "Copy a link to it", () => session.act(share))] : [];
  return { buttons, show, stop: () => end.abort() };
}

function build(widget) {
  const { root, model, host } = widget;
  const fetchFile = async () => (await host.getModel(model.get("digits").digits)).get("weights");
  const session = new Session(model.get("settings").map(settingsWith), fetchFile, () => widget.redraw());
  const page = tieToPage(widget, session);
  const [bar, view, curve, changes] = [
    makeBar(session),
    makeNetworkView(widget, session),
    makeCurve(),
    makeChanges(session, page.buttons),
  ];
  const walls = [0, 1].map((k) => makeWallOf(widget, session, k));
  const comparison = makeComparison(session, model.get("records"));
  const hand = makeHand(widget, session, (words) => say(words));
  const aside = element("div", { class: "aside" }, curve.node, comparison.node, hand.node);
  const middle = element("div", { class: "middle" }, ...walls.map(({ node }) => node), aside);
  const { say } = widget.layOut({
    stage: element("div", { class: "scene" }, bar.node, view.node, middle),
    hands: [makeKeeping(widget, session)],
    more: [changes.node],
    about: "What can be changed",
  });
  widget.stops.push(...[session, page, view, curve, comparison, hand].map((part) => () => part.stop()));
  const tell = onNews(say);
  const parts = [page, bar, view, ...walls, curve, comparison, hand, changes];

  return function draw() {
    const frames = session.frames();
    middle.classList.toggle("two", session.settings.length === 2);
    for (const { show } of parts) show(frames);
    const right = session.trainees.length ? frames.map(rightOf).join(",") : "";
    Object.assign(root.dataset, { right, seen: Math.max(...frames.map(({ seen }) => seen)), running: session.running });
    const happens = inWords(session);
    tell([happens], happens);
  };
}

export default defineWidget("RaiseOne", "Raise a capsule network: trained from nothing, in this page", build);
