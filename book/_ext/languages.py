"""The book's languages: a switch between them, the same addresses in both, and search in Chinese.

The Chinese book is built from a tree that tools/translation.py writes, into the folder `zh_CN` of the English one. A
switch in each page's head leads to the same page of the other, and language.js to the same place on it. The English
book has it where the Chinese one lies beside it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_parser.mdit_to_docutils.base import default_slugify
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.search import languages
from sphinx.search.zh import SearchChinese
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

CHINESE = "zh_CN"
HEADINGS = "headings.json"  # in a translated tree: page -> its English headings, in order

logger = logging.getLogger(__name__)


class EnglishAddresses(SphinxTransform):
    """Give the sections of a translated page the ids that they have in English: links and the switch lead there."""

    default_priority = 5  # before anyone looks for a section

    def apply(self, **kwargs: Any) -> None:
        file = Path(self.app.srcdir, HEADINGS)
        if not file.exists():
            return
        headings = json.loads(file.read_text(encoding="utf-8")).get(self.env.docname, [])
        sections = list(self.document.findall(nodes.section))
        if len(sections) != len(headings):
            logger.warning(
                f"{len(sections)} sections, but {len(headings)} headings", location=self.env.docname
            )
        slugs = getattr(self.document, "myst_slugs", {})
        for section, heading in zip(sections, headings, strict=False):
            for slug, (line, old, text) in list(slugs.items()):
                if old in section["ids"]:
                    del slugs[slug]
                    slugs[default_slugify(heading)] = (line, self.rename(section, heading), text)

    def rename(self, section: nodes.section, heading: str) -> str:
        """The section's English id; one that is taken stays as it is."""
        new = nodes.make_id(nodes.fully_normalize_name(heading))
        if new and self.document.ids.setdefault(new, section) is section:
            section["ids"][0] = new
        return str(section["ids"][0])


class LatinEmphasis(SphinxTransform):
    """Give what is emphasised in a Chinese page and is not Chinese, such as a title, a class: it has italics."""

    default_priority = 500

    def apply(self, **kwargs: Any) -> None:
        for emphasis in (
            self.document.findall(nodes.emphasis) if self.config.language == CHINESE else ()
        ):
            if all(
                sign < "\u2e80" for sign in emphasis.astext()
            ):  # where Chinese signs and their marks begin
                emphasis["classes"].append("latin")


class Bigrams(SearchChinese):
    """Chinese has no spaces: each two characters in a row are a word, in the index and in what is looked for.

    Characters that say little on their own divide words: each page loads the index, and is a quarter lighter for it.
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
        runs = re.findall(r"[\u4e00-\u9fff]+", re.sub(f"[{self.dividing}]", " ", input))
        return super().split(input) + [
            run[k : k + 2] for run in runs for k in range(max(1, len(run) - 1))
        ]


def find_other(app: Sphinx, config: Config) -> None:
    """Where the other language's pages lie, seen from this one's, for the template of the switch."""
    here = config.language == CHINESE
    other = (
        {"root": "..", "code": "en", "name": "English", "short": "EN"}
        if here
        else {"root": CHINESE, "code": "zh-CN", "name": "中文", "short": "中文"}
    )
    if here or Path(app.outdir, CHINESE).is_dir():
        config.html_context["other_language"] = other


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    languages["zh"] = Bigrams
    app.connect("config-inited", find_other)
    app.add_transform(EnglishAddresses)
    app.add_transform(LatinEmphasis)
    app.add_js_file("language.js", loading_method="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
