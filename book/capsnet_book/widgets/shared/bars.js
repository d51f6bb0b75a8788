// Bars: the length of a capsule, or the size of a share.
import { clamp, element, format, write } from "./ui.js";

/** A digit counts as present from this length on, midway between the margins 0.1 and 0.9. */
export const LONG = 0.5;

const LEAST = 0.02; // of an upright bar: a line that says where it stands

/**
 * A bar along one edge of its rail, and its number beside it. show(x) fills it; from 1 on it is
 * full, and of NaN, which is not known, it shows a dash. It grows by a scale, which moves nothing
 * in the page.
 * @param {"width" | "height"} edge  of the rail, along which the bar grows
 */
export function makeBar(edge = "width") {
  const fill = element("span", { class: "fill" });
  const value = element("span", { class: "value" });
  const show = (/** @type {number} */ x) => {
    const isKnown = !Number.isNaN(x);
    const share = isKnown ? clamp(x, 0, 1) : 0;
    fill.style.scale = edge === "width" ? `${share} 1` : `1 ${Math.max(share, LEAST)}`;
    write(value, isKnown ? format(x) : "–");
  };
  return { rail: element("span", { class: "rail" }, fill), value, show };
}

/**
 * Ten bars under each other, one a class. list: the element. show(values, best, isLong): the row of
 * `best` in bold, and in colour the rows for which isLong(value, j) is true: by default the best
 * one. name(names): what the classes are called.
 * @param {string} label
 */
export function makeBars(label) {
  const bars = Array.from({ length: 10 }, (_, j) => {
    const { rail, value, show } = makeBar();
    const digit = element("span", { class: "digit" }, String(j));
    return { digit, show, row: element("li", { class: "length" }, digit, rail, value) };
  });
  const list = element(
    "ol",
    { class: "lengths", "aria-label": label },
    ...bars.map(({ row }) => row),
  );
  const show = (values, best, isLong = (_, j) => j === best) =>
    bars.forEach(({ show, row }, j) => {
      show(values[j]);
      row.classList.toggle("longest", j === best);
      row.classList.toggle("long", isLong(values[j], j));
    });
  /** Name the classes otherwise than by their numbers. @param {string[]} names */
  const name = (names) => bars.forEach(({ digit }, j) => write(digit, names[j]));
  return { list, show, name };
}
