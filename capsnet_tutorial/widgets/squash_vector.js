// A vector s to drag; v = squash(s) follows inside the unit disc, and a dot runs along the curve of lengths.
import { norm, squash } from "./shared/core.js";
import { clamp, element, format, listen, makeRoot, mount, oncePerFrame, setAttributes, svg } from "./shared/ui.js";

const REACH = 2.5; // the plane shows -REACH … REACH, both ways
const FAR = 3.6; // the curve shows lengths 0 … FAR, a little more than the plane's corners have
const PLANE = 260; // sides of the pictures, in the units of their viewBox
const CURVE = { width: 340, height: 260, left: 30, right: 14, top: 34, bottom: 24 };
const STEEPEST = 1 / Math.sqrt(3);
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

const lengthOf = (n) => (n * n) / (1 + n * n); // ‖v‖ from ‖s‖
const slopeAt = (n) => (2 * n) / (1 + n * n) ** 2; // its derivative

function render({ model, el }) {
  const root = makeRoot("SquashVector", "Drag a vector and watch squash shorten it");
  return mount(el, root, () => {
    let s = model.get("s").slice();

    // -------------------------------------------------------------------------------------- the plane
    const half = PLANE / 2;
    const unit = half / REACH;
    const onPlane = ([x, y]) => [half + x * unit, half - y * unit];
    const arrowS = makeArrow("s");
    const arrowV = makeArrow("v");
    const handle = svg("g", { class: "handle", tabindex: 0, role: "slider", "data-role": "handle", "aria-label": "Vector s. Arrow keys move its tip.", "aria-valuemin": 0, "aria-valuemax": FAR },
      svg("circle", { class: "touch", r: 22 }), svg("circle", { class: "ring", r: 11 }), svg("circle", { class: "knob", r: 6.5 }));
    const nameS = svg("text", { class: "name s" }, "s");
    const nameV = svg("text", { class: "name v" }, "v");
    const plane = svg("svg", { viewBox: `0 0 ${PLANE} ${PLANE}`, class: "plane", "data-role": "plane" },
      svg("circle", { class: "disc", cx: half, cy: half, r: unit }),
      svg("path", { class: "axis", d: `M0 ${half}H${PLANE}M${half} 0V${PLANE}` }),
      svg("text", { class: "label", x: half + unit + 4, y: half + 14 }, "1"),
      arrowS.node, handle, arrowV.node, nameS, nameV);

    // -------------------------------------------------------------------------------------- the curve
    const { width, height, left, right, top, bottom } = CURVE;
    const atX = (n) => left + (n / FAR) * (width - left - right);
    const atY = (n) => height - bottom - n * (height - top - bottom);
    const lengths = Array.from({ length: 181 }, (_, k) => (k / 180) * FAR);
    const path = lengths.map((n, k) => `${k ? "L" : "M"}${atX(n).toFixed(2)} ${atY(lengthOf(n)).toFixed(2)}`).join("");
    const guides = svg("path", { class: "guide" });
    const tangent = svg("path", { class: "tangent" });
    const dot = svg("g", { class: "handle v", tabindex: 0, role: "slider", "data-role": "dot", "aria-label": "Length of s. Left and right arrow keys change it.", "aria-valuemin": 0, "aria-valuemax": FAR },
      svg("circle", { class: "touch", r: 22 }), svg("circle", { class: "ring", r: 11 }), svg("circle", { class: "knob", r: 6.5 }));
    const ticks = [0, 1, 2, 3].map((n) => svg("text", { class: "label", x: atX(n), y: height - bottom + 15, "text-anchor": "middle" }, String(n)));
    const curve = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "curve", "data-role": "curve" },
      svg("path", { class: "axis", d: `M${left} ${top - 10}V${atY(0)}H${width - right + 4}` }),
      svg("path", { class: "limit", d: `M${left} ${atY(1)}H${width - right + 4}` }),
      ...ticks,
      svg("text", { class: "label", x: left - 8, y: atY(1) + 4, "text-anchor": "end" }, "1"),
      svg("text", { class: "label", x: left - 8, y: atY(0.5) + 4, "text-anchor": "end" }, "½"),
      svg("text", { class: "label s", x: width - right + 4, y: height - bottom + 15, "text-anchor": "end" }, "‖s‖"),
      svg("text", { class: "label v", x: left - 8, y: top - 16 }, "‖v‖"),
      guides, svg("path", { class: "graph", d: path }), tangent, dot);

    // ------------------------------------------------------------------------------------ the numbers
    const number = (symbol, kind = "") => {
      const value = element("dd", { class: kind });
      return { value, entry: element("div", {}, element("dt", { class: kind }, symbol), value) };
    };
    const [vectorS, vectorV, lengthS, lengthV, direction, slope] = [
      number("s", "s"), number("v", "v"), number("‖s‖", "s"), number("‖v‖", "v"), number("direction"), number("slope", "slope"),
    ];
    const remark = element("p", { class: "remark", "data-role": "remark" });
    const numbers = element("dl", { class: "numbers" }, ...[vectorS, lengthS, direction, vectorV, lengthV, slope].map(({ entry }) => entry));
    root.append(element("div", { class: "squash" }, plane, curve), numbers, remark);

    // ---------------------------------------------------------------------------------------- drawing
    function draw() {
      const v = squash(Float64Array.from(s));
      const [n, m] = [norm(s), norm(v)];
      root.dataset.s = s.map((x) => x.toFixed(4)).join(",");
      root.dataset.v = Array.from(v, (x) => x.toFixed(4)).join(",");

      const tip = onPlane(s);
      arrowS.point([half, half], tip, 11);
      arrowV.point([half, half], onPlane(v), 0);
      handle.setAttribute("transform", `translate(${tip})`);
      const aside = n ? [-s[1] / n, s[0] / n] : [0, 1]; // names stand beside their arrows
      const beside = ([x, y], by) => onPlane([x + aside[0] * by, y + aside[1] * by]);
      place(nameS, beside(s, 0.34));
      place(nameV, beside([v[0] * 0.6, v[1] * 0.6], -0.24));
      nameV.toggleAttribute("hidden", m < 0.25);

      const [x, y] = [atX(Math.min(n, FAR)), atY(lengthOf(n))];
      dot.setAttribute("transform", `translate(${x} ${y})`);
      guides.setAttribute("d", `M${x} ${atY(0)}V${y}H${atX(0)}`);
      const [dx, dy] = [atX(1) - atX(0), atY(slopeAt(n)) - atY(0)];
      const ahead = 46 / Math.hypot(dx, dy);
      const back = Math.min(ahead, n); // no further than where ‖s‖ is 0
      tangent.setAttribute("d", `M${x - dx * back} ${y - dy * back}L${x + dx * ahead} ${y + dy * ahead}`);

      const pair = (p) => `(${format(p[0])}, ${format(p[1])})`;
      vectorS.value.textContent = pair(s);
      vectorV.value.textContent = pair(v);
      lengthS.value.textContent = format(n, 3);
      lengthV.value.textContent = format(m, 3);
      direction.value.textContent = n === 0 ? "none" : `${format((Math.atan2(s[1], s[0]) * 180) / Math.PI, 1)}°`;
      slope.value.textContent = format(slopeAt(n), 3);
      remark.textContent = inWords(n);
      const spoken = `s is ${pair(s)}, ${format(n)} long; v is ${format(m)} long`;
      setAttributes(handle, { "aria-valuenow": n.toFixed(3), "aria-valuetext": spoken });
      setAttributes(dot, { "aria-valuenow": n.toFixed(3), "aria-valuetext": spoken });
    }
    const schedule = oncePerFrame(draw);

    function move(to) {
      s = to.map((x) => clamp(Math.round(x * 1000) / 1000, -REACH, REACH));
      model.set("s", s.slice());
      schedule();
    }

    /** Another length, the same direction. */
    function stretchTo(n) {
      const now = norm(s);
      const along = now ? s.map((x) => x / now) : [1, 0];
      const most = REACH / Math.max(...along.map(Math.abs)); // where this direction leaves the plane
      move(along.map((x) => x * clamp(n, 0, most)));
    }

    // ------------------------------------------------------------------------------- mouse, touch, keys
    drag(plane, handle, ([x, y]) => move([((x - 0.5) * PLANE) / unit, ((0.5 - y) * PLANE) / unit]));
    drag(curve, dot, ([x]) => stretchTo(((x * width - left) / (width - left - right)) * FAR));

    function drag(picture, grip, to) {
      const at = (event) => {
        const box = picture.getBoundingClientRect();
        return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
      };
      picture.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        event.preventDefault();
        picture.setPointerCapture(event.pointerId);
        grip.focus({ preventScroll: true });
        to(at(event));
      });
      picture.addEventListener("pointermove", (event) => picture.hasPointerCapture(event.pointerId) && to(at(event)));
      picture.addEventListener("lostpointercapture", () => model.save_changes());
    }

    handle.addEventListener("keydown", (event) => {
      const by = event.shiftKey ? 0.5 : 0.05;
      if (event.key in KEYS) move([s[0] + KEYS[event.key][0] * by, s[1] + KEYS[event.key][1] * by]);
      else if (event.key === "Home") move([0, 0]);
      else return;
      event.preventDefault();
      model.save_changes();
    });
    dot.addEventListener("keydown", (event) => {
      const by = event.shiftKey ? 0.5 : 0.05;
      if (event.key in KEYS) stretchTo(norm(s) + (KEYS[event.key][0] + KEYS[event.key][1]) * by);
      else if (event.key === "Home") move([0, 0]);
      else return;
      event.preventDefault();
      model.save_changes();
    });

    const stopListening = listen(model, {
      s: () => {
        s = model.get("s").slice();
        schedule();
      },
    });
    draw();
    return [stopListening, schedule.cancel];
  });
}

/** What there is to see at this length. */
function inWords(n) {
  if (n === 0) return "Zero has no direction: s / ‖s‖ would be 0 / 0. The length is kept at 10⁻⁸ at least where it divides, so v is 0 and its gradient finite.";
  if (n < 0.25) return "Short vectors all but vanish: ‖v‖ ≈ ‖s‖². The slope goes to 0 as well, so a capsule that starts too short learns slowly.";
  if (Math.abs(n - STEEPEST) < 0.12) return "Here the curve is steepest, at ‖s‖ = 1/√3: a small change of s changes v the most.";
  if (n > 2) return "Long vectors saturate: v is nearly a unit vector, and making s longer hardly changes it. Little gradient is left here, too.";
  return "v points where s points; only the length changes, and it stays below 1.";
}

function makeArrow(kind) {
  const shaft = svg("line", { class: "shaft" });
  const head = svg("polygon", { class: "head" });
  const node = svg("g", { class: `arrow ${kind}` }, shaft, head);
  /** From `from` to `to`, less `gap` at the tip. */
  const point = ([x0, y0], [x1, y1], gap) => {
    const length = Math.hypot(x1 - x0, y1 - y0);
    const [ux, uy] = length ? [(x1 - x0) / length, (y1 - y0) / length] : [0, 0];
    const size = clamp((length - gap) / 2, 0, 9);
    const [tx, ty] = [x1 - ux * gap, y1 - uy * gap];
    const [bx, by] = [tx - ux * size, ty - uy * size];
    setAttributes(shaft, { x1: x0, y1: y0, x2: bx, y2: by });
    head.setAttribute("points", `${tx},${ty} ${bx - uy * size * 0.5},${by + ux * size * 0.5} ${bx + uy * size * 0.5},${by - ux * size * 0.5}`);
    node.toggleAttribute("hidden", length <= gap);
  };
  return { node, point };
}

function place(text, [x, y]) {
  setAttributes(text, { x, y: y + 4 });
}

export default { render };
