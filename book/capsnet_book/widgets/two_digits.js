// Two digits to lay over each other. The network reads the overlay, draws each digit on its own, and draws what it is
// asked for.
import { arrowKeys, drag } from "./shared/controls.js";
import { defineWidget } from "./shared/stage.js";
import { clamp, digitAt, element, format, greysOf, mix, pushButton, setAttributes, withArticle } from "./shared/ui.js";
import { distanceTo, inkBox, inWords, layerOf, look, NOBODY, overlay, REACH, WIDE } from "./two_digits_model.js";

const BOTH = [0, 1];

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

/** The overlay, and round each digit a box that keyboards move. at(), layers(): where both lie, and their ink. */
function makeStage({ at, layers, move }) {
  let chosen = 0; // which of the two the next drag moves
  const pad = picture("overlay");
  const boxes = BOTH.map((which) => {
    const slider = { tabindex: 0, role: "slider", "aria-valuemin": -REACH, "aria-valuemax": REACH };
    return element("div", {
      class: `box digit-${which}`,
      "data-digit": which,
      onfocus: () => choose(which),
      ...slider,
    });
  });
  const stage = element("div", { class: "stage-36", "data-role": "stage" }, pad, ...boxes);

  function choose(which) {
    chosen = which;
    boxes.forEach((box, k) => box.classList.toggle("is-chosen", k === which));
  }
  choose(0);

  const moveTo = (which, place) =>
    move(
      which,
      place.map((x) => clamp(Math.round(x), -REACH, REACH)),
    ); // prettier-ignore

  /** Whose ink is nearer to a place; of two equally near, the one that was moved last. */
  function under(x, y) {
    const [one, other] = layers().map((layer) => distanceTo(layer, x, y));
    return one === other ? chosen : Number(other < one);
  }

  let grip; // where the hand holds the digit
  drag(stage, {
    area: pad,
    start: ({ x, y }) => {
      choose(under(x * WIDE, y * WIDE));
      boxes[chosen].focus({ preventScroll: true });
      grip = [at()[chosen][0] - x * WIDE, at()[chosen][1] - y * WIDE];
    },
    move: ({ x, y }) => moveTo(chosen, [grip[0] + x * WIDE, grip[1] + y * WIDE]),
  });
  boxes.forEach((box, which) => {
    const nudge = (dx, dy) => moveTo(which, [at()[which][0] + dx, at()[which][1] + dy]);
    arrowKeys(box, nudge, { Home: () => moveTo(which, [0, 0]) });
  });

  /** Lays each box round its digit's ink. */
  function show(truth) {
    layers().forEach((layer, which) => {
      for (const [edge, pixels] of Object.entries(inkBox(layer)))
        boxes[which].style[edge] = `${(100 * pixels) / WIDE}%`;
      const [x, y] = at()[which];
      setAttributes(boxes[which], {
        "aria-label": `The ${truth[which]}. Arrow keys move it.`,
        "aria-valuenow": x,
        "aria-valuetext": `${x} to the right of the middle, ${y} below it`,
      });
    });
  }
  return { stage, pad, show };
}

/** The overlay's figure and those of what the network draws of it. */
function makePictures(pad, stage) {
  const [both, rest, absent] = ["both", "remains", "absent"].map(picture);
  const alone = BOTH.map((which) => picture(`alone-${which}`));
  const captions = new Map([pad, both, ...alone, rest, absent].map((canvas) => [canvas, element("figcaption")]));
  const figure = (canvas, kind = "", shown = canvas) => element("figure", { class: kind }, shown, captions.get(canvas));
  const large = element("div", { class: "large" }, figure(pad, "", stage), figure(both));
  const four = [...BOTH.map((which) => figure(alone[which], `digit-${which}`)), figure(rest), figure(absent, "asked")];
  const node = element("div", { class: "drawn" }, large, element("div", { class: "small" }, ...four));

  function name(canvas, caption, label) {
    captions.get(canvas).textContent = caption;
    canvas.setAttribute("aria-label", label);
  }

  /** image: the overlay; truth: its labels; seen: what the network finds and draws. */
  function show(image, truth, seen, { paper, stroke, accent, contrast }) {
    const { classes, third } = seen;
    const inked = (pixels, ink) => (k) => mix(paper, ink, pixels[k]);
    const tinted = BOTH.map((which) => inked(seen.drawings[which], [accent, contrast][which]));
    paintWide(pad, inked(image, stroke));
    paintWide(both, (k) => blend(paper, [tinted[0](k), tinted[1](k)]));
    alone.forEach((canvas, which) => paintWide(canvas, tinted[which]));
    paintWide(rest, inked(seen.remains, stroke));
    paintWide(absent, inked(seen.absent, stroke));

    const overlaid = `The overlay of ${withArticle(truth[0])} and ${withArticle(truth[1])}`;
    const drawn = `The drawings of capsules ${classes[0]} and ${classes[1]} in two colours`;
    name(pad, `the network sees: ${truth[0]} and ${truth[1]}`, overlaid);
    name(both, `it draws: ${classes[0]} and ${classes[1]}`, drawn);
    classes.forEach((j, which) => name(alone[which], `the ${j} alone`, `The drawing of capsule ${j}`));
    name(rest, "what remains", "The picture less both drawings");
    name(absent, `asked: ${third}`, `The drawing of capsule ${third}, asked for`);
  }
  return { node, show };
}

/** The length of one class's capsule; a press asks for its drawing. */
function makeLength(j, onclick) {
  const [fill, value] = ["fill", "value"].map((kind) => element("span", { class: kind }));
  const about = { type: "button", class: "class-length", "data-class": j, onclick };
  const button = element("button", about, element("span", { class: "rail" }, fill), element("b", {}, String(j)), value);

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

const LABEL = "Lay two digits over each other; the network draws each on its own";

export default defineWidget("TwoDigits", LABEL, async (widget) => {
  const { root, get, set, layOut } = widget;
  const network = await widget.network();
  const images = greysOf(get("images")); // [N, 784]
  const labels = get("labels");
  const digits = () => [get("first"), get("second")];
  const at = () => [get("at").slice(0, 2), get("at").slice(2)];
  const layers = () => digits().map((n, which) => layerOf(digitAt(images, n), at()[which][0], at()[which][1]));
  const move = (which, place) => set({ at: at().with(which, place).flat() });
  const { stage, pad, show: frame } = makeStage({ at, layers, move });
  const pictures = makePictures(pad, stage);
  const ask = (j) => set({ asked: get("asked") === j ? NOBODY : j });
  const lengths = Array.from({ length: network.J }, (_, j) => makeLength(j, () => ask(j)));
  const cases = get("cases").map(({ name, ...pair }) =>
    pushButton("case", name, () => set({ ...pair, asked: NOBODY }), { "data-case": name }),
  );
  const ten = { class: "bars", role: "group", "aria-label": "Ask for a digit" };
  const lead = element("p", { class: "lead" }, "The ten lengths. Press one to ask for that digit's drawing.");
  root.classList.add("two");
  const { say } = layOut({
    stage: pictures.node,
    hands: [
      element("div", { class: "bar presets" }, ...cases),
      element("div", {}, lead, element("div", ten, ...lengths.map(({ button }) => button))),
    ],
  });

  return () => {
    const [one, other] = layers();
    const truth = digits().map((n) => labels[n]);
    const image = overlay(one, other);
    const seen = look(network, image, truth, get("asked"));
    pictures.show(image, truth, seen, widget.colours);
    frame(truth);
    lengths.forEach(({ show }, j) => show(seen.lengths[j], truth, seen.classes, seen.third));
    root.dataset.lengths = Array.from(seen.lengths, (x) => x.toFixed(4)).join(",");
    say(inWords(truth, seen));
  };
});
