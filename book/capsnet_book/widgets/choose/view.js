// What the lines to choose from show: the digit, what the line does, and what the network draws.
import { lengthsOf } from "../shared/core.js";
import { digitFigure, PIXELS } from "../shared/digits.js";
import { t } from "../shared/t.js";
import { element, figure, format, setAttributes, svg, withArticle } from "../shared/ui.js";

/** @typedef {{ lengths: Float32Array, prediction: number, name: string,
 *   drawing: Float32Array }} Answer  name: of the class that is read */
/** @typedef {{ code: string, right?: boolean, says: (result: any) => string }} Option */
/** @typedef {{ network: any, image: Float32Array, label: number, painter: any,
 *   others: Float32Array[] }} Setting
 *   label: the digit's, or what the sound network takes a reader's own digit for */
/** @typedef {{ node: Element, show: (place: number) => string }} Picture
 *   show(place): the result of an option, in words; −1: before any is chosen */

/** What the network answers with class capsules v [J, D_out]. @returns {Answer} */
export function answerOf(/** @type {any} */ network, /** @type {Float32Array} */ v) {
  const lengths = lengthsOf(v, network.J, network.D_out);
  const prediction = lengths.indexOf(Math.max(...lengths)); // −1: nan
  const drawing = hasNan(v)
    ? new Float32Array(PIXELS).fill(Number.NaN)
    : network.decode(network.mask(v, prediction));
  const name = network.names[prediction] ?? String(prediction);
  return { lengths, prediction, name, drawing };
}

export const hasNan = (/** @type {Float32Array} */ numbers) => numbers.some(Number.isNaN);

/** An answer as a sentence. @param {Answer} answer */
export function inWords({ lengths, prediction, name }) {
  if (hasNan(lengths)) return t`Every length is nan: it reads nothing, and draws nothing.`;
  const length = format(lengths[prediction]);
  if (lengths[prediction] < 0.5)
    return t`Its longest capsule, the ${name}'s, is only ${length} long.`;
  return t`It reads ${withArticle(name)}; that capsule is ${length} long.`;
}

/**
 * The digit, a picture between, and a drawing. draw(numbers, words): the drawing and its caption;
 * numbers of nan are drawn as such, null as an empty place. say(words): the caption of the middle.
 * @param {Setting} setting @param {Element} middle
 */
export function makeView({ image, painter }, middle) {
  const given = digitFigure("given");
  const drawing = digitFigure("drawn", "result");
  const nan = element("b", { class: "nan", "aria-hidden": "true" }, "nan");
  drawing.node.append(nan);
  const caption = element("figcaption");
  const between = figure("between", middle, caption);
  const draw = (/** @type {Float32Array | null} */ numbers, /** @type {string} */ words) => {
    painter.paint(given.canvas, image);
    given.name(t`the digit`, t`The digit at hand`);
    const broken = numbers !== null && hasNan(numbers);
    const blank = numbers === null || broken;
    painter.paint(drawing.canvas, blank ? new Float32Array(PIXELS) : numbers);
    setAttributes(drawing.node, { class: `result${broken ? " broken" : ""}` });
    nan.toggleAttribute("hidden", !broken);
    drawing.name(words, words);
  };
  const say = (/** @type {string} */ words) => {
    caption.textContent = words;
  };
  return {
    node: element("div", { class: "outcome" }, given.node, between, drawing.node),
    draw,
    say,
  };
}

// ------------------------------------------------------------------------------------- bars

const WIDE = 320; // a picture of bars, in units of its viewBox
const GAP = 1.6;

/**
 * A row of bars with a dashed line. show(values, classOf): from 1 on a bar is cut by the frame;
 * classOf(n) is a bar's class.
 * @param {{ count: number, label: string, tall?: number, most?: number, line?: number,
 *   names?: string[] }} _  most: the value of a full bar; line: that of the dashed line
 */
export function makeRow({ count, label, tall = 62, most = 1, line, names = [] }) {
  const pitch = WIDE / count;
  const gap = count > 20 ? GAP : 3 * GAP;
  const room = names.length ? 18 : 4; // for the names below
  const bars = Array.from({ length: count }, (_, n) =>
    svg("rect", { x: n * pitch + gap / 2, width: pitch - gap, rx: 1 }),
  );
  const words = names.map((name, n) =>
    svg(
      "text",
      { class: "label", x: (n + 0.5) * pitch, y: tall + 15, "text-anchor": "middle" },
      name,
    ),
  );
  const heading = svg("text", { class: "label", x: 0, y: -6 }, label);
  const viewBox = `0 -20 ${WIDE} ${tall + room + 20}`;
  const frame = { viewBox, class: "bars-in-row", role: "img" }; // "row" is Bootstrap's
  const picture = svg("svg", frame, heading, ...bars, ...words);
  if (line !== undefined) {
    const y = tall * (1 - line / most);
    picture.append(svg("line", { class: "limit", x1: 0, x2: WIDE, y1: y, y2: y }));
  }
  const show = (
    /** @type {ArrayLike<number>} */ values,
    classOf = (/** @type {number} */ _) => "",
  ) => {
    bars.forEach((bar, n) => {
      const share = Math.min(1, Math.max(0, values[n] / most)) || 0; // nan: no bar
      const height = Math.max(share * tall, 1);
      setAttributes(bar, { y: tall - height, height, class: `bar-of ${classOf(n)}` });
    });
    picture.setAttribute("aria-label", label);
  };
  return { node: picture, show };
}

export const DIGITS = Array.from({ length: 10 }, (_, digit) => String(digit));
