/* A loop that moves has a button that stops it: its still picture then stands in its place. */

(() => {
  const t = globalThis.capsnetT; // words.js

  /** Put the button under a loop. @param {HTMLImageElement} loop @param {HTMLImageElement} still */
  const addButton = (loop, still) => {
    const button = document.createElement("button");
    button.type = "button";
    let moves = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    const show = () => {
      button.textContent = moves ? t`Pause the film` : t`Play the film`;
      loop.style.display = moves ? "block" : "none";
      still.style.display = moves ? "none" : "block";
    };
    button.addEventListener("click", () => {
      moves = !moves;
      show();
    });
    const foot = document.createElement("p");
    foot.className = "loop-foot";
    foot.append(button);
    still.after(foot);
    show();
  };

  const stills = document.querySelectorAll("img.at-rest");
  document.querySelectorAll("img.moving").forEach((loop, n) => addButton(loop, stills[n]));
})();
