/* The controls of the guesses (book/_ext/notebooks/guesses.py). A guess stays in the browser.

   A question, as the page has it, is one of
     { choices, answer }                                  the guess: the number of a choice
     { from, to, step, unit, answer }                     the guess: a number
     { from, to, step, unit, at, across, answer: [...] }  the guess: a line, a number a place */

(() => {
  const KEY = "capsnet:guesses"; // all projects of one github.io account share the storage
  const OLD_KEY = "guesses";
  const SVG = "http://www.w3.org/2000/svg";
  const RIGHT = 0;
  const NEAR = 1;
  const FAR = 2;
  const ENDINGS = ["As good as right.", "Not far off.", "A good way off: worth a second look."];

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
    if (!question.at) return isOnScale(question, guess);
    return (
      Array.isArray(guess) &&
      guess.length === question.at.length &&
      guess.every((number) => isOnScale(question, number))
    );
  };

  /** Return the reader's guess, if there is one. */
  const guessOf = (key) => {
    const guess = guesses[key]?.said;
    return isPossible(questionOf(key), guess) ? guess : undefined;
  };

  const mean = (numbers) => numbers.reduce((sum, number) => sum + number) / numbers.length;

  /** Return how far off a guess is, on average over the places of a line. */
  const errorOf = (question, guess) => {
    const numbers = [guess].flat();
    return mean([question.answer].flat().map((answer, k) => Math.abs(answer - numbers[k])));
  };

  /** Return RIGHT, NEAR or FAR. Of a scale, a twentieth is right, and a fifth near. */
  const grade = (question, guess) => {
    if (question.choices) return guess === question.answer ? RIGHT : FAR;
    const share = errorOf(question, guess) / (question.to - question.from);
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
        ? `You said ${word(guess)}. So it is.`
        : `You said ${word(guess)}. It is ${word(question.answer)}.`;
    }
    const ending = ENDINGS[how];
    if (question.at) {
      const error = errorOf(question, guess).toFixed(2);
      return `Your line is off by ${error} on average. ${ending}`;
    }
    const answer = show(question.answer);
    return `You said ${show(guess)}. It is ${answer} (${question.unit}). ${ending}`;
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

  const corners = ({ from, to }, line) =>
    line.map((y, k) => `${k},${(to - y) / (to - from)}`).join(" ");

  /** Draw a field with lines from left to right: the reader's dashed, then the answer's. */
  const plot = (question, ...lines) => {
    const field = make("span", { className: "guess-curve" });
    field.dataset.up = `${question.unit}, ${question.from}–${question.to}`;
    field.dataset.across = `${question.across}, ${question.at[0]}–${question.at.at(-1)}`;
    const picture = field.appendChild(document.createElementNS(SVG, "svg"));
    picture.setAttribute("viewBox", `0 0 ${question.at.length - 1} 1`);
    picture.setAttribute("preserveAspectRatio", "none");
    picture.ariaHidden = "true";
    for (const line of lines) {
      const polyline = document.createElementNS(SVG, "polyline");
      polyline.setAttribute("points", corners(question, line));
      picture.append(polyline);
    }
    return field;
  };

  // --- The field to draw in ----------------------------------------------------------------------

  /** Set the sliders that a stroke passes. Return where it ends: { k, y }. */
  const setAlong = (sliders, before, { k, y }) => {
    const from = before ?? { k, y };
    for (let n = Math.min(k, from.k); n <= Math.max(k, from.k); n++)
      sliders[n].value = n === k ? y : from.y + ((n - from.k) / (k - from.k)) * (y - from.y);
    return { k, y };
  };

  /** Make the field to draw in: a slider a place, for the keyboard; a stroke sets all it passes. */
  const pad = (question) => {
    const { from: min, to: max, step, unit } = question;
    const middle = question.at.map(() => (min + max) / 2);
    const field = plot(question, middle);
    const sliders = question.at.map((at, k) => {
      const range = { min, max, step, value: middle[k], ariaLabel: `Your guess, ${unit} at ${at}` };
      return field.appendChild(make("input", { type: "range", ...range }));
    });
    let last; // where the stroke was before
    const stroke = ({ clientX, clientY }) => {
      const { left, top, width, height } = field.getBoundingClientRect();
      const at = Math.round(((clientX - left) / width) * (sliders.length - 1));
      const k = Math.max(0, Math.min(sliders.length - 1, at));
      last = setAlong(sliders, last, { k, y: max - ((clientY - top) / height) * (max - min) });
      field.dispatchEvent(new Event("input", { bubbles: true })); // as each slider does by itself
    };
    field.addEventListener("pointerdown", (event) => {
      field.setPointerCapture(event.pointerId);
      last = undefined;
      stroke(event);
    });
    field.addEventListener("pointermove", (event) => {
      if (field.hasPointerCapture(event.pointerId)) stroke(event);
    });
    return field;
  };

  // --- The page ----------------------------------------------------------------------------------

  const showAnswer = (place) => {
    const guess = guessOf(place.dataset.key);
    place.hidden = guess === undefined;
    if (place.hidden) return;
    const question = questionOf(place.dataset.key);
    place.dataset.how = grade(question, guess);
    place.textContent = sentence(question, guess);
    if (question.at) place.append(plot(question, guess, question.answer));
    else if (!question.choices) place.append(scale(question, guess));
  };

  const showTally = (place) => {
    const grades = Object.values(guesses).map(({ how }) => how);
    const count = (how) => grades.filter((other) => other === how).length;
    const right = count(RIGHT);
    const near = count(NEAR);
    const far = count(FAR);
    place.hidden = !grades.length;
    place.textContent =
      `Of the ${place.dataset.total} guesses in this book you made ${grades.length}: ` +
      `${right} right, ${near} near, ${far} far off. ` +
      "A guess that was far off is remembered longest. ";
    const onclick = () => {
      guesses = {};
      store();
      location.reload();
    };
    place.append(make("button", { textContent: "Forget them", onclick }));
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
    const button = make("button", { type: "button", textContent: "Show the answer", onclick });
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
    if (guess === undefined) return;
    for (const [k, slider] of controls.querySelectorAll("input").entries())
      slider.value = [guess].flat()[k];
    const line = controls.querySelector("polyline");
    if (question.at) line.setAttribute("points", corners(question, guess));
    else if (!question.choices) controls.querySelector("output").textContent = show(guess);
    controls.querySelector("small").textContent =
      "Kept. How far off it was stands where the answer is.";
  };

  /** Return the guess that the controls show; `touched` is what the reader pressed or moved. */
  const guessIn = (question, controls, touched) => {
    if (question.choices) return Number(touched.value);
    const numbers = [...controls.querySelectorAll("input")].map((input) => input.valueAsNumber);
    return question.at ? numbers : numbers[0];
  };

  const take = (controls, touched) => {
    const { key } = controls.dataset;
    const question = questionOf(key);
    const guess = guessIn(question, controls, touched);
    guesses[key] = { said: guess, how: grade(question, guess) };
    store();
    showControls(controls);
    showRest();
  };

  for (const controls of document.querySelectorAll(".guess")) {
    const question = questionOf(controls.dataset.key);
    if (question.at) controls.querySelector(".guess-curve").replaceWith(pad(question));
    showControls(controls);
    for (const event of ["input", "click"])
      controls.addEventListener(event, ({ target }) => {
        if (target.matches("button, input, .guess-curve")) take(controls, target);
      });
  }
  for (const place of document.querySelectorAll(".guessed")) veil(place);
  showRest();
})();
