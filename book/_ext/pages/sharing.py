"""What a page says of itself to those who link to it."""

from __future__ import annotations

import html
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

SHORT = 40  # characters: a paragraph of fewer says nothing of the page
LENGTH = 160  # characters: search engines show no more
PICTURE = "_static/screenshot.png"


def description_of(doctree: nodes.document) -> str:
    """Return a page's first long paragraph, cut at a word."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = paragraph.astext()
        if len(text) > SHORT:
            return shortened(" ".join(text.split()))
    return ""


def shortened(text: str) -> str:
    """Return a text of at most `LENGTH` characters, cut at a word."""
    return text if len(text) <= LENGTH else f"{text[:LENGTH].rpartition(' ')[0]} …"


def describe(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Add a description of the page, and the card that a link to it becomes."""
    description = description_of(doctree) if doctree else ""
    if not description:
        return
    card = {
        "og:type": "article",
        "og:title": context.get("title", ""),
        "og:description": description,
    }
    if app.config.html_baseurl:  # a card's picture needs a whole address
        card["og:image"] = f"{app.config.html_baseurl.rstrip('/')}/{PICTURE}"
    tags = [f'<meta name="description" content="{html.escape(description)}">']
    for key, value in card.items():
        tags.append(f'<meta property="{key}" content="{html.escape(value)}">')
    context["metatags"] = "\n".join([context.get("metatags", ""), *tags, ""])


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("html-page-context", describe)
