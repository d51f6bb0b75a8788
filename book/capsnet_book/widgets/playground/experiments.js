// Five experiments: each asks something beforehand, lets the reader guess, trains two networks that
// differ in one setting, and says afterwards what came out.

import { t } from "../shared/t.js";
import { element, pushButton, setAttributes, write } from "../shared/ui.js";
import { errorOf } from "./pairs.js";
import { SETTINGS, settingsWith } from "./settings.js";

const ALIKE = 1; // points of error that one pair of trainings cannot tell apart
const FIRST = 0; // a guess, or an outcome: the first network is the better one
const SAME = 1;
const SECOND = 2;

/**
 * @typedef {object} Experiment
 * @property {string} name
 * @property {Record<string, any>[]} networks  what each of the two has other than usual
 * @property {string} question
 * @property {string[]} guesses  the first network reads better, both alike, the second better
 */

/** @type {Experiment[]} */
const EXPERIMENTS = [
  {
    name: t`One round or three`,
    networks: [{ rounds: 1 }, {}],
    question: t`Which reads better after 8,000 images: one round of routing, or three?`,
    guesses: [t`one round`, t`both alike`, t`three rounds`],
  },
  {
    name: t`Plant a bug`,
    networks: [{ bug: "softmax-axis" }, {}],
    question: t`A softmax over the wrong axis, as in public code: does it read worse for it?`,
    guesses: [t`it reads better`, t`both alike`, t`it reads worse`],
  },
  {
    name: t`Without drawing`,
    networks: [{ drawing: 0 }, {}],
    question: t`One learns no drawing: does it read better for it, or worse?`,
    guesses: [t`better without`, t`both alike`, t`worse without`],
  },
  {
    name: t`Ten times the rate`,
    networks: [{ rate: 10 * SETTINGS.rate.usual }, {}],
    question: t`Ten times the learning rate: which reads better after 8,000 images?`,
    guesses: [t`ten times the rate`, t`both alike`, t`the usual rate`],
  },
  {
    name: t`Against a CNN`,
    networks: [{}, { net: "cnn" }], // the pad and files have the first one
    question: t`A CNN of as many numbers, its softmax in the place of capsules: which reads better
      after 8,000 images?`,
    guesses: [t`the capsules`, t`both alike`, t`the CNN`],
  },
];

/**
 * Return the two networks' settings.
 * @param {Experiment} experiment
 * @param {{ seed: number, data: string }} common  what both have
 */
const settingsOf = ({ networks }, { seed, data }) =>
  settingsWith(...networks.map((network) => ({ ...network, seed, data }))).settings;

/**
 * Return the experiment that these settings are, whatever their seed and pictures.
 * @param {any[]} settings
 */
export function experimentOf(settings) {
  const text = JSON.stringify(settings);
  return EXPERIMENTS.find(
    (experiment) => JSON.stringify(settingsOf(experiment, settings[0])) === text,
  );
}

/**
 * Return which network came out better: FIRST, SAME or SECOND; undefined before both have learned
 * from 8,000 images. @param {number[]} errors  in per cent, NaN before
 */
export function outcomeOf([first, second]) {
  if (Number.isNaN(first) || Number.isNaN(second)) return undefined;
  if (Math.abs(first - second) < ALIKE) return SAME;
  return first < second ? FIRST : SECOND;
}

/**
 * Return what is said of an experiment.
 * @param {Experiment} experiment
 * @param {number | undefined} guess
 * @param {number[]} errors  of the two networks, in per cent
 */
export function inWords({ question, guesses }, guess, errors) {
  const outcome = outcomeOf(errors);
  if (outcome === undefined)
    return guess === undefined
      ? t`${question} First guess; then both train.`
      : t`You say: ${guesses[guess]}. Watch.`;
  const [first, second] = errors.map((error) => error.toFixed(1));
  const result = t`It came out: ${guesses[outcome]}, ${first} % wrong against ${second} %. One pair
    is no proof: ten more seeds tell.`;
  if (guess === undefined) return result;
  return guess === outcome ? t`As you said. ${result}` : t`You said: ${guesses[guess]}. ${result}`;
}

/**
 * Make the cards, the question and the guesses.
 * @param {any} session
 * @param {Element} sets  the switch between the pictures, beside the cards
 */
export function makeExperiments(session, sets) {
  const guesses = new Map(); // settings -> the reader's guess
  const cards = EXPERIMENTS.map((experiment) =>
    pushButton("experiment", experiment.name, () => choose(experiment)),
  );
  const words = element("p", { class: "question", "aria-live": "polite" });
  const answers = [FIRST, SAME, SECOND].map((answer) =>
    pushButton("guess", "", () => guess(answer)),
  );
  const choices = element("div", { class: "guesses" }, ...answers);
  const panel = element("div", { class: "asked" }, words, choices);
  const title = t`Experiments`;
  const row = element("div", { class: "cards" }, sets, element("span", {}, title), ...cards);
  const about = { class: "experiments", role: "group", "aria-label": title };
  const node = element("div", about, row, panel);

  /**
   * Take the experiment's settings, and wait for a guess; pressed again, only the usual network is
   * left.
   */
  function choose(/** @type {Experiment} */ experiment) {
    const [first] = session.settings;
    const { seed, data } = first;
    const isChosen = experimentOf(session.settings) === experiment;
    const { settings } = isChosen
      ? settingsWith({ seed, data })
      : { settings: settingsOf(experiment, first) };
    if (!isChosen) session.pause();
    session.change(settings);
  }

  /** Keep the guess, and let both learn. */
  function guess(/** @type {number} */ answer) {
    guesses.set(session.settings, answer);
    if (session.running) session.changed();
    else session.act(() => session.train());
  }

  function show() {
    const experiment = experimentOf(session.settings);
    EXPERIMENTS.forEach((other, n) => {
      setAttributes(cards[n], { "aria-pressed": other === experiment });
    });
    panel.hidden = !experiment;
    if (!experiment) return;
    const chosen = guesses.get(session.settings);
    const errors = session.present().map(({ tests }) => errorOf(tests));
    write(words, inWords(experiment, chosen, errors));
    answers.forEach((button, answer) => {
      write(button, experiment.guesses[answer]);
      setAttributes(button, { "aria-pressed": answer === chosen });
      button.disabled = chosen !== undefined || outcomeOf(errors) !== undefined;
    });
  }

  return { node, show };
}
