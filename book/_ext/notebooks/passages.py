"""Passages that speak of cells and code are for who has them: for *Build*, and for notebooks.

Such a cell of text has `"way": "build"` in its metadata. A page in *Read* leaves it out (read.css).
"""

from __future__ import annotations

from ..notebook import Notebook, source
from .page import Page

BUILD = "build"
FENCE = "::::::"  # longer than any within a passage


def mark_passages(notebook: Notebook, page: Page) -> Notebook:
    """Wrap the passages for *Build* in a container of the class `for-build`."""
    for cell in notebook["cells"]:
        if cell["metadata"].get("way") == BUILD:
            cell["source"] = f"{FENCE}{{container}} for-build\n{source(cell)}\n{FENCE}"
    return notebook
