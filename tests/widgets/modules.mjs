// node modules.mjs ANY MODULE…: what each module offers as its widget's `render`.
const offered = {};
for (const path of process.argv.slice(3)) offered[path] = typeof (await import(path)).default.render;
console.log(JSON.stringify(offered));
