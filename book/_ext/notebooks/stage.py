"""Give a chapter the place of the stage (`widgets/stage.py`) where its notebook has the widget."""

from __future__ import annotations

from ..notebook import Notebook, markdown_cell, source
from ..widgets.strip import CHAPTER
from .page import Page

WIDGET = "Glass("  # in the cell in whose place the stage stands
REMOVED = "remove-cell"  # a tag: the page has the strip alone
PLACE = "```{glass}\n```"


def insert_stage(notebook: Notebook, page: Page) -> Notebook:
    """Put the stage where a chapter's notebook has the glass network, if it has."""
    if not CHAPTER.match(page.name):
        return notebook
    cells = []
    for cell in notebook["cells"]:
        is_removed = REMOVED in cell["metadata"].get("tags", [])
        has_place = source(cell).startswith(WIDGET) and not is_removed
        cells.append(markdown_cell("glass", PLACE) if has_place else cell)
    return notebook | {"cells": cells}
