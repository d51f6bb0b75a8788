// Margin loss and cross-entropy of ten lengths: numbers, and what there is to say about them.
import { clamp, format } from "./shared/ui.js";

export const LONGEST = 0.999; // squash stays below 1
export const M_PLUS = 0.9;
export const M_MINUS = 0.1;
export const LAMBDA = 0.5;
export const RATE = 0.25; // a step downhill: this much of the gradient. The arrows show just that step

/**
 * Equation 4, a class at a time, and its derivative.
 * @param {number[]} lengths  [J]
 * @param {Set<number>} present  classes
 * @returns {{ losses: number[], gradients: number[], total: number }}
 */
export function marginTerms(lengths, present) {
  const losses = lengths.map((length, k) =>
    present.has(k) ? Math.max(0, M_PLUS - length) ** 2 : LAMBDA * Math.max(0, length - M_MINUS) ** 2,
  );
  const gradients = lengths.map((length, k) =>
    present.has(k) ? -2 * Math.max(0, M_PLUS - length) : 2 * LAMBDA * Math.max(0, length - M_MINUS),
  );
  return { losses, gradients, total: losses.reduce((sum, loss) => sum + loss, 0) };
}

/**
 * What softmax makes of the lengths, and the cross-entropy with the present classes, all alike.
 * @param {number[]} lengths
 * @param {Set<number>} present
 * @returns {{ shares: number[], gradients: number[], loss: number | null }}  null: none is present
 */
export function crossEntropy(lengths, present) {
  const exponentials = lengths.map(Math.exp);
  const sum = exponentials.reduce((all, x) => all + x, 0);
  const shares = exponentials.map((x) => x / sum);
  const target = lengths.map((_, k) => (present.has(k) ? 1 / present.size : 0));
  const gradients = shares.map((share, k) => (present.size ? share - target[k] : 0));
  const loss = present.size ? shares.reduce((all, share, k) => all - target[k] * Math.log(share), 0) : null;
  return { shares, gradients, loss };
}

/** The lengths after one step downhill. @param {number[]} lengths @param {number[]} gradients */
export const stepDown = (lengths, gradients) =>
  lengths.map((length, k) => clamp(Math.round(1e5 * (length - RATE * gradients[k])) / 1e5, 0, LONGEST));

/** What the class whose curve is shown is told. */
export function aboutClass(there, length) {
  const near = 0.005; // what rounds to 0.00
  if (there && length > M_PLUS - near) {
    return "Present and long enough: the curve is flat here, and nothing pulls any more.";
  }
  if (there) {
    return `Present and ${format(M_PLUS - length)} short of m⁺: pulled up, ever more gently towards the margin.`;
  }
  if (length < M_MINUS + near) return "Absent and short enough: the curve is flat here, and nothing pushes.";
  return `Absent and ${format(length - M_MINUS)} beyond m⁻: pushed down, with weight λ = ${format(LAMBDA)}.`;
}

/** What a step did. `what` it was; the sums of the margin losses before and after it, as text. */
export function aboutStep(what, before, after, lost, left) {
  const moves = after.map((length, k) => ({ k, by: length - before[k], length }));
  const moved = moves.filter(({ by }) => Math.abs(by) > 1e-4).sort((p, q) => Math.abs(q.by) - Math.abs(p.by));
  if (!moved.length) return `${what} moves nothing: no arrow is left.`;
  const each = moved
    .slice(0, 2)
    .map(({ k, by, length }) => `${k} ${by > 0 ? "rose" : "fell"} to ${format(length)}`)
    .join(", ");
  const others = moved.length > 2 ? `, ${moved.length - 2} more moved` : "";
  return `${what}: ${each}${others}; the margin loss went from ${lost} to ${left}.`;
}
