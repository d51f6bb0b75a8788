// node face_parts.mjs MODULE INPUT.json: what face_parts.js makes of { weight, waves, cases: [{ poses, shown }] }.
import { readFileSync } from "node:fs";

const [module, input] = process.argv.slice(2);
const { FACE, PICASSO, REACH, SIZES, VOICE, judge, readPose, straightTo, tidy, turned } = await import(module);
const { weight, waves, cases } = JSON.parse(readFileSync(input));
const numbers = [Float32Array.from(weight), Float32Array.from(waves)];
const answers = cases.map(({ poses, shown }) => ({
  ...judge(poses, shown, ...numbers),
  pose: readPose(judge(poses, shown, ...numbers).face),
  turned: judge(turned(poses, 30)(1), shown, ...numbers).lengths[0],
  way: [0, 0.5, 1].map((t) => straightTo(poses, FACE)(t)),
  tidy: [[9, 0, 190, 3], ...poses].map(tidy),
}));
console.log(JSON.stringify({ constants: { FACE, PICASSO, REACH, SIZES, VOICE }, answers }));
