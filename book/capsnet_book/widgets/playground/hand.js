// Teach it your hand: a pad, what the network says, what you say, and its sixteen numbers to slide.
import { rangeInput } from "../shared/controls.js";
import { makePad } from "../shared/pad.js";
import {
  digitCanvas,
  element,
  format,
  makePainter,
  oncePerFrame,
  PIXELS,
  pushButton,
  themeColours,
  withArticle,
} from "../shared/ui.js";
import { CLASSES, WALL } from "./learner.js";
import { makeWall } from "./wall.js";

const POSE = 16; // numbers in a digit capsule
const OWN = 10; // of the reader's digits, so many are shown
const BEND = 0.25; // how far the paper moves each number

/** Sixteen sliders. moved(d, offset) when one is. */
const makeSliders = (/** @type {(d: number, offset: number) => void} */ moved) =>
  Array.from({ length: POSE }, (_, d) =>
    rangeInput({
      ...{ min: -BEND, max: BEND, step: 0.01, zero: 0, "aria-label": `Number ${d + 1} of its capsule` },
      oninput: ({ target }) => moved(d, target.valueAsNumber),
      reset: () => moved(d, 0),
    }),
  );

/**
 * @param {HTMLElement} root
 * @param {{ session: any, say: (words: string) => void }} _
 */
export function makeHand(root, { session, say }) {
  const { ask, own } = session;
  let [capsules, answer] = [new Float32Array(CLASSES * POSE), -1]; // of the drawing on the pad
  let offsets = new Float32Array(POSE);
  const painter = makePainter(root);
  let colours = themeColours(root);

  const says = element("p", { class: "says", "data-role": "says" });
  const seen = digitCanvas("redrawn", "What it draws of your digit");
  const pad = makePad({ drawn: () => schedule(), settled: () => schedule(), loaded: () => schedule(), say });
  const answers = Array.from({ length: CLASSES }, (_, digit) =>
    pushButton("is", String(digit), () => teach(digit), { "aria-label": `It is ${withArticle(digit)}` }),
  );
  const row = makeWall(root, { count: OWN, across: OWN, label: "Your own digits, as it draws them.", chosen: again });
  const rowFigure = element("figure", { class: "own", hidden: "" }, row.canvas, element("figcaption"));
  const sliders = makeSliders(slide);

  /** The network reads what is on the pad, once it has read what was there before. */
  let busy = false;
  const schedule = oncePerFrame(async () => {
    pad.paint(painter, colours);
    if (busy) return;
    busy = true;
    const image = pad.image().slice();
    try {
      await read(image);
    } finally {
      busy = false;
    }
    if (pad.image().some((grey, k) => grey !== image[k])) schedule();
  });

  async function read(image) {
    for (const button of answers) button.disabled = pad.empty();
    if (pad.empty()) {
      says.textContent = "Draw a digit. It says what it sees; you say what it is.";
      painter.paint(seen, new Float32Array(PIXELS));
      return;
    }
    const found = await ask({ do: "read", image });
    if (!found) {
      says.textContent = "Nobody is there to read it yet: press Train.";
      return;
    }
    [capsules, answer] = [found.capsules, found.answer];
    setOffsets(new Float32Array(POSE));
    const order = Array.from(found.lengths.keys()).sort((p, q) => found.lengths[q] - found.lengths[p]);
    const [best, next] = order.map((j) => `${format(found.lengths[j])}`);
    says.replaceChildren(
      "It says ",
      element("b", {}, String(answer)),
      ` (${best}; a ${order[1]}: ${next}). What is it?`,
    );
    if (found.drawing.length) painter.paint(seen, found.drawing);
  }

  function teach(digit) {
    session.teach(pad.image().slice(), digit);
    pad.show(new Uint8Array(PIXELS));
    schedule();
  }

  function again(n) {
    pad.show(Uint8Array.from(own.images[first() + n], (grey) => Math.round(255 * grey)));
    schedule();
  }
  const first = () => Math.max(0, own.labels.length - OWN);

  function setOffsets(values) {
    offsets = values;
    for (const [d, { show }] of sliders.entries()) show(offsets[d], format(offsets[d], 2, true));
  }

  const redraw = oncePerFrame(async () => {
    if (answer < 0) return;
    const kept = new Float32Array(CLASSES * POSE);
    for (let d = 0; d < POSE; d++) kept[answer * POSE + d] = capsules[answer * POSE + d] + offsets[d];
    const found = await ask({ do: "draw", capsules: kept });
    if (found) painter.paint(seen, found.drawing);
  });

  function slide(d, offset) {
    setOffsets(offsets.with(d, offset));
    redraw();
  }

  const node = element(
    "section",
    { class: "hand", "aria-label": "Teach it your hand" },
    element("p", { class: "lead" }, "Teach it your hand"),
    element("div", { class: "left" }, pad.frame, pad.buttons),
    element(
      "div",
      { class: "answers" },
      says,
      element("div", { class: "ten", role: "group", "aria-label": "What is it?" }, ...answers),
      rowFigure,
    ),
    element("figure", { class: "redrawn" }, seen, element("figcaption", {}, "it draws of it")),
    element(
      "details",
      { class: "more" },
      element("summary", {}, "Slide the sixteen numbers that it drew this from"),
      element("div", { class: "sixteen" }, ...sliders.map(({ input }) => input)),
    ),
  );
  schedule();
  /** The row of the reader's own digits, and what is on the pad once it has learned more. @param {any} frame */
  function show(frame) {
    const count = Math.min(OWN, own.labels.length);
    const named = frame?.wall.answers.subarray(WALL);
    rowFigure.hidden = count === 0 || named.length <= count || !frame.wall.drawings.length;
    if (!rowFigure.hidden) {
      const mistaken = (n) => named[n] !== own.labels[first() + n];
      const wrong = Array.from({ length: count }, (_, n) => mistaken(n)).filter(Boolean).length;
      const right = `${count - wrong} of ${count} right`;
      rowFigure.lastChild.textContent = `Yours, as it draws them: ${right}. They have every tenth place.`;
      row.show({ pictures: frame.wall.drawings.subarray(WALL * PIXELS), shown: count, mistaken });
    }
    if (frame && !pad.empty() && !offsets.some(Boolean)) schedule();
  }

  return {
    node,
    show,
    refresh() {
      painter.refresh();
      colours = themeColours(root);
      row.refresh();
      schedule();
    },
    stop() {
      schedule.cancel();
      redraw.cancel();
    },
  };
}
