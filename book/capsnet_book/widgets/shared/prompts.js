// Links in a notebook's text that set a widget: `#try-PoseSliders?offsets.15=0.25` (in the book, _static/live-host.js).

/** JSON, or text without quotes. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Follows the links that mean a widget: the first of its class in the link's notebook. -> what ends it */
export function followPrompts(widget, model, el) {
  function follow(event) {
    const link = event.target.closest?.('a[href^="#try-"]');
    const [name, query] = link
      ? decodeURIComponent(link.hash.slice("#try-".length)).split("?")
      : [];
    const notebook = link?.closest(".jp-Notebook") ?? document;
    if (!link || name !== widget || !el.contains(notebook.querySelector(`[data-widget="${name}"]`)))
      return;
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
