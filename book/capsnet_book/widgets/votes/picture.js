// The whole picture: planes with votes, ribbons, parts, the field of shares and the lengths.
import { measure } from "../shared/controls.js";
import { element, setAttributes, svg } from "../shared/ui.js";
import { makeField, makeLengths } from "./field.js";
import { makeFlow } from "./flow.js";
import { extentsOf, layoutOf } from "./layout.js";
import { makePlanes } from "./planes.js";
/** @import { Vector, Votes } from "./routing.js" */
/** @import { View } from "./words.js" */

/**
 * @param {{ votes: () => Votes, ground: () => Votes, round: () => number,
 *   pull: (i: number, j: number, to: Vector) => void, choose: (round: number) => void,
 *   look: (focus: View["focus"]) => void, changed: () => void }} _
 *   ground: the votes that choose the planes' scale: it stays while one is pulled; changed: called
 *   when the picture has another size
 */
export function makePicture({ votes, ground, round, pull, choose, look, changed }) {
  const picture = svg("svg", { class: "picture", role: "group", "data-role": "picture" });
  const node = element("div", { class: "votes-picture" }, picture);
  const size = measure(node, changed);
  /** @type {ReturnType<typeof layoutOf> | undefined} */
  let layout;
  let laidOutFor; // the votes
  let parts = []; // planes, flow, field, lengths
  let shape = ""; // how many parts and wholes they are made for

  function build(/** @type {number} */ I, /** @type {number} */ J) {
    const common = { svg: picture, layout: () => layout };
    parts = [
      makeFlow(I, J, look),
      makePlanes(I, J, { ...common, votes, pull, look }),
      makeField(I, J, { ...common, round, choose }),
      makeLengths(J),
    ];
    picture.replaceChildren(...parts.map((part) => part.node));
  }

  /** @param {View} view */
  function draw(view) {
    if (size.width < 100) return; // not laid out yet: nothing would fit
    const I = view.votes.length;
    const J = view.wholes.length;
    if (shape !== `${I}×${J}`) build(I, J);
    shape = `${I}×${J}`;
    if (size.width !== layout?.width || ground() !== laidOutFor)
      layout = layoutOf(size.width, extentsOf(ground()), I);
    laidOutFor = ground();
    const { width, height, narrow } = layout;
    node.toggleAttribute("data-narrow", narrow);
    setAttributes(picture, { viewBox: `0 0 ${width} ${height}`, width, height });
    for (const part of parts) part.draw(layout, view);
  }
  return { node, draw, stop: size.stop };
}
