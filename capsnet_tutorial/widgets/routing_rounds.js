// Routing by agreement, round by round. The network reads a digit once; its votes are routed again with every move of
// the hand: 72 × 10 votes of 16 numbers, ten rounds, a few milliseconds.
import { lengthsOf, makeNetwork, norm, route } from "./shared/core.js";
import { bytesOf, clamp, digitAt, element, format, listen, makeAnnouncer, makePainter, makeRoot, mount, oncePerFrame, setAttributes, sharedWeights, svg, thumbnail, whenResized, whenThemeChanges } from "./shared/ui.js";

const ROUNDS = 10;
const REACH = { x: 5, y: 2.2 }; // the plane shows -x … x and -y … y
const UNIT = 70; // of the plane's viewBox, a length of 1
const PLANE = { width: 2 * REACH.x * UNIT, height: 2 * REACH.y * UNIT };
const PACE = 1300; // milliseconds a round while playing
const GLIDE = 550; // of these in motion
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

// ------------------------------------------------------------------------------------- what is computed

/** How evenly each capsule shares itself out, in bits: log2 J if evenly, 0 if all goes to one. c [I, J] -> [I] */
export function entropiesOf(c, I, J) {
  const entropies = new Float64Array(I);
  for (let k = 0; k < I * J; k++) if (c[k] > 0) entropies[Math.floor(k / J)] -= c[k] * Math.log2(c[k]);
  return entropies;
}

export const mean = (values) => values.reduce((sum, x) => sum + x, 0) / values.length;

/**
 * The plane in which the votes for class j are drawn: `right` is the direction of v, so that a vote's place along it,
 * times ‖v‖, is its agreement; `up` is the direction in which the votes spread most beside it.
 * u_hat [I, J, D], v [J, D] -> two unit vectors [D], at right angles
 */
export function planeOf(u_hat, v, j, I, J, D) {
  const right = Float64Array.from(v.subarray(j * D, (j + 1) * D));
  if (norm(right) === 0) right[0] = 1; // no vote at all: any direction will do
  normalise(right);
  const beside = Array.from({ length: I }, (_, i) => {
    const vote = Float64Array.from(u_hat.subarray((i * J + j) * D, (i * J + j + 1) * D));
    return minus(vote, dot(vote, right), right);
  });
  // The first principal axis, by power iteration from the vote that lies farthest out.
  let up = beside.reduce((far, vote) => (norm(vote) > norm(far) ? vote : far)).slice();
  if (norm(up) === 0) up = minus(Float64Array.from(right, (_, d) => (d === 1 ? 1 : 0)), right[1], right);
  normalise(up);
  for (let step = 0; step < 300; step++) {
    const next = new Float64Array(D);
    for (const vote of beside) {
      const along = dot(vote, up);
      for (let d = 0; d < D; d++) next[d] += along * vote[d];
    }
    if (norm(next) === 0) break;
    up = normalise(next);
  }
  return { right, up };
}

export function dot(x, y, from = 0) {
  let sum = 0;
  for (let d = 0; d < y.length; d++) sum += x[from + d] * y[d];
  return sum;
}

const minus = (x, times, y) => x.map((value, d) => value - times * y[d]);

function normalise(x) {
  const length = norm(x);
  for (let d = 0; d < x.length; d++) x[d] /= length;
  return x;
}

// -------------------------------------------------------------------------------------------- the widget

function render({ model, el, host }) {
  const root = makeRoot("RoutingRounds", "Routing by agreement, round by round, on a handwritten digit");
  return mount(el, root, async () => {
    const network = makeNetwork(await sharedWeights(model, host));
    const { I, J, D_out: D } = network;
    const trained = network.config.iterations;
    const types = network.config.primary_types;
    const places = I / types;
    const across = Math.sqrt(places);
    const most = Math.log2(J); // bits of entropy, at most
    const images = Float32Array.from(bytesOf(model.get("images")), (grey) => grey / 255); // [N, 784]
    const labels = model.get("labels");
    const still = matchMedia("(prefers-reduced-motion: reduce)");

    // What is shown: a digit, a round, a class, a primary capsule; and the votes, as read and as moved by hand.
    let [index, round, chosen] = [model.get("index"), model.get("round"), model.get("chosen")];
    let capsule = 0;
    let unmoved, votes; // û [I, J, D]
    let before, trace; // what routing makes of each: b, c, v of every round
    let plane; // the two axes for the chosen class
    const moved = new Set(); // i * J + j of the votes that the reader has moved
    let shown = round; // between two rounds while things glide
    let playing = 0; // the timer

    // ----------------------------------------------------------------------------------------- elements
    const button = (role, label, text, onclick) =>
      element("button", { type: "button", "data-role": role, "aria-label": label, onclick }, text);
    const thumbnails = labels.map((label, n) => {
      const canvas = thumbnail();
      return element("button", { type: "button", "data-role": "digit", "aria-label": `Digit ${n + 1} of ${labels.length}: ${label}`, onclick: () => chooseDigit(n) }, canvas);
    });
    const previous = button("back", "One round back", "‹", () => step(-1));
    const next = button("forward", "One round forward", "›", () => step(+1));
    for (const each of [previous, next]) each.classList.add("step");
    const play = button("play", "Play", "Play", () => (playing ? pause() : start()));
    const reset = button("reset", "Put all votes back", "Reset", () => putBack());
    const heading = element("p", { class: "heading", "data-role": "heading" });

    const [lengthLine, meanLine, ownLine] = ["length", "mean", "own"].map((kind) => svg("polyline", { class: `line of-${kind}` }));
    const ticks = Array.from({ length: ROUNDS }, (_, t) => element("span", { class: "tick" }, String(t + 1)));
    const timeline = element("div", {
      class: "timeline", tabindex: 0, role: "slider", "data-role": "timeline", "aria-label": "Round",
      "aria-valuemin": 1, "aria-valuemax": ROUNDS,
    }, svg("svg", { viewBox: `0 0 ${ROUNDS} 1`, preserveAspectRatio: "none", "aria-hidden": "true" }, meanLine, ownLine, lengthLine), ...ticks);
    const legendLength = element("span", { class: "key of-length" });
    const legendOwn = element("span", { class: "key of-own" });

    const rays = Array.from({ length: I }, () => svg("line", { class: "ray", x1: 0, y1: 0 }));
    const dots = Array.from({ length: I }, (_, i) => svg("circle", { class: "dot", "data-capsule": i }));
    const trail = svg("polyline", { class: "trail" });
    const steps = Array.from({ length: ROUNDS }, () => svg("circle", { class: "trace", r: 2.6 }));
    const shaft = svg("line", { class: "shaft" });
    const head = svg("polygon", { class: "head" });
    const nameV = svg("text", { class: "name v" });
    const nameVote = svg("text", { class: "label own" });
    const handle = svg("g", { class: "handle", tabindex: 0, role: "slider", "data-role": "vote", "aria-valuemin": -REACH.x, "aria-valuemax": REACH.x },
      svg("circle", { class: "touch", r: 22 }), svg("circle", { class: "ring", r: 12 }), svg("circle", { class: "knob", r: 5 }));
    const toView = ([x, y]) => [x * UNIT, -y * UNIT];
    const picture = svg("svg", { viewBox: `${-PLANE.width / 2} ${-PLANE.height / 2} ${PLANE.width} ${PLANE.height}`, class: "plane", "data-role": "plane" },
      svg("path", { class: "axis", d: `M${-PLANE.width / 2} 0H${PLANE.width / 2}` }),
      svg("circle", { class: "disc", r: UNIT }),
      svg("text", { class: "label", x: PLANE.width / 2 - 8, y: PLANE.height / 2 - 10, "text-anchor": "end" }, "with v →"),
      svg("text", { class: "label", x: 8 - PLANE.width / 2, y: PLANE.height / 2 - 10 }, "← against it"),
      svg("g", {}, ...rays), svg("g", {}, ...dots), trail, svg("g", {}, ...steps),
      svg("g", { class: "arrow v" }, shaft, head), nameV, nameVote, handle);

    const bars = Array.from({ length: J }, (_, j) => {
      const fill = element("span", { class: "fill" });
      const value = element("span", { class: "value" });
      const row = element("button", { type: "button", role: "radio", class: "column", "data-role": "class", "data-class": j, onclick: () => chooseClass(j) },
        value, element("span", { class: "rail" }, fill), element("span", { class: "digit" }, String(j)));
      return { fill, value, row };
    });
    const classes = element("div", { class: "classes", role: "radiogroup", "aria-label": "Class whose votes are shown" }, ...bars.map(({ row }) => row));

    const shares = element("canvas", { class: "shares", "aria-hidden": "true" });
    const picker = element("div", {
      class: "picker", tabindex: 0, role: "slider", "data-role": "couplings", "aria-label": "Primary capsule",
      "aria-valuemin": 0, "aria-valuemax": I - 1,
    }, shares);
    const sharesLead = element("p", { class: "title" });

    const number = (symbol, kind = "") => {
      const value = element("dd", { class: kind });
      const term = element("dt", { class: kind }, symbol);
      return { term, value, entry: element("div", {}, term, value) };
    };
    const [length, coupling, agreement, voteLength, meanEntropy, ownEntropy] = [
      number("‖v‖", "v"), number("c", "own"), number("agreement û · v", "own"),
      number("‖û‖", "own"), number("mean entropy"), number("entropy", "own"),
    ];
    const remark = element("p", { class: "remark", "data-role": "remark" });

    root.append(
      element("div", { class: "routed" },
        element("div", { class: "samples", role: "group", "aria-label": "Digits" }, ...thumbnails),
        element("div", { class: "bar" }, element("div", { class: "stepper" }, previous, play, next), heading, reset),
        timeline,
        element("p", { class: "keys", "aria-hidden": "true" }, legendLength, legendOwn, element("span", { class: "key of-mean" }, "mean entropy of all 72")),
        element("p", { class: "title" }, "The votes, and what comes of them"),
        picture, classes,
        sharesLead, picker,
        element("div", { class: "groups", "aria-hidden": "true" }, ...Array.from({ length: types }, (_, k) => element("span", {}, String(k))))),
      element("dl", { class: "numbers" }, ...[length, coupling, agreement, voteLength, ownEntropy, meanEntropy].map(({ entry }) => entry)),
      remark,
    );
    const announce = makeAnnouncer(root);
    const painter = makePainter(root);

    // ------------------------------------------------------------------------------------------ actions
    function readDigit() {
      unmoved = network.forward(digitAt(images, index), 1).u_hat;
      votes = unmoved.slice();
      moved.clear();
      before = trace = route(unmoved, I, J, D, ROUNDS);
      takePlane();
    }

    function takePlane() {
      plane = planeOf(unmoved, before.v[trained - 1], chosen, I, J, D);
    }

    function chooseDigit(to) {
      pause();
      index = to;
      chosen = labels[index];
      share();
      readDigit();
      update();
    }

    function chooseClass(to) {
      chosen = to;
      share();
      takePlane();
      update();
    }

    function chooseCapsule(to) {
      capsule = clamp(to, 0, I - 1);
      update();
    }

    function putBack() {
      votes = unmoved.slice();
      moved.clear();
      trace = before;
      update();
    }

    /** Where the vote of capsule i for the chosen class lies in the plane. */
    const placeOf = (i, from = votes) => {
      const at = (i * J + chosen) * D;
      return [dot(from, plane.right, at), dot(from, plane.up, at)];
    };

    /** Moves the selected vote within the plane; what it has outside of it stays. */
    function moveTo([x, y]) {
      const [x0, y0] = placeOf(capsule);
      const [dx, dy] = [clamp(x, -REACH.x, REACH.x) - x0, clamp(y, -REACH.y, REACH.y) - y0];
      const at = (capsule * J + chosen) * D;
      votes = votes.slice();
      for (let d = 0; d < D; d++) votes[at + d] += dx * plane.right[d] + dy * plane.up[d];
      moved.add(capsule * J + chosen);
      trace = route(votes, I, J, D, ROUNDS);
      schedule();
    }

    // ------------------------------------------------------------------------------------- rounds in time
    let frame = 0;
    function goTo(to) {
      round = clamp(to, 1, ROUNDS);
      share();
      cancelAnimationFrame(frame);
      if (still.matches) shown = round;
      else glide();
      update();
    }

    function glide() {
      const from = shown;
      let began;
      const move = (now) => {
        began ??= now;
        const t = Math.min(1, (now - began) / GLIDE);
        shown = from + (round - from) * t * t * (3 - 2 * t);
        draw();
        if (t < 1) frame = requestAnimationFrame(move);
      };
      frame = requestAnimationFrame(move);
    }

    function step(by) {
      pause();
      goTo(round + by);
    }

    function start() {
      if (round === ROUNDS) {
        shown = 1;
        goTo(1);
      } else {
        goTo(round + 1);
      }
      playing = setInterval(() => {
        goTo(round + 1);
        if (round === ROUNDS) pause();
      }, PACE);
      showPlaying();
    }

    function pause() {
      clearInterval(playing);
      playing = 0;
      showPlaying();
    }

    function showPlaying() {
      play.textContent = playing ? "Pause" : "Play";
      setAttributes(play, { "aria-label": playing ? "Pause" : "Play the rounds" });
      root.dataset.playing = String(playing !== 0);
    }

    function share() {
      model.set("index", index);
      model.set("chosen", chosen);
      model.set("round", round);
      model.save_changes();
    }

    // ------------------------------------------------------------------------------------------ drawing
    /** What a list of one array a round holds at `shown`, between two rounds if need be. */
    const blend = (list) => {
      const low = clamp(Math.floor(shown), 1, ROUNDS) - 1;
      const high = Math.min(low + 1, ROUNDS - 1);
      const t = shown - 1 - low;
      return t === 0 ? list[low] : list[low].map((x, k) => x + (list[high][k] - x) * t);
    };

    function draw() {
      const c = blend(trace.c);
      const v = blend(trace.v);
      drawPlane(c, v);
      drawShares(c);
      const lengths = lengthsOf(v, J, D);
      const longest = lengths.indexOf(Math.max(...lengths));
      bars.forEach(({ fill, value, row }, j) => {
        fill.style.height = `${lengths[j] * 100}%`;
        value.textContent = format(lengths[j]);
        row.classList.toggle("longest", j === longest);
      });
    }

    function drawPlane(c, v) {
      const zoom = clamp(PLANE.width / (picture.clientWidth || PLANE.width), 1, 2); // on a phone things shall not be tiny
      for (let i = 0; i < I; i++) {
        const [x, y] = toView(placeOf(i));
        const c_ij = c[i * J + chosen];
        const opacity = clamp(0.16 + 1.3 * c_ij, 0, 0.92).toFixed(3);
        setAttributes(rays[i], { x2: x.toFixed(2), y2: y.toFixed(2), "stroke-opacity": opacity, "stroke-width": (zoom * (0.6 + 2.2 * c_ij)).toFixed(2) });
        setAttributes(dots[i], { cx: x.toFixed(2), cy: y.toFixed(2), r: (zoom * (2 + 7 * Math.sqrt(c_ij))).toFixed(2), "fill-opacity": opacity });
      }
      const at = chosen * D;
      const tipOf = (vector) => toView([dot(vector, plane.right, at), dot(vector, plane.up, at)]);
      const [tx, ty] = tipOf(v);
      const past = trace.v.slice(0, Math.floor(shown)).map(tipOf);
      trail.setAttribute("points", [[0, 0], ...past, [tx, ty]].slice(1).map((p) => p.map((x) => x.toFixed(2)).join(",")).join(" "));
      steps.forEach((each, t) => {
        each.toggleAttribute("hidden", t >= past.length);
        if (t < past.length) setAttributes(each, { cx: past[t][0].toFixed(2), cy: past[t][1].toFixed(2) });
      });
      const n = Math.hypot(tx, ty);
      const [ux, uy] = n ? [tx / n, ty / n] : [1, 0];
      const size = clamp(n / 2, 0, 11 * zoom);
      const [bx, by] = [tx - ux * size, ty - uy * size];
      setAttributes(shaft, { x1: 0, y1: 0, x2: bx.toFixed(2), y2: by.toFixed(2) });
      head.setAttribute("points", `${tx},${ty} ${bx - uy * size * 0.5},${by + ux * size * 0.5} ${bx + uy * size * 0.5},${by - ux * size * 0.5}`);
      const out = Math.max(n, 0.45 * UNIT) + 14 * zoom; // clear of the crowd in the middle
      setAttributes(nameV, { x: (ux * out).toFixed(2), y: (uy * out + 5 * zoom).toFixed(2) });
      nameV.textContent = "v";

      const [x, y] = toView(placeOf(capsule));
      handle.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)})`);
      const room = 76 * zoom; // half of the text
      const below = y > 0 ? y < PLANE.height / 2 - 40 * zoom : y < 30 * zoom - PLANE.height / 2;
      setAttributes(nameVote, { x: clamp(x, room - PLANE.width / 2, PLANE.width / 2 - room), y: below ? y + 30 * zoom : y - 20 * zoom, "text-anchor": "middle" });
      nameVote.textContent = `vote of capsule ${capsule}`;
    }

    /** A bar a primary capsule: at the bottom what it gives the chosen class, above that the other nine. */
    function drawShares(c) {
      const ratio = window.devicePixelRatio || 1;
      const [width, height] = [Math.round(picker.clientWidth * ratio), Math.round(picker.clientHeight * ratio)];
      if (!width) return;
      if (shares.width !== width || shares.height !== height) Object.assign(shares, { width, height });
      const style = getComputedStyle(root);
      const colour = (role) => style.getPropertyValue(`--caps-${role}`).trim();
      const [accent, soft, line, raised, ink, own] = ["accent", "soft", "line", "raised", "ink", "contrast"].map(colour);
      const brush = shares.getContext("2d");
      brush.clearRect(0, 0, width, height);
      const gap = Math.max(1, Math.round(1.5 * ratio));
      for (let i = 0; i < I; i++) {
        const [left, right] = edges(i, width);
        const wide = Math.max(1, right - left - gap);
        let low = 0;
        const fill = (share, role, alpha) => {
          const [y0, y1] = [height * (1 - low - share), height * (1 - low)];
          low += share;
          brush.globalAlpha = alpha;
          brush.fillStyle = role;
          brush.fillRect(left, y0, wide, Math.max(0, y1 - y0 - ratio));
        };
        fill(c[i * J + chosen], accent, 1);
        for (let j = 0, k = 0; j < J; j++) {
          if (j === chosen) continue;
          const share = c[i * J + j];
          const from = low;
          fill(share, k++ % 2 ? line : raised, 1);
          if (share > 1.2 / J) { // more than it began with: sent elsewhere
            low = from;
            fill(share, soft, clamp((share * J - 1.2) / 3, 0, 0.85));
          }
        }
      }
      brush.globalAlpha = 1;
      brush.strokeStyle = ink;
      brush.lineWidth = ratio;
      brush.setLineDash([4 * ratio, 4 * ratio]);
      brush.beginPath();
      brush.moveTo(0, height * (1 - 1 / J));
      brush.lineTo(width, height * (1 - 1 / J));
      brush.stroke();
      brush.setLineDash([]);
      const [left, right] = edges(capsule, width);
      brush.strokeStyle = own;
      brush.lineWidth = 2.5 * ratio;
      brush.strokeRect(left - gap / 2, 1.25 * ratio, right - left, height - 2.5 * ratio);
    }

    /** Left and right end of a bar; a type's nine stand together. */
    function edges(i, width) {
      const between = width * 0.012;
      const one = (width - (types - 1) * between) / I;
      const left = i * one + Math.floor(i / places) * between;
      return [left, left + one];
    }

    /** All that does not move gradually. */
    function update() {
      const t = round - 1;
      const c = trace.c[t];
      const lengths = lengthsOf(trace.v[t], J, D);
      const entropies = trace.c.map((each) => entropiesOf(each, I, J)); // [ROUNDS][I]
      const means = entropies.map(mean);
      const at = (capsule * J + chosen) * D;
      const vote = votes.subarray(at, at + D);
      const c_ij = c[capsule * J + chosen];
      const a_ij = dot(vote, trace.v[t].subarray(chosen * D, (chosen + 1) * D));

      Object.assign(root.dataset, {
        index, round, chosen, capsule, moved: moved.size,
        lengths: Array.from(lengths, (x) => x.toFixed(5)).join(","),
        entropy: means[t].toFixed(5), coupling: c_ij.toFixed(5), agreement: a_ij.toFixed(5),
        vote: placeOf(capsule).map((x) => x.toFixed(4)).join(","),
      });
      heading.replaceChildren("Round ", element("strong", {}, String(round)));
      previous.disabled = round === 1;
      next.disabled = round === ROUNDS;
      reset.disabled = moved.size === 0;
      thumbnails.forEach((each, n) => each.setAttribute("aria-pressed", String(n === index)));
      bars.forEach(({ row }, j) => setAttributes(row, {
        "aria-checked": String(j === chosen), tabindex: j === chosen ? 0 : -1, "aria-label": `Class ${j}, length ${format(lengths[j])}`,
      }));

      const points = (values) => values.map((y, k) => `${k + 0.5},${(0.96 - 0.92 * y).toFixed(4)}`).join(" ");
      lengthLine.setAttribute("points", points(trace.v.map((v) => norm(v, chosen * D, D))));
      meanLine.setAttribute("points", points(means.map((x) => x / most)));
      ownLine.setAttribute("points", points(entropies.map((each) => each[capsule] / most)));
      ticks.forEach((tick, k) => {
        tick.classList.toggle("now", k === t);
        tick.classList.toggle("trained", k === trained - 1);
      });
      legendLength.textContent = `length of capsule ${chosen}`;
      legendOwn.textContent = `entropy of capsule ${capsule}’s couplings`;
      setAttributes(timeline, { "aria-valuenow": round, "aria-valuetext": `round ${round}: capsule ${chosen} is ${format(lengths[chosen])} long, mean entropy ${format(means[t])} bits` });

      sharesLead.textContent = `How each of the ${I} primary capsules shares itself out: blue goes to ${chosen}`;
      length.term.textContent = `‖v‖ of capsule ${chosen}`;
      length.value.textContent = format(lengths[chosen], 3);
      coupling.term.textContent = `c, from ${capsule} to ${chosen}`;
      coupling.value.textContent = format(c_ij, 3);
      agreement.value.textContent = format(a_ij, 3);
      voteLength.term.textContent = `‖û‖ of this vote`;
      voteLength.value.textContent = format(norm(vote), 3);
      ownEntropy.term.textContent = `entropy of ${capsule}`;
      ownEntropy.value.textContent = `${format(entropies[t][capsule])} bits`;
      meanEntropy.value.textContent = `${format(means[t])} bits`;
      const [type, place] = [Math.floor(capsule / places), capsule % places];
      const where = `capsule ${capsule}, type ${type}, row ${Math.floor(place / across)}, column ${place % across}`;
      const spoken = `${where}: ${Math.round(c_ij * 100)} percent to ${chosen}`;
      setAttributes(picker, { "aria-valuenow": capsule, "aria-valuetext": spoken });
      const [x, y] = placeOf(capsule);
      setAttributes(handle, {
        "aria-label": `Vote of capsule ${capsule} for ${chosen}. Arrow keys move it; Page Up and Page Down take another capsule.`,
        "aria-valuenow": x.toFixed(2), "aria-valuetext": `${format(x, 1)} with v, ${format(y, 1)} aside; ${spoken}; capsule ${chosen} is ${format(lengths[chosen])} long`,
      });
      remark.textContent = inWords(lengths[chosen], c);
      announce(remark.textContent);
      draw();
    }
    const schedule = oncePerFrame(update);

    /** What there is to see, in a sentence or two. */
    function inWords(now, c) {
      const t = round - 1;
      const without = norm(before.v[t], chosen * D, D);
      if (moved.size) {
        const votesMoved = moved.size === 1 ? "one vote moved" : `${moved.size} votes moved`;
        const turned = dot(trace.v[t], plane.right, chosen * D) < 0;
        if (now > 0.5 && turned) return `Capsule ${chosen} is long and points the other way: routing follows the loudest vote, wherever that points. Nothing here asks whether it is right.`;
        if (now < 0.6 * without) return `The agreement is broken: with ${votesMoved}, capsule ${chosen} is ${format(now)} long in this round, and was ${format(without)}.`;
        if (now > 1.15 * without + 0.02) return `The agreement has grown: with ${votesMoved}, capsule ${chosen} is ${format(now)} long in this round, and was ${format(without)}.`;
        return `With ${votesMoved}, capsule ${chosen} is ${format(now)} long in this round; without, ${format(without)}.`;
      }
      if (round === 1) return `Round 1: every capsule gives each class a tenth, so all votes count alike. Nobody has compared anything yet.`;
      let convinced = 0;
      for (let i = 0; i < I; i++) if (c[i * J + chosen] > 2 / J) convinced++;
      const who = convinced === 0 ? `No capsule gives ${chosen} more than twice the tenth it began with` : `${convinced} of ${I} ${convinced === 1 ? "capsule gives" : "capsules give"} ${chosen} more than twice the tenth they began with`;
      const after = round > trained ? " The network was trained with three rounds; this is beyond what it knows." : round === trained ? " This is where the network stops." : "";
      return `Round ${round}: ${who.replace("they began", convinced === 1 ? "it began" : "they began")}.${after}`;
    }

    // --------------------------------------------------------------------------------- mouse, touch, keys
    const inPlane = (event) => {
      const box = picture.getBoundingClientRect();
      const scale = PLANE.width / box.width / UNIT;
      return [(event.clientX - box.left - box.width / 2) * scale, (box.top + box.height / 2 - event.clientY) * scale];
    };
    picture.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const at = inPlane(event);
      const perPixel = PLANE.width / picture.getBoundingClientRect().width / UNIT;
      const far = (i) => Math.hypot(placeOf(i)[0] - at[0], placeOf(i)[1] - at[1]) / perPixel;
      let nearest = capsule;
      for (let i = 0; i < I; i++) if (far(i) < far(nearest) - 0.01) nearest = i;
      if (far(nearest) > 12) nearest = capsule;
      if (far(nearest) > 24) return;
      event.preventDefault();
      picture.setPointerCapture(event.pointerId);
      pause();
      if (nearest !== capsule) chooseCapsule(nearest);
      handle.focus({ preventScroll: true });
    });
    picture.addEventListener("pointermove", (event) => {
      if (picture.hasPointerCapture(event.pointerId)) moveTo(inPlane(event));
    });
    handle.addEventListener("keydown", (event) => {
      const by = event.shiftKey ? 1 : 0.2;
      const [x, y] = placeOf(capsule);
      if (event.key in ARROWS) moveTo([x + ARROWS[event.key][0] * by, y + ARROWS[event.key][1] * by]);
      else if (event.key === "PageUp") chooseCapsule(capsule + 1);
      else if (event.key === "PageDown") chooseCapsule(capsule - 1);
      else if (event.key === "Escape") putBack();
      else return;
      event.preventDefault();
    });

    classes.addEventListener("keydown", (event) => {
      if (!(event.key in ARROWS)) return;
      event.preventDefault();
      const [dx, dy] = ARROWS[event.key];
      chooseClass((chosen + dx - dy + J) % J);
      bars[chosen].row.focus();
    });

    /** Calls `to` with where along an element the pointer is, 0 … 1, while it is down. */
    function slide(node, to) {
      const along = (event) => {
        const { left, width } = node.getBoundingClientRect();
        to(clamp((event.clientX - left) / width, 0, 0.9999));
      };
      node.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        node.setPointerCapture(event.pointerId);
        along(event);
      });
      node.addEventListener("pointermove", (event) => node.hasPointerCapture(event.pointerId) && along(event));
    }
    slide(timeline, (x) => {
      pause();
      const to = Math.floor(x * ROUNDS) + 1;
      if (to !== round) goTo(to);
    });
    slide(picker, (x) => {
      let nearest = 0;
      const far = (i) => Math.abs((edges(i, 1)[0] + edges(i, 1)[1]) / 2 - x);
      for (let i = 0; i < I; i++) if (far(i) < far(nearest)) nearest = i;
      if (nearest !== capsule) chooseCapsule(nearest);
    });
    const keys = (node, now, low, high, page, to) => node.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -page, PageUp: page, Home: low - now(), End: high - now() }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      to(clamp(now() + by, low, high));
    });
    keys(timeline, () => round, 1, ROUNDS, 3, (to) => step(to - round));
    keys(picker, () => capsule, 0, I - 1, places, chooseCapsule);

    // ------------------------------------------------------------------------------------- from outside
    const stopListening = listen(model, {
      index: () => {
        if (model.get("index") === index) return;
        index = model.get("index");
        chosen = labels[index];
        share();
        readDigit();
        update();
      },
      round: () => model.get("round") !== round && goTo(model.get("round")),
      chosen: () => model.get("chosen") !== chosen && chooseClass(model.get("chosen")),
    });
    const refresh = () => {
      painter.refresh();
      thumbnails.forEach((each, n) => painter.paint(each.firstChild, digitAt(images, n)));
      draw();
    };
    readDigit();
    for (let i = 0; i < I; i++) { // the loudest vote for the digit's own class
      const far = (k) => norm(unmoved, (k * J + chosen) * D, D);
      if (far(i) > far(capsule)) capsule = i;
    }
    showPlaying();
    update();
    refresh();
    const stopWatching = whenThemeChanges(refresh);
    const stopMeasuring = whenResized(picker, draw);
    return [pause, stopListening, stopWatching, stopMeasuring, () => cancelAnimationFrame(frame), schedule.cancel, announce.cancel];
  });
}

export default { render };
