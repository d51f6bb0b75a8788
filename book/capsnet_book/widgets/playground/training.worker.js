// What runs in a Web Worker; where a page may not have one, beside the page's own script, and speaks through the port
// that it finds there. A message { id, name, given } calls a training, and is answered.
import { startTraining } from "./training.js";

const inPage = typeof document !== "undefined";
const port = inPage ? globalThis.capsnetPorts.shift() : globalThis;
const channel = new MessageChannel();
channel.port1.start();

/** Messages come between two slices; setTimeout would wait 4 ms each time. In the page a frame is drawn as well. */
const breath = (milliseconds) =>
  new Promise((resolve) => {
    if (milliseconds > 4) return setTimeout(resolve, milliseconds);
    if (inPage) return requestAnimationFrame(resolve);
    channel.port1.addEventListener("message", resolve, { once: true });
    return channel.port2.postMessage(0);
  });

/** @type {Promise<any>} */
let training;
port.onmessage = async ({ data: { id, name, given } }) => {
  try {
    if (name === "start") training = startTraining(breath, .../** @type {[any, any, any]} */ (given));
    const begun = await training;
    port.postMessage({ id, answer: name === "start" ? undefined : await begun[name](...given) });
  } catch (error) {
    port.postMessage({ id, error: error.message });
  }
};

/** Its own text: who imports this file gets it as a string, with all that it imports. @type {string} */
export const trainingSource = "";
