// node primary_field.mjs MODULE WEIGHTS IMAGES OUT: u of every image to OUT; patches, strokes and what they move as
// JSON.
import { readFileSync, writeFileSync } from "node:fs";

const [module, weights, images, out] = process.argv.slice(2);
const { makeFront, movedCapsules, neighbourOf, patchOf, placeOf, stroke, turned } = await import(module);
const front = makeFront(readFileSync(weights));
const { config, types, side, places, D, I, read } = front;
const pixels = new Float32Array(new Uint8Array(readFileSync(images)).buffer);
const inputs = Array.from({ length: pixels.length / 784 }, (_, k) => pixels.subarray(k * 784, (k + 1) * 784));
const before = read(inputs[0]);

// Every pixel in turn is inverted: the capsules that are not what they were.
const touched = Array.from(inputs[0], (_, k) => {
  const image = inputs[0].slice();
  image[k] = 1 - image[k];
  return movedCapsules(before.s, read(image).s, I, D);
});

const drawn = stroke(inputs[0].slice(), [3, 4], [12, 9.5], true);
const erased = stroke(inputs[0].slice(), [3, 4], [12, 9.5], false);
const numbers = [...inputs.flatMap((image) => Object.values(read(image))), drawn, erased, read(drawn).u];
writeFileSync(
  out,
  Buffer.concat(numbers.map((array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength))),
);
console.log(
  JSON.stringify({
    sizes: { types, side, places, D, I },
    patches: Array.from({ length: places }, (_, k) => patchOf(config, Math.floor(k / side), k % side)),
    paper: patchOf({ conv_kernel: 9, conv_stride: 1, primary_kernel: 9, primary_stride: 2 }, 5, 1),
    touched,
    turned: [turned(before.u, before.u, 0, D), turned([1, 0, 0, 2], [0, 1, 0, 2], 0, 2), turned([1, 0], [1, 1], 0, 2)],
    walks: Array.from({ length: I }, (_, i) => [neighbourOf(i, 1, 0, front), neighbourOf(i, 0, 1, front)]),
    placed: Array.from({ length: I }, (_, i) => placeOf(i, front)),
    untouched: movedCapsules(before.s, read(inputs[0]).s, I, D),
  }),
);
