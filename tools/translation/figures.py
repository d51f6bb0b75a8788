"""Pictures of figures with Chinese words, by the digests of the English ones."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

from _ext.notebook import SUFFIX, Notebook, read_notebook
from _ext.notebooks.figures import PHONE

from .paths import FIGURE_WORDS, FIGURES

Figure = dict[str, Any]  # an output that matplotlib drew
REMOVED = {"remove-cell", "remove-output"}  # tags of cells whose figures no page shows
DIGEST_LENGTH = 12


def figures_of(notebook: Notebook) -> list[Figure]:
    """Return the figures of a notebook that its page shows."""
    return [
        output
        for cell in notebook["cells"]
        if not REMOVED & set(cell["metadata"].get("tags", ()))
        for output in cell.get("outputs", ())
        if "<Figure" in "".join(output.get("data", {}).get("text/plain", ""))
    ]


def page_figures(path: Path) -> list[Figure]:
    """Return the figures of a page's file; one that is no notebook has none."""
    return figures_of(read_notebook(path)) if path.suffix == SUFFIX else []


def digest(figure: Figure) -> str:
    """Return the digest of a figure's English picture."""
    picture = figure["data"]["image/png"]
    return hashlib.sha256(picture.encode()).hexdigest()[:DIGEST_LENGTH]


def figure_words() -> dict[str, dict[str, str]]:
    """Return digest -> the words of an English figure -> those of its Chinese picture."""
    if not FIGURE_WORDS.exists():
        return {}
    return json.loads(FIGURE_WORDS.read_text(encoding="utf-8"))


def show_chinese_pictures(notebook: Notebook) -> None:
    """Put the Chinese pictures of its figures into a notebook."""
    for figure in figures_of(notebook):
        name = digest(figure)
        wide = FIGURES / f"{name}.png"
        phone = FIGURES / f"{name}-phone.png"
        if wide.exists():
            figure["data"]["image/png"] = base64_of(wide)
        if phone.exists():
            figure["metadata"][PHONE] = base64_of(phone)


def base64_of(path: Path) -> str:
    """Return a file's bytes in base64."""
    return base64.b64encode(path.read_bytes()).decode()
