"""Make room for tables of many columns (page.css).

Their cells are named by their columns, so that a phone can show each row as a card; the broadest reach over the column
of the page's contents, as the widgets do.
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
    """A table of many columns with `data-column` in its cells, the broadest of class full-width; any other as it is."""
    head = HEAD.search(table)
    if not head:
        return table
    names = [text(name) for name in NAME.findall(head[1])]
    if len(names) < WIDE or fits(names, table[head.end() :]):
        return table

    def named(row: re.Match[str]) -> str:
        columns = iter(names)
        return CELL.sub(lambda cell: f'{cell[0]} data-column="{html.escape(html.unescape(next(columns, "")))}"', row[0])

    body = ROW.sub(named, table[head.end() :])
    classes = "restacks full-width" if len(names) >= BROAD else "restacks"
    return re.sub(r'class="', f'class="{classes} ', table[: head.end()], count=1) + body


def text(inner: str) -> str:
    """What stands in a cell, without its tags."""
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", inner).split()))


def fits(names: list[str], body: str) -> bool:
    """Whether a phone has room for it all: names may break between words, cells may not."""
    widths = [max(map(len, name.split()), default=0) for name in names]
    for row in ROW.findall(body):
        widths = list(map(max, widths, (len(text(cell)) for cell in INSIDE.findall(row))))
    return sum(widths) + BETWEEN * len(widths) <= ROOM


def restack(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Do so with all tables of a page."""
    if "body" in context:
        context["body"] = TABLE.sub(lambda table: restacked(table[0]), context["body"])


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("html-page-context", restack)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
