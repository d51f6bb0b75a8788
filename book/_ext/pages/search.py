"""Search: in Chinese, chapters first, without summaries on pages that are opened from the disk."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.search import languages
from sphinx.search.zh import SearchChinese

# On file:// a page may not fetch the pages that it found.
NO_SUMMARIES_ON_DISK = (
    'if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;'
)


SCORER = Path(__file__).with_name("scorer.js")
TAG = re.compile(r"<[^>]*>")
SECTION_NUMBER = re.compile(r"<span class=.section-number.>.*?</span>")


class Bigrams(SearchChinese):
    """Index and look for each two characters in a row: Chinese has no spaces between words.

    A single character is on the pages of all pairs that have it.

    Characters that say little on their own divide words: each page loads the index, and is a
    quarter lighter for it.
    """

    dividing = "的了是也都就它这那你我们有个与而但把让到"
    js_splitter_code = r"""
function splitQuery(query) {
  const pairs = (run) => run.slice(1).split("").map((each, k) => run[k] + each);
  const indexed = (sign) => {
    for (const terms of Search.hasIndex() ? [Search._index.terms, Search._index.titleterms] : []) {
      const withSign = Object.keys(terms).filter((term) => term.includes(sign));
      const pages = withSign.flatMap((term) => terms[term]);
      if (pages.length) terms[sign] ??= [...new Set(pages)];
    }
    return sign;
  };
  const runs = query.replace(/[DIVIDING]/g, " ").match(/[\u4e00-\u9fff]+|[a-zA-Z0-9_]+/g) ?? [];
  return runs.flatMap((run) => (run < "\u4e00" ? run : run.length > 1 ? pairs(run) : indexed(run)));
}
""".replace("DIVIDING", dividing)

    def split(self, input: str) -> list[str]:
        """Return the words of a text: Sphinx's, and the pairs of each run of Chinese characters."""
        divided = re.sub(f"[{self.dividing}]", " ", input)
        words = super().split(input)
        for run in re.findall(r"[\u4e00-\u9fff]+", divided):
            words += pairs(run)
        return words


def pairs(run: str) -> list[str]:
    """Return each two neighbours of a run of characters; a single character as it is."""
    return [run[start : start + 2] for start in range(max(1, len(run) - 1))]


def set_scorer(app: Sphinx, config: Any) -> None:
    """Let the page whose title is looked for come first."""
    config.html_search_scorer = str(SCORER)


def strip_titles(app: Sphinx) -> list[Any]:
    """Take markup and numbers out of the titles in the index: the search compares them as text."""
    titles = app.builder.indexer._titles if hasattr(app.builder, "indexer") else {}
    for page, title in titles.items():
        titles[page] = TAG.sub("", SECTION_NUMBER.sub("", title or "")).strip()
    return []


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("config-inited", set_scorer)
    app.connect("html-collect-pages", strip_titles)
    languages["zh"] = Bigrams
    app.add_js_file(None, body=NO_SUMMARIES_ON_DISK)
