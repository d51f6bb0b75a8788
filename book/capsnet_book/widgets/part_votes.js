// Two parts to drag. Each predicts a house and a boat with a matrix of its own: û_j|i = W_ij u_i.
import {
  AGREE,
  arranged,
  capsuleOf,
  distancesOf,
  FARTHEST,
  matrixOf,
  moved,
  PARTS,
  remarkOn,
  shortest,
  turned,
  votesOf,
  WHOLES,
  wayTo,
} from "./part_votes_model.js";
import { arrowKeys, drag, glide, grip } from "./shared/controls.js";
import { layOut } from "./shared/stage.js";
import {
  element,
  format,
  listen,
  makeRoot,
  mount,
  oncePerFrame,
  pushButton,
  save,
  setAttributes,
  svg,
} from "./shared/ui.js";

const HALF = 3.4; // the picture shows -HALF … HALF, both ways
const UNIT = 40; // units of the viewBox in a unit of the plane
const SIZE = 2 * HALF * UNIT; // of the viewBox
const TURN = 30; // degrees
const MOMENT = 450; // milliseconds that an animation takes

// Outlines, in the part's or the whole's own axes: y points up.
const SHAPES = {
  triangle: { body: "M-1.1 -.45H1.1L0 .75Z", up: 0.75, knob: 1.25 },
  rectangle: { body: "M-1.1 -.5H1.1V.5H-1.1Z", up: 0.5, knob: 1.05 },
};
const WAVES = "M-1.7 -1.62q.28 .3 .57 0t.57 0t.57 0t.57 0t.57 0t.57 0";
const OUTLINES = {
  house: "M-1.1 -.05H1.1L0 1.15ZM-1.1 -1.05H1.1V-.05H-1.1ZM-.22 -1.05V-.45H.22V-1.05",
  boat: `M-1.1 -1.4H1.1V-.4H-1.1ZM-.25 -.4V1.8L.95 .7Z ${WAVES}`,
};

/** The transform that puts an outline where (p, q, x, y) says, in the units of the viewBox, whose y points down. */
const placeAt = (/** @type {number[]} */ [p, q, x, y]) =>
  `matrix(${[p, -q, -q, -p].map((n) => n * UNIT)} ${(HALF + x) * UNIT} ${(HALF - y) * UNIT})`;
const onView = (x, y) => [(HALF + x) * UNIT, (HALF - y) * UNIT];

/** A line from a point of the view to another. */
const join = (/** @type {SVGElement} */ line, /** @type {number[]} */ [x1, y1], /** @type {number[]} */ [x2, y2]) =>
  setAttributes(line, { x1, y1, x2, y2 });

const where = (/** @type {number[]} */ [angle, x, y]) =>
  `at ${format(x, 1)}, ${format(y, 1)}, turned by ${format(angle, 0)}°`;

// ---------------------------------------------------------------------------------------------- the parts

/**
 * The picture whose parts are dragged and turned.
 * @param {{ poseOf: (i: number) => number[], move: (i: number, pose: number[]) => void, halt(): void, done(): void }} _
 */
function makeScene({ poseOf, move, halt, done }) {
  const parts = PARTS.map(makePart);
  const turners = PARTS.map(makeTurner);
  const scene = svg(
    "svg",
    { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "plane scene", "data-role": "scene" },
    svg("path", { class: "axis", d: `M0 ${SIZE / 2}H${SIZE}M${SIZE / 2} 0V${SIZE}` }),
    ...parts,
    ...turners.flatMap(({ arm, knob }) => [arm, knob]),
  );
  PARTS.forEach((_, i) => {
    follow(parts[i], i, ([x, y], [x0, y0], [angle, atX, atY]) => [angle, atX + x - x0, atY + y - y0]);
    follow(turners[i].knob, i, ([x, y], _, [angle, atX, atY]) => [angleTo(x - atX, y - atY) ?? angle, atX, atY]);
    pressed(parts[i], i, ([angle, x, y], dx, dy, fast) => [
      angle,
      x + dx * (fast ? 0.5 : 0.1),
      y - dy * (fast ? 0.5 : 0.1),
    ]);
    pressed(turners[i].knob, i, ([angle, x, y], dx, dy, fast) => [angle - (dx + dy) * (fast ? 15 : 5), x, y]);
  });

  /** `to(now, then, start)`: the pointer's place now and when it went down, and the part's pose then -> its pose. */
  function follow(node, i, to) {
    let then, start;
    const inPlane = ({ x, y }) => [(2 * x - 1) * HALF, (1 - 2 * y) * HALF];
    drag(node, {
      area: scene,
      focus: node,
      start: (at) => {
        halt();
        [then, start] = [inPlane(at), poseOf(i).slice()];
      },
      move: (at) => move(i, to(inPlane(at), then, start)),
      end: done,
    });
  }

  function pressed(node, i, to) {
    arrowKeys(node, (dx, dy, event) => {
      move(i, to(poseOf(i), dx, dy, event.shiftKey));
      done();
    });
  }

  function show(poses, apart) {
    const distances = `house predictions ${format(apart[0])} apart, boat predictions ${format(apart[1])} apart`;
    poses.forEach((pose, i) => {
      const [cos, sin, x, y] = capsuleOf(pose);
      const { up, knob: far } = SHAPES[PARTS[i]];
      const above = (by) => onView(x - sin * by, y + cos * by);
      const { knob, arm } = turners[i];
      const valueText = `${where(pose)}; ${distances}`;
      join(arm, above(up), above(far));
      knob.setAttribute("transform", `translate(${above(far).join(" ")})`);
      setAttributes(parts[i], {
        transform: placeAt([cos, sin, x, y]),
        "aria-valuenow": pose[1].toFixed(2),
        "aria-valuetext": valueText,
      });
      setAttributes(knob, {
        "aria-valuenow": pose[0].toFixed(0),
        "aria-valuetext": `${format(pose[0], 0)}°; ${valueText}`,
      });
    });
  }

  return { scene, show };
}

/** The angle of an arrow from a part's middle, in degrees from upright; undefined where there is none. */
const angleTo = (dx, dy) => (dx || dy ? (Math.atan2(-dx, dy) * 180) / Math.PI : undefined);

function makePart(part) {
  const { body, up } = SHAPES[part];
  const label = `The ${part}. Arrow keys move it.`;
  return svg(
    "g",
    {
      class: `part ${part}`,
      tabindex: 0,
      role: "slider",
      "data-role": part,
      "aria-label": label,
      "aria-valuemin": -FARTHEST,
      "aria-valuemax": FARTHEST,
    },
    svg("path", { class: "body", d: body }),
    svg("path", { class: "tick", d: `M0 0V${up}` }),
  );
}

function makeTurner(part) {
  const knob = grip(
    {
      class: `handle ${part}`,
      "data-role": `turn-${part}`,
      "aria-label": `Angle of the ${part}. Arrow keys turn it.`,
      "aria-valuemin": -180,
      "aria-valuemax": 180,
    },
    12,
    7,
  );
  return { knob, arm: svg("line", { class: `arm ${part}` }) };
}

// -------------------------------------------------------------------------------------------- what they predict

/** The two predictions of one whole, and whether they agree. */
function makePanel(whole) {
  const each = (make) => PARTS.map(make);
  const ghosts = each((part) =>
    svg(
      "g",
      { class: `ghost ${part}` },
      svg("path", { class: "outline", d: OUTLINES[whole] }),
      svg("circle", { class: "middle", r: 0.13 }),
    ),
  );
  const links = each((part) => svg("line", { class: `link ${part}` }));
  const bodies = each((part) => svg("path", { class: `faint ${part}`, d: SHAPES[part].body }));
  const picture = svg(
    "svg",
    { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "plane", role: "img" },
    ...bodies,
    ...links,
    ghosts[1],
    ghosts[0],
  ); // the dashed ones on top
  const verdict = element("span", { class: "verdict-word" });
  const distance = element("output", {});
  const panel = element(
    "figure",
    { class: "panel", "data-role": whole },
    element("p", { class: "heading" }, `Predicted: a ${whole}`),
    picture,
    element("figcaption", {}, verdict, element("span", {}, "distance ", distance)),
  );

  /** votes: a prediction of each part, [2][4]; apart: the distance between them. */
  function show(poses, votes, apart) {
    const agree = apart < AGREE;
    panel.classList.toggle("agree", agree);
    verdict.textContent = agree ? "they agree" : "they disagree";
    distance.textContent = format(apart);
    const both = `The ${whole} that the triangle predicts and the one that the rectangle predicts`;
    picture.setAttribute("aria-label", `${both}: ${format(apart)} apart`);
    poses.forEach((pose, i) => {
      bodies[i].setAttribute("transform", placeAt(capsuleOf(pose)));
      ghosts[i].setAttribute("transform", placeAt(votes[i]));
      join(links[i], onView(pose[1], pose[2]), onView(votes[i][2], votes[i][3]));
    });
  }

  return { panel, show };
}

/** û = W · u of the chosen pair, in numbers. */
function makeProduct() {
  const cells = (count, kind) => Array.from({ length: count }, () => element("span", { class: kind }));
  const [cellsV, cellsW, cellsU] = [cells(4, "out"), cells(16, "entry"), cells(4, "in")];
  const bracket = (kind, contents) => element("span", { class: `bracket ${kind}` }, ...contents);
  const over = (sign) => element("span", { class: "over" }, sign);
  const node = element(
    "div",
    { class: "product", role: "img", "data-role": "product" },
    over("û"),
    element("span"),
    over("W"),
    element("span"),
    over("u"),
    element("span"),
    bracket("four", cellsV),
    element("span", {}, "="),
    bracket("square", cellsW),
    element("span", {}, "·"),
    bracket("four", cellsU),
    bracket(
      "names",
      ["cos", "sin", "x", "y"].map((name) => element("span", {}, name)),
    ),
  );

  /** @param {number[]} pair @param {number[]} u @param {number[]} vote @param {Float64Array} weight */
  function show([i, j], u, vote, weight) {
    matrixOf(weight, i, j).forEach((entry, k) => {
      cellsW[k].textContent = shortest(entry);
      cellsW[k].classList.toggle("zero", Math.abs(entry) < 1e-6);
    });
    const [from, to] = [u, vote].map((numbers) => numbers.map((x) => format(x)));
    cellsU.forEach((cell, d) => (cell.textContent = from[d]));
    cellsV.forEach((cell, d) => (cell.textContent = to[d]));
    node.className = `product ${PARTS[i]}`;
    const prediction = `The ${PARTS[i]}'s prediction of the ${WHOLES[j]}: ${to.join(", ")}`;
    node.setAttribute("aria-label", `${prediction}; from its own pose: ${from.join(", ")}`);
  }

  return { node, show };
}

// ------------------------------------------------------------------------------------------------- the widget

const TURNED =
  `Both parts turned by ${TURN}° about the middle, and all four predictions turned with them. ` +
  "The distances are what they were, and no matrix changed.";

const copy = (poses) => poses.map((pose) => pose.slice());

function build(root, model) {
  const weight = Float64Array.from(model.get("weight"));
  const places = model.get("places");
  let poses = copy(model.get("poses"));
  let last = 0; // the part that moved last
  let notice = ""; // what a button did, until something else moves
  let stop = () => {}; // the animation

  const { scene, show: showParts } = makeScene({
    poseOf: (i) => poses[i],
    move,
    halt,
    done: () => model.save_changes(),
  });
  const panels = WHOLES.map(makePanel);
  const product = makeProduct();
  const bar = element(
    "div",
    { class: "bar" },
    pushButton("make-house", "Make a house", () => go(arranged(0, poses, places))),
    pushButton("make-boat", "Make a boat", () => go(arranged(1, poses, places))),
    pushButton("turn-both", `Turn both by ${TURN}°`, () => go(turned(poses, TURN), TURNED)),
  );
  const heading = element("p", { class: "heading" }, "Two parts");
  const { say, stop: stopSaying } = layOut(root, {
    stage: element(
      "div",
      { class: "part-votes" },
      element("div", { class: "parts-side" }, heading, scene),
      element("div", { class: "panels" }, ...panels.map(({ panel }) => panel)),
    ),
    hands: [bar],
    more: [product.node],
    about: "The matrix of the part that moved last",
  });

  function draw() {
    const u_hat = votesOf(poses, weight);
    const apart = distancesOf(u_hat);
    const nearer = apart[0] <= apart[1] ? 0 : 1; // the whole on which they are nearer to agreeing
    root.dataset.apart = apart.map((x) => x.toFixed(4)).join(",");
    showParts(poses, apart);
    panels.forEach(({ show }, whole) =>
      show(
        poses,
        u_hat.map((votes) => votes[whole]),
        apart[whole],
      ),
    );
    product.show([last, nearer], capsuleOf(poses[last]), u_hat[last][nearer], weight);
    say(notice || remarkOn(apart));
  }
  const schedule = oncePerFrame(draw);

  function move(i, pose) {
    halt();
    notice = "";
    last = i;
    poses = moved(poses, i, pose);
    model.set("poses", copy(poses));
    schedule();
  }

  /** All parts to their new poses. */
  function go(target, words = "") {
    halt();
    notice = words;
    const way = wayTo(poses, target);
    root.dataset.moving = "true";
    stop = glide(
      MOMENT,
      (t) => {
        poses = way(t);
        if (t === 1) halt();
        draw();
      },
      () => save(model, { poses: copy(poses) }),
    );
  }

  function halt() {
    stop();
    delete root.dataset.moving;
  }

  const stopListening = listen(model, {
    poses: () => {
      if (String(model.get("poses")) === String(poses)) return; // our own
      poses = copy(model.get("poses"));
      schedule();
    },
  });
  draw();
  return [stopListening, halt, schedule.cancel, stopSaying];
}

function render({ model, el }) {
  const root = makeRoot("PartVotes", "Drag two parts and watch the wholes that they predict");
  return mount(el, root, () => build(root, model));
}

export default { render };
