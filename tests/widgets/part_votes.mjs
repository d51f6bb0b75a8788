// node part_votes.mjs MODULE JSON: {poses, weight, places} -> what part_votes.js computes of it.
const [module, json] = process.argv.slice(2);
const { arranged, capsuleOf, distancesOf, moved, turned, votesOf, wayTo } = await import(module);
const { poses, weight, places } = JSON.parse(json);
const all = (at) => ({
  poses: at,
  u: at.map(capsuleOf),
  u_hat: votesOf(at, weight),
  apart: distancesOf(votesOf(at, weight)),
});
const way = wayTo(poses, turned(poses, 170));
console.log(
  JSON.stringify({
    now: all(poses),
    house: all(arranged(0, poses, places)),
    boat: all(arranged(1, poses, places)),
    turned: all(turned(poses, 30)),
    halfway: all(way(0.5)),
    arrived: all(way(1)),
    away: all(moved(poses, 0, [400, 30, 40])),
  }),
);
