// Numbers of six channels at four places fly into capsules of three: split, carry and flatten, or
// flattened at once, which mixes places.
import { arrowKeys, drag } from "./shared/controls.js";
import { defineWidget } from "./shared/stage.js";
import { t } from "./shared/t.js";
import { clamp, element, pushButton, rowOf, setAttributes, svg } from "./shared/ui.js";

const TYPES = 2;
const DIM = 3; // numbers of a capsule
const PLACES = 4;
const CHANNELS = TYPES * DIM;
const COUNT = CHANNELS * PLACES;
const WAYS = ["maps", "group", "view"];

/**
 * The slot of each number in the list of all capsules' numbers. Number n is that of channel
 * floor(n / 4) at place n % 4.
 * @param {string} way  "group" or "view"
 */
export function slotsOf(way) {
  return Array.from({ length: COUNT }, (_, n) => {
    if (way === "view") return n;
    const channel = Math.floor(n / PLACES);
    const type = Math.floor(channel / DIM);
    const capsule = type * PLACES + (n % PLACES);
    return capsule * DIM + (channel % DIM);
  });
}

// ------------------------------------------------------------------------------ the picture

const TILE = 40; // a number's width; the units are those of the viewBox
const TALL = 30; // its height
const VIEW = { width: 330, height: 292 };
const MAPS = { x: 79, y: 44 }; // the upper left corner of the numbers as maps
const ROW = { x: 22, y: 44, across: 162, down: 62 }; // capsules: two columns of four

/** Where a number stands. @param {string} way @param {number} n @returns {number[]} */
function placeOf(way, n) {
  if (way === "maps") {
    const channel = Math.floor(n / PLACES);
    const gap = channel < DIM ? 0 : 14; // between the two types
    return [MAPS.x + (n % PLACES) * (TILE + 4), MAPS.y + channel * (TALL + 8) + gap];
  }
  const slot = slotsOf(way)[n];
  const capsule = Math.floor(slot / DIM);
  const column = Math.floor(capsule / PLACES);
  const x = ROW.x + column * ROW.across + (slot % DIM) * (TILE + 2);
  return [x, ROW.y + (capsule % PLACES) * ROW.down];
}

/** The places that each capsule's numbers come from. @param {string} way */
function placesInCapsules(way) {
  const slots = slotsOf(way);
  return Array.from({ length: COUNT / DIM }, (_, capsule) => {
    const own = slots.flatMap((slot, n) =>
      Math.floor(slot / DIM) === capsule ? [n % PLACES] : [],
    );
    return new Set(own);
  });
}

const SAYS = {
  maps: t`Six channels, 100 to 600, at four places. A colour is a place. Cut capsules of three.`,
  group: t`Split, carry, flatten: each capsule has one colour. Its three numbers come from one
    place.`,
  view: t`Flattened at once: the shape is right, and each capsule is made of three places.`,
};

const LABEL = t`Cut feature maps into capsules, the right and the wrong way`;

export default defineWidget("CutFeatures", LABEL, (widget) => {
  const { root, get, set, layOut } = widget;
  const choose = (/** @type {string} */ way) => set({ way });
  const buttons = {
    group: pushButton("group", t`Split, carry, flatten`, () => choose("group")),
    view: pushButton("view", t`Flatten at once`, () => choose("view")),
    maps: pushButton("maps", t`Back to the maps`, () => choose("maps")),
  };
  const tiles = Array.from({ length: COUNT }, (_, n) => makeTile(n));
  const frames = Array.from({ length: COUNT / DIM }, () =>
    svg("rect", { class: "capsule", width: 3 * TILE + 16, height: TALL + 12, rx: 10 }),
  );
  const head = svg("text", { class: "label", x: VIEW.width / 2, y: 22, "text-anchor": "middle" });
  const view = { viewBox: `0 0 ${VIEW.width} ${VIEW.height}`, class: "cut", "data-role": "cut" };
  const about = { tabindex: 0, role: "slider", "aria-valuemin": 0, "aria-valuemax": 2 };
  const named = { "aria-label": t`The numbers: as maps, cut rightly, cut wrongly` };
  const picture = svg("svg", { ...view, ...about, ...named }, head, ...frames, ...tiles);
  const { say } = layOut({
    stage: element("div", {}, picture),
    hands: [rowOf(buttons.group, buttons.view, buttons.maps)],
  });
  const at = () => WAYS.indexOf(get("way"));
  const step = (/** @type {number} */ by) => choose(WAYS[clamp(at() + by, 0, 2)]);
  arrowKeys(picture, (dx, dy) => step(dx + dy));
  drag(picture, { focus: picture, start: () => choose(WAYS[(at() + 1) % 3]), move: () => {} });

  return () => {
    const way = get("way");
    tiles.forEach((tile, n) => {
      const [x, y] = placeOf(way, n);
      tile.style.transform = `translate(${x}px, ${y}px)`;
    });
    const places = placesInCapsules(way === "maps" ? "group" : way);
    frames.forEach((frame, capsule) => {
      const x = ROW.x + Math.floor(capsule / PLACES) * ROW.across - 10;
      const y = ROW.y + (capsule % PLACES) * ROW.down - 6;
      setAttributes(frame, { x, y });
      frame.classList.toggle("away", way === "maps");
      frame.classList.toggle("mixed", places[capsule].size > 1);
    });
    head.textContent = way === "maps" ? t`6 channels × 4 places` : t`8 capsules of 3 numbers`;
    for (const [name, button] of Object.entries(buttons))
      setAttributes(button, { "aria-pressed": name === way });
    setAttributes(picture, { "aria-valuenow": at(), "aria-valuetext": SAYS[way] });
    root.dataset.way = way;
    say(SAYS[way]);
  };
});

/** A number that is its own address: hundreds for its channel, the last digit for its place. */
function makeTile(/** @type {number} */ n) {
  const address = 100 * (Math.floor(n / PLACES) + 1) + (n % PLACES);
  const middle = { x: TILE / 2, y: TALL / 2 + 5, "text-anchor": "middle" };
  return svg(
    "g",
    { class: `tile place-${n % PLACES}` },
    svg("rect", { width: TILE, height: TALL, rx: 5 }),
    svg("text", middle, String(address)),
  );
}
