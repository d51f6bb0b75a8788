// The page's end of an engine: a Web Worker, or where the page may not have one, a script that learns between frames.
import { engineSource } from "./engine.worker.js";

/**
 * Starts an engine with an untrained network.
 * @param {any} settings @param {any} digits  see digits.js
 * @param {{
 *   frame: (frame: any) => void, paused: (why: string) => void, ready: (how: { fast: boolean }) => void,
 *   failed: (words: string) => void,
 * }} page  what it is told
 * @param {any} [tensors]  weights to begin with
 */
export function startEngine(settings, digits, page, tensors) {
  const url = URL.createObjectURL(new Blob([engineSource], { type: "text/javascript" }));
  const answers = new Map(); // id -> { resolve, reject }
  let count = 0;
  let port;

  function hear({ data }) {
    if (data.is === "frame") page.frame(data);
    else if (data.is === "paused") page.paused(data.why);
    else if (data.is === "ready") page.ready(data);
    else if (data.is === "answer") settle(data.id, "resolve", data);
    else if (data.id === undefined) page.failed(data.words);
    else settle(data.id, "reject", new Error(data.words));
  }

  function settle(id, how, value) {
    answers.get(id)?.[how](value);
    answers.delete(id);
  }

  const order = (message) => port.postMessage(message);

  function begin(with_) {
    port = with_;
    port.onmessage = hear;
    order({ do: "start", settings, digits });
    if (tensors) order({ do: "load", tensors });
  }

  /** Where a worker is refused: the same script in the page, at the other end of a channel. */
  function beginHere() {
    const { port1, port2 } = new MessageChannel();
    const script = document.createElement("script");
    script.onerror = () => page.failed("This page lets no script of ours compute: nothing can be trained here.");
    script.src = url;
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

  return {
    order,
    /** An order that is answered. @param {any} message @returns {Promise<any>} */
    ask: (message) =>
      new Promise((resolve, reject) => {
        const id = count++;
        answers.set(id, { resolve, reject });
        order({ ...message, id });
      }),
    stop() {
      if (port instanceof Worker) port.terminate();
      else {
        order({ do: "pause" });
        port.close();
      }
      URL.revokeObjectURL(url);
    },
  };
}
