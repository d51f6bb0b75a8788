// What is said of the glass network: its score, what the part that is pointed at does, and that part large, as a row of
// small pictures that add up to what it does.
import { fitCanvas, measure } from "../shared/controls.js";
import { element, format, memoized, write } from "../shared/ui.js";
import { patchOf } from "./layout.js";
import { scoreOf, sentenceOn, votesOf } from "./model.js";
import { mapOf } from "./paint.js";
import { makePen } from "./pen.js";

/** @import { Scene } from "./paint.js" */
/** @import { Box } from "./pen.js" */
/** @typedef {[number, string, (pen: any, box: Box) => void]} Item  width in heights, label, what draws */

const WORDS = 18; // under each picture
const BETWEEN = 24;
const PACE = 400; // milliseconds that a sentence stands while the hand draws
const HINTS = [
  "Point at any part: a map, a capsule, a vote, a length. ",
  "Press a capsule or a length to take it out; draw a line across votes to cut them. ",
];

/** A picture in ink, and a square of it in a frame. */
function marked(pen, box, numbers, across, { x, y, w, h }) {
  const unit = box.w / across;
  pen.matrix(box, numbers, across, "ink");
  pen.frame("contrast", { x: box.x + x * unit, y: box.y + y * unit, w: w * unit, h: h * unit }, 2);
}

/** Shares, upright, a name under each. @param {{ name: number, share: number, best?: boolean }[]} shares */
function upright(pen, { x, y, w, h }, shares) {
  const step = w / shares.length;
  shares.forEach(({ name, share, best }, n) => {
    const size = Math.max(1, Math.min(1, share / 0.6) * (h - 16));
    pen.fill(best ? "accent" : "muted", x + n * step + 2, y + h - 16, step - 4, -size);
    pen.words("muted", String(name), x + (n + 0.5) * step, y + h - 3, {
      size: 11,
      align: "center",
    });
  });
}

const large = (pen, { x, y, w, h }, words) =>
  pen.words("ink", words, x + w / 2, y + h / 2 + 8, { size: 23, weight: 700, align: "center" });

/** @type {Record<string, (scene: Scene) => (Item | string)[]>} */
const ROWS = {
  maps({ focus: { at, place }, network: { conv, config }, seen, image }) {
    const filter = Array.from(
      { length: conv.kernel ** 2 },
      (_, k) => conv.columns[k * conv.O + at],
    );
    const map = mapOf(seen, conv, at);
    const side = Math.sqrt(map.length);
    const spot = { x: place % side, y: Math.floor(place / side), w: 1, h: 1 };
    const patch = patchOf("maps", place, config);
    return [
      [1, "your digit", (pen, box) => marked(pen, box, image, config.image_size, patch)],
      "×",
      [1, "the filter", (pen, box) => pen.matrix(box, filter, conv.kernel)],
      "=",
      [1, "its map", (pen, box) => marked(pen, box, map, side, spot)],
    ];
  },
  primary({ focus, network: { I, J, D_in, config }, seen, answer, votes, image }) {
    const patch = patchOf("primary", focus.at % (I / config.primary_types), config);
    const shares = votesOf(focus, I, J).map((k) => {
      return {
        name: k % J,
        share: answer.c.at(-1)[k] * votes[k],
        best: k % J === answer.prediction,
      };
    });
    return [
      [1, "its patch", (pen, box) => marked(pen, box, image, config.image_size, patch)],
      "→",
      [
        1.1,
        `u, ${D_in} numbers`,
        (pen, box) => pen.bars(box, seen.u.subarray(focus.at * D_in, (focus.at + 1) * D_in)),
      ],
      "→",
      [1.7, "its shares", (pen, box) => upright(pen, box, shares)],
    ];
  },
  predictions({ focus: { at: k }, network: { D_in, D_out, J, W }, seen, answer, votes }) {
    const i = Math.floor(k / J);
    const matrix = W.data.subarray(k * D_in * D_out, (k + 1) * D_in * D_out);
    return [
      [0.55, "u", (pen, box) => pen.bars(box, seen.u.subarray(i * D_in, (i + 1) * D_in))],
      "×",
      [1.2, `W, ${D_in} × ${D_out}`, (pen, box) => pen.matrix(box, matrix, D_out)],
      "=",
      [
        1.1,
        `û, ${D_out} numbers`,
        (pen, box) => pen.bars(box, seen.u_hat.subarray(k * D_out, (k + 1) * D_out)),
      ],
      "→",
      [
        0.8,
        "its share",
        (pen, box) => large(pen, box, votes[k] ? format(answer.c.at(-1)[k]) : "cut"),
      ],
    ];
  },
  classes({ focus: { part, at }, network: { I, J, D_out }, answer, votes }) {
    const share = (k) => ({
      name: Math.floor(k / J),
      share: answer.c.at(-1)[k] * votes[k],
      best: true,
    });
    const feeders = votesOf({ part, at }, I, J).map(share);
    const most = feeders.sort((p, q) => q.share - p.share).slice(0, 6);
    return [
      [1.7, "who gives most", (pen, box) => upright(pen, box, most)],
      "→",
      [
        1.2,
        `v, ${D_out} numbers`,
        (pen, box) => pen.bars(box, answer.capsules.subarray(at * D_out, (at + 1) * D_out)),
      ],
      "→",
      [0.8, "its length", (pen, box) => large(pen, box, format(answer.lengths[at]))],
    ];
  },
};

/** @param {{ brush: CanvasRenderingContext2D, width: number, height: number, ratio: number }} sheet */
function paintLens({ brush, width, height, ratio }, /** @type {Scene} */ scene) {
  brush.setTransform(ratio, 0, 0, ratio, 0, 0);
  brush.clearRect(0, 0, width, height);
  brush.textBaseline = "alphabetic";
  const pen = makePen(brush, scene.colours);
  const items = ROWS[scene.focus.part](scene);
  const signs = items.filter((item) => typeof item === "string").length;
  const wide = items.reduce((sum, item) => sum + (typeof item === "string" ? 0 : item[0]), 0);
  const side = Math.min(height / ratio - WORDS, (width / ratio - signs * BETWEEN) / wide);
  let x = 0;
  for (const item of items) {
    const w = typeof item === "string" ? BETWEEN : item[0] * side;
    if (typeof item === "string")
      pen.words("muted", item, x + w / 2, side / 2 + 6, { size: 18, align: "center" });
    else {
      item[2](pen, { x, y: 0, w, h: side });
      pen.words("muted", item[1], x + w / 2, side + 14, { size: 12, align: "center" });
    }
    x += w;
  }
}

/** -> { score, node, show(scene) }. lit: the parts to enlarge; the lens begins with one of them. */
export function makeGlance(stage, lit) {
  const own =
    ["maps", "predictions", "classes", "primary"].find((part) => lit.includes(part)) ??
    "predictions";
  const lens = element("canvas", { class: "lens", "aria-hidden": "true" });
  const score = element("p", { class: "sentence", "data-role": "score" });
  const words = element("p", { class: "words" });
  const size = measure(lens, stage.schedule);
  const magnify = memoized((scene) => paintLens(fitCanvas(lens, size), scene));
  let next = 0; // when there is time for words: the page is laid out anew for them

  function show(/** @type {any} */ scene) {
    const { session, focus, looked } = stage;
    if (scene.changing && !focus && performance.now() < next) return;
    next = performance.now() + PACE;
    const seen = looked ?? session.strongest(own);
    magnify([looked, session.answer, scene.colours, size.width], { ...scene, focus: seen });
    const hint = focus || session.touched ? "" : HINTS[Number(stage.apart)];
    write(words, `${hint}${sentenceOn(focus ?? seen, session)}`);
    write(score, scoreOf(session));
  }
  return { score, node: element("div", { class: "glance" }, words, lens), show };
}
