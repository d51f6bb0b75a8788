// A stage that stays in the window while the page scrolls past it, and moves with the scrolling.
import { wantsCalm } from "./controls.js";
import { clamp } from "./ui.js";

const HOLD = 0.3; // of a step's way: here nothing moves
const SHARE = 0.33; // of the window's height: a step's way
const REST = 150; // milliseconds without scrolling: the page has come to rest

/** Scrolled by so many steps -> time, 0 to `last`: at each step it rests for a while. */
export function timeAt(scrolled, last) {
  const step = Math.floor(scrolled);
  return clamp(step + clamp((scrolled - step - HOLD / 2) / (1 - HOLD), 0, 1), 0, last);
}

/** What hides the window's upper edge: the page says so to whoever jumps to a heading. */
const coveredAbove = () => Number.parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;

/** Whether the window is what scrolls `node`: nothing between them clips it. */
function scrollsWithWindow(node) {
  for (let each = node.parentElement; each && each !== document.body; each = each.parentElement)
    if (!["visible", "clip"].includes(getComputedStyle(each).overflowY)) return false;
  return true;
}

/**
 * Pins `stage` within `track`, its parent: only in a page of the book, where the stage fits into the window, and where
 * less motion is not wished for. The page scrolls on as ever; at the end of the track it takes the stage along.
 * @param {{
 *   track: HTMLElement, stage: HTMLElement, last: number, move: (time: number) => void, changed: () => void
 * }} _  last: the last step; move: called with a time from 0 to `last`; changed: called when it is pinned or no more
 */
export function pinned({ track, stage, last, move, changed }) {
  const inBook = track.closest("figure.live-widget") !== null;
  let [active, top, way, frame] = [false, 0, 1, 0];
  /** @type {number | null} */
  let goal = null; // the step that the page is on its way to
  let [leaving, resting] = [0, 0]; // how often it may still be tried, and the timer

  function arrange() {
    const [window_, height, above] = [document.documentElement.clientHeight, stage.offsetHeight, coveredAbove()];
    const before = active;
    active = inBook && !wantsCalm() && height <= window_ - above && scrollsWithWindow(track);
    top = above + (window_ - above - height) / 2;
    way = clamp(SHARE * window_, 180, 330);
    track.toggleAttribute("data-pinned", active);
    track.style.height = active ? `${height + (last + 0.5) * way}px` : "";
    stage.style.top = active ? `${top}px` : "";
    if (active !== before) changed();
    followSoon(); // at once it would force the layout of what was just set
  }

  function follow() {
    if (active) move(timeAt((top - track.getBoundingClientRect().top) / way, last));
  }
  const followSoon = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      follow();
    });
  };

  /** Not every browser tells of the end of scrolling. */
  function restSoon() {
    clearTimeout(resting);
    resting = setTimeout(() => {
      goal = null;
      if (leaving && track.getBoundingClientRect().bottom > coveredAbove() + 2) jump();
      else leaving = 0;
    }, REST);
  }
  function onScroll() {
    followSoon();
    if (goal !== null || leaving) restSoon();
  }

  /** Scrolls the page to where a step stands. @param {number} step */
  function scrollTo(step) {
    goal = clamp(step, 0, last);
    leaving = 0;
    restSoon();
    const there = window.scrollY + track.getBoundingClientRect().top - top + goal * way;
    window.scrollTo({ top: there, behavior: wantsCalm() ? "instant" : "smooth" });
  }

  function jump() {
    leaving--;
    window.scrollTo({ top: window.scrollY + track.getBoundingClientRect().bottom - coveredAbove() });
    restSoon();
  }

  /** Scrolls on to what comes after the stage; again, if the end of a glide takes it back, as in Chromium it may. */
  function leave() {
    leaving = 3;
    if (goal === null) jump();
  }
  const stay = () => (leaving = 0); // whoever scrolls meanwhile is not led on

  const observer = new ResizeObserver(arrange);
  observer.observe(stage);
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const events = { scroll: onScroll, resize: arrange, wheel: stay, touchmove: stay, keydown: stay };
  for (const [name, handler] of Object.entries(events)) window.addEventListener(name, handler, { passive: true });
  calm.addEventListener("change", arrange);
  const stop = () => {
    observer.disconnect();
    cancelAnimationFrame(frame);
    clearTimeout(resting);
    for (const [name, handler] of Object.entries(events)) window.removeEventListener(name, handler);
    calm.removeEventListener("change", arrange);
  };
  return { active: () => active, goal: () => goal, scrollTo, leave, arrange, stop };
}
