"""Tables of a cell's numbers in Markdown, which every client sets."""

from __future__ import annotations

import re
from collections.abc import Iterable

from IPython.display import Markdown

from capsnet_book.words import said

CELL_OR_LINE = re.compile(r"(?<=\| )[^|\n]+?(?= +\|)|^[^|\n]+$", re.MULTILINE)
"""A cell of a table in Markdown, or a line outside of tables."""


def table(columns: str, rows: Iterable[Iterable[object]]) -> Markdown:
    """Return a table in Markdown; columns of numbers are aligned right, the others left.

    Args:
        columns: their names, with bars between.
        rows: as many cells each, shown as `str` shows them.
    """
    body = [[str(cell) for cell in row] for row in rows]
    alignments = []
    for column in zip(*body, strict=True):
        is_numeric = all(re.match(r"[+-]?\d", cell) for cell in column)
        alignments.append("--:" if is_numeric else ":--")
    lines = []
    for line in (columns.split("|"), alignments, *body):
        lines.append(f"| {' | '.join(said(cell.strip()) for cell in line)} |")
    return Markdown("\n".join(lines))


def spoken(text: str) -> Markdown:
    """Return a text in Markdown with tables, in the language of `speak`."""
    return Markdown(CELL_OR_LINE.sub(lambda part: said(part[0]), text))
