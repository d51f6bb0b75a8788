"""What a teacher makes: slides with figures, a sheet whose boxes are empty, no answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools import slide_widgets, teaching

BOOK = Path(__file__).resolve().parent.parent / "book"


def test_each_chapter_of_the_short_path_has_slides_with_pictures():
    cells = teaching.slide_notebook().cells
    kinds = [cell.metadata["slideshow"]["slide_type"] for cell in cells]
    pictures = [cell for cell in cells if cell.cell_type == "code"]
    titles = [
        cell
        for cell, kind in zip(cells, kinds, strict=True)
        if cell.source.startswith("# ") and kind == "slide"
    ]
    assert len(titles) == len(teaching.NINETY_MINUTES)
    assert len(pictures) >= 2 * len(titles)
    assert all(cell.outputs for cell in pictures)
    assert "notes" in kinds
    assert not any("](" in cell.source for cell in cells if cell.cell_type == "markdown")


def test_each_widget_of_the_short_path_is_in_a_frame_of_its_slide():
    slides = [cell.source for cell in teaching.slide_notebook().cells]
    for chapter in teaching.NINETY_MINUTES:
        notebook = teaching.read_chapter(chapter)
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        models = [model for cell in cells for model in slide_widgets.shown_models(cell)]
        for model in models:
            frame = slide_widgets.frame_of(notebook, model)
            assert any(f'src="widgets/{frame.file}"' in slide for slide in slides)
            assert frame.scale * frame.width <= slide_widgets.ROOM[0]
            assert frame.scale * frame.height <= slide_widgets.ROOM[1]


@pytest.mark.parametrize("solved", [False, True])
def test_the_sheet_has_the_numbers_only_if_solved(solved):
    page = teaching.sheet_page(solved=solved)
    assert ("(0.72, 0.15)" in page) == solved  # v of the 7 in round 1, as chapter 6 has it
    assert ("<td></td>" in page) != solved


@pytest.mark.parametrize("path", sorted((BOOK / "chapters").glob("*.ipynb")), ids=lambda p: p.stem)
def test_the_edition_without_solutions_has_none(path):
    content = teaching.without_answers(path.name, path.read_bytes())
    texts = ["".join(cell["source"]) for cell in json.loads(content)["cells"]]
    assert not any("solutions/" in text for text in texts)
    assert not any("<summary>Our line" in text for text in texts)
    assert "A hint" in "".join(texts)


def test_its_contents_name_no_solution():
    content = teaching.without_answers("_toc.yml", (BOOK.parent / "_toc.yml").read_bytes())
    assert b"solutions" not in content and b"for-teachers" in content
