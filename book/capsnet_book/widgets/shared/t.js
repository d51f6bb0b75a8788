// The language of what widgets say.
//
// t`${right} of ${all} right` is a sentence, as text. Its message in the catalogue is the English
// with a number for each value, "{0} of {1} right"; a translation may have the values in another
// order. A line that is broken is one line: a break, with what is indented, is a space. Without a
// catalogue the sentence is English.

/**
 * Message -> translation. The catalogue is there before any widget's module runs: a page of the
 * book loads `_static/words.js` first, and in a notebook it stands above the modules in a widget's
 * text (`_parts.py`). So a table of sentences may be a constant of a module.
 * @type {Map<string, string>}
 */
const translations = new Map(
  Object.entries(typeof capsnetWords === "undefined" ? {} : capsnetWords),
);
const BREAK = /\n\s*/g;

/**
 * A sentence in the reader's language.
 * @param {TemplateStringsArray} parts @param {any[]} values
 */
export function t(parts, ...values) {
  const english = parts.map((part) => part.replace(BREAK, " "));
  const message = english.reduce((text, part, k) => `${text}{${k - 1}}${part}`);
  const translation = translations.get(message);
  if (translation === undefined)
    return english.reduce((text, part, k) => `${text}${values[k - 1]}${part}`);
  return translation.replace(/\{(\d)\}/g, (_, k) => values[k]);
}
