// What runs in a Web Worker: the page's calls of a training. With the call that starts it comes a
// port between the training and its examiner, if that has a worker of its own.
import { answerCalls } from "../shared/calls.js";
import { startExaminer, startTraining } from "./training.js";

/** @type {any} */
let training; // once it was started

answerCalls(async (name, given, port) => {
  const [settings, sample, own, tensors] = given;
  if (name === "examine") return startExaminer(settings, sample, own, port);
  if (name !== "start") return training[name](...given);
  training = await startTraining(settings, sample, own, { tensors, port });
});

/** This file's own text, with all that it imports: who imports it gets a string. @type {string} */
export const trainingSource = "";
