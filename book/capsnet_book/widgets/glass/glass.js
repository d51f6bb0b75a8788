// The glass network: the whole network on one stage, alive with the reader's digit. It heads a chapter, or the front
// page; closed it is the strip above the chapters, which brings names and links (book/_ext/widgets/stage.py).
import { makeNetwork } from "../shared/core.js";
import { digitAt, SIDE } from "../shared/digits.js";
import { element, pushButton } from "../shared/ui.js";
import { fromBase64, hasInk, keepDigit, keptDigit } from "./model.js";
import { makeStage } from "./stage.js";

const FIRST = 7; // the digit of a reader who has not chosen one yet
const REST = 120; // milliseconds without a change, before the stage follows another pad

/** What opens like any <details> is also closed by Escape, and by a press outside. @param {HTMLDetailsElement} fold */
function closeEasily(fold) {
  const onkeydown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || !fold.open) return;
    fold.open = false;
    fold.querySelector("summary").focus();
  };
  fold.addEventListener("keydown", onkeydown, true); // the stage keeps for itself what is typed in it
  document.addEventListener("pointerdown", ({ target }) => {
    if (fold.open && target instanceof Node && !fold.contains(target)) fold.open = false;
  });
}

/** The strip's small pictures: copies of the parts. @param {HTMLElement} strip */
function makeSmall(strip) {
  const frames = [...strip.querySelectorAll("summary [data-part]")].map((part) => {
    const name = part.getAttribute("data-part");
    const side = name === "image" ? SIDE : 84;
    const canvas = element("canvas", { width: side, height: side, "aria-hidden": "true" });
    part.querySelector(".picture").replaceChildren(canvas);
    return { name, canvas };
  });
  return (copy) => frames.forEach(({ name, canvas }) => copy(name, canvas));
}

/**
 * Wakes the stage in the place that `figure` is, and the strip. bytes(): of the book's network; samples: digits in
 * base64; own: the reader's own network (live-host.js).
 */
export function start(/** @type {HTMLElement} */ figure, strip, { bytes, samples: packed, own }) {
  const fold = strip?.querySelector("details");
  const view = /** @type {HTMLElement} */ (figure.querySelector(".live-view"));
  if (fold) closeEasily(fold);
  let woken = false;
  let stage;

  async function wake() {
    const samples = fromBase64(packed);
    const small = strip && makeSmall(strip);
    const mine = pushButton("own", "", () => own.change({ asked: !own.asked }), {
      class: "own-network",
    });
    const weights = await bytes();
    stage = makeStage({
      samples,
      lit: (figure.dataset.lit ?? "").split(" "),
      first: keptDigit() ?? digitAt(samples, FIRST),
      keep: keepDigit,
      answered(now, copy) {
        strip?.setAttribute("data-prediction", now.session.answer.prediction);
        small?.(copy);
        for (const still of figure.querySelectorAll(":scope > :not(.live-view)")) still.remove();
        for (const part of [figure, strip]) part?.setAttribute("data-live", "true");
      },
    });
    const use = async () => {
      await own.read;
      const asked = Boolean(own.bytes && own.asked);
      mine.textContent = asked ? "Yours. Take the book’s" : "Take your own network";
      mine.hidden = !own.bytes;
      stage.use(makeNetwork(asked ? own.bytes : weights));
    };
    stage.controls.append(mine);
    seat();
    await use();
    document.addEventListener("capsnet:own", use);
    // A drawing elsewhere in the page is read within a frame there; the stage follows when the hand rests.
    let waiting = 0;
    document.addEventListener("capsnet:drawn", (/** @type {CustomEvent} */ { detail }) => {
      clearTimeout(waiting);
      if (hasInk(detail)) waiting = setTimeout(stage.show, REST, detail);
    });
  }

  /** The one stage stands at its place, or in the opened strip. */
  function seat() {
    if (!stage) return;
    const there = fold?.open ? fold.querySelector(".seat") : view;
    if (stage.root.parentElement === there) return;
    if (stage.root.parentElement === view) view.style.minHeight = `${view.offsetHeight}px`;
    there.append(stage.root);
    if (there === view) view.style.minHeight = "";
  }

  const begin = async () => {
    seat();
    if (woken) return;
    woken = true;
    try {
      await wake();
    } catch (error) {
      woken = false; // the picture, the names and the links stay; touched again, it tries again
      console.error(error);
    }
  };
  fold?.addEventListener("toggle", begin);
  for (const touch of ["pointerenter", "pointerdown"]) figure.addEventListener(touch, begin);
  // The page comes first; and who saves data does not pay for a network before asking for it.
  const thrifty = /** @type {any} */ (navigator).connection?.saveData;
  const whenIdle = () => (window.requestIdleCallback ?? setTimeout)(begin);
  if (thrifty || "waits" in figure.dataset) return; // until it is touched
  if (document.readyState === "complete") whenIdle();
  else addEventListener("load", whenIdle, { once: true });
}
