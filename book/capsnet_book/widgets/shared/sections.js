// Links in a notebook's text to a section: `#train-it`, `09-training.ipynb#train-it`. JupyterLab
// names a section by its heading, capital letters and marks included (`Train-it`), and so finds none.

const PAUSE = 250; // milliseconds
const TRIES = 40; // for a notebook that JupyterLab has yet to open
const SCROLLS = 12; // while cells above still take their heights
const SHOWN = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook";
const HEADINGS = ":is(h1, h2, h3, h4, h5, h6)";

const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE));

/** What the names of a section have in common: its letters and digits. */
const lettersOf = (/** @type {string} */ name) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

/** Returns the first heading with a section's name, or undefined. */
export function findSection(/** @type {Iterable<any>} */ headings, /** @type {string} */ name) {
  const letters = lettersOf(name);
  return [...headings].find((heading) => lettersOf(heading.textContent) === letters);
}

/** Scrolls to a heading, and again when it has moved by itself, unless the reader scrolls. */
async function moveTo(/** @type {Element} */ section) {
  const reader = new AbortController();
  const stop = () => reader.abort();
  for (const act of ["wheel", "pointerdown", "keydown"])
    document.addEventListener(act, stop, { capture: true, signal: reader.signal });
  for (let scroll = 0; scroll < SCROLLS && !reader.signal.aborted; scroll++) {
    section.scrollIntoView();
    await pause();
  }
  reader.abort();
}

/** Moves to a section of the notebook that JupyterLab opens beside `origin`. */
async function moveToAnotherNotebook(/** @type {string} */ name, /** @type {Element} */ origin) {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    await pause();
    const notebooks = [...document.querySelectorAll(SHOWN)].filter((other) => other !== origin);
    const headings = notebooks.flatMap((notebook) => [...notebook.querySelectorAll(HEADINGS)]);
    const section = findSection(headings, name);
    if (section) return moveTo(section);
  }
}

/**
 * Follows the links to sections in a widget's notebook, once a notebook. Returns a function that
 * stops it.
 */
export function followSections(/** @type {HTMLElement} */ el) {
  function follow(/** @type {any} */ event) {
    const link = event.target.closest?.(".jp-Notebook a[href]");
    if (!link || link.hash.length < 2) return;
    const notebook = link.closest(".jp-Notebook");
    if (!el.contains(notebook.querySelector("[data-widget]"))) return;
    const name = decodeURIComponent(link.hash.slice(1));
    if (!link.getAttribute("href").startsWith("#")) {
      moveToAnotherNotebook(name, notebook);
      return;
    }
    const section = findSection(notebook.querySelectorAll(HEADINGS), name);
    if (!section) return;
    event.preventDefault();
    moveTo(section);
  }
  document.addEventListener("click", follow, true);
  return () => document.removeEventListener("click", follow, true);
}
