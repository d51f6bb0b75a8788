// By how much a digit is turned is read from the pose where its class's votes meet, against a
// template: where the votes for upright digits of that class meet. In the page it is no weight that
// is learned, but a mean over the digits of the training, each turned back by its own angle.

const MEMORY = 30; // digits of a class that the mean covers, about: the weights change meanwhile

/** A pose, two rows of three numbers, turned back. @param {number} angle  radians */
export function turnedBack(/** @type {ArrayLike<number>} */ pose, angle) {
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  const back = new Float64Array(6);
  for (let k = 0; k < 3; k++) {
    back[k] = cos * pose[k] + sin * pose[3 + k];
    back[3 + k] = cos * pose[3 + k] - sin * pose[k];
  }
  return back;
}

export class Template {
  #means; // [J · 6]
  #counts; // digits of each class so far

  constructor(/** @type {number} */ classes) {
    this.#means = new Float64Array(6 * classes);
    this.#counts = new Uint32Array(classes);
  }

  /** Add where a digit's votes met. @param {Float64Array} meeting @param {number} turn  degrees */
  add(/** @type {number} */ label, meeting, turn) {
    this.#counts[label]++;
    const share = Math.max(1 / MEMORY, 1 / this.#counts[label]);
    turnedBack(meeting, (turn * Math.PI) / 180).forEach((x, k) => {
      const place = 6 * label + k;
      this.#means[place] += share * (x - this.#means[place]);
    });
  }

  /** Return the templates of all classes, [J, 2, 3]. */
  numbers() {
    return Float32Array.from(this.#means);
  }
}
