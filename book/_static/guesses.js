/* The controls of the guesses (book/_ext/notebooks/guesses.py). A guess stays in the browser.

   A question, as the page has it, is one of
     { choices, answer }               the guess: the number of a choice
     { from, to, step, unit, answer }  the guess: a number */

(() => {
  const t = globalThis.capsnetT; // words.js
  const KEY = "capsnet:guesses"; // all projects of one github.io account share the storage
  const OLD_KEY = "guesses";
  const RIGHT = 0;
  const NEAR = 1;
  const FAR = 2;
  const ENDINGS = [t`As good as right.`, t`Not far off.`, t`A good way off: worth a second look.`];

  // --- The store ---------------------------------------------------------------------------------

  /** Return what was stored, less what no page of ours has written: key -> { said, how }. */
  const stored = () => {
    try {
      const text = localStorage.getItem(KEY) ?? localStorage.getItem(OLD_KEY);
      const entries = Object.entries(JSON.parse(text) ?? {});
      return Object.fromEntries(entries.filter(([, entry]) => [0, 1, 2].includes(entry?.how)));
    } catch {
      return {}; // where nothing may be stored, or nonsense is, guesses are for this page
    }
  };

  const store = () => {
    try {
      localStorage.setItem(KEY, JSON.stringify(guesses));
    } catch {}
  };

  let guesses = stored();

  // --- Questions and guesses ---------------------------------------------------------------------

  const questionOf = (key) =>
    JSON.parse(document.querySelector(`.guess[data-key="${key}"]`).dataset.guess);

  const isOnScale = (question, number) =>
    Number.isFinite(number) && number >= question.from && number <= question.to;

  /** Return whether this can be a guess at the question: the store may hold anything. */
  const isPossible = (question, guess) => {
    if (question.choices)
      return Number.isInteger(guess) && guess >= 0 && guess < question.choices.length;
    return isOnScale(question, guess);
  };

  /** Return the reader's guess, if there is one. */
  const guessOf = (key) => {
    const guess = guesses[key]?.said;
    return isPossible(questionOf(key), guess) ? guess : undefined;
  };

  /** Return RIGHT, NEAR or FAR. Of a scale, a twentieth is right, and a fifth near. */
  const grade = (question, guess) => {
    if (question.choices) return guess === question.answer ? RIGHT : FAR;
    const share = Math.abs(question.answer - guess) / (question.to - question.from);
    if (share <= 0.05) return RIGHT;
    return share <= 0.2 ? NEAR : FAR;
  };

  // --- What is said and drawn --------------------------------------------------------------------

  const show = (number) => String(number).replace("-", "−");
  const make = (tag, values) => Object.assign(document.createElement(tag), values);

  const sentence = (question, guess) => {
    const how = grade(question, guess);
    if (question.choices) {
      const word = (k) => `“${question.choices[k]}”`;
      return how === RIGHT
        ? t`You said ${word(guess)}. So it is.`
        : t`You said ${word(guess)}. It is ${word(question.answer)}.`;
    }
    const ending = ENDINGS[how];
    const answer = show(question.answer);
    return t`You said ${show(guess)}. It is ${answer} (${question.unit}). ${ending}`;
  };

  /** Draw the scale as a line: above it the reader's number and mark, below it the answer's. */
  const scale = ({ from, to, answer }, guess) => {
    const line = make("span", { className: "guess-scale", ariaHidden: "true" });
    const mark = (tag, value, textContent) => {
      const { style } = line.appendChild(make(tag, { textContent }));
      style.left = `${(100 * (value - from)) / (to - from)}%`;
    };
    mark("i", guess, `${show(guess)}\n▾`);
    mark("b", answer, `▴\n${show(answer)}`);
    return line;
  };

  // --- The page ----------------------------------------------------------------------------------

  const showAnswer = (place) => {
    const guess = guessOf(place.dataset.key);
    place.hidden = guess === undefined;
    if (place.hidden) return;
    const question = questionOf(place.dataset.key);
    place.dataset.how = grade(question, guess);
    place.textContent = sentence(question, guess);
    if (!question.choices) place.append(scale(question, guess));
  };

  const showTally = (place) => {
    const grades = Object.values(guesses).map(({ how }) => how);
    const count = (how) => grades.filter((other) => other === how).length;
    const right = count(RIGHT);
    const near = count(NEAR);
    const far = count(FAR);
    place.hidden = !grades.length;
    place.textContent = t`Of the ${place.dataset.total} guesses in this book you made
      ${grades.length}: ${right} right, ${near} near, ${far} far off. A guess that was far off is
      remembered longest. `;
    const onclick = () => {
      guesses = {};
      store();
      location.reload();
    };
    place.append(make("button", { textContent: t`Forget them`, onclick }));
  };

  // --- Answers wait ------------------------------------------------------------------------------

  const veils = new Map(); // the key of a question -> { button, parts }

  /** Return what answers a guess: the cells above the place of the answer, a paragraph below. */
  const answerParts = (place) => {
    const parts = [];
    let part = place.previousElementSibling;
    while (part?.matches(".cell, .caption") && !part.querySelector(".live-widget")) {
      parts.unshift(part);
      part = part.previousElementSibling;
    }
    let below = place.nextElementSibling;
    for (; below?.matches(".caption"); below = below.nextElementSibling) parts.push(below);
    if (below?.matches("p")) parts.push(below);
    return parts;
  };

  const lift = (key) => {
    const { button, parts } = veils.get(key) ?? { parts: [] };
    const hasFocus = button === document.activeElement;
    for (const part of parts) {
      part.inert = false;
      part.classList.remove("veiled");
    }
    button?.parentElement.remove();
    veils.delete(key);
    if (!hasFocus) return;
    const seen = parts.find((part) => part.offsetHeight > 0); // not a cell whose code is folded
    seen.tabIndex = -1;
    seen.focus({ preventScroll: true });
  };

  /** Veil the answer to a question until the reader has guessed, or asks for it. */
  const veil = (place) => {
    const { key } = place.dataset;
    const parts = answerParts(place);
    if (guessOf(key) !== undefined || !parts.length) return;
    for (const part of parts) {
      part.inert = true;
      part.classList.add("veiled");
    }
    const onclick = () => lift(key);
    const button = make("button", { type: "button", textContent: t`Show the answer`, onclick });
    const cover = make("div", { className: "veil" });
    cover.append(button);
    parts[0].before(cover);
    veils.set(key, { button, parts });
  };

  /** Show what stands elsewhere in the page: the answers, and the tally. */
  const showRest = () => {
    for (const key of [...veils.keys()]) if (guessOf(key) !== undefined) lift(key);
    for (const place of document.querySelectorAll(".guessed")) showAnswer(place);
    for (const place of document.querySelectorAll(".guess-tally")) showTally(place);
  };

  const showControls = (controls) => {
    const question = questionOf(controls.dataset.key);
    const guess = guessOf(controls.dataset.key);
    for (const button of controls.querySelectorAll("button"))
      button.setAttribute("aria-pressed", Number(button.value) === guess);
    controls.toggleAttribute("data-untouched", guess === undefined);
    if (guess === undefined) return;
    if (!question.choices) {
      controls.querySelector("input").value = guess;
      controls.querySelector("output").textContent = show(guess);
    }
    controls.querySelector("small").textContent =
      t`Kept. How far off it was stands where the answer is.`;
  };

  /** Keep the guess that the controls show; `touched` is the button or slider that was used. */
  const take = (controls, touched) => {
    const { key } = controls.dataset;
    const question = questionOf(key);
    const guess = Number(touched.value);
    guesses[key] = { said: guess, how: grade(question, guess) };
    store();
    showControls(controls);
  };

  for (const controls of document.querySelectorAll(".guess")) {
    showControls(controls);
    controls.addEventListener("input", ({ target }) => take(controls, target));
    // The answer shows when the slider is let go: a hand still on it would move to the answer.
    for (const event of ["change", "click"])
      controls.addEventListener(event, ({ target }) => {
        if (!target.matches("button, input")) return;
        take(controls, target);
        showRest();
      });
  }
  for (const place of document.querySelectorAll(".guessed")) veil(place);
  showRest();
})();
