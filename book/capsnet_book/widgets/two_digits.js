// Two digits to lay over each other. The network reads the overlay, draws each digit on its own, and draws what it is
// asked for.
import { arrowKeys, drag } from "./shared/controls.js";
import { makeNetwork } from "./shared/core.js";
import { withPrompts } from "./shared/prompts.js";
import { layOut } from "./shared/stage.js";
import {
  clamp,
  digitAt,
  element,
  format,
  greysOf,
  listen,
  makeRoot,
  mix,
  mount,
  oncePerFrame,
  setAttributes,
  sharedWeights,
  themeColours,
  whenThemeChanges,
  withArticle,
} from "./shared/ui.js";
import { distanceTo, inkBox, inWords, layerOf, look, NOBODY, overlay, REACH, WIDE } from "./two_digits_model.js";

const NAMES = ["First", "Second"];

const labelsOf = (J) => Array.from({ length: J }, (_, j) => j);
const replaced = (pair, which, by) => pair.map((value, k) => (k === which ? by : value));
const picture = (role) =>
  element("canvas", { width: WIDE, height: WIDE, class: "wide", role: "img", "data-role": role, "aria-label": "" });

/** Each pixel k in the colour [r, g, b] that `colour(k)` says. */
function paintWide(canvas, colour) {
  const image = new ImageData(WIDE, WIDE);
  for (let k = 0; k < WIDE * WIDE; k++) image.data.set([...colour(k), 255], 4 * k);
  canvas.getContext("2d").putImageData(image, 0, 0);
}

/** Two tints of one paper laid over each other: on white they darken, on black they brighten. */
function blend(paper, [one, other]) {
  const dark = paper[0] + paper[1] + paper[2] < 384;
  const brightened = (x, k) => 255 - ((255 - x) * (255 - other[k])) / (255 - paper[k]);
  return one.map((x, k) => (dark ? brightened(x, k) : (x * other[k]) / paper[k]));
}

// --------------------------------------------------------------------------------------------------- the stage

/**
 * The overlay, and round each digit a box that keyboards move.
 * @param {{ at(): number[][], layers(): Float32Array[], move(which: number, place: number[]): void, done(): void }} _
 *   at: where both digits lie; layers: their ink
 */
function makeStage({ at, layers, move, done }) {
  let chosen = 0; // which of the two the next drag moves
  const pad = picture("overlay");
  const boxes = NAMES.map((_, which) =>
    element("div", {
      class: `box digit-${which}`,
      tabindex: 0,
      role: "slider",
      "data-digit": which,
      "aria-valuemin": -REACH,
      "aria-valuemax": REACH,
      onfocus: () => choose(which),
    }),
  );
  const stage = element("div", { class: "stage-36", "data-role": "stage" }, pad, ...boxes);

  function choose(which) {
    chosen = which;
    boxes.forEach((box, k) => box.classList.toggle("is-chosen", k === which));
  }

  function moveTo(which, place) {
    move(
      which,
      place.map((x) => clamp(Math.round(x), -REACH, REACH)),
    );
  }

  /** Whose ink is nearer to a place; of two equally near, the one that was moved last. */
  function under(x, y) {
    const [one, other] = layers().map((layer) => distanceTo(layer, x, y));
    return one === other ? chosen : Number(other < one);
  }

  let grip; // where the hand holds the digit
  drag(stage, {
    area: pad,
    start: ({ x, y }) => {
      const which = under(x * WIDE, y * WIDE);
      boxes[which].focus({ preventScroll: true });
      choose(which);
      grip = [at()[which][0] - x * WIDE, at()[which][1] - y * WIDE];
    },
    move: ({ x, y }) => moveTo(chosen, [grip[0] + x * WIDE, grip[1] + y * WIDE]),
    end: done,
  });
  boxes.forEach((box, which) => {
    const nudge = (dx, dy) => {
      moveTo(which, [at()[which][0] + dx, at()[which][1] + dy]);
      done();
    };
    const centre = () => {
      moveTo(which, [0, 0]);
      done();
    };
    arrowKeys(box, nudge, { Home: centre });
  });

  return { stage, pad, boxes, choose };
}

const sideways = (n, more, less) => (n === 0 ? "" : `${Math.abs(n)} ${n > 0 ? more : less}`);

/** Lays a box round the digit's ink. @param {HTMLElement} box @param {Float32Array} layer @param {number[]} at */
function frame(box, layer, label, at) {
  const [x, y] = at;
  for (const [edge, pixels] of Object.entries(inkBox(layer))) box.style[edge] = `${(100 * pixels) / WIDE}%`;
  const where = [sideways(x, "right", "left"), sideways(y, "down", "up")].filter(Boolean).join(", ") || "in the middle";
  setAttributes(box, {
    "aria-label": `The ${label}. Arrow keys move it.`,
    "aria-valuenow": x,
    "aria-valuetext": where,
  });
}

// ------------------------------------------------------------------------------------------------- the pictures

/** The overlay's figure and those of what the network draws of it. */
function makePictures(pad, stage) {
  const both = picture("both");
  const alone = NAMES.map((_, which) => picture(`alone-${which}`));
  const rest = picture("remains");
  const absent = picture("absent");
  const captions = new Map([pad, both, ...alone, rest, absent].map((canvas) => [canvas, element("figcaption")]));
  const figure = (canvas, kind = "") => element("figure", { class: kind }, canvas, captions.get(canvas));
  const large = element("div", { class: "large" }, element("figure", {}, stage, captions.get(pad)), figure(both));
  const small = element(
    "div",
    { class: "small" },
    figure(alone[0], "digit-0"),
    figure(alone[1], "digit-1"),
    figure(rest),
    figure(absent, "asked"),
  );

  function name(canvas, caption, label) {
    captions.get(canvas).textContent = caption;
    setAttributes(canvas, { "aria-label": label });
  }

  /** image: the overlay; truth: its labels; seen: what the network finds and draws. */
  function show(
    image,
    truth,
    { classes, third, drawings, remains, absent: asked },
    { paper, stroke, accent, contrast },
  ) {
    const tints = [accent, contrast];
    const grey = (pixels) => (k) => mix(paper, stroke, pixels[k]);
    const tinted = (which) => (k) => mix(paper, tints[which], drawings[which][k]);
    const [one, other] = [tinted(0), tinted(1)];
    paintWide(pad, grey(image));
    paintWide(both, (k) => blend(paper, [one(k), other(k)]));
    alone.forEach((canvas, which) => paintWide(canvas, tinted(which)));
    paintWide(rest, grey(remains));
    paintWide(absent, grey(asked));

    const overlaid = `The overlay of ${withArticle(truth[0])} and ${withArticle(truth[1])}`;
    const drawn = `The drawings of capsules ${classes[0]} and ${classes[1]} in two colours`;
    name(pad, `the network sees: ${truth[0]} and ${truth[1]}`, overlaid);
    name(both, `it draws: ${classes[0]} and ${classes[1]}`, drawn);
    classes.forEach((j, which) => name(alone[which], `the ${j} alone`, `The drawing of capsule ${j}`));
    name(rest, "what remains", "The picture less both drawings");
    name(absent, `asked: ${third}`, `The drawing of capsule ${third}, asked for`);
  }

  return { nodes: [large, small], show };
}

// ------------------------------------------------------------------------------------------------- the controls

/** The length of one class's capsule; a press asks for its drawing. */
function makeLength(j, onclick) {
  const fill = element("span", { class: "fill" });
  const value = element("span", { class: "value" });
  const button = element(
    "button",
    { type: "button", class: "class-length", "data-class": j, onclick },
    element("span", { class: "rail" }, fill),
    element("b", {}, String(j)),
    value,
  );

  function show(length, truth, classes, third) {
    const present = truth.includes(j);
    fill.style.height = `${100 * length}%`;
    value.textContent = format(length);
    classes.forEach((each, which) => button.classList.toggle(`digit-${which}`, each === j));
    button.classList.toggle("present", present);
    const label = `${j}, ${format(length)} long${present ? ", in the picture" : ""}`;
    setAttributes(button, { "aria-pressed": j === third, "aria-label": label });
  }

  return { button, show };
}

// --------------------------------------------------------------------------------------------------- the widget

/**
 * What the model holds: two digits, where each lies, and which class is asked for.
 * @returns {{ digits: number[], at: number[][], asked: number }}
 */
function stateOf(model) {
  const [x0, y0, x1, y1] = model.get("at");
  const digits = [model.get("first"), model.get("second")];
  return {
    digits,
    at: [
      [x0, y0],
      [x1, y1],
    ],
    asked: model.get("asked"),
  };
}

async function build(root, model, host) {
  const network = makeNetwork(await sharedWeights(model, host));
  const digits = greysOf(model.get("images")); // [N, 784]
  const labels = model.get("labels");
  const classes = labelsOf(network.J);
  let state = stateOf(model);
  let colours;
  let telling = false; // the model of a change that was made here

  const layers = () =>
    state.digits.map((n, which) => layerOf(digitAt(digits, n), state.at[which][0], state.at[which][1]));
  const { stage, pad, boxes, choose } = makeStage({
    at: () => state.at,
    layers,
    move: (which, place) => change({ at: replaced(state.at, which, place) }),
    done: () => model.save_changes(),
  });
  const pictures = makePictures(pad, stage);
  const lengths = classes.map((j) => makeLength(j, () => ask(j)));
  const cases = model
    .get("cases")
    .map((each) => element("button", { type: "button", "data-case": each.name, onclick: () => show(each) }, each.name));
  const lead = (words) => element("p", { class: "lead" }, words);
  const part = (...inside) => element("div", {}, ...inside);
  const ten = { class: "bars", role: "group", "aria-label": "Ask for a digit" };
  root.classList.add("two");
  const { say, stop: stopSaying } = layOut(root, {
    stage: element("div", { class: "drawn" }, ...pictures.nodes),
    hands: [
      element("div", { class: "bar cases" }, ...cases),
      part(
        lead("The ten lengths. Press one to ask for that digit's drawing."),
        element("div", ten, ...lengths.map(({ button }) => button)),
      ),
    ],
  });

  function change(changes) {
    state = { ...state, ...changes };
    const {
      digits: [first, second],
      at,
      asked,
    } = state;
    telling = true;
    for (const [trait, value] of Object.entries({ first, second, at: at.flat(), asked })) model.set(trait, value);
    telling = false;
    schedule();
  }

  function ask(j) {
    change({ asked: state.asked === j ? NOBODY : j });
    model.save_changes();
  }

  function show({ first, second, at, asked = NOBODY }) {
    change({ digits: [first, second], at: [at.slice(0, 2), at.slice(2)], asked });
    model.save_changes();
  }

  function draw() {
    const two = layers();
    const truth = state.digits.map((n) => labels[n]);
    const image = overlay(two[0], two[1]);
    const seen = look(network, image, truth, state.asked);
    pictures.show(image, truth, seen, colours);
    two.forEach((layer, which) => frame(boxes[which], layer, truth[which], state.at[which]));
    lengths.forEach((each, j) => each.show(seen.lengths[j], truth, seen.classes, seen.third));
    setAttributes(root, {
      "data-labels": truth.join(","),
      "data-classes": seen.classes.join(","),
      "data-third": seen.third,
      "data-right": seen.classes.every((j) => truth.includes(j)),
      "data-at": state.at.flat().join(","),
      "data-lengths": Array.from(seen.lengths, (x) => x.toFixed(4)).join(","),
    });
    say(inWords(truth, seen));
  }
  const schedule = oncePerFrame(draw);

  const follow = () => {
    if (telling) return; // not all of it is told yet
    state = stateOf(model);
    schedule();
  };
  const stopListening = listen(model, { first: follow, second: follow, at: follow, asked: follow });
  const refresh = () => {
    colours = themeColours(root);
    draw();
  };
  const stopWatching = whenThemeChanges(refresh);
  choose(0);
  refresh();
  return [stopListening, stopWatching, schedule.cancel, stopSaying];
}

function render({ model, el, host }) {
  const root = makeRoot("TwoDigits", "Lay two digits over each other; the network draws each on its own");
  return mount(el, root, () => build(root, model, host));
}

export default { render: withPrompts(render) };
