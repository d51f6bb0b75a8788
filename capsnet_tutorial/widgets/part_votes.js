// Two parts to drag. Each predicts a house and a boat with a matrix of its own: û_j|i = W_ij u_i.
import { predictionVectors } from "./shared/core.js";
import { clamp, element, format, listen, makeAnnouncer, makeRoot, mount, oncePerFrame, setAttributes, svg } from "./shared/ui.js";

const PARTS = ["triangle", "rectangle"];
const WHOLES = ["house", "boat"];
const SIGNS = { triangle: "▲", rectangle: "■" };
const HALF = 3.4; // the picture shows -HALF … HALF, both ways
const UNIT = 40; // units of the viewBox in a unit of the plane
const FARTHEST = 2.1; // from the middle to a part
const AGREE = 0.25; // two predictions that are closer than this count as the same
const TURN = 30; // degrees
const MOMENT = 450; // milliseconds that an animation takes
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

// Outlines, in the part's or the whole's own axes: y points up.
const SHAPES = {
  triangle: { body: "M-1.1 -.45H1.1L0 .75Z", up: 0.75, knob: 1.25 },
  rectangle: { body: "M-1.1 -.5H1.1V.5H-1.1Z", up: 0.5, knob: 1.05 },
};
const OUTLINES = {
  house: "M-1.1 -.05H1.1L0 1.15ZM-1.1 -1.05H1.1V-.05H-1.1ZM-.22 -1.05V-.45H.22V-1.05",
  boat: "M-1.1 -1.4H1.1V-.4H-1.1ZM-.25 -.4V1.8L.95 .7Z M-1.7 -1.62q.28 .3 .57 0t.57 0t.57 0t.57 0t.57 0t.57 0",
};

// ------------------------------------------------------------------------------------------ geometry

const radians = (degrees) => (degrees * Math.PI) / 180;

/** A pose (angle, x, y) as the four numbers of a capsule: u = (cos, sin, x, y). */
export function capsuleOf([angle, x, y]) {
  return [Math.cos(radians(angle)), Math.sin(radians(angle)), x, y];
}

/** All four predictions. poses [2][3], weight [2, 2, 4, 4] -> û, a list by part of a list by whole of 4 numbers */
export function votesOf(poses, weight) {
  const shape = [PARTS.length, WHOLES.length, 4, 4];
  const u_hat = predictionVectors(poses.flatMap(capsuleOf), { shape, data: weight });
  return PARTS.map((_, i) => WHOLES.map((_, j) => Array.from(u_hat.subarray((i * 2 + j) * 4, (i * 2 + j + 1) * 4))));
}

/** How far apart the two parts' predictions are, for each whole: ‖û_j|▲ − û_j|■‖ */
export function distancesOf([first, second]) {
  return WHOLES.map((_, j) => Math.hypot(...first[j].map((x, d) => x - second[j][d])));
}

/** A pose seen from another one: the part that stands at `place` in a whole that stands at `whole`. */
export function placed([angle, x, y], [turn, dx, dy]) {
  const [cos, sin] = capsuleOf([angle, 0, 0]);
  return [wrap(angle + turn), x + cos * dx - sin * dy, y + sin * dx + cos * dy];
}

/** Both parts where whole `j` wants them; the whole is the one that the rectangle predicts, moved inwards if need be. */
export function arranged(j, poses, places) {
  const place = (i) => places[i * 2 + j];
  const [turn, dx, dy] = place(1);
  const [angle] = placed([poses[1][0], 0, 0], [-turn, 0, 0]);
  const [, x, y] = placed([angle, poses[1][1], poses[1][2]], [0, -dx, -dy]);
  const whole = [angle, ...within([x, y], FARTHEST - 1)];
  return PARTS.map((_, i) => placed(whole, place(i)));
}

/** Everything turned about the middle of the picture. */
export const turned = (poses, degrees) => poses.map((pose) => placed([degrees, 0, 0], pose));

function within([x, y], radius) {
  const share = Math.min(1, radius / Math.hypot(x, y));
  return share < 1 ? [x * share, y * share] : [x, y];
}

const wrap = (degrees) => degrees - 360 * Math.round(degrees / 360);

/** The transform that puts an outline where (p, q, x, y) says, in the units of the viewBox, whose y points down. */
const matrix = ([p, q, x, y]) => `matrix(${[p, -q, -q, -p].map((n) => n * UNIT)} ${(HALF + x) * UNIT} ${(HALF - y) * UNIT})`;

// -------------------------------------------------------------------------------------------- widget

function render({ model, el }) {
  const root = makeRoot("PartVotes", "Drag two parts and watch the wholes that they predict");
  return mount(el, root, () => {
    const announce = makeAnnouncer(root);
    const weight = Float64Array.from(model.get("weight"));
    const places = model.get("places");
    let poses = copy(model.get("poses"));
    let chosen = [0, 0]; // the pair whose matrix is shown: part, whole
    let said = ""; // what a button did, until something else moves
    let frame = 0;

    // -------------------------------------------------------------------------------------- the parts
    const size = 2 * HALF * UNIT;
    const grips = PARTS.map(makePart);
    const turners = PARTS.map(makeTurner);
    const scene = svg("svg", { viewBox: `0 0 ${size} ${size}`, class: "plane scene", "data-role": "scene" },
      svg("path", { class: "axis", d: `M0 ${size / 2}H${size}M${size / 2} 0V${size}` }),
      ...grips, ...turners.flatMap(({ arm, knob }) => [arm, knob]));

    function makePart(part, i) {
      const body = svg("path", { class: "body", d: SHAPES[part].body });
      const tick = svg("path", { class: "tick", d: `M0 0V${SHAPES[part].up}` });
      const grip = svg("g", { class: `part ${part}`, tabindex: 0, role: "slider", "data-role": part, "aria-label": `The ${part}. Arrow keys move it.`, "aria-valuemin": -FARTHEST, "aria-valuemax": FARTHEST }, body, tick);
      drag(grip, ([x, y], [fromX, fromY], start) => move(i, [start[0], start[1] + x - fromX, start[2] + y - fromY]), i);
      keys(grip, ([x, y], event) => {
        const by = event.shiftKey ? 0.5 : 0.1;
        move(i, [poses[i][0], poses[i][1] + x * by, poses[i][2] + y * by]);
      });
      return grip;
    }

    function makeTurner(part, i) {
      const knob = svg("g", { class: `handle ${part}`, tabindex: 0, role: "slider", "data-role": `turn-${part}`, "aria-label": `Angle of the ${part}. Arrow keys turn it.`, "aria-valuemin": -180, "aria-valuemax": 180 },
        svg("circle", { class: "touch", r: 25 }), svg("circle", { class: "ring", r: 12 }), svg("circle", { class: "knob", r: 7 }));
      drag(knob, ([x, y], _, start) => {
        const [dx, dy] = [x - start[1], y - start[2]];
        if (dx || dy) move(i, [(Math.atan2(-dx, dy) * 180) / Math.PI, start[1], start[2]]);
      }, i);
      keys(knob, ([x, y], event) => move(i, [poses[i][0] + (y - x) * (event.shiftKey ? 15 : 5), poses[i][1], poses[i][2]]));
      return { knob, arm: svg("line", { class: `arm ${part}` }) };
    }

    // ---------------------------------------------------------------------------------- what they say
    const panels = WHOLES.map((whole) => {
      const ghosts = PARTS.map((part) => svg("g", { class: `ghost ${part}` },
        svg("path", { class: "outline", d: OUTLINES[whole] }), svg("circle", { class: "middle", r: 0.13 })));
      const links = PARTS.map((part) => svg("line", { class: `link ${part}` }));
      const bodies = PARTS.map((part) => svg("path", { class: `faint ${part}`, d: SHAPES[part].body }));
      const picture = svg("svg", { viewBox: `0 0 ${size} ${size}`, class: "plane", role: "img" }, ...bodies, ...links, ghosts[1], ghosts[0]); // the dashed ones on top
      const verdict = element("span", { class: "verdict-word" });
      const distance = element("output", {});
      const panel = element("figure", { class: "panel", "data-role": whole },
        element("p", { class: "heading" }, `Predicted: a ${whole}`), picture,
        element("figcaption", {}, verdict, element("span", {}, "distance ", distance)));
      return { panel, picture, ghosts, links, bodies, verdict, distance };
    });

    // -------------------------------------------------------------------------------------- the matrix
    const pairs = PARTS.flatMap((part, i) => WHOLES.map((whole, j) => element("button", {
      class: `pick ${part}`, "data-role": `pick-${part}-${whole}`, "aria-label": `Show the matrix from the ${part} to the ${whole}`,
      onclick: () => {
        chosen = [i, j];
        schedule();
      },
    }, element("span", { class: "sign", "aria-hidden": "true" }, SIGNS[part]), ` → ${whole}`)));
    const cells = (count, kind) => Array.from({ length: count }, () => element("span", { class: kind }));
    const [cellsV, cellsW, cellsU] = [cells(4, "out"), cells(16, "entry"), cells(4, "in")];
    const bracket = (kind, contents) => element("span", { class: `bracket ${kind}` }, ...contents);
    const product = element("div", { class: "product", role: "img", "data-role": "product" },
      element("span", { class: "over" }, "û"), element("span"), element("span", { class: "over" }, "W"), element("span"), element("span", { class: "over" }, "u"), element("span"),
      bracket("four", cellsV), element("span", {}, "="), bracket("square", cellsW), element("span", {}, "·"), bracket("four", cellsU),
      bracket("names", ["cos", "sin", "x", "y"].map((name) => element("span", {}, name))));

    const button = (role, text, work) => element("button", { "data-role": role, onclick: work }, text);
    const bar = element("div", { class: "bar" },
      button("make-house", "Make a house", () => go(arranged(0, poses, places))),
      button("make-boat", "Make a boat", () => go(arranged(1, poses, places))),
      button("turn-both", `Turn both by ${TURN}°`, () => go(turned(poses, TURN), `Both parts turned by ${TURN}° about the middle, and all four predictions turned with them. The distances are what they were, and no matrix changed.`)));
    const remark = element("p", { class: "remark", "data-role": "remark" });
    root.append(
      element("div", { class: "part-votes" },
        element("div", { class: "parts-side" }, element("p", { class: "heading" }, "Two parts"), scene, bar),
        element("div", { class: "wholes-side" },
          element("div", { class: "panels" }, ...panels.map(({ panel }) => panel)),
          element("div", { class: "picks", role: "group", "aria-label": "Which matrix to show" }, ...pairs), product)),
      remark);

    // ---------------------------------------------------------------------------------------- drawing
    function draw() {
      const u_hat = votesOf(poses, weight);
      const apart = distancesOf(u_hat);
      const at = ([, x, y]) => [(HALF + x) * UNIT, (HALF - y) * UNIT];
      root.dataset.poses = poses.map((pose) => pose.map((x) => x.toFixed(4)).join(",")).join(";");
      root.dataset.uHat = u_hat.flat(2).map((x) => x.toFixed(4)).join(",");
      root.dataset.apart = apart.map((x) => x.toFixed(4)).join(",");

      PARTS.forEach((part, i) => {
        const u = capsuleOf(poses[i]);
        grips[i].setAttribute("transform", matrix(u));
        const { knob, arm } = turners[i];
        const top = ([cos, sin, x, y], up) => at([0, x - sin * up, y + cos * up]);
        const [[x1, y1], [x2, y2]] = [top(u, SHAPES[part].up), top(u, SHAPES[part].knob)];
        setAttributes(arm, { x1, y1, x2, y2 });
        knob.setAttribute("transform", `translate(${x2} ${y2})`);
        const where = `at ${format(poses[i][1], 1)}, ${format(poses[i][2], 1)}, turned by ${format(poses[i][0], 0)}°`;
        const heard = `${where}; house predictions ${format(apart[0])} apart, boat predictions ${format(apart[1])} apart`;
        setAttributes(grips[i], { "aria-valuenow": poses[i][1].toFixed(2), "aria-valuetext": heard });
        setAttributes(knob, { "aria-valuenow": poses[i][0].toFixed(0), "aria-valuetext": `${format(poses[i][0], 0)}°; ${heard}` });
      });

      WHOLES.forEach((whole, j) => {
        const { panel, picture, ghosts, links, bodies, verdict, distance } = panels[j];
        const agree = apart[j] < AGREE;
        panel.classList.toggle("agree", agree);
        verdict.textContent = agree ? "they agree" : "they disagree";
        distance.textContent = format(apart[j]);
        picture.setAttribute("aria-label", `The ${whole} that the triangle predicts and the one that the rectangle predicts: ${format(apart[j])} apart`);
        PARTS.forEach((_, i) => {
          const vote = u_hat[i][j];
          bodies[i].setAttribute("transform", matrix(capsuleOf(poses[i])));
          ghosts[i].setAttribute("transform", matrix(vote));
          const [[x1, y1], [x2, y2]] = [at(poses[i]), at([0, vote[2], vote[3]])];
          setAttributes(links[i], { x1, y1, x2, y2 });
        });
      });
      drawProduct(u_hat);
      remark.textContent = said || inWords(apart);
      announce(remark.textContent);
    }

    function drawProduct(u_hat) {
      const [i, j] = chosen;
      const u = capsuleOf(poses[i]);
      pairs.forEach((pair, k) => pair.setAttribute("aria-pressed", String(k === i * 2 + j)));
      const entry = (row, column) => weight[((i * 2 + j) * 4 + column) * 4 + row]; // stored [D_in, D_out]: û_d = Σ u_e W_ed
      cellsW.forEach((cell, k) => (cell.textContent = short(entry(k >> 2, k & 3))));
      cellsW.forEach((cell, k) => cell.classList.toggle("zero", Math.abs(entry(k >> 2, k & 3)) < 1e-6));
      cellsU.forEach((cell, d) => (cell.textContent = format(u[d])));
      cellsV.forEach((cell, d) => (cell.textContent = format(u_hat[i][j][d])));
      product.className = `product ${PARTS[i]}`;
      product.setAttribute("aria-label", `The ${PARTS[i]}'s prediction of the ${WHOLES[j]}: ${u_hat[i][j].map((x) => format(x)).join(", ")}; from its own pose: ${u.map((x) => format(x)).join(", ")}`);
    }
    const schedule = oncePerFrame(draw);

    // ----------------------------------------------------------------------------------------- moving
    function move(i, [angle, x, y]) {
      halt();
      said = "";
      chosen = [i, chosen[1]];
      poses[i] = [wrap(angle), ...within([x, y], FARTHEST)].map((n) => Math.round(n * 1000) / 1000);
      model.set("poses", copy(poses));
      schedule();
    }

    /** All parts to their new poses, the short way round. */
    function go(target, words = "") {
      halt();
      said = words;
      const from = copy(poses);
      const turns = target.map(([angle], i) => wrap(angle - from[i][0]));
      const started = performance.now();
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      root.dataset.moving = "true";
      const step = (now) => {
        const t = still ? 1 : clamp((now - started) / MOMENT, 0, 1);
        const share = t * t * (3 - 2 * t);
        poses = from.map(([angle, x, y], i) => [wrap(angle + share * turns[i]), x + share * (target[i][1] - x), y + share * (target[i][2] - y)]);
        if (t === 1) {
          poses = copy(target);
          halt();
          model.set("poses", copy(poses));
          model.save_changes();
        } else frame = requestAnimationFrame(step);
        draw();
      };
      frame = requestAnimationFrame(step);
    }

    function halt() {
      cancelAnimationFrame(frame);
      delete root.dataset.moving;
    }

    // ------------------------------------------------------------------------------- mouse, touch, keys
    /** `to(now, then, start)`: the pointer's place now and when it went down, and the part's pose then. */
    function drag(grip, to, i) {
      let then, start;
      const at = (event) => {
        const box = scene.getBoundingClientRect();
        return [((event.clientX - box.left) / box.width * 2 - 1) * HALF, (1 - (event.clientY - box.top) / box.height * 2) * HALF];
      };
      grip.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        event.preventDefault();
        halt();
        grip.setPointerCapture(event.pointerId);
        grip.focus({ preventScroll: true });
        [then, start] = [at(event), poses[i].slice()];
      });
      grip.addEventListener("pointermove", (event) => grip.hasPointerCapture(event.pointerId) && to(at(event), then, start));
      grip.addEventListener("lostpointercapture", () => model.save_changes());
    }

    function keys(grip, work) {
      grip.addEventListener("keydown", (event) => {
        if (!(event.key in KEYS)) return;
        event.preventDefault();
        work(KEYS[event.key], event);
        model.save_changes();
      });
    }

    const stopListening = listen(model, {
      poses: () => {
        if (String(model.get("poses")) === String(poses)) return; // our own
        poses = copy(model.get("poses"));
        schedule();
      },
    });
    draw();
    return [stopListening, halt, schedule.cancel, announce.cancel];
  });
}

/** What there is to see. */
function inWords([house, boat]) {
  if (house < AGREE) return "Both parts predict the same house: same place, same angle. About a boat they disagree. So a house it is.";
  if (boat < AGREE) return "Both parts predict the same boat: same place, same angle. About a house they disagree. So a boat it is.";
  if (house < 1 || boat < 1) return `Nearly. The two predictions of the ${house < boat ? "house" : "boat"} come together; push or turn a part until they coincide.`;
  return "Both parts are here, but they expect different houses and different boats. Parts alone are no whole.";
}

const copy = (poses) => poses.map((pose) => pose.slice());

/** An entry of W: as few decimals as it needs, two at most. */
const short = (x) => format(x, [0, 1].find((decimals) => Math.abs(x - x.toFixed(decimals)) < 1e-6) ?? 2);

export default { render };
