"""Give a chapter the place of the stage (`widgets/stage.py`) where it draws the network."""

from __future__ import annotations

from ..notebook import Notebook, markdown_cell, source
from ..widgets.strip import CHAPTER
from .page import Page

DRAWING = "figures.network_still("  # in the cell in whose place the stage stands
PLACE = "```{glass}\n```"


def insert_stage(notebook: Notebook, page: Page) -> Notebook:
    """Put the stage where a chapter's notebook draws the network, if it does."""
    if not CHAPTER.match(page.name):
        return notebook
    cells = []
    for cell in notebook["cells"]:
        cells.append(markdown_cell("glass", PLACE) if DRAWING in source(cell) else cell)
    return notebook | {"cells": cells}
