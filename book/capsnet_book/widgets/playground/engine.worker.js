// The engine of the playground, which lives in a Web Worker; where a page may not have one, beside the page's own
// script, and speaks through the port that it finds there. It is given orders ({ do: … }) and answers ({ is: … }).
import { unpackDigits } from "./digits.js";
import { loadKernels } from "./kernels.js";
import { makeLearning } from "./learning.js";
import { configOf } from "./parameters.js";

const inPage = typeof document !== "undefined";
const port = inPage ? globalThis.capsnetEnginePort : globalThis;

/** Messages come between two slices; setTimeout would wait 4 ms each time. In the page a frame is drawn as well. */
const channel = new MessageChannel();
const waiting = [];
channel.port1.onmessage = () => waiting.shift()();
function wait(work) {
  if (inPage) return requestAnimationFrame(work);
  waiting.push(work);
  channel.port2.postMessage(0);
}

const post = (message, transfer = []) => port.postMessage(message, transfer);
let learning;

const ORDERS = {
  async start({ id, settings, sample, tensors }) {
    const [kernels, digits] = await Promise.all([loadKernels(), unpackDigits(sample)]);
    learning = makeLearning(settings, digits, kernels, { post, wait }, tensors);
    learning.frame();
    post({ is: "answer", id, fast: kernels.fast, test: digits.test });
  },
  run: ({ pace, until }) => learning.run(pace, until),
  pause: () => learning.pause(),
  seen: () => learning.seen(),
  watch: ({ tile }) => learning.watch(tile),
  teach: ({ images, labels }) => learning.teach(images, labels),
  read: ({ id, image }) => post({ is: "answer", id, ...learning.network.read(image) }),
  weights({ id }) {
    post({ is: "answer", id, tensors: learning.network.tensors(), config: configOf(learning.network.settings) });
  },
};

let before = Promise.resolve(); // orders are followed one after the other
port.onmessage = ({ data }) => {
  before = before
    .then(() => ORDERS[data.do](data))
    .catch((error) => post({ is: "error", words: error.message, id: data.id }));
};

/** Its own text: who imports this file gets it as a string, with all that it imports. @type {string} */
export const engineSource = "";
