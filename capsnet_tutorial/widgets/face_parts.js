// The parts of a face to drag. A bag of parts asks whether each is there; a face capsule asks whether they agree.
import { norm, predictionVectors, route } from "./shared/core.js";
import { bytesOf, clamp, element, format, listen, makeAnnouncer, makeRoot, mount, oncePerFrame, setAttributes, svg } from "./shared/ui.js";

const PARTS = ["left eye", "right eye", "nose", "mouth"];
const KINDS = { eye: [0, 1], nose: [2], mouth: [3] }; // a bag does not tell one eye from the other
const FACE = [[-0.38, -0.22, 0, 1], [0.38, -0.22, 0, 1], [0, 0.12, 0, 1], [0, 0.52, 0, 1]];
const PICASSO = [[0.42, 0.5, 35, 1], [-0.3, -0.62, -20, 1.2], [0.55, -0.3, 70, 1], [-0.5, 0.25, -60, 1]];
const [I, J, D_in, WAVES] = [4, 10, 4, 8];
const D = 2 * WAVES;
const VOICE = 2.5; // the length of one prediction vector
const ROUNDS = 3;
const REACH = 1.6; // no part leaves this disc
const SIZES = [0.5, 1.6];
const TURN = 30; // degrees, by which the button turns the whole
const SIDE_OF_VIEW = 340; // of the picture, in the units of its viewBox
const UNIT = 88; // half the height of a head
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const DEGREE = Math.PI / 180;

// -------------------------------------------------------------------------------------------- the model

/** (x, y, turn, size) of each part -> u [I, D_in] = (x, y, size·cos, size·sin) */
export function poseNumbers(poses) {
  return Float32Array.from(poses.flatMap(([x, y, turn, size]) => [x, y, size * Math.cos(turn * DEGREE), size * Math.sin(turn * DEGREE)]));
}

/** An opinion (x, y, a, b) as a vector of 16 numbers, always VOICE long: the same opinion, the same direction. */
export function inWaves(opinion, waves) {
  const u_hat = new Float32Array(D);
  const scale = VOICE / Math.sqrt(WAVES);
  for (let m = 0; m < WAVES; m++) {
    let phase = 0;
    for (let d = 0; d < D_in; d++) phase += waves[m * D_in + d] * opinion[d];
    u_hat[m] = scale * Math.cos(phase);
    u_hat[WAVES + m] = scale * Math.sin(phase);
  }
  return u_hat;
}

/**
 * What the parts say, and what becomes of it. weight [I, J, D_in, D_in] and waves [WAVES, D_in] -> opinions [I][4]
 * about the face, couplings [I] to it, the lengths of all J wholes, the face's pose, and the bag's score.
 */
export function judge(poses, shown, weight, waves) {
  const all = predictionVectors(poseNumbers(poses), { shape: [I, J, D_in, D_in], data: weight }); // [I, J, 4]
  const u_hat = new Float32Array(I * J * D); // a part that is not there says nothing: 0
  for (let k = 0; k < I * J; k++) {
    if (shown[Math.floor(k / J)]) u_hat.set(inWaves(all.subarray(k * D_in, (k + 1) * D_in), waves), k * D);
  }
  const { c, v } = route(u_hat, I, J, D, ROUNDS);
  const couplings = Array.from({ length: I }, (_, i) => (shown[i] ? c[ROUNDS - 1][i * J] : 0));
  const opinions = Array.from({ length: I }, (_, i) => Array.from(all.subarray(i * J * D_in, i * J * D_in + D_in)));
  const total = couplings.reduce((sum, c_i) => sum + c_i, 0);
  const face = Array.from({ length: D_in }, (_, d) => opinions.reduce((sum, p, i) => sum + couplings[i] * p[d], 0) / (total || 1));
  const found = Object.values(KINDS).map((parts) => Math.max(...parts.map((i) => Number(shown[i])))); // the max pooling
  return {
    opinions, couplings, face, found,
    lengths: Array.from({ length: J }, (_, j) => norm(v[ROUNDS - 1], j * D, D)),
    bag: found.reduce((sum, x) => sum + x, 0) / found.length,
  };
}

/** (x, y, a, b) -> (x, y, turn, size) */
export function readPose([x, y, a, b]) {
  return [x, y, Math.atan2(b, a) / DEGREE, Math.hypot(a, b)];
}

// ------------------------------------------------------------------------------------------- the widget

function render({ model, el }) {
  const root = makeRoot("FaceParts", "Move the parts of a face; a bag of parts and a face capsule judge");
  return mount(el, root, () => {
    const floats = (name) => new Float32Array(bytesOf(model.get(name)).slice().buffer);
    const [weight, waves] = [floats("weight"), floats("waves")];
    const calm = matchMedia("(prefers-reduced-motion: reduce)");
    let poses = model.get("poses").map((pose) => [...pose]);
    let shown = [...model.get("shown")];
    let chosen = 3;
    let frame = 0; // of the animation that is under way

    // ------------------------------------------------------------------------------------ the picture
    const half = SIDE_OF_VIEW / 2;
    const onView = ([x, y, turn, size]) => `translate(${half + x * UNIT} ${half + y * UNIT}) rotate(${turn}) scale(${size * UNIT})`;
    const place = ([x, y]) => [half + x * UNIT, half + y * UNIT];
    const outline = (kind) => svg("path", { class: `outline ${kind}`, d: HEAD, "vector-effect": "non-scaling-stroke" });
    const whole = outline("whole");
    const ghosts = PARTS.map((_, i) => outline(`part-${i}`));
    const threads = PARTS.map((_, i) => svg("path", { class: `thread part-${i}` }));
    const centres = PARTS.map((_, i) => svg("circle", { class: `centre part-${i}`, r: 4.5 }));
    const parts = PARTS.map((name, i) => svg("g", {
      class: `part part-${i}`, tabindex: 0, role: "slider", "data-part": i, "aria-valuemin": -REACH, "aria-valuemax": REACH,
      "aria-label": `${capital(name)}. Arrow keys move it, Delete takes it away or puts it back.`,
      onfocus: () => choose(i),
      onkeydown: (event) => pressed(event, i),
    }, svg("circle", { class: "touch", r: 26 }), svg("circle", { class: "ring", r: 26 }), svg("g", { class: "drawing-of" }, ...drawingOf(i))));
    const picture = svg("svg", { viewBox: `0 0 ${SIDE_OF_VIEW} ${SIDE_OF_VIEW}`, class: "plane face", "data-role": "picture" },
      whole, ...ghosts, ...threads, ...parts, ...centres);

    // ----------------------------------------------------------------------------------- the verdicts
    const bag = makeVerdict("bag", "Bag of parts", "Is each kind of part somewhere?");
    const kinds = Object.keys(KINDS).map((kind) => element("span", { class: "kind", "data-kind": kind }));
    bag.node.append(element("p", { class: "kinds" }, ...kinds));
    const capsule = makeVerdict("capsule", "Face capsule", "Do the parts agree on a face?");
    const pose = element("p", { class: "pose", "data-role": "pose" });
    capsule.node.append(pose);

    const heads = ["says: the face is at", "turned", "size", "gives it"];
    const rows = PARTS.map((name, i) => {
      const cells = heads.map(() => element("td", {}));
      const row = element("tr", { "data-row": i },
        element("th", { scope: "row" }, element("span", { class: `swatch part-${i}` }), name), ...cells);
      return { row, cells };
    });
    const table = element("table", { class: "opinions" },
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "part"), ...heads.map((head) => element("th", { scope: "col" }, head)))),
      element("tbody", {}, ...rows.map(({ row }) => row)));

    // ----------------------------------------------------------------------------------- the controls
    const turn = makeSlider("turn", "Turn", -180, 180, 1, 0, 2);
    const size = makeSlider("size", "Size", ...SIZES, 0.01, 1, 3);
    const name = element("span", { class: "chosen", "data-role": "chosen" });
    const away = element("button", { type: "button", "data-role": "away", onclick: () => show(chosen, !shown[chosen]) });
    const button = (role, text, onclick) => element("button", { type: "button", "data-role": role, onclick }, text);
    const bar = element("div", { class: "bar presets" },
      button("face", "A face", () => glide(between(FACE))),
      button("picasso", "Picasso", () => glide(between(PICASSO))),
      button("turn-whole", "Turn the whole", () => glide(turned(poses, TURN))));
    const remark = element("p", { class: "remark", "data-role": "remark" });
    root.append(
      element("div", { class: "faces" },
        element("div", {}, picture, bar),
        element("div", { class: "verdicts" }, bag.node, capsule.node,
          element("div", { class: "one-part" }, element("p", { class: "about" }, name, away), turn.row, size.row))),
      table, remark);
    const announce = makeAnnouncer(root);

    function makeSlider(role, text, min, max, step, zero, which) {
      const value = element("output", { "aria-hidden": "true" });
      const input = element("input", {
        type: "range", min, max, step, value: zero, "data-role": role,
        oninput: () => change(chosen, { [which]: input.valueAsNumber }),
        onchange: () => model.save_changes(),
        ondblclick: () => change(chosen, { [which]: zero }, true),
      });
      const share = (x) => `${((x - min) / (max - min)) * 100}%`;
      input.style.setProperty("--zero", share(zero));
      const set = (x, said) => {
        input.valueAsNumber = x;
        input.style.setProperty("--at", share(x));
        value.textContent = said;
        setAttributes(input, { "aria-label": `${text} the ${PARTS[chosen]}`, "aria-valuetext": said });
      };
      return { row: element("div", { class: "adjust" }, element("span", {}, text), input, value), set };
    }

    // ---------------------------------------------------------------------------------------- drawing
    function draw() {
      const { opinions, couplings, face, found, lengths, bag: score } = judge(poses, shown, weight, waves);
      const length = lengths[0];
      const seen = readPose(face);
      setAttributes(whole, { transform: onView(seen), opacity: (length * length).toFixed(3) });
      opinions.map(readPose).forEach((opinion, i) => {
        const [from, to] = [place(poses[i]), place(opinion)];
        setAttributes(ghosts[i], { transform: onView(opinion) });
        threads[i].setAttribute("d", `M${from}L${to}`);
        setAttributes(centres[i], { cx: to[0], cy: to[1] });
        for (const node of [ghosts[i], threads[i], centres[i]]) node.toggleAttribute("hidden", !shown[i]);

        const [x, y, turnOf, sizeOf] = poses[i];
        setAttributes(parts[i], { transform: `translate(${from})`, "aria-valuenow": x.toFixed(2) });
        parts[i].setAttribute("aria-valuetext", `${shown[i] ? "" : "taken away, "}${format(x)} across, ${format(y)} down, turned ${format(turnOf, 0)} degrees`);
        parts[i].classList.toggle("away", !shown[i]);
        parts[i].classList.toggle("is-chosen", i === chosen);
        parts[i].lastChild.setAttribute("transform", `rotate(${turnOf}) scale(${sizeOf * UNIT})`);

        const texts = [`(${format(opinion[0])}, ${format(opinion[1])})`, degrees(opinion[2]), format(opinion[3]), `${Math.round(100 * couplings[i])} %`];
        rows[i].cells.forEach((cell, k) => (cell.textContent = shown[i] ? texts[k] : "–"));
        rows[i].row.classList.toggle("away", !shown[i]);
      });
      bag.set(score);
      capsule.set(length);
      Object.keys(KINDS).forEach((kind, k) => {
        kinds[k].textContent = `${kind} ${found[k] ? "✓" : "✗"}`;
        kinds[k].classList.toggle("missing", !found[k]);
      });
      pose.textContent = length < 0.5 ? "no pose worth naming" : `at (${format(seen[0])}, ${format(seen[1])}), turned ${degrees(seen[2])}, size ${format(seen[3])}`;
      name.textContent = `The ${PARTS[chosen]}`;
      away.textContent = shown[chosen] ? "Take away" : "Put back";
      turn.set(poses[chosen][2], degrees(poses[chosen][2]));
      size.set(poses[chosen][3], format(poses[chosen][3]));
      remark.textContent = inWords(length, score, opinions, shown, seen);
      setAttributes(root, {
        "data-bag": score.toFixed(4), "data-length": length.toFixed(4), "data-turn": seen[2].toFixed(2),
        "data-couplings": couplings.map((c) => c.toFixed(4)).join(","), "data-opinions": opinions.flat().map((x) => x.toFixed(4)).join(","),
      });
      announce(`Bag of parts ${format(score)}. Face capsule ${format(length)} long, ${pose.textContent}.`);
    }
    const schedule = oncePerFrame(draw);

    // ---------------------------------------------------------------------------------------- actions
    function setPoses(to, save = false) {
      poses = to.map(tidy);
      model.set("poses", poses.map((pose) => [...pose]));
      if (save) model.save_changes();
      schedule();
    }

    function change(i, by, save = false) {
      halt();
      setPoses(poses.map((pose, k) => (k === i ? Object.assign([...pose], by) : pose)), save);
    }

    function show(i, whether) {
      shown = shown.map((value, k) => (k === i ? whether : value));
      model.set("shown", [...shown]);
      model.save_changes();
      schedule();
    }

    function showAll() {
      shown = PARTS.map(() => true);
      model.set("shown", [...shown]);
    }

    function choose(i) {
      chosen = i;
      schedule();
    }

    /** Moves all parts along `path`, from path(0) to path(1); at once, where motion is not wanted. */
    function glide(path) {
      halt();
      if (shown.includes(false)) showAll();
      if (calm.matches) return setPoses(path(1), true);
      const start = performance.now();
      const step = (now) => {
        const t = clamp((now - start) / 450, 0, 1);
        setPoses(path(t * t * (3 - 2 * t)), t === 1);
        frame = t < 1 ? requestAnimationFrame(step) : 0;
      };
      frame = requestAnimationFrame(step);
    }

    function halt() {
      cancelAnimationFrame(frame);
      frame = 0;
    }

    function between(goal) {
      const start = poses;
      const mixed = (from, to, t) => from + (to - from) * t;
      return (t) => start.map((pose, i) => pose.map((x, k) => mixed(x, k === 2 ? x + around(goal[i][2] - x) : goal[i][k], t)));
    }

    // ------------------------------------------------------------------------------- mouse, touch, keys
    const at = (event) => {
      const box = picture.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top].map((x) => ((x / box.width) * SIDE_OF_VIEW - half) / UNIT);
    };
    let held; // [part, where it was taken hold of]
    parts.forEach((part, i) => {
      part.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        event.preventDefault();
        part.setPointerCapture(event.pointerId);
        part.focus({ preventScroll: true });
        const [x, y] = at(event);
        held = [i, poses[i][0] - x, poses[i][1] - y];
      });
      part.addEventListener("pointermove", (event) => {
        if (held?.[0] !== i || !part.hasPointerCapture(event.pointerId)) return;
        const [x, y] = at(event);
        change(i, { 0: x + held[1], 1: y + held[2] });
      });
      part.addEventListener("lostpointercapture", () => {
        held = undefined;
        model.save_changes();
      });
    });

    function pressed(event, i) {
      const by = event.shiftKey ? 0.25 : 0.05;
      if (event.key in KEYS) change(i, { 0: poses[i][0] + KEYS[event.key][0] * by, 1: poses[i][1] + KEYS[event.key][1] * by }, true);
      else if (event.key === "Delete" || event.key === "Backspace") show(i, !shown[i]);
      else return;
      event.preventDefault();
    }

    const stopListening = listen(model, {
      poses: () => {
        poses = model.get("poses").map((pose) => [...pose]);
        schedule();
      },
      shown: () => {
        shown = [...model.get("shown")];
        schedule();
      },
    });
    draw();
    return [stopListening, halt, announce.cancel, schedule.cancel];
  });
}

/** A pose within bounds: inside the disc, turned by −180° to 180°, of a possible size, rounded. */
function tidy([x, y, turn, size]) {
  const out = Math.max(1, Math.hypot(x, y) / REACH);
  const round = (value) => Math.round(value * 1e4) / 1e4;
  return [round(x / out), round(y / out), round(around(turn)), clamp(round(size), ...SIZES)];
}

/** The same angle between −180° and 180°; both of these stay. */
function around(angle) {
  return Math.abs(angle) <= 180 ? angle : angle - 360 * Math.round(angle / 360);
}

/** A path that turns all parts together about the centre of the picture. */
export function turned(start, angle) {
  return (t) => start.map(([x, y, turn, size]) => {
    const [cos, sin] = [Math.cos(angle * t * DEGREE), Math.sin(angle * t * DEGREE)];
    return [cos * x - sin * y, sin * x + cos * y, turn + angle * t, size];
  });
}

/** How many of the opinions agree with one of them, and which do not. */
function camps(opinions, shown) {
  const near = (p, q) => Math.hypot(...p.map((x, d) => x - q[d])) < 0.35;
  const there = opinions.map((_, i) => i).filter((i) => shown[i]);
  const groups = there.map((i) => there.filter((k) => near(opinions[i], opinions[k])));
  const largest = groups.reduce((best, group) => (group.length > best.length ? group : best), []);
  return { together: largest, apart: there.filter((i) => !largest.includes(i)) };
}

/** What there is to see. */
function inWords(length, bag, opinions, shown, [, , turn]) {
  const { together, apart } = camps(opinions, shown);
  const there = shown.filter(Boolean).length;
  if (there === 0) return "No parts, no opinions: both say 0.";
  if (there < 4) {
    const pooled = bag === 1 ? "The bag misses nothing: one eye is as good as two for a maximum. " : "What is missing, the bag notices: that is what it is good at. ";
    return pooled + (length > 0.5 ? "The parts that are left still agree on one face." : "The parts that are left make no face.");
  }
  if (apart.length === 0) {
    if (Math.abs(turn) > 5) return `All agree, and all say “turned by ${degrees(turn)}”. The length is what it was for the upright face; the pose has turned along.`;
    return "Four opinions, one face: the outlines lie on top of each other, and the capsule is long.";
  }
  if (together.length === 3) {
    return `Three parts agree; the ${PARTS[apart[0]]} thinks the face is somewhere else, or turned, or of another size. The other three still make a face.`;
  }
  if (length > 0.5) return "Some parts still agree, and the capsule is not sure. The bag is: nothing is missing.";
  return "Everything is there, so the bag is content. But each part believes in another face: their vectors point different ways, and the sum stays short.";
}

const degrees = (angle) => `${format(angle, 0)}°`;
const capital = (text) => text[0].toUpperCase() + text.slice(1);

function makeVerdict(role, title, question) {
  const value = element("span", { class: "value" });
  const fill = element("span", { class: "fill" });
  const rail = element("span", { class: "rail" }, fill);
  const node = element("div", { class: `verdict-of ${role}`, "data-role": role },
    element("p", { class: "title" }, element("strong", {}, title), value), rail, element("p", { class: "question" }, question));
  const set = (x) => {
    value.textContent = format(x);
    fill.style.width = `${(100 * x).toFixed(1)}%`;
  };
  return { node, set };
}

// ----------------------------------------------------------------------------------------- the drawings

const HEAD = "M0 -1C.5 -1 .78 -.62 .76 -.12C.74 .45 .42 1 0 1C-.42 1 -.74 .45 -.76 -.12C-.78 -.62 -.5 -1 0 -1M0 -1V-1.14";
const EYE = ["M-.2 0Q0 -.17 .2 0Q0 .15 -.2 0Z", "M-.07 0A.07 .07 0 1 1 .07 0A.07 .07 0 1 1 -.07 0Z", "M-.24 -.13Q-.12 -.28 .17 -.2", "M-.2 0L-.27 -.05M-.15 -.05L-.2 -.1"];
const NOSE = ["M.02 -.2Q-.06 0 -.12 .08Q-.1 .15 .01 .13Q.1 .15 .12 .08"];
const MOUTH = ["M-.27 -.04Q0 .22 .27 -.04Q.1 .03 0 0Q-.1 .03 -.27 -.04Z"];

/** Brow and lashes are at the outer side: a left eye is no right eye. */
function drawingOf(i) {
  const paths = [EYE, EYE, NOSE, MOUTH][i];
  const mirrored = i === 1 ? "scale(-1 1)" : undefined;
  return paths.map((d, k) => svg("path", { d, transform: mirrored, class: (i < 2 && k === 1) || i === 3 ? "full" : "line", "vector-effect": "non-scaling-stroke" }));
}

export default { render };
