// A map of couplings: a row a class, a column a capsule below.
import { clamp, mix } from "./ui.js";

const FULL = 0.4; // from this distance to even shares on, a cell has the full colour

/** A share as large as `even` is neutral; nothing, or FULL more than that, has the full colour. */
function colourOf(share, even, { raised, contrast, accent }) {
  const off = share / even - 1;
  return off < 0 ? mix(raised, contrast, clamp(-off, 0, 1)) : mix(raised, accent, clamp((off * even) / FULL, 0, 1));
}

/** On a canvas of I × J pixels, in colours of ui.js. c: couplings [I, J]; even: an even share. */
export function paintCouplings(canvas, c, even, colours) {
  const { width: I, height: J } = canvas;
  const brush = canvas.getContext("2d");
  const cells = brush.createImageData(I, J);
  for (let k = 0; k < I * J; k++) {
    cells.data.set([...colourOf(c[k], even, colours), 255], 4 * ((k % J) * I + Math.floor(k / J)));
  }
  brush.putImageData(cells, 0, 0);
}
