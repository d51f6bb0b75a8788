// What the reader changed while a network learned, as marks on the curve.
import { t } from "../shared/t.js";
import { svg } from "../shared/ui.js";
import { SIGN } from "./sign.js";

/** @typedef {import("./history.js").Cause} Cause */
/** @typedef {{ seen: number, cause: Cause }} Change  after so many digits */

const FIRST_LABEL = 20; // pixels below the top
const LINE = 13; // between the labels of neighbouring marks
const LINES = 3;

/** Return what was changed until the last of these moments, in order. @returns {Change[]} */
export function changesIn(/** @type {import("./untrained.js").Frame[][]} */ moments) {
  return moments.flatMap((frames) => {
    const { seen, cause } = frames[frames[0].cause?.network ?? 0];
    return cause ? [{ seen, cause }] : [];
  });
}

/** Return the part on which a hand was laid, in words. @param {Cause} cause */
const partOf = ({ part, at }) => (part === "maps" ? t`feature map ${at + 1}` : t`capsule ${at}`);

/** Return a nudge in signs. */
const factorOf = (/** @type {number} */ factor) => (factor < 1 ? `÷ ${1 / factor}` : `× ${factor}`);

/** Return the few letters that stand beside a mark. @param {Cause} cause */
function labelOf({ kind, value }) {
  if (kind === "sign") return SIGN;
  if (kind === "nudge") return factorOf(value);
  return value ? t`silent` : t`speaks`;
}

/** Return what a change was, in words. @param {Change} change */
export function inWords({ seen, cause }) {
  const { kind, value } = cause;
  const after = t`after ${seen.toLocaleString("en")} images`;
  if (kind === "sign") return t`your sign, ${after}`;
  const part = partOf(cause);
  if (kind === "nudge") return t`weights of ${part} ${factorOf(value)}, ${after}`;
  return value ? t`${part} held silent, ${after}` : t`${part} speaks again, ${after}`;
}

/**
 * Return the marks: a line from top to floor for each change, and its label.
 * @param {any} plan  the axes
 * @param {number} top
 * @param {Change[]} changes
 */
export function marksOf(plan, top, changes) {
  return changes.map((change, n) => {
    const x = plan.x(change.seen);
    const y = top + FIRST_LABEL + LINE * (n % LINES);
    const label = plan.text(labelOf(change.cause), x - 4, y, { "text-anchor": "end" });
    const line = svg("line", { x1: x, x2: x, y1: top, y2: plan.floor });
    return svg("g", { class: "change" }, svg("title", {}, inWords(change)), line, label);
  });
}
