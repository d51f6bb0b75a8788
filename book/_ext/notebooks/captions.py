"""Each figure gets a caption: its alternative text, which says what there is to see.

A figure that has a caption of its own, a paragraph in italics below its cell, keeps that alone. A
long description is cut at the end of a sentence. To who hears the page the description is read
once, as the figure's: the caption is left out. `pages/folds.py` numbers both kinds.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

from ..notebook import CAPTION, Notebook, markdown_cell, raw_html, source
from .figures import description
from .page import Page

LONGEST = 280  # characters: four lines
OWN_CAPTION = re.compile(r"\*(?!\*)([^*]|\*\*)+\*\s*?(\n\n|$)")  # in italics
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")


def add_captions(notebook: Notebook, page: Page) -> Notebook:
    """Put a caption below each figure that has a description and no caption of its own."""
    cells = []
    following = [*notebook["cells"][1:], markdown_cell("end", "")]
    for cell, next_cell in zip(notebook["cells"], following, strict=True):
        cells.append(cell)
        text = description(cell)
        is_captioned = OWN_CAPTION.match(source(next_cell)) is not None
        if text and shows_figure(cell) and not is_captioned:
            caption = f"{CAPTION}{escape(caption_of(text))}</p>"
            cells.append(markdown_cell(f"{cell['id']}-caption", raw_html(caption)))
    return notebook | {"cells": cells}


def shows_figure(cell: dict[str, Any]) -> bool:
    """Return True if a cell has a picture, and the page shows it."""
    is_removed = "remove-cell" in cell["metadata"].get("tags", [])
    pictures = [output for output in cell["outputs"] if "image/png" in output.get("data", {})]
    return bool(pictures) and not is_removed


def caption_of(text: str) -> str:
    """Return the first sentences of a text, as many as `LONGEST` allows, at least one."""
    first, *others = SENTENCE_END.split(text)
    for sentence in others:
        gap = "" if first[-1] in "。！？" else " "
        if len(first) + len(gap) + len(sentence) > LONGEST:
            break
        first = f"{first}{gap}{sentence}"
    return first
