/* The hands of the guesses (book/_ext/notebooks/guesses.py): what the reader says stays in the browser. */

(() => {
  let kept = {};
  try {
    kept = { ...JSON.parse(localStorage.getItem("guesses")) };
  } catch {} // where nothing may be stored, or nonsense is, they are for this page
  const keep = () => {
    try {
      localStorage.setItem("guesses", JSON.stringify(kept));
    } catch {}
  };
  const about = (key) =>
    JSON.parse(document.querySelector(`.guess[data-key="${key}"]`).dataset.guess);
  /** What the reader said: a number, or of a line to draw one for each place. */
  const saidOf = (key) => {
    const said = kept[key]?.said;
    return Array.isArray(said) === Boolean(about(key).at) ? said : undefined;
  };
  const show = (number) => String(number).replace("-", "−");
  const mean = (numbers) => numbers.reduce((sum, each) => sum + each) / numbers.length;
  const make = (tag, values) => Object.assign(document.createElement(tag), values);

  /** How far off a number is, or each place of a line. */
  const apart = (guess, said) =>
    [guess.answer].flat().map((each, k) => Math.abs(each - [said].flat()[k]));

  /** How near a guess is: 0 right, 1 near, 2 far. Of a scale, a twentieth is right, and a fifth near. */
  const distance = (guess, said) => {
    if (guess.choices) return said === guess.answer ? 0 : 2;
    const off = mean(apart(guess, said)) / (guess.to - guess.from);
    return off <= 0.05 ? 0 : off <= 0.2 ? 1 : 2;
  };

  const sentence = (guess, said, how) => {
    if (guess.choices) {
      const word = (k) => `“${guess.choices[k]}”`;
      return how === 0
        ? `You said ${word(said)}. So it is.`
        : `You said ${word(said)}. It is ${word(guess.answer)}.`;
    }
    const ending = ["As good as right.", "Not far off.", "A good way off: worth a second look."][
      how
    ];
    if (guess.at) {
      return `Your line is off by ${mean(apart(guess, said)).toFixed(2)} on average. ${ending}`;
    }
    return `You said ${show(said)}. It is ${show(guess.answer)} (${guess.unit}). ${ending}`;
  };

  /** The scale as a line: above it the reader's number and mark, below it the answer's. */
  const scale = ({ from, to, answer }, said) => {
    const line = make("span", { className: "guess-scale", ariaHidden: "true" });
    const mark = (tag, value, textContent) => {
      const { style } = line.appendChild(make(tag, { textContent }));
      style.left = `${(100 * (value - from)) / (to - from)}%`;
    };
    mark("i", said, `${show(said)}\n▾`);
    mark("b", answer, `▴\n${show(answer)}`);
    return line;
  };

  const SVG = "http://www.w3.org/2000/svg";
  const corners = ({ from, to }, line) =>
    line.map((y, k) => `${k},${(to - y) / (to - from)}`).join(" ");

  /** A field with lines from left to right: the reader's dashed, then the answer's. */
  const plot = (guess, ...lines) => {
    const field = make("span", { className: "guess-curve" });
    field.dataset.up = `${guess.unit}, ${guess.from}–${guess.to}`;
    field.dataset.across = `${guess.across}, ${guess.at[0]}–${guess.at.at(-1)}`;
    const picture = field.appendChild(document.createElementNS(SVG, "svg"));
    picture.setAttribute("viewBox", `0 0 ${guess.at.length - 1} 1`);
    picture.setAttribute("preserveAspectRatio", "none");
    picture.ariaHidden = "true";
    for (const line of lines)
      picture
        .appendChild(document.createElementNS(SVG, "polyline"))
        .setAttribute("points", corners(guess, line));
    return field;
  };

  /** The field to draw in: a slider a place, for the keyboard, and a stroke sets all that it passes. */
  const pad = (guess) => {
    const { from: min, to: max, step, unit } = guess;
    const middle = guess.at.map(() => (min + max) / 2);
    const field = plot(guess, middle);
    const sliders = guess.at.map((at, k) => {
      const range = { min, max, step, value: middle[k], ariaLabel: `Your guess, ${unit} at ${at}` };
      return field.appendChild(make("input", { type: "range", ...range }));
    });
    let last;
    const stroke = ({ clientX, clientY }) => {
      const { left, top, width, height } = field.getBoundingClientRect();
      const at = Math.round(((clientX - left) / width) * (sliders.length - 1));
      const k = Math.max(0, Math.min(sliders.length - 1, at));
      const y = max - ((clientY - top) / height) * (max - min);
      last ??= { k, y };
      for (let n = Math.min(k, last.k); n <= Math.max(k, last.k); n++)
        sliders[n].value = n === k ? y : last.y + ((n - last.k) / (k - last.k)) * (y - last.y);
      last = { k, y };
      field.dispatchEvent(new Event("input", { bubbles: true })); // as each slider does by itself
    };
    field.addEventListener("pointerdown", (event) => {
      field.setPointerCapture(event.pointerId);
      last = undefined;
      stroke(event);
    });
    field.addEventListener(
      "pointermove",
      (event) => field.hasPointerCapture(event.pointerId) && stroke(event),
    );
    return field;
  };

  const answer = (place) => {
    const said = saidOf(place.dataset.key);
    place.hidden = said === undefined;
    if (place.hidden) return;
    const guess = about(place.dataset.key);
    const how = distance(guess, said);
    place.dataset.how = how;
    place.textContent = sentence(guess, said, how);
    if (!guess.choices)
      place.append(guess.at ? plot(guess, said, guess.answer) : scale(guess, said));
  };

  const sum = (place) => {
    const hows = Object.values(kept).map(({ how }) => how);
    const [right, near, far] = [0, 1, 2].map((how) => hows.filter((each) => each === how).length);
    place.hidden = !hows.length;
    place.textContent =
      `Of the ${place.dataset.total} guesses in this book you made ${hows.length}: ` +
      `${right} right, ${near} near, ${far} far off. A guess that was far off is remembered longest. `;
    const onclick = () => {
      kept = {};
      keep();
      location.reload();
    };
    place.append(make("button", { textContent: "Forget them", onclick }));
  };

  /** What stands elsewhere in the page: the answers, and the sum. */
  const showRest = () => {
    for (const place of document.querySelectorAll(".guessed")) answer(place);
    for (const place of document.querySelectorAll(".guess-tally")) sum(place);
  };

  const showHand = (hand) => {
    const guess = about(hand.dataset.key);
    const said = saidOf(hand.dataset.key);
    for (const each of hand.querySelectorAll("button"))
      each.setAttribute("aria-pressed", Number(each.value) === said);
    if (said === undefined) return;
    for (const [k, slider] of hand.querySelectorAll("input").entries())
      slider.value = [said].flat()[k];
    if (guess.at) hand.querySelector("polyline").setAttribute("points", corners(guess, said));
    else if (!guess.choices) hand.querySelector("output").textContent = show(said);
    hand.querySelector("small").textContent =
      "Kept. How far off it was stands where the answer is.";
  };

  /** The reader has pressed a button of a hand, or has moved its sliders. */
  const say = (hand, touched) => {
    const { key } = hand.dataset;
    const guess = about(key);
    const values = [...hand.querySelectorAll("input")].map(({ valueAsNumber }) => valueAsNumber);
    const said = guess.choices ? Number(touched.value) : guess.at ? values : values[0];
    kept[key] = { said, how: distance(guess, said) };
    keep();
    showHand(hand);
    showRest();
  };

  for (const hand of document.querySelectorAll(".guess")) {
    const guess = about(hand.dataset.key);
    if (guess.at) hand.querySelector(".guess-curve").replaceWith(pad(guess));
    showHand(hand);
    for (const event of ["input", "click"])
      hand.addEventListener(
        event,
        ({ target }) => target.matches("button, input, .guess-curve") && say(hand, target),
      );
  }
  showRest();
})();
