// Ten bars under each other, one a class: how long its capsule is, or how large its share.
import { clamp, element, format } from "./ui.js";

/** A capsule at least this long says that its digit is there: midway between the margins 0.1 and 0.9. */
export const LONG = 0.5;

/**
 * list: the element; show(values, best, isLong): the row of `best` in bold, and in colour
 * the rows that `isLong(value, j)` picks: the best one, unless told otherwise. A full bar is 1 or more.
 */
export function makeBars(label, classes = 10) {
  const bars = Array.from({ length: classes }, (_, j) => {
    const fill = element("span", { class: "fill" });
    const value = element("span", { class: "value" });
    const [digit, rail] = [element("span", { class: "digit" }, String(j)), element("span", { class: "rail" }, fill)];
    return { fill, value, row: element("li", { class: "length" }, digit, rail, value) };
  });
  const list = element("ol", { class: "lengths", "aria-label": label }, ...bars.map(({ row }) => row));
  const show = (values, best, isLong = (_, j) => j === best) =>
    bars.forEach(({ fill, value, row }, j) => {
      fill.style.width = `${clamp(values[j], 0, 1) * 100}%`;
      value.textContent = format(values[j]);
      row.classList.toggle("longest", j === best);
      row.classList.toggle("long", isLong(values[j], j));
    });
  return { list, show };
}
