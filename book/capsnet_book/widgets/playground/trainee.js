// A network in training as the page sees it: calls to its training, which runs in a Web Worker.

import { t } from "../shared/t.js";
import { trainingSource } from "./training.worker.js";

const REFUSED = t`this page lets no script of ours compute: nothing can be trained here`;

/**
 * @typedef {object} Trainee
 * @property {any} settings
 * @property {(name: string, ...given: any[]) => Promise<any>} call  Ask the training by name
 *   (training.js). The answer is undefined once the trainee was stopped.
 * @property {() => void} stop  End its workers and all calls that wait for them.
 * @property {boolean} apart  Whether it learns on while it is examined.
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
 * Start a worker whose calls are answered.
 * @returns {{ call: (name: string, given: any[], port?: MessagePort) => Promise<any>,
 *   stop: () => void }}  a call's answer is undefined once the worker was stopped
 * @throws {Error} where the page may not compute
 */
function startAnswering() {
  const worker = startWorker();
  const waiting = new Map(); // number of a call -> { resolve, reject }
  let count = 0; // calls so far
  let stopped = false;

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

  return {
    call(name, given, port) {
      if (stopped) return Promise.resolve(undefined); // an ended worker never answers
      return new Promise((resolve, reject) => {
        count++;
        waiting.set(count, { resolve, reject });
        worker.postMessage({ id: count, name, given, port }, port ? [port] : []);
      });
    },
    stop() {
      stopped = true;
      worker.terminate();
      for (const { resolve } of waiting.values()) resolve();
      waiting.clear();
    },
  };
}

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
  const training = startAnswering();
  function stop() {
    training.stop();
    examiner?.stop();
  }
  try {
    const { port1, port2 } = new MessageChannel();
    if (hasSecondCore()) examiner = startAnswering();
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
  return { settings, call, stop, apart: examiner !== undefined };
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
