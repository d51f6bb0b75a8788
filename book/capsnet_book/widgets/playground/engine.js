// A network in training as the page sees it: its engine, in a Web Worker, and what the engine told last. Where the page
// may not have a worker, the same script learns between two frames of the page.
import { engineSource } from "./engine.worker.js";
import { TESTS, WALL } from "./sizes.js";

const FIRST = 0; // the number of the first order, which is answered as soon as the network stands

/**
 * Starts an engine with an untrained network, or with `tensors`.
 * @param {any} settings @param {any} sample  see files.js
 * @param {{ changed?: () => void, paused: (why: string) => void, failed: (words: string) => void }} page  what it is
 *   told
 * @param {any} [tensors]
 */
export function startEngine(settings, sample, { changed, paused, failed }, tensors) {
  const url = URL.createObjectURL(new Blob([engineSource], { type: "text/javascript" }));
  const answers = new Map(); // number of an order -> { resolve, reject }
  let count = FIRST;
  let port;
  const order = (message) => port.postMessage(message);
  const answered = (id) => new Promise((resolve, reject) => answers.set(id, { resolve, reject }));
  const engine = {
    settings,
    frame: /** @type {any} */ (undefined),
    test: /** @type {any} */ (undefined), // the digits that it never learns from
    curve: [], // [digits seen, share of errors, seconds]
    loss: undefined, // means of both losses since the last frame, and the share of right answers
    plain: false, // whether it has to do without WebAssembly
    /** Once it is fulfilled there are a frame and the test digits. */
    ready: answered(FIRST).then(({ fast, test }) => Object.assign(engine, { plain: !fast, test })),
    /** For each tile of the wall whether it takes the digit for another. */
    mistakes: () => Array.from({ length: WALL }, (_, n) => engine.frame.wall.answers[n] !== engine.test.labels[n]),
    /** How many of the wall's hundred it names. */
    right: () => engine.mistakes().filter((wrong) => !wrong).length,
    order,
    /** An order that is answered. @param {any} message @returns {Promise<any>} */
    ask(message) {
      order({ ...message, id: ++count });
      return answered(count);
    },
    stop() {
      if (port instanceof Worker) port.terminate();
      else {
        order({ do: "pause" });
        port.close();
      }
      URL.revokeObjectURL(url);
    },
  };

  const heard = {
    frame(frame) {
      engine.frame = frame;
      for (const [seen, wrong, seconds] of frame.tests) engine.curve.push([seen, wrong / TESTS, seconds]);
      const { digits: n, margin, drawing, right } = frame.since;
      if (n) engine.loss = { margin: margin / n, drawing: drawing / n, right: right / n, digits: n };
      if (changed) changed();
      else order({ do: "seen" });
    },
    paused: ({ why }) => paused(why),
    answer: ({ id, ...found }) => answers.get(id).resolve(found),
    error: ({ id, words }) => (answers.has(id) ? answers.get(id).reject(new Error(words)) : failed(words)),
  };
  const hear = (message) => {
    heard[message.is](message);
    answers.delete(message.id);
  };

  function begin(with_) {
    port = with_;
    port.onmessage = ({ data }) => hear(data);
    order({ do: "start", id: FIRST, settings, sample, tensors });
  }

  function beginHere() {
    const { port1, port2 } = new MessageChannel();
    const words = "this page lets no script of ours compute: nothing can be trained here";
    const onerror = () => hear({ is: "error", id: FIRST, words });
    const script = Object.assign(document.createElement("script"), { src: url, onerror });
    globalThis.capsnetEnginePort = port1;
    document.head.append(script);
    script.remove();
    begin(port2);
  }

  try {
    const worker = new Worker(url);
    worker.onerror = (event) => {
      event.preventDefault();
      worker.terminate();
      beginHere();
    };
    begin(worker);
  } catch {
    beginHere();
  }
  return engine;
}
