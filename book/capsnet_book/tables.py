"""What a cell found as a table: Markdown, which every client sets."""

from __future__ import annotations

import re
from collections.abc import Iterable

from IPython.display import Markdown


def table(columns: str, rows: Iterable[Iterable[object]]) -> Markdown:
    """A table in Markdown: columns of numbers are set right, the others left.

    Args:
        columns: their names, with bars between.
        rows: as many cells each, shown as `str` shows them.
    """
    body = [[str(cell) for cell in row] for row in rows]
    numbers = (
        all(re.match(r"[+-]?\d", cell) for cell in column) for column in zip(*body, strict=True)
    )
    lines = [columns.split("|"), ["--:" if each else ":--" for each in numbers], *body]
    return Markdown("\n".join(f"| {' | '.join(cell.strip() for cell in line)} |" for line in lines))
