// What each network said of the digit at every angle that the reader has passed.
import { LONG } from "../shared/bars.js";
import { bendDigit, STRAIGHT } from "../shared/bending.js";

/** @import { Answer, Reader } from "./readers.js" */
/** @typedef {number[][]} Line  points [degrees, value], in the order of degrees */
/** @typedef {{ at: number | null, to: number }} Reach
 *   at: degrees from upright where a line falls below LONG; to: how far it is known */

const STEP = 3; // degrees between the places that are filled in
const ROOM = 8; // milliseconds of work at a time
const REST = 150; // milliseconds without a visit before the hand rests
const PAUSE = 30; // milliseconds between two readings while it turns: it comes first

/** A digit turned by degrees, anticlockwise. */
export const turnedDigit = (/** @type {Float32Array} */ image, /** @type {number} */ turn) =>
  bendDigit(image, { ...STRAIGHT, turn });

/**
 * How far from upright a line stays at LONG or above, to one side. Between two points it is
 * straight.
 * @param {Line} line @param {number} side  1 to the left, −1 to the right
 * @returns {Reach}
 */
export function reachOf(line, side) {
  const points = line
    .map(([degrees, value]) => [side * degrees, value])
    .filter(([degrees]) => degrees >= 0)
    .sort((one, other) => one[0] - other[0]);
  if (points[0]?.[0] !== 0) return { at: null, to: 0 }; // upright is not read yet
  const after = points.findIndex(([, value]) => value < LONG);
  const [to] = points.at(-1);
  if (after < 0) return { at: null, to };
  if (after === 0) return { at: 0, to };
  const [from, high] = points[after - 1];
  const [until, low] = points[after];
  return { at: from + ((high - LONG) / (high - low)) * (until - from), to };
}

/** @type {WeakMap<Map<number, Answer>, [number, Answer][]>} */
const lists = new WeakMap();

/** Answers in the order of degrees: the same list as long as none is added. */
function ordered(/** @type {Map<number, Answer>} */ answers) {
  if (lists.get(answers)?.length !== answers.size) {
    const list = [...answers].sort((one, other) => one[0] - other[0]);
    lists.set(answers, list);
  }
  return lists.get(answers);
}

/**
 * The place nearest to an angle that a network has not read; undefined: all are read.
 * @param {Reader[]} readers @param {(reader: Reader) => Map<number, Answer>} answersOf
 * @param {number[]} places @param {number} turn
 */
function nearest(readers, answersOf, places, turn) {
  let distance = Infinity;
  /** @type {{ reader: Reader, turn: number } | undefined} */
  let place;
  for (const reader of readers) {
    const answers = answersOf(reader);
    for (const at of places) {
      if (answers.has(at) || Math.abs(at - turn) >= distance) continue;
      distance = Math.abs(at - turn);
      place = { reader, turn: at };
    }
  }
  return place;
}

/**
 * The record of all networks for one digit and class. What is missing is read in spare time, and
 * changed() is called whenever more is known.
 * @param {() => Reader[]} readers @param {() => void} changed
 */
export function makeRecord(readers, changed) {
  /** @type {Map<Reader, Map<number, Answer>>} */
  let known = new Map();
  /** @type {{ image: Float32Array, label: number }} */
  let subject;
  let low = 0;
  let high = 0;
  let now = 0; // the present angle
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let visited = 0; // the time of the last visit of another angle

  function answersOf(/** @type {Reader} */ reader) {
    if (!known.has(reader)) known.set(reader, new Map());
    return known.get(reader);
  }

  /** The answers of a network in the order of degrees: the same list until there is a new one. */
  const inOrder = (/** @type {Reader} */ reader) => ordered(answersOf(reader));

  /** Forgets all, and begins with a digit that is upright. */
  function begin(/** @type {Float32Array} */ image, /** @type {number} */ label) {
    subject = { image, label };
    known = new Map();
    low = 0;
    high = 0;
    now = 0;
  }

  /** What a network says at an angle. */
  function read(/** @type {Reader} */ reader, /** @type {number} */ turn) {
    const answers = answersOf(reader);
    if (!answers.has(turn))
      answers.set(turn, reader.read(turnedDigit(subject.image, turn), subject.label));
    return answers.get(turn);
  }

  /** Goes to an angle: all places from upright to it are read, the nearest to it first. */
  function visit(/** @type {number} */ turn) {
    low = Math.min(low, turn);
    high = Math.max(high, turn);
    if (turn !== now) visited = performance.now();
    now = turn;
    timer ??= setTimeout(work);
  }

  /** The place that is read next: of those on the way, the nearest to the present angle. */
  function nextPlace() {
    const places = [now, low, 0, high];
    for (let at = Math.ceil(low / STEP) * STEP; at <= high; at += STEP) places.push(at);
    return nearest(readers(), answersOf, places, now);
  }

  function work() {
    timer = undefined;
    const start = performance.now();
    const isTurning = start - visited < REST;
    const end = start + (isTurning ? 0 : ROOM);
    const next = () => nextPlace() ?? (isTurning ? undefined : placesToRefine()[0]);
    let place = next();
    const isNew = place !== undefined;
    while (place) {
      read(place.reader, place.turn);
      place = next();
      if (performance.now() >= end) break;
    }
    if (place || isTurning) timer = setTimeout(work, isTurning ? PAUSE : 0);
    if (isNew) changed();
  }

  /** The whole degrees on either side of where a line is lost, so that the angle is exact. */
  function placesToRefine() {
    return readers().flatMap((reader) => {
      const line = inOrder(reader).map(([at, { value }]) => [at, value]);
      const lost = [1, -1].flatMap((side) => {
        const { at } = reachOf(line, side);
        return at === null ? [] : [side * Math.floor(at), side * Math.ceil(at)];
      });
      return lost
        .filter((at) => !answersOf(reader).has(at || 0))
        .map((at) => ({ reader, turn: at }));
    });
  }

  return { begin, read, visit, inOrder, stop: () => clearTimeout(timer) };
}
