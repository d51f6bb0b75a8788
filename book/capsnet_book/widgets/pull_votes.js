// Pull the votes: routing by agreement that one can touch. Each part has a vote for each whole, an
// arrow that can be pulled; what follows from it is shown at once, for every round.
import { makeNetwork } from "./shared/core.js";
import { greysOf } from "./shared/digits.js";
import { makePad } from "./shared/pad.js";
import { defineWidget } from "./shared/stage.js";
import { t } from "./shared/t.js";
import { element, pushButton, save, setAttributes } from "./shared/ui.js";
import { blended } from "./votes/blend.js";
import { votesOfDigit } from "./votes/digit.js";
import { makePicture } from "./votes/picture.js";
import { ROUNDS } from "./votes/routing.js";
import { SCENES } from "./votes/scenes.js";
import {
  DIGIT,
  fromAddress,
  GIVEN,
  groundOf,
  numbersAt,
  roundsOf,
  STRENGTHS,
  toAddress,
} from "./votes/state.js";
import { sentenceOf } from "./votes/words.js";

const PLAY = 6500; // milliseconds for all rounds
const RULE_NAMES = {
  product: t`scalar product`,
  direction: t`direction alone`,
  nearness: t`nearness (EM)`,
  attention: t`self-attention`,
  wrong: t`the wrong axis`,
};
const STRENGTH_NAMES = ["× ¼", "× 1", "× 4"];
const FIRST_ROUND = 3; // of a scene that has no other one

// ---------------------------------------------------------------------------------- the controls

/**
 * A row of buttons of which one is chosen. show(value) marks it.
 * @param {string} role @param {string} about  what is chosen, in words; "" where it is plain
 * @param {[any, string][]} choices  values and the words on their buttons
 * @param {(value: any) => void} choose
 */
function makeChoice(role, about, choices, choose) {
  const buttons = choices.map(([value, words]) =>
    pushButton(role, words, () => choose(value), { "data-value": value }),
  );
  const name = element("span", { class: "choice-name" }, about);
  const group = { class: "choice", role: "group", "aria-label": about || t`Scene` };
  const node = element("div", group, ...(about ? [name] : []), ...buttons);
  const show = (/** @type {any} */ chosen) =>
    buttons.forEach((button, n) =>
      setAttributes(button, { "aria-pressed": choices[n][0] === chosen }),
    );
  return { node, show };
}

/** The scenes that there are here. @returns {[string, string][]} */
function scenesOf(hasGiven) {
  const scenes = Object.entries(SCENES).map(([scene, { label }]) => [scene, label]);
  const given = hasGiven ? [[GIVEN, t`These votes`]] : [];
  return /** @type {[string, string][]} */ ([...given, ...scenes, [DIGIT, t`Votes of your digit`]]);
}

/** All buttons. `act` has what they do. */
function makeControls({ get, set }, act) {
  const play = pushButton("play", t`Route`, act.play, { class: "primary-action play" });
  const back = pushButton("back", t`Put the votes back`, act.putBack, { class: "put-back" });
  const scenes = makeChoice("scene", "", scenesOf(get("given").length > 0), act.takeScene);
  const ruleNames = Object.entries(RULE_NAMES);
  const rules = makeChoice("rule", t`Agreement is`, ruleNames, (rule) => set({ rule }));
  const counts = STRENGTHS.map((strength, n) => [strength, STRENGTH_NAMES[n]]);
  const strengths = makeChoice(
    "strength",
    t`Agreement is multiplied`,
    /** @type {[any, string][]} */ (counts),
    (strength) => set({ strength }),
  );
  scenes.node.prepend(play);
  rules.node.append(back);

  function show(/** @type {boolean} */ playing, /** @type {boolean} */ pulled) {
    play.textContent = playing ? t`Pause` : t`Route`;
    setAttributes(back, { "aria-disabled": !pulled });
    scenes.show(get("scene"));
    rules.show(get("rule"));
    strengths.show(get("strength"));
  }
  return { rows: [scenes.node, rules.node], strengths: strengths.node, show };
}

// ------------------------------------------------------------------------------------- the digit

/**
 * The votes of the reader's digit: the one drawn here, else the one that the page keeps, else a
 * written 7. The network is fetched when it is first asked.
 */
function makeDigit(widget, /** @type {() => void} */ drawnHere) {
  const { get, host, painter } = widget;
  const first = greysOf(host?.keptDigit?.() ?? get("digit"));
  let votes; // votesOfDigit()'s
  let problem = "";
  /** @type {Promise<any> | undefined} */
  let network;

  async function read() {
    try {
      network ??= host.getModel(get("network").network);
      const weights = (await network).get("weights");
      votes = votesOfDigit(makeNetwork(weights), pad.empty() ? first : pad.image());
      problem = "";
    } catch (error) {
      network = undefined; // the next press tries again
      problem = error.message;
    }
    widget.redraw();
  }
  const settled = () => {
    drawnHere();
    read();
  };
  const pad = makePad({ drawn: () => widget.redraw(), settled });
  const node = element("div", { class: "own-digit" }, pad.frame, pad.buttons);
  return {
    node,
    read,
    votes: () => votes,
    sentence: () =>
      problem ? t`The network cannot be fetched: ${problem}` : t`The network reads the digit …`,
    paint: () => pad.paint(painter, widget.colours),
  };
}

// ------------------------------------------------------------------------------------ the rounds

/** Lets time run from round to round. go() plays or pauses. */
function makePlayer({ get, set, animate, halt, redraw }) {
  const player = { playing: false, time: get("round"), stop, go };
  let isPaused = false;

  function stop() {
    if (player.playing) halt();
    player.playing = false;
    isPaused = false;
  }

  function go() {
    if (player.playing) {
      stop();
      isPaused = true;
      redraw();
      return;
    }
    const start = isPaused && get("round") < ROUNDS ? get("round") : 1;
    player.playing = true;
    player.time = start;
    set({ round: start });
    const far = ROUNDS - start;
    animate(
      (/** @type {number} */ t) => {
        player.playing = t < 1;
        player.time = start + far * t;
        const round = Math.floor(player.time);
        if (round !== get("round")) set({ round });
        redraw();
      },
      (PLAY * far) / (ROUNDS - 1),
    );
  }
  return player;
}

// ------------------------------------------------------------------------------------ the widget

/** Ties scene, rule, round and strength to the page's address. Returns what writes it. */
function followAddress({ model, get, stops }) {
  const take = () => {
    const values = fromAddress(location.hash);
    if (Object.keys(values).length) save(model, { ...values, pulled: {} });
  };
  take();
  globalThis.addEventListener("hashchange", take);
  stops.push(() => globalThis.removeEventListener("hashchange", take));
  let last = toAddress(get);
  return () => {
    const address = toAddress(get);
    if (address !== last) history.replaceState(null, "", address);
    last = address;
  };
}

/**
 * What is shown now: names, votes, and all rounds that follow from them. The rounds are the same
 * object as long as votes, rule and strength are: what is drawn of them is drawn once.
 */
function makeState(get) {
  let rounds;
  let roundsOfThese = "";
  return function stateNow(digit) {
    const scene = get("scene");
    const rule = get("rule");
    const ground = groundOf(scene, { given: get("given"), names: get("names"), digit });
    const { scene: pulledScene, votes: pulledVotes } = get("pulled");
    const pulled = pulledScene === scene && pulledVotes.length === ground.votes.length;
    const votes = pulled ? pulledVotes : ground.votes;
    const these = JSON.stringify([votes, rule, get("strength")]);
    if (these !== roundsOfThese) rounds = roundsOf(votes, rule, get("strength"));
    roundsOfThese = these;
    return { ...ground, scene, ground, pulled, votes, rule, rounds };
  };
}

/** Whether numbers can be blended: those of as many parts and wholes. */
const isLike = (one, other) =>
  one?.votes.length === other.votes.length && one.votes[0].length === other.votes[0].length;

/** The numbers that are shown: they move to those of new settings, and follow a hand at once. */
function makeNumbers({ animate, halt, redraw }) {
  let numbers;
  let shownOf = ""; // the settings that they belong to
  let moving = false;

  /** @param {any} goal @param {string} settings @param {boolean} playing */
  function follow(goal, settings, playing) {
    const isNew = settings !== shownOf;
    shownOf = settings;
    if (playing || !isLike(numbers, goal)) moving = false;
    else if (isNew) {
      const from = numbers;
      moving = true;
      animate((/** @type {number} */ t) => {
        moving = t < 1;
        numbers = blended(from, goal, t);
        redraw();
      });
    }
    if (!moving) numbers = goal;
    return numbers;
  }

  function stop() {
    if (moving) halt();
    moving = false;
  }
  return { follow, stop };
}

/** What a reader does to the picture. @param {any} widget */
function makeHands({ get, set }, player, numbers, stateNow) {
  return {
    takeScene(/** @type {string} */ scene) {
      player.stop();
      set({ scene, round: SCENES[scene]?.round ?? FIRST_ROUND, pulled: {} });
    },
    pull(/** @type {number} */ i, /** @type {number} */ j, /** @type {number[]} */ to) {
      player.stop();
      numbers.stop();
      const { scene, votes } = stateNow();
      const vote = to.map((x) => Math.round(x * 1000) / 1000);
      set({ pulled: { scene, votes: votes.with(i, votes[i].with(j, vote)) } });
    },
    choose(/** @type {number} */ round) {
      player.stop();
      if (round !== get("round")) set({ round });
    },
    putBack: () => set({ pulled: {} }),
    play: player.go,
  };
}

const LABEL = t`Pull the votes: parts vote for wholes, and routing shares them out`;

function build(widget) {
  const { root, get, layOut, stops } = widget;
  const addressed = get("addressed") && root.closest("figure.live-widget") !== null;
  const writeAddress = addressed ? followAddress(widget) : () => {};
  const redraw = () => widget.redraw(); // which start() sets later
  const moves = { ...widget, redraw };
  const player = makePlayer(moves);
  const numbers = makeNumbers(moves);
  const stateNow = makeState(get);
  let state;
  let focus = null;
  const hands = makeHands(widget, player, numbers, () => state);
  const digit = makeDigit(widget, () => hands.takeScene(DIGIT));
  const picture = makePicture({
    votes: () => state.votes,
    ground: () => state.ground.votes,
    round: () => get("round"),
    look(at) {
      focus = at;
      redraw();
    },
    changed: redraw,
    ...hands,
  });
  const controls = makeControls(widget, hands);
  const { say } = layOut({
    stage: picture.node,
    hands: controls.rows,
    more: [controls.strengths, digit.node],
    about: t`How much agreement counts, and a digit of your own`,
  });
  stops.push(picture.stop);

  return function draw() {
    state = stateNow(digit.votes());
    const waits = state.scene === DIGIT && !digit.votes();
    if (waits) digit.read();
    const { votes, rounds } = state;
    const round = get("round");
    if (player.playing && Math.floor(player.time) !== round) player.stop();
    const time = player.playing ? player.time : round;
    const goal = { votes, rounds, time, ...numbersAt(rounds, time) };
    const settings = `${toAddress(get)} ${digit.votes()?.parts}`;
    const shown = numbers.follow(goal, settings, player.playing);
    const settled = { ...state, ...numbersAt(rounds, round), round, focus };
    picture.draw({ ...settled, ...shown });
    controls.show(player.playing, state.pulled);
    digit.paint();
    say(waits ? digit.sentence() : sentenceOf(settled));
    if (!player.playing) writeAddress();
    Object.assign(root.dataset, {
      scene: state.scene,
      round,
      shares: settled.c.map((row) => row.map((x) => x.toFixed(3)).join(",")).join(";"),
      lengths: settled.lengths.map((x) => x.toFixed(3)).join(","),
    });
  };
}

export default defineWidget("PullVotes", LABEL, build);
