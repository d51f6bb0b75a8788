// What runs in a Web Worker: a message { id, name, given } calls a training, and is answered.
import { startTraining } from "./training.js";

const channel = new MessageChannel();
channel.port1.start();

/** Messages come between two slices; setTimeout would wait 4 ms each time. */
const breath = (milliseconds) =>
  new Promise((resolve) => {
    if (milliseconds > 4) return setTimeout(resolve, milliseconds);
    channel.port1.addEventListener("message", resolve, { once: true });
    return channel.port2.postMessage(0);
  });

/** @type {Promise<any>} */
let training;
globalThis.onmessage = async ({ data: { id, name, given } }) => {
  try {
    if (name === "start") training = startTraining(breath, .../** @type {[any, any, any]} */ (given));
    const begun = await training;
    postMessage({ id, answer: name === "start" ? undefined : await begun[name](...given) });
  } catch (error) {
    postMessage({ id, error: error.message });
  }
};

/** Its own text: who imports this file gets it as a string, with all that it imports. @type {string} */
export const trainingSource = "";
