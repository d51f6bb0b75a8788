"""Words in the colour of the thing that they name.

A chapter's first cell has in its metadata what owns which colour of the palette:

    "hues": {"bar": "accent", "stem": "soft", "speck": "contrast"}

The page sets these words, or formulas such as `$\\mathbf{s}$`, in that colour; the notebook has them as they are. Two
owners of one colour are a warning of the build.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

SPARED = re.compile(
    r"(```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$\n]*\$|\[[^\]]*\]\([^)]*\)|<[^>]*>|^#.*?$)",
    re.DOTALL | re.MULTILINE,
)

logger = logging.getLogger(__name__)


def colour(app: Sphinx, page: str, source: list[str]) -> None:
    """Colour the words of a chapter's text."""
    if Path(app.env.doc2path(page)).suffix != ".ipynb":
        return
    notebook = json.loads(source[0])
    hues = notebook["cells"][0]["metadata"].get("hues", {})
    if len(set(hues.values())) < len(hues):
        logger.warning(f"{page}: two things have one colour: {hues}", type="hues")
    if hues:
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = coloured("".join(cell["source"]), hues)
        source[0] = json.dumps(notebook)


def coloured(text: str, hues: dict[str, str]) -> str:
    """The text with a span round each of the words; code, links and headings stay."""
    words = re.compile(
        rf"(?<![A-Za-z])({'|'.join(map(re.escape, hues))})(?![A-Za-z])", re.IGNORECASE
    )
    parts = SPARED.split(text)
    for k, part in enumerate(parts):
        if part in hues:
            parts[k] = span(part, hues[part])
        elif k % 2 == 0:
            parts[k] = words.sub(lambda found: span(found[0], hues[found[0].lower()]), part)
    return "".join(parts)


def span(words: str, role: str) -> str:
    return f'<span style="color: var(--caps-{role}); font-weight: 600">{words}</span>'


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("source-read", colour)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
