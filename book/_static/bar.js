/* The menu and the page's contents shut when a link in them leads to a part of this page. */

document.addEventListener("click", ({ target }) => {
  const link = target.closest("dialog a");
  if (link?.hash && link.pathname === location.pathname) link.closest("dialog").close();
});
