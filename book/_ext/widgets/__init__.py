"""Widgets of notebooks, alive in static pages: storage, places, prompts, and the stage."""

from __future__ import annotations

from sphinx.application import Sphinx

from . import places, prompts, stage


def setup(app: Sphinx) -> None:
    """Register the places of widgets, the prompts in the text and the stage."""
    places.setup(app)
    prompts.setup(app)
    stage.setup(app)
