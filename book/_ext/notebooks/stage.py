"""Give each chapter the place of the stage (`widgets/stage.py`)."""

from __future__ import annotations

from ..notebook import Notebook, markdown_cell, source
from ..widgets.strip import CHAPTER
from .page import Page

DRAWING = "figures.network_still("  # in the cell in whose place the stage stands
PLACE = "```{glass}\n```"


def insert_stage(notebook: Notebook, page: Page) -> Notebook:
    """Put the stage where a chapter's notebook draws the network, else after its title."""
    if not CHAPTER.match(page.name):
        return notebook
    cells = notebook["cells"]
    stage = markdown_cell("glass", PLACE)
    drawings = [number for number, cell in enumerate(cells) if DRAWING in source(cell)]
    if drawings:
        cells[drawings[0]] = stage
    else:
        cells.insert(1, stage)
    return notebook
