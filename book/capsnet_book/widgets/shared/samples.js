// Buttons that load a digit onto a pad: one of each class, and those on which whoever reads them disagrees.
import { digitAt, digitButton, element } from "./ui.js";

const group = (label, buttons) => element("div", { class: "samples", role: "group", "aria-label": label }, ...buttons);

/**
 * @param {{ images: Uint8Array, labels: number[], disputed: number[], load(n: number): void }} _
 *   disputed: which of them; load: is told which one was pressed
 * @param {{ lead: string, group: string, each(label: number): string }} words  on the disputed ones
 */
export function makeSamples({ images, labels, disputed, load }, words) {
  const samples = labels.map((label, n) =>
    digitButton({
      "data-role": disputed.includes(n) ? "disputed" : "sample",
      "aria-label": disputed.includes(n) ? words.each(label) : `Load a handwritten ${label}`,
      onclick: () => load(n),
    }),
  );
  const buttons = (wanted) => samples.filter((_, n) => disputed.includes(n) === wanted).map(({ button }) => button);
  const loads = element(
    "div",
    { class: "loads" },
    group("Handwritten digits to load", buttons(false)),
    element("div", { class: "disputed" }, element("span", {}, words.lead), group(words.group, buttons(true))),
  );
  const paint = (painter) => samples.forEach(({ canvas }, n) => painter.paint(canvas, digitAt(images, n), 255));
  /** Which one is on the pad; null: none. */
  const press = (loaded) =>
    samples.forEach(({ button }, n) => button.setAttribute("aria-pressed", String(n === loaded)));
  return { loads, paint, press };
}
