// The form of all widgets: a stage with one picture, a sentence under it that says what has just
// happened, the controls, and the rest behind a fold.
import { glide } from "./controls.js";
import { makeNetwork } from "./core.js";
import { makePainter, themeColours, whenThemeChanges } from "./digits.js";
import { followPrompts } from "./prompts.js";
import { followSections } from "./sections.js";
import { t } from "./t.js";
import {
  element,
  inSpareTime,
  listen,
  makeAnnouncer,
  makePass,
  makeRoot,
  memoized,
  oncePerFrame,
  save,
  write,
} from "./ui.js";

const MOVEMENT = 450; // milliseconds
const FRAMES_TO_WAIT = 60; // for a widget that is not in the page yet

/**
 * Defines a widget whose whole state is its model's. build(widget) makes it and returns draw(),
 * which is called at once, in the frame after any change, and when the page's theme changes. What
 * takes longer than a frame stands in draw.rest, functions that follow in order in what frames
 * leave of time: so a hand is followed at once, and the network's answer comes after. An
 * error is shown in the widget's place, and is in its root's `data-error`.
 * @param {string} name  of its class in Python @param {string} label  for screen readers
 * @param {(widget: any) => (() => void) | Promise<() => void>} build
 */
export const defineWidget = (name, label, build) => ({
  async render({ model, el, host }) {
    const root = makeRoot(name, label);
    // Called when the widget is taken down.
    const stops = [followPrompts(name, model, el), followSections(el)];
    el.append(root);
    try {
      await untilConnected(root);
      await start(build, { root, model, host, stops });
      root.dataset.ready = "true";
    } catch (error) {
      root.dataset.error = error.message;
      const words = t`This widget cannot start: ${error.message}`;
      root.replaceChildren(element("p", { class: "problem", role: "alert" }, words));
    }
    return () => {
      for (const stop of stops) stop();
      root.remove();
    };
  },
});

/** JupyterLab may attach a widget only later; before that it has no colours to paint with. */
async function untilConnected(/** @type {HTMLElement} */ root) {
  for (let frame = 0; frame < FRAMES_TO_WAIT && !root.isConnected; frame++)
    await new Promise(requestAnimationFrame);
}

/** Builds a widget, draws it, and lets it follow its model and the page. */
async function start(build, { root, model, host, stops }) {
  let changesItself = false; // whether the model's present change comes from this widget
  const { animate, halt } = makeMovement();
  const widget = {
    root,
    model,
    host,
    stops,
    painter: makePainter(root),
    colours: themeColours(root),
    /** Said of the last change, until the next one. */
    news: "",
    get: (/** @type {string} */ trait) => model.get(trait),
    set(/** @type {Record<string, any>} */ values, news = "") {
      changesItself = true;
      save(model, values);
      changesItself = false;
      widget.news = news;
      widget.redraw();
    },
    redraw: () => {},
    animate,
    halt,
    /** The weights that a trait refers to; all widgets of the page share them. */
    async weights(/** @type {string} */ trait) {
      if (!host?.getModel) throw new Error(t`expected anywidget 0.11 or later in this page`);
      return (await host.getModel(model.get(trait))).get("weights");
    },
    network: async () => makeNetwork(await widget.weights("network")),
    layOut: (/** @type {any} */ parts) => layOut(root, stops, parts),
  };

  const draw = await build(widget);
  const { redraw, drawAll } = scheduleOf(draw);
  widget.redraw = redraw;
  const modelChanged = () => {
    if (!changesItself) widget.news = "";
    redraw();
  };
  const themeChanged = () => {
    widget.painter.refresh();
    widget.colours = themeColours(root);
    drawAll();
  };
  drawAll();
  stops.push(whenThemeChanges(themeChanged), listen(model, "change", modelChanged));
  stops.push(redraw.cancel, halt);
}

/** When a widget is drawn: redraw() soon, drawAll() at once. */
function scheduleOf(draw) {
  if (!draw.rest) return { redraw: oncePerFrame(draw), drawAll: draw };
  const pass = makePass(draw.rest);
  const first = () => {
    draw();
    return true;
  };
  const ask = inSpareTime(first, pass.go, () => {});
  const redraw = Object.assign(
    () => {
      pass.begin();
      ask();
    },
    { cancel: ask.cancel },
  );
  const drawAll = () => [draw, ...draw.rest].forEach((part) => part());
  return { redraw, drawAll };
}

/** One movement at a time: the next one stops it. */
function makeMovement() {
  let halt = () => {};
  return {
    animate(/** @type {(t: number) => void} */ draw, duration = MOVEMENT) {
      halt();
      halt = glide(duration, draw);
    },
    halt: () => halt(),
  };
}

/**
 * Lays a widget out. say(words, spoken) writes the sentence at once; screen readers hear it, or
 * `spoken`, once nothing has changed for a moment. rest: the fold.
 * @param {HTMLElement} root @param {(() => void)[]} stops
 * @param {{ stage: Element, hands?: Element[], more?: Element[], about?: string,
 *   beside?: boolean }} _
 *   hands: the controls; more: what is behind the fold; about: the fold's words; beside: on wide
 *   pages the controls stand beside the stage
 */
function layOut(root, stops, { stage, hands = [], more = [], about = t`More`, beside = false }) {
  const sentence = element("p", { class: "sentence", "data-role": "sentence" });
  const card = element("div", { class: "stage" }, stage, sentence);
  const layout = element("div", { class: beside ? "layout beside" : "layout" }, card);
  if (hands.length) layout.append(element("div", { class: "hands" }, ...hands));
  const rest = fold(about, ...more);
  if (more.length) layout.append(rest);
  root.append(layout);
  const announce = makeAnnouncer(root);
  const announceOnce = memoized(announce);
  stops.push(announce.cancel);
  const say = (/** @type {string} */ words, spoken = words) => {
    write(sentence, words);
    announceOnce([spoken], spoken);
  };
  return { say, rest };
}

/** A fold. @param {string} about  its words @param {Element[]} inside */
export const fold = (about, ...inside) =>
  element(
    "details",
    { class: "more", "data-role": "more" },
    element("summary", {}, about),
    ...inside,
  );
