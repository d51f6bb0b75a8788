"""The book's languages: a switch between them, and the same addresses in both.

The Chinese book is built from a tree that `tools/translation` writes, into the folder `zh_CN` of
the English one. A switch in each page's head leads to the same page of the other book, and
language.js to the same place on it. The English book has the switch where the Chinese one lies
beside it.
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
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from .. import order

CHINESE = "zh_CN"
HEADINGS = "headings.json"  # in a translated tree: page -> its English headings, in order
FIRST_CHINESE_SIGN = "\u2e80"
LABELS = {
    "Color mode": "明暗模式",
    "System Settings": "跟随系统",
    "Light": "浅色",
    "Dark": "深色",
    "Toggle primary sidebar": "打开或收起目录",
    "Toggle secondary sidebar": "打开或收起本页目录",
    "Link to this heading": "本节的链接",
    "Search this book...": "搜索本书……",
}
LABEL = re.compile(rf'\b(title|aria-label|placeholder)="({"|".join(map(re.escape, LABELS))})"')

logger = logging.getLogger(__name__)


class EnglishAddresses(SphinxTransform):
    """Give the sections of a translated page their English ids, which the switch uses.

    Links name a section in English or, as JupyterLab does, in Chinese.
    """

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
        """Give a section the id of an English heading; MyST knows it by slugs of both languages."""
        slugs = getattr(self.document, "myst_slugs", {})
        for slug, (line, section_id, text) in list(slugs.items()):
            if section_id in section["ids"]:
                english_id = self.set_id(section, heading)
                slugs[slug] = (line, english_id, text)
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


def name_alternate(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Name the same page of the other book in the head of a page."""
    other = context.get("other_language")
    if other and doctree:
        address = context["pathto"](f"{other['root']}/{page}.html", 1)
        link = f'<link rel="alternate" hreflang="{other["code"]}" href="{address}">'
        context["metatags"] = f"{context.get('metatags', '')}\n{link}\n"


def translate_labels(app: Sphinx, exception: Exception | None) -> None:
    """Translate the labels that the theme has in English only, on the pages of a Chinese book."""
    if exception or app.config.language != CHINESE or app.builder.format != "html":
        return
    for path in Path(app.outdir).rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        path.write_text(LABEL.sub(label_in_chinese, page), encoding="utf-8")


def label_in_chinese(match: re.Match[str]) -> str:
    """Return an attribute of a label in Chinese."""
    return f'{match[1]}="{LABELS[match[2]]}"'


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("config-inited", set_other_language)
    app.connect("html-page-context", name_alternate)
    app.connect("build-finished", translate_labels)
    app.add_transform(EnglishAddresses)
    app.add_transform(LatinEmphasis)
