// A network in training as the page sees it: calls to its training, which runs in a Web Worker.

import { t } from "../shared/t.js";
import { trainingSource } from "./training.worker.js";

const REFUSED = t`this page lets no script of ours compute: nothing can be trained here`;

/**
 * @typedef {object} Trainee
 * @property {any} settings
 * @property {(name: string, ...given: any[]) => Promise<any>} call  Ask the training by name
 *   (training.js). The answer is undefined once the trainee was stopped.
 * @property {() => void} stop  End the worker and all calls that wait for it.
 * @property {any} [frame]  How the network stood when it was last asked.
 */

/** Start a worker. @throws {Error} where the page may have none */
function startWorker() {
  const url = URL.createObjectURL(new Blob([trainingSource], { type: "text/javascript" }));
  try {
    return new Worker(url);
  } catch {
    throw new Error(REFUSED);
  } finally {
    URL.revokeObjectURL(url);
  }
}

/**
 * Start a worker, and a training in it.
 * @param {any[]} given  settings, sample, own, tensors: as startTraining takes them
 * @returns {Promise<Trainee>}
 * @throws {Error} where the page may not compute, or the training cannot start
 */
export async function startTrainee(...given) {
  const worker = startWorker();
  const waiting = new Map(); // number of a call -> { resolve, reject }
  let count = 0; // calls so far
  let stopped = false;

  /** @returns {Promise<any>} */
  function call(/** @type {string} */ name, /** @type {any[]} */ ...rest) {
    if (stopped) return Promise.resolve(undefined); // an ended worker never answers
    return new Promise((resolve, reject) => {
      count++;
      waiting.set(count, { resolve, reject });
      worker.postMessage({ id: count, name, given: rest });
    });
  }

  function stop() {
    stopped = true;
    worker.terminate();
    for (const { resolve } of waiting.values()) resolve();
    waiting.clear();
  }

  worker.onmessage = ({ data: { id, answer, error } }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error) reject(error);
    else resolve(answer);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    waiting.get(1)?.reject(new Error(REFUSED)); // the first call, to start
  };

  try {
    await call("start", ...given);
    return { settings: given[0], call, stop };
  } catch (error) {
    stop();
    throw error;
  }
}

/**
 * Start one trainee for each of the settings, or none.
 * @param {any[]} settings
 * @param {any[]} given  as startTrainee takes them, less the settings
 * @returns {Promise<Trainee[]>}
 * @throws {Error} the first trainee's that cannot start; the others are stopped
 */
export async function startTrainees(settings, ...given) {
  const starts = settings.map((setting) => startTrainee(setting, ...given));
  const results = await Promise.allSettled(starts);
  const trainees = results.flatMap((result) =>
    result.status === "fulfilled" ? [result.value] : [],
  );
  const failure = results.find((result) => result.status === "rejected");
  if (!failure) return trainees;
  for (const trainee of trainees) trainee.stop();
  throw failure.reason;
}
