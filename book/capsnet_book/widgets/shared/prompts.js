// Links in a notebook's text that set a widget: `#try-BendCapsule?offsets.15=0.25`.
// In the book _static/live-host.js does the same.

const LINK = "#try-";

/** Reads JSON, or text without quotes. */
function parsed(/** @type {string} */ text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * Follows the links to a widget: to the first one of its class in the link's notebook. Returns a
 * function that stops it.
 * @param {string} widget  the name of its class @param {HTMLElement} el
 */
export function followPrompts(widget, model, el) {
  function follow(/** @type {any} */ event) {
    const link = event.target.closest?.(`a[href^="${LINK}"]`);
    if (!link) return;
    const [name, query] = decodeURIComponent(link.hash.slice(LINK.length)).split("?");
    const notebook = link.closest(".jp-Notebook") ?? document;
    if (name !== widget || !el.contains(notebook.querySelector(`[data-widget="${name}"]`))) return;
    event.preventDefault();
    for (const [key, text] of new URLSearchParams(query)) {
      const [trait, place] = key.split(".");
      const value = parsed(text);
      model.set(trait, place === undefined ? value : model.get(trait).with(Number(place), value));
    }
    model.save_changes();
    el.scrollIntoView({ block: "nearest" });
  }
  document.addEventListener("click", follow, true);
  return () => document.removeEventListener("click", follow, true);
}
