// What is happening, in a sentence.
import { BUGS, differences, SETTINGS, valueInWords } from "./settings.js";

/** @type {[number, string][]}  of a hundred right, at least; what that looks like */
const STAGES = [
  [0, "It names nothing yet: whatever it is shown, it draws the same fog."],
  [20, "The first names come out of the fog. It still takes most digits for another."],
  [60, "It names most of them, though it draws them all alike: names come before drawings."],
  [90, "It names nine in ten; the drawings are still smudges. Watch the wall clear."],
];
/** @type {[number, string][]}  the same once the drawings can be read */
const WRITING = [
  [0, "It draws better than it reads: look at an orange tile."],
  [
    90,
    "It reads nine in ten, and fog turns into handwriting. An orange tile shows what it takes a digit for.",
  ],
  [
    95,
    "It reads nineteen in twenty. Choose an orange tile: how sure is it? Then teach it your own hand.",
  ],
  [98, "It reads as well as it will from so few digits. Now teach it your own hand."],
];
const READABLE = 46; // squared error of a drawing, over its pixels, below which one sees which digit it is
const LOST = 4000; // digits after which a network should name more than a third

/** @param {any} session */
export function inWords(session) {
  const { settings, trainees, running, notice, loading, pace } = session;
  if (notice) return notice;
  if (loading && !trainees.length) return "Fetching 4,500 handwritten digits …";
  if (!trainees.length)
    return "It has never seen a digit: its weights are noise, and noise is all it could draw. Press Train.";
  const [{ loss, blur, seen, plain, right }, other] = session.frames();
  const [{ bug, drawing }] = settings;
  if (pace === "step" && loss && running) {
    const { batch } = trainees[0].settings; // which may be older than the settings
    const total = (loss.margin + loss.drawing).toFixed(3);
    return (
      `Step ${seen / batch}: ${batch} digits went through, ${loss.right} of them rightly. ` +
      `The loss is ${total}; every weight moved a little, against its slope.`
    );
  }
  const slow = plain ? " (WebAssembly is not allowed here: plain JavaScript learns, slowly.)" : "";
  const ends = `${running ? "" : " (Paused.)"}${slow}`;
  if (other) return `${besides(settings, right, other.right)}${ends}`;
  if (bug) {
    const after = `${right} of 100 after ${seen.toLocaleString("en")} digits`;
    return `Planted: ${BUGS[bug]}. It reads ${after}.${ends}`;
  }
  if (seen >= LOST && right < 35) return `It learns nothing with these settings.${ends}`;
  const stages = drawing > 0 && blur < READABLE ? WRITING : STAGES;
  return `${stages.filter(([least]) => right >= least).at(-1)[1]}${ends}`;
}

/** Two networks, by the settings in which they differ. */
export function nameOf(settings, k) {
  const names = differences(settings[0], settings[1]);
  if (names.length === 0) return k ? "the same again" : "one";
  return names
    .map((name) => `${SETTINGS[name].label}: ${valueInWords(name, settings[k][name])}`)
    .join(", ");
}

function besides(settings, one, other) {
  const [most, least] = [Math.max(one, other), Math.min(one, other)];
  if (most - least <= 3)
    return `Side by side, ${one} and ${other} of 100 right: too close for one pair to tell.`;
  return `“${nameOf(settings, one > other ? 0 : 1)}” is ahead so far, ${most} of 100 right against ${least}.`;
}
