"""Two ways to read a notebook's page: *Read* folds code and exercises, *Build* nothing.

In *Read* a small mark in the margin opens a cell's code, and a card stands for the exercises.

The switch stands in the page's head (templates/way.html); `_static/reading.js` keeps the choice. A
fold is a button: what follows it among its siblings shows when it is open, or in *Build*
(page.css). Without JavaScript all shows, and no button.

A paragraph in italics below a cell is its figure's caption. (A note, a quote whose title is bold
and in italics, stands in the margin where there is one: page.css.)
"""

from __future__ import annotations

from collections import Counter
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import _
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.osutil import relative_uri

from .. import order
from ..notebook import CAPTION, SUFFIX
from ..widgets.strip import CHAPTER
from .cell_summary import summary
from .chapter_foot import move_to_foot

# Before the page is painted, so that nothing jumps; and its theme, so that nothing is fetched for
# the other one.
CHOOSE_EARLY = """{
    const { dataset } = document.documentElement;
    let way;
    try { // where nothing may be stored, this throws
        way = localStorage.getItem("capsnet:way") ?? localStorage.getItem("way"); // its old key
    } catch {}
    dataset.way = way === "build" ? "build" : "read"; // other pages of this origin store there, too
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    if (dataset.theme === "auto") dataset.theme = dark ? "dark" : "light";
}"""
REPORT = "capsnet-report"  # the class of a checker's report in HTML
EXERCISES = "exercises"  # the id of their section
MARK = '<b aria-hidden="true">{ }</b>'  # of folded code, in the margin
ANNOUNCING = (":", ",", "：", "，")  # how a paragraph ends that leads to a cell
OF_TABLE = "of-table"  # the class of a caption that belongs to a table
UNFOLDED_PAGES = ("raise-one", "pull-the-votes")  # a widget each, and no code to read


def folds(app: Sphinx, page: str) -> bool:
    """Return True for pages with the two ways: notebooks, less solutions and the playground."""
    path = Path(app.env.doc2path(page))
    is_code = path.parent.name == "solutions" or path.stem in UNFOLDED_PAGES
    return path.suffix == SUFFIX and not is_code


class FoldPages(SphinxPostTransform):
    """Put the buttons of the folds into a page."""

    default_priority = order.FOLD_PAGES

    def run(self, **kwargs: Any) -> None:
        """Fold set-up cells, code and exercises."""
        if not folds(self.app, self.env.docname):
            return
        for section in list(self.document.findall(nodes.section)):
            merge_quiet_cells(section)
        for cell in list(self.document.findall(nodes.container)):
            if cell.get("nb_element") == "cell_code" and not cell.get("merged"):
                fold_code(cell)
        for section in list(self.document.findall(nodes.section)):
            if EXERCISES in section["ids"]:
                self.fold_exercises(section)

    def fold_exercises(self, section: nodes.section) -> None:
        """Put a card in the place of the exercises; what follows them, "Read next", stays."""
        numbers = {}
        for name in self.env.found_docs:
            chapter = CHAPTER.match(name)
            if chapter:
                numbers[chapter[2]] = int(chapter[1])
        move_to_foot(section, self.env.docname, numbers)
        names = [
            strong.astext().strip("1234567890. 。") for strong in section.findall(nodes.strong)
        ]
        where = relative_uri(f"{self.env.docname}.html", f"_sources/{self.env.docname}.ipynb")
        listed = _("; ").join(map(escape, names))
        where_done = _("to be done in the notebook")
        line = f"{listed} <small>{where_done}</small>"
        words = _("Take this chapter’s notebook{0} and open it in Jupyter.").format("</a>")
        link = f'<a href="{where}" download>{words}'
        notebook = nodes.raw("", f'<p class="get-notebook">{link}</p>', format="html")
        section.insert(1, [button(line, "exercise"), notebook])


def fold_code(cell: nodes.container) -> None:
    """Put a button in the place of a cell's code.

    A cell that is hidden in both ways has a button of MyST-NB's; it is marked where the text
    announces it.
    """
    if is_announced(cell):
        cell["classes"].append("announced")
    for part in cell.children:
        if part.get("nb_element") == "cell_code_source" and not cell.get("hide_mode"):
            code = part.astext()
            lines = sum(1 for line in code.splitlines() if line.strip())
            count = _("1 line") if lines == 1 else _("{0} lines").format(lines)
            line = f"{summary(code)} <small>{count}</small>"
            part.insert(0, button(f"{MARK}<span>{line}</span>", "code"))


def is_announced(cell: nodes.container) -> bool:
    """Return True for a hidden cell that the text leads to, and without anything to show."""
    before = cell.previous_sibling()
    after = cell.next_node(descend=False, siblings=True)
    has_output = len(cell) > 1 or bool(after and after.get("nb_element"))
    if not cell.get("hide_mode") or has_output or before is None:
        return False
    return before.astext().endswith(ANNOUNCING)


def merge_quiet_cells(section: nodes.section) -> None:
    """Fold cells in a row that are hidden in both ways and print nothing: "Set-up, 3 cells"."""
    quiet = [
        child for child in section.children if child.get("hide_mode") == "input" and len(child) == 1
    ]
    for first in quiet:
        run = run_of(first, quiet)
        if len(run) == 1 or first.get("merged"):
            continue
        for cell in run:
            del cell["hide_mode"]
            cell["merged"] = True
            cell["classes"].remove("tag_hide-input")
        words = _("Set-up, {0} cells").format(len(run))
        opening = f'<details class="set-up"><summary>{words}</summary>'
        section.insert(section.index(first), nodes.raw("", opening, format="html"))
        section.insert(section.index(run[-1]) + 1, nodes.raw("", "</details>", format="html"))


def run_of(first: nodes.Node, cells: list[nodes.Node]) -> list[Any]:
    """Return a cell and those of `cells` that follow it without anything between."""
    run = [first]
    after = first.next_node(descend=False, siblings=True)
    while after in cells:
        run.append(after)
        after = after.next_node(descend=False, siblings=True)
    return run


def button(html: str, kind: str) -> nodes.raw:
    """Return the button of a fold; `html` is its line."""
    opening = f'<button type="button" class="fold {kind}" aria-expanded="false">'
    return nodes.raw("", f"{opening}{html}</button>", format="html")


class NameCaptions(SphinxPostTransform):
    """Give captions their class, and their number in the chapter: "Figure 6.2", "Table 6.1"."""

    default_priority = order.NAME_CAPTIONS

    def run(self, **kwargs: Any) -> None:
        """Find the paragraphs in italics below cells; number figures and tables in order."""
        for cell in self.document.findall(nodes.container):
            below = cell.next_node(descend=False, siblings=True)
            while isinstance(below, nodes.raw):  # the tags round a "Set-up"
                below = below.next_node(descend=False, siblings=True)
            if not isinstance(below, nodes.paragraph):
                continue
            emphasis = below.next_node(nodes.emphasis)
            if emphasis is not None and emphasis.astext() == below.astext():
                below["classes"].append("caption")
                emphasis.replace_self(emphasis.children)  # a caption's style says what it is
                if shows_table(cell):
                    below["classes"].append(OF_TABLE)

        chapter = CHAPTER.match(self.env.docname)
        if chapter:
            counts = Counter()
            for caption in list(self.document.findall(is_caption)):
                kind = "table" if OF_TABLE in caption["classes"] else "figure"
                counts[kind] += 1
                put_name(caption, kind, int(chapter[1]), counts[kind])


def shows_table(cell: nodes.container) -> bool:
    """Return True for a cell whose output is a table and no picture."""
    return any(cell.findall(nodes.table)) and not any(cell.findall(nodes.image))


def is_caption(node: nodes.Node) -> bool:
    """Return True for a caption: a paragraph, or HTML of notebooks/captions.py."""
    if isinstance(node, nodes.raw):
        return node.astext().startswith(CAPTION)
    return isinstance(node, nodes.paragraph) and "caption" in node["classes"]


def put_name(caption: Any, kind: str, chapter: int, number: int) -> None:
    """Put a figure's or a table's name before its caption, and let links lead to it: `#table-6-2`.

    Args:
        caption: the node.
        kind: "figure" or "table".
        chapter: its number.
        number: of the figure or the table in the chapter.
    """
    name = _("Table {0}") if kind == "table" else _("Figure {0}")
    name = name.format(f"{chapter}.{number}")
    html = f'<b class="number" id="{kind}-{chapter}-{number}">{name}</b> '
    if isinstance(caption, nodes.raw):
        text = caption.astext().replace(CAPTION, CAPTION + html, 1)
        caption.replace_self(nodes.raw("", text, format="html"))
    else:
        caption.insert(0, nodes.raw("", html, format="html"))


class DropBlanks(SphinxPostTransform):
    """Leave out what a checker says of an unwritten answer: in a page nobody can write it."""

    default_priority = order.DROP_BLANKS

    def run(self, **kwargs: Any) -> None:
        """Remove such reports, with their output if they are alone in it."""
        unwritten = _("not written yet")  # as words.po has it
        for raw in list(self.document.findall(nodes.raw)):
            if REPORT not in raw.astext() or unwritten not in raw.astext():
                continue
            output = raw.parent
            if len(output) == 1:
                output.parent.remove(output)
            else:
                output.remove(raw)


def add_switch(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Tell the template whether the page has the switch."""
    context["folds"] = page in app.env.found_docs and folds(app, page)


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_js_file(None, body=CHOOSE_EARLY, priority=order.READING_MODE_SCRIPT)
    app.add_post_transform(FoldPages)
    app.add_post_transform(NameCaptions)
    app.add_post_transform(DropBlanks)
    app.connect("html-page-context", add_switch)
