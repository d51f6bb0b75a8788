// A bug of the catalogue beside the right network: the couplings of a real digit, and the error in a short training.
import { makeBars } from "./shared/bars.js";
import { lengthsOf, makeNetwork, norm, predictionVectors, readSafetensors, squash } from "./shared/core.js";
import { bytesOf, clamp, digitAt, element, format, listen, makeAnnouncer, makePainter, makeRoot, mix, mount, oncePerFrame, setAttributes, sharedWeights, svg, themeColours, thumbnail, whenThemeChanges } from "./shared/ui.js";

const FULL = 0.4; // from this distance to even shares on, a cell has the full colour

// ------------------------------------------------------------------------------------- what is computed

/**
 * The capsules [I, D] that a bare view makes of the features, from those that were made rightly: u is unsquashed first.
 * Long capsules hide in float32 how long they were: lengths above come out right to about 0.005.
 */
export function mixedCapsules(u, types, D) {
  const places = u.length / (types * D);
  const features = new Float32Array(u.length); // [types · D, places]
  for (let i = 0; i < u.length / D; i++) {
    const length = norm(u, i * D, D);
    const stretch = length > 0 ? Math.sqrt(length / (1 - length)) / length : 0;
    const [type, place] = [Math.floor(i / places), i % places];
    for (let d = 0; d < D; d++) features[(type * D + d) * places + place] = u[i * D + d] * stretch;
  }
  for (let i = 0; i < u.length / D; i++) squash(features, i * D, D);
  return features;
}

/** Couplings of b [I, J] that sum to 1 over j; or over i, which is the bug. */
function shares(b, I, J, overBelow) {
  const c = new Float32Array(I * J);
  const [groups, members] = overBelow ? [J, I] : [I, J];
  const at = (group, member) => (overBelow ? member * J + group : group * J + member);
  for (let group = 0; group < groups; group++) {
    let [largest, sum] = [-Infinity, 0];
    for (let k = 0; k < members; k++) largest = Math.max(largest, b[at(group, k)]);
    for (let k = 0; k < members; k++) sum += c[at(group, k)] = Math.exp(b[at(group, k)] - largest);
    for (let k = 0; k < members; k++) c[at(group, k)] /= sum;
  }
  return c;
}

/** s [J, D] squashed in place: each capsule by its own length; or each number by that of its column, which is the bug. */
function squashed(s, J, D, overCapsules) {
  if (!overCapsules) {
    for (let j = 0; j < J; j++) squash(s, j * D, D);
    return s;
  }
  for (let d = 0; d < D; d++) {
    const column = squash(Float32Array.from({ length: J }, (_, j) => s[j * D + d]));
    column.forEach((x, j) => (s[j * D + d] = x));
  }
  return s;
}

/**
 * Procedure 1 for a batch, with a bug of the catalogue or none: couplings and capsules of the last round.
 * votes: a list of û [I, J, D]; kept: logits [I, J] that a call before has left. -> [{ b, c, v }, …], one an image
 */
export function routeWith(bug, votes, I, J, D, rounds = 3, kept = null) {
  const states = votes.map(() => ({ b: kept?.slice() ?? new Float32Array(I * J) }));
  for (let round = 0; round < (bug === "no-update-rounds" ? rounds - 1 : rounds); round++) {
    const agreements = states.map((state, n) => {
      const u_hat = votes[n];
      const c = shares(state.b, I, J, bug === "softmax-axis");
      const s = new Float32Array(J * D);
      for (let k = 0; k < I * J; k++) for (let d = 0; d < D; d++) s[(k % J) * D + d] += c[k] * u_hat[k * D + d];
      const v = squashed(s, J, D, bug === "squash-axis");
      Object.assign(state, { c, v });
      return Float32Array.from({ length: I * J }, (_, k) => {
        let agreement = 0;
        for (let d = 0; d < D; d++) agreement += u_hat[k * D + d] * v[(k % J) * D + d];
        return agreement;
      });
    });
    states.forEach((state, n) => {
      for (let k = 0; k < I * J; k++) {
        if (bug !== "batch-agreement") state.b[k] += agreements[n][k];
        else for (const each of agreements) state.b[k] += each[k] / agreements.length;
      }
    });
  }
  return states;
}

/** Where a bug acts: on "routing" as it is seen in the couplings, "zero" vectors only, or in "training" only. */
export const SEEN_IN = {
  "softmax-axis": "routing", "margin-not-squared": "training", "recon-mean": "training", "mask-prediction": "training",
  "capsule-view": "routing", "squash-nan": "zero", "squash-axis": "routing", "batch-agreement": "routing",
  "stale-logits": "routing", "lengths-softmax": "training", "no-update-rounds": "routing",
};

/** What the network makes of image `index` with a bug; all images are its batch, the one before it was seen before. */
export function answerWith(bug, answers, index, network, weight) {
  const { I, J, D_in, D_out: D } = network;
  if (bug === "batch-agreement") return routeWith(bug, answers.map(({ u_hat }) => u_hat), I, J, D)[index];
  if (bug === "stale-logits") {
    const before = answers[(index + answers.length - 1) % answers.length];
    const [{ b }] = routeWith(null, [before.u_hat], I, J, D);
    return routeWith(null, [answers[index].u_hat], I, J, D, 3, b)[0];
  }
  const { u, u_hat } = answers[index];
  const votes = bug === "capsule-view" ? predictionVectors(mixedCapsules(u, network.config.primary_types, D_in), weight) : u_hat;
  return routeWith(bug, [votes], I, J, D)[0];
}

// --------------------------------------------------------------------------------------------- the widget

function render({ model, el, host }) {
  const root = makeRoot("BugPicker", "A bug beside the right network: couplings of a digit, and a training");
  return mount(el, root, async () => {
    const weights = await sharedWeights(model, host);
    const network = makeNetwork(weights);
    const weight = readSafetensors(weights).tensors["routed.weight"];
    const { I, J, D_out: D } = network;
    const images = Float32Array.from(bytesOf(model.get("images")), (grey) => grey / 255);
    const labels = model.get("labels");
    const [catalogue, steps, right] = [model.get("catalogue"), model.get("steps"), model.get("right")];
    const answers = labels.map((_, n) => network.forward(digitAt(images, n), 3));
    let bug = model.get("bug");
    let index = model.get("index");

    const choices = catalogue.map(({ id }) => element("button", {
      type: "button", "data-role": "bug", "data-bug": id, "aria-pressed": "false", onclick: () => choose("bug", id),
    }, id));
    const thumbs = labels.map((label, n) => element("button", {
      type: "button", "data-role": "digit", "aria-pressed": "false", "aria-label": `Show the handwritten ${label}`,
      onclick: () => choose("index", n),
    }, thumbnail()));
    const title = element("p", { class: "bug-title", "data-role": "title" });
    const [good, bad] = [makePanel("right"), makePanel("buggy")];
    const readout = element("p", { class: "readout", "data-role": "readout" });
    const curve = makeCurve();
    root.append(
      element("div", { class: "bugs", role: "group", "aria-label": "Bugs of the catalogue" }, ...choices),
      title,
      element("div", { class: "samples", role: "group", "aria-label": "Handwritten digits to route" }, ...thumbs),
      element("div", { class: "panels" }, good.figure, bad.figure), readout, curve.figure);
    const announce = makeAnnouncer(root);
    const painter = makePainter(root);

    /** A map of couplings, a row a class and a column a capsule below; beside each row the length of its capsule. */
    function makePanel(role) {
      const map = element("canvas", { width: I, height: J, class: "bug-map", role: "img", "data-role": `map-${role}` });
      const bars = makeBars("Lengths of the ten digit capsules");
      const caption = element("figcaption", {}, role === "right" ? "right" : "");
      const figure = element("figure", { class: "bug-panel" }, caption,
        element("div", { class: "map-and-lengths" }, map, bars.list));
      return { figure, map, bars, caption };
    }

    function show({ map, bars }, { c, v }, even, colours) {
      const brush = map.getContext("2d");
      const cells = brush.createImageData(I, J);
      for (let k = 0; k < I * J; k++) {
        const off = c[k] / even - 1; // 0: an even share; -1: nothing
        const colour = mix(colours.raised, off < 0 ? colours.contrast : colours.accent, clamp(off < 0 ? -off : (off * even) / FULL, 0, 1));
        cells.data.set([...colour, 255], 4 * ((k % J) * I + Math.floor(k / J)));
      }
      brush.putImageData(cells, 0, 0);
      const lengths = lengthsOf(v, J, D);
      const longest = lengths.indexOf(Math.max(...lengths));
      bars.show(lengths, longest);
      setAttributes(map, { "aria-label": `Couplings of ${I} capsules below with ${J} above; the longest is ${longest}` });
      return { lengths, longest };
    }

    function choose(name, value) {
      if (name === "bug") bug = value;
      else index = value;
      model.set(name, value);
      model.save_changes();
      schedule();
    }

    function update() {
      const colours = themeColours(root);
      const entry = catalogue.find(({ id }) => id === bug);
      const wrong = answerWith(bug, answers, index, network, weight);
      const truth = answerWith(null, answers, index, network, weight);
      const ours = show(good, truth, 1 / J, colours);
      const theirs = show(bad, wrong, 1 / (bug === "softmax-axis" ? I : J), colours);
      choices.forEach((button) => button.setAttribute("aria-pressed", button.dataset.bug === bug));
      thumbs.forEach((button, n) => button.setAttribute("aria-pressed", n === index));
      title.textContent = entry.title;
      bad.caption.textContent = `with ${bug}`;
      const text = {
        training: "This bug is not in the routing: the couplings are the same. It changes what training asks for.",
        zero: "The same, number for number. This bug sleeps until a vector is exactly zero.",
        routing: `Of the handwritten ${labels[index]} it says ${theirs.longest}, with a length of ${format(theirs.lengths[theirs.longest])} in place of ${format(ours.lengths[ours.longest])}. The largest coupling is ${format(Math.max(...wrong.c))} in place of ${format(Math.max(...truth.c))}.`,
      }[SEEN_IN[bug]];
      const last = `After ${steps.at(-1)} steps ${format(entry.error.at(-1) * 100, 1)} % are wrong; without the bug ${format(right.at(-1) * 100, 1)} %.`;
      readout.textContent = text;
      announce(`${entry.title} ${text} ${last}`);
      curve.show(entry.error, last);
      Object.assign(root.dataset, { bug, index, lengths: Array.from(theirs.lengths, (x) => x.toFixed(4)).join(",") });
    }
    const schedule = oncePerFrame(update);

    function makeCurve() {
      const [width, height, left, edge, top, bottom] = [480, 220, 62, 18, 12, 48];
      const [most, least] = [1, 0.02];
      const atX = (step) => left + (step / steps.at(-1)) * (width - left - edge);
      const atY = (error) => top + (Math.log(most / clamp(error, least, most)) / Math.log(most / least)) * (height - top - bottom);
      const path = (errors) => errors.map((error, t) => `${t ? "L" : "M"}${atX(steps[t])} ${atY(error)}`).join("");
      const line = svg("path", { class: "learned bug" });
      const text = (x, y, words, anchor) => svg("text", { class: "label", x, y, "text-anchor": anchor }, words);
      const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "data-role": "curve" },
        ...[1, 0.3, 0.1, 0.03].flatMap((error) => [
          svg("path", { class: "axis", d: `M${left} ${atY(error)}H${width - edge}` }),
          text(left - 8, atY(error) + 4, `${error * 100} %`, "end"),
        ]),
        ...steps.filter((step) => step % 40 === 0).map((step) => text(atX(step), height - bottom + 20, String(step), "middle")),
        text((left + width - edge) / 2, height - 3, "steps of training", "middle"),
        svg("path", { class: "learned", d: path(right) }), line);
      const said = element("p", { class: "readout", "data-role": "last" });
      const caption = element("figcaption", {}, "Wrong of the test digits: ", element("span", { class: "key" }, "right"), element("span", { class: "key bug" }, "with the bug"));
      return {
        figure: element("figure", { class: "learning" }, caption, picture, said),
        show: (errors, words) => {
          line.setAttribute("d", path(errors));
          said.textContent = words;
          picture.setAttribute("aria-label", `Test error by steps of training. ${words}`);
        },
      };
    }

    const follow = (name, set) => () => {
      set(model.get(name));
      schedule();
    };
    const stopListening = listen(model, { bug: follow("bug", (to) => (bug = to)), index: follow("index", (to) => (index = to)) });
    const refresh = () => {
      painter.refresh();
      thumbs.forEach((button, n) => painter.paint(button.firstChild, digitAt(images, n)));
      update();
    };
    const stopWatching = whenThemeChanges(refresh);
    refresh();
    return [stopListening, stopWatching, schedule.cancel, announce.cancel];
  });
}

export default { render };
