// Work that runs in a Web Worker, called by name: a message { id, name, given, port } is answered.
import { t } from "./t.js";

const REFUSED = t`this page lets no script of ours compute: nothing can be trained here`;

/**
 * Start a worker. It gets the page's catalogue (t.js): its errors speak the reader's language.
 * @param {string} source @throws {Error} where the page may have none
 */
function startWorker(source) {
  const words = typeof capsnetWords === "undefined" ? {} : capsnetWords;
  const catalogue = ["globalThis.capsnetWords=", JSON.stringify(words), ";\n"];
  const script = new Blob([...catalogue, source], { type: "text/javascript" });
  const url = URL.createObjectURL(script);
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
 * @param {string} source  the worker's script, which calls answerCalls()
 * @returns {{ call: (name: string, given: any[], port?: MessagePort) => Promise<any>,
 *   stop: () => void }}  a call's answer is undefined once the worker was stopped
 * @throws {Error} where the page may not compute
 */
export function startAnswering(source) {
  const worker = startWorker(source);
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

/**
 * In a worker: answer the page's calls.
 * @param {(name: string, given: any[], port?: MessagePort) => any} call  does the work
 */
export function answerCalls(call) {
  globalThis.onmessage = async ({ data: { id, name, given, port } }) => {
    try {
      postMessage({ id, answer: await call(name, given, port) });
    } catch (error) {
      postMessage({ id, error });
    }
  };
}

const channel = new MessageChannel();
channel.port1.start();

/** Wait until messages were looked at; setTimeout alone would wait for 4 ms each time. */
export const breath = (/** @type {number} */ milliseconds = 0) =>
  new Promise((resolve) => {
    if (milliseconds > 4) return setTimeout(resolve, milliseconds);
    channel.port1.addEventListener("message", resolve, { once: true });
    return channel.port2.postMessage(0);
  });
