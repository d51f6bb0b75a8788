"""The one pass over a notebook: parsed once, changed by each step of `STEPS`, written once.

Sphinx hands over the source of each page before MyST-NB parses it. A step is a function
(notebook, page) -> notebook; it may change the notebook that it is given, and returns it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from sphinx.application import Sphinx

from ..notebook import SUFFIX, Notebook
from .captions import add_captions
from .choices import insert_choices
from .figures import show_two_forms
from .guesses import insert_controls
from .hues import colour_words
from .page import Page
from .passages import mark_passages
from .stage import insert_stage
from .widgets import restore_widgets

STEPS: tuple[Callable[[Notebook, Page], Notebook], ...] = (
    restore_widgets,
    insert_stage,
    insert_choices,
    add_captions,
    show_two_forms,
    colour_words,
    insert_controls,
    mark_passages,
)


def rewrite(app: Sphinx, name: str, source: list[str]) -> None:
    """Replace the source of a page that is a notebook by what the steps make of it."""
    if Path(app.env.doc2path(name)).suffix != SUFFIX:
        return
    notebook = json.loads(source[0])
    page = Page(app, name)
    for step in STEPS:
        notebook = step(notebook, page)
    source[0] = json.dumps(notebook)


def setup(app: Sphinx) -> None:
    """Register the pass with Sphinx."""
    app.connect("source-read", rewrite)
