"""Notebooks as all three rooms read them: parsed once a build, in reading order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

Notebook = dict[str, Any]
SUFFIX = ".ipynb"
CAPTION = '<p class="caption" aria-hidden="true">'  # how the HTML of a caption begins


def read_notebook(path: Path) -> Notebook:
    """Return a notebook file, parsed; callers share the result and must not change it."""
    return _read_version(path, path.stat().st_mtime_ns)


@cache
def _read_version(path: Path, modified: int) -> Notebook:
    """Return a notebook file as it was at a time, so that an edited file is parsed again."""
    return json.loads(path.read_text(encoding="utf-8"))


def outputs(notebook: Notebook) -> Iterator[dict[str, Any]]:
    """Yield all outputs of a notebook in reading order."""
    for cell in notebook["cells"]:
        yield from cell.get("outputs", [])


def source(cell: dict[str, Any]) -> str:
    """Return a cell's source as one text; notebooks store it as text or as a list of lines."""
    return "".join(cell["source"])


def markdown_cell(key: str, text: str) -> dict[str, Any]:
    """Return a new Markdown cell with the id `key`."""
    return {"cell_type": "markdown", "id": key, "metadata": {}, "source": text}


def raw_html(html: str) -> str:
    """Return Markdown that MyST turns into this HTML."""
    return f"```{{raw}} html\n{html}\n```"
