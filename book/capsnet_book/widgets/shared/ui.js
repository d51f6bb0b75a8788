// Helpers of all widgets: elements, the model, frames of the page, screen readers, numbers.
import { t } from "./t.js";

// ------------------------------------------------------------------------------- elements

/**
 * element("button", { class: "x", onclick: f }, "text", child, …): text stays text, never HTML.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [attributes]  on… are listeners; undefined: no such attribute
 * @param {(Node | string)[]} children
 */
export function element(tag, attributes = {}, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}

/**
 * An element of a picture in SVG; otherwise like element().
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [attributes]
 * @param {(Node | string)[]} children
 */
export function svg(tag, attributes = {}, ...children) {
  return furnish(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/**
 * Gives a node its attributes, listeners and children.
 * @template {Element} Made
 * @param {Made} node @param {Record<string, any>} attributes @param {(Node | string)[]} children
 * @returns {Made}
 */
function furnish(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/**
 * Sets the attributes that differ: the browser looks for styles anew after each one that is set.
 * @param {Element} node @param {Record<string, any>} attributes
 */
export function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
  }
}

/**
 * Sets a node's text if it differs: the browser looks for styles anew after each change.
 * @param {Node} node @param {string} words
 */
export function write(node, words) {
  const text = node.firstChild ?? node.appendChild(new Text());
  if (text.nodeValue !== words) text.nodeValue = words;
}

/**
 * A button with words on it.
 * @param {string} role  its data-role @param {string} text
 * @param {(event: MouseEvent) => void} onclick @param {Record<string, any>} [more]  attributes
 */
export const pushButton = (role, text, onclick, more = {}) =>
  element("button", { type: "button", "data-role": role, onclick, ...more }, text);

/** A row of buttons. @param {Element[]} buttons */
export const rowOf = (...buttons) => element("div", { class: "bar presets" }, ...buttons);

/**
 * A picture and its caption.
 * @param {string} kind  a class @param {Element} picture @param {Element} caption
 */
export const figure = (kind, picture, caption) =>
  element("figure", { class: kind }, picture, caption);

/**
 * A widget's outermost element. Keys pressed inside stay inside, since JupyterLab and the book's
 * theme use arrow keys for themselves; with Ctrl or ⌘, shortcuts such as "save" still reach them.
 * @param {string} name  of the widget's class @param {string} label  for screen readers
 */
export function makeRoot(name, label) {
  const suppress = "data-lm-suppress-shortcuts"; // JupyterLab's listeners come first, and obey this
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

// ------------------------------------------------------------------------------ the model

/**
 * A synced Bytes value as Uint8Array; in Jupyter it comes as a DataView.
 * @param {ArrayBuffer | ArrayBufferView} value
 */
export function bytesOf(value) {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

/**
 * Sets the model's values, and Python's where there is a kernel.
 * @param {Record<string, any>} values
 */
export function save(model, values) {
  for (const [name, value] of Object.entries(values)) model.set(name, value);
  model.save_changes();
}

/** Listens to the model. Returns a function that stops it. @param {() => void} handler */
export function listen(model, event, handler) {
  model.on(event, handler);
  return () => model.off(event, handler);
}

// --------------------------------------------------------------------- frames of the page

/**
 * Returns a function that schedules `work` for the next frame, however often it is called in this
 * one; its method cancel() unschedules it.
 * @param {(time: number) => void} work
 */
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

/**
 * Lets parts show what is new one after another, so that no frame of the page is held up.
 * @param {(() => void)[]} parts
 */
export function makeTurns(parts) {
  let remaining = 0; // parts that have not had their turn in this round
  return {
    /** Begins a round: each part gets one turn, from where the last round stopped. */
    begin() {
      remaining = parts.length;
    },
    /**
     * Runs parts until `room` milliseconds are over, at least one. Returns whether parts remain.
     */
    go(room = 0) {
      const end = performance.now() + room;
      while (remaining > 0) {
        const part = parts.shift();
        parts.push(part);
        part();
        remaining--;
        if (performance.now() >= end) break;
      }
      return remaining > 0;
    },
  };
}

/**
 * Lets parts that go together run one after another, always from the first to the last. A pass that
 * is asked for while one is under way begins after it.
 * @param {(() => void)[]} parts
 */
export function makePass(parts) {
  let next = parts.length; // the part whose turn it is; behind the last one, none's
  let isWanted = false;
  return {
    begin() {
      isWanted = true;
    },
    /** Runs parts until `room` milliseconds are over, at least one. Returns whether some remain. */
    go(room = 0) {
      const end = performance.now() + room;
      do {
        if (next === parts.length) {
          if (!isWanted) return false;
          isWanted = false;
          next = 0;
        }
        parts[next]();
        next++;
      } while (performance.now() < end);
      return isWanted || next < parts.length;
    },
  };
}

const FRAME = 14; // milliseconds of a frame; work not begun by then waits for the next frame,
const SHARE = 0.25; // but gets this share of the time, at least: else a slow phone never answers
const ROOM = 2; // milliseconds at a time: painting goes on after the task that asked for it
const MOST = 8; // milliseconds at a time where it has waited

/**
 * Returns a function that asks for a frame of the page. In the frame first() runs, and returns
 * whether other work may follow. go(room) then uses the rest of the frame, and of later frames, as
 * long as it returns that there is more to do; done() comes last.
 * @param {() => boolean} first @param {(room: number) => boolean} go @param {() => void} done
 */
export function inSpareTime(first, go, done) {
  let last = 0; // the time at which work was done last
  const goOn = makeTask(work);
  const ask = oncePerFrame((start) => {
    if (first()) goOn(start + FRAME);
  });
  function work(/** @type {number} */ end) {
    const time = performance.now();
    const owed = Math.min(MOST, SHARE * (time - last));
    const isLate = time > end;
    if (isLate && owed < ROOM) return ask();
    const remains = go(isLate ? owed : ROOM);
    last = performance.now();
    if (remains) goOn(end);
    else done();
  }
  return ask;
}

/**
 * Returns a function (number) that runs work(number) soon, in a task of its own. A message is there
 * at once; setTimeout() waits 4 milliseconds from the fifth in a row on.
 * @param {(number: number) => void} work
 */
function makeTask(work) {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data }) => work(data);
  return (/** @type {number} */ number) => port2.postMessage(number);
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
 * Returns make, which makes its result once for each object, as long as that object lives.
 * @template {object} Cause
 * @template Result
 * @param {(cause: Cause) => Result} make
 * @returns {(cause: Cause) => Result}
 */
export function perObject(make) {
  /** @type {WeakMap<Cause, Result>} */
  const results = new WeakMap();
  return (cause) => {
    if (!results.has(cause)) results.set(cause, make(cause));
    return results.get(cause);
  };
}

// -------------------------------------------------------------------------- screen readers

const QUIET = 700; // milliseconds without a change before a sentence is spoken

/**
 * A polite live region. It speaks once nothing has changed for a while, and only to a reader whose
 * focus is in the widget or on a prompt in the text.
 * @param {HTMLElement} root
 */
export function makeAnnouncer(root) {
  const region = element("p", {
    class: "unseen",
    "aria-live": "polite",
    "data-role": "announcement",
  });
  root.append(region);
  let timer;
  const announce = (/** @type {string} */ text) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const focus = document.activeElement;
      if (root.contains(focus) || focus?.matches(".live-prompt")) region.textContent = text;
    }, QUIET);
  };
  announce.cancel = () => clearTimeout(timer);
  return announce;
}

// -------------------------------------------------------------------------------- numbers

/** 0.25 -> "0.25", with a true minus sign; `sign`: with a plus sign as well. */
export function format(/** @type {number} */ x, decimals = 2, sign = false) {
  const text = Math.abs(x).toFixed(decimals);
  const zero = Number(text) === 0;
  if (x < 0 && !zero) return `−${text}`;
  return sign && !zero ? `+${text}` : text;
}

/** 0.25 -> "25 %". */
export const percent = (/** @type {number} */ share) => `${Math.round(share * 100)} %`;

/** "a 7", "an 8", "a ★". */
export const withArticle = (/** @type {number | string} */ name) =>
  String(name) === "8" ? t`an ${name}` : t`a ${name}`;

/** "a", "a and b", "a, b and c". @param {string[]} words */
export const listed = (words) =>
  words.length < 2 ? words.join("") : t`${words.slice(0, -1).join(t`, `)} and ${words.at(-1)}`;

/** @type {(x: number, low: number, high: number) => number} */
export const clamp = (x, low, high) => Math.min(high, Math.max(low, x));
