"""What a cell prints is for those who read its code: in *Read* it is out of sight.

A cell whose print is an answer that can be read without the code has the tag `keep`, and its print
stays. read.css hides the others; they show when the cell's code is opened, and in *Build*.

A cell of which nothing shows in *Read* but the mark of its code is `silent`. Of code cells that
follow each other without anything to see between them the first has the mark, and opens all: the
others `go-along`. A paragraph that leads to a silent cell with a colon ends with a full stop in
*Read*: read.css shows one of the two.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from .. import order
from .folds import folds

KEEP = "tag_keep"  # MyST-NB's class for the tag
STOPS = {":": ".", "：": "。"}  # what ends a sentence in place of a colon
PRINTS = {"stream", "text_plain"}  # the classes of outputs in plain text


class MarkPrints(SphinxPostTransform):
    """Give the cells of a folded page the classes `silent` and `go-along`."""

    default_priority = order.MARK_PRINTS

    def run(self, **kwargs: Any) -> None:
        """Mark the cells in reading order, so that a cell knows the one before it."""
        if not folds(self.app, self.env.docname):
            return
        for cell in self.document.findall(nodes.container):
            if cell.get("nb_element") != "cell_code":
                continue
            if is_silent(cell):
                cell["classes"].append("silent")
                if "announced" not in cell["classes"]:
                    end_sentence(cell.previous_sibling())
            if opens_with(seen_before(cell), cell):
                cell["classes"].append("go-along")


def end_sentence(before: nodes.Node | None) -> None:
    """Give a paragraph that ends with a colon a full stop beside it, for *Read*."""
    if not isinstance(before, nodes.paragraph) or not isinstance(before[-1], nodes.Text):
        return
    text = before[-1].astext().rstrip()
    stop = STOPS.get(text[-1:])
    if stop is None:
        return
    both = f'<span class="leads">{text[-1]}</span><span class="ends">{stop}</span>'
    before[-1] = nodes.Text(text[:-1])
    before.append(nodes.raw("", both, format="html"))


def is_silent(cell: nodes.container) -> bool:
    """Return True for a cell without output, or with prints alone, which are not kept."""
    if KEEP in cell["classes"]:
        return False
    outputs = [part for part in cell.children if part.get("nb_element") == "cell_code_output"]
    return all(is_print(output) for part in outputs for output in part.children)


def is_print(output: nodes.Node) -> bool:
    """Return True for an output in plain text."""
    return isinstance(output, nodes.Element) and not PRINTS.isdisjoint(output["classes"])


def seen_before(cell: nodes.container) -> nodes.Node | None:
    """Return what stands before a cell in *Read*, which leaves some containers out."""
    before = cell.previous_sibling()
    while isinstance(before, nodes.container) and is_left_out(before):
        before = before.previous_sibling()
    return before


def is_left_out(part: nodes.container) -> bool:
    """Return True for a passage for *Build*, and for hidden code that shows nothing."""
    classes = part["classes"]
    is_hidden = "silent" in classes and "announced" not in classes and not has_mark(part)
    return "for-build" in classes or is_hidden


def opens_with(before: nodes.Node | None, cell: nodes.container) -> bool:
    """Return True if the mark of the silent cell before it can open this cell, too."""
    return (
        isinstance(before, nodes.container)
        and "silent" in before["classes"]
        and has_mark(before)
        and has_mark(cell)
    )


def has_mark(cell: nodes.container) -> bool:
    """Return True for a cell whose code folds in *Read* and shows in *Build*."""
    return not cell.get("hide_mode") and not cell.get("merged")


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_post_transform(MarkPrints)
