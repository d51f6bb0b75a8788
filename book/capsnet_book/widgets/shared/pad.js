// A pad to draw a digit on, by mouse, finger or arrow keys. It can also be given a picture as pixels.
import { ARROWS, arrowKeys, drag, fitCanvas, measure } from "./controls.js";
import { css, PIXELS, SIDE } from "./digits.js";
import { PEN, toImage } from "./ink.js";
import { clamp, element, pushButton, write } from "./ui.js";

const KEYS = "Arrow keys move the pen, Space puts it down and lifts it.";

/**
 * The pad calls drawn() at every step of the pen, and settled() when a stroke is finished or all is cleared.
 * -> { frame, buttons, image, bytes, empty, show, paint }
 */
export function makePad({ drawn, settled }) {
  // What is shown: strokes drawn by hand, or a picture given as pixels; and the 28×28 made of either.
  let strokes = []; // of points [x, y] in the unit square
  let pixels = new Float32Array(PIXELS); // undefined until someone asks what the strokes have become
  let drawing = false; // a pointer is down
  let inked = 0; // points of its stroke that are on the canvas
  const pen = { x: 0.5, y: 0.5, down: false, visible: false }; // the keyboard's pen

  const canvas = element("canvas", {
    class: "pad",
    tabindex: 0,
    role: "application",
    "data-role": "pad",
    "aria-roledescription": "drawing pad",
    "aria-label": `Drawing pad. ${KEYS}`,
  });
  let size; // measured when the pad is first painted
  const hint = element("p", { class: "hint", "aria-hidden": "true" });
  const told = element("p", { class: "unseen", "aria-live": "polite" });
  const image = () => (pixels ??= toImage(strokes));
  const empty = () => !strokes.length && !image().some((grey) => grey > 0);

  /** The last stroke, or another one, goes on through these points. */
  function ink(points, anew = false) {
    if (anew) strokes.push([]);
    strokes.at(-1).push(...points);
    pixels = undefined;
    drawn();
  }

  /** Exactly these pixels, bytes, as they are. */
  function show(bytes) {
    [drawing, pen.down, strokes] = [false, false, []]; // the stroke that goes on is over
    pixels = Float32Array.from(bytes, (grey) => grey / 255);
  }

  function clear() {
    show(new Uint8Array(PIXELS));
    settled();
  }

  // ---------------------------------------------------------------------------------- mouse and touch
  const inside = ({ x, y }) => [clamp(x, 0, 1), clamp(y, 0, 1)];
  drag(canvas, {
    focus: canvas,
    start(at) {
      [drawing, inked] = [true, 0];
      Object.assign(pen, { down: false, visible: false });
      ink([inside(at)], true);
    },
    move: (_, trail) => drawing && ink(trail().map(inside)),
    end() {
      if (drawing) settled();
      drawing = false;
    },
  });

  // ----------------------------------------------------------------------------------------- keyboard
  const held = new Set(); // two arrow keys at once go diagonally
  const shown = (work) => (event) => {
    work(event);
    pen.visible = true;
    drawn();
  };
  const movePen = (event) => {
    held.add(event.key);
    const by = (event.shiftKey ? 3 : 1) / SIDE;
    for (const key of held) {
      pen.x = clamp(pen.x + ARROWS[key][0] * by, 0, 1);
      pen.y = clamp(pen.y + ARROWS[key][1] * by, 0, 1);
    }
    if (pen.down) ink([[pen.x, pen.y]]);
  };
  const turnPen = (event) => {
    if (event.repeat) return; // a key that is held is pressed once
    pen.down = !pen.down;
    if (pen.down) ink([[pen.x, pen.y]], true);
    else settled();
    told.textContent = pen.down ? "Pen down" : "Pen up";
  };
  arrowKeys(canvas, (_, __, event) => shown(movePen)(event), { " ": shown(turnPen) });
  canvas.addEventListener("keyup", (event) => held.delete(event.key));
  canvas.addEventListener("blur", () => {
    held.clear();
    if (pen.down) settled(); // a stroke that is left is finished
    Object.assign(pen, { down: false, visible: false });
    drawn();
  });

  /** Paints the pad with a painter and in colours of ui.js, as large as it is shown. */
  function paint(painter, colours) {
    size ??= measure(canvas);
    const { brush, width } = fitCanvas(canvas, { width: size.width, height: size.width });
    const over = drawing && inked > 0; // only what is new
    const lines = over ? [strokes.at(-1).slice(inked - 1)] : strokes;
    drawPad(
      brush,
      width,
      { lines, picture: strokes.length ? null : image(), pen, over },
      painter,
      colours,
    );
    inked = strokes.at(-1)?.length;
    write(hint, empty() ? "draw a digit here" : "");
  }

  return {
    frame: element("div", { class: "pad-frame" }, canvas, hint, told),
    buttons: element("div", { class: "bar" }, pushButton("clear", "Clear", clear)),
    image,
    bytes: () => Uint8Array.from(image(), (grey) => Math.round(grey * 255)),
    empty,
    show,
    paint,
  };
}

/** Draws a pad, `size` pixels wide: the picture that was loaded or the strokes, and the keyboard's pen. */
function drawPad(brush, size, { lines, picture, pen, over }, painter, colours) {
  brush.fillStyle = css(colours.paper);
  if (!over) brush.fillRect(0, 0, size, size);
  if (picture) {
    const small = element("canvas", { width: SIDE, height: SIDE });
    painter.paint(small, picture);
    brush.imageSmoothingQuality = "high";
    brush.drawImage(small, 0, 0, size, size);
  }
  brush.strokeStyle = css(colours.stroke);
  brush.lineWidth = (PEN / SIDE) * size; // as wide as a digit's lines
  brush.lineCap = brush.lineJoin = "round";
  for (const line of lines) {
    brush.beginPath();
    brush.moveTo(line[0][0] * size, line[0][1] * size);
    for (const [x, y] of line) brush.lineTo(x * size, y * size);
    brush.stroke();
  }
  if (!pen.visible) return;
  brush.strokeStyle = css(pen.down ? colours.accent : colours.muted);
  brush.lineWidth = size / 110;
  brush.beginPath();
  brush.arc(pen.x * size, pen.y * size, size / 24, 0, 2 * Math.PI);
  brush.stroke();
}
