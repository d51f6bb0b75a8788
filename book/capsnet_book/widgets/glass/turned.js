// On the front page, below the stage: the reader's digit, turned, as the stage's network and the
// capsules that turn read it.
import { bendDigit, STRAIGHT } from "../shared/bending.js";
import { namedSlider } from "../shared/controls.js";
import { digitCanvas, makePainter, whenThemeChanges } from "../shared/digits.js";
import { t } from "../shared/t.js";
import { seenInWords } from "../shared/turned_words.js";
import { makeTurningNet } from "../shared/turning_net.js";
import {
  element,
  makeAnnouncer,
  makeRoot,
  oncePerFrame,
  withArticle,
  write,
} from "../shared/ui.js";

const LABEL = t`Turn the digit: the network above, and capsules that turn`;

/**
 * Fills `place`. show(image, network) shows another digit [784], or another network of the stage.
 * @param {HTMLElement} place @param {() => Promise<ArrayBuffer>} bytes
 *   of the capsules that turn; fetched with the first digit
 */
export function makeTurned(place, bytes) {
  let angle = 0;
  /** @type {Float32Array} */
  let image;
  /** @type {any} */
  let network;
  /** @type {Awaited<ReturnType<typeof makeTurningNet>> | undefined} */
  let turningNet;

  const root = makeRoot("Turned", LABEL);
  const painter = makePainter(document.documentElement); // root is not in the page yet
  const canvas = digitCanvas("turned", "");
  const sentence = element("p", { class: "sentence", "data-role": "sentence" });
  const announce = makeAnnouncer(root);
  const slider = namedSlider(t`Turn this digit`, {
    min: -180,
    max: 180,
    "data-role": "angle",
    oninput: ({ target }) => {
      angle = target.valueAsNumber;
      redraw();
    },
  });
  const hands = element("div", { class: "turned-words" }, slider.node, sentence);
  root.append(element("div", { class: "turned-digit" }, canvas, hands));

  function draw() {
    const turned = bendDigit(image, { ...STRAIGHT, turn: angle });
    const reading = turningNet.forward(turned);
    const { prediction } = network.forward(turned);
    painter.paint(canvas, turned);
    canvas.setAttribute("aria-label", t`The digit, turned by ${angle} degrees`);
    slider.show(angle, `${angle}°`);
    const above = t`The network above reads ${withArticle(prediction)}.`;
    const words = t`${above} The capsules that turn read ${seenInWords(reading)}.`;
    write(sentence, words);
    announce(words);
    root.dataset.prediction = String(reading.prediction);
    root.dataset.ready = "true";
  }
  const redraw = oncePerFrame(draw);

  whenThemeChanges(() => {
    painter.refresh();
    if (turningNet) draw();
  });

  async function show(/** @type {Float32Array} */ newImage, /** @type {any} */ newNetwork) {
    if (newImage === image && newNetwork === network) return;
    image = newImage;
    network = newNetwork;
    if (!turningNet) {
      turningNet = await makeTurningNet(await bytes());
      place.append(root);
    }
    redraw();
  }
  return { show };
}
