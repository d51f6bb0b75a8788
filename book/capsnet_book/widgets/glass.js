// The glass network in a notebook: the whole network on one stage, the reader's own if it is given.
// In the book's pages glass/glass.js puts the same stage into its place.
import { LABEL, Stage } from "./glass/stage.js";
import { digitAt } from "./shared/digits.js";
import { defineWidget } from "./shared/stage.js";
import { bytesOf } from "./shared/ui.js";

export default defineWidget("Glass", LABEL, async (widget) => {
  const { root, get, stops } = widget;
  const network = await widget.network();
  const samples = bytesOf(get("samples"));
  let digit = get("digit");
  const stage = new Stage({
    samples,
    lit: [], // all parts as large
    first: digitAt(samples, digit),
    keep: () => {}, // a notebook keeps no digit
    answered: () => {},
    root,
  });
  stops.push(...stage.stops);
  stage.use(network);
  return () => {
    if (get("digit") === digit) return;
    digit = get("digit");
    stage.show(digitAt(samples, digit));
  };
});
