// Chapter 11: ten lines, one of them wrong, and what the ten lines do as they stand.
import { agreements, lengthsOf, softmaxOverJ, squash, weightedSums } from "../shared/core.js";
import { t } from "../shared/t.js";
import { element } from "../shared/ui.js";
import { capsules } from "./capsules.js";
import { margin } from "./margin.js";
import { masking, softmax } from "./mask.js";
import { sharing } from "./routing.js";
import { squashing } from "./squash.js";
import { answerOf, DIGITS, inWords, makeRow, makeView } from "./view.js";

/** @typedef {import("./view.js").Setting} Setting */
/** @typedef {{ bug: string, code: string, wrong: number, mended: string, hint: string,
 *   make: (setting: Setting) => { node: Element, show: (isMended: boolean) => string } }} Round
 *   wrong: the number of the line, from 0; show(): what the lines do, in words */

/** The picture of a question, with its option `broken`, or with the right one. */
const pictureOf =
  (/** @type {any} */ question, /** @type {number} */ broken) =>
  (/** @type {Setting} */ setting) => {
    const { node, show } = question.make(setting);
    const right = question.options.findIndex((option) => option.right);
    return { node, show: (/** @type {boolean} */ isMended) => show(isMended ? right : broken) };
  };

/** Two rows of ten lengths and a drawing. */
function makeRows(/** @type {Setting} */ setting, /** @type {string[]} */ labels) {
  const rows = labels.map((label) => makeRow({ count: 10, label, names: DIGITS }));
  const view = makeView(setting, element("div", {}, ...rows.map((row) => row.node)));
  const show = (/** @type {ArrayLike<number>[]} */ lengths, /** @type {boolean} */ isMended) =>
    rows.forEach((row, n) =>
      row.show(lengths[n], (j) => (j === setting.label ? (isMended ? "right" : "wrong") : "")),
    );
  return { view, show };
}

/** Adds the mean over the images of their agreements to the logits of all. */
function meanOf(/** @type {Float32Array[]} */ tensors) {
  return tensors[0].map((_, k) => tensors.reduce((sum, a) => sum + a[k], 0) / tensors.length);
}

/**
 * The class capsules of several images routed together, and the logits that remain.
 * @param {any} network @param {Float32Array[]} votes  û of each image
 * @param {{ b?: Float32Array[], isMean?: boolean }} _  b: what is left from an earlier call;
 *   isMean: the agreement is averaged over the batch
 */
export function routeTogether({ I, J, D_out }, votes, { b, isMean = false } = {}) {
  let logits = b ?? votes.map(() => new Float32Array(I * J));
  let v = votes;
  for (let round = 0; round < 3; round++) {
    v = votes.map((u_hat, n) => {
      const s = weightedSums(softmaxOverJ(logits[n], I, J), u_hat, I, J, D_out);
      for (let j = 0; j < J; j++) squash(s, j * D_out, D_out);
      return s;
    });
    const own = votes.map((u_hat, n) => agreements(u_hat, v[n], I, J, D_out));
    const mean = meanOf(own);
    logits = logits.map((old, n) => old.map((x, k) => x + (isMean ? mean : own[n])[k]));
  }
  return { v, b: logits };
}

/**
 * The same digit read twice. read(isMended) -> class capsules, [J, D_out] each time.
 * @param {Setting} setting @param {string[]} labels
 * @param {string} caption  of what the second reading draws
 * @param {(isMended: boolean) => Float32Array[]} read @param {(words: string[]) => string} tell
 */
function readTwice(setting, labels, caption, read, tell) {
  const { view, show } = makeRows(setting, labels);
  return {
    node: view.node,
    show(/** @type {boolean} */ isMended) {
      const answers = read(isMended).map((v) => answerOf(setting.network, v));
      show(
        answers.map(({ lengths }) => lengths),
        isMended,
      );
      view.say(t`the lengths of the same digit's capsules`);
      view.draw(answers[1].drawing, caption);
      return tell(answers.map(inWords));
    },
  };
}

function neighbours(/** @type {Setting} */ setting) {
  const { network, image, others } = setting;
  const votes = [image, ...others].map((digit) => network.look(digit).u_hat);
  return readTwice(
    setting,
    [t`routed alone`, t`beside nine other digits`],
    t`what it draws beside the others`,
    (isMended) => {
      const isMean = !isMended;
      const alone = routeTogether(network, votes.slice(0, 1), { isMean }).v[0];
      const beside = routeTogether(network, votes, { isMean }).v[0];
      return [alone, beside];
    },
    (words) => t`Alone: ${words[0]} In a batch of ten: ${words[1]}`,
  );
}

function secondCall(/** @type {Setting} */ setting) {
  const { network, image, others } = setting;
  const votes = [others[2], image].map((digit) => network.look(digit).u_hat);
  return readTwice(
    setting,
    [t`the first call`, t`a call after another digit`],
    t`what it draws in the later call`,
    (isMended) => {
      const first = routeTogether(network, [votes[1]]).v[0];
      const { b } = routeTogether(network, [votes[0]]);
      const later = routeTogether(network, [votes[1]], isMended ? {} : { b }).v[0];
      return [first, later];
    },
    (words) => t`The first call: ${words[0]} A later one: ${words[1]}`,
  );
}

function softened(/** @type {Setting} */ setting) {
  const { network, image, label } = setting;
  const { capsules: v } = network.forward(image);
  const lengths = lengthsOf(v, network.J, network.D_out);
  const { view, show } = makeRows(setting, [t`the lengths`, t`what the loss is given`]);
  return {
    node: view.node,
    show(/** @type {boolean} */ isMended) {
      const given = isMended ? lengths : softmax(lengths);
      show([lengths, given], isMended);
      view.say(t`ten lengths, and what the loss is given for them`);
      view.draw(answerOf(network, v).drawing, t`what it draws`);
      const amount = given[label].toFixed(2);
      const length = lengths[label].toFixed(2);
      return t`The capsule of the ${label} is ${length} long, and the loss is given ${amount}.`;
    },
  };
}

/** @type {Round[]} */
export const ROUNDS = [
  {
    bug: "softmax-axis",
    code: `def route(u_hat, iterations=3):
    B, I, J, D_out = u_hat.shape
    b = u_hat.new_zeros(B, I, J)
    for _ in range(iterations):
        c = b.softmax(dim=1)
        s = torch.einsum("bij,bije->bje", c, u_hat)
        square = (s * s).sum(dim=2, keepdim=True).clamp_min(1e-16)
        v = square / (1 + square) * s / square.sqrt()
        b = b + torch.einsum("bije,bje->bij", u_hat, v)
    return v`,
    wrong: 4,
    mended: "        c = b.softmax(dim=2)",
    hint: t`Each part should give exactly 1. Which line brings that about?`,
    make: pictureOf(sharing, 0),
  },
  {
    bug: "capsule-view",
    code: `def primary_capsules(images):
    edges = conv(images).relu()
    features = primary_conv(edges)
    B, C, H, W = features.shape
    u = features.view(B, -1, 8)
    square = (u * u).sum(dim=2, keepdim=True)
    square = square.clamp_min(1e-16)
    share = square / (1 + square)
    direction = u / square.sqrt()
    return share * direction`,
    wrong: 4,
    mended: "    u = features.view(B, -1, 8, H, W).permute(0, 1, 3, 4, 2).reshape(B, -1, 8)",
    hint: t`Each capsule should see one place. Which line says which numbers belong together?`,
    make: pictureOf(capsules, 0),
  },
  {
    bug: "margin-not-squared",
    code: `def margin_loss(v, labels):
    J = v.shape[1]
    square = (v * v).sum(dim=2)
    lengths = square.clamp_min(1e-16).sqrt()
    T = F.one_hot(labels, J)
    missing = (0.9 - lengths).clamp_min(0)
    excess = (lengths - 0.1).clamp_min(0)
    L = T * missing + 0.5 * (1 - T) * excess
    loss = L.sum(dim=1)
    return loss.mean()`,
    wrong: 7,
    mended: "    L = T * missing**2 + 0.5 * (1 - T) * excess**2",
    hint: t`A network in doubt should be able to say perhaps. Which line pulls equally hard at every
      length?`,
    make: pictureOf(margin, 0),
  },
  {
    bug: "squash-nan",
    code: `def squash(s):
    square = (s * s).sum(dim=-1, keepdim=True)
    length = square.sqrt()
    direction = s / length
    return square / (1 + square) * direction

u = squash(group(features, dim=8))
u_hat = prediction_vectors(u, weight)
v = route(u_hat, iterations=3)
lengths = capsule_lengths(v)`,
    wrong: 2,
    mended: "    length = square.clamp_min(1e-16).sqrt()",
    hint: t`One capsule sees nothing: its s is zero. Which line makes the zero that something is
      divided by?`,
    make: pictureOf(squashing, 0),
  },
  {
    bug: "mask-prediction",
    code: `def loss_of(images, labels):
    u = primary_capsules(images)
    v = route(prediction_vectors(u, weight))
    lengths = capsule_lengths(v)
    keep = F.one_hot(lengths.argmax(dim=1), 10)
    masked = v * keep[:, :, None]
    drawing = decoder(masked.flatten(1))
    error = (drawing - images.flatten(1)).square()
    margin = margin_loss(lengths, labels)
    return margin + 0.0005 * error.sum(dim=1).mean()`,
    wrong: 4,
    mended: "    keep = F.one_hot(labels, 10)",
    hint: t`In training the network misreads this digit. Whose capsule draws it?`,
    make: pictureOf(masking, 0),
  },
  {
    bug: "batch-agreement",
    code: `def route(u_hat, iterations=3):
    B, I, J, D_out = u_hat.shape
    b = u_hat.new_zeros(B, I, J)
    for _ in range(iterations):
        c = b.softmax(dim=2)
        s = (c[..., None] * u_hat).sum(dim=1)
        v = squash(s)
        a = (u_hat * v[:, None]).sum(dim=3)
        b = b + a.mean(dim=0)
    return v`,
    wrong: 8,
    mended: "        b = b + a",
    hint: t`An image's answer should not depend on who sits beside it. Where do images meet?`,
    make: neighbours,
  },
  {
    bug: "stale-logits",
    code: `def forward(self, u):
    u_hat = prediction_vectors(u, self.weight)
    if self.b is None:
        self.b = u_hat.new_zeros(u_hat.shape[:3])
    for _ in range(3):
        c = self.b.softmax(dim=2)
        s = torch.einsum("bij,bije->bje", c, u_hat)
        v = squash(s)
        self.b = self.b + agreement(u_hat, v)
    return v`,
    wrong: 2,
    mended: "    if True:  # anew in every call",
    hint: t`The logits should start at zero in each call. Which line sees to that, and when?`,
    make: secondCall,
  },
  {
    bug: "lengths-softmax",
    code: `for images, labels in batches:
    features = primary_conv(conv(images).relu())
    u = squash(group(features, dim=8))
    v = route(prediction_vectors(u, weight))
    lengths = capsule_lengths(v)
    scores = lengths.softmax(dim=1)
    loss = margin_loss(scores, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()`,
    wrong: 5,
    mended: "    scores = lengths",
    hint: t`The loss asks for 0.9. Can what it is given ever be that large?`,
    make: softened,
  },
];
