// A pen for a canvas that knows the palette's colours by their roles.
import { css, paintNumbers, shadesOf } from "../shared/digits.js";
import { element } from "../shared/ui.js";

/** @typedef {{ x: number, y: number, w: number, h: number }} Box */

/** @param {CanvasRenderingContext2D} brush @param {any} colours */
export function makePen(brush, colours) {
  const small = element("canvas"); // matrices, before they are enlarged
  colours.shades ??= {}; // by role, made once; signed: below 0 in the other colour
  const { shades } = colours;

  /** @param {Box} box @param {HTMLCanvasElement} picture @param {number[]} part  of it */
  function place(
    { x, y, w, h },
    picture,
    smooth = false,
    part = [0, 0, picture.width, picture.height],
  ) {
    const [left, top, wide, high] = part;
    brush.imageSmoothingEnabled = smooth;
    brush.imageSmoothingQuality = "high";
    brush.drawImage(picture, left, top, wide, high, x, y, w, h);
  }

  /**
   * Matrices that lie behind each other, row by row, each as a picture in its box; in one role's colour, or signed.
   * @param {Box[]} boxes @param {ArrayLike<number>} numbers
   */
  function matrices(boxes, numbers, across, role = "signed", most = 0) {
    most ||= Math.max(...Array.from(numbers, Math.abs), 1e-6);
    const { raised, accent, contrast } = colours;
    shades[role] ??=
      role === "signed" ? shadesOf(raised, accent, contrast) : shadesOf(raised, colours[role]);
    Object.assign(small, { width: across, height: numbers.length / across });
    paintNumbers(small, numbers, shades[role], most);
    const high = small.height / boxes.length;
    boxes.forEach((box, n) => place(box, small, false, [0, n * high, across, high]));
  }

  return {
    brush,
    place,
    matrices,
    matrix: (/** @type {Box} */ box, numbers, across, role, most) =>
      matrices([box], numbers, across, role, most),
    fill(role, x, y, w, h) {
      brush.fillStyle = css(colours[role]);
      brush.fillRect(x, y, w, h);
    },
    frame(role, /** @type {Box} */ { x, y, w, h }, thick = 1) {
      brush.strokeStyle = css(colours[role]);
      brush.lineWidth = thick;
      brush.strokeRect(x, y, w, h);
    },
    /** A line through points, given as x, y, x, y, … */
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
    /** Numbers as bars, up and down from the middle. @param {Box} box @param {Float32Array} numbers */
    bars({ x, y, w, h }, numbers) {
      const most = Math.max(...numbers.map(Math.abs), 1e-6);
      this.fill("raised", x, y, w, h);
      numbers.forEach((number, n) => {
        const [size, step] = [((number / most) * h) / 2, w / numbers.length];
        this.fill(
          number < 0 ? "contrast" : "accent",
          x + n * step + 0.5,
          y + h / 2,
          step - 1,
          -size,
        );
      });
    },
  };
}
