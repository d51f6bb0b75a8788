// A network in training as the page sees it: calls to its training, which runs in a Web Worker.
import { trainingSource } from "./training.worker.js";

const REFUSED = "this page lets no script of ours compute: nothing can be trained here";

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
 * A network that stands: call(name, …) asks its training (training.js), and comes to nothing once it was stopped.
 * @param {any[]} given  settings, sample, own, tensors: as startTraining takes them
 */
export async function startTrainee(...given) {
  const worker = startWorker();
  const calls = new Map(); // number of a call -> { resolve, reject }
  let count = 0;

  /** @returns {Promise<any>} */
  const call = (/** @type {string} */ name, /** @type {any[]} */ ...rest) =>
    new Promise((resolve, reject) => {
      calls.set(++count, { resolve, reject });
      worker.postMessage({ id: count, name, given: rest });
    });

  worker.onmessage = ({ data: { id, answer, error } }) => {
    const { resolve, reject } = calls.get(id);
    calls.delete(id);
    if (error) reject(error);
    else resolve(answer);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    calls.get(1)?.reject(new Error(REFUSED)); // the first call, to start
  };

  function stop() {
    worker.terminate();
    for (const { resolve } of calls.values()) resolve();
  }

  try {
    await call("start", ...given);
    return { settings: given[0], call, stop };
  } catch (error) {
    worker.terminate();
    throw error;
  }
}
