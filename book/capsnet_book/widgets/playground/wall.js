// Walls: digits as a network draws them at this moment. Orange: it takes that one for another. A tile can be chosen, by
// pointer or arrow keys.
import { arrowKeys } from "../shared/controls.js";
import { css, digitAt, SIDE, shadesOf } from "../shared/digits.js";
import { clamp, element, figure, memoized, write } from "../shared/ui.js";
import { WALL } from "./sizes.js";
import { nameOf } from "./words.js";

const TILE = SIDE + 2; // with a line around

/** Tiles in a figure, ten in a row. chosen(n) when one is. @param {(n: number) => void} chosen */
export function makeWall(widget, kind, chosen) {
  const canvas = element("canvas", {
    class: "wall",
    tabindex: 0,
    role: "application",
    "data-role": "wall",
    "aria-roledescription": "wall of digits",
    "aria-label": "Digits as it draws them at this moment. Arrow keys choose one.",
  });
  const caption = element("figcaption");
  const brush = canvas.getContext("2d");
  let [count, at] = [0, -1]; // at: from where arrow keys go on
  let inks = []; // shades from paper to ink, of what is right and of what is a mistake
  const mixInks = memoized(({ paper, stroke, contrast }) => {
    inks = [stroke, contrast].map((ink) => shadesOf(paper, ink).subarray(-256));
  });
  const placeOf = (n) => [(n % 10) * TILE + 1, Math.floor(n / 10) * TILE + 1];

  /** @param {Uint8Array} pictures @param {boolean[]} wrong  of each tile whether it is a mistake */
  function show(pictures, wrong, words, selected = -1) {
    count = wrong.length;
    if (selected >= 0) at = selected;
    const { contrast, accent } = widget.colours;
    mixInks([widget.colours], widget.colours);
    const wall = new ImageData(10 * TILE, Math.ceil(count / 10) * TILE);
    const pixels = new Uint32Array(wall.data.buffer); // between the tiles the canvas's own ground shows
    for (let n = 0; n < count; n++) {
      const [x, y] = placeOf(n);
      const shades = inks[Number(wrong[n])];
      digitAt(pictures, n).forEach((grey, k) => {
        pixels[(y + Math.floor(k / SIDE)) * wall.width + x + (k % SIDE)] = shades[grey];
      });
    }
    if (canvas.height !== wall.height)
      Object.assign(canvas, { width: wall.width, height: wall.height });
    brush.putImageData(wall, 0, 0); // all at once: a hundred small ones cost more
    for (let n = 0; n < count; n++) if (wrong[n]) frame(n, contrast);
    if (selected >= 0) frame(selected, accent);
    write(caption, words);
  }

  function frame(n, colour) {
    const [x, y] = placeOf(n);
    brush.strokeStyle = css(colour);
    brush.lineWidth = 2;
    brush.strokeRect(x, y, SIDE, SIDE);
  }

  function choose(n) {
    if (n < 0 || n >= count) return;
    at = n;
    chosen(n);
  }
  canvas.addEventListener("click", ({ offsetX, offsetY }) => {
    const side = canvas.clientWidth / 10;
    choose(Math.floor(offsetY / side) * 10 + clamp(Math.floor(offsetX / side), 0, 9));
  });
  arrowKeys(canvas, (dx, dy) => choose(at < 0 ? 0 : at + dx + 10 * dy));
  return { figure: figure(kind, canvas, caption), show };
}

/** The wall of the k-th network. @param {any} widget @param {any} session */
export function makeHundred(widget, session, k) {
  const wall = makeWall(widget, "wall-frame", (n) => session.act(() => session.watch(k, n)));
  const renew = memoized(({ pictures, wrong }, selected) => {
    const { settings } = session;
    const name = settings.length === 2 ? `${nameOf(settings, k)}. ` : "";
    const how =
      settings[k].drawing > 0
        ? "as it draws them at this moment"
        : "as they are: it learns no drawing";
    const words = `${name}A hundred digits that it never learns from, ${how}. Orange: taken for another. Choose one.`;
    wall.show(pictures, wrong.slice(0, WALL), words, selected);
  });
  function show(/** @type {any[]} */ frames) {
    const { settings, watched } = session;
    const selected = watched.network === k ? watched.tile : -1;
    if (!frames[k] || k >= settings.length) return; // frames may be older than the settings
    renew([frames[k], settings, selected, widget.colours], frames[k], selected);
  }
  return { node: wall.figure, show };
}
