// Raise one: a capsule network trained from nothing in the page, watched, questioned, taught the reader's own hand.
// What goes on is the session's; its parts show how the networks stand, whatever has changed.
import { makeBar } from "./playground/bar.js";
import { makeCurve } from "./playground/charts.js";
import { makeComparison } from "./playground/comparison.js";
import { makeHand } from "./playground/hand.js";
import { makeKeeping } from "./playground/keeping.js";
import { makeNetworkView } from "./playground/network_view.js";
import { Session } from "./playground/session.js";
import { fromAddress, settingsWith, toAddress } from "./playground/settings.js";
import { makeSettingsTable } from "./playground/settings_table.js";
import { makeHundred } from "./playground/wall.js";
import { inWords } from "./playground/words.js";
import { defineWidget } from "./shared/stage.js";
import { element, listen, makeTurns, memoized, oncePerFrame, save } from "./shared/ui.js";

/** Ties the session to the page: its settings to the model and the address, its running to a tab that is seen. */
function tieToPage({ model, stops }, session, addressed) {
  const end = new AbortController();
  let told = session.settings;
  let waits = false; // until the tab is seen again

  function hidden() {
    if (!document.hidden && waits) session.act(() => session.train());
    waits = document.hidden && session.running;
    if (waits) session.pause();
  }

  function take({ settings, problems }) {
    if (problems || JSON.stringify(settings) !== JSON.stringify(session.settings))
      session.change(settings, problems);
  }

  function addressChanged() {
    const found = fromAddress(location.hash);
    if (found) take(found);
    else if (location.hash.length > 1 && !document.getElementById(location.hash.slice(1)))
      session.set({ notice: "This address names no setting and no place of this page." });
  }

  function show() {
    if (session.settings === told) return;
    told = session.settings;
    if (addressed) history.replaceState(null, "", toAddress(told));
    save(model, { settings: told });
  }

  document.addEventListener("visibilitychange", hidden, { signal: end.signal });
  const set = () => take(settingsWith(...model.get("settings")));
  stops.push(listen(model, "change:settings", set), () => end.abort());
  if (addressed) {
    globalThis.addEventListener("hashchange", addressChanged, { signal: end.signal });
    addressChanged();
  }
  return { show };
}

function build(widget) {
  const { root, model, host } = widget;
  const fetchFile = async () => (await host.getModel(model.get("digits").digits)).get("weights");
  const { settings, problems } = settingsWith(...model.get("settings"));
  const session = new Session(settings, fetchFile, () => widget.redraw());
  session.notice = problems;
  const addressed = model.get("addressed") && root.closest("figure.live-widget") !== null;
  const page = tieToPage(widget, session, addressed);
  const bar = makeBar(session);
  const view = makeNetworkView(widget, session);
  const walls = [0, 1].map((k) => makeHundred(widget, session, k));
  const curve = makeCurve(widget);
  const comparison = makeComparison(widget, session);
  const hand = makeHand(widget, session);
  const changes = makeSettingsTable(session);
  const aside = element("div", { class: "aside" }, curve.node, comparison.node, hand.node);
  const middle = element("div", { class: "middle" }, ...walls.map(({ node }) => node), aside);
  const { say } = widget.layOut({
    stage: element("div", { class: "scene" }, bar.node, view.node, middle),
    hands: [makeKeeping(widget, session)],
    more: [changes.node],
    about: "What can be changed",
  });
  widget.stops.push(() => session.stop());
  const tell = memoized(say);
  let frames = session.frames(); // how the networks stand
  const parts = [...view.parts, curve, ...walls, comparison, hand];
  const turns = makeTurns(parts.map((part) => () => part.show(frames)));
  const goOn = oncePerFrame(() => turns.go() && goOn());
  widget.stops.push(goOn.cancel);

  return function draw() {
    frames = session.frames();
    const two = session.settings.length === 2;
    middle.classList.toggle("two", two);
    walls[1].node.hidden = comparison.node.hidden = !two; // at once, not at their turn
    const right = frames.map((frame) => frame.right).join(",");
    Object.assign(root.dataset, {
      right,
      seen: Math.max(...frames.map(({ seen }) => seen)),
      running: session.running,
    });
    const happens = inWords(session);
    tell([happens], happens);
    for (const part of [page, bar, changes]) part.show(frames);
    turns.begin();
    goOn();
  };
}

export default defineWidget(
  "RaiseOne",
  "Raise a capsule network: trained from nothing, in this page",
  build,
);
