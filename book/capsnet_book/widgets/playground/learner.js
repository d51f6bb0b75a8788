// A network in training as the page sees it: its engine, and what the engine told last.
import { startEngine } from "./engine.js";

export const CLASSES = 10;
export const TESTS = 500; // digits that it never learns from
export const WALL = 100; // of them, those that are shown

/**
 * @param {any} settings @param {any} digits
 * @param {{ changed: () => void, paused: (why: string) => void, failed: (words: string) => void }} page
 * @param {any} [tensors]  weights to begin with, else noise
 */
export function startLearner(settings, digits, page, tensors) {
  const learner = {
    settings,
    frame: undefined,
    curve: [], // [digits seen, share of errors]
    loss: undefined, // mean of both losses since the last frame, and the share of right answers
    plain: false, // whether it has to do without WebAssembly
    seen: () => learner.frame?.seen ?? 0,
    /** How many of the wall's hundred it names. */
    right: () => learner.mistakes().reduce((all, wrong) => all + Number(!wrong), 0),
    /** For each tile of the wall whether it takes the digit for another. */
    mistakes: () => Array.from({ length: WALL }, (_, n) => learner.frame?.wall.answers[n] !== digits.test.labels[n]),
    order: (message) => engine.order(message),
    ask: (message) => engine.ask(message),
    stop: () => engine.stop(),
  };
  const engine = startEngine(
    settings,
    digits,
    {
      ready: ({ fast }) => (learner.plain = !fast),
      paused: page.paused,
      failed: page.failed,
      frame(frame) {
        learner.frame = frame;
        for (const [seen, wrong] of frame.tests) learner.curve.push([seen, wrong / TESTS]);
        const { digits: n, margin, drawing, right } = frame.since;
        if (n) learner.loss = { margin: margin / n, drawing: drawing / n, right: right / n, digits: n };
        page.changed();
      },
    },
    tensors,
  );
  return learner;
}
