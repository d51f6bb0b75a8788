/* The switch between Read and Build, and the folds of Read (book/_ext/pages/folds.py). */

(() => {
  const root = document.documentElement;
  const ways = [...document.querySelectorAll(".way button")];

  /** Takes a way of reading; what stood at the top of the window stays there. */
  const take = (way) => {
    const seen = [...document.querySelectorAll("article :is(h2, h3, p, figure)")];
    const anchor = seen.find((each) => each.getBoundingClientRect().top > 60);
    const top = anchor?.getBoundingClientRect().top;
    root.dataset.way = way;
    for (const each of ways) each.setAttribute("aria-pressed", each.value === way);
    try {
      localStorage.setItem("way", way);
    } catch {} // where nothing may be stored, it is for this page
    if (anchor?.checkVisibility())
      scrollBy({ top: anchor.getBoundingClientRect().top - top, behavior: "instant" });
  };

  const open = (fold, opened) => fold.setAttribute("aria-expanded", opened);

  /** A link to what is folded away opens the fold. */
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target || target.checkVisibility()) return;
    for (let each = target; each; each = each.parentElement)
      for (const fold of each.querySelectorAll(":scope > .fold")) open(fold, true);
    target.scrollIntoView();
  };

  for (const each of ways) each.addEventListener("click", () => take(each.value));
  for (const each of ways) each.setAttribute("aria-pressed", each.value === root.dataset.way);
  for (const fold of document.querySelectorAll(".fold"))
    fold.addEventListener("click", () => open(fold, fold.getAttribute("aria-expanded") !== "true"));
  addEventListener("hashchange", reveal);
  reveal();
})();
