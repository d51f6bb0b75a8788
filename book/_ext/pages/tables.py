"""Make room for tables of many columns (page.css).

A phone shows each row of such a table as a card, so the cells get the names of their columns. The
broadest tables reach over the column of the page's contents, as the widgets do.
"""

from __future__ import annotations

import html
import re
from typing import Any

from sphinx.application import Sphinx

MIN_COLUMNS = 3  # a phone has room for fewer
BROAD_COLUMNS = 6  # the text's own width has room for fewer
PHONE_LETTERS = 52  # in a row of a phone
GAP_LETTERS = 2  # between two columns
TABLE = re.compile(r"<table\b[^>]*>.*?</table>", re.DOTALL)
HEAD = re.compile(r"<thead>(.*?)</thead>", re.DOTALL)
HEADER_CELL = re.compile(r"<th\b[^>]*>(.*?)</th>", re.DOTALL)
ROW = re.compile(r"<tr\b[^>]*>.*?</tr>", re.DOTALL)
CELL_OPENING = re.compile(r"<td\b(?=[ >])")
CELL = re.compile(r"<td\b[^>]*>(.*?)</td>", re.DOTALL)


def restacked(table: str) -> str:
    """Return a table (HTML) of many columns with `data-column` in its cells; others unchanged."""
    head = HEAD.search(table)
    if not head:
        return table
    opening, body = table[: head.end()], table[head.end() :]
    names = [text(name) for name in HEADER_CELL.findall(head[1])]
    rows = [[text(cell) for cell in CELL.findall(row)] for row in ROW.findall(body)]
    if len(names) < MIN_COLUMNS or fits_phone(names, rows):
        return table
    broad = "full-width " if len(names) >= BROAD_COLUMNS else ""
    opening = opening.replace('class="', f'class="restacks {broad}', 1)
    return opening + ROW.sub(lambda row: with_column_names(row[0], names), body)


def with_column_names(row: str, names: list[str]) -> str:
    """Return a row whose cells have the names of their columns."""
    columns = iter(names)

    def named(cell: re.Match[str]) -> str:
        name = next(columns, "").replace(".", ".\N{ZERO WIDTH SPACE}")  # a line may break there
        return f'{cell[0]} data-column="{html.escape(html.unescape(name))}"'

    return CELL_OPENING.sub(named, row)


def text(cell: str) -> str:
    """Return the text of a cell, without tags."""
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", cell).split()))


def fits_phone(names: list[str], rows: list[list[str]]) -> bool:
    """Return True if a phone has room for all columns side by side.

    A column's name may be broken between its words, numbers among them ("after 1 round").
    """
    widths = [longest_word(name) for name in names]
    for row in rows:
        widths = [max(width, cell_width(cell)) for width, cell in zip(widths, row, strict=False)]
    return sum(widths) + GAP_LETTERS * len(widths) <= PHONE_LETTERS


def cell_width(cell: str) -> int:
    """Return the letters of a cell's longest line: words may be broken apart, numbers may not."""
    return len(cell) if re.search(r"\d", cell) else longest_word(cell)


def longest_word(text: str) -> int:
    """Return the letters of the longest word."""
    return max(len(word) for word in re.split(r"(?<=-)|\s", text))


def restack(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Restack all tables of a page."""
    if "body" in context:
        context["body"] = TABLE.sub(lambda table: restacked(table[0]), context["body"])


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("html-page-context", restack)
