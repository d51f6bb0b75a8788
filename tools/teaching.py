"""Make what a teacher needs: slides, a sheet to print, the book without its solutions.

    python -m tools.teaching slides       _build/teaching/slides.html, by nbconvert and reveal.js
    python -m tools.teaching sheet        _build/teaching/sheet.html and sheet-solution.html
    python -m tools.teaching edition      _build/without-solutions/_build/html

The slides are those of the path of ninety minutes. Each figure that a chapter stores becomes one,
with its caption, and so does each widget, alive; the chapter's text becomes the speaker's notes
(key s).
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import mathjax
import nbformat
import torch
from _ext.widgets.models import OURS
from nbconvert import SlidesExporter
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook
from torch import Tensor
from traitlets.config import Config

from capsnet_tutorial.functional import route
from tools.slide_widgets import FOLDER, FOR_SLIDES, frame_of, shown_models, write_widgets
from tools.translation.tree import needed_files, python_path, write_if_changed

ROOT = Path(__file__).resolve().parents[1]
TEACHING = ROOT / "_build" / "teaching"
EDITION = ROOT / "_build" / "without-solutions"
NINETY_MINUTES = (
    "01-try-it",
    "02-why-capsules",
    "05-prediction-vectors",
    "06-routing",
    "16-two-digits-at-once",
    "18-does-routing-matter",
)
"""Chapters of the path of ninety minutes; for-teachers.md has it."""

BUILD_OPTIONS = ("-q", "-W", "-n", "--keep-going")
LEFT_OUT = {"Exercises", "The ledger", "The ledger, complete"}
"""Sections without a slide."""
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
DETAILS = re.compile(r"<details>.*?</details>\s*", re.DOTALL)
ANSWER = re.compile(
    r"<details>\s*<summary>(?:The solutions?|Our lines?)</summary>.*?</details>\s*", re.DOTALL
)
SOLUTION_LINK = re.compile(r"\[([^\]]*)\]\([^)]*solutions/[^)]*\)")
FROM_AFAR = re.compile(
    r'<script src="https://[^"]*"></script>'
    r'|<script type="module">\s*import mermaid[^<]*</script>'
)
"""Scripts of nbconvert's template that a slide here does not use: jQuery and Mermaid."""

# --- slides


def slides() -> None:
    """Write the slides and what they load, so that they open without a network."""
    TEACHING.mkdir(parents=True, exist_ok=True)
    modules = ROOT / "book" / "node_modules"
    for folder in ("dist", "plugin"):
        copy = TEACHING / "reveal" / folder
        shutil.copytree(modules / "reveal.js" / folder, copy, dirs_exist_ok=True)
    shutil.copy(modules / "requirejs" / "require.js", TEACHING / "require.js")
    es5 = Path(mathjax.__file__).parent / "static" / "mathjax" / "es5"
    shutil.copytree(es5, TEACHING / "mathjax", dirs_exist_ok=True)
    config = Config()
    config.SlidesExporter.reveal_url_prefix = "reveal"
    config.SlidesExporter.require_js_url = "require.js"
    config.SlidesExporter.mathjax_url = "mathjax/tex-chtml.js"
    config.SlidesExporter.reveal_number = "c/t"
    config.SlidesExporter.reveal_theme = "white"
    config.SlidesExporter.reveal_width = "1280"
    config.SlidesExporter.reveal_height = "720"
    config.SlidesExporter.exclude_input = True
    config.SlidesExporter.exclude_output_prompt = True
    html, _ = SlidesExporter(config=config).from_notebook_node(slide_notebook())
    html = FROM_AFAR.sub("", html).replace("</body>", f"{FOR_SLIDES}</body>")
    (TEACHING / "slides.html").write_text(html, encoding="utf-8")
    for chapter in NINETY_MINUTES:
        write_widgets(read_chapter(chapter), TEACHING / FOLDER)


def slide_notebook() -> NotebookNode:
    """Return a notebook whose cells have nbconvert's slide metadata."""
    cells = []
    for chapter in NINETY_MINUTES:
        cells += chapter_slides(read_chapter(chapter))
    metadata = {"title": "Capsule networks, live"}
    return new_notebook(cells=cells, metadata=metadata)


def read_chapter(name: str) -> NotebookNode:
    """Return a chapter's notebook."""
    return nbformat.read(ROOT / "book" / "chapters" / f"{name}.ipynb", as_version=4)


def chapter_slides(notebook: NotebookNode) -> Iterator[NotebookNode]:
    """Yield the cells of a chapter's slides: for each figure, table or equation one slide."""
    section = ""
    notes: list[str] = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text = plain(cell.source)
            title = re.search(r"^#+ (.*)", text, re.MULTILINE)
            if title:
                section = title[1]
                notes = []
            notes.append(text)
            if text.startswith("# "):
                yield slide(text.partition("\n")[0], "slide")
            if section not in LEFT_OUT:
                yield from text_slides(section, text)
        elif section not in LEFT_OUT:
            shown = [*widget_slides(notebook, cell, section), *picture_slides(cell, section)]
            yield from shown
            if shown:
                yield slide("\n\n".join(notes), "notes")
                notes = []


def text_slides(section: str, text: str) -> Iterator[NotebookNode]:
    """Yield slides of a text's equations, of its quotations, and of a summary."""
    summary = re.search(r"^## Summary\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    if summary:
        yield slide(f"## In short\n{summary[1]}", "slide")
    quotations = re.findall(r"(?:^>.*\n?)+", text, re.MULTILINE)
    for block in [*quotations, *re.findall(r"\$\$.*?\$\$", text, re.DOTALL)]:
        yield slide(f"## {section}\n\n{block}", "slide")


def plain(source: str) -> str:
    """Return a cell's text without links and without what is folded."""
    return LINK.sub(r"\1", DETAILS.sub("", source))


def widget_slides(
    notebook: NotebookNode, cell: NotebookNode, section: str
) -> Iterator[NotebookNode]:
    """Yield a slide for each widget of a cell, alive in a frame."""
    for model in shown_models(cell):
        frame = frame_of(notebook, model)
        yield slide(f"## {section}\n\n{frame.html()}", "slide")


def picture_slides(cell: NotebookNode, section: str) -> Iterator[NotebookNode]:
    """Yield a slide with a cell's figures and tables, if it has any; a widget's still is none."""
    outputs = [
        output
        for output in cell.outputs
        if {"image/png", "text/markdown"} & set(output.get("data", {}))
        and OURS not in output.get("metadata", {})
    ]
    if outputs:
        yield slide(f"## {section}", "slide")
        picture = nbformat.from_dict(cell)
        picture.outputs = outputs
        picture.metadata = {"slideshow": {"slide_type": "-"}}
        yield picture


def slide(text: str, kind: str) -> NotebookNode:
    """Return a Markdown cell that is a slide, or belongs to one: "slide", "notes"."""
    return new_markdown_cell(text, metadata={"slideshow": {"slide_type": kind}})


# --- a sheet to print

PARTS = ("bar", "stem", "speck")
WHOLES = ("7", "1")
VOTES = torch.tensor(
    [[[[2.0, 1.0], [1.5, -1.2]], [[1.8, 1.2], [-1.6, 0.8]], [[-0.5, -1.5], [0.6, 1.2]]]]
)
"""Of chapter 6, [1, 3, 2, 2]."""
STYLE = (
    "body{font:12pt sans-serif;max-width:19cm;margin:auto}"
    "table{border-collapse:collapse;width:100%}"
    "td,th{border:1px solid;padding:.2em .4em;height:1.5em;text-align:center}"
    "h2{font-size:12pt;margin:.8em 0 .2em}tr,table{break-inside:avoid}"
)


def sheet() -> None:
    """Write the sheet with empty boxes, and its solution."""
    TEACHING.mkdir(parents=True, exist_ok=True)
    for name, solved in (("sheet", False), ("sheet-solution", True)):
        page = sheet_page(solved=solved)
        (TEACHING / f"{name}.html").write_text(page, encoding="utf-8")


def sheet_page(*, solved: bool) -> str:
    """Return the sheet as HTML: three rounds of routing bar, stem and speck, by hand."""
    _, trace = route(VOTES, 3, return_trace=True)
    rounds = []
    for r in range(3):
        b, c, v = trace.b[r], trace.c[r], trace.v[r]
        s = torch.einsum("bij,bije->bje", c, VOTES)
        a = torch.einsum("bije,bje->bij", VOTES, v)
        rounds.append(f"<h2>Round {r + 1}</h2>{_pairs(b[0], c[0], a[0], solved=solved)}")
        rounds.append(_wholes(s[0], v[0], solved=solved))
    votes = "".join(
        f"<tr><th>{part}</th><td>{_vector(row[0])}</td><td>{_vector(row[1])}</td></tr>"
        for part, row in zip(PARTS, VOTES[0], strict=True)
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Routing by hand</title>'
        f"<style>{STYLE}</style><h1>Routing by hand</h1><p>Three parts vote for two wholes. "
        "b begins at 0. In each round: c = softmax of b over the wholes; s = Σ c û; "
        "v = s ‖s‖ / (1 + ‖s‖²); a = û · v; and b + a is the b of the next round.</p>"
        f"<table><tr><th>û</th><th>for the 7</th><th>for the 1</th></tr>{votes}</table>"
        f"{''.join(rounds)}<p>Which whole is longer? To which part does it listen least?</p></html>"
    )


def _pairs(b: Tensor, c: Tensor, a: Tensor, *, solved: bool) -> str:
    """Return the table of b, c and a, each [3, 2]."""
    heads = "".join(f"<th>{name}, {whole}</th>" for name in "bca" for whole in WHOLES)
    rows = []
    for i, part in enumerate(PARTS):
        numbers = [*b[i], *c[i], *a[i]]
        boxes = "".join(f"<td>{f'{number:.2f}' if solved else ''}</td>" for number in numbers)
        rows.append(f"<tr><th>{part}</th>{boxes}</tr>")
    return f"<table><tr><th></th>{heads}</tr>{''.join(rows)}</table>"


def _wholes(s: Tensor, v: Tensor, *, solved: bool) -> str:
    """Return the table of s, v and the length, for each whole."""
    rows = []
    for j, whole in enumerate(WHOLES):
        texts = [_vector(s[j]), _vector(v[j]), f"{v[j].norm():.2f}"]
        boxes = "".join(f"<td>{text if solved else ''}</td>" for text in texts)
        rows.append(f"<tr><th>{whole}</th>{boxes}</tr>")
    head = "<tr><th></th><th>s</th><th>v</th><th>‖v‖</th></tr>"
    return f"<table>{head}{''.join(rows)}</table>"


def _vector(numbers: Tensor) -> str:
    return f"({', '.join(f'{float(number):.2f}' for number in numbers)})"


# --- the book without its solutions


def edition() -> None:
    """Build the book without solutions, and without the folded answers of its holes."""
    shutil.rmtree(EDITION, ignore_errors=True)
    for path in needed_files():
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith("book/solutions/"):
            write_if_changed(EDITION / name, without_answers(name, path.read_bytes()))
    subprocess.run(
        [Path(sys.executable).parent / "jupyter-book", "build", ".", *BUILD_OPTIONS],
        cwd=EDITION,
        env=os.environ | {"PYTHONPATH": python_path(EDITION)},
        check=True,
    )
    print(f"The book without solutions is in {EDITION / '_build' / 'html' / 'index.html'}")


def without_answers(name: str, content: bytes) -> bytes:
    """Return a file's content without answers: the contents' list, notebooks and pages change."""
    if name == "_toc.yml":
        lines = content.decode().splitlines(keepends=True)
        return "".join(line for line in lines if not _is_solution(line)).encode()
    if name.endswith(".ipynb"):
        notebook = nbformat.reads(content.decode(), as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = SOLUTION_LINK.sub(r"\1", ANSWER.sub("", cell.source))
        return nbformat.writes(notebook).encode()
    if name.endswith(".md"):
        return SOLUTION_LINK.sub(r"\1", content.decode()).encode()
    return content


def _is_solution(line: str) -> bool:
    return "book/solutions/" in line or line.strip() == "sections:"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command of this module."""
    commands = {"slides": slides, "sheet": sheet, "edition": edition}
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("command", choices=commands)
    commands[parser.parse_args(arguments).command]()


if __name__ == "__main__":
    main()
