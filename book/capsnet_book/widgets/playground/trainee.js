// A network in training as the page sees it: calls to its training, which runs in a Web Worker. Where the page may not
// have one, the same script learns between two frames of the page.
import { trainingSource } from "./training.worker.js";

const REFUSED = "this page lets no script of ours compute: nothing can be trained here";

/**
 * A network that stands: call(name, …) asks its training (training.js), and comes to nothing once it was stopped.
 * @param {any[]} given  settings, sample, own, tensors: as startTraining takes them
 */
export async function startTrainee(...given) {
  const url = URL.createObjectURL(new Blob([trainingSource], { type: "text/javascript" }));
  const calls = new Map(); // number of a call -> { resolve, reject }
  let count = 0;
  /** @type {any} */
  let port;

  /** @returns {Promise<any>} */
  const call = (/** @type {string} */ name, /** @type {any[]} */ ...rest) =>
    new Promise((resolve, reject) => {
      calls.set(++count, { resolve, reject });
      port.postMessage({ id: count, name, given: rest });
    });

  /** @param {any} to  the worker, or the other end of a channel */
  const begin = (to) =>
    new Promise((resolve, reject) => {
      port = to;
      port.onmessage = ({ data: { id, answer, error } }) => {
        if (error === undefined) calls.get(id).resolve(answer);
        else calls.get(id).reject(new Error(error));
        calls.delete(id);
      };
      port.onerror = (event) => {
        event.preventDefault();
        reject(new Error(REFUSED));
      };
      call("start", ...given).then(resolve, reject);
    });

  function stop() {
    if (port?.terminate) port.terminate();
    else call("pause").finally(() => port.close());
    for (const { resolve } of calls.values()) resolve();
  }

  async function beginHere() {
    const { port1, port2 } = new MessageChannel();
    globalThis.capsnetPorts = [...(globalThis.capsnetPorts ?? []), port1];
    await new Promise((resolve, reject) => {
      const onerror = () => reject(new Error(REFUSED));
      document.head.append(Object.assign(document.createElement("script"), { src: url, onload: resolve, onerror }));
    });
    await begin(port2);
  }

  try {
    await begin(new Worker(url));
  } catch {
    port?.terminate();
    await beginHere();
  } finally {
    URL.revokeObjectURL(url);
  }
  return { settings: given[0], call, stop };
}
