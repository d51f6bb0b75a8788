// What runs in a Web Worker: the page's calls of a training.
import { answerCalls } from "../shared/calls.js";
import { startTraining } from "./training.js";

/** @type {any} */
let training; // once it was started

answerCalls(async (name, given) => {
  if (name !== "start") return training[name](...given);
  training = await startTraining(given[0], given[1]);
});

/** This file's own text, with all that it imports: who imports it gets a string. @type {string} */
export const turningSource = "";
