"""The stored notebooks: short cells, described pictures, and nothing that changes by itself."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from phone_figures import PHONE
from refresh_notebooks import all_notebooks, normalise
from stored_widgets import LARGE, OURS, SOURCES, stored_models

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = all_notebooks(ROOT)
CHAPTERS = [path for path in NOTEBOOKS if path.parent.name == "chapters"]
LINES = 15


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def name(path: Path) -> str:
    return path.relative_to(ROOT / "book").with_suffix("").as_posix()


each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=name)


def test_there_are_notebooks_and_the_table_of_contents_has_them_all() -> None:
    contents = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    assert len(CHAPTERS) >= 3
    assert [path for path in NOTEBOOKS if f"book/{name(path)}\n" not in contents] == []


@each_notebook
def test_cells_are_short(path: Path) -> None:
    cells = [cell for cell in read(path).cells if cell.cell_type == "code"]
    apart = {"one-page", "remove-cell"}  # see test_one_page; a set-up cell is not read
    code = [cell.source for cell in cells if not apart & set(cell.metadata.get("tags", []))]
    long = [source.splitlines()[0] for source in code if len(source.splitlines()) > LINES]
    assert not long, f"cells of more than {LINES} lines, which begin so"


@each_notebook
def test_every_picture_is_described(path: Path) -> None:
    undescribed = []
    for cell in read(path).cells:
        if cell.cell_type == "markdown":
            undescribed += undescribed_pictures(cell.source)
        for output in cell.get("outputs", []):
            described = cell.metadata.get("mystnb", {}).get("image", {}).get("alt")
            pictures = [kind for kind in output.get("data", {}) if kind.startswith("image/")]
            if not all(described or output.metadata.get(kind, {}).get("alt") for kind in pictures):
                undescribed.append(f"the picture of the cell {cell.source!r} (its metadata: mystnb.image.alt)")
    assert not undescribed


@pytest.mark.parametrize("path", sorted(ROOT.glob("book/**/*.md")), ids=lambda path: path.name)
def test_every_picture_of_a_page_is_described(path: Path) -> None:
    assert not undescribed_pictures(path.read_text(encoding="utf-8"))


def undescribed_pictures(markdown: str) -> list[str]:
    """Pictures without a text for those who cannot see them."""
    empty = re.findall(r"!\[\s*\]\([^)]*\)", markdown)
    tags = [tag for tag in re.findall(r"<img\b[^>]*>", markdown) if not re.search(r"""alt=["'][^"']+["']""", tag)]
    directives = re.findall(r"```+\{(?:image|figure)\}[^`]*```", markdown)
    return (
        empty + tags + [directive for directive in directives if not re.search(r"^:alt: \S", directive, re.MULTILINE)]
    )


@each_notebook
def test_the_notebook_was_executed_from_top_to_bottom(path: Path) -> None:
    code = [cell for cell in read(path).cells if cell.cell_type == "code" and cell.source.strip()]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    for cell in code:
        for output in cell.outputs:
            expected = "raises-exception" in cell.metadata.get("tags", [])
            assert output.output_type != "error" or expected, cell.source
            assert output.get("name") != "stderr", f"{cell.source!r} writes to stderr"


@each_notebook
def test_nothing_in_it_changes_by_itself(path: Path) -> None:
    notebook = read(path)
    normalised = copy.deepcopy(notebook)
    normalise(normalised, path.stem)
    assert normalised == notebook, "`make notebooks` stores notebooks without timings, versions and random ids"
    for text in stored_texts(notebook):
        assert not re.search(r"\bat 0x[0-9a-f]{6,}|\b\d+(\.\d+)? ?(ms|µs|it/s|s/it)\b", text), text
    for entry in (entry for model in stored_models(notebook).values() for entry in model.get("buffers", [])):
        assert entry["encoding"] == "sha256" or len(entry["data"]) <= LARGE * 4 / 3 + 4
    assert path.stat().st_size < 1_250_000


def stored_texts(notebook: Any) -> list[str]:
    """What the outputs say."""
    outputs = [
        output
        for cell in notebook.cells
        if "nbval-ignore-output" not in cell.metadata.get("tags", [])
        for output in cell.get("outputs", [])
    ]
    return [output.get("text", "") + output.get("data", {}).get("text/plain", "") for output in outputs]


@each_notebook
def test_the_notebooks_hold_text_and_png_and_no_source(path: Path) -> None:
    for output in (output for cell in read(path).cells for output in cell.get("outputs", [])):
        assert {kind for kind in output.get("data", {}) if not kind.startswith("text/")} <= {"image/png"}
        assert set(output.get("metadata", {})) <= {"image/png", OURS, PHONE}
    for model in stored_models(read(path)).values():
        assert not model["state"].keys() & set(SOURCES)
