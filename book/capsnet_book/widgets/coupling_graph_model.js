// The couplings of a digit, round by round: what can be counted and said of them.
import { lengthsOf, norm } from "./shared/core.js";
import { format } from "./shared/ui.js";

export const ROUNDS = 10; // what is computed; the network was trained with three
export const BARS = 20; // a bar of the histogram is a twentieth wide, and the first is around 0

/** Mean over i of −Σ_j c_ij log2 c_ij: how undecided a capsule below is, in bits. log2 J if it shares itself evenly. */
export function meanEntropy(c, I, J) {
  let bits = 0;
  for (let k = 0; k < I * J; k++) if (c[k] > 0) bits -= c[k] * Math.log2(c[k]);
  return bits / I;
}

/** How many couplings are nearest to 0, to 1/20, … to 1. */
export function histogram(c) {
  const counts = new Array(BARS + 1).fill(0);
  for (const coupling of c) counts[Math.round(coupling * BARS)]++;
  return counts;
}

/** How much of v_j comes from capsule i: c_ij û_j|i along the direction of s_j, as a share of ‖s_j‖. -> [I] */
export function sharesOf(j, c, u_hat, v, I, J, D) {
  const shares = new Float64Array(I);
  const length = norm(v, j * D, D);
  let all = 0;
  for (let i = 0; i < I; i++) {
    for (let d = 0; d < D; d++) shares[i] += (c[i * J + j] * u_hat[(i * J + j) * D + d] * v[j * D + d]) / length;
    all += shares[i];
  }
  return shares.map((part) => part / all);
}

/** All that is shown of a digit. network: of core.js; image: 784 numbers */
export function readCouplings(network, image) {
  const { I, J, D_out: D } = network;
  const { u_hat, c, v } = network.forward(image, ROUNDS);
  const lengths = v.map((each) => lengthsOf(each, J, D));
  const entropy = c.map((each) => meanEntropy(each, I, J));
  const counts = c.map(histogram);

  /** What holds at a moment: a round's own numbers, or a mixture of two rounds' while one glides into the next. */
  function momentAt(moment) {
    const [t, part] = [Math.floor(moment) - 1, moment % 1];
    const between = (p, q) => p.map((x, k) => x + (q[k] - x) * part);
    const mixed = (list) => (part === 0 ? list[t] : between(list[t], list[t + 1]));
    return { c: mixed(c), lengths: mixed(lengths), counts: mixed(counts) };
  }
  return { I, J, D, u_hat, c, v, lengths, entropy, counts, momentAt };
}

/** Where the primary capsules are: types side by side, and the places of a type as a square. */
export function makePlaces({ I, config }) {
  const types = config.primary_types;
  const places = I / types;
  const across = Math.sqrt(places);
  /** Type, row and column of a capsule. */
  const of = (i) => [Math.floor(i / places), Math.floor((i % places) / across), i % across];

  /** The capsule that lies so many columns and rows from another one, over all types; at the edge it stays. */
  function neighbour(i, dx, dy) {
    const [type, row, column] = of(i);
    const within = (x, most) => Math.min(most, Math.max(0, x));
    const down = within(row + dy, across - 1);
    const right = within(type * across + column + dx, types * across - 1);
    return Math.floor(right / across) * places + down * across + (right % across);
  }

  const nameOf = (i) => {
    const [type, row, column] = of(i);
    return `${i} (type ${type}, row ${row}, column ${column})`;
  };

  /** The patch of the image that a capsule sees: left, top and side, in pixels. */
  function patchOf(i) {
    const { conv_kernel, conv_stride, primary_kernel, primary_stride } = config;
    const [, row, column] = of(i);
    const step = conv_stride * primary_stride;
    return { left: column * step, top: row * step, side: conv_kernel + (primary_kernel - 1) * conv_stride };
  }
  return { types, across, of, neighbour, nameOf, patchOf };
}

/** A share in percent, as text. */
function percent(share) {
  if (share < 0.005) return "less than 1 %";
  return share > 0.995 && share < 1 ? "more than 99 %" : `${Math.round(share * 100)} %`;
}

/** What a round shows, of all couplings or of one capsule's: focus { layer: "below" | "above", node } or null. */
export function inWords(answer, places, round, focus) {
  const { I, J } = answer;
  const [c, lengths] = [answer.c[round - 1], answer.lengths[round - 1]];
  const longest = lengths.indexOf(Math.max(...lengths));
  if (focus?.layer === "below") return aboutBelow(answer, places, round, focus.node, longest);
  if (focus) return aboutAbove(answer, places, round, focus.node);
  if (round === 1) {
    const length = format(lengths[longest]);
    return `Round 1: all ${I * J} couplings are a tenth. Capsule ${longest} is the longest already, with ${length}.`;
  }
  const thick = c.filter((coupling) => coupling > 0.5).length;
  const close = c.filter((coupling) => Math.abs(coupling - 1 / J) < 0.05).length;
  return (
    `Round ${round}: ${close} of ${I * J} couplings are still within 0.05 of a tenth, ` +
    `${thick} ${thick === 1 ? "is" : "are"} above a half. Capsule ${longest} is ${format(lengths[longest])} long.`
  );
}

function aboutBelow({ I, J, D, u_hat, c, v }, places, round, node, longest) {
  const name = `Capsule ${places.nameOf(node)}`;
  if (round === 1) return `${name}: round 1, a tenth of its vote for every digit.`;
  const row = c[round - 1].subarray(node * J, (node + 1) * J);
  const favourite = row.indexOf(Math.max(...row));
  const share = sharesOf(longest, c[round - 1], u_hat, v[round - 1], I, J, D)[node];
  const part = share < -0.005 ? `${format(share * 100, 0)} %: it points the other way` : percent(Math.max(share, 0));
  const vote = `${percent(row[favourite])} of its vote goes to ${favourite}`;
  return `${name}: ${vote}. Its part in what capsule ${longest} hears: ${part}.`;
}

function aboutAbove({ I, J, D, u_hat, c, v, lengths }, places, round, node) {
  const shares = sharesOf(node, c[round - 1], u_hat, v[round - 1], I, J, D);
  const loudest = shares.indexOf(Math.max(...shares));
  let mean = 0;
  for (let i = 0; i < I; i++) mean += c[round - 1][i * J + node] / I;
  const gets = `is ${format(lengths[round - 1][node])} long and gets ${percent(mean)} of all votes`;
  const most = `capsule ${places.nameOf(loudest)}: ${percent(shares[loudest])}`;
  return `Capsule ${node} ${gets}. Most of what it hears comes from ${most}.`;
}
