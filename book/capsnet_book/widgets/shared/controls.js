// How a reader operates a widget (dragging, arrow keys, sliders), movement, and parts of pictures
// (canvases, axes, grips, arrows).
import { clamp, element, setAttributes, svg } from "./ui.js";

/** @typedef {{ x: number, y: number }} Place
 *   shares of an area's width and height, from its top left corner */
/** @typedef {{ width: number, height: number }} Size  in CSS pixels */

// ------------------------------------------------------------------- pointer and keyboard

/**
 * Follows the pointer that goes down on `node` until it is released, even outside of `node`.
 * @param {Element} node
 * @param {{ area?: Element, focus: HTMLElement | SVGElement, start?: (at: Place) => void,
 *   move: (at: Place, trail: () => Place[]) => void, end?: () => void }} _
 *   area: the element whose shares places are, by default `node`; focus: the element that gets the
 *   focus; trail: all places since the last move
 */
export function drag(node, { area = node, focus, start, move, end }) {
  /** @type {number | null} */
  let pointer = null; // the id of the one that is down
  /** @type {DOMRect | undefined} */
  let box; // read once a drag, and again after scrolling: at every move it would force a layout
  const forgetBox = () => {
    box = undefined;
  };
  /** @type {(event: PointerEvent) => Place} */
  const placeOf = (event) => {
    box ??= area.getBoundingClientRect();
    return { x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height };
  };

  // Of a part of a picture in SVG, Chromium does not ask for touch-action: the page would scroll
  // away under the hand.
  const keepPage = (/** @type {Event} */ event) => {
    if (getComputedStyle(node).touchAction === "none") event.preventDefault();
  };
  if (node instanceof SVGElement) node.addEventListener("touchstart", keepPage, { passive: false });
  node.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    if (pointer !== null || event.button !== 0) return;
    forgetBox();
    focus.focus({ preventScroll: true }); // first: what loses the focus forgets what it pointed at
    start?.(placeOf(event));
    addEventListener("scroll", forgetBox, { capture: true, passive: true });
    event.preventDefault();
    node.setPointerCapture(event.pointerId);
    pointer = event.pointerId;
  });
  node.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    if (event.pointerId !== pointer) return;
    const trail = () => {
      const events = event.getCoalescedEvents?.() ?? [];
      return (events.length ? events : [event]).map(placeOf);
    };
    move(placeOf(event), trail);
  });
  node.addEventListener("lostpointercapture", (/** @type {PointerEvent} */ event) => {
    if (event.pointerId !== pointer) return;
    pointer = null;
    removeEventListener("scroll", forgetBox, { capture: true });
    end?.();
  });
}

/**
 * Lets the pointer carry something that lies on `area`, at the offset at which it was taken hold
 * of. Arrow keys move it by the first of `steps`, with Shift by the second.
 * @param {Element} node
 * @param {{ area?: Element, steps: number[], take?: (at: number[]) => void,
 *   inUnits: (at: Place) => number[], place: () => number[], move: (to: number[]) => void,
 *   keys?: Record<string, (event: KeyboardEvent) => unknown> }} _
 *   inUnits: converts a pointer's place to the units of place() and move(to); take: chooses the
 *   thing that is carried; keys: other keys
 */
export function carry(node, { area = node, steps, inUnits, take, place, move, keys }) {
  /** @type {number[]} */
  let offset;
  drag(node, {
    area,
    focus: /** @type {HTMLElement} */ (node),
    start: (at) => {
      take?.(inUnits(at));
      offset = inUnits(at).map((x, d) => place()[d] - x);
    },
    move: (at) => move(inUnits(at).map((x, d) => x + offset[d])),
  });
  const down = Math.sign(inUnits({ x: 0, y: 1 })[1] - inUnits({ x: 0, y: 0 })[1]); // −1: y up
  const walk = (
    /** @type {number} */ dx,
    /** @type {number} */ dy,
    /** @type {KeyboardEvent} */ { shiftKey },
  ) => {
    const step = shiftKey ? steps[1] : steps[0];
    move([place()[0] + dx * step, place()[1] + down * dy * step]);
  };
  arrowKeys(node, walk, keys);
}

/** The directions of the arrow keys on the screen: y grows downwards. */
export const ARROWS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/**
 * Calls arrow(dx, dy, event) on an arrow key, dy growing downwards, and one of `others` on the key
 * of that name. A handled key does nothing else in the page, unless the function returns false.
 * @param {Element} node
 * @param {(dx: number, dy: number, event: KeyboardEvent) => unknown} arrow
 * @param {Record<string, (event: KeyboardEvent) => unknown>} [others]
 */
export function arrowKeys(node, arrow, others = {}) {
  node.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return; // shortcuts of the browser
    const direction = ARROWS[event.key];
    const handler = direction ? () => arrow(direction[0], direction[1], event) : others[event.key];
    if (handler && handler(event) !== false) event.preventDefault();
  });
}

/**
 * A slider; attributes on… are listeners. show(value, text) sets its value, and the text that
 * screen readers say for it.
 */
export function rangeInput(/** @type {Record<string, any>} */ attributes) {
  const input = element("input", { type: "range", ...attributes });
  const show = (/** @type {number} */ value, /** @type {string} */ text) => {
    input.valueAsNumber = value;
    input.setAttribute("aria-valuetext", text);
  };
  return { input, show };
}

/**
 * A rangeInput with its name and its value above it.
 * @param {string} name @param {Record<string, any>} limits  and other attributes
 */
export function namedSlider(name, limits) {
  const { input, show } = rangeInput({ min: 0, max: 1, "aria-label": name, ...limits });
  const value = element("output", { "aria-hidden": "true" });
  const caption = element("span", { class: "caption" }, element("span", {}, name), value);
  const node = element("div", { class: "slider" }, caption, input);
  const write = (/** @type {number} */ x, /** @type {string} */ text) => {
    value.textContent = text;
    show(x, text);
  };
  return { input, node, show: write };
}

// ------------------------------------------------------------------------------- movement

/** Whether the reader's system asks for less motion. */
export const wantsCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * Interpolates between two lists of numbers, t from 0 to 1.
 * @param {ArrayLike<number>} from @param {ArrayLike<number>} to @param {number} t
 */
export const mixed = (from, to, t) => Array.from(from, (x, k) => x + (to[k] - x) * t);

/** Eases t from 0 to 1: slow at both ends. */
export const eased = (/** @type {number} */ t) => t * t * (3 - 2 * t);

/**
 * Calls draw(t) once a frame for `duration` milliseconds, t from 0 to 1, slow at both ends; once
 * with 1 where the reader wants less motion. Returns a function that stops the movement.
 * @param {number} duration @param {(t: number) => void} draw
 */
export function glide(duration, draw) {
  let frame = 0;
  /** @type {number | undefined} */
  let start;
  const step = (/** @type {number} */ now) => {
    start ??= now;
    const t = wantsCalm() ? 1 : clamp((now - start) / duration, 0, 1);
    if (t < 1) frame = requestAnimationFrame(step);
    draw(eased(t));
  };
  frame = requestAnimationFrame(step);
  return () => cancelAnimationFrame(frame);
}

// ------------------------------------------------------------------------------- pictures

/**
 * An element's size, read only when it changes: reading it while drawing would force a layout.
 * @param {Element} node @param {() => void} [changed]  called at each change, and once at first
 */
export function measure(node, changed) {
  const size = {
    width: node.clientWidth,
    height: node.clientHeight,
    stop: () => observer.disconnect(),
  };
  const observer = new ResizeObserver(([{ target }]) => {
    size.width = target.clientWidth; // cheap here: the layout has just been done
    size.height = target.clientHeight;
    changed?.();
  });
  observer.observe(node);
  return size;
}

/**
 * Gives a canvas `ratio` pixels for each CSS pixel, by default as many as the screen has.
 * @param {HTMLCanvasElement} canvas @param {Size} size
 */
export function fitCanvas(canvas, size, ratio = window.devicePixelRatio || 1) {
  const width = Math.round(size.width * ratio);
  const height = Math.round(size.height * ratio);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  return { brush: canvas.getContext("2d"), width, height, ratio };
}

/**
 * The axes of a chart in SVG. x(value) and y(value) convert values to the units of the viewBox; in
 * these units floor is the y of the lower edge, end the x of the right one. text() makes a label.
 * @param {Size & { left: number, right: number, top: number, bottom: number,
 *   x?: number[], y?: number[],
 *   warp?: { x?: (value: number) => number, y?: (value: number) => number } }} plan
 *   left, right, top, bottom: margins; x, y: the values at either end; warp: Math.log for a
 *   logarithmic axis
 */
export function axes({ width, height, left, right, top, bottom, ...plan }) {
  const across = plan.x ?? [0, 1];
  const up = plan.y ?? [0, 1];
  const share = (
    /** @type {number[]} */ ends,
    /** @type {number} */ value,
    scale = (/** @type {number} */ x) => x,
  ) => {
    const [from, to] = ends.map((end) => scale(end));
    return (scale(value) - from) / (to - from);
  };
  const floor = height - bottom;
  const end = width - right;
  const x = (/** @type {number} */ value) =>
    left + share(across, value, plan.warp?.x) * (end - left);
  const y = (/** @type {number} */ value) => floor - share(up, value, plan.warp?.y) * (floor - top);
  /** @type {(words: string, x: number, y: number, more?: Record<string, any>) => SVGTextElement} */
  const text = (words, atX, atY, more) =>
    svg("text", { class: "label", x: atX, y: atY, ...more }, words);
  return {
    x,
    y,
    floor,
    end,
    text,
    /** A `d` through points of values. @param {number[][]} points */
    path: (points) =>
      points.map((p, k) => `${k ? "L" : "M"}${x(p[0]).toFixed(2)} ${y(p[1]).toFixed(2)}`).join(""),
    /** Labels under the axis. @param {number[]} values */
    below: (values, drop = 16, words = (/** @type {number} */ value) => String(value)) =>
      values.map((value) =>
        text(words(value), x(value), floor + drop, { "text-anchor": "middle" }),
      ),
    /** Labels to the left. @param {number[]} values */
    beside: (
      values,
      gap = 8,
      words = (/** @type {number} */ value) => (value === 0.5 ? "½" : String(value)),
    ) =>
      values.map((value) => text(words(value), left - gap, y(value) + 4, { "text-anchor": "end" })),
  };
}

/** A handle in a picture: a knob in a ring, on an invisible patch large enough for fingers. */
export function grip(attributes, ring = 11, knob = 6.5) {
  const circles = Object.entries({ touch: 22, ring, knob }).map(([kind, r]) =>
    svg("circle", { class: kind, r }),
  );
  return svg("g", { class: "handle", tabindex: 0, role: "slider", ...attributes }, ...circles);
}

/**
 * An arrow. point(from, to, { gap, size }) draws it: `gap` is left free at its tip, `size` is the
 * length of its head.
 * @param {string} kind  a class
 */
export function makeArrow(kind) {
  const shaft = svg("line", { class: "shaft" });
  const head = svg("polygon", { class: "head" });
  const node = svg("g", { class: `arrow ${kind}` }, shaft, head);
  const point = (
    /** @type {number[]} */ [x0, y0],
    /** @type {number[]} */ [x1, y1],
    { gap = 0, size = 9 } = {},
  ) => {
    const length = Math.hypot(x1 - x0, y1 - y0);
    const ux = (x1 - x0) / (length || 1); // the direction
    const uy = (y1 - y0) / (length || 1);
    const headLength = clamp((length - gap) / 2, 0, size);
    const tip = [x1 - ux * gap, y1 - uy * gap];
    const base = [tip[0] - ux * headLength, tip[1] - uy * headLength]; // of the head
    const side = [(uy * headLength) / 2, (-ux * headLength) / 2]; // from the base to a corner
    setAttributes(shaft, { x1: x0, y1: y0, x2: base[0], y2: base[1] });
    const left = [base[0] - side[0], base[1] - side[1]];
    const right = [base[0] + side[0], base[1] + side[1]];
    head.setAttribute("points", `${tip} ${left} ${right}`);
    node.toggleAttribute("hidden", length <= gap);
  };
  return { node, point };
}
