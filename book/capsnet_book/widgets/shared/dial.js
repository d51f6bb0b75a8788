// A digit inside a ring, with a handle on the ring that turns the digit.
import { arrowKeys, drag, grip } from "./controls.js";
import { digitCanvas } from "./digits.js";
import { angleOf, direction, wrapped } from "./plane.js";
import { t } from "./t.js";
import { clamp, element, setAttributes, svg } from "./ui.js";

/** The ring's radius; the dial's picture shows −120 to 120 both ways, half a dial less below. */
export const RING = 104;
/** Half the digit's side; what lies in its corners is paper. */
export const DIGIT = 92;

const REACH = 120;
const BELOW_HALF = 98; // how far half a dial reaches down: as far as the digit does
const STEPS = [3, 15]; // degrees that an arrow key turns by, and with Shift

/** A place on the ring, by degrees from its top, anticlockwise. */
export function onRing(/** @type {number} */ degrees, radius = RING) {
  const [x, y] = direction(degrees + 90);
  return [radius * x, -radius * y];
}

/** A `d` along the ring, anticlockwise. */
export function arcOf(/** @type {number} */ from, /** @type {number} */ to, radius = RING) {
  const [x0, y0] = onRing(from, radius);
  const [x1, y1] = onRing(to, radius);
  return `M${x0} ${y0}A${radius} ${radius} 0 0 0 ${x1} ${y1}`;
}

/**
 * A dial. show(degrees, words) puts the handle, and says its place to screen readers; marks lie
 * under the handle.
 * @param {{ limit: number, marks?: Element[], label?: string,
 *   zero?: number, turnTo: (degrees: number) => void, turnNow: () => number }} _
 *   limit: degrees either way, 180 for all around; zero: where 0° stands, from the ring's top
 */
export function makeDial({
  limit,
  marks = [],
  label = t`Turn the digit`,
  zero = 0,
  turnTo,
  turnNow,
}) {
  const isWhole = limit === 180;
  const canvas = digitCanvas("turned", "");
  const handle = grip({
    "data-role": "handle",
    "aria-label": label,
    "aria-valuemin": -limit,
    "aria-valuemax": limit,
  });
  handle.querySelector(".touch")?.setAttribute("r", "30"); // 40 pixels wide on a phone
  const along = isWhole ? svg("circle", { r: RING }) : svg("path", { d: arcOf(-limit, limit) });
  const line = /** @type {SVGElement} */ (along.cloneNode());
  along.setAttribute("class", "track");
  line.setAttribute("class", "ring-line");
  const height = REACH + (isWhole ? REACH : BELOW_HALF);
  const view = { viewBox: `${-REACH} ${-REACH} ${2 * REACH} ${height}`, class: "ring" };
  const picture = svg("svg", view, line, ...marks, along, handle);
  const node = element("div", { class: isWhole ? "dial" : "dial half" }, canvas, picture);

  /** Turns within the limits; never to −0. */
  const turn = (/** @type {number} */ degrees) => {
    const near = wrapped(degrees);
    turnTo(Math.round(isWhole ? near : clamp(near, -limit, limit)) || 0);
  };
  const follow = {
    area: picture,
    focus: handle,
    move: (/** @type {{ x: number, y: number }} */ { x, y }) =>
      turn(angleOf((x - 0.5) * 2 * REACH, REACH - y * height) - 90 - zero),
  };
  drag(handle, follow);
  drag(along, { ...follow, start: follow.move });
  arrowKeys(
    handle,
    (dx, dy, { shiftKey }) => {
      const to = turnNow() - (dx || -dy) * STEPS[Number(shiftKey)];
      turn(isWhole ? to : clamp(to, -limit, limit));
    },
    isWhole ? {} : { Home: () => turn(limit), End: () => turn(-limit) },
  );

  function show(/** @type {number} */ degrees, /** @type {string} */ words) {
    const [x, y] = onRing(degrees + zero);
    setAttributes(handle, {
      transform: `translate(${x} ${y})`,
      "aria-valuenow": -degrees || 0, // to the right is more
      "aria-valuetext": words,
    });
  }
  return { node, canvas, handle, show };
}
