// Routing by agreement, round by round. The network reads a digit once; its votes are routed again with every move of
// the hand: 72 × 10 votes of 16 numbers, ten rounds, a few milliseconds.
import { inWords, REACH, ROUNDS, readVotes } from "./routing_rounds_model.js";
import { arrowKeys, drag, fitCanvas, glide, grip, makeArrow, measure, readout, wantsCalm } from "./shared/controls.js";
import { makeNetwork } from "./shared/core.js";
import { layOut, makeTime } from "./shared/stage.js";
import {
  bytesOf,
  clamp,
  digitAt,
  element,
  format,
  listen,
  makePainter,
  makeRoot,
  mount,
  oncePerFrame,
  pushButton,
  setAttributes,
  sharedWeights,
  svg,
  thumbnail,
  whenThemeChanges,
} from "./shared/ui.js";

const UNIT = 70; // of the plane's viewBox, a length of 1
const PLANE = { width: 2 * REACH.x * UNIT, height: 2 * REACH.y * UNIT };
const PACE = 1300; // milliseconds a round while playing
const GLIDE = 550; // of these in motion

function render({ model, el, host }) {
  const root = makeRoot("RoutingRounds", "Routing by agreement, round by round, on a handwritten digit");
  return mount(el, root, async () => {
    const network = makeNetwork(await sharedWeights(model, host));
    const { I } = network;
    const images = Float32Array.from(bytesOf(model.get("images")), (grey) => grey / 255); // [N, 784]
    const labels = model.get("labels");

    // What is shown: a digit, a class, a primary capsule; the clock has the round.
    let [index, chosen] = [model.get("index"), model.get("chosen")];
    let capsule = 0;
    let votes;

    // ----------------------------------------------------------------------------------------- elements
    const clock = makeClock(model.get("round"), root, {
      draw: () => draw(),
      changed() {
        share();
        update();
      },
    });
    const selected = () => capsule;
    const actions = { chooseDigit, chooseClass, chooseCapsule, selected, putBack, moveTo, pause: clock.pause };
    const { samples, reset, course, plane, classes, shares, numbers, say, stop } = makeParts(
      network,
      labels,
      root,
      clock.row,
      actions,
      () => draw(),
    );
    const painter = makePainter(root);

    // ------------------------------------------------------------------------------------------ actions
    function readDigit() {
      votes = readVotes(network, digitAt(images, index));
      votes.choose(chosen);
    }

    function chooseDigit(to) {
      clock.pause();
      index = to;
      chosen = labels[index];
      share();
      readDigit();
      update();
    }

    function chooseClass(to) {
      chosen = to;
      share();
      votes.choose(chosen);
      update();
    }

    function chooseCapsule(to) {
      capsule = clamp(to, 0, I - 1);
      schedule(); // the focus moves next, which would force the layout of what is drawn at once
    }

    function putBack() {
      votes.putBack();
      update();
    }

    function moveTo(place) {
      votes.move(capsule, place);
      schedule();
    }

    function share() {
      model.set("index", index);
      model.set("chosen", chosen);
      model.set("round", clock.round());
      model.save_changes();
    }

    // ------------------------------------------------------------------------------------------ drawing
    function draw() {
      const now = votes.momentAt(clock.shown());
      clock.show();
      plane.draw(now, capsule);
      shares.draw(now, capsule);
      classes.draw(now.lengths);
    }

    /** All that does not move gradually. */
    function update() {
      const reading = votes.readingOf(clock.round(), capsule);
      const spoken = shares.show(reading);
      Object.assign(root.dataset, { index, ...dataOf(reading) });
      samples.show(index);
      reset.hidden = reading.moved === 0;
      course.show(reading);
      classes.show(reading);
      plane.show(reading, spoken, votes.placeOf);
      numbers.show(reading);
      say(inWords(reading));
      draw();
    }
    const schedule = oncePerFrame(update);

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
      round: () => model.get("round") !== clock.round() && clock.goTo(model.get("round")),
      chosen: () => model.get("chosen") !== chosen && chooseClass(model.get("chosen")),
    });
    const refresh = () => {
      painter.refresh();
      shares.refresh();
      samples.paint(painter, images);
      draw();
    };
    readDigit();
    capsule = votes.loudest();
    update();
    refresh();
    const stopWatching = whenThemeChanges(refresh);
    const stops = [clock.stop, stopListening, stopWatching, shares.stop, plane.stop];
    return [...stops, schedule.cancel, stop];
  });
}

/** What the widget is made of, put into its root. */
function makeParts(network, labels, root, time, actions, draw) {
  const samples = makeSamples(labels, actions);
  const course = makeCourse(network);
  const plane = makePlane(network.I, actions, draw);
  const classes = makeClasses(network.J, actions);
  const shares = makeShares(network, root, actions, draw);
  const numbers = makeNumbers();
  const reset = pushButton("reset", "Put the votes back", () => actions.putBack(), { class: "put-back" });
  const { say, stop } = layOut(root, {
    stage: element("div", { class: "routed" }, plane.picture, reset),
    hands: [time, classes.group],
    more: [
      element("p", { class: "title" }, "Another digit"),
      samples.group,
      shares.lead,
      element("div", { class: "routed" }, shares.picker, shares.groups),
      element("p", { class: "title" }, "The course of ten rounds"),
      course.chart,
      course.legend,
      numbers.list,
    ],
    about: "Other digits, the shares of all 72 capsules, and how they go on",
  });
  return { samples, reset, course, plane, classes, shares, numbers, say, stop };
}

/** The round, and where things are on the way to it. changed() comes with each new round, draw() in between. */
function makeClock(round, root, { changed, draw }) {
  let shown = round; // between two rounds while things glide
  let stopGliding = () => {};

  function goTo(to) {
    round = clamp(to, 1, ROUNDS);
    stopGliding();
    const from = shown;
    if (wantsCalm()) shown = round;
    else {
      stopGliding = glide(GLIDE, (t) => {
        shown = from + (round - from) * t;
        draw();
      });
    }
    changed();
  }

  const { row, show, halt, stop } = makeTime({
    label: "Round",
    min: 1,
    max: ROUNDS,
    pace: PACE,
    at: () => round,
    seek: goTo,
    words: (at) => `Round ${at} of ${ROUNDS}`,
    dataset: root.dataset,
  });
  return {
    row,
    goTo,
    round: () => round,
    shown: () => shown,
    show: () => show(shown),
    pause: halt,
    stop() {
      stop();
      stopGliding();
    },
  };
}

/** What tests and other scripts can read off the root. */
function dataOf({ round, chosen, capsule, moved, lengths, meansByRound, coupling, agreement, place }) {
  return {
    round,
    chosen,
    capsule,
    moved,
    lengths: Array.from(lengths, (x) => x.toFixed(5)).join(","),
    entropy: meansByRound[round - 1].toFixed(5),
    coupling: coupling.toFixed(5),
    agreement: agreement.toFixed(5),
    vote: place.map((x) => x.toFixed(4)).join(","),
  };
}

function makeSamples(labels, { chooseDigit }) {
  const buttons = labels.map((label, n) => {
    const name = `Digit ${n + 1} of ${labels.length}: ${label}`;
    const attributes = { type: "button", "data-role": "digit", "aria-label": name, onclick: () => chooseDigit(n) };
    return element("button", attributes, thumbnail());
  });
  const group = element("div", { class: "samples", role: "group", "aria-label": "Digits" }, ...buttons);
  const show = (index) => buttons.forEach((each, n) => each.setAttribute("aria-pressed", String(n === index)));
  const paint = (painter, images) => buttons.forEach((each, n) => painter.paint(each.firstChild, digitAt(images, n)));
  return { group, show, paint };
}

/** The course of one length and two entropies over ten rounds. */
function makeCourse({ J }) {
  const most = Math.log2(J); // bits of entropy, at most
  const lines = ["mean", "own", "length"].map((kind) => svg("polyline", { class: `line of-${kind}` }));
  const ticks = Array.from({ length: ROUNDS }, (_, t) => element("span", { class: "tick" }, String(t + 1)));
  const view = { viewBox: `0 0 ${ROUNDS} 1`, preserveAspectRatio: "none" };
  const chart = element("div", { class: "course", "aria-hidden": "true" }, svg("svg", view, ...lines), ...ticks);
  const [ofLength, ofOwn] = [element("span", { class: "key of-length" }), element("span", { class: "key of-own" })];
  const ofMean = element("span", { class: "key of-mean" }, "mean entropy of all 72");
  const legend = element("p", { class: "keys" }, ofLength, ofOwn, ofMean);

  function show({ round, chosen, capsule, trained, meansByRound, ownByRound, lengthsByRound }) {
    const points = (values) => values.map((y, k) => `${k + 0.5},${(0.96 - 0.92 * y).toFixed(4)}`).join(" ");
    const courses = [meansByRound.map((x) => x / most), ownByRound.map((x) => x / most), lengthsByRound];
    courses.forEach((course, k) => lines[k].setAttribute("points", points(course)));
    ticks.forEach((tick, k) => {
      tick.classList.toggle("now", k === round - 1);
      tick.classList.toggle("trained", k === trained - 1);
    });
    ofLength.textContent = `length of capsule ${chosen}`;
    ofOwn.textContent = `entropy of capsule ${capsule}’s couplings`;
  }
  return { chart, legend, show };
}

/** Arrow keys, Page Up and Down, Home and End on a slider. */
function sliderKeys(node, { now, low, high, page, to }) {
  const by = (change) => to(clamp(now() + change, low, high));
  arrowKeys(node, (dx, dy) => by(dx - dy), {
    PageDown: () => by(-page),
    PageUp: () => by(page),
    Home: () => to(low),
    End: () => to(high),
  });
}

/** The plane with the votes for the chosen class, the class's vector, and a handle on one capsule's vote. */
function makePlane(I, { chooseCapsule, selected, moveTo, putBack, pause }, changed) {
  const toView = ([x, y]) => [x * UNIT, -y * UNIT];
  const [wide, high] = [PLANE.width / 2, PLANE.height / 2];
  const rays = Array.from({ length: I }, () => svg("line", { class: "ray", x1: 0, y1: 0 }));
  const dots = Array.from({ length: I }, (_, i) => svg("circle", { class: "dot", "data-capsule": i }));
  const trail = svg("polyline", { class: "trail" });
  const steps = Array.from({ length: ROUNDS }, () => svg("circle", { class: "trace", r: 2.6 }));
  const arrow = makeArrow("v");
  const [nameV, nameVote] = [svg("text", { class: "name v" }, "v"), svg("text", { class: "label own" })];
  const handle = grip({ "data-role": "vote", "aria-valuemin": -REACH.x, "aria-valuemax": REACH.x }, 12, 5);
  const label = (x, words, more) => svg("text", { class: "label", x, y: high - 10, ...more }, words);
  const viewBox = `${-wide} ${-high} ${PLANE.width} ${PLANE.height}`;
  const picture = svg(
    "svg",
    { viewBox, class: "plane", "data-role": "plane" },
    svg("path", { class: "axis", d: `M${-wide} 0H${wide}` }),
    svg("circle", { class: "disc", r: UNIT }),
    label(wide - 8, "with v →", { "text-anchor": "end" }),
    label(8 - wide, "← against it"),
    ...[svg("g", {}, ...rays), svg("g", {}, ...dots), trail, svg("g", {}, ...steps)],
    ...[arrow.node, nameV, nameVote, handle],
  );
  const size = measure(picture, changed); // on a phone the first drawing, before it is measured, would be tiny
  let placeOf; // as shown
  let taken = false; // a vote has been dragged: nobody needs to be told any more

  const inPlane = ({ x, y }) => [2 * REACH.x * (x - 0.5), 2 * REACH.y * (0.5 - y)];
  drag(picture, {
    focus: handle,
    start(at) {
      const nearest = nearestVote(inPlane(at), size.width, { I, capsule: selected(), placeOf });
      if (nearest === null) return false;
      pause();
      if (nearest !== selected()) chooseCapsule(nearest);
    },
    move(at) {
      taken = true;
      handle.classList.add("taken");
      moveTo(inPlane(at));
    },
  });
  const stride = (event) => (event.shiftKey ? 1 : 0.2);
  const push = (dx, dy, event) => {
    const [x, y] = placeOf(selected());
    moveTo([x + dx * stride(event), y - dy * stride(event)]);
  };
  arrowKeys(handle, push, {
    PageUp: () => chooseCapsule(selected() + 1),
    PageDown: () => chooseCapsule(selected() - 1),
    Escape: () => putBack(),
  });

  function draw({ c, tip, past, places, chosen, lengths }, capsule) {
    const zoom = clamp(PLANE.width / (size.width || PLANE.width), 1, 2); // on a phone things shall not be tiny
    const J = lengths.length;
    for (let i = 0; i < I; i++) {
      const [x, y] = toView(places(i)).map((each) => each.toFixed(2));
      const c_ij = c[i * J + chosen];
      const opacity = clamp(0.16 + 1.3 * c_ij, 0, 0.92).toFixed(3);
      const width = (zoom * (0.6 + 2.2 * c_ij)).toFixed(2);
      setAttributes(rays[i], { x2: x, y2: y, "stroke-opacity": opacity, "stroke-width": width });
      const r = (zoom * (2 + 7 * Math.sqrt(c_ij))).toFixed(2);
      setAttributes(dots[i], { cx: x, cy: y, r, "fill-opacity": opacity });
    }
    const [tx, ty] = toView(tip);
    const course = past.map(toView);
    trail.setAttribute("points", [...course, [tx, ty]].map((p) => p.map((x) => x.toFixed(2)).join(",")).join(" "));
    steps.forEach((each, t) => {
      each.toggleAttribute("hidden", t >= past.length);
      if (t < past.length) setAttributes(each, { cx: course[t][0].toFixed(2), cy: course[t][1].toFixed(2) });
    });
    arrow.point([0, 0], [tx, ty], { size: 11 * zoom });
    const n = Math.hypot(tx, ty);
    const [ux, uy] = n ? [tx / n, ty / n] : [1, 0];
    const out = Math.max(n, 0.45 * UNIT) + 14 * zoom; // clear of the crowd in the middle
    setAttributes(nameV, { x: (ux * out).toFixed(2), y: (uy * out + 5 * zoom).toFixed(2) });

    const [x, y] = toView(places(capsule));
    handle.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)})`);
    const room = 76 * zoom; // half of the text
    const below = y > 0 ? y < high - 40 * zoom : y < 30 * zoom - high;
    const [atX, atY] = [clamp(x, room - wide, wide - room), below ? y + 30 * zoom : y - 20 * zoom];
    setAttributes(nameVote, { x: atX, y: atY, "text-anchor": "middle" });
    nameVote.textContent = taken ? `vote of capsule ${capsule}` : "drag this vote";
  }

  function show({ capsule, chosen, place: [x, y], length }, spoken, places) {
    placeOf = places;
    const keys = "Arrow keys move it; Page Up and Page Down take another capsule.";
    const where = `${format(x, 1)} with v, ${format(y, 1)} aside; ${spoken}`;
    setAttributes(handle, {
      "aria-label": `Vote of capsule ${capsule} for ${chosen}. ${keys}`,
      "aria-valuenow": x.toFixed(2),
      "aria-valuetext": `${where}; capsule ${chosen} is ${format(length)} long`,
    });
  }
  return { picture, draw, show, stop: size.stop };
}

/** The vote that is taken hold of at a place: the nearest one, else the selected one, or null: none is near enough. */
function nearestVote(at, width, { I, capsule, placeOf }) {
  const perPixel = PLANE.width / width / UNIT;
  const far = (i) => Math.hypot(placeOf(i)[0] - at[0], placeOf(i)[1] - at[1]) / perPixel;
  let nearest = capsule;
  for (let i = 0; i < I; i++) if (far(i) < far(nearest) - 0.01) nearest = i;
  if (far(nearest) > 12) nearest = capsule;
  return far(nearest) > 24 ? null : nearest;
}

/** A column a class, as high as its capsule is long. */
function makeClasses(J, { chooseClass }) {
  let chosen;
  const columns = Array.from({ length: J }, (_, j) => {
    const fill = element("span", { class: "fill" });
    const value = element("span", { class: "value" });
    const rail = element("span", { class: "rail" }, fill);
    const attributes = { class: "column", "data-role": "class", "data-class": j, onclick: () => chooseClass(j) };
    const digit = element("span", { class: "digit" }, String(j));
    return {
      fill,
      value,
      row: element("button", { type: "button", role: "radio", ...attributes }, value, rail, digit),
    };
  });
  const group = element(
    "div",
    { class: "classes", role: "radiogroup", "aria-label": "Class whose votes are shown" },
    ...columns.map(({ row }) => row),
  );
  arrowKeys(group, (dx, dy) => {
    const to = (chosen + dx + dy + J) % J;
    const { row } = columns[to];
    row.tabIndex = 0; // not once it has the focus: that would force a layout, as the focus itself does after writing
    row.focus();
    chooseClass(to);
  });

  function draw(lengths) {
    const longest = lengths.indexOf(Math.max(...lengths));
    columns.forEach(({ fill, value, row }, j) => {
      fill.style.height = `${lengths[j] * 100}%`;
      value.textContent = format(lengths[j]);
      row.classList.toggle("longest", j === longest);
    });
  }

  function show({ chosen: now, lengths }) {
    chosen = now;
    columns.forEach(({ row }, j) => {
      const label = `Class ${j}, length ${format(lengths[j])}`;
      setAttributes(row, { "aria-checked": String(j === chosen), "aria-label": label });
      const tab = j === chosen ? 0 : -1;
      if (row.tabIndex !== tab) row.tabIndex = tab;
    });
  }
  return { group, draw, show };
}

/** A bar a primary capsule: at the bottom what it gives the chosen class, above that the other nine. */
function makeShares({ I, J, config }, root, { chooseCapsule, selected }, changed) {
  const types = config.primary_types;
  const places = I / types;
  const across = Math.sqrt(places);
  let colours;
  const canvas = element("canvas", { class: "shares", "aria-hidden": "true" });
  const picker = element(
    "div",
    {
      class: "picker",
      tabindex: 0,
      role: "slider",
      "data-role": "couplings",
      "aria-label": "Primary capsule",
      "aria-valuemin": 0,
      "aria-valuemax": I - 1,
    },
    canvas,
  );
  const lead = element("p", { class: "title" });
  const names = Array.from({ length: types }, (_, k) => element("span", {}, String(k)));
  const groups = element("div", { class: "groups", "aria-hidden": "true" }, ...names);
  const size = measure(picker, changed);

  /** Left and right end of a bar; a type's nine stand together. */
  const edges = (i, width) => {
    const between = width * 0.012;
    const one = (width - (types - 1) * between) / I;
    const left = i * one + Math.floor(i / places) * between;
    return [left, left + one];
  };
  const pick = ({ x }) => {
    let nearest = 0;
    const far = (i) => Math.abs((edges(i, 1)[0] + edges(i, 1)[1]) / 2 - clamp(x, 0, 0.9999));
    for (let i = 0; i < I; i++) if (far(i) < far(nearest)) nearest = i;
    if (nearest !== selected()) chooseCapsule(nearest);
  };
  drag(picker, { prevent: false, start: pick, move: pick });
  sliderKeys(picker, { now: selected, low: 0, high: I - 1, page: places, to: chooseCapsule });

  /** The theme's colours, to be read when they change: asking for them costs a layout. */
  function refresh() {
    const style = getComputedStyle(root);
    const roles = ["accent", "soft", "line", "raised", "ink", "contrast"];
    colours = Object.fromEntries(roles.map((role) => [role, style.getPropertyValue(`--caps-${role}`).trim()]));
  }

  function draw({ c, chosen }, capsule) {
    if (!size.width) return;
    if (!colours) refresh();
    const { brush, width, height, ratio } = fitCanvas(canvas, size);
    brush.clearRect(0, 0, width, height);
    const gap = Math.max(1, Math.round(1.5 * ratio));
    for (let i = 0; i < I; i++) {
      const [left, right] = edges(i, width);
      const column = { left, wide: Math.max(1, right - left - gap), height, ratio };
      drawColumn(brush, column, c.subarray(i * J, (i + 1) * J), chosen, colours);
    }
    brush.globalAlpha = 1;
    brush.strokeStyle = colours.ink;
    brush.lineWidth = ratio;
    brush.setLineDash([4 * ratio, 4 * ratio]);
    brush.beginPath();
    brush.moveTo(0, height * (1 - 1 / J));
    brush.lineTo(width, height * (1 - 1 / J));
    brush.stroke();
    brush.setLineDash([]);
    const [left, right] = edges(capsule, width);
    brush.strokeStyle = colours.contrast;
    brush.lineWidth = 2.5 * ratio;
    brush.strokeRect(left - gap / 2, 1.25 * ratio, right - left, height - 2.5 * ratio);
  }

  /** -> what is said of the selected capsule */
  function show({ capsule, chosen, coupling }) {
    lead.textContent = `How each of the ${I} primary capsules shares itself out: blue goes to ${chosen}`;
    const [type, place] = [Math.floor(capsule / places), capsule % places];
    const where = `type ${type}, row ${Math.floor(place / across)}, column ${place % across}`;
    const spoken = `capsule ${capsule}, ${where}: ${Math.round(coupling * 100)} percent to ${chosen}`;
    setAttributes(picker, { "aria-valuenow": capsule, "aria-valuetext": spoken });
    return spoken;
  }
  return { picker, lead, groups, draw, show, refresh, stop: size.stop };
}

/** One capsule's bar: its ten couplings `c` above each other, the chosen class's first. */
function drawColumn(brush, { left, wide, height, ratio }, c, chosen, colours) {
  const J = c.length;
  let low = 0;
  const fill = (share, colour, alpha = 1) => {
    const [y0, y1] = [height * (1 - low - share), height * (1 - low)];
    low += share;
    brush.globalAlpha = alpha;
    brush.fillStyle = colour;
    brush.fillRect(left, y0, wide, Math.max(0, y1 - y0 - ratio));
  };
  fill(c[chosen], colours.accent);
  for (let j = 0, k = 0; j < J; j++) {
    if (j === chosen) continue;
    const from = low;
    fill(c[j], k++ % 2 ? colours.line : colours.raised);
    if (c[j] <= 1.2 / J) continue;
    low = from; // more than it began with: sent elsewhere
    fill(c[j], colours.soft, clamp((c[j] * J - 1.2) / 3, 0, 0.85));
  }
}

function makeNumbers() {
  const length = readout("‖v‖", "v");
  const coupling = readout("c", "own");
  const agreement = readout("agreement û · v", "own");
  const voteLength = readout("‖û‖", "own");
  const meanEntropy = readout("mean entropy");
  const ownEntropy = readout("entropy", "own");
  const all = [length, coupling, agreement, voteLength, ownEntropy, meanEntropy];
  const list = element("dl", { class: "numbers" }, ...all.map(({ entry }) => entry));
  function show(reading) {
    const { round, chosen, capsule, meansByRound, ownByRound } = reading;
    length.term.textContent = `‖v‖ of capsule ${chosen}`;
    length.value.textContent = format(reading.length, 3);
    coupling.term.textContent = `c, from ${capsule} to ${chosen}`;
    coupling.value.textContent = format(reading.coupling, 3);
    agreement.value.textContent = format(reading.agreement, 3);
    voteLength.term.textContent = "‖û‖ of this vote";
    voteLength.value.textContent = format(reading.voteLength, 3);
    ownEntropy.term.textContent = `entropy of ${capsule}`;
    ownEntropy.value.textContent = `${format(ownByRound[round - 1])} bits`;
    meanEntropy.value.textContent = `${format(meansByRound[round - 1])} bits`;
  }
  return { list, show };
}

export default { render };
