// What can be changed about a training: names, values, what they mean, and how an address holds
// them.

import { t } from "../shared/t.js";
import { SETS, setOf } from "./sets.js";

/** What can be planted: id of the catalogue of bugs -> what is wrong, in a sentence. */
export const BUGS = {
  "softmax-axis": t`the softmax runs over the capsules below, which compete for a class instead of
    choosing one`,
  "capsule-view": t`the maps are cut up like a list, so that a capsule is eight places of a
    channel`,
  "no-update-rounds": t`the logits are never updated: every round is the first`,
  "margin-not-squared": t`the margin loss is not squared`,
  "mask-prediction": t`the decoder is trained with the longest capsule, not with the right one`,
  "recon-mean": t`the drawing's loss is a mean over the pixels: 784 times too weak`,
};

/**
 * @typedef {object} Setting
 * @property {string} label
 * @property {any} usual  its value unless changed
 * @property {any[]} offers  values in the page's list
 * @property {number} [from]  the least of other numbers that an address may have
 * @property {number} [to]  the largest of them
 * @property {boolean} [whole]  whole numbers alone
 * @property {(value: any) => string} [words]  of a value that is offered and is no number
 *
 * @typedef {Record<string, any>} Settings  a value for each name of SETTINGS
 */

/** @type {Record<string, Setting>} */
export const SETTINGS = {
  data: { label: t`pictures to learn from`, usual: "digits", offers: Object.keys(SETS) },
  net: {
    label: t`network`,
    usual: "capsules",
    offers: ["capsules", "cnn"],
    words: (net) => ({ capsules: t`a capsule network`, cnn: t`a CNN` })[net],
  },
  rounds: { label: t`rounds of routing`, usual: 3, offers: [1, 2, 3, 5] },
  types: {
    label: t`primary capsules`,
    usual: 8,
    offers: [2, 4, 8, 16],
    words: (types) => t`${types} types, ${9 * types} capsules`,
  },
  drawing: {
    label: t`the drawing counts`,
    usual: 0.0005,
    offers: [0, 0.0005, 0.005],
    from: 0,
    to: 0.1,
    words: (weight) =>
      ({ 0: t`not: no decoder`, 0.0005: t`a little (0.0005)`, 0.005: t`much (0.005)` })[weight],
  },
  rate: {
    label: t`learning rate`,
    usual: 0.005,
    offers: [0.0005, 0.002, 0.005, 0.02, 0.1],
    from: 1e-5,
    to: 1,
  },
  batch: { label: t`images a step`, usual: 16, offers: [8, 16, 32, 64] },
  m_plus: { label: t`margin m⁺`, usual: 0.9, offers: [0.5, 0.7, 0.9, 1], from: 0, to: 1 },
  m_minus: { label: t`margin m⁻`, usual: 0.1, offers: [0, 0.1, 0.3, 0.5], from: 0, to: 1 },
  lambda: {
    label: t`weight λ of absent classes`,
    usual: 0.5,
    offers: [0, 0.25, 0.5, 1],
    from: 0,
    to: 10,
  },
  bug: {
    label: t`a bug, planted`,
    usual: "",
    offers: ["", ...Object.keys(BUGS)],
    words: (bug) => bug || t`none`,
  },
  seed: {
    label: t`seed`,
    usual: 1,
    offers: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    from: 0,
    to: 999_999,
    whole: true,
  },
};

const NAMES = Object.keys(SETTINGS);
const SAME_PICTURES = t`Two networks have the same pictures.`;
const PLACES = Array.from("0123456789"); // of a sign of the reader's own: numbers of classes
const SIGN_STAYS = t`This address comes from a network that reads a sign of its maker's own in the
  place of the `;
const HAND_STAYS = t`This address comes from a training in which somebody silenced or changed a
  part. An address cannot hold that: here the network learns without it.`;
const LONGEST = 40; // characters of a wrong value that are said

/**
 * Return the settings of one network or two: the usual values but for `others`, values or texts.
 * What is wrong is left out, and said in `problems`.
 * @param {Record<string, any>[]} others
 * @returns {{ settings: Settings[], problems: string }}
 */
export function settingsWith(...others) {
  const problems = new Set();
  const settings = others.map((given) => {
    const values = usual();
    for (const [name, value] of Object.entries(given)) {
      try {
        values[name] = parsed(name, String(value));
      } catch (error) {
        problems.add(error.message);
      }
    }
    return values;
  });
  const [{ data }] = settings;
  if (settings.some((values) => values.data !== data)) problems.add(SAME_PICTURES);
  for (const values of settings) values.data = data;
  return { settings, problems: [...problems].join(" ") };
}

/** @returns {Settings} */
const usual = () => Object.fromEntries(NAMES.map((name) => [name, SETTINGS[name].usual]));

/**
 * Return the names of the settings in which two differ.
 * @param {Settings} one
 * @param {Settings} other
 */
export const differences = (one, other) => NAMES.filter((name) => one[name] !== other[name]);

/** Return whether a network of these settings learns to draw. @param {Settings} settings */
export const learnsToDraw = ({ net, drawing }) => net !== "cnn" && drawing > 0;

/** Return a setting's value in words. */
export const valueInWords = (name, value) => SETTINGS[name].words?.(value) ?? String(value);

/**
 * Return the value that a text means.
 * @throws {Error} in words, where there is no such setting or value
 */
function parsed(/** @type {string} */ name, /** @type {string} */ text) {
  if (!NAMES.includes(name)) throw new Error(t`There is no setting ${shortened(name)}.`);
  const setting = SETTINGS[name];
  const offer = setting.offers.find((value) => String(value) === text);
  if (offer !== undefined) return offer;
  const number = text === "" ? Number.NaN : Number(text);
  const isWithin = number >= setting.from && number <= setting.to;
  if (isWithin && (!setting.whole || Number.isInteger(number))) return number;
  const value = text === "" ? t`nothing` : shortened(text);
  throw new Error(t`For ${name}, expected ${expected(setting)}; got ${value}.`);
}

/** Return which values a setting takes. @param {Setting} setting */
function expected({ offers, from, to, whole }) {
  if (from === undefined) return t`one of ${offers.map((offer) => offer || t`none`).join(t`, `)}`;
  const last = to.toLocaleString("en");
  return whole ? t`a whole number from ${from} to ${last}` : t`a number from ${from} to ${last}`;
}

const shortened = (/** @type {string} */ words) =>
  words.length > LONGEST ? `${words.slice(0, LONGEST)} …` : words;

/**
 * Return what an address holds: "#rounds=1,3&seed=7" are two networks with one and three rounds.
 * @param {string} hash
 * @returns {ReturnType<typeof settingsWith> | undefined} undefined where it holds no settings
 */
export function fromAddress(hash) {
  if (!hash.includes("=")) return undefined;
  const parameters = new URLSearchParams(hash.slice(1));
  const signs = parameters.getAll("sign");
  parameters.delete("sign");
  const isHanded = parameters.has("hand");
  parameters.delete("hand");
  /** @type {[string, string[]][]} */
  const lists = [...parameters].map(([name, text]) => {
    const texts = text.split(",");
    return [name, texts.length > 2 ? [text] : texts]; // three are no value
  });
  const count = Math.max(1, ...lists.map(([, texts]) => texts.length));
  const valuesOf = (/** @type {number} */ k) =>
    Object.fromEntries(lists.map(([name, texts]) => [name, texts[k] ?? texts[0]]));
  const { settings, problems } = settingsWith(
    ...Array.from({ length: count }, (_, k) => valuesOf(k)),
  );
  const { names } = setOf(settings);
  const hand = isHanded ? HAND_STAYS : "";
  const signWords = signs.map((place) => aboutSign(place, names));
  const remarks = [problems, ...signWords, hand].filter(Boolean);
  return { settings, problems: remarks.join(" ") };
}

/**
 * Return what is said of a sign that an address names.
 * @param {string} place
 * @param {string[]} names  of the ten classes
 */
function aboutSign(place, names) {
  if (PLACES.includes(place))
    return t`${SIGN_STAYS}${names[place]}. An address cannot hold it: draw your own.`;
  const value = place ? shortened(place) : t`nothing`;
  return t`For sign, expected a number from 0 to 9; got ${value}.`;
}

/**
 * Return the values of each setting that is not as usual, by its name: one, or one a network.
 * @param {Settings[]} settings
 * @param {string[]} always  names of settings that are named even so
 */
function unusual(settings, always) {
  const isUnusual = (name) => settings.some((values) => values[name] !== SETTINGS[name].usual);
  const names = NAMES.filter((name) => always.includes(name) || isUnusual(name));
  return names.map((name) => {
    const values = new Set(settings.map((setting) => setting[name]));
    return { name, values: [...values] };
  });
}

/**
 * Return the address that holds these settings, less the usual ones.
 * @param {Settings[]} settings
 * @param {{ always?: string[], sign?: { place: number }, hand?: boolean }} _  names of settings
 *   that it holds even so; a sign of the reader's own, and whether a hand was laid on a network: of
 *   both it only says so
 */
export function toAddress(settings, { always = [], sign, hand = false } = {}) {
  const parts = unusual(settings, always).map(({ name, values }) => `${name}=${values.join(",")}`);
  if (sign) parts.push(`sign=${sign.place}`);
  if (hand) parts.push("hand=1");
  return `#${parts.join("&")}`;
}

/**
 * Return what a notebook says to have these settings, the seed among them.
 * @param {Settings[]} settings @param {boolean} hand  whether one was laid on a network
 */
export function toPython(settings, hand = false) {
  const written = unusual(settings, ["seed"]).map(({ name, values }) => {
    const texts = values.map((value) => JSON.stringify(value));
    const argument = name === "lambda" ? "lambda_" : name; // lambda is a word of Python's own
    return `${argument}=${texts.length > 1 ? `[${texts.join(", ")}]` : texts[0]}`;
  });
  const remark = hand ? t`  # without the parts that were changed by hand` : "";
  return `RaiseOne(${written.join(", ")})${remark}`;
}
