"""Make room for tables of many columns (page.css).

Where a phone has no room, the cells are named by their columns, so that it can show each row as a card. The broadest
tables reach over the column of the page's contents, as the widgets do.
"""

from __future__ import annotations

import html
import re
from typing import Any

from sphinx.application import Sphinx

WIDE = 3  # columns: a phone has room for fewer, unless what is in them is short
ROOM, BETWEEN = 52, 2  # letters in a row of a phone, and between two columns
BROAD = 6  # columns: so has the text's own width
TABLE = re.compile(r"<table\b[^>]*>.*?</table>", re.DOTALL)
HEAD = re.compile(r"<thead>(.*?)</thead>", re.DOTALL)
NAME = re.compile(r"<th\b[^>]*>(.*?)</th>", re.DOTALL)
ROW = re.compile(r"<tr\b[^>]*>.*?</tr>", re.DOTALL)
CELL = re.compile(r"<td\b(?=[ >])")
INSIDE = re.compile(r"<td\b[^>]*>(.*?)</td>", re.DOTALL)


def restacked(table: str) -> str:
    """A table of many columns with `data-column` in its cells; any other as it is."""
    head = HEAD.search(table)
    if not head:
        return table
    names = [text(name) for name in NAME.findall(head[1])]
    rows = [
        [text(cell) for cell in INSIDE.findall(row)] for row in ROW.findall(table[head.end() :])
    ]
    if len(names) < WIDE or fits([names, *rows]):
        return table
    broad = "full-width " if len(names) >= BROAD else ""

    def named(row: re.Match[str]) -> str:
        columns = (name.replace(".", ".\N{ZERO WIDTH SPACE}") for name in names)  # may break there
        return CELL.sub(
            lambda cell: f'{cell[0]} data-column="{html.escape(html.unescape(next(columns, "")))}"',
            row[0],
        )

    body = ROW.sub(named, table[head.end() :])
    return table[: head.end()].replace('class="', f'class="restacks {broad}', 1) + body


def text(inner: str) -> str:
    """What stands in a cell, without its tags."""
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", inner).split()))


def fits(rows: list[list[str]]) -> bool:
    """Whether a phone has room for it all: names may break between words, what has a number may not."""
    widths = [0] * len(rows[0])
    for row in rows:
        parts = ([cell] if re.search(r"\d", cell) else re.split(r"(?<=-)|\s", cell) for cell in row)
        widths = list(map(max, widths, (max(map(len, part)) for part in parts)))
    return sum(widths) + BETWEEN * len(widths) <= ROOM


def restack(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Do so with all tables of a page."""
    if "body" in context:
        context["body"] = TABLE.sub(lambda table: restacked(table[0]), context["body"])


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("html-page-context", restack)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
