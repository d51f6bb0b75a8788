// Two digits to lay over each other. The network reads the overlay, draws each digit on its own, and draws what it is asked for.
import { makeNetwork } from "./shared/core.js";
import { unpackInt8 } from "./shared/int8.js";
import { SIDE, bytesOf, clamp, digitAt, element, format, listen, makeAnnouncer, makePainter, makeRoot, mix, mount, oncePerFrame, setAttributes, sharedWeights, themeColours, thumbnail, whenThemeChanges } from "./shared/ui.js";

const WIDE = 36; // pixels along a side of the picture
const REACH = (WIDE - SIDE) / 2; // how far a digit can be moved from the middle and still lie in it
const NOBODY = -1; // asked for: the longest capsule but two
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const NAMES = ["First", "Second"];

// -------------------------------------------------------------------------------------------- the sums

/** A digit on the larger picture, x to the right and y down from the middle: [784] -> [1296] */
export function layerOf(digit, x, y) {
  const layer = new Float32Array(WIDE * WIDE);
  for (let row = 0; row < SIDE; row++) {
    layer.set(digit.subarray(row * SIDE, (row + 1) * SIDE), (row + REACH + y) * WIDE + REACH + x);
  }
  return layer;
}

/** The ink of both, added and clipped. */
export const overlay = (one, other) => one.map((grey, k) => Math.min(1, grey + other[k]));

/** The classes, longest capsule first. */
export const byLength = (lengths) => Array.from(lengths, (_, j) => j).sort((a, b) => lengths[b] - lengths[a]);

/** The two longest, each in the place of the digit that it is, if it is one of them. */
export function matched([longest, second], [one, other]) {
  const swapped = one !== other && (longest === other || second === one);
  return swapped ? [second, longest] : [longest, second];
}

/** Ink of the picture that lies in neither drawing. */
export const remaining = (image, drawings) => image.map((grey, k) => Math.max(0, grey - drawings[0][k] - drawings[1][k]));

/** Everything that the widget shows of a picture. `asked`: a class, or NOBODY. */
export function look(network, image, labels, asked = NOBODY) {
  const { capsules, lengths } = network.forward(image);
  const order = byLength(lengths);
  const third = asked === NOBODY ? order[2] : asked;
  const classes = matched(order, labels);
  const [one, other, absent] = [...classes, third].map((j) => network.decode(network.mask(capsules, j)));
  return { lengths, classes, third, drawings: [one, other], absent, remains: remaining(image, [one, other]) };
}

// ------------------------------------------------------------------------------------------- the widget

function render({ model, el, host }) {
  const root = makeRoot("TwoDigits", "Lay two digits over each other; the network draws each on its own");
  return mount(el, root, async () => {
    const network = makeNetwork(unpackInt8(await sharedWeights(model, host)));
    const digits = Float32Array.from(bytesOf(model.get("images")), (grey) => grey / 255); // [N, 784]
    const labels = model.get("labels");
    const digit = (n) => digitAt(digits, n);

    // What is shown: two digits, where each lies, and which class is asked for.
    let state = read();
    let chosen = 0; // which of the two the next drag moves
    let seen;
    let telling = false; // the model of a change that was made here

    function read() {
      const [x0, y0, x1, y1] = model.get("at");
      return { digits: [model.get("first"), model.get("second")], at: [[x0, y0], [x1, y1]], asked: model.get("asked") };
    }

    // ----------------------------------------------------------------------------------- elements
    const picture = (role, label) =>
      element("canvas", { width: WIDE, height: WIDE, class: "wide", role: "img", "data-role": role, "aria-label": label });
    const pad = picture("overlay", "");
    const boxes = NAMES.map((_, which) => element("div", {
      class: `box digit-${which}`, tabindex: 0, role: "slider", "data-digit": which,
      "aria-valuemin": -REACH, "aria-valuemax": REACH,
      onfocus: () => choose(which),
      onkeydown: (event) => pressed(event, which),
    }));
    const both = picture("both", "");
    const alone = NAMES.map((_, which) => picture(`alone-${which}`, ""));
    const rest = picture("remains", "");
    const absent = picture("absent", "");
    const captions = Object.fromEntries(["overlay", "both", "alone-0", "alone-1", "remains", "absent"].map((role) => [role, element("figcaption")]));
    const figure = (canvas, kind = "") => element("figure", { class: kind }, canvas, captions[canvas.dataset.role]);
    const bars = labelsOf(network.J).map(makeBar);
    const choosers = NAMES.map((name, which) => makeChooser(name, which));
    const cases = model.get("cases").map((each) =>
      element("button", { type: "button", "data-case": each.name, onclick: () => show(each) }, each.name));
    const remark = element("p", { class: "remark", "data-role": "remark" });
    root.append(
      element("div", { class: "two" },
        element("div", { class: "large" },
          element("figure", {}, element("div", { class: "stage-36", "data-role": "stage" }, pad, ...boxes), captions.overlay),
          figure(both)),
        element("div", { class: "small" }, figure(alone[0], "digit-0"), figure(alone[1], "digit-1"), figure(rest), figure(absent, "asked")),
        remark,
        element("p", { class: "lead" }, "The ten lengths. Press one to ask for that digit's drawing."),
        element("div", { class: "bars", role: "group", "aria-label": "Ask for a digit" }, ...bars.map(({ button }) => button)),
        element("p", { class: "lead" }, "Lay two others over each other. Press a digit again for another hand."),
        ...choosers.map(({ node }) => node),
        element("div", { class: "bar cases" }, ...cases)));
    const announce = makeAnnouncer(root);
    const { paint, refresh } = makePainter(root);

    function makeBar(j) {
      const fill = element("span", { class: "fill" });
      const value = element("span", { class: "value" });
      const button = element("button", { type: "button", class: "class-length", "data-class": j, onclick: () => ask(j) },
        element("span", { class: "rail" }, fill), element("b", {}, String(j)), value);
      return { button, fill, value };
    }

    function makeChooser(name, which) {
      const buttons = labelsOf(network.J).map((label) => {
        const canvas = thumbnail();
        const button = element("button", { type: "button", "data-label": label, onclick: () => take(which, label) }, canvas);
        return { label, canvas, button };
      }).filter(({ label }) => labels.includes(label));
      const node = element("div", { class: `chooser digit-${which}`, role: "group", "aria-label": `${name} digit` }, ...buttons.map(({ button }) => button));
      return { node, buttons };
    }

    // ------------------------------------------------------------------------------------ actions
    function change(changes) {
      state = { ...state, ...changes };
      const { digits: [first, second], at, asked } = state;
      telling = true;
      for (const [trait, value] of Object.entries({ first, second, at: at.flat(), asked })) model.set(trait, value);
      telling = false;
      schedule();
    }

    const replaced = (pair, which, by) => pair.map((value, k) => (k === which ? by : value));

    function choose(which) {
      chosen = which;
      boxes.forEach((box, k) => box.classList.toggle("is-chosen", k === which));
    }

    function moveTo(which, [x, y]) {
      const within = [x, y].map((place) => clamp(Math.round(place), -REACH, REACH));
      change({ at: replaced(state.at, which, within) });
    }

    /** The first digit of that class; pressed again, the next one. */
    function take(which, label) {
      const hands = labels.flatMap((other, n) => (other === label ? [n] : []));
      const next = hands[(hands.indexOf(state.digits[which]) + 1) % hands.length];
      choose(which);
      change({ digits: replaced(state.digits, which, next), asked: NOBODY });
      model.save_changes();
    }

    function ask(j) {
      change({ asked: state.asked === j ? NOBODY : j });
      model.save_changes();
    }

    function show({ first, second, at, asked = NOBODY }) {
      change({ digits: [first, second], at: [at.slice(0, 2), at.slice(2)], asked });
      model.save_changes();
    }

    function pressed(event, which) {
      const [x, y] = state.at[which];
      if (event.key in KEYS) moveTo(which, [x + KEYS[event.key][0], y + KEYS[event.key][1]]);
      else if (event.key === "Home") moveTo(which, [0, 0]);
      else return;
      event.preventDefault();
      model.save_changes();
    }

    // ---------------------------------------------------------------------------------- by pointer
    const stage = root.querySelector('[data-role="stage"]');
    const pixelAt = (event) => {
      const box = pad.getBoundingClientRect();
      return [((event.clientX - box.left) / box.width) * WIDE, ((event.clientY - box.top) / box.height) * WIDE];
    };
    let grip; // where the pointer holds the digit
    stage.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      event.preventDefault();
      stage.setPointerCapture(event.pointerId);
      const [x, y] = pixelAt(event);
      const which = under(x, y);
      boxes[which].focus({ preventScroll: true });
      choose(which);
      grip = [state.at[which][0] - x, state.at[which][1] - y];
    });
    stage.addEventListener("pointermove", (event) => {
      if (!stage.hasPointerCapture(event.pointerId)) return;
      const [x, y] = pixelAt(event);
      moveTo(chosen, [grip[0] + x, grip[1] + y]);
    });
    stage.addEventListener("lostpointercapture", () => model.save_changes());

    /** Whose ink is nearer to a place; of two equally near, the one that was moved last. */
    function under(x, y) {
      const far = layers().map((layer) => {
        let nearest = Infinity;
        layer.forEach((grey, k) => {
          if (grey > 0.5) nearest = Math.min(nearest, Math.hypot((k % WIDE) + 0.5 - x, Math.floor(k / WIDE) + 0.5 - y));
        });
        return Math.max(nearest, 1); // as good as on it
      });
      return far[0] === far[1] ? chosen : Number(far[1] < far[0]);
    }

    // ------------------------------------------------------------------------------------ drawing
    const layers = () => state.digits.map((n, which) => layerOf(digit(n), ...state.at[which]));

    function draw() {
      const two = layers();
      const image = overlay(...two);
      const truth = state.digits.map((n) => labels[n]);
      seen = look(network, image, truth, state.asked);
      const { lengths, classes, third, drawings } = seen;
      const colours = themeColours(root);
      const tints = [colours.accent, colours.contrast];
      paintWide(pad, (k) => mix(colours.paper, colours.stroke, image[k]));
      paintWide(both, (k) => blend(colours.paper, tints.map((tint, which) => mix(colours.paper, tint, drawings[which][k]))));
      alone.forEach((canvas, which) => paintWide(canvas, (k) => mix(colours.paper, tints[which], drawings[which][k])));
      paintWide(rest, (k) => mix(colours.paper, colours.stroke, seen.remains[k]));
      paintWide(absent, (k) => mix(colours.paper, colours.stroke, seen.absent[k]));

      captions.overlay.textContent = `the network sees: ${truth[0]} and ${truth[1]}`;
      captions.both.textContent = `it draws: ${classes[0]} and ${classes[1]}`;
      classes.forEach((j, which) => (captions[`alone-${which}`].textContent = `the ${j} alone`));
      captions.remains.textContent = "what remains";
      captions.absent.textContent = `asked: ${third}`;
      setAttributes(pad, { "aria-label": `The overlay of ${name(truth[0])} and ${name(truth[1])}` });
      setAttributes(both, { "aria-label": `The drawings of capsules ${classes[0]} and ${classes[1]} in two colours` });
      alone.forEach((canvas, which) => setAttributes(canvas, { "aria-label": `The drawing of capsule ${classes[which]}` }));
      setAttributes(rest, { "aria-label": "The picture less both drawings" });
      setAttributes(absent, { "aria-label": `The drawing of capsule ${third}, asked for` });

      two.forEach((layer, which) => frame(boxes[which], layer, truth[which], state.at[which]));
      bars.forEach(({ button, fill, value }, j) => {
        fill.style.height = `${100 * lengths[j]}%`;
        value.textContent = format(lengths[j]);
        [0, 1].forEach((which) => button.classList.toggle(`digit-${which}`, classes[which] === j));
        button.classList.toggle("present", truth.includes(j));
        setAttributes(button, { "aria-pressed": j === third, "aria-label": `${j}, ${format(lengths[j])} long${truth.includes(j) ? ", in the picture" : ""}` });
      });
      choosers.forEach(({ buttons }, which) => buttons.forEach(({ label, canvas, button }) => {
        const taken = truth[which] === label;
        paint(canvas, digit(taken ? state.digits[which] : labels.indexOf(label)));
        setAttributes(button, { "aria-pressed": taken, "aria-label": `${NAMES[which]} digit: ${label}${taken ? ", another hand" : ""}` });
      }));
      const right = classes.every((j) => truth.includes(j));
      setAttributes(root, {
        "data-labels": truth.join(","), "data-classes": classes.join(","), "data-third": third, "data-right": right,
        "data-at": state.at.flat().join(","), "data-lengths": Array.from(lengths, (x) => x.toFixed(4)).join(","),
      });
      remark.textContent = inWords(truth, seen);
      announce(remark.textContent);
    }
    const schedule = oncePerFrame(draw);

    const stopListening = listen(model, Object.fromEntries(["first", "second", "at", "asked"].map((trait) => [trait, () => {
      if (telling) return; // not all of it is told yet
      state = read();
      schedule();
    }])));
    const stopWatching = whenThemeChanges(() => {
      refresh();
      schedule();
    });
    choose(0);
    draw();
    return [stopListening, stopWatching, schedule.cancel, announce.cancel];
  });
}

const labelsOf = (J) => Array.from({ length: J }, (_, j) => j);
const name = (label) => `${label === 8 ? "an" : "a"} ${label}`;
const sideways = (n, more, less) => (n === 0 ? "" : `${Math.abs(n)} ${n > 0 ? more : less}`);

/** A box round the digit's ink; it is what the keyboard moves. */
function frame(box, layer, label, [x, y]) {
  const inked = Array.from(layer.keys()).filter((k) => layer[k] > 0.2);
  const columns = inked.map((k) => k % WIDE);
  const rows = inked.map((k) => Math.floor(k / WIDE));
  const percent = (pixels) => `${(100 * pixels) / WIDE}%`;
  const [left, top] = [Math.min(...columns), Math.min(...rows)];
  Object.assign(box.style, {
    left: percent(left), top: percent(top),
    width: percent(Math.max(...columns) + 1 - left), height: percent(Math.max(...rows) + 1 - top),
  });
  const where = [sideways(x, "right", "left"), sideways(y, "down", "up")].filter(Boolean).join(", ") || "in the middle";
  setAttributes(box, { "aria-label": `The ${label}. Arrow keys move it.`, "aria-valuenow": x, "aria-valuetext": where });
}

/** Two tints of one paper laid over each other: on white they darken, on black they brighten. */
function blend(paper, [one, other]) {
  const dark = paper[0] + paper[1] + paper[2] < 384;
  return one.map((channel, k) => (dark ? 255 - ((255 - channel) * (255 - other[k])) / (255 - paper[k]) : (channel * other[k]) / paper[k]));
}

/** Each pixel k in the colour [r, g, b] that `colour(k)` says. */
function paintWide(canvas, colour) {
  const image = new ImageData(WIDE, WIDE);
  for (let k = 0; k < WIDE * WIDE; k++) image.data.set([...colour(k), 255], 4 * k);
  canvas.getContext("2d").putImageData(image, 0, 0);
}

/** What there is to see. */
export function inWords(truth, { lengths, classes, third }) {
  const longest = classes.map((j) => `${j} (${format(lengths[j])})`).join(" and ");
  if (truth[0] === truth[1]) {
    return `Two of the same class. There is one capsule for a ${truth[0]}, so nothing here can say "twice"; the two longest are ${longest}. In training the two digits were never alike.`;
  }
  const missed = truth.filter((label) => !classes.includes(label));
  const invented = classes.filter((j) => !truth.includes(j));
  if (missed.length === 2) return `Both wrong: the longest are ${longest}, and neither is there.`;
  if (missed.length === 1) {
    return `One right, one wrong: it sees ${name(invented[0])} (${format(lengths[invented[0]])}) where ${name(missed[0])} is (${format(lengths[missed[0]])}). Look what the ${invented[0]} is drawn from.`;
  }
  if (truth.includes(third)) return `Both right, ${longest}. You asked for the ${third}, which is there.`;
  const strength = lengths[third] < 0.3 ? "so short that hardly anything reaches the decoder" : "long enough to draw something";
  return `Both right, ${longest}. The ${third} is not there; its capsule is ${format(lengths[third])} long, ${strength}.`;
}

export default { render };
