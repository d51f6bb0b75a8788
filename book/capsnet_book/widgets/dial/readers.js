// The networks that read the digit on a dial, each from the bytes of its file.

import { makeConvNet } from "../shared/conv_net.js";
import { makeNetwork } from "../shared/core.js";
import { axesOf, dot } from "../shared/principal.js";
import { t } from "../shared/t.js";
import { makeTurningNet } from "../shared/turning_net.js";
import { turnedDigit } from "./record.js";

/**
 * @typedef {{ key: string, name: string, read: (image: Float32Array, label: number) => Answer }}
 *   Reader  a network; name: in a sentence
 * @typedef {{ value: number, prediction: number, capsule?: Float32Array }} Answer
 *   value: the length of the label's capsule, or its share of 1; capsule [D_out]
 */

const NAMES = { cnn: "CNN", turning: t`capsules that turn` };
/** What makes the function that answers. @type {Record<string, (bytes: any) => Promise<any>>} */
const ANSWER = {
  cnn: async (bytes) => makeConvNet(bytes).forward,
  turning: async (bytes) => (await makeTurningNet(bytes)).answer,
};
const FITTED = [-45, -30, -15, 0, 15, 30, 45]; // degrees, at which a capsule's plane is found

/** The CapsNet: it also finds the plane of a capsule, and draws. @param {any} bytes */
export function makeCapsules(bytes) {
  const network = makeNetwork(bytes);
  const { J, D_out, names } = network;

  const read = (/** @type {Float32Array} */ image, /** @type {number} */ label) => {
    const { lengths, prediction, capsules } = network.forward(image);
    const capsule = capsules.slice(label * D_out, (label + 1) * D_out);
    return { value: lengths[label], prediction, capsule };
  };

  /**
   * The two directions in which a capsule moves while its digit turns. The capsule of the upright
   * digit points up in them, and it turns to the side to which the digit turns.
   * @param {Float32Array} image @param {number} label
   */
  function planeOf(image, label) {
    const capsules = FITTED.map((turn) => read(turnedDigit(image, turn), label).capsule);
    const [up, side] = axesOf(capsules);
    const swing = dot(capsules.at(-1), side) - dot(capsules[0], side); // from right to left
    return { up, right: swing > 0 ? side.map((x) => -x) : side };
  }

  /** What the capsule of a class is drawn as. @param {Float32Array} capsule */
  function drawingOf(capsule, /** @type {number} */ label) {
    const masked = new Float32Array(J * D_out);
    masked.set(capsule, label * D_out);
    return network.decode(masked);
  }

  return { key: "network", name: "CapsNet", names, read, planeOf, drawingOf };
}

/** Another network. @param {string} key @param {any} bytes @returns {Promise<Reader>} */
export async function makeOther(key, bytes) {
  const answer = await ANSWER[key](bytes);
  const read = (/** @type {Float32Array} */ image, /** @type {number} */ label) => {
    const { probabilities, prediction } = answer(image);
    return { value: probabilities[label], prediction };
  };
  return { key, name: NAMES[key], read };
}
