// Who drew the pictures: sources and licences, from whose drawings a network learns, and how many
// of each artist's pictures it reads.
import { fold } from "../shared/stage.js";
import { t } from "../shared/t.js";
import { element, memoized, write } from "../shared/ui.js";

const ABOUT = t`Ten animals, from nine sets of drawings. The drawings are in grey here, turned,
  shifted and scaled; their sources and licences:`;

/**
 * Return whose drawings the wall is made after, and under which licences.
 * @param {import("./animals.js").Artist[] | undefined} artists
 */
export function creditsOf(artists = []) {
  const unseen = artists.filter(({ shown }) => !shown);
  return unseen.map(({ title, licence }) => `${title} (${licence})`).join(", ");
}

/** Return a link to another site. @param {string} href @param {string} words */
const linkTo = (href, words) => element("a", { href, rel: "external" }, words);

/** Make the line about an artist. @param {import("./animals.js").Artist} artist */
function makeLine({ set, title, author, source, licence, licence_url, shown }) {
  const result = element("span", { class: "result" });
  const role = shown ? t`learned from` : t`never learned from`;
  const node = element(
    "li",
    { "data-artist": set },
    linkTo(source, title),
    ` (${author}), `,
    linkTo(licence_url, licence),
    `: ${role}`,
    result,
  );

  function show(/** @type {import("./animals.js").Count | undefined} */ count) {
    write(result, count ? t`, reads ${count.read} of ${count.pictures}` : "");
  }

  return { node, show };
}

/**
 * Make the card of the artists. It is there while pictures of theirs are.
 * @param {any} session
 * @returns {{ node: HTMLElement, show: (frames: import("./untrained.js").Frame[]) => void }}
 */
export function makeArtists(session) {
  const list = element("ul", { class: "artists" });
  const node = fold(t`Who drew the animals`, element("p", {}, ABOUT), list);
  /** @type {ReturnType<typeof makeLine>[]} */
  let lines = [];

  const renew = memoized((artists) => {
    lines = artists.map(makeLine);
    list.replaceChildren(...lines.map((line) => line.node));
  });

  function show(/** @type {import("./untrained.js").Frame[]} */ [{ gallery }]) {
    const artists = session.artists[session.settings[0].data];
    node.hidden = !artists;
    if (!artists) return;
    renew([artists], artists);
    lines.forEach((line, n) => line.show(gallery?.counts[n]));
  }

  return { node, show };
}
