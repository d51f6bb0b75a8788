// A pad to draw on. At every step of the pen the network reads the drawing anew: ten lengths, and
// its own drawing of the digit.
import { LONG, makeBars } from "./shared/bars.js";
import { measure } from "./shared/controls.js";
import { digitAt, digitFigure, digitRow } from "./shared/digits.js";
import { makePad } from "./shared/pad.js";
import { defineWidget } from "./shared/stage.js";
import { bytesOf, element, format, listen, withArticle } from "./shared/ui.js";

/** Says what the lengths mean: no digit, one, or several. @param {Float32Array} lengths */
function inWords(lengths, empty) {
  const order = Array.from(lengths.keys()).sort((p, q) => lengths[q] - lengths[p]);
  const [best, next] = order;
  const long = order.filter((j) => lengths[j] >= LONG);
  const length = (j) => format(lengths[j]);
  if (empty) {
    const thought = `Of the empty page it thinks: ${withArticle(best)}, ${length(best)} long.`;
    return `Nothing drawn yet. ${thought}`;
  }
  if (long.length === 0)
    return `I see no digit: the longest capsule, ${best}, is only ${length(best)} long.`;
  if (long.length === 1) {
    const lead = `its capsule is ${length(best)} long, the next, ${next}, ${length(next)}.`;
    return `I see ${withArticle(best)}: ${lead}`;
  }
  if (long.length === 2) return `Two? I see ${withArticle(long[0])} and ${withArticle(long[1])}.`;
  return `Several? ${long.length} capsules are long.`;
}

const LABEL = "Draw a digit and watch a capsule network read it";

export default defineWidget("DrawDigit", LABEL, async (widget) => {
  const { root, model, get, layOut, painter, stops } = widget;
  const network = await widget.network();
  const samples = bytesOf(get("samples"));
  const redraw = () => widget.redraw();
  const pad = makePad({ drawn: redraw, settled: drawingSettled });
  const labels = Array.from({ length: network.J }, (_, j) => j);
  const digits = digitRow(labels, samples, (digit) => `Load a handwritten ${digit}`, load, 255);
  const bars = makeBars("Lengths of the ten digit capsules");
  const seen = digitFigure("seen");
  const drawn = digitFigure("reconstruction", "result");
  const pair = element("div", { class: "pair" }, seen.node, drawn.node);
  const left = element("div", { class: "left" }, pad.frame, pad.buttons);
  const { say } = layOut({
    stage: element("div", { class: "drawing" }, left, bars.list, pair),
    hands: [digits.row],
  });

  function load(/** @type {number} */ digit) {
    pad.show(digitAt(samples, digit));
    drawingSettled();
  }

  /**
   * Tells the page that the pad shows another digit: the glass network, if there is one, follows.
   */
  function drawingSettled() {
    root.dispatchEvent(new CustomEvent("capsnet:drawn", { bubbles: true, detail: pad.bytes() }));
    redraw();
  }

  stops.push(
    listen(model, "change:digit", () => load(get("digit"))),
    measure(root, redraw).stop,
  );
  pad.show(digitAt(samples, get("digit")));
  seen.name("the network sees", "The 28 by 28 pixels that the network sees");

  return () => {
    const { lengths, prediction, reconstruction } = network.forward(pad.image());
    root.dataset.prediction = String(prediction);
    root.dataset.lengths = Array.from(lengths, (length) => length.toFixed(6)).join(",");
    pad.paint(painter, widget.colours);
    digits.show(null, painter);
    bars.show(lengths, prediction, (length) => length >= LONG);
    painter.paint(seen.canvas, pad.image());
    painter.paint(drawn.canvas, reconstruction);
    drawn.canvas.classList.toggle("faint", lengths[prediction] < LONG);
    drawn.name(`capsule ${prediction} draws`, `What the longest capsule, ${prediction}, draws`);
    say(inWords(lengths, pad.empty()));
  };
});
