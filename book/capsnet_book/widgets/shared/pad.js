// A pad to draw a digit on, by mouse, finger or arrow keys. It can also be given a picture as
// pixels.
import { ARROWS, arrowKeys, drag, fitCanvas, glide, measure } from "./controls.js";
import { css, PIXELS, SIDE } from "./digits.js";
import { PEN, toImage } from "./ink.js";
import { t } from "./t.js";
import { clamp, element, memoized, pushButton, write } from "./ui.js";

/** @import { Place } from "./controls.js" */
/** @import { Stroke } from "./ink.js" */
/** @typedef {{ x: number, y: number, down: boolean, visible: boolean }} Pen  of the keyboard */

const KEYS = t`Arrow keys move the pen, Space puts it down and lifts it, Backspace takes the last
  stroke back.`;

/** The content of a pad: strokes drawn by hand, or a picture given as pixels. */
class Drawing {
  /** Points are in the unit square. @type {Stroke[]} */
  strokes = [];
  /** How often the content has changed. */
  changes = 0;
  /** Made from the strokes when it is asked for. @type {Float32Array | undefined} */
  #image = new Float32Array(PIXELS);

  /** 28×28 numbers from 0 (paper) to 1 (ink). */
  image() {
    this.#image ??= toImage(this.strokes);
    return this.#image;
  }

  isEmpty() {
    return this.strokes.length === 0 && !this.image().some((grey) => grey > 0);
  }

  /** Replaces the content by a picture, bytes [784]. @param {ArrayLike<number>} bytes */
  load(bytes) {
    this.changes++;
    this.strokes = [];
    this.#image = Float32Array.from(bytes, (grey) => grey / 255);
  }

  /** Begins a new stroke; a picture that was loaded goes. */
  begin(/** @type {number[]} */ point) {
    this.strokes.push([]);
    this.extend([point]);
  }

  /** Continues the last stroke. */
  extend(/** @type {number[][]} */ points) {
    this.changes++;
    this.strokes.at(-1).push(...points);
    this.#image = undefined;
  }

  /** Removes the last stroke, or a picture that was loaded. */
  undo() {
    this.changes++;
    this.strokes.pop();
    this.#image = undefined;
  }
}

/**
 * A pad. It calls drawn() at every step of the pen, and settled() when a stroke is finished, undone
 * or all is cleared. invitation: what an empty pad says.
 * @param {{ drawn: () => void, settled: () => void, invitation?: string }} _
 */
export function makePad({ drawn, settled, invitation = t`draw a digit here` }) {
  const drawing = new Drawing();
  /** @type {Pen} */
  const pen = { x: 0.5, y: 0.5, down: false, visible: false };
  const pointer = { down: false, painted: 0 }; // painted: points of its stroke already painted
  const canvas = element("canvas", {
    class: "pad",
    tabindex: 0,
    role: "application",
    "data-role": "pad",
    "aria-roledescription": t`drawing pad`,
    "aria-label": t`Drawing pad. ${KEYS}`,
  });
  const hint = element("p", { class: "hint", "aria-hidden": "true" });
  const announcement = element("p", { class: "unseen", "aria-live": "polite" });
  let size; // of the canvas, measured when it is first painted

  /** Replaces the drawing, and ends a stroke that goes on. @param {ArrayLike<number>} bytes */
  function show(bytes) {
    pointer.down = false;
    pen.down = false;
    drawing.load(bytes);
  }

  function clear() {
    tracing.halt();
    show(new Uint8Array(PIXELS));
    settled();
  }

  function undo() {
    pointer.down = false;
    pen.down = false;
    drawing.undo();
    drawn();
    settled();
  }

  const tracing = makeTrace(canvas, { drawing, show, drawn });

  followPointer(canvas, { drawing, pointer, pen, drawn, settled });
  followKeys(canvas, { drawing, pen, announcement, drawn, settled, undo });

  const renew = memoized((painter, colours) => {
    const { brush, width } = fitCanvas(canvas, { width: size.width, height: size.width });
    const { strokes } = drawing;
    if (pointer.down && pointer.painted > 0) {
      const fresh = strokes.at(-1).slice(pointer.painted - 1); // only what is new: this is faster
      paintStrokes(brush, width, [fresh], colours);
    } else {
      brush.fillStyle = css(colours.paper);
      brush.fillRect(0, 0, width, width);
      if (!strokes.length) paintPicture(brush, width, drawing.image(), painter);
      paintStrokes(brush, width, strokes, colours);
      if (pen.visible) paintPen(brush, width, pen, colours);
    }
    pointer.painted = strokes.at(-1)?.length ?? 0;
    write(hint, drawing.isEmpty() ? invitation : "");
  });

  /**
   * Paints the pad as large as it is shown, in the colours of themeColours(), if anything has
   * changed since it was painted.
   */
  function paint(painter, colours) {
    size ??= measure(canvas);
    const { x, y, down, visible } = pen;
    const hand = [x, y, down, visible, pointer.down];
    const screen = [size.width, devicePixelRatio, colours, painter.shades()];
    renew([drawing.changes, ...hand, ...screen], painter, colours);
  }

  return {
    canvas,
    frame: element("div", { class: "pad-frame" }, canvas, hint, announcement),
    buttons: element(
      "div",
      { class: "bar" },
      pushButton("clear", t`Clear`, clear),
      pushButton("undo", t`Undo`, undo),
    ),
    image: () => drawing.image(),
    bytes: () => Uint8Array.from(drawing.image(), (grey) => Math.round(grey * 255)),
    empty: () => drawing.isEmpty(),
    show(/** @type {ArrayLike<number>} */ bytes) {
      tracing.halt();
      show(bytes);
    },
    trace: tracing.trace,
    paint,
  };
}

/**
 * Lets a pad write by itself, as a hand would. trace(strokes, duration, finished) begins it; halt()
 * ends it, and clears what is written: a reader's touch does.
 * @param {HTMLCanvasElement} canvas
 * @param {{ drawing: Drawing, show: (bytes: ArrayLike<number>) => void, drawn: () => void }} _
 */
function makeTrace(canvas, { drawing, show, drawn }) {
  let haltGlide = () => {};
  let isWriting = false;

  /** @param {Stroke[]} strokes @param {number} duration @param {() => void} finished */
  function trace(strokes, duration, finished) {
    const points = strokes.flatMap((stroke) => stroke.map((point, k) => ({ point, k })));
    let count = 0; // points that are written
    show(new Uint8Array(PIXELS));
    isWriting = true;
    haltGlide = glide(duration, (t) => {
      for (; count < Math.round(t * points.length); count++) {
        const { point, k } = points[count];
        if (k === 0) drawing.begin(point);
        else drawing.extend([point]);
      }
      drawn();
      if (t < 1) return;
      isWriting = false;
      finished();
    });
  }

  function halt() {
    if (!isWriting) return;
    isWriting = false;
    haltGlide();
    show(new Uint8Array(PIXELS));
  }

  for (const touch of ["pointerdown", "keydown"])
    canvas.addEventListener(touch, halt, { capture: true });
  return { trace, halt };
}

/**
 * Draws with mouse and finger.
 * @param {HTMLCanvasElement} canvas
 * @param {{ drawing: Drawing, pointer: { down: boolean, painted: number }, pen: Pen,
 *   drawn: () => void, settled: () => void }} _
 */
function followPointer(canvas, { drawing, pointer, pen, drawn, settled }) {
  const inside = (/** @type {Place} */ { x, y }) => [clamp(x, 0, 1), clamp(y, 0, 1)];
  drag(canvas, {
    focus: canvas,
    start(at) {
      pointer.down = true;
      pointer.painted = 0;
      pen.down = false;
      pen.visible = false;
      drawing.begin(inside(at));
      drawn();
    },
    move(_, trail) {
      if (!pointer.down) return;
      drawing.extend(trail().map(inside));
      drawn();
    },
    end() {
      if (pointer.down) settled();
      pointer.down = false;
    },
  });
}

/**
 * Draws with the keyboard.
 * @param {HTMLCanvasElement} canvas
 * @param {{ drawing: Drawing, pen: Pen, announcement: HTMLElement,
 *   drawn: () => void, settled: () => void, undo: () => void }} _
 */
function followKeys(canvas, { drawing, pen, announcement, drawn, settled, undo }) {
  const held = new Set(); // the arrow keys that are down: two at once go diagonally

  function movePen(_dx, _dy, /** @type {KeyboardEvent} */ event) {
    held.add(event.key);
    const step = (event.shiftKey ? 3 : 1) / SIDE;
    for (const key of held) {
      pen.x = clamp(pen.x + ARROWS[key][0] * step, 0, 1);
      pen.y = clamp(pen.y + ARROWS[key][1] * step, 0, 1);
    }
    if (pen.down) drawing.extend([[pen.x, pen.y]]);
    pen.visible = true;
    drawn();
  }

  function turnPen(/** @type {KeyboardEvent} */ event) {
    if (event.repeat) return; // a key that is held is pressed once
    pen.down = !pen.down;
    pen.visible = true;
    if (pen.down) drawing.begin([pen.x, pen.y]);
    else settled();
    announcement.textContent = pen.down ? t`Pen down` : t`Pen up`;
    drawn();
  }

  arrowKeys(canvas, movePen, { " ": turnPen, Backspace: undo });
  canvas.addEventListener("keyup", (event) => held.delete(event.key));
  canvas.addEventListener("blur", () => {
    held.clear();
    if (pen.down) settled(); // leaving the pad finishes the stroke
    pen.down = false;
    pen.visible = false;
    drawn();
  });
}

/** Paints a picture that was loaded, `size` pixels wide. */
function paintPicture(brush, size, image, painter) {
  const small = element("canvas", { width: SIDE, height: SIDE });
  painter.paint(small, image);
  brush.imageSmoothingQuality = "high";
  brush.drawImage(small, 0, 0, size, size);
}

/** @param {CanvasRenderingContext2D} brush @param {number} size @param {Stroke[]} strokes */
function paintStrokes(brush, size, strokes, colours) {
  brush.strokeStyle = css(colours.stroke);
  brush.lineWidth = (PEN / SIDE) * size; // as wide as a digit's lines
  brush.lineCap = "round";
  brush.lineJoin = "round";
  for (const stroke of strokes) {
    brush.beginPath();
    brush.moveTo(stroke[0][0] * size, stroke[0][1] * size);
    for (const [x, y] of stroke) brush.lineTo(x * size, y * size);
    brush.stroke();
  }
}

/** @param {CanvasRenderingContext2D} brush @param {number} size @param {Pen} pen */
function paintPen(brush, size, pen, colours) {
  brush.strokeStyle = css(pen.down ? colours.accent : colours.muted);
  brush.lineWidth = size / 110;
  brush.beginPath();
  brush.arc(pen.x * size, pen.y * size, size / 24, 0, 2 * Math.PI);
  brush.stroke();
}
