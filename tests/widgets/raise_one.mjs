// node raise_one.mjs MODULE JOB ARGUMENT…: the playground without a page, from its files as they are (not from MODULE).
import { readFileSync, writeFileSync } from "node:fs";

const [, job, ...given] = process.argv.slice(2);
const FOLDER = "../../book/capsnet_book/widgets/playground/";
const FILES = ["settings", "comparison", "files", "digits", "network", "kernels", "training", "../shared/core"];
const it = Object.assign({}, ...(await Promise.all(FILES.map((name) => import(`${FOLDER}${name}.js`)))).toReversed());
const sampleOf = (file) => it.readSafetensors(readFileSync(file)).tensors;

const JOBS = {
  addresses: (hashes) =>
    JSON.parse(hashes).map((hash) => {
      const found = it.fromAddress(hash);
      return found && { ...found, again: it.toAddress(found.settings) };
    }),
  settings: (given) => it.settingsWith(...JSON.parse(given)),
  async digits(file, out) {
    const { learn, test } = await it.unpackDigits(sampleOf(file));
    const images = [learn, test].map((part) => Uint8Array.from(part.images, (grey) => Math.round(15 * grey)));
    writeFileSync(out, Buffer.concat([...images, learn.labels, test.labels]));
    return [learn.labels.length, test.labels.length];
  },
  interval: (differences) => it.pairedInterval(JSON.parse(differences)),
  /** A file of a network, through the engine and out again; or why it was refused. */
  async reopened(file, out) {
    try {
      const { tensors, types, rounds } = it.fromSafetensors(readFileSync(file));
      const [settings] = it.settingsWith({ types, rounds }).settings;
      const network = it.makeNetwork(settings, await it.loadKernels());
      network.load(tensors);
      writeFileSync(out, await it.toSafetensors(network.tensors(), it.configOf({ types, rounds })));
      return { types, rounds };
    } catch (error) {
      return error.message;
    }
  },
  /** Accuracy after some digits, by the engine's own course. */
  async course(file, digits) {
    const begun = await it.startTraining(it.settingsWith({}).settings[0], sampleOf(file), { images: [], labels: [] });
    await begun.run("all", Number(digits));
    return begun.look(0).tests;
  },
};
console.log(JSON.stringify((await JOBS[job](...given)) ?? null));
process.exit(0); // an engine's channels would keep it open
