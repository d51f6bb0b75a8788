// A capsule as an arrow, in the plane in which it moves while its digit turns.
import { makeArrow } from "../shared/controls.js";
import { t } from "../shared/t.js";
import { format, memoized, setAttributes, svg } from "../shared/ui.js";

const ONE = 100; // a length of 1, in the units of the viewBox
const HALF = 116;

/**
 * An arrow inside a circle of length 1, and the way that its tip has taken.
 */
export function makeCapsuleArrow() {
  const circle = svg("circle", { class: "axis", r: ONE });
  const half = svg("circle", { class: "limit", r: ONE / 2, fill: "none" });
  const trail = svg("path", { class: "trail" });
  const arrow = makeArrow("v");
  const view = { viewBox: `${-HALF} ${-HALF} ${2 * HALF} ${2 * HALF}`, class: "capsule-plane" };
  const picture = svg("svg", { ...view, role: "img" }, circle, half, trail, arrow.node);
  const onView = (/** @type {number[]} */ [x, y]) => [ONE * x, -ONE * y];
  const renewTrail = memoized((way) => {
    const points = way.map((at) =>
      onView(at)
        .map((x) => x.toFixed(1))
        .join(" "),
    );
    trail.setAttribute("d", points.length > 1 ? `M${points.join("L")}` : "");
  });

  /**
   * @param {number[]} tip  [right, up] @param {number[][]} way  tips, in the order of angles;
   *   the same list as long as it has not changed
   * @param {string} words
   */
  function show(tip, way, words) {
    renewTrail([way], way);
    arrow.point([0, 0], onView(tip), { size: 16 });
    setAttributes(picture, { "aria-label": words });
  }
  return { picture, show };
}

/** The arrow for screen readers. @param {number[]} tip */
export const arrowInWords = ([x, y]) =>
  t`The capsule as an arrow: ${format(x)} to the right, ${format(y)} up`;
