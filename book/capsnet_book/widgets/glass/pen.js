// A pen for a canvas that knows the palette's colours by their roles.
import { norm } from "../shared/core.js";
import { css, paintNumbers, shadesOf } from "../shared/digits.js";
import { element } from "../shared/ui.js";

/** @typedef {{ x: number, y: number, w: number, h: number }} Box */

/** The largest absolute value, at least a little above 0. @param {ArrayLike<number>} numbers */
const largestOf = (numbers) => Math.max(...Array.from(numbers, Math.abs), 1e-6);

/** @type {Map<string, HTMLCanvasElement>} */
const smallCanvases = new Map();

/**
 * A canvas out of sight, for a picture before it is enlarged; it is used at once. One of each size
 * is kept: a new canvas costs more than what is painted on it.
 */
export function smallCanvas(/** @type {number} */ width, /** @type {number} */ height) {
  const size = `${width} × ${height}`;
  if (!smallCanvases.has(size)) smallCanvases.set(size, element("canvas", { width, height }));
  return smallCanvases.get(size);
}

/**
 * Empty cells, all at once: one by one they cost more than what is in them.
 * @param {{ brush: CanvasRenderingContext2D }} pen @param {any} colours @param {Box[]} cells
 */
export function paintCells({ brush }, { surface, line }, cells) {
  brush.beginPath();
  for (const { x, y, w, h } of cells) brush.rect(x, y, w, h);
  brush.fillStyle = css(surface);
  brush.fill();
  brush.strokeStyle = css(line);
  brush.lineWidth = 0.75;
  brush.stroke();
}

/**
 * @param {CanvasRenderingContext2D} brush
 * @param {any} colours  by role (themeColours()); tables of shades are kept in it
 */
export function makePen(brush, colours) {
  colours.shades ??= {};
  const { shades } = colours;

  /** A table of shades, made once. "signed": numbers below 0 in the contrast colour. */
  function shadesFor(/** @type {string} */ role) {
    const { raised, accent, contrast } = colours;
    shades[role] ??=
      role === "signed" ? shadesOf(raised, accent, contrast) : shadesOf(raised, colours[role]);
    return shades[role];
  }

  /** @param {Box} box @param {HTMLCanvasElement} picture @param {Box} part  of the picture */
  function place(
    { x, y, w, h },
    picture,
    smooth = false,
    part = { x: 0, y: 0, w: picture.width, h: picture.height },
  ) {
    brush.imageSmoothingEnabled = smooth;
    brush.imageSmoothingQuality = "high";
    brush.drawImage(picture, part.x, part.y, part.w, part.h, x, y, w, h);
  }

  /**
   * Several matrices, each as a picture in its box.
   * @param {Box[]} boxes
   * @param {ArrayLike<number>} numbers  one matrix behind the other, row by row
   * @param {number} across  numbers in a row @param {string} role  a colour's, or "signed"
   * @param {number} most  the number that has the full colour, by default the largest
   */
  function matrices(boxes, numbers, across, role = "signed", most = largestOf(numbers)) {
    const small = smallCanvas(across, numbers.length / across);
    paintNumbers(small, numbers, shadesFor(role), most);
    const high = small.height / boxes.length;
    boxes.forEach((box, n) => place(box, small, false, { x: 0, y: n * high, w: across, h: high }));
  }

  return {
    brush,
    place,
    matrices,
    matrix: (
      /** @type {Box} */ box,
      numbers,
      /** @type {number} */ across,
      role = "signed",
      most = largestOf(numbers),
    ) => matrices([box], numbers, across, role, most),
    fill(role, x, y, w, h) {
      brush.fillStyle = css(colours[role]);
      brush.fillRect(x, y, w, h);
    },
    frame(role, /** @type {Box} */ { x, y, w, h }, thick = 1) {
      brush.strokeStyle = css(colours[role]);
      brush.lineWidth = thick;
      brush.strokeRect(x, y, w, h);
    },
    /** A line through points, given as x, y, x, y, …; with none it sets colour and thickness. */
    line(role, thick, /** @type {number[]} */ ...xy) {
      brush.strokeStyle = css(colours[role]);
      brush.lineWidth = thick;
      brush.beginPath();
      for (let n = 0; n < xy.length; n += 2) brush.lineTo(xy[n], xy[n + 1]);
      brush.stroke();
    },
    words(role, text, x, y, { size = 13, weight = 400, align = "left" } = {}) {
      brush.font = `${weight} ${size}px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif`;
      brush.fillStyle = css(colours[role]);
      brush.textAlign = /** @type {CanvasTextAlign} */ (align);
      brush.fillText(text, x, y);
    },
    /**
     * A capsule as an arrow: as long as the capsule, in the direction of its first two numbers.
     * @param {number} x  its middle @param {number} y
     * @param {number} reach  half of what a capsule of length 1 takes
     * @param {ArrayLike<number>} capsule
     */
    capsule(x, y, reach, capsule) {
      const length = norm(capsule);
      const half = Math.max(1, reach * length);
      const direction = Math.atan2(capsule[1], capsule[0]);
      const dx = half * Math.cos(direction);
      const dy = half * Math.sin(direction);
      brush.globalAlpha = 0.35 + 0.65 * Math.min(1, 2 * length ** 2);
      this.line("accent", 1.6, x - dx, y - dy, x + dx, y + dy);
      this.fill("accent", x + dx - 1.8, y + dy - 1.8, 3.6, 3.6);
      brush.globalAlpha = 1;
    },
    /**
     * Numbers as bars, up and down from the middle.
     * @param {Box} box @param {Float32Array} numbers
     */
    bars({ x, y, w, h }, numbers) {
      const most = largestOf(numbers);
      const step = w / numbers.length;
      this.fill("raised", x, y, w, h);
      numbers.forEach((number, n) => {
        const size = ((number / most) * h) / 2;
        const role = number < 0 ? "contrast" : "accent";
        this.fill(role, x + n * step + 0.5, y + h / 2, step - 1, -size);
      });
    },
  };
}
