"""Hand MyST-NB a notebook's widgets where it looks for them, with the files of their sources."""

from __future__ import annotations

from ..notebook import Notebook
from ..widgets.models import STATE
from ..widgets.sources import note_sources, with_sources
from ..widgets.storage import unpack
from .page import Page


def restore_widgets(notebook: Notebook, page: Page) -> Notebook:
    """Restore the widgets that the notebook stores the book's way."""
    unpack(notebook)
    stored = notebook["metadata"].get("widgets")
    if stored:
        stored[STATE]["state"] = with_sources(stored[STATE]["state"])
        note_sources(page.env)
    return notebook
