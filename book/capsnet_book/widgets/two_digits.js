// Two digits to lay over each other. The network reads the overlay, draws each digit on its own, and draws what it is
// asked for.
import { makeBar } from "./shared/bars.js";
import { carry } from "./shared/controls.js";
import { digitAt, digitFigure, greysOf, paintNumbers, SIDE, shadesOf } from "./shared/digits.js";
import { defineWidget } from "./shared/stage.js";
import {
  clamp,
  element,
  format,
  pushButton,
  rowOf,
  setAttributes,
  withArticle,
} from "./shared/ui.js";

const BOTH = [0, 1];
const WIDE = 36; // pixels along a side of the picture
const REACH = (WIDE - SIDE) / 2; // how far a digit can be moved from the middle and still lie in it
const BOX = 22; // pixels along a side of the box round a digit: MNIST fits its ink into 20
const NOBODY = -1; // asked for: the longest capsule but two

// ------------------------------------------------------------------------------------------ what is laid and seen

/** A digit on the larger picture, x to the right from the middle and y down, [1296]. @param {Float32Array} digit */
export function layerOf(digit, x, y) {
  const layer = new Float32Array(WIDE * WIDE);
  for (let row = 0; row < SIDE; row++)
    layer.set(digit.subarray(row * SIDE, (row + 1) * SIDE), (row + REACH + y) * WIDE + REACH + x);
  return layer;
}

/** The ink of both, added and clipped. @param {Float32Array} one @param {Float32Array} other */
export const overlay = (one, other) => one.map((grey, k) => Math.min(1, grey + other[k]));

/**
 * Everything that the widget shows of a picture [1296]. classes: the two longest, each in the place of the digit that
 * it is, if it is one of them; remains: ink of the picture that lies in neither drawing.
 * @param {any} network @param {Float32Array} image @param {number[]} labels  of the two digits
 */
export function look(network, image, [one, other], asked = NOBODY) {
  const { capsules, lengths } = network.forward(image);
  const order = [...lengths.keys()].sort((a, b) => lengths[b] - lengths[a]);
  const [longest, second] = order;
  const swapped = one !== other && (longest === other || second === one);
  const classes = swapped ? [second, longest] : [longest, second];
  const third = asked === NOBODY ? order[2] : asked;
  const [first, last, absent] = [...classes, third].map((j) =>
    network.decode(network.mask(capsules, j)),
  );
  const remains = image.map((grey, k) => Math.max(0, grey - first[k] - last[k]));
  return { lengths, classes, third, drawings: [first, last], absent, remains };
}

/** What there is to see. @param {number[]} truth  the labels of both digits @param {ReturnType<typeof look>} seen */
export function inWords(truth, { lengths, classes, third }) {
  const longest = classes.map((j) => `${j} (${format(lengths[j])})`).join(" and ");
  if (truth[0] === truth[1]) {
    return `Two of the same class. One capsule for a ${truth[0]} cannot say "twice"; the two longest are ${longest}.`;
  }
  const missed = truth.filter((label) => !classes.includes(label));
  const [invented] = classes.filter((j) => !truth.includes(j));
  if (missed.length === 2) return `Both wrong: the longest are ${longest}, and neither is there.`;
  if (missed.length === 1) {
    const seen = `it sees ${withArticle(invented)} (${format(lengths[invented])})`;
    return `One right, one wrong: ${seen} where ${withArticle(missed[0])} is (${format(lengths[missed[0]])}).`;
  }
  if (truth.includes(third))
    return `Both right, ${longest}. You asked for the ${third}, which is there.`;
  return `Both right, ${longest}. The ${third} is not there; its capsule is ${format(lengths[third])} long.`;
}

// ------------------------------------------------------------------------------------------------- the pictures

const picture = (role, kind = "") => digitFigure(role, kind, WIDE);

/** Two tinted drawings laid over each other: on light paper they darken, on dark paper they brighten. */
function layOver(canvas, drawings, paper) {
  const brush = canvas.getContext("2d");
  const dark = paper[0] + paper[1] + paper[2] < 384;
  for (const drawing of drawings) {
    brush.drawImage(drawing, 0, 0);
    brush.globalCompositeOperation = dark ? "lighten" : "multiply";
  }
  brush.globalCompositeOperation = "source-over";
}

/** The overlay, and round each digit a box that keyboards move. at(): where both lie. */
function makeStage({ at, move }) {
  let chosen = 0; // which of the two the next drag moves
  const seen = picture("overlay");
  const boxes = BOTH.map((which) => {
    const limits = { tabindex: 0, role: "slider", "aria-valuemin": -REACH, "aria-valuemax": REACH };
    const about = {
      class: `box digit-${which}`,
      "data-digit": which,
      onfocus: () => choose(which),
    };
    return element("div", { ...about, ...limits });
  });
  const stage = element("div", { class: "stage-36", "data-role": "stage" }, seen.canvas, ...boxes);
  seen.node.prepend(stage);

  function choose(which) {
    chosen = which;
    boxes.forEach((box, k) => box.classList.toggle("is-chosen", k === which));
  }
  choose(0);

  const inside = (x) => clamp(Math.round(x), -REACH, REACH);
  const moveTo = (place) => move(chosen, place.map(inside));

  /** Whose middle is nearer to a place; of two equally near, the one that was moved last. */
  function under(x, y) {
    const [one, other] = at().map(([dx, dy]) => Math.hypot(WIDE / 2 + dx - x, WIDE / 2 + dy - y));
    return one === other ? chosen : Number(other < one);
  }

  carry(stage, {
    area: seen.canvas,
    steps: [1, 3],
    inUnits: ({ x, y }) => [x * WIDE, y * WIDE],
    take: (place) => {
      choose(under(place[0], place[1]));
      boxes[chosen].focus({ preventScroll: true });
    },
    place: () => at()[chosen],
    move: moveTo,
  });

  /** Lays each box round its digit. */
  function show(truth) {
    at().forEach(([x, y], which) => {
      const edges = {
        left: (WIDE - BOX) / 2 + x,
        top: (WIDE - BOX) / 2 + y,
        width: BOX,
        height: BOX,
      };
      for (const [edge, pixels] of Object.entries(edges))
        boxes[which].style[edge] = `${(100 * pixels) / WIDE}%`;
      setAttributes(boxes[which], {
        "aria-label": `The ${truth[which]}. Arrow keys move it.`,
        "aria-valuenow": x,
        "aria-valuetext": `${x} to the right of the middle, ${y} below it`,
      });
    });
  }
  return { seen, show };
}

/** The overlay's figure and those of what the network draws of it. */
function makePictures(seenByIt) {
  const [both, rest, absent] = [picture("both"), picture("remains"), picture("absent", "asked")];
  const alone = BOTH.map((which) => picture(`alone-${which}`, `digit-${which}`));
  const small = [...alone, rest, absent].map(({ node }) => node);
  const large = element("div", { class: "large" }, seenByIt.node, both.node);
  const node = element(
    "div",
    { class: "drawn" },
    large,
    element("div", { class: "small" }, ...small),
  );

  /** image: the overlay; truth: its labels; seen: what the network finds and draws. */
  function show(image, truth, seen, { paper, stroke, accent, contrast }) {
    const { classes, third } = seen;
    const inked = ({ canvas }, pixels, ink) => paintNumbers(canvas, pixels, shadesOf(paper, ink));
    inked(seenByIt, image, stroke);
    alone.forEach((each, which) => inked(each, seen.drawings[which], [accent, contrast][which]));
    const drawings = alone.map(({ canvas }) => canvas);
    layOver(both.canvas, drawings, paper);
    inked(rest, seen.remains, stroke);
    inked(absent, seen.absent, stroke);

    const overlaid = `The overlay of ${withArticle(truth[0])} and ${withArticle(truth[1])}`;
    const drawn = `The drawings of capsules ${classes[0]} and ${classes[1]} in two colours`;
    seenByIt.name(`the network sees: ${truth[0]} and ${truth[1]}`, overlaid);
    both.name(`it draws: ${classes[0]} and ${classes[1]}`, drawn);
    classes.forEach((j, which) =>
      alone[which].name(`the ${j} alone`, `The drawing of capsule ${j}`),
    );
    rest.name("what remains", "The picture less both drawings");
    absent.name(`asked: ${third}`, `The drawing of capsule ${third}, asked for`);
  }
  return { node, show };
}

/** The length of one class's capsule; a press asks for its drawing. */
function makeLength(j, onclick) {
  const bar = makeBar("height");
  const about = { type: "button", class: "class-length", "data-class": j, onclick };
  const button = element("button", about, bar.rail, element("b", {}, String(j)), bar.value);

  function show(length, truth, classes, third) {
    const present = truth.includes(j);
    bar.show(length);
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
  const layers = () =>
    digits().map((n, which) => layerOf(digitAt(images, n), at()[which][0], at()[which][1]));
  const move = (which, place) => set({ at: at().with(which, place).flat() });
  const { seen: overlaid, show: frame } = makeStage({ at, move });
  const pictures = makePictures(overlaid);
  const ask = (j) => set({ asked: get("asked") === j ? NOBODY : j });
  const lengths = Array.from({ length: network.J }, (_, j) => makeLength(j, () => ask(j)));
  const cases = get("cases").map(({ name, ...pair }) =>
    pushButton("case", name, () => set({ ...pair, asked: NOBODY }), { "data-case": name }),
  );
  const about = { class: "bars", role: "group", "aria-label": "Ask for a digit" };
  const ten = element("div", about, ...lengths.map(({ button }) => button));
  const lead = element(
    "p",
    { class: "lead" },
    "The ten lengths. Press one to ask for that digit's drawing.",
  );
  root.classList.add("two");
  const { say } = layOut({
    stage: pictures.node,
    hands: [rowOf(...cases), element("div", {}, lead, ten)],
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
