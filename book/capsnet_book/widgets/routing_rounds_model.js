// Routing by agreement on the votes for a digit, some of which a reader has moved: what there is to show of it.
import { lengthsOf, norm, route } from "./shared/core.js";
import { clamp, format } from "./shared/ui.js";

export const ROUNDS = 10;
export const REACH = { x: 5, y: 2.2 }; // the plane shows -x … x and -y … y

/** How evenly each capsule shares itself out, in bits: log2 J if evenly, 0 if all goes to one. c [I, J] -> [I] */
export function entropiesOf(c, I, J) {
  const entropies = new Float64Array(I);
  for (let k = 0; k < I * J; k++) if (c[k] > 0) entropies[Math.floor(k / J)] -= c[k] * Math.log2(c[k]);
  return entropies;
}

export const mean = (values) => values.reduce((sum, x) => sum + x, 0) / values.length;

/**
 * The plane in which the votes for class j are drawn: `right` is the direction of v, so that a vote's place along it,
 * times ‖v‖, is its agreement; `up` is the direction in which the votes spread most beside it.
 * u_hat [I, J, D], v [J, D] -> two unit vectors [D], at right angles
 */
export function planeOf(u_hat, v, j, I, J, D) {
  const right = Float64Array.from(v.subarray(j * D, (j + 1) * D));
  if (norm(right) === 0) right[0] = 1; // no vote at all: any direction will do
  normalise(right);
  const beside = Array.from({ length: I }, (_, i) => {
    const vote = Float64Array.from(u_hat.subarray((i * J + j) * D, (i * J + j + 1) * D));
    return minus(vote, dot(vote, right), right);
  });
  // The first principal axis, by power iteration from the vote that lies farthest out.
  let up = beside.reduce((far, vote) => (norm(vote) > norm(far) ? vote : far)).slice();
  if (norm(up) === 0)
    up = minus(
      Float64Array.from(right, (_, d) => (d === 1 ? 1 : 0)),
      right[1],
      right,
    );
  normalise(up);
  for (let step = 0; step < 300; step++) {
    const next = new Float64Array(D);
    for (const vote of beside) {
      const along = dot(vote, up);
      for (let d = 0; d < D; d++) next[d] += along * vote[d];
    }
    if (norm(next) === 0) break;
    up = normalise(next);
  }
  return { right, up };
}

export function dot(x, y, from = 0) {
  let sum = 0;
  for (let d = 0; d < y.length; d++) sum += x[from + d] * y[d];
  return sum;
}

const minus = (x, times, y) => x.map((value, d) => value - times * y[d]);

function normalise(x) {
  const length = norm(x);
  for (let d = 0; d < x.length; d++) x[d] /= length;
  return x;
}

/**
 * The votes of a digit and what routing makes of them, in every round.
 * network: { I, J, D_out, config } of core.js; image: the digit, 784 numbers
 */
export function readVotes(network, image) {
  const { I, J, D_out: D } = network;
  const { iterations: trained } = network.config;
  const unmoved = network.forward(image, 1).u_hat; // û [I, J, D]
  const before = route(unmoved, I, J, D, ROUNDS); // b, c, v of every round
  let [votes, trace] = [unmoved, before]; // as moved by hand, and what comes of that
  let chosen; // the class whose votes are shown,
  let plane; // and the plane they are shown in
  const moved = new Set(); // i * J + j of the votes that the reader has moved

  function choose(j) {
    chosen = j;
    plane = planeOf(unmoved, before.v[trained - 1], chosen, I, J, D);
  }

  /** Where a vector for the chosen class lies in the plane, `from` onwards in an array. */
  const project = (vectors, from = chosen * D) => [dot(vectors, plane.right, from), dot(vectors, plane.up, from)];
  const placeOf = (i) => project(votes, (i * J + chosen) * D);

  /** Moves capsule i's vote within the plane; what it has outside of it stays. */
  function move(i, [x, y]) {
    const [x0, y0] = placeOf(i);
    const [dx, dy] = [clamp(x, -REACH.x, REACH.x) - x0, clamp(y, -REACH.y, REACH.y) - y0];
    const at = (i * J + chosen) * D;
    votes = votes.slice();
    for (let d = 0; d < D; d++) votes[at + d] += dx * plane.right[d] + dy * plane.up[d];
    moved.add(i * J + chosen);
    trace = route(votes, I, J, D, ROUNDS);
  }

  function putBack() {
    moved.clear();
    [votes, trace] = [unmoved, before];
  }

  /** The capsule with the longest vote for the chosen class. */
  function loudest() {
    const far = (i) => norm(unmoved, (i * J + chosen) * D, D);
    return Array.from({ length: I }, (_, i) => i).reduce((best, i) => (far(i) > far(best) ? i : best), 0);
  }

  /** c and v at a moment between two rounds. */
  function momentAt(shown) {
    const low = clamp(Math.floor(shown), 1, ROUNDS) - 1;
    const high = Math.min(low + 1, ROUNDS - 1);
    const t = shown - 1 - low;
    const blend = (list) => (t === 0 ? list[low] : list[low].map((x, k) => x + (list[high][k] - x) * t));
    const v = blend(trace.v);
    const past = trace.v.slice(0, Math.floor(shown)).map((each) => project(each));
    return { c: blend(trace.c), lengths: lengthsOf(v, J, D), tip: project(v), past, places: (i) => placeOf(i), chosen };
  }

  /** All numbers of a round, and those of one primary capsule. */
  function readingOf(round, capsule) {
    const t = round - 1;
    const c = trace.c[t];
    const entropies = trace.c.map((each) => entropiesOf(each, I, J)); // [ROUNDS][I]
    const at = (capsule * J + chosen) * D;
    const vote = votes.subarray(at, at + D);
    const lengths = lengthsOf(trace.v[t], J, D);
    return {
      round,
      chosen,
      capsule,
      c,
      lengths,
      trained,
      length: lengths[chosen],
      lengthsByRound: trace.v.map((v) => norm(v, chosen * D, D)),
      unmovedLength: norm(before.v[t], chosen * D, D),
      meansByRound: entropies.map(mean),
      ownByRound: entropies.map((each) => each[capsule]),
      coupling: c[capsule * J + chosen],
      agreement: dot(vote, trace.v[t].subarray(chosen * D, (chosen + 1) * D)),
      voteLength: norm(vote),
      place: placeOf(capsule),
      moved: moved.size,
      turned: project(trace.v[t])[0] < 0,
      convinced: Array.from({ length: I }, (_, i) => c[i * J + chosen]).filter((share) => share > 2 / J).length,
    };
  }

  return { choose, move, putBack, loudest, placeOf, momentAt, readingOf };
}

/** What there is to see, in a sentence or two. */
export function inWords({ round, chosen, length, unmovedLength, moved, turned, convinced, c, lengths, trained }) {
  if (moved) {
    const votes = moved === 1 ? "one vote moved" : `${moved} votes moved`;
    const now = `capsule ${chosen} is ${format(length)} long in this round`;
    const change = `with ${votes}, ${now}, and was ${format(unmovedLength)}.`;
    if (length > 0.5 && turned) {
      return (
        `Capsule ${chosen} is long and points the other way: routing follows the loudest vote, ` +
        "wherever that points. Nothing here asks whether it is right."
      );
    }
    if (length < 0.6 * unmovedLength) return `The agreement is broken: ${change}`;
    if (length > 1.15 * unmovedLength + 0.02) return `The agreement has grown: ${change}`;
    return `With ${votes}, ${now}; without, ${format(unmovedLength)}.`;
  }
  if (round === 1) {
    return (
      "Round 1: every capsule gives each class a tenth, so all votes count alike. " +
      "Nobody has compared anything yet."
    );
  }
  const I = c.length / lengths.length;
  const one = convinced === 1;
  const tenth = `than twice the tenth ${one || convinced === 0 ? "it" : "they"} began with`;
  const who =
    convinced === 0
      ? `No capsule gives ${chosen} more ${tenth}`
      : `${convinced} of ${I} ${one ? "capsule gives" : "capsules give"} ${chosen} more ${tenth}`;
  if (round === trained) return `Round ${round}: ${who}. This is where the network stops.`;
  const beyond = " The network was trained with three rounds; this is beyond what it knows.";
  return `Round ${round}: ${who}.${round > trained ? beyond : ""}`;
}
