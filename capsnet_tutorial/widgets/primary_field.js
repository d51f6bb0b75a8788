// The field of primary capsules: 8 types at 3×3 places. Choose one and see its patch; draw, and see which ones move.
import { convolve, norm, readSafetensors, relu, squash } from "./shared/core.js";
import { PIXELS, SIDE, bytesOf, clamp, digitAt, element, format, listen, makeAnnouncer, makePainter, makeRoot, mix, mount, oncePerFrame, setAttributes, sharedWeights, svg, themeColours, thumbnail, whenThemeChanges } from "./shared/ui.js";

const PEN = 1.3; // radius of the pen, in pixels of the digit
const CELL = 30; // side of a capsule's cell, in the units of the field
const GAP = 2;
const ACROSS = 4; // types side by side
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// ------------------------------------------------------------------------------------ the arithmetic

/** The network as far as its primary capsules: { config, types, side, places, D, I, read(image) -> { s, u } }. */
export function makeFront(source) {
  const { tensors, metadata } = readSafetensors(source);
  const config = JSON.parse(metadata.config);
  const { image_size, primary_types: types, primary_dim: D } = config;
  const conv = convolutionOf(tensors, "conv", config.conv_stride);
  const primary = convolutionOf(tensors, "primary.conv", config.primary_stride);
  const edges = sizeAfterConvolution(image_size, conv);
  const side = sizeAfterConvolution(edges, primary);
  const places = side * side;
  const I = types * places;

  /** One image [784] -> the capsules before squash and after it, s and u [I, D]. */
  function read(image) {
    const features = convolve(relu(convolve(image, image_size, conv)), edges, primary); // [types · D, places]
    const s = new Float32Array(I * D);
    for (let i = 0; i < I; i++) {
      const [type, place] = [Math.floor(i / places), i % places];
      for (let d = 0; d < D; d++) s[i * D + d] = features[(type * D + d) * places + place];
    }
    const u = s.slice();
    for (let i = 0; i < I; i++) squash(u, i * D, D);
    return { s, u };
  }

  return { config, types, side, places, D, I, read };
}

/** The pixels that a capsule in this row and column reads: top, left, size. Nothing is padded. */
export function patchOf({ conv_kernel, conv_stride, primary_kernel, primary_stride }, row, column) {
  const jump = conv_stride * primary_stride;
  return { top: row * jump, left: column * jump, size: conv_kernel + (primary_kernel - 1) * conv_stride };
}

/** A straight stroke of the pen, in place: ink is added where `ink` is true, taken away where it is false. */
export function stroke(image, [x0, y0], [x1, y1], ink) {
  const steps = Math.max(1, Math.ceil(Math.hypot(x1 - x0, y1 - y0) / 0.4));
  for (let k = 0; k <= steps; k++) {
    const [x, y] = [x0 + ((x1 - x0) * k) / steps, y0 + ((y1 - y0) * k) / steps];
    const [left, right] = [Math.max(0, Math.floor(x - PEN - 1)), Math.min(SIDE - 1, Math.ceil(x + PEN))];
    const [top, bottom] = [Math.max(0, Math.floor(y - PEN - 1)), Math.min(SIDE - 1, Math.ceil(y + PEN))];
    for (let row = top; row <= bottom; row++) {
      for (let column = left; column <= right; column++) {
        const wet = clamp(PEN + 0.5 - Math.hypot(column + 0.5 - x, row + 0.5 - y), 0, 1);
        const at = row * SIDE + column;
        image[at] = ink ? Math.max(image[at], wet) : Math.min(image[at], 1 - wet);
      }
    }
  }
  return image;
}

/** How far a vector has turned, in degrees; 0 is exact. */
export function turned(a, b, from, D) {
  let [dot, same] = [0, true];
  for (let k = from; k < from + D; k++) {
    dot += a[k] * b[k];
    same &&= a[k] === b[k];
  }
  if (same) return 0;
  return (Math.acos(clamp(dot / (norm(a, from, D) * norm(b, from, D)), -1, 1)) * 180) / Math.PI;
}

/** Which capsules are not what they were: a list of their numbers. */
export function movedCapsules(before, now, I, D) {
  return Array.from({ length: I }, (_, i) => i).filter((i) => {
    for (let k = i * D; k < (i + 1) * D; k++) if (before[k] !== now[k]) return true;
    return false;
  });
}

function convolutionOf(tensors, name, stride) {
  const { shape: [O, C, kernel], data } = tensors[`${name}.weight`]; // [O, C, kernel, kernel]
  const M = C * kernel * kernel;
  const columns = new Float32Array(M * O);
  for (let o = 0; o < O; o++) for (let m = 0; m < M; m++) columns[m * O + o] = data[o * M + m];
  return { O, C, kernel, stride, columns, bias: tensors[`${name}.bias`].data };
}

const sizeAfterConvolution = (size, { kernel, stride }) => Math.floor((size - kernel) / stride) + 1;

// ---------------------------------------------------------------------------------------- the widget

function render({ model, el, host }) {
  const root = makeRoot("PrimaryField", "Primary capsules: choose one, see the patch it reads, and draw");
  return mount(el, root, async () => {
    const front = makeFront(await sharedWeights(model, host));
    const { config, types, side, places, D, I, read } = front;
    const images = Float32Array.from(bytesOf(model.get("images")), (grey) => grey / 255); // [N, 784]
    const labels = model.get("labels");
    const { size } = patchOf(config, 0, 0);
    const reach = patchOf(config, side - 1, side - 1).top + size; // pixels from here on are read by no capsule

    let index = model.get("index");
    let chosen = model.get("capsule");
    let ink = true; // the pen draws, or it rubs out
    let written; // the digit as it was written [784], and what the network made of it
    let before;
    let image; // the digit as it is now
    const pen = { x: SIDE / 2, y: SIDE / 2, down: false };

    // --------------------------------------------------------------------------------- the digit
    const percent = (pixels) => `${(pixels / SIDE) * 100}%`;
    const pad = element("canvas", {
      width: SIDE, height: SIDE, class: "pad", tabindex: 0, role: "application", "data-role": "pad",
      "aria-roledescription": "drawing pad",
      "aria-label": "The digit. Draw on it. Arrow keys move the pen, Space puts it down and lifts it.",
    });
    const patch = element("span", { class: "patch", "data-role": "patch" });
    const nib = element("span", { class: "nib", hidden: "" });
    const unread = ["right", "below"].map((where) => element("span", { class: `unread ${where}` }));
    unread[0].style.width = unread[1].style.height = percent(SIDE - reach);
    unread[1].style.right = percent(SIDE - reach);
    const button = (role, text, onclick) => element("button", { type: "button", "data-role": role, onclick }, text);
    const tools = [button("draw", "Draw", () => setInk(true)), button("erase", "Erase", () => setInk(false))];
    const restore = button("restore", "As written", () => showDigit());
    const samples = labels.map((label, k) => {
      const canvas = thumbnail();
      const onclick = () => choose(k);
      return { canvas, node: element("button", { type: "button", "data-role": "sample", "aria-label": `Show a handwritten ${label}`, onclick }, canvas) };
    });

    // --------------------------------------------------------------------------------- the field
    const frame = side * CELL + (side - 1) * GAP;
    const cells = [];
    const maps = Array.from({ length: types }, (_, type) => {
      const group = svg("svg", { viewBox: `0 0 ${frame} ${frame}`, class: "type", "aria-hidden": "true" });
      for (let place = 0; place < places; place++) {
        const [row, column] = [Math.floor(place / side), place % side];
        const [x, y] = [column * (CELL + GAP), row * (CELL + GAP)];
        const i = type * places + place;
        const ground = svg("rect", { class: "ground", x, y, width: CELL, height: CELL, rx: 3 });
        const tint = svg("rect", { class: "tint", x, y, width: CELL, height: CELL, rx: 3 });
        const bars = svg("path", { class: "bars" });
        const ring = svg("rect", { class: "ring", x, y, width: CELL, height: CELL, rx: 3 });
        const node = svg("g", { class: "cell", "data-capsule": i }, ground, tint, bars, ring);
        node.addEventListener("click", () => pick(i));
        group.append(node);
        cells.push({ node, tint, bars, x, y });
      }
      return element("figure", {}, group, element("figcaption", {}, `type ${type}`));
    });
    const field = element("div", {
      class: "types", tabindex: 0, role: "application", "data-role": "field", "aria-roledescription": "field of capsules",
    }, ...maps);

    // ----------------------------------------------------------------------------- the chosen one
    const crop = element("canvas", { width: size, height: size, role: "img", "data-role": "crop", "aria-label": "The patch that the chosen capsule reads" });
    const numbers = Array.from({ length: D }, () => {
      const was = element("span", { class: "was" });
      const fill = element("span", { class: "fill" });
      const value = element("span", { class: "value" });
      return { was, fill, value, node: element("li", {}, element("span", { class: "upright" }, fill, was), value) };
    });
    const fact = (role) => element("dd", { "data-role": role });
    const [longBefore, longAfter, angle] = [fact("before-squash"), fact("after-squash"), fact("turned")];
    const entry = (text, node) => element("div", {}, element("dt", {}, text), node);
    const title = element("p", { class: "title", "data-role": "title" });
    const eightCaption = element("figcaption");
    const remark = element("p", { class: "remark", "data-role": "remark" });

    root.append(
      element("div", { class: "primary" },
        element("div", { class: "left" },
          element("div", { class: "pad-frame" }, pad, ...unread, patch, nib),
          element("div", { class: "bar" }, element("div", { class: "tools", role: "group", "aria-label": "Pen" }, ...tools), restore),
          element("div", { class: "samples", role: "group", "aria-label": "Handwritten digits to choose from" }, ...samples.map(({ node }) => node))),
        element("div", { class: "right" },
          field,
          title,
          element("div", { class: "arrow-of" },
            element("figure", {}, crop, element("figcaption", {}, "its patch")),
            element("dl", { class: "facts" }, entry("length before squash", longBefore), entry("after squash", longAfter), entry("turned by", angle))))),
      element("figure", { class: "numbers-of" },
        element("ol", { class: "eight", "aria-label": "The eight numbers of the chosen capsule" }, ...numbers.map(({ node }) => node)),
        eightCaption),
      remark,
    );
    const announce = makeAnnouncer(root);
    const painter = makePainter(root);

    // ----------------------------------------------------------------------------------- drawing
    function draw() {
      const { s, u } = read(image);
      const moved = movedCapsules(before.s, s, I, D);
      const [type, row, column] = [Math.floor(chosen / places), Math.floor((chosen % places) / side), chosen % side];
      const { top, left } = patchOf(config, row, column);
      painter.paint(pad, image);
      setBox(patch, { left, top, width: size, height: size });

      cells.forEach(({ node, tint, bars, x, y }, i) => {
        const degrees = turned(before.u, u, i * D, D);
        bars.setAttribute("d", barsOf(u, i, x, y));
        tint.style.opacity = degrees === 0 ? 0 : 0.12 + 0.58 * Math.min(1, degrees / 60);
        node.classList.toggle("chosen", i === chosen);
        node.classList.toggle("beside", i !== chosen && i % places === chosen % places);
      });

      const degrees = turned(before.u, u, chosen * D, D);
      numbers.forEach(({ was, fill, value }, d) => {
        const [x, x0] = [u[chosen * D + d], before.u[chosen * D + d]];
        Object.assign(fill.style, { top: `${50 - 50 * Math.max(x, 0)}%`, height: `${50 * Math.abs(x)}%` });
        was.style.top = `${50 - 50 * x0}%`;
        was.hidden = degrees === 0;
        value.textContent = format(x);
      });
      eightCaption.textContent = `its eight numbers, after squash${degrees === 0 ? "" : "; the lines show where they were"}`;
      const n = norm(s, chosen * D, D);
      longBefore.textContent = format(n, 1);
      longAfter.textContent = format(Math.floor(1e6 * ((n * n) / (1 + n * n))) / 1e6, 6); // rounded down: it stays below 1
      angle.textContent = `${format(degrees, 1)}°`;
      paintCrop(left, top);

      const changed = [];
      for (let k = 0; k < PIXELS; k++) if (image[k] !== written[k]) changed.push(k);
      const inside = changed.filter((k) => {
        const [y, x] = [Math.floor(k / SIDE), k % SIDE];
        return y >= top && y < top + size && x >= left && x < left + size;
      }).length;
      title.textContent = `Capsule ${chosen}: type ${type}, row ${row}, column ${column}`;
      remark.textContent = inWords({ changed: changed.length, inside, moved: moved.length, stirred: moved.includes(chosen), top, left, degrees });
      restore.disabled = changed.length === 0;
      tools.forEach((tool, k) => setAttributes(tool, { "aria-pressed": String(ink === (k === 0)) }));
      setAttributes(field, { "aria-label": `The ${I} capsules: ${types} types at ${side} by ${side} places. Arrow keys walk through them. ${title.textContent}` });
      Object.assign(root.dataset, {
        capsule: chosen, index, label: labels[index], patch: `${top},${left},${size}`, changed: changed.length, inside, moved: moved.join(","),
        turned: degrees.toFixed(4), u: Array.from(u.subarray(chosen * D, (chosen + 1) * D), (x) => x.toFixed(6)).join(","),
      });
    }
    const schedule = oncePerFrame(draw);

    /** The eight numbers as eight bars in a cell, up or down from its middle. */
    function barsOf(u, i, x, y) {
      let path = "";
      for (let d = 0; d < D; d++) path += `M${x + 4.5 + 3 * d} ${y + CELL / 2}v${(-u[i * D + d] * 13.5).toFixed(2)}`;
      return path;
    }

    function paintCrop(left, top) {
      const context = crop.getContext("2d");
      const data = context.createImageData(size, size);
      const { paper, stroke: dark } = themeColours(root);
      for (let y = 0; y < size; y++) {
        for (let x = 0; x < size; x++) data.data.set([...mix(paper, dark, image[(top + y) * SIDE + left + x]), 255], 4 * (y * size + x));
      }
      context.putImageData(data, 0, 0);
    }

    function inWords({ changed, inside, moved, stirred, top, left, degrees }) {
      const where = `rows ${top} to ${top + size - 1} and columns ${left} to ${left + size - 1}`;
      if (changed === 0) return `It reads ${size} × ${size} pixels, ${where}. The other ${types - 1} types read the same patch. Now draw on the digit.`;
      const pixels = changed === 1 ? "one pixel" : `${changed} pixels`;
      if (moved === 0) return `You changed ${pixels}, and none of the ${I} capsules moved.`;
      const others = `${moved} of ${I} capsules moved`;
      if (inside === 0) return `You changed ${pixels}, none in this patch: this capsule did not move at all. In the whole field ${others}.`;
      if (!stirred) return `You changed ${pixels}, ${inside} in this patch, yet this capsule did not move. In the whole field ${others}.`;
      return `You changed ${pixels}, ${inside === changed ? "all" : `${inside} of them`} in this patch, and its arrow turned by ${format(degrees, 1)}°. In the whole field ${others}.`;
    }

    function setBox(node, { left, top, width, height }) {
      Object.assign(node.style, { left: percent(left), top: percent(top), width: percent(width), height: percent(height) });
    }

    // ----------------------------------------------------------------------------------- actions
    function pick(i) {
      chosen = i;
      model.set("capsule", i);
      model.save_changes();
      draw();
      announce(`${title.textContent}. ${remark.textContent}`);
    }

    function choose(k) {
      index = k;
      model.set("index", k);
      model.save_changes();
      showDigit();
    }

    function showDigit() {
      written = digitAt(images, index).slice();
      image = written.slice();
      before = read(written);
      samples.forEach(({ canvas, node }, k) => {
        painter.paint(canvas, digitAt(images, k));
        node.setAttribute("aria-pressed", String(k === index));
      });
      pen.down = false;
      draw();
      announce(`A ${labels[index]}, as written. ${title.textContent}`);
    }

    function setInk(draws) {
      ink = draws;
      draw();
    }

    function penTo([x, y]) {
      stroke(image, [pen.x, pen.y], [x, y], ink);
      Object.assign(pen, { x, y });
      schedule();
    }

    // -------------------------------------------------------------------------- mouse, touch, keys
    const pointAt = (event) => {
      const box = pad.getBoundingClientRect();
      return [((event.clientX - box.left) / box.width) * SIDE, ((event.clientY - box.top) / box.height) * SIDE];
    };
    pad.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      event.preventDefault();
      pad.setPointerCapture(event.pointerId);
      nib.hidden = true;
      [pen.x, pen.y] = pointAt(event);
      penTo([pen.x, pen.y]);
    });
    pad.addEventListener("pointermove", (event) => {
      if (pad.hasPointerCapture(event.pointerId)) for (const e of event.getCoalescedEvents?.() ?? [event]) penTo(pointAt(e));
    });
    pad.addEventListener("pointerup", () => announce(remark.textContent));

    function showNib() {
      nib.hidden = false;
      nib.classList.toggle("down", pen.down);
      nib.style.left = percent(pen.x);
      nib.style.top = percent(pen.y);
    }
    pad.addEventListener("keydown", (event) => {
      if (event.key in KEYS) {
        const by = event.shiftKey ? 4 : 1;
        const to = [pen.x, pen.y].map((at, axis) => clamp(at + KEYS[event.key][axis] * by, 0.5, SIDE - 0.5));
        if (pen.down) penTo(to);
        else [pen.x, pen.y] = to;
      } else if (event.key === " ") {
        pen.down = !pen.down;
        if (pen.down) penTo([pen.x, pen.y]);
      } else return;
      event.preventDefault();
      showNib();
      const state = pen.down ? "Pen down" : "Pen up";
      requestAnimationFrame(() => announce(`${state} at row ${Math.floor(pen.y)}, column ${Math.floor(pen.x)}. ${remark.textContent}`));
    });
    pad.addEventListener("blur", () => {
      nib.hidden = true;
      pen.down = false;
    });

    field.addEventListener("keydown", (event) => {
      if (!(event.key in KEYS)) return;
      event.preventDefault();
      const [dx, dy] = KEYS[event.key];
      const [type, place] = [Math.floor(chosen / places), chosen % places];
      const x = clamp((type % ACROSS) * side + (place % side) + dx, 0, ACROSS * side - 1);
      const y = clamp(Math.floor(type / ACROSS) * side + Math.floor(place / side) + dy, 0, (types / ACROSS) * side - 1);
      pick((Math.floor(y / side) * ACROSS + Math.floor(x / side)) * places + (y % side) * side + (x % side));
    });

    const stopListening = listen(model, {
      index: () => {
        if (model.get("index") === index) return;
        index = model.get("index");
        showDigit();
      },
      capsule: () => {
        chosen = model.get("capsule");
        schedule();
      },
    });
    const stopWatching = whenThemeChanges(() => {
      painter.refresh();
      samples.forEach(({ canvas }, k) => painter.paint(canvas, digitAt(images, k)));
      draw();
    });
    showDigit();
    return [stopListening, stopWatching, schedule.cancel, announce.cancel];
  });
}

export default { render };
