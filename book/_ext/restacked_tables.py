"""Make room for tables of many columns (page.css).

Their cells are named by their columns, so that a phone can show each row as a card; the broadest reach over the column
of the page's contents, as the widgets do.
"""

from __future__ import annotations

import html
import re
from typing import Any

from sphinx.application import Sphinx

WIDE = 3  # columns: a phone has room for fewer
BROAD = 6  # columns: so has the text's own width
TABLE = re.compile(r"<table\b[^>]*>.*?</table>", re.DOTALL)
HEAD = re.compile(r"<thead>(.*?)</thead>", re.DOTALL)
NAME = re.compile(r"<th\b[^>]*>(.*?)</th>", re.DOTALL)
ROW = re.compile(r"<tr\b[^>]*>.*?</tr>", re.DOTALL)
CELL = re.compile(r"<td\b(?=[ >])")


def restacked(table: str) -> str:
    """A table of many columns with `data-column` in its cells, the broadest of class full-width; any other as it is."""
    head = HEAD.search(table)
    if not head:
        return table
    names = [" ".join(re.sub(r"<[^>]+>", " ", name).split()) for name in NAME.findall(head[1])]
    if len(names) < WIDE:
        return table

    def named(row: re.Match[str]) -> str:
        columns = iter(names)
        return CELL.sub(lambda cell: f'{cell[0]} data-column="{html.escape(html.unescape(next(columns, "")))}"', row[0])

    body = ROW.sub(named, table[head.end() :])
    classes = "restacks full-width" if len(names) >= BROAD else "restacks"
    return re.sub(r'class="', f'class="{classes} ', table[: head.end()], count=1) + body


def restack(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Do so with all tables of a page."""
    if "body" in context:
        context["body"] = TABLE.sub(lambda table: restacked(table[0]), context["body"])


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("html-page-context", restack)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
