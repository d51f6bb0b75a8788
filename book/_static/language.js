/* The switch between the languages leads to the same place: sections have the same ids in both. The
   switch stands at the top of the page, so the place is the section in which the reader last stayed
   for a second. */

const others = document.querySelectorAll("a.language"); // in the bar, and in the menu of a phone
let resting;

function keepPlace() {
  const begun = [...document.querySelectorAll("article section[id]")].filter(
    (section) => section.checkVisibility() && section.getBoundingClientRect().top < innerHeight / 3,
  );
  if (scrollY < innerHeight || !begun.length) return;
  for (const other of others) other.hash = begun.at(-1).id;
}

function wait() {
  clearTimeout(resting);
  resting = setTimeout(keepPlace, 1000);
}
addEventListener("scroll", wait, { passive: true });
