// A pad to draw on. With every step of the pen the network reads the drawing anew, and everything it thinks is shown.
import { LONG, makeBars } from "./shared/bars.js";
import { lengthsOf, makeNetwork } from "./shared/core.js";
import { ARROWS } from "./shared/controls.js";
import { makePad, tiePad } from "./shared/pad.js";
import { SIDE, bytesOf, clamp, css, digitAt, digitCanvas, element, makeAnnouncer, makePainter, makeRoot, mix, mount, oncePerFrame, setAttributes, sharedWeights, themeColours, thumbnail, whenResized, whenThemeChanges } from "./shared/ui.js";

const FULL = 4;

function render({ model, el, host }) {
  const root = makeRoot("DrawDigit", "Draw a digit and watch a capsule network read it");
  return mount(el, root, async () => {
    const network = makeNetwork(await sharedWeights(model, host));
    const samples = bytesOf(model.get("samples"));
    const classes = Array.from({ length: network.J }, (_, j) => j);

    // ----------------------------------------------------------------------------------- elements
    const pad = makePad({ drawn: () => schedule(), settled: () => tie.share(), loaded: () => showLoaded(), say: (words) => announce(words) });
    const sampleButtons = classes.map((digit) => {
      const canvas = thumbnail();
      const onclick = () => showPixels(digitAt(samples, digit));
      return element("button", { type: "button", "data-role": "sample", "aria-label": `Load a handwritten ${digit}`, onclick }, canvas);
    });
    const verdict = element("p", { class: "verdict", "data-role": "verdict" });
    const bars = makeBars("Lengths of the ten digit capsules");
    const seen = digitCanvas("seen", "The 28 by 28 pixels that the network sees");
    const field = element("span", { class: "field", hidden: "" }); // the patch that a pointed-at capsule looks at
    const reconstruction = digitCanvas("reconstruction", "");
    const reconstructionCaption = element("figcaption");
    const rounds = Array.from({ length: network.config.iterations }, (_, t) => makeRound(t));
    const readout = element("p", { class: "readout", "data-role": "coupling" });
    const maps = element("div", {
      class: "rounds", tabindex: 0, role: "application", "aria-roledescription": "coupling maps",
      "aria-label": "Couplings of each routing round. Arrow keys walk through the primary capsules.",
    }, ...rounds.map(({ figure }) => figure));

    root.append(
      element("div", { class: "drawing" },
        element("div", { class: "left" },
          pad.frame,
          pad.buttons,
          element("div", { class: "samples", role: "group", "aria-label": "Handwritten digits to load" }, ...sampleButtons)),
        element("div", { class: "right" },
          verdict,
          bars.list,
          element("div", { class: "pair" },
            element("figure", {}, element("div", { class: "seen-frame" }, seen, field), element("figcaption", {}, "what the network sees")),
            element("figure", { class: "result" }, reconstruction, reconstructionCaption)))),
      element("section", { class: "routing", "aria-label": "Routing" },
        element("p", { class: "lead" }, "Where each of the 72 primary capsules sends its vote"),
        maps,
        element("div", { class: "legend", "aria-hidden": "true" },
          element("span", {}, "less than a tenth"), element("span", { class: "scale" }), element("span", {}, "more")),
        readout),
    );
    const announce = makeAnnouncer(root);
    const painter = makePainter(root);
    let colours;

    /** The picture of one routing round: a column for each digit, and below it how long its capsule is by then. */
    function makeRound(t) {
      const map = element("canvas", { class: "map", "data-role": "couplings", "data-round": t + 1, role: "img", "aria-label": `Couplings in round ${t + 1}` });
      const columns = classes.map((digit) => {
        const fill = element("span", { class: "fill" });
        return { fill, column: element("span", { class: "column" }, element("span", { class: "rail" }, fill), element("span", { class: "digit" }, String(digit))) };
      });
      const figure = element("figure", { class: "round" }, element("figcaption", {}, `round ${t + 1}`), map,
        element("div", { class: "columns", "aria-hidden": "true" }, ...columns.map(({ column }) => column)));
      return { map, figure, columns };
    }

    // --------------------------------------------------------------------------- from pen to network
    /** Exactly these pixels, as they are. */
    function showPixels(bytes) {
      pad.show(bytes);
      showLoaded();
    }

    function showLoaded() {
      tie.share();
      update();
    }

    // ---------------------------------------------------------------------------------------- drawing
    let answer;

    function update() {
      answer = network.forward(pad.image());
      root.dataset.prediction = answer.prediction;
      root.dataset.lengths = Array.from(answer.lengths, (length) => length.toFixed(6)).join(",");
      pad.paint(painter, colours);
      painter.paint(seen, pad.image());
      showLengths();
      showReconstruction();
      answer.c.forEach((_, t) => showRound(t));
      showCapsule();
    }
    const schedule = oncePerFrame(update);

    function showLengths() {
      bars.show(answer.lengths, answer.prediction, (length) => length >= LONG);
      verdict.replaceChildren(...inWords());
      announce(verdict.textContent);
    }

    /** What the lengths say, honestly: nothing, one digit, or several. */
    function inWords() {
      const a = (digit) => [digit === 8 ? "an " : "a ", element("strong", {}, String(digit))];
      const long = classes.filter((j) => answer.lengths[j] >= LONG).sort((p, q) => answer.lengths[q] - answer.lengths[p]);
      if (pad.empty()) return ["Nothing drawn yet."];
      if (long.length === 0) return ["I see no digit."];
      if (long.length === 1) return ["I see ", ...a(long[0]), "."];
      if (long.length === 2) return ["Two? I see ", ...a(long[0]), " and ", ...a(long[1]), "."];
      return [`Several? ${long.length} capsules are long.`];
    }

    function showReconstruction() {
      const { prediction, lengths } = answer;
      const faint = lengths[prediction] < LONG;
      painter.paint(reconstruction, answer.reconstruction);
      reconstruction.classList.toggle("faint", faint);
      reconstructionCaption.textContent = `what capsule ${prediction} draws`;
      setAttributes(reconstruction, { "aria-label": `What the longest capsule, ${prediction}, draws` });
    }

    // ---------------------------------------------------------------------------------------- routing
    const { primary_types: types } = network.config;
    const places = network.I / types;
    const across = Math.sqrt(places);
    let pointed = null; // the primary capsule i that the reader points at

    // A map is laid out in units: a capsule is 2 wide, and 1 stays free between a digit's column and the next.
    const span = 2 * across + 1;
    const bitmap = element("canvas", { width: network.J * span, height: types * span - 1 });
    const brushes = { bitmap: bitmap.getContext("2d"), maps: rounds.map(({ map }) => map.getContext("2d")) };
    const cells = brushes.bitmap.createImageData(bitmap.width, bitmap.height);
    const units = new Uint32Array(cells.data.buffer); // red, green, blue and alpha in one
    const cornerOf = (i, j) => {
      const [type, place] = [Math.floor(i / places), i % places];
      return [j * span + 2 * (place % across), type * span + 2 * Math.floor(place / across)];
    };
    const corners = Array.from({ length: network.I * network.J }, (_, k) => {
      const [x, y] = cornerOf(Math.floor(k / network.J), k % network.J);
      return y * bitmap.width + x;
    });

    function showRound(t) {
      const { map, columns } = rounds[t];
      corners.forEach((at, k) => {
        const below = at + bitmap.width;
        units[at] = units[at + 1] = units[below] = units[below + 1] = shadeOf(answer.c[t][k]);
      });
      brushes.bitmap.putImageData(cells, 0, 0);

      const ratio = window.devicePixelRatio || 1;
      const width = Math.round(map.clientWidth * ratio);
      const height = Math.round((width * bitmap.height) / bitmap.width);
      if (map.width !== width || map.height !== height) Object.assign(map, { width, height });
      const unit = width / bitmap.width;
      const brush = brushes.maps[t];
      brush.setTransform(1, 0, 0, 1, unit / 2, 0); // half of the gap on either side
      brush.clearRect(-unit, 0, width + unit, height);
      brush.imageSmoothingEnabled = false;
      if (width) brush.drawImage(bitmap, 0, 0, width, height);
      if (pointed !== null) {
        brush.strokeStyle = css(colours.ink);
        brush.lineWidth = 1.5 * ratio;
        for (const j of classes) brush.strokeRect(...cornerOf(pointed, j).map((x) => x * unit), 2 * unit, 2 * unit);
      }
      const lengths = lengthsOf(answer.v[t], network.J, network.D_out);
      columns.forEach(({ fill, column }, j) => {
        fill.style.height = `${lengths[j] * 100}%`;
        column.classList.toggle("longest", j === answer.prediction);
      });
    }

    /** A tenth, what every digit gets at first, is neutral; FULL times as much, or as little, has the full colour. */
    const shadeOf = (coupling) => shades[Math.round((clamp(Math.log(coupling * network.J) / Math.log(FULL), -1, 1) + 1) * 64)];
    const shades = new Uint32Array(129);
    const mixShades = () => {
      const { raised, contrast, accent } = colours;
      const channels = new Uint8Array(shades.buffer);
      shades.forEach((_, k) => channels.set([...mix(raised, k < 64 ? contrast : accent, Math.abs(k - 64) / 64), 255], 4 * k));
    };

    /** The capsule that is pointed at, in words, and where in the picture it looks. */
    function showCapsule() {
      field.hidden = pointed === null;
      if (pointed === null) {
        readout.textContent = "Point at a capsule: what does it look at, and whom does it vote for?";
        return;
      }
      const [type, place] = [Math.floor(pointed / places), pointed % places];
      const [down, right] = [Math.floor(place / across), place % across];
      const { conv_kernel, conv_stride, primary_kernel, primary_stride } = network.config;
      const reach = conv_kernel + (primary_kernel - 1) * conv_stride; // pixels along its patch
      const step = conv_stride * primary_stride;
      const percent = (x) => `${(x / SIDE) * 100}%`;
      Object.assign(field.style, { left: percent(right * step), top: percent(down * step), width: percent(reach), height: percent(reach) });
      const last = answer.c.at(-1).subarray(pointed * network.J, (pointed + 1) * network.J);
      const favourite = last.indexOf(Math.max(...last));
      readout.textContent = `Type ${type}, row ${down}, column ${right}: in the last round ${Math.round(last[favourite] * 100)} % of its vote goes to ${favourite}.`;
    }

    function point(i) {
      if (i === pointed) return;
      pointed = i;
      answer.c.forEach((_, t) => showRound(t));
      showCapsule();
      if (i !== null) announce(readout.textContent);
    }

    for (const { map } of rounds) {
      map.addEventListener("pointermove", ({ offsetX, offsetY }) => {
        const unit = map.clientWidth / bitmap.width;
        const [x, y] = [Math.max(0, offsetX / unit - 0.5), offsetY / unit];
        const type = clamp(Math.floor(y / span), 0, types - 1);
        const down = clamp(Math.floor((y - type * span) / 2), 0, across - 1);
        const right = clamp(Math.floor((x % span) / 2), 0, across - 1);
        point(type * places + down * across + right);
      });
    }
    maps.addEventListener("pointerleave", () => point(null));
    maps.addEventListener("blur", () => point(null));
    maps.addEventListener("keydown", (event) => {
      if (event.key === "Escape") point(null);
      if (!(event.key in ARROWS)) return;
      event.preventDefault();
      if (pointed === null) return point(0);
      const [dx, dy] = ARROWS[event.key];
      const [type, place] = [Math.floor(pointed / places), pointed % places];
      const right = clamp((place % across) + dx, 0, across - 1);
      const down = clamp(type * across + Math.floor(place / across) + dy, 0, types * across - 1); // over all types
      point(Math.floor(down / across) * places + (down % across) * across + right);
    });

    // ------------------------------------------------------------------------------- from outside
    root.addEventListener("capsnet:image", ({ detail }) => showPixels(detail));
    const tie = tiePad(pad, model, showPixels);
    const refresh = () => {
      painter.refresh();
      colours = themeColours(root);
      mixShades();
      sampleButtons.forEach((each, digit) => painter.paint(each.firstChild, digitAt(samples, digit), 255));
      update();
    };
    const stopWatching = whenThemeChanges(refresh);
    const stopMeasuring = whenResized(root, schedule);
    pad.show(bytesOf(model.get("image")));
    refresh();
    return [tie.stop, stopWatching, stopMeasuring, schedule.cancel, announce.cancel];
  });
}

export default { render };
