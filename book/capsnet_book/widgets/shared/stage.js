// The grammar of all widgets: a stage with one picture, and under it a sentence that says what just happened; what
// the hand does; the rest behind a fold.
import { glide } from "./controls.js";
import { makeNetwork } from "./core.js";
import { makePainter, themeColours, whenThemeChanges } from "./digits.js";
import { followPrompts } from "./prompts.js";
import { element, listen, makeAnnouncer, makeRoot, oncePerFrame, save, write } from "./ui.js";

const MOMENT = 450; // milliseconds that a movement takes

/**
 * A widget whose whole state is its model's. build(widget) makes it and gives draw(), which is called at once, in the
 * frame after any change, and when the page's theme changes. What goes wrong is said in its place, and in `data-error`.
 * @param {(widget: any) => (() => void) | Promise<() => void>} build
 */
export const defineWidget = (name, label, build) => ({
  async render({ model, el, host }) {
    const root = makeRoot(name, label);
    const stops = [followPrompts(name, model, el)]; // called when it is taken down
    el.append(root);
    try {
      // JupyterLab may attach a widget only later, and before that it has no colours to paint with.
      for (let frame = 0; frame < 60 && !root.isConnected; frame++)
        await new Promise(requestAnimationFrame);
      await start(build, { root, model, host, stops });
      root.dataset.ready = "true";
    } catch (error) {
      root.dataset.error = error.message;
      root.replaceChildren(
        element(
          "p",
          { class: "problem", role: "alert" },
          `This widget cannot start: ${error.message}`,
        ),
      );
    }
    return () => {
      for (const stop of stops) stop();
      root.remove();
    };
  },
});

/** Builds a widget, draws it, and lets it follow its model and the page. */
async function start(build, { root, model, host, stops }) {
  let halt = () => {};
  let mine = false; // whether a change of the model comes from the widget
  const widget = {
    ...{ root, model, host, stops },
    get: (/** @type {string} */ trait) => model.get(trait),
    news: "", // said of the last change, until there is another
    set(/** @type {Record<string, any>} */ values, news = "") {
      mine = true;
      save(model, values);
      mine = false;
      widget.news = news;
      widget.redraw();
    },
    painter: makePainter(root),
    colours: themeColours(root),
    redraw: () => {},
    /** One movement at a time: the next one ends it. @param {(t: number) => void} draw */
    animate(draw, duration = MOMENT) {
      halt();
      halt = glide(duration, draw);
    },
    halt: () => halt(),
    /** The weights that a trait refers to; all widgets of the page share them. */
    async weights(/** @type {string} */ trait) {
      if (!host?.getModel) throw new Error("expected anywidget 0.11 or later in this page");
      return (await host.getModel(model.get(trait))).get("weights");
    },
    network: async () => makeNetwork(await widget.weights("network")),
    layOut: (/** @type {any} */ parts) => layOut(root, stops, parts),
  };
  const draw = await build(widget);
  const redraw = oncePerFrame(draw);
  widget.redraw = redraw;
  const changed = () => {
    if (!mine) widget.news = "";
    redraw();
  };
  const themeChanged = () => {
    widget.painter.refresh();
    widget.colours = themeColours(root);
    draw();
  };
  draw();
  stops.push(
    whenThemeChanges(themeChanged),
    redraw.cancel,
    widget.halt,
    listen(model, "change", changed),
  );
}

/**
 * Lays a widget out. say(words, spoken) writes the sentence at once; screen readers hear it (or `spoken`) when things
 * are quiet. rest: the fold.
 * @param {HTMLElement} root @param {(() => void)[]} stops
 * @param {{ stage: Element, hands?: Element[], more?: Element[], about?: string, beside?: boolean }} _
 *   more: behind a fold that says what it is `about`; beside: on wide pages the hands stand beside the stage
 */
function layOut(root, stops, { stage, hands = [], more = [], about = "More", beside = false }) {
  const sentence = element("p", { class: "sentence", "data-role": "sentence" });
  const card = element("div", { class: "stage" }, stage, sentence);
  const layout = element("div", { class: beside ? "layout beside" : "layout" }, card);
  if (hands.length) layout.append(element("div", { class: "hands" }, ...hands));
  const rest = fold(about, ...more);
  if (more.length) layout.append(rest);
  root.append(layout);
  const announce = makeAnnouncer(root);
  stops.push(announce.cancel);
  const say = (/** @type {string} */ words, spoken = words) => {
    write(sentence, words);
    announce(spoken);
  };
  return { say, rest };
}

/** What is there for those who ask. @param {string} about @param {Element[]} inside */
export const fold = (about, ...inside) =>
  element(
    "details",
    { class: "more", "data-role": "more" },
    element("summary", {}, about),
    ...inside,
  );
