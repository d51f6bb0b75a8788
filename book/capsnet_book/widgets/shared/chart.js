// A chart that fills the width that it has.
import { measure } from "./controls.js";
import { element, figure, svg } from "./ui.js";

/**
 * Make a figure that is drawn anew when its size changes.
 * @param {any} widget
 * @param {string} role
 * @param {number} height  fixed: a figure that grew while its size is told would be told again
 * @param {(width: number) => Element[]} draw  return what is in the picture
 */
export function makeChart(widget, role, height, draw) {
  const picture = svg("svg", { role: "img", "data-role": role, style: `height: ${height}px` });
  const caption = element("figcaption");
  const node = figure(role, picture, caption);
  const size = measure(node, refresh);
  widget.stops.push(size.stop);
  function refresh() {
    if (!size.width) return;
    picture.setAttribute("viewBox", `0 0 ${size.width} ${height}`);
    picture.replaceChildren(...draw(size.width));
  }
  return { node, picture, caption, refresh };
}
