// Teach it your hand: a pad, what the network says, what you say, and its sixteen numbers to slide. The worker reads;
// the page draws, so that a slider answers at once while it learns.
import { rangeInput } from "../shared/controls.js";
import { drawnBy } from "../shared/core.js";
import { digitFigure, PIXELS } from "../shared/digits.js";
import { makePad } from "../shared/pad.js";
import { fold } from "../shared/stage.js";
import {
  element,
  format,
  makeAnnouncer,
  memoized,
  oncePerFrame,
  pushButton,
  setAttributes,
  withArticle,
  write,
} from "../shared/ui.js";
import { D, J, OWN, WALL } from "./sizes.js";
import { makeWall } from "./wall.js";

const BEND = 0.25; // how far the paper moves each number

/** @param {any} widget @param {any} session */
export function makeHand(widget, session) {
  const { own } = session;
  const { painter } = widget;
  let offsets = [];
  let busy = false; // while the network reads
  let image; // that it read last
  let found; // what it made of it, if anything

  const says = element("p", { class: "says", "data-role": "says" });
  const drawn = digitFigure("redrawn");
  drawn.name("it draws of it", "What it draws of your digit");
  const schedule = oncePerFrame(read);
  const pad = makePad({ drawn: schedule, settled: schedule });
  const buttons = Array.from({ length: J }, (_, digit) =>
    pushButton("is", String(digit), () => teach(digit), {
      "aria-label": `It is ${withArticle(digit)}`,
    }),
  );
  const row = makeWall(widget, "own", again);
  row.figure.hidden = true; // there are none yet
  const sliders = Array.from({ length: D }, (_, d) =>
    rangeInput({
      ...{ min: -BEND, max: BEND, step: 0.01, "aria-label": `Number ${d + 1} of its capsule` },
      oninput: ({ target }) => slide(offsets.with(d, target.valueAsNumber)),
    }),
  );

  function slide(/** @type {number[]} */ to) {
    offsets = to;
    for (const [d, { show }] of sliders.entries()) show(offsets[d], format(offsets[d], 2, true));
    draw();
  }

  /** What the longest capsule stands for once its sixteen numbers are slid. */
  function draw() {
    const { capsules, answers, decoder } = found ?? {};
    const kept = capsules?.map((x, k) =>
      Math.floor(k / D) === answers[0] ? x + offsets[k % D] : 0,
    );
    painter.paint(drawn.canvas, decoder ? drawnBy(decoder, kept) : new Float32Array(PIXELS));
  }

  /** The network reads what is on the pad, once it has read what was there before. */
  async function read() {
    pad.paint(painter, widget.colours);
    if (busy) return;
    busy = true;
    const next = pad.image();
    found = pad.empty() ? undefined : await session.trainees[0]?.call("read", next);
    busy = false;
    for (const button of buttons) setAttributes(button, { "aria-disabled": !found }); // it keeps the focus
    if (found) tell(found);
    else
      write(
        says,
        pad.empty()
          ? "Draw a digit: it says what it sees."
          : "Nobody is there to read it yet: press Train.",
      );
    slide(next === image ? offsets : new Array(D).fill(0));
    image = next;
    if (pad.image() !== image) schedule();
  }

  function tell({ lengths }) {
    const [best, next] = Array.from(lengths.keys()).sort((p, q) => lengths[q] - lengths[p]);
    const doubt = ` (${format(lengths[best])}; a ${next}: ${format(lengths[next])}). What is it?`;
    says.replaceChildren("It says ", element("b", {}, String(best)), doubt);
    announce(says.textContent);
  }

  function teach(digit) {
    if (pad.empty() || !session.trainees.length) return;
    const image = pad.image();
    session.act(() => session.teach(image, digit));
    pad.show(new Uint8Array(PIXELS));
    schedule();
  }

  function again(n) {
    pad.show(own.images.slice(-OWN)[n].map((grey) => 255 * grey));
    schedule();
  }

  const repaint = memoized(schedule);

  /** The row of the reader's own digits, and what is on the pad once it has learned more. @param {any[]} frames */
  function show([frame]) {
    const { pictures, watched } = frame;
    const wrong = frame.wrong.slice(WALL);
    row.figure.hidden = wrong.length === 0 || watched.drawing.length === 0;
    if (!row.figure.hidden) {
      const right = wrong.filter((each) => !each).length;
      const words = `Yours, as it draws them: ${right} of ${wrong.length} right. They have every tenth place.`;
      row.show(pictures.subarray(WALL * PIXELS), wrong, words);
    }
    repaint([widget.colours, pad.empty() || frame]);
  }

  const ten = element(
    "div",
    { class: "ten", role: "group", "aria-label": "What is it?" },
    ...buttons,
  );
  const sixteen = element("div", { class: "sixteen" }, ...sliders.map(({ input }) => input));
  const lead = element("p", { class: "lead" }, "Teach it your hand");
  const answers = element("div", { class: "answers" }, says, ten, row.figure);
  const rest = fold("Slide the sixteen numbers that it drew this from", sixteen);
  const about = { class: "hand", role: "group", "aria-label": "Teach it your hand" };
  const node = element(
    "div",
    about,
    lead,
    element("div", {}, pad.frame, pad.buttons),
    answers,
    drawn.node,
    rest,
  );
  const announce = makeAnnouncer(node);
  schedule();
  widget.stops.push(schedule.cancel, announce.cancel);
  return { node, show };
}
