// Choose a capsule, and bend it. A picture is read into capsules, one of them is decoded, and each of
// its sixteen numbers is a slider that is named by what it does to this drawing.

import { makeChoice, makePaint, makeSource, pictureRow } from "./bend/pictures.js";
import { choiceInWords, drawnBy, movesInWords, namesOf, readingInWords } from "./bend/words.js";
import { digitFigure } from "./shared/digits.js";
import { effectOf, pixelsChanged } from "./shared/effects.js";
import { makeNumber, REACH } from "./shared/numbers.js";
import { defineWidget } from "./shared/stage.js";
import { t } from "./shared/t.js";
import { bytesOf, element, format, memoized, pushButton, rowOf } from "./shared/ui.js";

const RULES = { longest: t`Longest`, label: t`True label`, all: t`All ten`, none: t`None` };

/**
 * The capsules that the mask lets through.
 * @param {string} keep  a key of RULES, or a class @param {import("./bend/words.js").Answer} answer
 * @param {number} label
 */
function capsulesKept(keep, { lengths, prediction }, label) {
  const chosen = { all: [...lengths.keys()], none: [], label: [label], longest: [prediction] };
  return chosen[keep] ?? [Number(keep)];
}

/**
 * Adds offsets [D] to the capsule of class `j`. -> capsules [J, D]
 * @param {Float32Array} capsules @param {number} j @param {number[]} offsets
 */
export function withOffsets(capsules, j, offsets) {
  const moved = capsules.slice();
  for (let d = 0; d < offsets.length; d++) moved[j * offsets.length + d] += offsets[d];
  return moved;
}

/**
 * The reconstruction loss of one image: squared differences, summed over its numbers.
 * @param {Float32Array} drawing @param {Float32Array} image
 */
export const squaredError = (drawing, image) =>
  image.reduce((sum, grey, k) => sum + (drawing[k] - grey) ** 2, 0);

/** The sixteen sliders. show(network, capsules, j, names) names and paints them for one capsule. */
function makeSixteen(D, side, set) {
  const none = new Array(D).fill(0);
  const sliders = none.map((_, d) => makeNumber(d, (offset) => set(d, offset), side));

  /** Returns the number that changes the drawing most. */
  function show(network, capsules, j, names, paint) {
    const changes = sliders.map(({ low, high, rename }, d) => {
      const draw = (/** @type {number} */ offset) =>
        network.decode(network.mask(withOffsets(capsules, j, none.with(d, offset)), j));
      const first = draw(-REACH);
      const last = draw(REACH);
      paint(low, first);
      paint(high, last);
      rename(names?.[d] ?? effectOf(first, last, side).names.join(", "));
      return pixelsChanged(first, last, side);
    });
    return changes.indexOf(Math.max(...changes));
  }
  return {
    sliders,
    show,
    node: element("div", { class: "sixteen" }, ...sliders.map((s) => s.node)),
  };
}

/** The parts of the widget. */
function makeParts({ network, images, labels, animals, asks, hand, choose, keep, slide, reset }) {
  const side = network.config.image_size;
  const { things, shorts } = namesOf(network);
  const names = labels.map((label) => t`Read this: ${things[label]}`);
  const choices = Array.from({ length: network.J }, (_, j) =>
    makeChoice(j, shorts[j], side, () => keep(String(j))),
  );
  const rules = Object.entries(RULES).map(([rule, text]) =>
    pushButton("rule", text, () => keep(rule), { "data-keep": rule }),
  );
  const drawing = digitFigure("redrawn", "result", side);
  const about = { class: "choices", role: "group", "aria-label": t`The capsules` };
  return {
    source: makeSource(animals, side, hand),
    choices,
    rules,
    drawing,
    row: pictureRow(images, side, names, choose),
    sixteen: makeSixteen(network.D_out, side, slide),
    ten: element("div", about, ...choices.map(({ button }) => button)),
    ruleRow: asks ? [rowOf(...rules)] : [],
    reset: rowOf(pushButton("reset", t`Reset`, reset)),
  };
}

/** The widget at work: its parts, the picture that is read, and the network's answer. */
class Bending {
  #widget;
  #network;
  #names; // by class: what Python calls the numbers
  /** @type {import("./bend/words.js").Names} */
  #classes;
  #labels;
  #images;
  #none; // no offsets
  #loaded = -1; // the picture that was loaded last
  #isOwn = false; // whether the reader has drawn since
  #isDrawing = false;
  /** @type {import("./bend/words.js").Answer & { drawings: Float32Array[] }} */
  #answer;

  constructor(widget, network, names) {
    const { get, set } = widget;
    const labels = get("labels");
    const bytes = bytesOf(get("images"));
    const size = bytes.length / labels.length;
    const numbersAt = (/** @type {number} */ n) => bytes.subarray(n * size, (n + 1) * size);
    this.#widget = widget;
    this.#network = network;
    this.#names = names;
    this.#labels = labels;
    this.#images = labels.map((_, n) => Float32Array.from(numbersAt(n), (grey) => grey / 255));
    this.#none = new Array(network.D_out).fill(0);
    this.animals = network.config.in_channels === 3;
    this.#classes = namesOf(network);
    this.paint = makePaint(widget.painter);
    this.parts = makeParts({
      network,
      images: this.#images,
      labels,
      animals: this.animals,
      asks: get("rules"),
      hand: { drawn: () => this.#drawn(true), settled: () => this.#settled() },
      choose: (index) => this.#choose(index),
      keep: (keep) => set({ keep, offsets: this.#none }),
      slide: (d, offset) => set({ offsets: get("offsets").with(d, offset) }),
      reset: () => this.#choose(get("index")),
    });
    const { choices, row, sixteen } = this.parts;
    this.readImage = memoized((image) => this.#read(image));
    this.paintChoices = memoized((drawings) =>
      choices.forEach(({ canvas }, j) => this.paint(canvas, drawings[j])),
    );
    this.nameNumbers = memoized((j) => {
      const most = sixteen.show(network, this.#answer.capsules, j, this.#names[j], this.paint);
      widget.root.dataset.primary = String(most);
    });
    this.showRow = memoized((index) => row.show(index, this.paint));
  }

  #load(/** @type {number} */ index) {
    this.#loaded = index;
    this.#isOwn = false;
    this.parts.source.load(this.#images[index]);
  }

  #choose(/** @type {number} */ index) {
    this.#load(index);
    this.#widget.set({ index, offsets: this.#none });
    this.#tell();
  }

  #drawn(/** @type {boolean} */ isDrawing) {
    this.#isOwn = true;
    this.#isDrawing = isDrawing;
    this.#widget.set({ offsets: this.#none });
  }

  #settled() {
    this.#drawn(false);
    this.#tell();
  }

  /** Tells the page of another digit: the glass network, if there is one, follows. */
  #tell() {
    if (this.animals) return;
    const about = { bubbles: true, detail: this.parts.source.bytes() };
    this.#widget.root.dispatchEvent(new CustomEvent("capsnet:drawn", about));
  }

  #read(/** @type {Float32Array} */ image) {
    const { forward, decode, mask } = this.#network;
    const answer = forward(image);
    const drawings = this.parts.choices.map((_, j) => decode(mask(answer.capsules, j)));
    this.#answer = { ...answer, drawings };
  }

  /** Decodes capsules, with offsets on the one that is bent. @param {number[]} kept */
  #decoded(kept, /** @type {number} */ bent, /** @type {number[]} */ offsets) {
    const moved = withOffsets(this.#answer.capsules, bent, offsets);
    return this.#network.decode(this.#network.mask(moved, ...kept));
  }

  /** Says what is to be seen. @param {number[]} kept @param {number} bent @param {number} label */
  #sentence(kept, bent, label, /** @type {Float32Array} */ picture) {
    const { get } = this.#widget;
    const { source } = this.parts;
    const answer = this.#answer;
    const offsets = get("offsets");
    if (kept.includes(bent) && offsets.some(Boolean)) {
      const straight = this.#decoded(kept, bent, this.#none);
      const effect = effectOf(straight, picture, this.#network.config.image_size);
      return movesInWords(offsets, effect, this.#network.forward(picture), this.#classes);
    }
    const isChosen = get("rules") || get("keep") !== "longest";
    if (!this.animals && !this.#isOwn && isChosen) {
      const errors = answer.drawings.map((decoded) => squaredError(decoded, source.image()));
      return choiceInWords({ kept, keep: get("keep"), answer, label, errors });
    }
    const reading = readingInWords(answer.lengths, source.isEmpty(), this.#classes);
    if (this.#isOwn || answer.prediction === label) return reading;
    const truth = t`It was meant as ${this.#classes.things[label]}.`;
    return t`${reading} ${truth} The decoder draws what the network takes it for.`;
  }

  /** Shows the choices, the rules and the sliders. @param {number[]} kept */
  #showHands(kept, /** @type {number} */ bent, /** @type {number} */ label) {
    const { get } = this.#widget;
    const { choices, rules, sixteen } = this.parts;
    const { lengths, capsules } = this.#answer;
    const offsets = get("offsets");
    choices.forEach(({ show }, j) =>
      show(lengths[j], kept.includes(j), kept.length === 1 && kept[0] === j, j === label),
    );
    for (const rule of rules)
      rule.setAttribute("aria-pressed", String(rule.dataset.keep === get("keep")));
    sixteen.sliders.forEach(({ show, input }, d) => {
      show(offsets[d], capsules[bent * this.#none.length + d] + offsets[d]);
      input.disabled = !kept.includes(bent);
    });
  }

  /** Shows all, and returns the sentence. */
  draw() {
    const { get, root, painter } = this.#widget;
    const { source, drawing } = this.parts;
    const index = get("index");
    if (index !== this.#loaded) this.#load(index);
    const image = source.image();
    source.paint(this.#widget, this.paint);
    this.readImage([image], image);
    const { prediction, lengths, drawings } = this.#answer;
    const label = this.#isOwn ? prediction : this.#labels[index];
    const kept = capsulesKept(get("keep"), this.#answer, label);
    const bent = kept.length === 1 ? kept[0] : prediction;
    const shades = painter.shades();
    const marked = this.#isOwn ? null : index;
    this.showRow([marked, shades], marked);
    this.paintChoices([drawings, shades], drawings);
    if (!this.#isDrawing) this.nameNumbers([this.#answer, bent, shades], bent);
    this.#showHands(kept, bent, label);
    const picture = this.#decoded(kept, bent, get("offsets"));
    const error = squaredError(picture, image);
    const by = drawnBy(kept, this.#classes);
    const loss = get("rules") ? t`, squared error ${format(error, 1)}` : "";
    this.paint(drawing.canvas, picture);
    drawing.name(t`drawn ${by}${loss}`, t`The picture as drawn ${by}`);
    const decimals = Array.from(lengths, (length) => length.toFixed(6)).join(",");
    Object.assign(root.dataset, { index, label, prediction, lengths: decimals });
    root.dataset.squaredError = error.toFixed(4);
    return this.#sentence(kept, bent, label, picture);
  }
}

const LABEL = t`Choose a capsule, and bend what it draws by its sixteen numbers`;

export default defineWidget("BendCapsule", LABEL, async (widget) => {
  const { root, get, layOut, host } = widget;
  const network = await widget.network();
  const isReadersOwn = (await host.getModel(get("network"))).get("own");
  const names = isReadersOwn ? {} : get("names"); // names belong to the book's network
  const bending = new Bending(widget, network, names);
  const { source, ten, drawing, ruleRow, row, sixteen, reset } = bending.parts;
  const { say, rest } = layOut({
    stage: element("div", { class: "bending" }, source.node, ten, drawing.node),
    hands: [...ruleRow, row.row],
    more: [sixteen.node, reset],
    about: t`Its sixteen numbers`,
  });
  rest.open = !get("rules");
  root.toggleAttribute("data-animals", bending.animals);
  root.dataset.sticks = "";
  return () => say(bending.draw());
});
