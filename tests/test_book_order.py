"""Part II builds a network: no piece of it is used before the chapter that builds it."""

from __future__ import annotations

import ast
from pathlib import Path

import nbformat
import pytest
from reading_minutes import length, parts, words_of

import capsnet_tutorial
from capsnet_tutorial import functional, layers, model, weights

ROOT = Path(__file__).resolve().parent.parent
PART = "Build it"
CHAPTERS = parts(ROOT)[PART]

PIECES = {
    name
    for name in capsnet_tutorial.__all__
    if getattr(capsnet_tutorial, name).__module__ in {each.__name__ for each in (functional, layers, model, weights)}
}
WITH = {
    **dict.fromkeys(["CapsNetConfig", "CapsNetOutput", "Parts"], "CapsNet"),
    "load_pretrained": "RoutedCapsules",  # a trained network, to read answers and draw with; its own comes later
    **dict.fromkeys(["load_weights", "save_weights"], "CapsNet"),
    **dict.fromkeys(["RoutingTrace", "route_capsules", "coupling_entropy"], "route"),
    "group_into_capsules": "group",
}
"""What is no piece by itself: it may be used once another is built."""


def names_used(tree: ast.Module) -> set[str]:
    """Names that are imported from the package, or taken from one of its modules."""
    modules = {"functional", "layers", "model", "weights", "capsnet_tutorial"}
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("capsnet_tutorial"):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            found.add(node.attr)
    return found & (PIECES | set(WITH))


def names_built(tree: ast.Module) -> set[str]:
    """Functions and classes that a cell defines; what an exercise leaves blank (`my_…`) builds nothing."""
    return {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def trees(path: Path) -> list[ast.Module]:
    """The code cells, without magics."""
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    return [ast.parse("\n".join(line.replace("%pip", "pass #") for line in cell.splitlines())) for cell in cells]


def too_early(chapters: list[Path]) -> dict[str, list[str]]:
    """Chapter -> the pieces that it uses although no cell before has built them."""
    built: set[str] = set()
    early = {}
    for path in chapters:
        found = []
        for tree in trees(path):
            built |= names_built(tree)
            found += [name for name in sorted(names_used(tree)) if WITH.get(name, name) not in built]
        early[path.stem] = found
    return early


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_no_piece_is_used_before_it_is_built(path: Path) -> None:
    assert too_early(CHAPTERS)[path.stem] == []


def test_a_piece_that_comes_too_early_is_found(tmp_path: Path) -> None:
    cells = ["from capsnet_tutorial import squash, digits", "def squash(s): ...", "from capsnet_tutorial import route"]
    book = []
    for k, sources in enumerate([cells[:1], cells[1:], [*cells[:1], "functional.route(u)"]]):
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
        book.append(tmp_path / f"{k}.ipynb")
        nbformat.write(notebook, book[-1])
    assert too_early(book) == {"0": ["squash"], "1": ["route"], "2": ["route"]}


def test_minutes_count_what_is_read(tmp_path: Path) -> None:
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell("Two [words](there.ipynb).\n\n$$a \\;=\\; b + c$$\n\n![x](y.png)"),
            nbformat.v4.new_markdown_cell("<details><summary>A hint</summary>\n\nNot read.\n\n</details>"),
            nbformat.v4.new_code_cell("a = 1\n\nb = 2"),
            nbformat.v4.new_code_cell("c = 3", metadata={"tags": ["hide-input"]}),
        ]
    )
    nbformat.write(notebook, tmp_path / "a.ipynb")
    read = length(tmp_path / "a.ipynb")
    assert (read.words, read.lines) == (3, 2)  # a formula is a word
    assert read.minutes == pytest.approx(3 / 200 + 2 / 12)
    assert words_of("a $b + c$ d") == ["a", "formula", "d"]


def test_files_are_numbered_in_the_order_of_reading() -> None:
    chapters = [path for part in parts(ROOT).values() for path in part]
    assert [path.stem[:2] for path in chapters] == [f"{number:02d}" for number in range(1, len(chapters) + 1)]
