// A network in training as the page sees it: calls to its training, which runs in a Web Worker.
import { startAnswering } from "../shared/calls.js";
import { trainingSource } from "./training.worker.js";

/**
 * @typedef {object} Trainee
 * @property {any} settings
 * @property {import("./batches.js").OwnDigits} own  the reader's pictures that it learns from
 * @property {(name: string, ...given: any[]) => Promise<any>} call  Ask the training by name
 *   (training.js). The answer is undefined once the trainee was stopped.
 * @property {() => void} stop  End its workers and all calls that wait for them.
 * @property {boolean} apart  Whether it learns on while it is examined.
 * @property {any} [frame]  How the network stood when it was last asked.
 */

/** Return whether an examiner can work beside the training, on a core of its own. */
const hasSecondCore = () => globalThis.navigator?.hardwareConcurrency > 1;

/**
 * Start a training in a worker, and its examiner in another one where there is a core for it.
 * @param {any} settings @param {any} sample @param {import("./batches.js").OwnDigits} own
 * @param {any} [tensors]  as startTraining takes them
 * @returns {Promise<Trainee>}
 * @throws {Error} where the page may not compute, or the training cannot start
 */
export async function startTrainee(settings, sample, own, tensors) {
  /** @type {ReturnType<typeof startAnswering> | undefined} */
  let examiner;
  const training = startAnswering(trainingSource);
  function stop() {
    training.stop();
    examiner?.stop();
  }
  try {
    const { port1, port2 } = new MessageChannel();
    if (hasSecondCore()) examiner = startAnswering(trainingSource);
    await Promise.all([
      training.call("start", [settings, sample, own, tensors], examiner && port1),
      examiner?.call("examine", [settings, sample, own], port2),
    ]);
  } catch (error) {
    stop();
    throw error;
  }
  const call = (/** @type {string} */ name, /** @type {any[]} */ ...given) =>
    training.call(name, given);
  return { settings, own, call, stop, apart: examiner !== undefined };
}

/**
 * Start one trainee for each of the settings, or none.
 * @param {any[]} settings
 * @param {any} sample @param {import("./batches.js").OwnDigits} own
 * @param {any} [tensors]  as startTraining takes them
 * @returns {Promise<Trainee[]>}
 * @throws {Error} the first trainee's that cannot start; the others are stopped
 */
export async function startTrainees(settings, sample, own, tensors) {
  const starts = settings.map((setting) => startTrainee(setting, sample, own, tensors));
  const results = await Promise.allSettled(starts);
  const trainees = results.flatMap((result) =>
    result.status === "fulfilled" ? [result.value] : [],
  );
  const failure = results.find((result) => result.status === "rejected");
  if (!failure) return trainees;
  for (const trainee of trainees) trainee.stop();
  throw failure.reason;
}
