/* Brings the anywidgets of a built page to life: no kernel, no server, no require.js.

   The page holds what the notebook stored: the state of every model (a JSON script), and for every
   widget to show a <figure class="live-widget" data-model="..."> with a still picture and a
   sentence (book/_ext/widgets/places.py). This file plays the part that Jupyter plays elsewhere, as
   far as the book's own widgets ask for it: of anywidget's front-end contract
   (https://anywidget.dev/en/afm/) `render({ model, el, host })`, models with get, set, on, off and
   save_changes, and host.getModel, through which all widgets share one network.

   It is a classic script, and a widget's module is imported from a blob: a page opened from the
   disk (file://) may load neither a module nor data from a file beside it. */

globalThis.capsnetBuffers = {}; // filled by widget-buffers/<sha256>.js, on file:// only
globalThis.capsnetWidgets = {}; // filled by widgets/<name>.js: { module, styles }, two texts

(() => {
  const t = globalThis.capsnetT; // words.js
  const STATES = 'script[type="application/vnd.jupyter.widget-state+json"]';
  const REFERENCE = "anywidget:"; // "anywidget:<model id>" in a widget's state names another model
  const BUFFERS = new URL("widget-buffers/", document.currentScript.src);
  const WIDGETS = new URL("widgets/", document.currentScript.src);
  const PATIENCE = 2000; // milliseconds for the browser's store: some never answer

  /** Return a function that makes the thing of each key once; what failed is made anew. */
  const once = (make) => {
    const made = new Map();
    return (key) => {
      if (!made.has(key)) {
        made.set(key, make(key));
        made.get(key)?.catch?.(() => made.delete(key));
      }
      return made.get(key);
    };
  };

  const makeButton = (words, className, onclick) =>
    Object.assign(document.createElement("button"), {
      type: "button",
      textContent: words,
      className,
      onclick,
    });

  // --- Models ------------------------------------------------------------------------------------

  // What all notebooks of this page stored: model id -> { state, buffers }.
  const stored = {};
  for (const script of document.querySelectorAll(STATES))
    Object.assign(stored, JSON.parse(script.textContent).state);

  const decode = (base64) =>
    new DataView(Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)).buffer);

  const runScript = (url) =>
    new Promise((resolve, reject) => {
      const script = Object.assign(document.createElement("script"), { src: url, onload: resolve });
      script.onerror = () => reject(new Error(`${url} cannot be loaded`));
      document.head.append(script);
    });

  /** Return a large value: it lies in a file of its own, named by its hash; loaded once a page. */
  const loadBuffer = once(async (sha256) => {
    if (location.protocol === "file:") {
      await runScript(new URL(`${sha256}.js`, BUFFERS));
      return decode(capsnetBuffers[sha256]);
    }
    const response = await fetch(new URL(`${sha256}.safetensors`, BUFFERS));
    if (!response.ok) throw new Error(`${response.url}: ${response.status} ${response.statusText}`);
    return new DataView(await response.arrayBuffer());
  });

  globalThis.capsnetBuffer = loadBuffer; // for the glass network, which is live and no widget

  /** What a notebook stored of a widget. There is no kernel: nothing to save to. */
  class Model extends EventTarget {
    #values;
    on = this.addEventListener;
    off = this.removeEventListener;

    constructor(values) {
      super();
      this.#values = values;
    }
    get(name) {
      return this.#values[name];
    }
    set(name, value) {
      if (this.#values[name] === value) return;
      this.#values[name] = value;
      for (const event of [`change:${name}`, "change"]) this.dispatchEvent(new Event(event));
    }
    save_changes() {}
  }

  const getModel = once(async (id) => {
    if (!stored[id]) throw new Error(`the page holds no model ${id}`);
    const values = { ...stored[id].state };
    for (const { path, encoding, data } of stored[id].buffers ?? []) {
      const holder = path.slice(0, -1).reduce((inner, key) => inner[key], values);
      holder[path.at(-1)] = encoding === "sha256" ? await loadBuffer(data) : decode(data);
    }
    return new Model(values);
  });

  const referred = (reference) => getModel(reference.slice(REFERENCE.length));

  // --- The reader's own network, in the place of the book's (widgets/raise_one.js)

  /** Do one thing with the store of networks, which lasts from visit to visit. */
  const inStore = (mode, work) =>
    new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error("the browser's store does not answer")), PATIENCE);
      const opening = indexedDB.open("capsnet", 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore("networks");
      opening.onerror = () => reject(opening.error);
      opening.onsuccess = () => {
        const transaction = opening.result.transaction("networks", mode);
        const request = work(transaction.objectStore("networks"));
        // Not when the request succeeds: a reader who leaves before the end would lose it.
        transaction.oncomplete = () => resolve(request.result);
        transaction.onabort = () => reject(transaction.error);
      };
    });

  // Where it fits: in whatever asks a network of one digit.
  const FITS =
    'figure.live-widget[data-network]:not([data-network="small-pairs"], [data-network="animals"])';
  const own = { bytes: undefined, asked: false }; // asked: whether widgets ask it, not the book's
  const ownIsRead = (async () => {
    if (!document.querySelector(`${FITS}, figure.glass`)) return;
    try {
      Object.assign(own, await inStore("readonly", (store) => store.get("own")));
    } catch {} // a page that may store nothing has none from before
  })();

  /** Keep or choose a network: shown at once, and stored. Return whether it outlasts the page. */
  const changeOwn = (values) => {
    Object.assign(own, values);
    for (const figure of document.querySelectorAll(`${FITS}[data-live]`)) show(figure);
    document.dispatchEvent(new Event("capsnet:own"));
    const put = inStore("readwrite", (store) =>
      store.put({ bytes: own.bytes, asked: own.asked }, "own"),
    );
    return put.then(
      () => true,
      () => false,
    );
  };

  // For the glass network and the playground, too.
  globalThis.capsnetOwn = Object.assign(own, { read: ownIsRead, change: changeOwn });

  // --- Widgets -----------------------------------------------------------------------------------

  /** Load the widget of a file, "bend_capsule.js?v=…", with its styles. */
  const loadWidget = once(async (file) => {
    await runScript(new URL(file, WIDGETS));
    const [name] = file.split(".");
    const { module: source, styles } = capsnetWidgets[name];
    document.head.append(Object.assign(document.createElement("style"), { textContent: styles }));
    const blob = new Blob([source], { type: "text/javascript" });
    const module = await import(URL.createObjectURL(blob));
    return module.default;
  });

  const takeDown = new Map(); // figure -> what takes its widget down
  const renders = new Map(); // figure -> its last render, finished or not

  /** Return the digit that the reader drew or chose on the stage (glass/kept.js), or null. */
  const keptDigit = () => {
    try {
      const bytes = Uint8Array.from(atob(localStorage.getItem("capsnet:digit")), (c) =>
        c.charCodeAt(0),
      );
      return bytes.length === 28 * 28 ? bytes : null;
    } catch {
      return null; // nothing is kept, or nothing may be stored
    }
  };

  /** Render a figure's widget, in the place of what it showed before. */
  const render = async (figure) => {
    const model = await getModel(figure.dataset.model);
    const widget = await loadWidget(model.get("_esm"));
    const fits = own.bytes && figure.matches(FITS);
    const network = new Model({ weights: own.bytes, own: true });
    const host = {
      getModel: async (reference) =>
        fits && own.asked && reference === model.get("network") ? network : referred(reference),
      keptDigit,
    };
    takeDown.get(figure)?.();
    const el = figure.querySelector(".live-view");
    el.replaceChildren();
    takeDown.set(figure, await widget.render({ model, el, host }));
    showSwitch(figure, fits);
  };

  /** The caption of a figure that can ask the reader's own network: a switch between the two. */
  const showSwitch = (figure, fits) => {
    const caption = figure.querySelector(":scope > figcaption");
    caption.textContent = "";
    if (!fits) return;
    const words = own.asked
      ? t`It runs on your own network. Take the book’s`
      : t`Take your own network`;
    const change = () => changeOwn({ asked: !own.asked });
    caption.append(makeButton(words, "live-prompt own-network", change));
  };

  /** Render a figure's widget once its last render is finished: two at once would both stay. */
  const show = (figure) => {
    const before = renders.get(figure) ?? Promise.resolve();
    const rendering = before.catch(() => {}).then(() => render(figure));
    renders.set(figure, rendering);
    return rendering;
  };

  /** Put the living widget where the still picture is; or say why not, and keep the picture. */
  const wake = once(async (figure) => {
    const caption = figure.querySelector("figcaption");
    const el = Object.assign(document.createElement("div"), { className: "live-view" });
    caption.textContent = t`Waking the widget …`;
    figure.append(el);
    try {
      const model = await getModel(figure.dataset.model);
      const references = Object.values(stored[figure.dataset.model].state).map(String);
      const named = references.filter((value) => value.startsWith(REFERENCE));
      // What is missing shows here, before the picture is gone.
      await Promise.all([loadWidget(model.get("_esm")), ...named.map(referred), ownIsRead]);
      await show(figure);
      for (const still of figure.querySelectorAll(".live-still")) still.remove();
      figure.dataset.live = "true";
    } catch (error) {
      el.remove();
      const again = makeButton(t`Try again`, "live-prompt", () => wake(figure).catch(() => {}));
      caption.replaceChildren(t`This widget could not start (${error.message}). `, again);
      console.error(error);
      throw error;
    }
  });

  // A widget starts when it comes near the window; what no one scrolls to costs nothing.
  const arrive = (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      observer.unobserve(target);
      wake(target).catch(() => {}); // said in the page
    }
  };
  const observer = new IntersectionObserver(arrive, { rootMargin: "400px" });
  for (const figure of document.querySelectorAll("figure.live-widget")) observer.observe(figure);

  // --- Prompts: links in the text that set a widget's state (book/_ext/widgets/prompts.py)

  for (const link of document.querySelectorAll("a.live-prompt")) {
    const figure = document.getElementById(link.hash.slice(1));
    const button = makeButton("", link.className, async () => {
      await wake(figure);
      const model = await getModel(figure.dataset.model);
      for (const [name, value] of Object.entries(JSON.parse(link.dataset.values))) {
        const [trait, place] = name.split("."); // "offsets.2" is one element of a list
        model.set(trait, place === undefined ? value : model.get(trait).with(Number(place), value));
      }
      const { top, bottom } = figure.getBoundingClientRect();
      if (top < 0 || bottom > innerHeight)
        figure.scrollIntoView({ block: bottom - top < innerHeight ? "center" : "start" });
    });
    button.append(...link.childNodes);
    link.replaceWith(button);
  }
})();
