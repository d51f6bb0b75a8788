"""What a page says of itself to those who link to it: a description, and a card with a picture.

A card's title is the page's own, without number and markup. A chapter has a picture of its own
(`tools/cards.py`); another page has that of its first widget, else of its first figure, else of
the front page.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from ..widgets.places import live_widget
from ..widgets.stills import FOLDER as STILLS
from ..widgets.strip import CHAPTER

SHORT = 40  # letters: a paragraph of fewer says nothing of the page
LENGTH = 160  # letters: search engines show no more
HAN = re.compile(r"[\u4e00-\u9fff]")
HAN_WIDTH = 2  # a Chinese character says as much as two letters
PAUSE = re.compile(r"[ ，。；：！？]")
TAG = re.compile(r"<[^>]*>")
CARDS = "_static/cards"  # in the built book
FRONT_PICTURE = "_static/screenshot.png"
# The wide form of a figure, in the HTML that notebooks/figures.py writes.
FIGURE = re.compile(r'<img src="[./]*(_static/figures/\w+\.png)"')


def description_of(doctree: nodes.document) -> str:
    """Return a page's first long paragraph, cut at a pause."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = "".join(map(plain_text, paragraph.findall(nodes.Text)))
        if width(text) > SHORT:
            return shortened(" ".join(text.split()))
    return ""


def plain_text(text: nodes.Text) -> str:
    """Return a text without markup: that of a coloured word stands as HTML."""
    is_html = isinstance(text.parent, nodes.raw)
    return html.unescape(TAG.sub("", text)) if is_html else text.astext()


def width(text: str) -> int:
    """Return how many letters a text is long."""
    return len(text) + (HAN_WIDTH - 1) * len(HAN.findall(text))


def shortened(text: str) -> str:
    """Return a text of at most `LENGTH` letters, cut at a space or, in Chinese, at a mark."""
    if width(text) <= LENGTH:
        return text
    pauses = [pause.start() for pause in PAUSE.finditer(text)]
    return f"{text[: max(end for end in pauses if width(text[:end]) <= LENGTH)]} …"


def picture_of(page: str, doctree: nodes.document, static: Path) -> str:
    """Return the address, in the built book, of the picture that stands for a page.

    `static` is the folder `_static` of the source.
    """
    card = f"{Path(page).name}.png"
    if CHAPTER.match(page) and (static / Path(CARDS).name / card).exists():
        return f"{CARDS}/{card}"
    for widget in doctree.findall(live_widget):
        still = f"{widget['look']}.webp"
        if (static / Path(STILLS).name / still).exists():
            return f"{STILLS}/{still}"
    for raw in doctree.findall(nodes.raw):
        figure = FIGURE.search(raw.astext())
        if figure:
            return figure[1]
    return FRONT_PICTURE


def tags(title: str, description: str, picture: str, base: str | None = None) -> list[str]:
    """Return a page's `<meta>` elements; none for a page without a description.

    `base` is the address of the book: a card's picture needs a whole address.
    """
    if not description:
        return []
    card = {"og:type": "article", "og:title": title, "og:description": description}
    if base:
        card["og:image"] = f"{base.rstrip('/')}/{picture}"
    elements = [f'<meta name="description" content="{html.escape(description)}">']
    for key, value in card.items():
        elements.append(f'<meta property="{key}" content="{html.escape(value)}">')
    return elements


def describe(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Add the elements to a page."""
    if not doctree:
        return
    title = app.env.titles[page].astext()
    static = Path(app.srcdir, "book", "_static")
    picture = picture_of(page, doctree, static)
    elements = tags(title, description_of(doctree), picture, app.config.html_baseurl)
    if elements:
        context["metatags"] = "\n".join([context.get("metatags", ""), *elements, ""])


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("html-page-context", describe)
