// What runs in a Web Worker: a message { id, name, given } calls a training, and is answered.
import { startTraining } from "./training.js";

/** @type {any} */
let training; // once it was started

async function call(name, given) {
  if (name !== "start") return training[name](...given);
  training = await startTraining(.../** @type {[any, any, any]} */ (given));
}

globalThis.onmessage = async ({ data: { id, name, given } }) => {
  try {
    postMessage({ id, answer: await call(name, given) });
  } catch (error) {
    postMessage({ id, error });
  }
};

/** This file's own text, with all that it imports: who imports it gets a string. @type {string} */
export const trainingSource = "";
