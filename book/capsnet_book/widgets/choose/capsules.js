// Chapter 3: which line cuts 64 channels at 9 places into 72 capsules?
import { predictionVectors, route, squash } from "../shared/core.js";
import { t } from "../shared/t.js";
import { setAttributes, svg } from "../shared/ui.js";
import { answerOf, inWords, makeView } from "./view.js";

/** @typedef {import("./view.js").Setting} Setting */

const TYPES = 8;
const DIM = 8;
const SIDE = 3;
const PLACES = SIDE * SIDE;
const COUNT = TYPES * DIM * PLACES;

/** An order of the numbers: to each place in the list, the one in [types, dim, H, W]. */
function orderOf(/** @type {(k: number) => number} */ source) {
  return Int32Array.from({ length: COUNT }, (_, k) => source(k));
}

/** permute(0, 1, 3, 4, 2): the list runs over type, row, column, number. */
function carriedLast(/** @type {number} */ k) {
  const number = k % DIM;
  const place = Math.floor(k / DIM) % PLACES;
  const type = Math.floor(k / (DIM * PLACES));
  return (type * DIM + number) * PLACES + place;
}

/** permute(0, 1, 3, 2, 4): the list runs over type, row, number, column. */
function carriedBetween(/** @type {number} */ k) {
  const column = k % SIDE;
  const number = Math.floor(k / SIDE) % DIM;
  const row = Math.floor(k / (SIDE * DIM)) % SIDE;
  const type = Math.floor(k / (DIM * PLACES));
  return (type * DIM + number) * PLACES + row * SIDE + column;
}

const ORDERS = [
  orderOf((k) => k), //
  orderOf(carriedLast),
  orderOf(carriedBetween),
];

/** The numbers of all capsules, as an option cuts them. features [64, 9] -> [72, 8] */
export const cut = (/** @type {number} */ option, /** @type {Float32Array} */ features) =>
  Float32Array.from(ORDERS[option], (place) => features[place]);

/** The class capsules [J, D_out] of a network whose capsules an option cuts. */
export function capsulesBy(/** @type {number} */ option, /** @type {any} */ network, features) {
  const u = cut(option, features);
  for (let at = 0; at < u.length; at += DIM) squash(u, at, DIM);
  const { I, J, D_out, W } = network;
  return route(predictionVectors(u, W), I, J, D_out, 3).v[2];
}

const MIDDLE = 4; // the place in the middle of the nine

/** 1 for each number from the middle of the image, [64, 9]. */
const marks = Float32Array.from({ length: COUNT }, (_, k) => Number(k % PLACES === MIDDLE));

/** How many capsules have a number from the middle, and how many of theirs are. */
function counts(/** @type {number} */ option) {
  const own = cut(option, marks);
  const sums = Array.from({ length: COUNT / DIM }, (_, i) =>
    own.subarray(i * DIM, (i + 1) * DIM).reduce((sum, mark) => sum + mark, 0),
  );
  const touched = sums.filter((sum) => sum > 0);
  return { capsules: touched.length, most: Math.max(...touched) };
}

const TILE = { width: 32, height: 18, across: 35.5, down: 22 };

/** The 72 capsules, eight numbers each; a number from the middle of the image is filled. */
function makeTiles() {
  const cells = Array.from({ length: COUNT }, (_, k) => {
    const capsule = Math.floor(k / DIM);
    const x = (capsule % PLACES) * TILE.across + ((k % DIM) * TILE.width) / DIM;
    const y = Math.floor(capsule / PLACES) * TILE.down;
    return svg("rect", { x, y, width: TILE.width / DIM, height: TILE.height });
  });
  const frames = Array.from({ length: COUNT / DIM }, (_, capsule) => {
    const x = (capsule % PLACES) * TILE.across;
    const y = Math.floor(capsule / PLACES) * TILE.down;
    return svg("rect", { class: "tile", x, y, width: TILE.width, height: TILE.height, rx: 3 });
  });
  const size = `-1 -1 ${PLACES * TILE.across} ${TYPES * TILE.down}`;
  const about = { role: "img", "aria-label": t`The numbers from the middle of the image` };
  const node = svg("svg", { viewBox: size, class: "tiles", ...about }, ...cells, ...frames);
  const show = (/** @type {ArrayLike<number>} */ filled, /** @type {string} */ kind) =>
    cells.forEach((cell, k) => {
      const isFilled = Boolean(filled[k]);
      setAttributes(cell, { class: `${isFilled ? "mark" : "empty"} ${kind}` });
    });
  return { node, show };
}

/** @type {import("./view.js").Option[]} */
const options = [
  {
    code: "u = features.view(B, -1, 8)",
    says: ({ capsules, reads }) =>
      t`The shape is right. But what is seen in the middle is spread over ${capsules} capsules, and
        each of them mixes places. ${reads}`,
  },
  {
    code: "u = split.permute(0, 1, 3, 4, 2).reshape(B, -1, 8)",
    right: true,
    says: ({ capsules, reads }) =>
      t`What is seen in the middle is in ${capsules} capsules, one of each type, and they hold
        nothing else. ${reads}`,
  },
  {
    code: "u = split.permute(0, 1, 3, 2, 4).reshape(B, -1, 8)",
    says: ({ capsules, reads }) =>
      t`The column is still the last axis: eight numbers in a row come from three places. The middle
        is in ${capsules} capsules. ${reads}`,
  },
];

export const capsules = {
  asks: t`Which line makes each capsule the eight numbers of one type at one place?`,
  before: { code: "split = features.view(B, 8, 8, 3, 3)  # B, types, dim, H, W" },
  options,
  make(/** @type {Setting} */ setting) {
    const { network, image } = setting;
    const { features } = network.look(image);
    const tiles = makeTiles();
    const view = makeView(setting, tiles.node);
    const show = (/** @type {number} */ option) => {
      if (option < 0) {
        tiles.show(new Float32Array(COUNT), "");
        view.say(t`72 capsules of 8 numbers; filled will be those from the middle of the image`);
        view.draw(null, t`what it draws`);
        return "";
      }
      const { right } = options[option];
      tiles.show(cut(option, marks), right ? "right" : "wrong");
      const answer = answerOf(network, capsulesBy(option, network, features));
      const { capsules, most } = counts(option);
      view.say(t`filled: from the middle of the image; at most ${most} of a capsule's 8`);
      view.draw(answer.drawing, t`what the network draws: ${answer.name}`);
      return options[option].says({ capsules, reads: inWords(answer) });
    };
    return { node: view.node, show };
  },
};
