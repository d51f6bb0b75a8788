/* The switch between Read and Build, and the folds of Read (book/_ext/pages/folds.py). */

(() => {
  const KEY = "capsnet:way"; // all projects of one github.io account share the storage
  const root = document.documentElement;
  const buttons = [...document.querySelectorAll(".way button")];

  const showWay = () => {
    for (const button of buttons)
      button.setAttribute("aria-pressed", button.value === root.dataset.way);
  };

  /** Take a way of reading; what stood at the top of the window stays there. */
  const take = (way) => {
    const parts = [...document.querySelectorAll("article :is(h2, h3, p, figure)")];
    const anchor = parts.find((part) => part.getBoundingClientRect().top > 60);
    const top = anchor?.getBoundingClientRect().top;
    root.dataset.way = way;
    showWay();
    try {
      localStorage.setItem(KEY, way);
    } catch {} // where nothing may be stored, it is for this page
    if (anchor?.checkVisibility())
      scrollBy({ top: anchor.getBoundingClientRect().top - top, behavior: "instant" });
  };

  /** Open or close a fold, and with it the cells that go along (book/_ext/pages/prints.py). */
  const setOpen = (fold, isOpen) => {
    fold.setAttribute("aria-expanded", isOpen);
    let next = fold.closest(".cell")?.nextElementSibling;
    while (next && !next.matches(".go-along") && !next.checkVisibility())
      next = next.nextElementSibling;
    if (next?.matches(".go-along")) setOpen(next.querySelector(".fold"), isOpen);
  };

  /** Return the part of the page that the address names, if any. */
  const addressed = () => {
    try {
      return document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch {
      return null; // a lone per cent sign: no part's name
    }
  };

  /** Open the folds around what the address leads to. */
  const reveal = () => {
    const target = addressed();
    if (!target || target.checkVisibility()) return;
    for (let part = target; part; part = part.parentElement)
      for (const fold of part.querySelectorAll(":scope > .fold")) setOpen(fold, true);
    for (const fold of target.querySelectorAll(":scope > .cell_input > .fold")) setOpen(fold, true);
    target.scrollIntoView();
  };

  let onScreen; // how the page was before it was printed: { theme, way, closed }

  /** Have the page light, in Build and without folds on paper, and as it was on the screen. */
  const setPaper = (isPaper) => {
    if (isPaper && !onScreen) {
      const closed = [...document.querySelectorAll("article details:not(.hide):not([open])")];
      onScreen = { theme: root.dataset.theme, way: root.dataset.way, closed };
      root.dataset.theme = "light";
      root.dataset.way = "build";
      for (const fold of closed) fold.open = true;
    } else if (!isPaper && onScreen) {
      root.dataset.theme = onScreen.theme;
      root.dataset.way = onScreen.way;
      for (const fold of onScreen.closed) fold.open = false;
      onScreen = undefined;
    }
  };

  matchMedia("print").addEventListener("change", ({ matches }) => setPaper(matches));
  addEventListener("beforeprint", () => setPaper(true));
  addEventListener("afterprint", () => setPaper(false));

  const isOpen = (fold) => fold.getAttribute("aria-expanded") === "true";
  for (const button of buttons) button.addEventListener("click", () => take(button.value));
  for (const fold of document.querySelectorAll(".fold"))
    fold.addEventListener("click", () => setOpen(fold, !isOpen(fold)));
  showWay();
  addEventListener("hashchange", reveal);
  reveal();
})();
