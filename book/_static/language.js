/* The switch between the languages keeps the place: sections have the same ids in both. */

document.querySelector("a.language")?.addEventListener("click", ({ currentTarget }) => {
  const begun = [...document.querySelectorAll("article section[id]")].filter(
    (section) => section.checkVisibility() && section.getBoundingClientRect().top < innerHeight / 3,
  );
  if (scrollY > 0 && begun.length) currentTarget.hash = begun.at(-1).id;
});
