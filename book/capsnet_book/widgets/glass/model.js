// What the glass network remembers, what is left of it when parts are taken out, and what it says of that.
import { LONG } from "../shared/bars.js";
import { PIXELS } from "../shared/digits.js";
import { clamp, format, percent, withArticle } from "../shared/ui.js";

const KEY = "capsnet:digit";

// The reader's digit, 784 bytes, from page to page. A browser may refuse to store anything, and anything may lie there:
// then there is none, and it stays on this page.
export function keptDigit() {
  try {
    const bytes = fromBase64(localStorage.getItem(KEY) ?? "");
    return bytes.length === PIXELS && hasInk(bytes) ? bytes : null;
  } catch {
    return null;
  }
}
export function keepDigit(/** @type {Uint8Array} */ bytes) {
  try {
    localStorage.setItem(KEY, btoa(String.fromCharCode(...bytes)));
  } catch {}
}

/** @param {string} text */
export const fromBase64 = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

/** An empty pad is no digit. @param {Uint8Array} bytes */
export const hasInk = (bytes) => bytes.some((grey) => grey > 0);

// ---------------------------------------------------------------------------------------- taking apart

export const REACH = 0.6; // so far a fader goes

/** @typedef {{ part: string, at: number, place?: number }} Focus  a map, and its place; a capsule below; a vote,
 *   i · J + j; a class; or one of the sixteen numbers ("faders") */

/** The votes of a capsule below, those for a class, or the one. -> places in [I, J] */
export function votesOf({ part, at }, I, J) {
  const ways = { primary: [at * J, 1, J], classes: [at, J, I], predictions: [at, 1, 1] };
  const [first, step, count] = ways[part] ?? [0, 0, 0];
  return Array.from({ length: count }, (_, n) => first + n * step);
}

/** The place of the largest number. @param {Float32Array} numbers */
const largest = (numbers) =>
  numbers.reduce((best, number, k) => (number > numbers[best] ? k : best), 0);

/**
 * A network of which parts can be taken out. A vote that is cut is 0; a capsule below is out when all its votes are
 * cut, a class is held down when all that it gets are. Each change is answered at once.
 */
export function makeSession(network) {
  const { I, J, D_out, config } = network;
  const votes = new Uint8Array(I * J).fill(1); // which count
  const own = /** @type {any} */ ({ network, votes, rounds: config.iterations });
  const isKept = (/** @type {Focus} */ part) =>
    !own.touched || votesOf(part, I, J).some((k) => votes[k]);

  /** The digit, [image_size · image_size] numbers from 0 to 1, goes through what is left. */
  function read(image) {
    Object.assign(own, { image, seen: network.look(image), whole: null });
    decide();
  }

  function decide() {
    const u_hat = own.seen.u_hat.slice();
    for (const k of votes.keys()) if (!votes[k]) u_hat.fill(0, k * D_out, (k + 1) * D_out);
    own.answer = network.decide(u_hat, own.rounds);
    own.touched = own.rounds !== config.iterations || votes.includes(0);
    own.whole = own.touched ? (own.whole ?? network.decide(own.seen.u_hat)) : own.answer;
    own.numbers = own.answer.capsules.slice(
      own.answer.prediction * D_out,
      (own.answer.prediction + 1) * D_out,
    );
    own.drawing = own.answer.reconstruction;
  }

  function setKept(/** @type {Focus} */ part, kept) {
    for (const k of votesOf(part, I, J)) votes[k] = Number(kept);
    decide();
  }

  /** Votes whose place the function says yes to. @param {(k: number) => boolean} which */
  function cut(which) {
    for (const k of votes.keys()) if (votes[k] && which(k)) votes[k] = 0;
    decide();
  }

  /** Rounds of routing; and all parts back in their places, if told. */
  function setRounds(rounds, whole = false) {
    if (whole) votes.fill(1);
    own.rounds = clamp(rounds, 1, 10);
    decide();
  }

  /** One of the sixteen numbers of what is drawn. */
  function setNumber(d, number) {
    own.numbers[d] = clamp(number, -REACH, REACH);
    const capsules = new Float32Array(J * D_out);
    capsules.set(own.numbers, own.answer.prediction * D_out);
    own.drawing = network.decode(capsules);
  }

  /** The strongest of a part, to begin with. @param {string} part @returns {Focus} */
  function strongest(part) {
    const { c, prediction } = own.answer;
    if (part === "maps") {
      const [edge, places] = [
        largest(own.seen.edges),
        own.seen.edges.length / config.conv_channels,
      ];
      return { part, at: Math.floor(edge / places), place: edge % places };
    }
    const vote = largest(c.at(-1).map((share, k) => (k % J === prediction ? share * votes[k] : 0)));
    return {
      part,
      at: { primary: Math.floor(vote / J), predictions: vote, classes: prediction }[part] ?? 0,
    };
  }

  return Object.assign(own, { isKept, read, setKept, cut, setRounds, setNumber, strongest });
}

// ----------------------------------------------------------------------------------------------- words

/** What was taken out: capsules, votes besides, classes, rounds. */
function goneOf({ network: { I, J, config }, votes, rounds, isKept }) {
  const out = Array.from({ length: I }, (_, at) => !isKept({ part: "primary", at }));
  const all = out.every(Boolean);
  const held = Array.from({ length: J }, (_, at) => at).filter(
    (at) => !all && !isKept({ part: "classes", at }),
  );
  const capsules = out.filter(Boolean).length;
  const cut = votes.filter(
    (vote, k) => !vote && !out[Math.floor(k / J)] && !held.includes(k % J),
  ).length;
  const words = [
    capsules && `${capsules} of ${I} capsules out`,
    cut && `${cut} ${cut === 1 ? "vote" : "votes"} cut`,
    held.length && `the ${held.join(" and the ")} held down`,
    rounds !== config.iterations && `${rounds} ${rounds === 1 ? "round" : "rounds"}`,
  ];
  return words.filter(Boolean).join(", ");
}

/** The score: what was taken away, and what is left of the answer. @param {any} session */
export function scoreOf(session) {
  const { answer, whole, touched, image, network } = session;
  const { prediction, lengths } = answer;
  const [length, reads] = [format(lengths[prediction]), withArticle(prediction)];
  if (touched) {
    const words = goneOf(session);
    const start = `${words[0].toUpperCase()}${words.slice(1)}: `;
    if (lengths[prediction] === 0) return `${start}nothing is left to read.`;
    return `${start}${prediction === whole.prediction ? "still" : "now"} ${reads}, ${length}.`;
  }
  if (!hasInk(image))
    return `The page is empty, and the network reads ${reads} from it, ${length} long.`;
  if (lengths[prediction] < LONG)
    return `It hesitates: the ${prediction} is the longest, and only ${length} long.`;
  const given = answer.c.at(-1).filter((_, k) => k % network.J === prediction); // by each capsule below
  const share = percent(given.reduce((sum, x) => sum + x, 0) / network.I);
  return `It reads ${reads}, ${length} long with ${share} of the votes, and draws it again from 16 numbers.`;
}

/** What a part is, and does now. @param {Focus} focus @param {any} session */
export function sentenceOn(focus, session) {
  const { part, at, place } = focus;
  const { answer, seen, numbers, votes, network, isKept } = session;
  const { I, J, D_in, config } = network;
  const c = answer.c.at(-1).map((share, k) => share * votes[k]);
  const strongest = votesOf(focus, I, J).reduce((p, k) => (p < 0 || c[k] > c[p] ? k : p), -1);
  const gone = !["maps", "faders"].includes(part) && !isKept(focus);
  if (part === "maps") {
    const sum = format(seen.edges[at * (seen.edges.length / config.conv_channels) + place]);
    return `Feature map ${at + 1}: one filter slides over the digit. Where the frame is, it answers ${sum}.`;
  }
  if (part === "primary") {
    if (gone) return `Capsule ${at} is out: nobody hears it.`;
    const length = format(Math.hypot(...seen.u.subarray(at * D_in, (at + 1) * D_in)));
    const share = `${percent(c[strongest])} for the ${strongest % J}`;
    return `Capsule ${at} sees this patch, is ${length} long, and votes ${share}.`;
  }
  if (part === "predictions") {
    const from = `capsule ${Math.floor(at / J)} for the ${at % J}`;
    return gone
      ? `The vote of ${from} is cut.`
      : `The vote of ${from} is û = W u. Routing gives it ${percent(c[at])} of the capsule.`;
  }
  if (part === "classes") {
    if (gone) return `The ${at} is held down: no vote reaches it.`;
    const feeder = `Capsule ${Math.floor(strongest / J)} gives it the most of itself, ${percent(c[strongest])}.`;
    return `The ${at} is ${format(answer.lengths[at])} long. ${feeder}`;
  }
  return `Number ${at + 1} of the ${answer.prediction}’s sixteen is ${format(numbers[at])}: push it, and see.`;
}
