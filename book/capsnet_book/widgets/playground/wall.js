// The wall: digits that the network never learns from, as it draws them at this moment. Orange: it takes that one for
// another. A tile can be chosen, by pointer or arrow keys.
import { arrowKeys } from "../shared/controls.js";
import { css, digitAt, mix, SIDE } from "../shared/digits.js";
import { clamp, element, onNews } from "../shared/ui.js";

const TILE = SIDE + 2; // with a line around

/**
 * A wall of at most `count` tiles, ten in a row. chosen(n) when one is.
 * @param {any} widget
 * @param {{ count: number, label: string, chosen: (n: number) => void }} _
 */
export function makeWall(widget, { count, label, chosen }) {
  const canvas = element("canvas", {
    class: "wall",
    tabindex: 0,
    role: "application",
    "data-role": "wall",
    "aria-roledescription": "wall of digits",
    "aria-label": `${label} Arrow keys choose one.`,
  });
  const brush = canvas.getContext("2d");
  const tile = new ImageData(SIDE, SIDE);
  const pixels = new Uint32Array(tile.data.buffer);
  let right, wrong, last;

  /** The colours of 256 greys. */
  function shades(paper, ink) {
    const all = new Uint32Array(256);
    const channels = new Uint8Array(all.buffer);
    all.forEach((_, k) => channels.set([...mix(paper, ink, k / 255), 255], 4 * k));
    return all;
  }

  const mixInks = onNews(({ paper, stroke, contrast }) => {
    [right, wrong] = [stroke, contrast].map((ink) => shades(paper, ink));
  });

  /** @param {{ pictures: Uint8Array, mistaken: (n: number) => boolean, shown?: number, selected?: number }} tiles */
  function show(tiles) {
    last = { shown: count, selected: -1, ...tiles };
    const { pictures, mistaken, shown, selected } = last;
    const { colours } = widget;
    mixInks([colours], colours);
    const [width, height] = [10 * TILE, Math.ceil(shown / 10) * TILE];
    if (canvas.height !== height) Object.assign(canvas, { width, height });
    brush.fillStyle = css(colours.line);
    brush.fillRect(0, 0, width, height);
    for (let n = 0; n < shown; n++) {
      const shade = mistaken(n) ? wrong : right;
      digitAt(pictures, n).forEach((grey, k) => (pixels[k] = shade[grey]));
      brush.putImageData(tile, (n % 10) * TILE + 1, Math.floor(n / 10) * TILE + 1);
    }
    for (let n = 0; n < shown; n++) if (mistaken(n)) frame(n, colours.contrast);
    if (selected >= 0) frame(selected, colours.accent);
  }

  function frame(n, colour) {
    brush.strokeStyle = css(colour);
    brush.lineWidth = 2;
    brush.strokeRect((n % 10) * TILE + 1, Math.floor(n / 10) * TILE + 1, SIDE, SIDE);
  }

  function choose(n) {
    if (!last || n < 0 || n >= last.shown) return;
    show({ ...last, selected: n });
    chosen(n);
  }

  canvas.addEventListener("click", ({ offsetX, offsetY }) => {
    const side = canvas.clientWidth / 10;
    choose(Math.floor(offsetY / side) * 10 + clamp(Math.floor(offsetX / side), 0, 9));
  });
  arrowKeys(canvas, (dx, dy) => choose(Math.max(last.selected, 0) + dx + 10 * dy));
  return { canvas, show };
}
