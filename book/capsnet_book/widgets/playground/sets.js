// The pictures that networks can be raised on: the names of their classes, and what is said of them.
import { t } from "../shared/t.js";

/**
 * @typedef {object} PictureSet
 * @property {string} title
 * @property {string[]} names  of the ten classes
 * @property {string} one  above the one that goes through the network
 * @property {string} others  what is taken for a sign of the reader's own
 * @property {string} fetching
 * @property {string} untrained  what is said of a network that has learned nothing
 * @property {string} hint  of the wall before it learns, for screen readers
 * @property {string} before  the same, for all readers
 * @property {string} hundred  what the wall shows
 * @property {string} card  over a picture that is shared
 * @property {string} draw  what is said beside an empty pad
 */

/** @type {Record<string, PictureSet>}  by the setting "data" */
export const SETS = {
  digits: {
    title: t`Digits`,
    names: Array.from("0123456789"),
    one: t`this digit`,
    others: t`digits for your sign.`,
    fetching: t`Fetching 4,500 handwritten digits …`,
    untrained: t`It has never seen a digit: its weights are noise, and noise is all it could draw.
      Press Train.`,
    hint: t`A hundred handwritten digits. Arrow keys choose one.`,
    before: t`A hundred digits, as they were written. Once it learns, it draws over them.`,
    hundred: t`A hundred digits that it never learns from`,
    card: t`A capsule network, raised from nothing`,
    draw: t`Draw a digit: it says what it sees.`,
  },
  animals: {
    title: t`Animals`,
    names: [
      t`bear`,
      t`cat`,
      t`cow`,
      t`frog`,
      t`koala`,
      t`monkey`,
      t`mouse`,
      t`panda`,
      t`rabbit`,
      t`tiger`,
    ],
    one: t`this animal`,
    others: t`animals for your sign.`,
    fetching: t`Fetching ninety drawings of animals …`,
    untrained: t`It has never seen an animal. It will learn from six sets of drawings; those in the
      wall are from three other sets. Press Train.`,
    hint: t`A hundred animals. Arrow keys choose one.`,
    before: t`A hundred animals, as they were drawn. Once it learns, it draws over them.`,
    hundred: t`A hundred animals by artists that it never learns from`,
    card: t`A capsule network reads unseen artists`,
    draw: t`Draw one of the ten animals: it says what it sees.`,
  },
};

/** Return the set of these settings' networks; two have the same. @param {any[]} settings */
export const setOf = ([{ data }]) => SETS[data];
