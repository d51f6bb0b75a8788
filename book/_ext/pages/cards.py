"""The front page's chapters as cards.

    ```{chapter-cards}
    ```

makes a card for each chapter, part by part, as _toc.yml has them: number, title, minutes, and its
drawing (`emblems.py`).
"""

from __future__ import annotations

import html
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import _
from sphinx.util.docutils import SphinxDirective
from sphinx.util.osutil import relative_uri

from ..notebook import Notebook, read_notebook, source
from .emblems import emblem
from .reading_time import chapters_by_part, length


class ChapterCards(SphinxDirective):
    """The directive `chapter-cards`: a card for each chapter of the book."""

    def run(self) -> list[nodes.Node]:
        """Return the cards as HTML."""
        root = Path(self.env.srcdir)
        sections = []
        number = 1
        for part, chapters in chapters_by_part(root).items():
            minutes = [length(read_notebook(path)).whole_minutes for path in chapters]
            cards = [
                self.card(path, number + place, minutes[place])
                for place, path in enumerate(chapters)
            ]
            number += len(chapters)
            duration = _("{0} minutes").format(sum(minutes))
            sections.append(
                '<section class="part">'
                f"<h3>{html.escape(part)} <small>{duration}</small></h3>"
                f'<ol class="chapters">{"".join(cards)}</ol></section>'
            )
        return [nodes.raw("", "".join(sections), format="html")]

    def card(self, path: Path, number: int, minutes: int) -> str:
        """Return a chapter's card, an entry of a list."""
        relative = path.relative_to(self.env.srcdir)
        self.env.note_dependency(str(relative))
        page = relative.with_suffix(".html").as_posix()
        address = relative_uri(f"{self.env.docname}.html", page)
        title = html.escape(title_of(read_notebook(path)))
        duration = _("{0} min").format(minutes)
        return (
            f'<li><a href="{address}"><span class="face">{emblem(path.stem)}</span>'
            f'<span class="title"><b>{number}</b> {title}</span>'
            f'<span class="minutes">{duration}</span></a></li>'
        )


def title_of(notebook: Notebook) -> str:
    """Return the heading in a notebook's first cell."""
    for line in source(notebook["cells"][0]).splitlines():
        if line.startswith("# "):
            return line.removeprefix("# ")
    return ""


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_directive("chapter-cards", ChapterCards)
