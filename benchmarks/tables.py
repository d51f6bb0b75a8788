"""Tables for a terminal."""

from __future__ import annotations

from typing import Any


def table(title: str, rows: dict[str, dict[str, Any]]) -> str:
    """A title, a line of column names and a line for each row, in columns."""
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    cells = [["", *(column.replace("_", " ") for column in columns)]]
    cells += [[name, *(_shown(row.get(column)) for column in columns)] for name, row in rows.items()]
    widths = [max(len(line[k]) for line in cells) for k in range(len(columns) + 1)]
    lines = ["  ".join([line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in
                                                    zip(line[1:], widths[1:], strict=True))])
             for line in cells]  # fmt: skip
    return "\n".join(["", title, *lines])


def _shown(value: Any) -> str:
    return "" if value is None else f"{value:,g}" if isinstance(value, int | float) else str(value)
