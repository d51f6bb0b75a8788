// node draw_digit.mjs MODULE TYPES PLACES J: where draw_digit.js puts capsules on its maps, and what it finds there.
const [module, ...sizes] = process.argv.slice(2);
const { fieldOf, longDigits, makeLayout, remarkOnCapsule } = await import(module);
const [types, places, J] = sizes.map(Number);
const { width, height, cornerOf, capsuleAt, neighbourOf, placeOf } = makeLayout(types, places, J);
const capsules = Array.from({ length: types * places }, (_, i) => i);
const found = (i, j, dx, dy) => {
  const [x, y] = cornerOf(i, j);
  return capsuleAt(x + dx, y + dy);
};
const config = { conv_kernel: 9, conv_stride: 2, primary_kernel: 5, primary_stride: 2 };
console.log(
  JSON.stringify({
    size: [width, height],
    corners: capsules.map((i) => Array.from({ length: J }, (_, j) => cornerOf(i, j))),
    found: capsules.map((i) => [found(i, 0, 0, 0), found(i, J - 1, 1.9, 1.9)]),
    right: capsules.map((i) => neighbourOf(i, 1, 0)),
    down: capsules.map((i) => neighbourOf(i, 0, 1)),
    places: capsules.map(placeOf),
    field: fieldOf(config, 2, 1),
    long: longDigits([0.6, 0.2, 0.9, 0.49, 0.5]),
    remark: remarkOnCapsule({ type: 3, row: 2, column: 1 }, [0.1, 0.7, 0.2]),
  }),
);
