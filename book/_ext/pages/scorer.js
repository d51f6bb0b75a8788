/* How results of the search are ordered: Sphinx's numbers, and a page whose title begins with the query
   comes first, before the glossary's entry (100). Sphinx puts this file into the search's scripts. */

var Scorer = {
  score([, title, , , score]) {
    const query = new URLSearchParams(location.search).get("q") ?? "";
    return title.toLowerCase().startsWith(query.trim().toLowerCase()) ? score + 100 : score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
