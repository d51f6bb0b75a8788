"""Words in the colour of the thing that they name.

A chapter's first cell has in its metadata which words have which colour of the palette:

    "hues": {"bar": "accent", "stem": "soft", "speck": "contrast"}

The page sets these words, or formulas such as `$\\mathbf{s}$`, in that colour; the notebook has
them plain. Two words of one colour are a warning of the build. Words are found in any case.
"""

from __future__ import annotations

import re

from sphinx.util import logging

from ..notebook import Notebook, source
from .page import Page

# Code, formulas, links, tags and headings: no word is coloured within them.
UNTOUCHED = re.compile(
    r"(```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$\n]*\$|\[[^\]]*\]\([^)]*\)|<[^>]*>|^#.*?$)",
    re.DOTALL | re.MULTILINE,
)

logger = logging.getLogger(__name__)


def colour_words(notebook: Notebook, page: Page) -> Notebook:
    """Colour the words of a chapter's text."""
    hues = notebook["cells"][0]["metadata"].get("hues", {})
    if len(set(hues.values())) < len(hues):
        logger.warning(f"{page.name}: two things have one colour: {hues}", type="hues")
    if hues:
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = coloured(source(cell), hues)
    return notebook


def coloured(text: str, hues: dict[str, str]) -> str:
    """Return a text with a span round each of the words."""
    colours = {word.lower(): colour for word, colour in hues.items()}
    alternatives = "|".join(map(re.escape, hues))
    words = re.compile(rf"(?<![A-Za-z])({alternatives})(?![A-Za-z])", re.IGNORECASE)

    def span_of(match: re.Match[str]) -> str:
        return span(match[0], colours[match[0].lower()])

    parts = UNTOUCHED.split(text)  # at odd places what the pattern matched
    for number, part in enumerate(parts):
        if part in hues:
            parts[number] = span(part, hues[part])
        elif number % 2 == 0:
            parts[number] = words.sub(span_of, part)
    return "".join(parts)


def span(words: str, colour: str) -> str:
    """Return words as HTML, in a colour of the palette."""
    return f'<span style="color: var(--caps-{colour}); font-weight: 600">{words}</span>'
