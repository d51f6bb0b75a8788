// What can be changed about a training: names, values, what they mean, and how an address holds them.

/** What can be planted: id of the catalogue -> what is wrong, in a sentence. */
export const BUGS = {
  "softmax-axis":
    "the softmax runs over the capsules below, which compete for a class instead of choosing one",
  "capsule-view": "the maps are cut up like a list, so that a capsule is eight places of a channel",
  "no-update-rounds": "the logits are never updated: every round is the first",
  "margin-not-squared": "the margin loss is not squared",
  "mask-prediction": "the decoder is trained with the longest capsule, not with the right one",
  "recon-mean": "the drawing's loss is a mean over the pixels: 784 times too weak",
};

/**
 * By name: what it is called, its value unless changed, and what is offered. An address may have other numbers `from`
 * … `to` as well. `words`: of a value that is offered and is no number.
 * @type {Record<string, { label: string, usual: any, offers: any[], from?: number, to?: number, whole?: boolean,
 *   words?: (value: any) => string }>}
 */
export const SETTINGS = {
  rounds: { label: "rounds of routing", usual: 3, offers: [1, 2, 3, 5] },
  types: {
    label: "primary capsules",
    usual: 8,
    offers: [2, 4, 8, 16],
    words: (types) => `${types} types, ${9 * types} capsules`,
  },
  drawing: {
    label: "the drawing counts",
    usual: 0.0005,
    offers: [0, 0.0005, 0.005],
    from: 0,
    to: 0.1,
    words: (weight) =>
      ({ 0: "not: no decoder", 0.0005: "a little (0.0005)", 0.005: "much (0.005)" })[weight],
  },
  rate: {
    label: "learning rate",
    usual: 0.005,
    offers: [0.0005, 0.002, 0.005, 0.02, 0.1],
    from: 1e-5,
    to: 1,
  },
  batch: { label: "digits a step", usual: 16, offers: [8, 16, 32, 64] },
  m_plus: { label: "margin m⁺", usual: 0.9, offers: [0.5, 0.7, 0.9, 1], from: 0, to: 1 },
  m_minus: { label: "margin m⁻", usual: 0.1, offers: [0, 0.1, 0.3, 0.5], from: 0, to: 1 },
  lambda: {
    label: "weight λ of absent digits",
    usual: 0.5,
    offers: [0, 0.25, 0.5, 1],
    from: 0,
    to: 10,
  },
  bug: {
    label: "a bug, planted",
    usual: "",
    offers: ["", ...Object.keys(BUGS)],
    words: (bug) => bug || "none",
  },
  seed: {
    label: "seed",
    usual: 1,
    offers: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    from: 0,
    to: 999_999,
    whole: true,
  },
};

const NAMES = Object.keys(SETTINGS);

/** @typedef {Record<string, any>} Settings  a value for each name of SETTINGS */

/**
 * The settings of one network or two: what is usual but for `others`, values or their texts. Whatever is wrong is left
 * out, and said in `problems`.
 * @param {Record<string, any>[]} others @returns {{ settings: Settings[], problems: string }}
 */
export function settingsWith(...others) {
  const problems = new Set();
  const settings = others.map((given) => {
    const found = Object.fromEntries(NAMES.map((name) => [name, SETTINGS[name].usual]));
    for (const [name, value] of Object.entries(given)) {
      try {
        found[name] = read(name, String(value));
      } catch ({ message }) {
        problems.add(message);
      }
    }
    return found;
  });
  return { settings, problems: [...problems].join(" ") };
}

/** Names of the settings in which two differ. @param {Settings} one @param {Settings} other */
export const differences = (one, other) => NAMES.filter((name) => one[name] !== other[name]);

/** A setting's value in words. */
export const valueInWords = (name, value) => SETTINGS[name].words?.(value) ?? String(value);

/** The value that a text means. @param {string} name @param {string} text */
function read(name, text) {
  if (!NAMES.includes(name)) throw new Error(`There is no setting ${shortened(name)}.`);
  const { offers, from, to, whole } = SETTINGS[name];
  const value = offers.find((offer) => String(offer) === text) ?? Number(text || Number.NaN);
  if (
    offers.includes(value) ||
    (value >= from && value <= to && (!whole || Number.isInteger(value)))
  )
    return value;
  const right =
    from === undefined
      ? `one of ${offers.map((offer) => offer || "none").join(", ")}`
      : `a ${whole ? "whole number" : "number"} from ${from} to ${to.toLocaleString("en")}`;
  throw new Error(`For ${name}, expected ${right}; got ${text ? shortened(text) : "nothing"}.`);
}

const shortened = (words) => (words.length > 40 ? `${words.slice(0, 40)} …` : words);

/**
 * What an address holds: "#rounds=1,3&seed=7" are two networks with one and three rounds.
 * @param {string} hash  -> as settingsWith, or undefined: it holds none
 */
export function fromAddress(hash) {
  if (!hash.includes("=")) return undefined;
  const lists = [...new URLSearchParams(hash.slice(1))].map(([name, text]) => {
    const texts = text.split(",");
    return /** @type {const} */ ([name, texts.length > 2 ? [text] : texts]); // three are no value
  });
  const count = Math.max(...lists.map(([, texts]) => texts.length));
  const given = (/** @type {number} */ k) =>
    Object.fromEntries(lists.map(([name, texts]) => [name, texts[k] ?? texts[0]]));
  return settingsWith(...Array.from({ length: count }, (_, k) => given(k)));
}

/** The address that holds these settings, what is usual left out. @param {Settings[]} settings */
export function toAddress(settings) {
  const others = NAMES.filter((name) =>
    settings.some((each) => each[name] !== SETTINGS[name].usual),
  );
  const parts = others.map(
    (name) => `${name}=${[...new Set(settings.map((each) => each[name]))].join(",")}`,
  );
  return `#${parts.join("&")}`;
}
