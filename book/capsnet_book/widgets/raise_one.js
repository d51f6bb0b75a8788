// Raise one: a capsule network trained from nothing in the page, watched, questioned, taught the
// reader's own hand. What goes on is the session's; the parts of the page show how the networks
// stand, whatever has changed.
import { makeArtists } from "./playground/artists.js";
import { makeBar } from "./playground/bar.js";
import { makeCurve } from "./playground/charts.js";
import { makeComparison } from "./playground/comparison.js";
import { makeExperiments } from "./playground/experiments.js";
import { makeHand } from "./playground/hand.js";
import { makeJump } from "./playground/jumps.js";
import { makeKeeping } from "./playground/keeping.js";
import { makeNetworkView } from "./playground/network_view.js";
import { Session } from "./playground/session.js";
import { makeSetSwitch } from "./playground/set_switch.js";
import { fromAddress, settingsWith, toAddress, toPython } from "./playground/settings.js";
import { makeSettingsTable } from "./playground/settings_table.js";
import { makeShare } from "./playground/share.js";
import { makeTimeline, makeWayBack } from "./playground/timeline.js";
import { makeHundred } from "./playground/wall.js";
import { inWords } from "./playground/words.js";
import { restWhileHidden } from "./shared/rest.js";
import { defineWidget } from "./shared/stage.js";
import { t } from "./shared/t.js";
import { element, listen, makeTurns, memoized, oncePerFrame, save } from "./shared/ui.js";

const NO_ADDRESS = t`This address names no setting and no place of this page.`;

/**
 * Tie a session's settings to the model and, if `addressed`, to the page's address.
 * @param {any} widget @param {any} session @param {boolean} addressed
 */
function tieSettings({ model, stops }, session, addressed) {
  let settings = session.settings; // those that model and address have

  function take({ settings: others, problems }) {
    const isChange = JSON.stringify(others) !== JSON.stringify(session.settings);
    if (problems || isChange) session.change(others, problems);
  }

  function addressChanged() {
    const named = fromAddress(location.hash);
    const isPlace = document.getElementById(location.hash.slice(1)) !== null;
    if (named) take(named);
    else if (location.hash.length > 1 && !isPlace) session.set({ notice: NO_ADDRESS });
  }

  function show() {
    if (session.settings === settings) return;
    settings = session.settings;
    if (addressed)
      history.replaceState(
        null,
        "",
        toAddress(settings, { ...session.own, hand: session.isTouched() }),
      );
    save(model, { settings });
  }

  const modelChanged = () => take(settingsWith(...model.get("settings")));
  stops.push(listen(model, "change:settings", modelChanged));
  if (addressed) {
    globalThis.addEventListener("hashchange", addressChanged);
    stops.push(() => globalThis.removeEventListener("hashchange", addressChanged));
    addressChanged();
  }

  /** Return what repeats the training: this page's address, or what a notebook says. */
  function repeats() {
    const hand = session.isTouched();
    if (!addressed) return toPython(session.settings, hand);
    const hash = toAddress(session.settings, { always: ["seed"], ...session.own, hand });
    return location.href.split("#")[0] + hash;
  }

  return { show, repeats };
}

/** Make a session with the settings that the model has. */
function makeSession(widget) {
  const { model, host } = widget;
  const fetchFile = async (data) => (await host.getModel(model.get("digits")[data])).get("weights");
  const { settings, problems } = settingsWith(...model.get("settings"));
  const session = new Session(settings, fetchFile, () => widget.redraw());
  session.notice = problems;
  session.getHundred().catch(() => {}); // where nothing can be unpacked, fog stands there
  const rest = restWhileHidden({
    isRunning: () => session.running,
    pause: () => session.pause(),
    goOn: () => session.act(() => session.train()),
  });
  widget.stops.push(() => session.stop(), rest);
  return session;
}

/** Lay the parts out. On wide pages the stylesheet gives each its place, on a phone its order. */
function makeScene(parts) {
  const { bar, experiments, walls, timeline, wayBack, view, curve, comparison, hand } = parts;
  const wallNodes = walls.map(({ node }) => node);
  const time = [timeline.node, wayBack.node];
  const wallsAndTime = element("div", { class: "walls" }, ...wallNodes, ...time);
  return element(
    "div",
    { class: "scene" },
    bar.node,
    experiments.node,
    wallsAndTime,
    view.node,
    view.glance,
    curve.node,
    comparison.node,
    hand.node,
  );
}

/** Make the ways that a phone needs, where wall and pad are not on one screen. */
const makeJumps = (wall, hand) => [
  makeJump("to-wall", t`Wall`, t`To the wall`, wall.node, wall.target),
  makeJump("to-pad", t`✎ Draw`, t`To the pad: teach it your hand`, hand.node, hand.target),
];

function build(widget) {
  const { root, model } = widget;
  const session = makeSession(widget);
  const addressed = model.get("addressed") && root.closest("figure.live-widget") !== null;
  const settings = tieSettings(widget, session, addressed);
  const share = makeShare(widget, session, settings.repeats);
  const view = makeNetworkView(widget, session);
  const walls = [makeHundred(widget, session, 0), makeHundred(widget, session, 1)];
  const timeline = makeTimeline(session);
  const wayBack = makeWayBack(session);
  const curve = makeCurve(widget, session);
  const comparison = makeComparison(widget, session);
  const hand = makeHand(widget, session);
  const bar = makeBar(session, share.button, [...makeJumps(walls[0], hand), wayBack.small]);
  const table = makeSettingsTable(session);
  const sets = makeSetSwitch(session);
  const experiments = makeExperiments(session, sets.node);
  const artists = makeArtists(session);
  const network = { view, curve, comparison, hand };
  const scene = makeScene({ bar, experiments, walls, timeline, wayBack, ...network });
  const { say } = widget.layOut({
    stage: scene,
    hands: [hand.more, artists.node, table.node, makeKeeping(widget, session)],
  });
  root.append(share.dialog);
  const sayOnce = memoized(say);

  // Those that paint take turns, so that no frame of the page is held up.
  const parts = [...view.parts, curve, ...walls, comparison, hand];
  let frames = session.frames();
  const turns = makeTurns(parts.map((part) => () => part.show(frames)));
  const goOn = oncePerFrame(() => turns.go() && goOn());
  widget.stops.push(goOn.cancel);

  return function draw() {
    frames = session.frames();
    const isTwo = session.settings.length === 2;
    scene.parentElement.classList.toggle("two", isTwo);
    scene.parentElement.classList.toggle("named", session.settings[0].data !== "digits");
    walls[1].node.hidden = !isTwo; // at once, not at their turn
    comparison.node.hidden = !isTwo;
    Object.assign(root.dataset, {
      right: frames.map((frame) => frame.right).join(","),
      seen: Math.max(...frames.map((frame) => frame.seen)),
      running: session.running,
    });
    const words = inWords(session);
    sayOnce([words], words);
    const quick = [settings, bar, share, sets, experiments, timeline, wayBack, table, artists];
    for (const part of quick) part.show(frames);
    turns.begin();
    goOn();
  };
}

export default defineWidget(
  "RaiseOne",
  t`Raise a capsule network: trained from nothing, in this page`,
  build,
);
