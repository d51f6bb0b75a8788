// node pad.mjs MODULE: what a tied pad is shown when a picture goes to Python, another comes back, and the first again.
const { tiePad } = await import(process.argv[2]);
const handlers = new Map();
const state = {};
const model = {
  get: (name) => state[name],
  set: (name, value) => (state[name] = value),
  save_changes: () => handlers.get("change:image")?.(), // as Jupyter does, it tells us of our own change, too
  on: (name, handler) => handlers.set(name, handler),
  off: (name) => handlers.delete(name),
};
const fromPython = (grey) => {
  state.image = new DataView(Uint8Array.of(grey).buffer);
  handlers.get("change:image")?.();
};
const shown = [];
const frame = new EventTarget(); // the page hears there what is drawn
const tie = tiePad({ image: () => Float32Array.of(10 / 255), frame }, model, (bytes) => shown.push(bytes[0]));
tie.share();
const afterSharing = [...shown];
[20, 10, 20].forEach(fromPython);
tie.stop();
fromPython(30);
console.log(JSON.stringify({ sent: state.image.byteLength, afterSharing, shown }));
