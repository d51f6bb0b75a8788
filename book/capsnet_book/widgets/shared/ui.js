// What the widgets share: making elements, talking to the model, speaking to screen readers.

/**
 * element("button", { class: "x", onclick: f }, "text", child, …): text goes in as text, never as HTML.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [attributes]  on… are listeners; undefined leaves one out
 * @param {(Node | string)[]} children
 */
export function element(tag, attributes = {}, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}

/**
 * The same for a picture in SVG.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [attributes]
 * @param {(Node | string)[]} children
 */
export function svg(tag, attributes = {}, ...children) {
  return furnish(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/**
 * @template {Element} Made
 * @param {Made} node
 */
function furnish(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** Sets only what differs: each one set costs a search for styles. @param {Record<string, any>} attributes */
export function setAttributes(/** @type {Element} */ node, attributes) {
  for (const [name, value] of Object.entries(attributes))
    if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

/** Shows words, and leaves a node alone that has them; a text that is put in anew costs a search for styles. */
export function write(/** @type {Node} */ node, /** @type {string} */ words) {
  const text = node.firstChild ?? node.appendChild(new Text());
  if (text.nodeValue !== words) text.nodeValue = words;
}

/** A button with words on it. @param {(event: MouseEvent) => void} onclick @param {Record<string, any>} [more] */
export const pushButton = (role, text, onclick, more = {}) =>
  element("button", { type: "button", "data-role": role, onclick, ...more }, text);

/** Buttons in a row. @param {Element[]} buttons */
export const rowOf = (...buttons) => element("div", { class: "bar presets" }, ...buttons);

/** A picture and its caption. @param {string} kind  a class @param {Element} picture @param {Element} caption */
export const figure = (kind, picture, caption) =>
  element("figure", { class: kind }, picture, caption);

/**
 * A widget's outermost element. What is typed inside stays inside: JupyterLab and the book's theme take arrow keys
 * for themselves. With Ctrl or ⌘ held, shortcuts such as "save" still reach them.
 */
export function makeRoot(name, label) {
  const suppress = "data-lm-suppress-shortcuts"; // JupyterLab listens before we are asked, and honours this
  const about = { "data-widget": name, role: "group", "aria-label": label };
  const root = element("div", { class: "capsnet", ...about, [suppress]: "" });
  const shortcuts = (event) => root.toggleAttribute(suppress, !(event.ctrlKey || event.metaKey));
  root.addEventListener("keydown", (event) => {
    shortcuts(event);
    if (!(event.ctrlKey || event.metaKey)) event.stopPropagation();
  });
  root.addEventListener("keyup", shortcuts);
  return root;
}

/** A synced Bytes value, however it comes (DataView in Jupyter), as Uint8Array. */
export function bytesOf(value) {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

/** Gives values to the model, and to Python where there is one. @param {Record<string, any>} values */
export function save(model, values) {
  for (const [name, value] of Object.entries(values)) model.set(name, value);
  model.save_changes();
}

/** Listens to the model until the returned function is called. @param {() => void} handler */
export function listen(model, event, handler) {
  model.on(event, handler);
  return () => model.off(event, handler);
}

/** Calls of the returned function within one frame become one call of `work`, at the next frame. */
export function oncePerFrame(work) {
  let frame = 0;
  const schedule = () => {
    frame ||= requestAnimationFrame((time) => {
      frame = 0;
      work(time);
    });
  };
  schedule.cancel = () => cancelAnimationFrame(frame);
  return schedule;
}

/** Parts that show what is new one after another: no frame of the page is held up. @param {(() => void)[]} parts */
export function makeTurns(parts) {
  let left = 0;
  return {
    begin() {
      left = parts.length; // each once from now on, wherever the last round stopped
    },
    /** As many as begin within `room` milliseconds, one at least. -> whether there are more */
    go(room = 0) {
      const end = performance.now() + room;
      for (let more = left > 0; more; more = left > 0 && performance.now() < end) {
        parts.push(parts.shift());
        parts.at(-1)();
        left--;
      }
      return left > 0;
    },
  };
}

const FRAME = 12; // milliseconds of a frame; what has not begun by then waits for the next one,
const LATE = 50; // but no longer than that
const ROOM = 2; // milliseconds at a time: what is painted takes longer than the task that paints it

/**
 * In every frame first() comes first, and says whether others may follow; go(room), which says whether there is more,
 * has what is left of it; done() comes last. -> a function that asks for a frame
 */
export function inSpareTime(first, go, done) {
  let due = 0;
  const ask = oncePerFrame((began) => first() && setTimeout(work, 0, began + FRAME));
  function work(/** @type {number} */ end) {
    const time = performance.now();
    if (time > end && time < due) return ask();
    due = time + LATE;
    if (go(ROOM)) setTimeout(work, 0, end);
    else done();
  }
  return ask;
}

/**
 * Returns a function (dependencies, …args) that calls work(…args), and skips the call if all
 * dependencies are identical to those of the last call.
 * @param {(...args: any[]) => void} work
 */
export function memoized(work) {
  /** @type {any[] | undefined} */
  let last;
  return (/** @type {any[]} */ dependencies, /** @type {any[]} */ ...args) => {
    if (last && dependencies.every((dependency, n) => dependency === last[n])) return;
    last = dependencies;
    work(...args);
  };
}

/**
 * A polite live region. It speaks to a reader who is in the widget, or has pressed a prompt in the text, once things
 * have been quiet for a while.
 */
export function makeAnnouncer(root) {
  const region = element("p", {
    class: "unseen",
    "aria-live": "polite",
    "data-role": "announcement",
  });
  root.append(region);
  let timer;
  const announce = (text) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const at = document.activeElement;
      if (root.contains(at) || at?.matches(".live-prompt")) region.textContent = text;
    }, 700);
  };
  announce.cancel = () => clearTimeout(timer);
  return announce;
}

// -------------------------------------------------------------------------------------------- numbers

/** 0.25 -> "0.25", with a true minus; `sign` also shows the plus. */
export function format(x, decimals = 2, sign = false) {
  const text = Math.abs(x).toFixed(decimals);
  const zero = Number(text) === 0;
  if (x < 0 && !zero) return `−${text}`;
  return sign && !zero ? `+${text}` : text;
}

/** 0.25 -> "25 %". */
export const percent = (/** @type {number} */ share) => `${Math.round(share * 100)} %`;

/** "a 7", "an 8". */
export const withArticle = (/** @type {number} */ digit) => `${digit === 8 ? "an" : "a"} ${digit}`;

export const clamp = (x, low, high) => Math.min(high, Math.max(low, x));
