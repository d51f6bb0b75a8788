// node errors.mjs MODULE FILE …: what core.js says to each file ("" if it takes it).
import { readFileSync } from "node:fs";

const [module, ...files] = process.argv.slice(2);
const { makeNetwork } = await import(module);
const messages = files.map((file) => {
  try {
    makeNetwork(readFileSync(file));
    return "";
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
});
console.log(JSON.stringify(messages));
