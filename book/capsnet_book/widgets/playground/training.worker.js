// What runs in a Web Worker: a message { id, name, given } calls a training, and is answered.
import { startTraining } from "./training.js";

/** By name: to start; from then on, all that the training can do. @type {Record<string, (...given: any) => any>} */
const calls = {
  async start(...given) {
    Object.assign(calls, await startTraining(.../** @type {[any, any, any]} */ (given)));
  },
};
globalThis.onmessage = async ({ data: { id, name, given } }) => {
  try {
    postMessage({ id, answer: await calls[name](...given) });
  } catch (error) {
    postMessage({ id, error });
  }
};

/** Its own text: who imports this file gets it as a string, with all that it imports. @type {string} */
export const trainingSource = "";
