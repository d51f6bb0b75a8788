// node face_parts.mjs MODULE INPUT.json: what face_parts.js makes of poses. { weight, waves, cases: [{ poses, shown
// }] }
import { readFileSync } from "node:fs";

const [module, input] = process.argv.slice(2);
const { judge, readPose, turned } = await import(module);
const { weight, waves, cases } = JSON.parse(readFileSync(input));
const numbers = [Float32Array.from(weight), Float32Array.from(waves)];
console.log(
  JSON.stringify(
    cases.map(({ poses, shown }) => ({
      ...judge(poses, shown, ...numbers),
      pose: readPose(judge(poses, shown, ...numbers).face),
      turned: judge(turned(poses, 30)(1), shown, ...numbers).lengths[0],
    })),
  ),
);
