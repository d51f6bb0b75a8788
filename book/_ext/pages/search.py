"""Search: in Chinese, and without summaries on pages that are opened from the disk."""

from __future__ import annotations

import re

from sphinx.application import Sphinx
from sphinx.search import languages
from sphinx.search.zh import SearchChinese

# On file:// a page may not fetch the pages that it found.
NO_SUMMARIES_ON_DISK = (
    'if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;'
)


class Bigrams(SearchChinese):
    """Index and look for each two characters in a row: Chinese has no spaces between words.

    Characters that say little on their own divide words: each page loads the index, and is a
    quarter lighter for it.
    """

    dividing = "的了是也都就它这那你我们有个与而但把让到"
    js_splitter_code = r"""
function splitQuery(query) {
  const pairs = (run) => run.slice(1).split("").map((each, k) => run[k] + each);
  const runs = query.replace(/[DIVIDING]/g, " ").match(/[\u4e00-\u9fff]+|[a-zA-Z0-9_]+/g) ?? [];
  return runs.flatMap((run) => (run > "\u4e00" && run.length > 1 ? pairs(run) : run));
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


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    languages["zh"] = Bigrams
    app.add_js_file(None, body=NO_SUMMARIES_ON_DISK)
