/** The catalogue of the reader's language, where there is one (`shared/t.js`). */
declare const capsnetWords: Record<string, string> | undefined;
