"""Widgets of notebooks, alive in static pages: storage, places, prompts, stage and language."""

from __future__ import annotations

from sphinx.application import Sphinx

from . import places, prompts, sources, stage, words


def setup(app: Sphinx) -> None:
    """Register the language, the widgets' sources and places, the prompts and the stage."""
    words.setup(app)
    sources.setup(app)
    places.setup(app)
    prompts.setup(app)
    stage.setup(app)
