"""The front page's chapters as cards, and what every page says of itself to those who link to it.

    ```{chapter-cards}
    ```

makes a card a chapter, part by part, as _toc.yml has them: number, title, minutes, and its drawing (emblems.py).
"""

from __future__ import annotations

import html
import json
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from emblems import emblem
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.osutil import relative_uri

SHORT, LENGTH = (
    40,
    160,
)  # characters: a paragraph of fewer says nothing of the page; more of it is not shown
PICTURE = "_static/screenshot.png"


class ChapterCards(SphinxDirective):
    """```{chapter-cards}```: a card for each chapter of the book."""

    def run(self) -> list[nodes.Node]:
        source = Path(self.env.srcdir)
        sys.path.insert(0, str(source / "tools"))
        from reading_minutes import length, parts

        written, number = [], 0
        for part, chapters in parts(source).items():
            minutes = [max(1, round(length(path).minutes)) for path in chapters]
            cards = ""
            for path, each in zip(chapters, minutes, strict=True):
                number += 1
                self.env.note_dependency(str(path.relative_to(source)))
                cards += card(path, source, number, each, self.env.docname)
            written.append(
                f'<section class="part"><h3>{html.escape(part)} <small>{sum(minutes)} minutes</small></h3>'
                f'<ol class="chapters">{cards}</ol></section>'
            )
        return [nodes.raw("", "".join(written), format="html")]


def card(path: Path, source: Path, number: int, minutes: int, here: str) -> str:
    """A chapter's card, an entry of a list."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    target = relative_uri(f"{here}.html", path.relative_to(source).with_suffix(".html").as_posix())
    face = f'<span class="face">{emblem(path.stem)}</span>'
    return (
        f'<li><a href="{target}">{face}<span class="title"><b>{number}</b> {html.escape(title_of(notebook))}</span>'
        f'<span class="minutes">{minutes} min</span></a></li>'
    )


def title_of(notebook: dict[str, Any]) -> str:
    """A notebook's first heading."""
    lines = "".join(notebook["cells"][0]["source"]).splitlines()
    return next((line.removeprefix("# ") for line in lines if line.startswith("# ")), "")


def describe(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """A description of the page, from its first paragraph, and the picture that goes with a link to it."""
    paragraphs = (node.astext() for node in doctree.findall(nodes.paragraph)) if doctree else ()
    text = " ".join(next((text for text in paragraphs if len(text) > SHORT), "").split())
    if not text:
        return
    short = text if len(text) <= LENGTH else f"{text[:LENGTH].rpartition(' ')[0]} …"
    said = {"og:type": "article", "og:title": context.get("title", ""), "og:description": short}
    if base := app.config.html_baseurl:  # a card's picture needs a whole address
        said["og:image"] = f"{base.rstrip('/')}/{PICTURE}"
    tags = [f'<meta name="description" content="{html.escape(short)}">']
    tags += [
        f'<meta property="{key}" content="{html.escape(value)}">' for key, value in said.items()
    ]
    context["metatags"] = "\n".join([context.get("metatags", ""), *tags, ""])


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_directive("chapter-cards", ChapterCards)
    app.connect("html-page-context", describe)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
