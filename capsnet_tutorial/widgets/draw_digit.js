// A pad to draw on. With every step of the pen the network reads the drawing anew, and everything it thinks is shown.
import { fieldOf, longDigits, makeLayout, remarkOnCapsule } from "./draw_digit_model.js";
import { LONG, makeBars } from "./shared/bars.js";
import { arrowKeys, fitCanvas, measure } from "./shared/controls.js";
import { lengthsOf, makeNetwork } from "./shared/core.js";
import { makePad, tiePad } from "./shared/pad.js";
import {
  bytesOf,
  clamp,
  css,
  digitAt,
  digitButton,
  digitCanvas,
  element,
  makeAnnouncer,
  makePainter,
  makeRoot,
  mix,
  mount,
  oncePerFrame,
  SIDE,
  setAttributes,
  sharedWeights,
  themeColours,
  whenResized,
  whenThemeChanges,
} from "./shared/ui.js";

const FULL = 4; // this many times an even share, or as little, has the full colour

const digitsUpTo = (J) => Array.from({ length: J }, (_, j) => j);

// ------------------------------------------------------------------------------------------------- the answer

/** What the lengths say, honestly: nothing, one digit, or several. */
function verdictOn(lengths, empty) {
  const a = (digit) => [digit === 8 ? "an " : "a ", element("strong", {}, String(digit))];
  const long = longDigits(lengths);
  if (empty) return ["Nothing drawn yet."];
  if (long.length === 0) return ["I see no digit."];
  if (long.length === 1) return ["I see ", ...a(long[0]), "."];
  if (long.length === 2) return ["Two? I see ", ...a(long[0]), " and ", ...a(long[1]), "."];
  return [`Several? ${long.length} capsules are long.`];
}

/** What the network sees, with the patch that a capsule looks at, and what it draws of it. */
function makePair(config) {
  const seen = digitCanvas("seen", "The 28 by 28 pixels that the network sees");
  const field = element("span", { class: "field", hidden: "" });
  const reconstruction = digitCanvas("reconstruction", "");
  const caption = element("figcaption");
  const frame = element("div", { class: "seen-frame" }, seen, field);
  const pair = element(
    "div",
    { class: "pair" },
    element("figure", {}, frame, element("figcaption", {}, "what the network sees")),
    element("figure", { class: "result" }, reconstruction, caption),
  );

  function show(image, { prediction, lengths, reconstruction: drawn }, painter) {
    painter.paint(seen, image);
    painter.paint(reconstruction, drawn);
    reconstruction.classList.toggle("faint", lengths[prediction] < LONG);
    caption.textContent = `what capsule ${prediction} draws`;
    setAttributes(reconstruction, { "aria-label": `What the longest capsule, ${prediction}, draws` });
  }

  /** Lays a frame over the pixels that a capsule reads; place: its row and column, or null. */
  function showField(place) {
    field.hidden = place === null;
    if (place === null) return;
    const [left, top, size] = fieldOf(config, place.row, place.column);
    const box = { left, top, width: size, height: size };
    for (const [edge, pixels] of Object.entries(box)) field.style[edge] = `${(pixels / SIDE) * 100}%`;
  }

  return { pair, show, showField };
}

// ---------------------------------------------------------------------------------------------- the couplings

/** An even share is neutral; FULL times as much, or as little, has the full colour. */
function makeShades(J) {
  const shades = new Uint32Array(129); // red, green, blue and alpha in one
  function refresh({ raised, contrast, accent }) {
    const channels = new Uint8Array(shades.buffer);
    for (let k = 0; k < shades.length; k++) {
      channels.set([...mix(raised, k < 64 ? contrast : accent, Math.abs(k - 64) / 64), 255], 4 * k);
    }
  }
  const shadeOf = (coupling) => shades[Math.round((clamp(Math.log(coupling * J) / Math.log(FULL), -1, 1) + 1) * 64)];
  return { refresh, shadeOf };
}

/** The picture of one routing round: a column for each digit, and below it how long its capsule is by then. */
function makeRound(t, J) {
  const map = element("canvas", {
    class: "map",
    "data-role": "couplings",
    "data-round": t + 1,
    role: "img",
    "aria-label": `Couplings in round ${t + 1}`,
  });
  const columns = digitsUpTo(J).map((digit) => {
    const fill = element("span", { class: "fill" });
    const rail = element("span", { class: "rail" }, fill);
    const column = element("span", { class: "column" }, rail, element("span", { class: "digit" }, String(digit)));
    return { fill, column };
  });
  const under = element("div", { class: "columns", "aria-hidden": "true" }, ...columns.map(({ column }) => column));
  const figure = element("figure", { class: "round" }, element("figcaption", {}, `round ${t + 1}`), map, under);
  const showLengths = (lengths, prediction) =>
    columns.forEach(({ fill, column }, j) => {
      fill.style.height = `${lengths[j] * 100}%`;
      column.classList.toggle("longest", j === prediction);
    });
  return { map, figure, showLengths, size: undefined }; // its size is measured when it is first painted
}

/** Paints couplings: paint(round, couplings [I, J], pointed): the capsule that is pointed at is framed. */
function makeMapPainter(layout, I, J, shadeOf) {
  const { width, height, cornerOf } = layout;
  const bitmap = element("canvas", { width, height }); // a pixel a unit
  const brush = bitmap.getContext("2d");
  const cells = brush.createImageData(width, height);
  const units = new Uint32Array(cells.data.buffer);
  const corners = Array.from({ length: I * J }, (_, k) => {
    const [x, y] = cornerOf(Math.floor(k / J), k % J);
    return y * width + x;
  });

  return function paint(round, couplings, pointed, ink) {
    round.size ??= measure(round.map);
    for (let k = 0; k < corners.length; k++) {
      const [at, below] = [corners[k], corners[k] + width];
      units[at] = units[at + 1] = units[below] = units[below + 1] = shadeOf(couplings[k]);
    }
    brush.putImageData(cells, 0, 0);
    const shown = { width: round.size.width, height: (round.size.width * height) / width };
    const fitted = fitCanvas(round.map, shown);
    const unit = fitted.width / width;
    const onMap = fitted.brush;
    onMap.setTransform(1, 0, 0, 1, unit / 2, 0); // half of the gap on either side
    onMap.clearRect(-unit, 0, fitted.width + unit, fitted.height);
    onMap.imageSmoothingEnabled = false;
    if (fitted.width) onMap.drawImage(bitmap, 0, 0, fitted.width, fitted.height);
    if (pointed === null) return;
    onMap.strokeStyle = css(ink);
    onMap.lineWidth = 1.5 * fitted.ratio;
    for (let j = 0; j < J; j++) {
      const [x, y] = cornerOf(pointed, j);
      onMap.strokeRect(x * unit, y * unit, 2 * unit, 2 * unit);
    }
  };
}

/** The maps of all rounds; point(i) frames a primary capsule, by mouse and keys, and calls pointed(i, words). */
function makeMaps({ I, J, D_out, config }, pointed) {
  const layout = makeLayout(config.primary_types, I / config.primary_types, J);
  const rounds = Array.from({ length: config.iterations }, (_, t) => makeRound(t, J));
  const shades = makeShades(J);
  const paint = makeMapPainter(layout, I, J, shades.shadeOf);
  const maps = element(
    "div",
    {
      class: "rounds",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "coupling maps",
      "aria-label": "Couplings of each routing round. Arrow keys walk through the primary capsules.",
    },
    ...rounds.map(({ figure }) => figure),
  );
  const readout = element("p", { class: "readout", "data-role": "coupling" });
  let chosen = null; // the primary capsule i that the reader points at
  let answer, ink;

  const paintAll = () => rounds.forEach((round, t) => paint(round, answer.c[t], chosen, ink));

  /** The capsule that is pointed at, in words, and where it stands. */
  function describe() {
    const place = chosen === null ? null : layout.placeOf(chosen);
    const couplings = () => answer.c.at(-1).subarray(chosen * J, (chosen + 1) * J);
    const invitation = "Point at a capsule: what does it look at, and whom does it vote for?";
    readout.textContent = place === null ? invitation : remarkOnCapsule(place, couplings());
    pointed(place, readout.textContent);
  }

  function point(i) {
    if (i === chosen) return;
    chosen = i;
    paintAll();
    describe();
  }

  for (const round of rounds) {
    round.map.addEventListener("pointermove", ({ offsetX, offsetY }) => {
      const unit = round.size.width / layout.width;
      point(layout.capsuleAt(Math.max(0, offsetX / unit - 0.5), offsetY / unit));
    });
  }
  const leave = () => point(null);
  maps.addEventListener("pointerleave", leave);
  maps.addEventListener("blur", leave);
  arrowKeys(maps, (dx, dy) => point(chosen === null ? 0 : layout.neighbourOf(chosen, dx, dy)), {
    Escape: () => {
      leave();
      return false;
    },
  });

  function show(next) {
    answer = next;
    paintAll();
    rounds.forEach(({ showLengths }, t) => showLengths(lengthsOf(answer.v[t], J, D_out), answer.prediction));
    describe();
  }

  function refresh(colours) {
    ({ ink } = colours);
    shades.refresh(colours);
  }

  return { maps, readout, show, refresh, stop: () => rounds.forEach(({ size }) => size?.stop()) };
}

// -------------------------------------------------------------------------------------------------- the widget

async function build(root, model, host) {
  const network = makeNetwork(await sharedWeights(model, host));
  const samples = bytesOf(model.get("samples"));
  let colours;

  const pad = makePad({
    drawn: () => schedule(),
    settled: () => tie.share(),
    loaded: () => showLoaded(),
    say: (words) => announce(words),
  });
  const sampleButtons = digitsUpTo(network.J).map((digit) => {
    const onclick = () => showPixels(digitAt(samples, digit));
    return digitButton({ "data-role": "sample", "aria-label": `Load a handwritten ${digit}`, onclick });
  });
  const verdict = element("p", { class: "verdict", "data-role": "verdict" });
  const bars = makeBars("Lengths of the ten digit capsules");
  const { pair, show: showPair, showField } = makePair(network.config);
  const routing = makeMaps(network, (place, words) => {
    showField(place);
    if (place) announce(words);
  });
  const loads = element(
    "div",
    { class: "samples", role: "group", "aria-label": "Handwritten digits to load" },
    ...sampleButtons.map(({ button }) => button),
  );
  const legend = element(
    "div",
    { class: "legend", "aria-hidden": "true" },
    element("span", {}, "less than a tenth"),
    element("span", { class: "scale" }),
    element("span", {}, "more"),
  );
  root.append(
    element(
      "div",
      { class: "drawing" },
      element("div", { class: "left" }, pad.frame, pad.buttons, loads),
      element("div", { class: "right" }, verdict, bars.list, pair),
    ),
    element(
      "section",
      { class: "routing", "aria-label": "Routing" },
      element("p", { class: "lead" }, "Where each of the 72 primary capsules sends its vote"),
      routing.maps,
      legend,
      routing.readout,
    ),
  );
  const announce = makeAnnouncer(root);
  const painter = makePainter(root);

  /** Exactly these pixels, as they are. */
  function showPixels(bytes) {
    pad.show(bytes);
    showLoaded();
  }

  function showLoaded() {
    tie.share();
    update();
  }

  function update() {
    const answer = network.forward(pad.image());
    const { lengths, prediction } = answer;
    root.dataset.prediction = prediction;
    root.dataset.lengths = Array.from(lengths, (length) => length.toFixed(6)).join(",");
    pad.paint(painter, colours);
    bars.show(lengths, prediction, (length) => length >= LONG);
    showPair(pad.image(), answer, painter);
    routing.show(answer);
    verdict.replaceChildren(...verdictOn(lengths, pad.empty()));
    announce(verdict.textContent);
  }
  const schedule = oncePerFrame(update);

  root.addEventListener("capsnet:image", ({ detail }) => showPixels(detail));
  const tie = tiePad(pad, model, showPixels);
  const refresh = () => {
    painter.refresh();
    colours = themeColours(root);
    routing.refresh(colours);
    sampleButtons.forEach(({ canvas }, digit) => painter.paint(canvas, digitAt(samples, digit), 255));
    update();
  };
  const stopWatching = whenThemeChanges(refresh);
  const stopMeasuring = whenResized(root, schedule);
  pad.show(bytesOf(model.get("image")));
  refresh();
  return [tie.stop, routing.stop, stopWatching, stopMeasuring, schedule.cancel, announce.cancel];
}

function render({ model, el, host }) {
  const root = makeRoot("DrawDigit", "Draw a digit and watch a capsule network read it");
  return mount(el, root, () => build(root, model, host));
}

export default { render };
