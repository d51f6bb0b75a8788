// What a reader's hand does in a widget, and the pictures it is done to: dragging, arrow keys, sliders, playing, axes.
import { clamp, element, setAttributes, svg } from "./ui.js";

/** @typedef {{ x: number, y: number }} Place  shares of an area's width and height, from its top left corner */
/** @typedef {{ width: number, height: number }} Size  in CSS pixels */

// ----------------------------------------------------------------------------------------------- hands

/**
 * Follows the pointer that goes down on `node` until it is released, even outside of it.
 * @param {Element} node
 * @param {{ area?: Element, focus: HTMLElement | SVGElement, start?: (at: Place) => void,
 *   move: (at: Place, trail: () => Place[]) => void, end?: () => void }} _
 *   area: whose width and height places are shares of (`node` itself unless told); focus: gets the focus; trail: every
 *   place since the last move
 */
export function drag(node, { area = node, focus, start, move, end }) {
  /** @type {number | null} */
  let held = null;
  /** @type {DOMRect | undefined} */
  let box; // read when the pointer goes down: at every move it would force a layout
  /** @type {(event: PointerEvent) => Place} */
  const placeOf = (event) => {
    const { left, top, width, height } = box;
    return { x: (event.clientX - left) / width, y: (event.clientY - top) / height };
  };
  node.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    if (held !== null || event.button !== 0) return;
    box = area.getBoundingClientRect();
    start?.(placeOf(event));
    event.preventDefault();
    node.setPointerCapture(event.pointerId);
    held = event.pointerId;
    focus.focus({ preventScroll: true });
  });
  node.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    if (event.pointerId !== held) return;
    const trail = () => {
      const events = event.getCoalescedEvents?.() ?? [];
      return (events.length ? events : [event]).map(placeOf);
    };
    move(placeOf(event), trail);
  });
  node.addEventListener("lostpointercapture", (/** @type {PointerEvent} */ event) => {
    if (event.pointerId !== held) return;
    held = null;
    end?.();
  });
}

/**
 * Lets the pointer carry something that lies on `area`, and keeps the offset at which it was taken hold of; arrow keys
 * move it by a step, or a larger one with Shift.
 * @param {Element} node
 * @param {{ area?: Element, steps: number[], take?: (at: number[]) => void,
 *   inUnits: (at: Place) => number[], place: () => number[], move: (to: number[]) => void }} _
 *   inUnits: a pointer's place in the units in which place() says where it lies and move(to) where it goes;
 *   take: chooses what is carried
 */
export function carry(node, { area = node, steps, inUnits, take, place, move }) {
  /** @type {number[]} */
  let held;
  drag(node, {
    area,
    focus: /** @type {HTMLElement} */ (node),
    start: (at) => {
      take?.(inUnits(at));
      held = inUnits(at).map((x, d) => place()[d] - x);
    },
    move: (at) => move(inUnits(at).map((x, d) => x + held[d])),
  });
  const down = Math.sign(inUnits({ x: 0, y: 1 })[1] - inUnits({ x: 0, y: 0 })[1]); // whether y grows downwards
  const walk = (
    /** @type {number} */ dx,
    /** @type {number} */ dy,
    /** @type {KeyboardEvent} */ { shiftKey },
  ) => {
    const by = steps[Number(shiftKey)];
    move([place()[0] + dx * by, place()[1] + down * dy * by]);
  };
  arrowKeys(node, walk);
}

/** Where the arrow keys point, as on the screen: y grows downwards. */
export const ARROWS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/**
 * arrow(dx, dy, event) on an arrow key, dy growing downwards; `others` by the names of their keys. What they handle
 * does nothing else in the page, unless they return false.
 * @param {(dx: number, dy: number, event: KeyboardEvent) => unknown} arrow
 * @param {Record<string, (event: KeyboardEvent) => unknown>} [others]
 */
export function arrowKeys(node, arrow, others = {}) {
  node.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return; // the browser's own
    const [dx, dy] = ARROWS[event.key] ?? [];
    const work = dx === undefined ? others[event.key] : () => arrow(dx, dy, event);
    if (work && work(event) !== false) event.preventDefault();
  });
}

/** A slider: attributes, on… are listeners. show(value, text) sets it, and what a screen reader says of it. */
export function rangeInput(/** @type {Record<string, any>} */ attributes) {
  const input = element("input", { type: "range", ...attributes });
  const show = (/** @type {number} */ value, /** @type {string} */ text) => {
    input.valueAsNumber = value;
    input.setAttribute("aria-valuetext", text);
  };
  return { input, show };
}

/** The same with its name and its value above it. @param {string} name @param {Record<string, any>} limits */
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

// ------------------------------------------------------------------------------------------------ time

/** Whether the reader wishes for less motion. */
export const wantsCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** The way from numbers to others, t from 0 to 1. */
export const mixed = (from, to, t) => Array.from(from, (x, k) => x + (to[k] - x) * t);

/** From 0 to 1, slow at both ends. */
export const eased = (/** @type {number} */ t) => t * t * (3 - 2 * t);

/**
 * draw(t) a frame for some milliseconds, t from 0 to 1, slow at both ends; where less motion is wished for, 1 at once.
 * -> a function that ends it where it is
 * @param {(t: number) => void} draw
 */
export function glide(duration, draw) {
  let frame = 0;
  /** @type {number | undefined} */
  let began;
  const step = (/** @type {number} */ now) => {
    began ??= now;
    const t = wantsCalm() ? 1 : clamp((now - began) / duration, 0, 1);
    if (t < 1) frame = requestAnimationFrame(step);
    draw(eased(t));
  };
  frame = requestAnimationFrame(step);
  return () => cancelAnimationFrame(frame);
}

// -------------------------------------------------------------------------------------------- pictures

/**
 * An element's size, read when it changes and not in between: to read it while drawing would force a layout.
 * @param {Element} node @param {() => void} [changed]  called at each change, and once at first
 */
export function measure(node, changed) {
  const size = {
    width: node.clientWidth,
    height: node.clientHeight,
    stop: () => observer.disconnect(),
  };
  const observer = new ResizeObserver(([{ target }]) => {
    Object.assign(size, { width: target.clientWidth, height: target.clientHeight }); // laid out already: this is cheap
    changed?.();
  });
  observer.observe(node);
  return size;
}

/**
 * Gives a canvas as many pixels as the screen has where it is shown, or `ratio` for each of CSS.
 * @param {HTMLCanvasElement} canvas @param {Size} size
 */
export function fitCanvas(canvas, size, ratio = window.devicePixelRatio || 1) {
  const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  return { brush: canvas.getContext("2d"), width, height, ratio };
}

/**
 * The plan of a chart in SVG: where values lie, and labels for the axes.
 * @param {Size & { left: number, right: number, top: number, bottom: number, x?: number[], y?: number[],
 *   warp?: { x?: (value: number) => number, y?: (value: number) => number } }} _
 *   margins; x, y: the values at either end; warp: Math.log for a logarithmic axis
 */
export function axes({
  width,
  height,
  left,
  right,
  top,
  bottom,
  x: across = [0, 1],
  y: up = [0, 1],
  warp = {},
}) {
  const share = (
    /** @type {number[]} */ ends,
    /** @type {number} */ value,
    scale = (/** @type {number} */ x) => x,
  ) => {
    const [from, to] = ends.map((end) => scale(end));
    return (scale(value) - from) / (to - from);
  };
  const [floor, end] = [height - bottom, width - right];
  const x = (/** @type {number} */ value) => left + share(across, value, warp.x) * (end - left);
  const y = (/** @type {number} */ value) => floor - share(up, value, warp.y) * (floor - top);
  /** @param {string} words @param {number} atX @param {number} atY @param {Record<string, any>} [more] */
  const text = (words, atX, atY, more) =>
    svg("text", { class: "label", x: atX, y: atY, ...more }, words);
  return {
    ...{ x, y, floor, end, text },
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

/** What is taken hold of in a picture: a knob in a ring, on a patch that fingers hit. */
export function grip(attributes, ring = 11, knob = 6.5) {
  const circles = Object.entries({ touch: 22, ring, knob }).map(([kind, r]) =>
    svg("circle", { class: kind, r }),
  );
  return svg("g", { class: "handle", tabindex: 0, role: "slider", ...attributes }, ...circles);
}

/** An arrow. point(from, to, { gap, size }) draws it, less `gap` at its tip; `size` is its head's. */
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
    const [ux, uy] = length ? [(x1 - x0) / length, (y1 - y0) / length] : [0, 0];
    const h = clamp((length - gap) / 2, 0, size);
    const [tx, ty] = [x1 - ux * gap, y1 - uy * gap];
    const [bx, by] = [tx - ux * h, ty - uy * h];
    const [sx, sy] = [(uy * h) / 2, (ux * h) / 2];
    setAttributes(shaft, { x1: x0, y1: y0, x2: bx, y2: by });
    head.setAttribute("points", `${tx},${ty} ${bx - sx},${by + sy} ${bx + sx},${by - sy}`);
    node.toggleAttribute("hidden", length <= gap);
  };
  return { node, point };
}
