// Teach it your hand: a pad, what the network says, what you say, and its sixteen numbers to slide.
import { rangeInput } from "../shared/controls.js";
import { digitCanvas, PIXELS } from "../shared/digits.js";
import { makePad } from "../shared/pad.js";
import { fold } from "../shared/stage.js";
import { element, format, oncePerFrame, onNews, pushButton, withArticle } from "../shared/ui.js";
import { write } from "./panel.js";
import { D, J, WALL } from "./sizes.js";
import { makeWall } from "./wall.js";

const OWN = 10; // of the reader's digits, so many are shown
const BEND = 0.25; // how far the paper moves each number

/** @param {any} widget @param {{ session: any, say: (words: string) => void }} _ */
export function makeHand(widget, { session, say }) {
  const { ask, own } = session;
  let [capsules, answer] = [new Float32Array(J * D), -1]; // of the drawing on the pad
  let offsets = new Float32Array(D);
  let busy = false; // while the network reads
  /** @type {Promise<any> | undefined} */
  let copy; // of the network that read it, to slide its numbers without waiting for one that learns
  const { painter } = widget;

  const says = element("p", { class: "says", "data-role": "says" });
  const seen = digitCanvas("redrawn", "What it draws of your digit");
  const schedule = oncePerFrame(paint);
  const pad = makePad({ drawn: schedule, settled: schedule, loaded: schedule, say });
  const buttons = Array.from({ length: J }, (_, digit) =>
    pushButton("is", String(digit), () => teach(digit), { "aria-label": `It is ${withArticle(digit)}` }),
  );
  const row = makeWall(widget, { count: OWN, label: "Your own digits, as it draws them.", chosen: again });
  const rowFigure = element("figure", { class: "own", hidden: "" }, row.canvas, element("figcaption"));
  const sliders = Array.from({ length: D }, (_, d) =>
    rangeInput({
      ...{ min: -BEND, max: BEND, step: 0.01, zero: 0, "aria-label": `Number ${d + 1} of its capsule` },
      oninput: ({ target }) => slide(d, target.valueAsNumber),
      reset: () => slide(d, 0),
    }),
  );

  /** The network reads what is on the pad, once it has read what was there before. */
  async function paint() {
    pad.paint(painter, widget.colours);
    if (busy) return;
    busy = true;
    const image = pad.image();
    await read(image).finally(() => (busy = false));
    if (pad.image() !== image) schedule();
  }

  async function read(image) {
    const found = pad.empty() ? undefined : await ask({ do: "read", image });
    for (const button of buttons) button.disabled = !found;
    if (!found) {
      answer = -1;
      painter.paint(seen, new Float32Array(PIXELS));
      write(says, pad.empty() ? "Draw a digit: it says what it sees." : "Nobody is there to read it yet: press Train.");
      return;
    }
    [capsules, answer, copy] = [found.capsules, found.answers[0], undefined];
    setOffsets(new Float32Array(D));
    const [best, next] = Array.from(found.lengths.keys()).sort((p, q) => found.lengths[q] - found.lengths[p]);
    const doubt = ` (${format(found.lengths[best])}; a ${next}: ${format(found.lengths[next])}). What is it?`;
    says.replaceChildren("It says ", element("b", {}, String(answer)), doubt);
    if (found.drawings.length) painter.paint(seen, found.drawings);
  }

  function teach(digit) {
    session.teach(pad.image(), digit);
    pad.show(new Uint8Array(PIXELS));
    schedule();
  }

  const first = () => Math.max(0, own.labels.length - OWN);
  function again(n) {
    pad.show(own.images[first() + n].map((grey) => 255 * grey));
    schedule();
  }

  function setOffsets(values) {
    offsets = values;
    for (const [d, { show }] of sliders.entries()) show(offsets[d], format(offsets[d], 2, true));
  }

  async function slide(d, offset) {
    setOffsets(offsets.with(d, offset));
    if (answer < 0) return;
    copy ??= session.copy();
    const network = await copy;
    const moved = capsules.map((x, k) => x + offsets[k % D]);
    painter.paint(seen, network.decode(network.mask(moved, answer)));
  }

  const repaint = onNews(schedule);

  /** The row of the reader's own digits, and what is on the pad once it has learned more. @param {any} frame */
  function show(frame) {
    const count = Math.min(OWN, own.labels.length);
    const named = frame?.wall.answers.subarray(WALL);
    rowFigure.hidden = count === 0 || named.length <= count || !frame.wall.drawings.length;
    if (!rowFigure.hidden) {
      const mistaken = (n) => named[n] !== own.labels[first() + n];
      const right = Array.from({ length: count }, (_, n) => Number(!mistaken(n))).reduce((p, q) => p + q);
      const words = `Yours, as it draws them: ${right} of ${count} right. They have every tenth place.`;
      write(rowFigure.lastChild, words);
      row.show({ pictures: frame.wall.drawings.subarray(WALL * PIXELS), shown: count, mistaken });
    }
    if (!offsets.some(Boolean)) repaint([widget.colours, pad.empty() || frame]); // else what was slid would be gone
  }

  const ten = element("div", { class: "ten", role: "group", "aria-label": "What is it?" }, ...buttons);
  const node = element(
    "div",
    { class: "hand", role: "group", "aria-label": "Teach it your hand" },
    element("p", { class: "lead" }, "Teach it your hand"),
    element("div", {}, pad.frame, pad.buttons),
    element("div", { class: "answers" }, says, ten, rowFigure),
    element("figure", {}, seen, element("figcaption", {}, "it draws of it")),
    fold(
      "Slide the sixteen numbers that it drew this from",
      element("div", { class: "sixteen" }, ...sliders.map(({ input }) => input)),
    ),
  );
  schedule();
  return { node, show, stop: schedule.cancel };
}
