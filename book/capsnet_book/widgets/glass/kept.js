// The reader's digit, which goes from page to page of the book. A notebook has no such place.
import { PIXELS } from "../shared/digits.js";
import { hasInk } from "./model.js";

const KEY = "capsnet:digit";

/**
 * The reader's digit, 784 bytes, which goes from page to page. null: there is none, or the browser
 * stores nothing, or something else lies in its place.
 */
export function keptDigit() {
  try {
    const bytes = fromBase64(localStorage.getItem(KEY) ?? "");
    return bytes.length === PIXELS && hasInk(bytes) ? bytes : null;
  } catch {
    return null;
  }
}

/** Keeps the reader's digit for the next page. @param {Uint8Array} bytes */
export function keepDigit(bytes) {
  try {
    localStorage.setItem(KEY, btoa(String.fromCharCode(...bytes)));
  } catch {
    // Nothing may be stored here: the digit stays on this page.
  }
}

/** @param {string} text */
export const fromBase64 = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
