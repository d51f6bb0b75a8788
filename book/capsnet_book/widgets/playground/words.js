// What is happening, in a sentence.

import { t } from "../shared/t.js";
import { listed } from "../shared/ui.js";
import { experimentOf } from "./experiments.js";
import { setOf } from "./sets.js";
import { BUGS, differences, learnsToDraw, SETTINGS, valueInWords } from "./settings.js";
import { SIGN } from "./sign.js";

/** @type {[number, string][]}  of a hundred right, at least; what that looks like */
const STAGES = [
  [0, t`It names nothing yet: whatever it is shown, it draws the same fog.`],
  [20, t`The first names come out of the fog. It still takes most digits for another.`],
  [60, t`It names most of them, though it draws them all alike: names come before drawings.`],
  [90, t`It names nine in ten; the drawings are still smudges. Watch the wall clear.`],
];
/** @type {[number, string][]}  the same once the drawings can be read */
const LEGIBLE_STAGES = [
  [0, t`It draws better than it reads: look at an orange tile.`],
  [90, t`It reads nine in ten, and fog turns into handwriting. Orange: taken for another digit.`],
  [95, t`It reads nineteen in twenty. Choose an orange tile: how sure is it?`],
  [98, t`It reads nearly every digit. Let it go on, or teach it your own hand on the pad.`],
];
const LEGIBLE = 46; // squared error of a drawing, over its pixels, below which one can read it
const LOST = 4000; // digits after which a network should name more than LEAST of a hundred
const LEAST = 35;
const RECENT = 4000; // digits after a hand was laid on it during which it is spoken of
const TOO_CLOSE = 3; // of a hundred: what one pair cannot tell
const YOUNG = 500; // digits before which it is said that another network rests

const RESTS = t` The network before is kept: a button under the wall brings it back.`;
const SLOW = t` (WebAssembly is not allowed here: plain JavaScript learns, slowly.)`;

const GUESS_FIRST = t`Two networks that differ in one thing. First guess below what comes out: your
  guess starts both.`;

/** Return what a session is doing. @param {any} session */
export function inWords(session) {
  const { trainees, running, notice, loading, pace, moment } = session;
  if (notice) return notice;
  const { fetching, untrained } = setOf(session.settings);
  if (loading && !trainees.length) return fetching;
  const [frame, other] = session.frames();
  const before = frame.seen < YOUNG && session.earlier.latest() ? RESTS : "";
  const waitsForGuess = !running && frame.seen === 0 && experimentOf(session.settings);
  if (waitsForGuess) return GUESS_FIRST + before;
  if (!trainees.length) return untrained;
  if (moment !== undefined) return t`Back then: ${stateOf(session, frame, other)}`;
  if (pace === "step" && frame.loss && running) return stepOf(session, frame);
  const paused = running ? "" : t` (Paused.)`;
  const slow = frame.plain ? SLOW : "";
  return stateOf(session, frame, other) + before + paused + slow;
}

/**
 * Return what was measured, for a picture that is taken along.
 * @param {import("./untrained.js").Frame[]} frames @param {any[]} settings
 */
export function measuredWords(frames, [{ seed }]) {
  const right = frames.map((frame) => frame.right).join(" | ");
  const seconds = Math.round(Math.max(...frames.map((frame) => frame.seconds)));
  const hand = frames.some(({ touches }) => touches > 0) ? t`, by hand` : "";
  const how = t`after ${seconds} s, in my browser, seed ${seed}${hand}`;
  return { right: t`${right} of 100`, how };
}

function stepOf({ trainees }, { seen, loss }) {
  const { batch } = trainees[0].settings; // the session's may be newer
  const total = (loss.margin + loss.drawing).toFixed(3);
  return t`Step ${seen / batch}: ${batch} images went through, ${loss.right} of them rightly. The
    loss is ${total}; every weight moved a little, against its slope.`;
}

/**
 * Return what a hand that was laid on a network has done, if it was of late.
 * @param {import("./history.js").History} history
 * @param {import("./untrained.js").Frame} now @param {number} k  the network's number
 */
function handOf(history, { silent, touches, right, seen }, k) {
  const before = history.firstMark(seen - RECENT);
  if (!touches || !before) return "";
  const counts = t`${before[k].right} of 100 right before, ${right} now`;
  const held = listed(heldOf(silent));
  if (!held) return t`Changed by your hand: ${counts}. Undo takes it back.`;
  return t`Silent: ${held}; ${counts}. Let it learn: do the others take over?`;
}

/** Return which parts are silent. @param {import("./silence.js").Silent} silent */
function heldOf({ maps, primary }) {
  const words = [];
  if (maps.length) words.push(maps.length === 1 ? t`one filter` : t`${maps.length} of its filters`);
  if (primary.length)
    words.push(primary.length === 1 ? t`one capsule` : t`${primary.length} of its capsules`);
  return words;
}

/** Return how far one network, or two, have come. */
function stateOf(session, frame, other) {
  const { settings, own, history, watched } = session;
  const hand = handOf(history, session.frames()[watched.network] ?? frame, watched.network);
  if (hand) return hand;
  if (other) return comparisonOf(settings, frame.right, other.right);
  const { bug } = settings[0];
  if (own.sign && frame.signs) return signOf(own.sign, frame.signs, setOf(settings));
  const { right, seen, blur } = frame;
  if (bug) {
    const after = t`${right} of 100 after ${seen.toLocaleString("en")} images`;
    return t`Planted: ${BUGS[bug]}. It reads ${after}.`;
  }
  if (seen >= LOST && right < LEAST) return t`It learns nothing with these settings.`;
  if (frame.gallery) return animalsOf(frame);
  const stages = learnsToDraw(settings[0]) && blur < LEGIBLE ? LEGIBLE_STAGES : STAGES;
  const [, words] = stages.findLast(([least]) => right >= least);
  return words;
}

/**
 * Return how well animals are read, by artists whom the network knows and by others.
 * @param {import("./untrained.js").Frame} frame
 */
function animalsOf({ right, gallery: { known, unseen } }) {
  const [[, nothing], [first]] = STAGES;
  if (Number(right) < first) return nothing;
  return t`Of new pictures by artists whom it knows it reads ${known.toFixed(0)} %, of those by
    artists whom it never saw ${unseen.toFixed(0)} %.`;
}

/** Return how well a sign of the reader's own is read. */
function signOf({ place }, { signs, read, digits, taken }, { names, others }) {
  return t`Your sign ${SIGN} has the place of the ${names[place]}. It reads ${read} of ${signs}
    pictures of two drawings that it never learns from, and takes ${taken} of ${digits} ${others}`;
}

function comparisonOf(settings, one, other) {
  const most = Math.max(one, other);
  const least = Math.min(one, other);
  // What came out of an experiment stands below it, by more digits than the wall's.
  if (experimentOf(settings)) return t`Side by side, ${one} and ${other} of these 100 right.`;
  if (most - least <= TOO_CLOSE)
    return t`Side by side, ${one} and ${other} of 100 right: too close for one pair to tell.`;
  const leader = nameOf(settings, one > other ? 0 : 1);
  return t`“${leader}” is ahead so far, ${most} of 100 right against ${least}.`;
}

/** Return what the k-th of two networks is called: the settings in which they differ. */
export function nameOf(settings, k) {
  const names = differences(settings[0], settings[1]);
  if (names.length === 0) return k === 0 ? t`one` : t`the same again`;
  const isOneBug = names.join() === "bug" && settings.some(({ bug }) => !bug);
  if (isOneBug) return settings[k].bug ? t`with the bug` : t`without the bug`;
  if (names.join() === "net") return settings[k].net === "cnn" ? t`a CNN` : t`a capsule network`;
  const values = names.map((name) => {
    const { label } = SETTINGS[name];
    return t`${label}: ${valueInWords(name, settings[k][name])}`;
  });
  return values.join(t`, `);
}
