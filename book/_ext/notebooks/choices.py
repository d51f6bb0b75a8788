"""A line to choose, in *Read*, where a notebook leaves a line to write.

Such a cell, a blank, has in its metadata the name of a question of the widget `Choose`:

    "choose": "squash"

A page cannot run what a reader writes; it offers lines and runs the one that is chosen. In *Build*,
and without JavaScript, the blank stands alone (read.css).
"""

from __future__ import annotations

from ..notebook import Notebook, markdown_cell
from .page import Page

NOTEBOOK = "11-bugs-in-the-wild.ipynb"  # it stores the widget: its digits and its network
PLACE = f"""
::::{{container}} for-read
```{{live-widget}} {NOTEBOOK} Choose
:set: question=%s
```
::::
""".strip()


def insert_choices(notebook: Notebook, page: Page) -> Notebook:
    """Put the place of a question below each cell that names one."""
    cells = []
    for cell in notebook["cells"]:
        cells.append(cell)
        question = cell["metadata"].get("choose")
        if question:
            cells.append(markdown_cell(f"choose-{question}", PLACE % question))
    return notebook | {"cells": cells}
