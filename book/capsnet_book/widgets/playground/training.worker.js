// What runs in a Web Worker: a message { id, name, given } calls a training, and is answered. With
// the message that starts it comes a port between the training and its examiner, if that has a
// worker of its own.
import { startExaminer, startTraining } from "./training.js";

/** @type {any} */
let training; // once it was started

async function call(name, given, port) {
  const [settings, sample, own, tensors] = given;
  if (name === "examine") return startExaminer(settings, sample, own, port);
  if (name !== "start") return training[name](...given);
  training = await startTraining(settings, sample, own, { tensors, port });
}

globalThis.onmessage = async ({ data: { id, name, given, port } }) => {
  try {
    postMessage({ id, answer: await call(name, given, port) });
  } catch (error) {
    postMessage({ id, error });
  }
};

/** This file's own text, with all that it imports: who imports it gets a string. @type {string} */
export const trainingSource = "";
