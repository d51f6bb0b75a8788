"""The language of the pages' scripts: `_static/words.js`, the first script of each page.

It has the catalogue of a Chinese book, and the function `t`, which looks sentences up in it; the
widgets bring the same function (`capsnet_book/widgets/shared/t.js`) and find the catalogue.
"""

from __future__ import annotations

from pathlib import Path

from capsnet_book.words import script
from sphinx.application import Sphinx

from .. import order
from .sources import joined_sources

FILE = "words.js"
ENGLISH = "en"


def write_words(app: Sphinx, exception: Exception | None) -> None:
    """Write the script."""
    if exception or app.builder.format != "html":
        return
    text = words_script(app.config.language or ENGLISH)
    Path(app.outdir, "_static", FILE).write_text(text, encoding="utf-8")


def words_script(language: str) -> str:
    """Return the script: the catalogue of a language, and the function `t`."""
    catalogue = "" if language == ENGLISH else script(language)
    function = joined_sources().script("shared/t.js")
    return f"{catalogue}globalThis.capsnetT = {function}.t;\n"


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_js_file(FILE, loading_method="defer", priority=order.WORDS_SCRIPT)
    app.connect("build-finished", write_words)
