/* The landscape of the evidence (capsnet_book/figures/landscape.py): below it stands one row at a
   time, that of the dot which the reader pressed. The arrow keys and two buttons go from dot to
   dot. */

(() => {
  const STEPS = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

  /** Return the dot that is nearest to a place in the window. */
  const nearest = (dots, x, y) => {
    const distance = (dot) => {
      const { left, top, width, height } = dot.getBoundingClientRect();
      const share = Number(dot.style.getPropertyValue("--mean")) / 100;
      return Math.hypot(left + share * width - x, top + height / 2 - y);
    };
    return dots.reduce((best, dot) => (distance(dot) < distance(best) ? dot : best));
  };

  const wake = (landscape) => {
    const dots = [...landscape.querySelectorAll(".lines a")];
    const rowOf = (dot) => document.getElementById(dot.hash.slice(1));
    let chosen;

    /** Show a dot's row, open. */
    const choose = (dot) => {
      for (const part of landscape.querySelectorAll(".chosen")) part.classList.remove("chosen");
      chosen?.removeAttribute("aria-current");
      chosen = dot;
      dot.classList.add("chosen");
      dot.setAttribute("aria-current", "true");
      for (const other of dots) other.tabIndex = other === dot ? 0 : -1;
      rowOf(dot).classList.add("chosen");
      rowOf(dot).querySelector("details").open = true;
    };

    /** Return the dot so many places below the chosen one, or the last there is. */
    const below = (places) => {
      const place = dots.indexOf(chosen) + places;
      return dots[Math.min(Math.max(place, 0), dots.length - 1)];
    };

    const press = (event) => {
      event.preventDefault();
      // A finger covers several lines, so that the nearest dot counts.
      const isTouch = event.pointerType === "touch";
      const dot = isTouch ? nearest(dots, event.clientX, event.clientY) : event.target;
      choose(dot);
      const isFromKeys = event.detail === 0;
      if (isFromKeys) rowOf(dot).querySelector("summary").focus();
    };

    const walk = (event) => {
      const ends = { Home: dots[0], End: dots.at(-1) };
      const dot = event.key in STEPS ? below(STEPS[event.key]) : ends[event.key];
      if (!dot) return;
      event.preventDefault();
      choose(dot);
      dot.focus();
    };

    for (const dot of dots) {
      dot.addEventListener("click", press);
      dot.addEventListener("keydown", walk);
    }
    const [up, down] = landscape.querySelectorAll(".steps button");
    up.addEventListener("click", () => choose(below(-1)));
    down.addEventListener("click", () => choose(below(1)));
    choose(dots.find((dot) => dot.matches(".lit")) ?? dots[0]);
  };

  for (const landscape of document.querySelectorAll(".landscape")) wake(landscape);
})();
