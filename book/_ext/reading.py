"""Two ways to read a notebook's page: *Read*, where code and exercises are a line each, and *Build*, the whole.

The switch stands in the page's head (templates/way.html); `_static/reading.js` keeps the choice. A fold is a button:
what follows it among its siblings shows when it is open, or in *Build* (page.css). Without JavaScript all shows, and no
button. A chapter's last paragraph, "Read next", becomes its foot.

A paragraph in italics below a cell is its figure's caption. (A note, a quote whose title is bold and in italics, stands
in the margin where there is one: page.css.)
"""

from __future__ import annotations

import ast
import re
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.osutil import relative_uri

# Before the page is painted, so that nothing jumps; and its theme, so that nothing is fetched for the other one.
CHOSEN = """{
    const { dataset } = document.documentElement;
    let way;
    try { way = localStorage.getItem("way"); } catch {} // where nothing may be stored
    dataset.way = way ?? "read";
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    if (dataset.theme === "auto") dataset.theme = dark ? "dark" : "light";
}"""
UNWRITTEN = "not written yet"  # what a checker says of a blank: true in a notebook, idle in a page
NEXT = "Read next:"


def folds(app: Sphinx, page: str) -> bool:
    """Whether a page has the two ways: the notebooks, less the playground and the solutions, which are code."""
    path = Path(app.env.doc2path(page))
    return path.suffix == ".ipynb" and path.parent.name != "solutions" and path.stem != "raise-one"


class FoldPages(SphinxPostTransform):
    """Put the buttons of the folds into a page."""

    default_priority = 198  # before MyST-NB wraps the cells that are hidden in both ways

    def run(self, **kwargs: Any) -> None:
        if not folds(self.app, self.env.docname):
            return
        for section in list(self.document.findall(nodes.section)):
            merge_quiet(section)
        for cell in list(self.document.findall(nodes.container)):
            if cell.get("nb_element") == "cell_code" and not cell.get("merged"):
                self.fold_cell(cell)
        for section in list(self.document.findall(nodes.section)):
            if "exercises" in section["ids"]:
                self.fold_exercises(section)

    def fold_cell(self, cell: nodes.container) -> None:
        """One line in the place of a cell's code. One hidden in both ways keeps its own if the text leads to it."""
        before, after = cell.previous_sibling(), cell.next_node(descend=False, siblings=True)
        alone = len(cell) == 1 and not (
            after and after.get("nb_element")
        )  # neither it nor the next shows anything
        if (
            cell.get("hide_mode")
            and alone
            and before is not None
            and before.astext().endswith(tuple(":,：，"))
        ):
            cell["classes"].append("announced")
        for part in cell.children:
            if part.get("nb_element") == "cell_code_source" and not cell.get("hide_mode"):
                code = part.astext()
                lines = sum(1 for line in code.splitlines() if line.strip())
                part.insert(
                    0,
                    button(f"{said(code)} <small>{lines} line{'s' * (lines > 1)}</small>", "code"),
                )

    def fold_exercises(self, section: nodes.section) -> None:
        """A card in the place of the exercises; what follows them, "Read next", stays."""
        last = section.children[-1]
        if isinstance(last, nodes.paragraph) and last.astext().startswith(NEXT):
            section.remove(last)
            last["classes"].append("read-next")
            section.parent.append(last)
        names = [strong.astext().strip("1234567890. ") for strong in section.findall(nodes.strong)]
        where = relative_uri(f"{self.env.docname}.html", f"_sources/{self.env.docname}.ipynb")
        text = f"{'; '.join(map(escape, names))} <small>to be done in the notebook</small>"
        link = (
            f'<a href="{where}" download>Take this chapter’s notebook</a> and open it in Jupyter.'
        )
        notebook = nodes.raw("", f'<p class="get-notebook">{link}</p>', format="html")
        section.insert(1, [button(text, "exercise"), notebook])


class NameCaptions(SphinxPostTransform):
    """Give a caption its class."""

    default_priority = 198

    def run(self, **kwargs: Any) -> None:
        for cell in self.document.findall(nodes.container):
            below = cell.next_node(descend=False, siblings=True)
            while isinstance(below, nodes.raw):  # what stands round a "Set-up"
                below = below.next_node(descend=False, siblings=True)
            whole = below.next_node(nodes.emphasis) if isinstance(below, nodes.paragraph) else None
            if whole is not None and whole.astext() == below.astext():
                below["classes"].append("caption")


class DropBlanks(SphinxPostTransform):
    """Leave out what a checker says of an answer that nobody has written: in a page nobody can."""

    default_priority = 220  # after MyST-NB has chosen among the formats of an output

    def run(self, **kwargs: Any) -> None:
        for raw in list(self.document.findall(nodes.raw)):
            if "capsnet-report" in raw.astext() and UNWRITTEN in raw.astext():
                raw.parent.parent.remove(raw.parent) if len(raw.parent) == 1 else raw.parent.remove(
                    raw
                )


def merge_quiet(section: nodes.section) -> None:
    """One fold for cells in a row that are hidden in both ways and print nothing: "Set-up, 3 cells"."""
    quiet = [
        each for each in section.children if each.get("hide_mode") == "input" and len(each) == 1
    ]
    for first in quiet:
        run = [first]
        while (after := run[-1].next_node(descend=False, siblings=True)) in quiet:
            run.append(after)
        if len(run) > 1 and not first.get("merged"):
            for cell in run:
                del cell["hide_mode"]
                cell["merged"] = True
                cell["classes"].remove("tag_hide-input")
            opening = f'<details class="set-up"><summary>Set-up, {len(run)} cells</summary>'
            section.insert(section.index(first), nodes.raw("", opening, format="html"))
            section.insert(section.index(run[-1]) + 1, nodes.raw("", "</details>", format="html"))


def button(html: str, kind: str) -> nodes.raw:
    """The button of a fold; `html` is its line."""
    return nodes.raw(
        "",
        f'<button type="button" class="fold {kind}" aria-expanded="false">{html}</button>',
        format="html",
    )


def said(code: str) -> str:
    """What a cell does, in a line of HTML: the comment or docstring that says it, else the names that it makes."""
    first = code.lstrip().splitlines()[0]
    if first.startswith("#"):
        return escape(first.strip("# "))
    try:
        body = ast.parse(re.sub(r"^[%!].*$", "pass", code, flags=re.MULTILINE)).body
    except SyntaxError:  # a blank to be filled
        return "yours to write"
    built = [each for each in body if isinstance(each, ast.FunctionDef | ast.ClassDef)]
    text = (ast.get_docstring(built[0]) or "") if len(built) == 1 else ""
    if built:
        says = f": {escape(text.splitlines()[0])}" if text[:1].isalpha() else ""
        return f"defines {names([each.name for each in built])}{says}"
    stored = (each for part in body if isinstance(part, ast.Assign) for each in ast.walk(part))
    made = [
        each.id for each in stored if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    ]
    if made := [name for name in dict.fromkeys(made) if name != "_"]:
        return f"computes {names(made)}"
    called = [each.func for part in body for each in ast.walk(part) if isinstance(each, ast.Call)]
    return (
        f"calls {names([ast.unparse(called[0])])}"
        if called and not prints(code)
        else "prints what follows"
    )


def prints(code: str) -> bool:
    return "print(" in code


def names(found: list[str]) -> str:
    """Code in HTML, with commas between; a long list is cut."""
    return ", ".join(f"<code>{escape(name)}</code>" for name in found[:5]) + ", …" * (
        len(found) > 5
    )


def add_way(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """The switch, on the pages that fold."""
    context["folds"] = page in app.env.found_docs and folds(app, page)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_js_file(None, body=CHOSEN, priority=100)
    app.add_js_file("reading.js", loading_method="defer")
    app.add_post_transform(FoldPages)
    app.add_post_transform(NameCaptions)
    app.add_post_transform(DropBlanks)
    app.connect("html-page-context", add_way)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
