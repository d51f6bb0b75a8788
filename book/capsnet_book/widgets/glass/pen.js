// A pen for a canvas that knows the palette's colours by their roles.
import { css, mix } from "../shared/digits.js";
import { element } from "../shared/ui.js";

/** @typedef {{ x: number, y: number, w: number, h: number }} Box */

/** @param {CanvasRenderingContext2D} brush @param {any} colours */
export function makePen(brush, colours) {
  /** @type {HTMLCanvasElement | undefined} */
  let small; // a matrix, before it is enlarged
  /** What lies between the ground and a role's colour; below 0 it is the other colour. */
  const shade = (number, most, role = number < 0 ? "contrast" : "accent") =>
    mix(colours.raised, colours[role], Math.min(1, Math.abs(number) / most));

  /** @param {Box} box @param {HTMLCanvasElement} picture */
  function place({ x, y, w, h }, picture, smooth = false) {
    brush.imageSmoothingEnabled = smooth;
    brush.imageSmoothingQuality = "high";
    brush.drawImage(picture, x, y, w, h);
  }

  return {
    brush,
    place,
    shade: (/** @type {number} */ number, most = 1) => css(shade(number, most)),
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
    /** Ends a line, drawn by the same points, in an arrow's head. */
    head(role, /** @type {number[]} */ ...xy) {
      const [px, py, x, y] = xy.slice(-4);
      const turn = Math.atan2(y - py, x - px);
      brush.fillStyle = css(colours[role]);
      brush.beginPath();
      brush.moveTo(x, y);
      for (const side of [0.45, -0.45]) brush.lineTo(x - 7 * Math.cos(turn + side), y - 7 * Math.sin(turn + side));
      brush.fill();
    },
    words(role, text, x, y, { size = 13, weight = 400, align = "left" } = {}) {
      brush.font = `${weight} ${size}px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif`;
      brush.fillStyle = css(colours[role]);
      brush.textAlign = /** @type {CanvasTextAlign} */ (align);
      brush.fillText(text, x, y);
    },
    /** A matrix, row by row, as a picture; in one role's colour, or signed. @param {ArrayLike<number>} numbers */
    matrix(box, numbers, across, role = undefined, most = 0) {
      most ||= Math.max(...Array.from(numbers, Math.abs), 1e-6);
      small ??= element("canvas");
      Object.assign(small, { width: across, height: numbers.length / across });
      const inside = small.getContext("2d");
      const picture = inside.createImageData(small.width, small.height);
      for (let k = 0; k < numbers.length; k++) picture.data.set([...shade(numbers[k], most, role), 255], 4 * k);
      inside.putImageData(picture, 0, 0);
      place(box, small);
    },
    /** Numbers as bars, up and down from the middle. @param {Box} box @param {Float32Array} numbers */
    bars({ x, y, w, h }, numbers) {
      const most = Math.max(...numbers.map(Math.abs), 1e-6);
      this.fill("raised", x, y, w, h);
      numbers.forEach((number, n) => {
        const [size, step] = [((number / most) * h) / 2, w / numbers.length];
        this.fill(number < 0 ? "contrast" : "accent", x + n * step + 0.5, y + h / 2, step - 1, -size);
      });
    },
  };
}
