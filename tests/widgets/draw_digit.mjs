// node draw_digit.mjs MODULE LENGTHS.json: which digits draw_digit.js calls long, the longest first.
const [module, lengths] = process.argv.slice(2);
const { longDigits } = await import(module);
console.log(JSON.stringify(longDigits(JSON.parse(lengths))));
