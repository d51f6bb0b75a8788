// A bug of the catalogue beside the right network: the couplings of a real digit, and the error in a short training.
import { answerWith, remarkOnBug, summaryOf } from "./bug_picker_model.js";
import { makeBars } from "./shared/bars.js";
import { axes } from "./shared/controls.js";
import { makeNetwork, readSafetensors } from "./shared/core.js";
import { paintCouplings } from "./shared/couplings.js";
import { layOut } from "./shared/stage.js";
import {
  clamp,
  digitAt,
  digitButton,
  element,
  format,
  greysOf,
  listen,
  makePainter,
  makeRoot,
  mount,
  oncePerFrame,
  save,
  setAttributes,
  sharedWeights,
  svg,
  themeColours,
  whenThemeChanges,
} from "./shared/ui.js";

const [MOST, LEAST] = [1, 0.02]; // of the errors that the curve shows

/** A map of couplings, a row a class and a column a capsule below; beside each row the length of its capsule. */
function makePanel(role, I, J) {
  const map = element("canvas", { width: I, height: J, class: "bug-map", role: "img", "data-role": `map-${role}` });
  const bars = makeBars("Lengths of the ten digit capsules");
  const caption = element("figcaption", {}, role === "right" ? "as it should be" : "");
  const figure = element(
    "figure",
    { class: "bug-panel" },
    caption,
    element("div", { class: "map-and-lengths" }, map, bars.list),
  );

  /** c: couplings [I, J]; even: an even share. */
  function show(c, even, { lengths, longest }, colours) {
    paintCouplings(map, c, even, colours);
    bars.show(lengths, longest);
    const label = `Couplings of ${I} capsules below with ${J} above; the longest is ${longest}`;
    setAttributes(map, { "aria-label": label });
  }

  return { figure, caption, show };
}

/** The test error in a short training, right and with the bug. */
function makeCurve(steps, right) {
  const plan = axes({
    width: 480,
    height: 220,
    left: 70,
    right: 18,
    top: 12,
    bottom: 48,
    x: [0, steps.at(-1)],
    y: [LEAST, MOST],
    warp: { y: Math.log },
  });
  const pathOf = (errors) => plan.path(errors.map((error, t) => [steps[t], clamp(error, LEAST, MOST)]));
  const lines = [1, 0.3, 0.1, 0.03];
  const line = svg("path", { class: "learned bug" });
  const picture = svg(
    "svg",
    { viewBox: "0 0 480 220", role: "img", "data-role": "curve" },
    ...lines.map((error) => svg("path", { class: "axis", d: `M${plan.x(0)} ${plan.y(error)}H${plan.end}` })),
    ...plan.beside(lines, 8, (error) => `${error * 100} %`),
    ...plan.below(
      steps.filter((step) => step % 40 === 0),
      20,
    ),
    plan.text("steps of training", (plan.x(0) + plan.end) / 2, 217, { "text-anchor": "middle" }),
    svg("path", { class: "learned", d: pathOf(right) }),
    line,
  );
  const last = element("p", { "data-role": "last" });
  const key = (kind, words) => element("span", { class: kind }, words);
  const caption = element(
    "figcaption",
    {},
    "Recorded: wrong of the test digits, in short trainings ",
    key("key", "right"),
    key("key bug", "with the bug"),
  );

  function show(errors, words) {
    line.setAttribute("d", pathOf(errors));
    last.textContent = words;
    picture.setAttribute("aria-label", `Test error by steps of training. ${words}`);
  }

  return { figure: element("figure", { class: "learning" }, caption, picture, last), show };
}

async function build(root, model, host) {
  const weights = await sharedWeights(model, host);
  const network = makeNetwork(weights);
  const weight = readSafetensors(weights).tensors["routed.weight"];
  const { I, J, D_out: D } = network;
  const images = greysOf(model.get("images"));
  const labels = model.get("labels");
  const [catalogue, steps, right] = [model.get("catalogue"), model.get("steps"), model.get("right")];
  const answers = labels.map((_, n) => network.forward(digitAt(images, n), 3));
  let bug = model.get("bug");
  let index = model.get("index");
  let colours;

  const choices = catalogue.map(({ id }) =>
    element(
      "button",
      {
        type: "button",
        "data-role": "bug",
        "data-bug": id,
        "aria-pressed": "false",
        onclick: () => choose({ bug: id }),
      },
      id,
    ),
  );
  const digits = labels.map((label, n) =>
    digitButton({
      "data-role": "digit",
      "aria-pressed": "false",
      "aria-label": `Show the handwritten ${label}`,
      onclick: () => choose({ index: n }),
    }),
  );
  const title = element("p", { class: "bug-title", "data-role": "title" });
  const [good, bad] = [makePanel("right", I, J), makePanel("buggy", I, J)];
  const curve = makeCurve(steps, right);
  const group = (kind, label, nodes) => element("div", { class: kind, role: "group", "aria-label": label }, ...nodes);
  const { say, stop: stopSaying } = layOut(root, {
    stage: element("div", {}, title, element("div", { class: "panels" }, good.figure, bad.figure)),
    hands: [group("bugs", "Bugs of the catalogue", choices)],
    more: [
      group(
        "samples",
        "Handwritten digits to route",
        digits.map(({ button }) => button),
      ),
      curve.figure,
    ],
    about: "Another digit, and what the bug does to a training",
  });
  const painter = makePainter(root);

  function choose(values) {
    ({ bug = bug, index = index } = values);
    save(model, values);
    schedule();
  }

  function update() {
    const { title: name, error } = catalogue.find(({ id }) => id === bug);
    const [truth, wrong] = [null, bug].map((each) => answerWith(each, answers, index, network, weight));
    const [ours, theirs] = [truth, wrong].map((routed) => summaryOf(routed, J, D));
    good.show(truth.c, 1 / J, ours, colours);
    bad.show(wrong.c, 1 / (bug === "softmax-axis" ? I : J), theirs, colours);
    for (const button of choices) button.setAttribute("aria-pressed", String(button.dataset.bug === bug));
    digits.forEach(({ button }, n) => button.setAttribute("aria-pressed", String(n === index)));
    title.textContent = name;
    bad.caption.textContent = `with ${bug}`;
    const percent = (errors) => `${format(errors.at(-1) * 100, 1)} %`;
    const trained = `Trained with it for ${steps.at(-1)} steps`;
    const last = `${trained}, ${percent(error)} are wrong; without it ${percent(right)}.`;
    const remark = remarkOnBug(bug, labels[index], ours, theirs);
    curve.show(error, last);
    say(`${remark} ${last}`, `${name} ${remark} ${last}`);
    const lengths = Array.from(theirs.lengths, (x) => x.toFixed(4)).join(",");
    Object.assign(root.dataset, { bug, index, lengths });
  }
  const schedule = oncePerFrame(update);

  const stopListening = listen(model, {
    bug: () => {
      bug = model.get("bug");
      schedule();
    },
    index: () => {
      index = model.get("index");
      schedule();
    },
  });
  const refresh = () => {
    colours = themeColours(root);
    painter.refresh();
    digits.forEach(({ canvas }, n) => painter.paint(canvas, digitAt(images, n)));
    update();
  };
  const stopWatching = whenThemeChanges(refresh);
  refresh();
  return [stopListening, stopWatching, schedule.cancel, stopSaying];
}

function render({ model, el, host }) {
  const root = makeRoot(
    "BugPicker",
    "A bug beside the right network: couplings of a digit, and a training",
    "Live: couplings and lengths, computed in this page. Recorded: the trainings.",
  );
  return mount(el, root, () => build(root, model, host));
}

export default { render };
