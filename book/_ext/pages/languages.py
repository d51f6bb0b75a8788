"""The book's languages: a switch between them, and the same addresses in both.

The Chinese book is built from a tree that `tools/translation` writes, into the folder `zh_CN` of
the English one. A switch in each page's head leads to the same page of the other book, and
language.js to the same place on it. The English book has the switch where the Chinese one lies
beside it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_parser.mdit_to_docutils.base import default_slugify
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from .. import order

CHINESE = "zh_CN"
HEADINGS = "headings.json"  # in a translated tree: page -> its English headings, in order
FIRST_CHINESE_SIGN = "\u2e80"

logger = logging.getLogger(__name__)


class EnglishAddresses(SphinxTransform):
    """Give the sections of a translated page their English ids: links and the switch use them."""

    default_priority = order.ENGLISH_ADDRESSES

    def apply(self, **kwargs: Any) -> None:
        """Rename the sections of a page in a translated tree."""
        file = Path(self.app.srcdir, HEADINGS)
        if not file.exists():
            return
        headings = json.loads(file.read_text(encoding="utf-8")).get(self.env.docname, [])
        sections = list(self.document.findall(nodes.section))
        if len(sections) != len(headings):
            logger.warning(
                f"{len(sections)} sections, but {len(headings)} headings", location=self.env.docname
            )
        for section, heading in zip(sections, headings, strict=False):
            self.rename(section, heading)

    def rename(self, section: nodes.section, heading: str) -> None:
        """Give a section, and MyST's slug of it, the names of an English heading."""
        slugs = getattr(self.document, "myst_slugs", {})
        for slug, (line, section_id, text) in list(slugs.items()):
            if section_id in section["ids"]:
                del slugs[slug]
                english_id = self.set_id(section, heading)
                slugs[default_slugify(heading)] = (line, english_id, text)

    def set_id(self, section: nodes.section, heading: str) -> str:
        """Set and return a section's English id; keep its own where another section has that."""
        english_id = nodes.make_id(nodes.fully_normalize_name(heading))
        if english_id and self.document.ids.setdefault(english_id, section) is section:
            section["ids"][0] = english_id
        return str(section["ids"][0])


class LatinEmphasis(SphinxTransform):
    """Mark what a Chinese page emphasises in Latin letters, such as a title, for italics."""

    default_priority = order.LATIN_EMPHASIS

    def apply(self, **kwargs: Any) -> None:
        """Add the class `latin`."""
        if self.config.language != CHINESE:
            return
        for emphasis in self.document.findall(nodes.emphasis):
            if all(sign < FIRST_CHINESE_SIGN for sign in emphasis.astext()):
                emphasis["classes"].append("latin")


def set_other_language(app: Sphinx, config: Config) -> None:
    """Tell the template of the switch where the other language's pages lie, seen from here."""
    if config.language == CHINESE:
        config.html_context["other_language"] = {
            "root": "..",
            "code": "en",
            "name": "English",
            "short": "EN",
        }
    elif Path(app.outdir, CHINESE).is_dir():
        config.html_context["other_language"] = {
            "root": CHINESE,
            "code": "zh-CN",
            "name": "中文",
            "short": "中文",
        }


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("config-inited", set_other_language)
    app.add_transform(EnglishAddresses)
    app.add_transform(LatinEmphasis)
