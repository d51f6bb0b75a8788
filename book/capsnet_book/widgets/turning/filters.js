// Filters turned to K angles, each with mean 0 and norm 1 on its disk and 0 outside; and the way
// back, for their gradient.

export class Turns {
  /**
   * @param {number} S  pixels across a filter, odd
   * @param {number} K  turned copies
   */
  constructor(S, K) {
    this.S = S;
    this.K = K;
    this.disk = diskOf(S);
    const count = K * this.disk.length * 4;
    // A pixel of a copy is mixed of four pixels of the filter: which, and how much of each.
    this.sources = new Int32Array(count);
    this.shares = new Float64Array(count);
    for (let turn = 0; turn < K; turn++) this.#mix(turn);
  }

  /** Note of which pixels a copy is mixed. */
  #mix(/** @type {number} */ turn) {
    const { S, K, disk, sources, shares } = this;
    const angle = (2 * Math.PI * turn) / K;
    const cos = Math.cos(angle);
    const sin = Math.sin(angle);
    const middle = (S - 1) / 2;
    let k = turn * disk.length * 4;
    for (const tap of disk) {
      const x = (tap % S) - middle;
      const y = Math.floor(tap / S) - middle; // y points down here
      const fromX = cos * x - sin * y + middle;
      const fromY = sin * x + cos * y + middle;
      for (const row of [Math.floor(fromY), Math.floor(fromY) + 1]) {
        for (const column of [Math.floor(fromX), Math.floor(fromX) + 1]) {
          const isInside = row >= 0 && row < S && column >= 0 && column < S;
          const share = (1 - Math.abs(fromX - column)) * (1 - Math.abs(fromY - row));
          sources[k] = isInside ? row * S + column : 0;
          shares[k] = isInside ? share : 0;
          k++;
        }
      }
    }
  }

  /**
   * Write one of a filter's turned copies. filter [S · S], copies [S · S, K]
   * @param {Float32Array} filter @param {Float32Array} copies @param {number} turn
   * @returns {number} the norm that it had before
   */
  turn(filter, copies, turn) {
    const { K, disk, sources, shares } = this;
    let k = turn * disk.length * 4;
    let total = 0;
    for (const tap of disk) {
      let grey = 0;
      for (let corner = 0; corner < 4; corner++, k++) grey += shares[k] * filter[sources[k]];
      copies[tap * K + turn] = grey;
      total += grey;
    }
    const mean = total / disk.length;
    let square = 0;
    for (const tap of disk) {
      copies[tap * K + turn] -= mean;
      square += copies[tap * K + turn] ** 2;
    }
    const norm = Math.sqrt(square);
    for (const tap of disk) copies[tap * K + turn] /= norm;
    return norm;
  }

  /**
   * Add to a filter's gradient [S · S] what the gradient of one of its copies makes of it.
   * @param {Float32Array} slopes  of the filter @param {Float32Array} slopesOfCopies  [S · S, K]
   * @param {Float32Array} copies  [S · S, K]
   * @param {number} norm  of turn() @param {number} turn
   */
  turnBack(slopes, slopesOfCopies, copies, norm, turn) {
    const { K, disk, sources, shares } = this;
    let along = 0; // what would change the norm,
    let total = 0; // and what would change the mean, is lost
    for (const tap of disk) {
      along += slopesOfCopies[tap * K + turn] * copies[tap * K + turn];
      total += slopesOfCopies[tap * K + turn];
    }
    const mean = total / disk.length; // the copy's own mean is 0
    let k = turn * disk.length * 4;
    for (const tap of disk) {
      const lost = mean + along * copies[tap * K + turn];
      const slope = (slopesOfCopies[tap * K + turn] - lost) / norm;
      for (let corner = 0; corner < 4; corner++, k++) slopes[sources[k]] += shares[k] * slope;
    }
  }
}

/** Return the pixels of a filter's disk. @param {number} S */
function diskOf(S) {
  const middle = (S - 1) / 2;
  const taps = Array.from({ length: S * S }, (_, tap) => tap);
  const isInside = (tap) =>
    ((tap % S) - middle) ** 2 + (Math.floor(tap / S) - middle) ** 2 <= (S / 2) ** 2;
  return Int32Array.from(taps.filter(isInside));
}
