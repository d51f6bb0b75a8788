// The glass network: the whole network on one stage, at work on the reader's digit. It stands on
// the front page and in some chapters. Closed, it is the strip above each chapter, which has names
// and links (book/_ext/widgets/strip.py).
import { makeNetwork } from "../shared/core.js";
import { digitAt, SIDE } from "../shared/digits.js";
import { t } from "../shared/t.js";
import { element, pushButton } from "../shared/ui.js";
import { fromBase64, keepDigit, keptDigit } from "./kept.js";
import { hasInk } from "./model.js";
import { Stage } from "./stage.js";
import { makeTurned } from "./turned.js";

const FIRST = 7; // the digit of a reader who has not chosen one yet
const REST = 120; // milliseconds without a change before the stage follows another pad
const SMALL = 84; // pixels along a side of the strip's pictures

// ------------------------------------------------------------------------------- the strip

/** Lets Escape, and a press outside, close a fold. @param {HTMLDetailsElement} fold */
function closeEasily(fold) {
  const onkeydown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || !fold.open) return;
    fold.open = false;
    fold.querySelector("summary").focus();
  };
  fold.addEventListener("keydown", onkeydown, true); // capturing: the stage lets no keys out
  document.addEventListener("pointerdown", ({ target }) => {
    if (fold.open && target instanceof Node && !fold.contains(target)) fold.open = false;
  });
}

/**
 * The small pictures in the strip, and at a chapter's foot those of the parts that stand: copies of
 * the stage's parts. Returns a function that copies them.
 * @param {HTMLElement} strip
 */
function makeSmallPictures(strip) {
  const inStrip = strip.querySelectorAll("summary [data-part]");
  const standing = document.querySelectorAll(".stands[data-part]");
  const pictures = [...inStrip, ...standing].map((part) => {
    const name = part.getAttribute("data-part");
    const side = name === "image" ? SIDE : SMALL;
    const canvas = element("canvas", { width: side, height: side, "aria-hidden": "true" });
    part.querySelector(".picture").replaceChildren(canvas);
    return { name, canvas };
  });
  return (/** @type {Stage} */ stage) =>
    pictures.forEach(({ name, canvas }) => stage.copy(name, canvas));
}

// ------------------------------------------------------------------------------- the stage

/** A stage that keeps the reader's digit, and shows its answers elsewhere in the page as well. */
function makeStage(figure, strip, turned, /** @type {Uint8Array} */ samples) {
  const copySmall = strip && makeSmallPictures(strip);
  const stills = figure?.querySelectorAll(":scope > :not(.live-view)") ?? [];
  return new Stage({
    samples,
    lit: ((figure ?? strip).dataset.lit ?? "").split(" "),
    first: keptDigit() ?? digitAt(samples, FIRST),
    isPlain: !strip, // the front page
    keep: keepDigit,
    answered(stage) {
      strip?.setAttribute("data-prediction", stage.session.answer.prediction);
      copySmall?.(stage);
      turned?.show(stage.session.image, stage.session.network);
      for (const still of stills) still.remove();
      for (const part of [figure, strip]) part?.setAttribute("data-live", "true");
    },
  });
}

/**
 * A button that changes between the book's network and the reader's own (live-host.js), and shows
 * the one that is wanted in the stage.
 */
async function offerOwnNetwork(/** @type {Stage} */ stage, own, weights) {
  const toggle = () => own.change({ asked: !own.asked });
  const button = pushButton("own", "", toggle, { class: "own-network" });
  stage.controls.row.append(button);
  const use = async () => {
    await own.read;
    const isAsked = Boolean(own.bytes && own.asked);
    button.textContent = isAsked ? t`Yours. Take the book’s` : t`Take your own network`;
    button.hidden = !own.bytes;
    stage.use(makeNetwork(isAsked ? own.bytes : weights));
  };
  document.addEventListener("capsnet:own", use);
  await use();
}

/** Lets the stage follow the drawings on other pads of the page, once the hand rests. */
function followOtherPads(/** @type {Stage} */ stage) {
  let timer;
  document.addEventListener("capsnet:drawn", (/** @type {CustomEvent} */ { detail }) => {
    clearTimeout(timer);
    if (hasInk(detail)) timer = setTimeout(() => stage.show(detail), REST);
  });
}

/** A place out of sight where the stage works for the strip, on a page that has no other place. */
function makeBench(/** @type {HTMLElement} */ strip) {
  const bench = element("div", { class: "glass-bench", "aria-hidden": "true", inert: "" });
  strip.append(bench);
  return bench;
}

/**
 * Wakes a stage in the place of `figure`, and the strip above the page; where the page has a place
 * for the turned digit, it follows.
 * @param {HTMLElement | null} figure @param {HTMLElement | null} strip
 * @param {{ bytes: () => Promise<ArrayBuffer>, turning: () => Promise<ArrayBuffer>,
 *   samples: string, own: any }} _
 *   bytes(): of the book's network; turning(): of the capsules that turn; samples: digits in
 *   base64; own: the reader's own network
 */
export function start(figure, strip, { bytes, turning, samples, own }) {
  const place = /** @type {HTMLElement | null} */ (document.querySelector(".turned-place"));
  const fold = strip?.querySelector("details");
  const view = /** @type {HTMLElement} */ (
    figure ? figure.querySelector(".live-view") : makeBench(strip)
  );
  if (fold) closeEasily(fold);
  let isAwake = false;
  /** @type {Stage | undefined} */
  let stage;

  async function wake() {
    const weights = await bytes();
    const turned = place && makeTurned(place, turning);
    stage = makeStage(figure, strip, turned, fromBase64(samples));
    seat();
    await offerOwnNetwork(stage, own, weights);
    followOtherPads(stage);
    if (!strip && !keptDigit()) stage.write(); // the front page, to a reader who is new
  }

  /** Puts the one stage into its place, or into the opened strip. */
  function seat() {
    if (!stage) return;
    const { root } = stage;
    const place = fold?.open ? fold.querySelector(".seat") : view;
    if (root.parentElement === place) return;
    // The place keeps its height while the stage is away, so that the page does not move.
    if (root.parentElement === view) view.style.minHeight = `${view.offsetHeight}px`;
    place.append(root);
    if (place === view) view.style.minHeight = "";
  }

  async function begin() {
    seat();
    if (isAwake) return;
    isAwake = true;
    try {
      await wake();
    } catch (error) {
      isAwake = false; // the still picture, names and links stay; the next touch tries again
      console.error(error);
    }
  }

  fold?.addEventListener("toggle", begin);
  for (const touch of ["pointerenter", "pointerdown"]) figure?.addEventListener(touch, begin);
  // The page comes first; and a reader who saves data does not pay for a network before asking.
  const savesData = /** @type {any} */ (navigator).connection?.saveData;
  const whenIdle = () => (window.requestIdleCallback ?? setTimeout)(begin);
  if (savesData || "waits" in (figure ?? strip).dataset) return;
  if (document.readyState === "complete") whenIdle();
  else addEventListener("load", whenIdle, { once: true });
}
