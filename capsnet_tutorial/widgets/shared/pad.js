// A pad to draw a digit on, by mouse, finger or arrow keys. It can also be given a picture as pixels.
import { PEN, toImage } from "./ink.js";
import { PIXELS, SIDE, bytesOf, clamp, css, element, listen } from "./ui.js";

export const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * The pad calls drawn() at every step of the pen, settled() when a stroke is finished, loaded() when it is given pixels,
 * and say(words) for screen readers. -> { frame, buttons, image, byHand, empty, show, paint }
 */
export function makePad({ drawn, settled, loaded, say }) {
  // What is shown: strokes drawn by hand, or a picture given as pixels; and the 28×28 made of either.
  let strokes = []; // of points [x, y] in the unit square
  let image = new Float32Array(PIXELS);
  let byHand = false;
  const pen = { x: 0.5, y: 0.5, down: false, visible: false }; // the keyboard's pen

  const canvas = element("canvas", {
    class: "pad", tabindex: 0, role: "application", "data-role": "pad", "aria-roledescription": "drawing pad",
    "aria-label": "Drawing pad. Arrow keys move the pen, Space puts it down and lifts it, Backspace takes the last stroke back.",
  });
  const hint = element("p", { class: "hint", "aria-hidden": "true" });
  const button = (role, text, onclick) => element("button", { type: "button", "data-role": role, onclick }, text);
  const buttons = element("div", { class: "bar" }, button("clear", "Clear", clear), button("undo", "Undo", undo));
  const empty = () => !image.some((grey) => grey > 0);

  /** What happened on the pad becomes the 28×28. */
  function drawnByHand() {
    byHand = true;
    image = toImage(strokes);
    drawn();
  }

  /** The stroke under the hand, or under the keyboard's pen, is over. */
  function letGo() {
    drawing = null;
    pen.down = false;
  }

  /** Exactly these pixels, bytes, as they are. */
  function show(bytes) {
    letGo();
    strokes = [];
    byHand = false;
    image = Float32Array.from(bytes, (grey) => grey / 255);
  }

  function clear() {
    show(new Uint8Array(PIXELS));
    loaded();
  }

  function undo() {
    if (!byHand) return clear();
    strokes.pop();
    letGo();
    drawnByHand();
    settled();
  }

  function startStroke(point) {
    if (!byHand) strokes = []; // a picture that was loaded makes way for the first stroke
    strokes.push([point]);
    drawnByHand();
  }

  function continueStroke(points) {
    strokes.at(-1).push(...points);
    drawnByHand();
  }

  // ---------------------------------------------------------------------------------- mouse and touch
  let drawing = null; // the pointer that is down
  const place = (event) => {
    const { left, top, width, height } = canvas.getBoundingClientRect();
    return [clamp((event.clientX - left) / width, 0, 1), clamp((event.clientY - top) / height, 0, 1)];
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (drawing !== null || event.button !== 0) return;
    event.preventDefault();
    canvas.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    drawing = event.pointerId;
    Object.assign(pen, { down: false, visible: false });
    startStroke(place(event));
  });
  canvas.addEventListener("pointermove", (event) => {
    if (event.pointerId !== drawing) return;
    const steps = event.getCoalescedEvents?.() ?? [];
    continueStroke((steps.length ? steps : [event]).map(place));
  });
  const lift = (event) => {
    if (event.pointerId !== drawing) return;
    drawing = null;
    settled();
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);

  // ----------------------------------------------------------------------------------------- keyboard
  const held = new Set(); // two arrow keys at once go diagonally
  canvas.addEventListener("keydown", (event) => {
    if (event.key in ARROWS) {
      held.add(event.key);
      const by = (event.shiftKey ? 3 : 1) / SIDE;
      for (const key of held) {
        pen.x = clamp(pen.x + ARROWS[key][0] * by, 0, 1);
        pen.y = clamp(pen.y + ARROWS[key][1] * by, 0, 1);
      }
      if (pen.down) continueStroke([[pen.x, pen.y]]);
    } else if (event.key === " ") {
      pen.down = !pen.down && !event.repeat;
      if (pen.down) startStroke([pen.x, pen.y]);
      else settled();
      say(pen.down ? "Pen down" : "Pen up");
    } else if (event.key === "Backspace") {
      undo();
    } else {
      return;
    }
    event.preventDefault();
    pen.visible = true;
    drawn();
  });
  canvas.addEventListener("keyup", (event) => held.delete(event.key));
  canvas.addEventListener("blur", () => {
    held.clear();
    Object.assign(pen, { down: false, visible: false });
    drawn();
  });

  /** Paints the pad with a painter and in colours of ui.js, as large as it is shown. */
  function paint(painter, colours) {
    const size = Math.round(canvas.clientWidth * (window.devicePixelRatio || 1));
    if (canvas.width !== size || canvas.height !== size) canvas.width = canvas.height = size; // an untouched canvas is 300 × 150
    const brush = canvas.getContext("2d");
    brush.fillStyle = css(colours.paper);
    brush.fillRect(0, 0, size, size);
    if (!byHand) {
      const small = element("canvas", { width: SIDE, height: SIDE });
      painter.paint(small, image);
      brush.imageSmoothingQuality = "high";
      brush.drawImage(small, 0, 0, size, size);
    }
    brush.strokeStyle = css(colours.stroke);
    brush.lineWidth = (PEN / SIDE) * size;
    brush.lineCap = brush.lineJoin = "round";
    for (const stroke of strokes) {
      brush.beginPath();
      brush.moveTo(stroke[0][0] * size, stroke[0][1] * size);
      for (const [x, y] of stroke) brush.lineTo(x * size, y * size);
      brush.stroke();
    }
    if (pen.visible) {
      brush.strokeStyle = css(pen.down ? colours.accent : colours.muted);
      brush.lineWidth = size / 110;
      brush.beginPath();
      brush.arc(pen.x * size, pen.y * size, size / 24, 0, 2 * Math.PI);
      brush.stroke();
    }
    hint.textContent = empty() ? "draw a digit here" : "";
  }

  const frame = element("div", { class: "pad-frame" }, canvas, hint);
  return { frame, buttons, image: () => image, byHand: () => byHand, empty, show, paint };
}

/**
 * Ties a pad to the model's `image`, 784 bytes, so that Python, where there is one, sees what the network sees:
 * share() sends what is on the pad; what comes from elsewhere goes to show(bytes). stop() ends it.
 */
export function tiePad(pad, model, show) {
  let sent; // to know it when it comes back
  const share = () => {
    sent = Uint8Array.from(pad.image(), (grey) => Math.round(grey * 255));
    model.set("image", new DataView(sent.buffer));
    model.save_changes();
  };
  const stop = listen(model, {
    image: () => {
      const bytes = bytesOf(model.get("image"));
      if (sent !== undefined && bytes.every((grey, k) => grey === sent[k])) return;
      sent = undefined; // from now on even the same picture is news
      show(bytes);
    },
  });
  return { share, stop };
}
