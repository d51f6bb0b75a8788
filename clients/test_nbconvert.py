"""`jupyter nbconvert --to html`, much like nbviewer and GitHub: all outputs show, none is in error."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbconvert import HTMLExporter

from .conftest import NOTEBOOKS, short


@pytest.mark.parametrize("path", NOTEBOOKS, ids=short)
def test_every_output_shows(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    html, _ = HTMLExporter().from_notebook_node(notebook)
    page = BeautifulSoup(html, "html.parser")
    shown = page.select(".jp-OutputArea-output")
    assert len(shown) == sum(len(cell.get("outputs", [])) for cell in notebook.cells)
    assert [area for area in shown if not (area.text.strip() or area.select("img, svg"))] == []
    assert not page.select('script[type^="application/vnd.jupyter.widget"]')
    said = page.select_one("main").text
    assert not re.search(r"Model state has errors|Error displaying widget|Loading widget", said)
    assert not re.search(r"\{(?:cite|dropdown|admonition|note|tip)\}", said)
    assert all(fold.select("summary") and len(fold.contents) > 2 for fold in page.select("details"))
