// The field of primary capsules: 8 types at 3×3 places. Choose one and see its patch; draw, and see which ones move.
import {
  changesOf,
  makeFront,
  movedCapsules,
  neighbourOf,
  patchOf,
  placeOf,
  remarkOnField,
  stroke,
  turned,
} from "./primary_field_model.js";
import { arrowKeys, drag } from "./shared/controls.js";
import { norm } from "./shared/core.js";
import { layOut } from "./shared/stage.js";
import {
  clamp,
  digitAt,
  digitButton,
  element,
  format,
  greysOf,
  listen,
  makePainter,
  makeRoot,
  mix,
  mount,
  oncePerFrame,
  pushButton,
  SIDE,
  save,
  setAttributes,
  sharedWeights,
  svg,
  themeColours,
  whenThemeChanges,
} from "./shared/ui.js";

const CELL = 30; // side of a capsule's cell, in the units of the field
const GAP = 2;

const percent = (pixels) => `${(pixels / SIDE) * 100}%`;

// ------------------------------------------------------------------------------------------------- the digit

/**
 * The digit to draw on, by mouse, finger or keys.
 * @param {number} reach  pixels from here on are read by no capsule
 * @param {{ drawn(from: number[], to: number[]): void, lifted(): void, moved(words: string): void }} _
 *   drawn: a stroke of the pen; lifted: the hand's; moved: the keyboard's pen, in words
 */
function makePaper(reach, { drawn, lifted, moved }) {
  const pen = { x: SIDE / 2, y: SIDE / 2, down: false };
  const pad = element("canvas", {
    width: SIDE,
    height: SIDE,
    class: "pad",
    tabindex: 0,
    role: "application",
    "data-role": "pad",
    "aria-roledescription": "drawing pad",
    "aria-label": "The digit. Draw on it. Arrow keys move the pen, Space puts it down and lifts it.",
  });
  const patch = element("span", { class: "patch", "data-role": "patch" });
  const nib = element("span", { class: "nib", hidden: "" });
  const unread = ["right", "below"].map((where) => element("span", { class: `unread ${where}` }));
  unread[0].style.width = unread[1].style.height = percent(SIDE - reach);
  unread[1].style.right = percent(SIDE - reach);
  const frame = element("div", { class: "pad-frame" }, pad, ...unread, patch, nib);

  function penTo(x, y) {
    drawn([pen.x, pen.y], [x, y]);
    Object.assign(pen, { x, y });
  }

  function showNib() {
    nib.hidden = false;
    nib.classList.toggle("down", pen.down);
    Object.assign(nib.style, { left: percent(pen.x), top: percent(pen.y) });
    moved(`${pen.down ? "Pen down" : "Pen up"} at row ${Math.floor(pen.y)}, column ${Math.floor(pen.x)}`);
  }

  drag(pad, {
    start: ({ x, y }) => {
      nib.hidden = true;
      Object.assign(pen, { x: x * SIDE, y: y * SIDE });
      penTo(pen.x, pen.y);
    },
    move: (_, __, trail) => {
      for (const { x, y } of trail()) penTo(x * SIDE, y * SIDE);
    },
    end: lifted,
  });
  const walk = (dx, dy, { shiftKey }) => {
    const [x, y] = [pen.x + dx * (shiftKey ? 4 : 1), pen.y + dy * (shiftKey ? 4 : 1)].map((at) =>
      clamp(at, 0.5, SIDE - 0.5),
    );
    if (pen.down) penTo(x, y);
    else Object.assign(pen, { x, y });
    showNib();
  };
  const press = () => {
    pen.down = !pen.down;
    if (pen.down) penTo(pen.x, pen.y);
    showNib();
  };
  arrowKeys(pad, walk, { " ": press });
  const lift = () => (pen.down = false);
  pad.addEventListener("blur", () => {
    nib.hidden = true;
    lift();
  });

  /** Lays the frame of a patch over the digit. */
  function showPatch({ left, top, size }) {
    const box = { left, top, width: size, height: size };
    for (const [edge, pixels] of Object.entries(box)) patch.style[edge] = percent(pixels);
  }

  return { frame, pad, lift, showPatch };
}

/** The pen's two ends: choose(ink). */
function makeTools(choose) {
  const tools = [pushButton("draw", "Draw", () => choose(true)), pushButton("erase", "Erase", () => choose(false))];
  const node = element("div", { class: "tools", role: "group", "aria-label": "Pen" }, ...tools);
  const show = (ink) => tools.forEach((tool, k) => setAttributes(tool, { "aria-pressed": ink === (k === 0) }));
  return { node, show };
}

// ------------------------------------------------------------------------------------------------- the field

/** All capsules: a square for each type, a cell for each place, in it a flower of eight petals: its numbers. */
function makeField({ types, side, places, D }, { pick, walk }) {
  const frame = side * CELL + (side - 1) * GAP;
  const cells = [];
  const figures = Array.from({ length: types }, (_, type) => {
    const group = svg("svg", { viewBox: `0 0 ${frame} ${frame}`, class: "type", "aria-hidden": "true" });
    for (let place = 0; place < places; place++) {
      const cell = makeCell(type * places + place, Math.floor(place / side), place % side, pick);
      group.append(cell.node);
      cells.push(cell);
    }
    return element("figure", {}, group, element("figcaption", {}, `type ${type}`));
  });
  const field = element(
    "div",
    {
      class: "types",
      tabindex: 0,
      role: "application",
      "data-role": "field",
      "aria-roledescription": "field of capsules",
    },
    ...figures,
  );
  arrowKeys(field, walk);

  /** u: the capsules [I, D]; before: as they were. */
  function show(u, before, chosen, title) {
    cells.forEach(({ node, tint, petals, x, y }, i) => {
      const degrees = turned(before, u, i * D, D);
      const numbers = u.subarray(i * D, (i + 1) * D);
      petals.forEach((path, k) => path.setAttribute("d", petalsOf(numbers, x, y, k ? -1 : 1)));
      tint.style.opacity = String(degrees === 0 ? 0 : 0.12 + 0.58 * Math.min(1, degrees / 60));
      node.classList.toggle("chosen", i === chosen);
      node.classList.toggle("beside", i !== chosen && i % places === chosen % places);
    });
    const what = `The ${types * places} capsules: ${types} types at ${side} by ${side} places`;
    setAttributes(field, { "aria-label": `${what}. Arrow keys walk through them. ${title}` });
  }

  return { field, show };
}

function makeCell(i, row, column, pick) {
  const [x, y] = [column * (CELL + GAP), row * (CELL + GAP)];
  const square = (kind) => svg("rect", { class: kind, x, y, width: CELL, height: CELL, rx: 3 });
  const tint = square("tint");
  const petals = ["petals", "petals below"].map((kind) => svg("path", { class: kind }));
  const attributes = { class: "cell", "data-capsule": i, onclick: () => pick(i) };
  return { node: svg("g", attributes, square("ground"), tint, ...petals, square("ring")), tint, petals, x, y };
}

/** The numbers of one sign as petals around the middle of a cell, as long as the numbers are large. */
function petalsOf(numbers, x, y, sign) {
  const middle = `M${x + CELL / 2} ${y + CELL / 2}`;
  const petal = (number, d) => {
    const [angle, length] = [(2 * Math.PI * d) / numbers.length, 13.5 * Math.abs(number)];
    return `${middle}l${(length * Math.sin(angle)).toFixed(2)} ${(-length * Math.cos(angle)).toFixed(2)}`;
  };
  return Array.from(numbers, (number, d) => (number * sign > 0.04 ? petal(number, d) : "")).join("");
}

// --------------------------------------------------------------------------------------------- the chosen one

/** The patch that the chosen capsule reads, large. */
function makeCrop(size) {
  const label = "The patch that the chosen capsule reads";
  const crop = element("canvas", { width: size, height: size, role: "img", "data-role": "crop", "aria-label": label });
  const brush = crop.getContext("2d");

  function paint(image, { left, top }, { paper, stroke: dark }) {
    const pixels = brush.createImageData(size, size);
    for (let y = 0; y < size; y++) {
      for (let x = 0; x < size; x++) {
        const grey = image[(top + y) * SIDE + left + x];
        pixels.data.set([...mix(paper, dark, grey), 255], 4 * (y * size + x));
      }
    }
    brush.putImageData(pixels, 0, 0);
  }

  return { crop, paint };
}

/** The eight numbers of the chosen capsule, and what they were. */
function makeNumbers(D) {
  const numbers = Array.from({ length: D }, () => {
    const was = element("span", { class: "was" });
    const fill = element("span", { class: "fill" });
    const value = element("span", { class: "value" });
    return { was, fill, value, node: element("li", {}, element("span", { class: "upright" }, fill, was), value) };
  });
  const caption = element("figcaption");
  const list = element(
    "ol",
    { class: "eight", "aria-label": "The eight numbers of the chosen capsule" },
    ...numbers.map(({ node }) => node),
  );

  function show(now, before, moved) {
    numbers.forEach(({ was, fill, value }, d) => {
      fill.classList.toggle("below", now[d] < 0);
      Object.assign(fill.style, { top: `${50 - 50 * Math.max(now[d], 0)}%`, height: `${50 * Math.abs(now[d])}%` });
      was.style.top = `${50 - 50 * before[d]}%`;
      was.hidden = !moved;
      value.textContent = format(now[d]);
    });
    caption.textContent = `its eight numbers, after squash${moved ? "; the lines show where they were" : ""}`;
  }

  return { figure: element("figure", { class: "numbers-of" }, list, caption), show };
}

/** How long the chosen capsule is, and how far it has turned. */
function makeFacts() {
  const fact = (role) => element("dd", { "data-role": role });
  const [before, after, angle] = [fact("before-squash"), fact("after-squash"), fact("turned")];
  const entry = (text, node) => element("div", {}, element("dt", {}, text), node);
  const list = element(
    "dl",
    { class: "facts" },
    entry("length before squash", before),
    entry("after squash", after),
    entry("turned by", angle),
  );

  function show(n, degrees) {
    before.textContent = format(n, 1);
    after.textContent = format(Math.floor(1e6 * ((n * n) / (1 + n * n))) / 1e6, 6); // rounded down: it stays below 1
    angle.textContent = `${format(degrees, 1)}°`;
  }

  return { list, show };
}

/** The chosen capsule: where it stands, its patch, its numbers. */
function makeChosen(D, size) {
  const { crop, paint } = makeCrop(size);
  const numbers = makeNumbers(D);
  const facts = makeFacts();
  const title = element("p", { class: "title", "data-role": "title" });
  const patch = element("figure", {}, crop, element("figcaption", {}, "its patch"));
  const details = element("div", { class: "arrow-of" }, patch, facts.list);

  /** s, u: this capsule before squash and after it; was: u of the digit as written. */
  function show({ s, u, was, degrees }, image, patchOfIt, colours) {
    numbers.show(u, was, degrees !== 0);
    facts.show(norm(s), degrees);
    paint(image, patchOfIt, colours);
  }

  return { title, details, numbers: numbers.figure, show };
}

// ------------------------------------------------------------------------------------------------- the widget

async function build(root, model, host) {
  const front = makeFront(await sharedWeights(model, host));
  const { config, side, D, I, read } = front;
  const images = greysOf(model.get("images")); // [N, 784]
  const labels = model.get("labels");
  const { size } = patchOf(config, 0, 0);

  let index = model.get("index");
  let chosen = model.get("capsule");
  let ink = true; // the pen draws, or it rubs out
  let written; // the digit as it was written [784], and what the network made of it
  let before;
  let image; // the digit as it is now
  let colours;

  const paper = makePaper(patchOf(config, side - 1, side - 1).top + size, {
    drawn: (from, to) => {
      stroke(image, from, to, ink);
      schedule();
    },
    lifted: () => say(remark, remark),
    moved: (words) => requestAnimationFrame(() => say(remark, `${words}. ${remark}`)),
  });
  const tools = makeTools((draws) => {
    ink = draws;
    draw();
  });
  const restore = pushButton("restore", "As written", () => showDigit());
  const samples = labels.map((label, k) =>
    digitButton({ "data-role": "sample", "aria-label": `Show a handwritten ${label}`, onclick: () => choose(k) }),
  );
  const field = makeField(front, { pick, walk: (dx, dy) => pick(neighbourOf(chosen, dx, dy, front)) });
  const { title, details, numbers, show: showChosen } = makeChosen(D, size);
  let remark = ""; // what the pen has done
  const digits = element(
    "div",
    { class: "samples", role: "group", "aria-label": "Handwritten digits to choose from" },
    ...samples.map(({ button }) => button),
  );
  const bar = element("div", { class: "bar" }, tools.node, restore);
  const right = element("div", { class: "right" }, field.field, title, numbers);
  const { say, stop: stopSaying } = layOut(root, {
    stage: element("div", { class: "primary" }, element("div", { class: "left" }, paper.frame, bar), right),
    hands: [digits],
    more: [details],
    about: "The chosen capsule: its patch, its length, its turn",
  });
  const painter = makePainter(root);

  function draw() {
    const { s, u } = read(image);
    const { type, row, column } = placeOf(chosen, front);
    const patch = patchOf(config, row, column);
    const degrees = turned(before.u, u, chosen * D, D);
    const moved = movedCapsules(before.s, s, I, D);
    const { changed, inside } = changesOf(image, written, patch);
    const ofChosen = (capsules) => capsules.subarray(chosen * D, (chosen + 1) * D);
    title.textContent = `Capsule ${chosen}: type ${type}, row ${row}, column ${column}`;
    painter.paint(paper.pad, image);
    paper.showPatch(patch);
    field.show(u, before.u, chosen, title.textContent);
    showChosen({ s: ofChosen(s), u: ofChosen(u), was: ofChosen(before.u), degrees }, image, patch, colours);
    remark = remarkOnField({ changed, inside, moved, chosen, degrees }, patch, front);
    say(remark);
    restore.disabled = changed === 0;
    tools.show(ink);
    Object.assign(root.dataset, {
      capsule: chosen,
      index,
      label: labels[index],
      patch: `${patch.top},${patch.left},${size}`,
      changed,
      inside,
      moved: moved.join(","),
      turned: degrees.toFixed(4),
      u: Array.from(ofChosen(u), (x) => x.toFixed(6)).join(","),
    });
  }
  const schedule = oncePerFrame(draw);

  function pick(i) {
    chosen = i;
    save(model, { capsule: i });
    draw();
    say(remark, `${title.textContent}. ${remark}`);
  }

  function choose(k) {
    index = k;
    save(model, { index });
    showDigit();
  }

  function showDigit() {
    written = digitAt(images, index).slice();
    image = written.slice();
    before = read(written);
    samples.forEach(({ button }, k) => button.setAttribute("aria-pressed", String(k === index)));
    paper.lift();
    draw();
    say(remark, `A ${labels[index]}, as written. ${title.textContent}`);
  }

  function showColours() {
    colours = themeColours(root);
    painter.refresh();
    samples.forEach(({ canvas }, k) => painter.paint(canvas, digitAt(images, k)));
  }

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
    showColours();
    draw();
  });
  showColours();
  showDigit();
  return [stopListening, stopWatching, schedule.cancel, stopSaying];
}

function render({ model, el, host }) {
  const root = makeRoot("PrimaryField", "Primary capsules: choose one, see the patch it reads, and draw");
  return mount(el, root, () => build(root, model, host));
}

export default { render };
