/* The hands of the guesses (book/_ext/guesses.py): what the reader says stays in the browser. */

(() => {
  const kept = {};
  try {
    Object.assign(kept, JSON.parse(localStorage.getItem("guesses")));
  } catch {} // where nothing may be stored, or nonsense is, they are for this page
  const keep = () => {
    try {
      localStorage.setItem("guesses", JSON.stringify(kept));
    } catch {}
  };
  const about = (key) => JSON.parse(document.querySelector(`.guess[data-key="${key}"]`).dataset.guess);
  const show = (number) => String(number).replace("-", "−");

  /** How near a guess is: 0 right, 1 near, 2 far. Of a scale, a twentieth is right, and a fifth near. */
  const distance = ({ choices, from, to, answer }, said) => {
    if (choices) return said === answer ? 0 : 2;
    const off = Math.abs(said - answer) / (to - from);
    return off <= 0.05 ? 0 : off <= 0.2 ? 1 : 2;
  };

  const sentence = (guess, said, how) => {
    if (guess.choices) {
      const word = (k) => `“${guess.choices[k]}”`;
      return how === 0 ? `You said ${word(said)}. So it is.` : `You said ${word(said)}. It is ${word(guess.answer)}.`;
    }
    const ending = ["As good as right.", "Not far off.", "A good way off: worth a second look."][how];
    return `You said ${show(said)}. It is ${show(guess.answer)} (${guess.unit}). ${ending}`;
  };

  /** A line from end to end of the scale, with the reader's mark and the answer's. */
  const scale = ({ from, to, answer }, said) => {
    const line = document.createElement("span");
    line.className = "guess-scale";
    line.ariaHidden = "true";
    for (const [mark, value] of Object.entries({ i: said, b: answer })) {
      const part = line.appendChild(document.createElement(mark));
      part.style.left = `${(100 * (value - from)) / (to - from)}%`;
    }
    return line;
  };

  const answer = (place) => {
    const said = kept[place.dataset.key]?.said;
    place.hidden = said === undefined;
    if (place.hidden) return;
    const guess = about(place.dataset.key);
    const how = distance(guess, said);
    place.dataset.how = how;
    place.textContent = sentence(guess, said, how);
    if (!guess.choices) place.append(scale(guess, said));
  };

  const sum = (place) => {
    const hows = Object.values(kept).map(({ how }) => how);
    const [right, near, far] = [0, 1, 2].map((how) => hows.filter((each) => each === how).length);
    place.hidden = !hows.length;
    place.textContent =
      `Of the ${place.dataset.total} guesses in this book you made ${hows.length}: ` +
      `${right} right, ${near} near, ${far} far off. A guess that was far off is remembered longest. `;
    const again = place.appendChild(document.createElement("button"));
    again.textContent = "Forget them";
    again.addEventListener("click", () => {
      for (const key of Object.keys(kept)) delete kept[key];
      keep();
      place.hidden = true;
    });
  };

  const showHand = (hand) => {
    const said = kept[hand.dataset.key]?.said;
    for (const each of hand.querySelectorAll("button")) each.setAttribute("aria-pressed", Number(each.value) === said);
    if (said === undefined) return;
    const slider = hand.querySelector("input");
    if (slider) {
      slider.value = said;
      hand.querySelector("output").textContent = show(said);
    }
    hand.querySelector("small").textContent = "Kept. How far off it was stands where the answer is.";
  };

  const say = (hand, said) => {
    const { key } = hand.dataset;
    kept[key] = { said, how: distance(about(key), said) };
    keep();
    showHand(hand);
    for (const place of document.querySelectorAll(`.guessed[data-key="${key}"]`)) answer(place);
  };

  for (const hand of document.querySelectorAll(".guess")) {
    showHand(hand);
    for (const each of hand.querySelectorAll("button"))
      each.addEventListener("click", () => say(hand, Number(each.value)));
    const slider = hand.querySelector("input");
    for (const event of ["input", "click"]) slider?.addEventListener(event, () => say(hand, Number(slider.value)));
  }
  for (const place of document.querySelectorAll(".guessed")) answer(place);
  for (const place of document.querySelectorAll(".guess-tally")) sum(place);
})();
