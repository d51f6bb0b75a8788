// A pad to draw on. With every step of the pen the network reads the drawing anew: ten lengths, and what it would draw.
import { LONG, makeBars } from "./shared/bars.js";
import { measure } from "./shared/controls.js";
import { digitAt, digitFigure, digitRow } from "./shared/digits.js";
import { makePad } from "./shared/pad.js";
import { defineWidget } from "./shared/stage.js";
import { bytesOf, element, format, listen, withArticle } from "./shared/ui.js";

/** What the lengths say, honestly: nothing, one digit, or several. */
function inWords(lengths, empty) {
  const order = Array.from(lengths.keys()).sort((p, q) => lengths[q] - lengths[p]);
  const [[best, next], long] = [order, order.filter((j) => lengths[j] >= LONG)];
  const length = (j) => format(lengths[j]);
  if (empty)
    return `Nothing drawn yet. Of the empty page it thinks: ${withArticle(best)}, ${length(best)} long.`;
  if (long.length === 0)
    return `I see no digit: the longest capsule, ${best}, is only ${length(best)} long.`;
  if (long.length === 1)
    return `I see ${withArticle(best)}: its capsule is ${length(best)} long, the next, ${next}, ${length(next)}.`;
  if (long.length === 2) return `Two? I see ${withArticle(long[0])} and ${withArticle(long[1])}.`;
  return `Several? ${long.length} capsules are long.`;
}

const LABEL = "Draw a digit and watch a capsule network read it";

export default defineWidget("DrawDigit", LABEL, async (widget) => {
  const { root, model, get, layOut, painter, stops } = widget;
  const network = await widget.network();
  const samples = bytesOf(get("samples"));
  const redraw = () => widget.redraw();
  const pad = makePad({ drawn: redraw, settled: tell });
  const labels = [...Array(network.J).keys()];
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

  function load(digit) {
    pad.show(digitAt(samples, digit));
    tell();
  }
  /** What is on the pad is another digit; the glass network, where there is one, follows. */
  function tell() {
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
    root.dataset.prediction = prediction;
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
