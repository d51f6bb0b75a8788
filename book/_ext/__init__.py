"""What Sphinx does for the book beyond Jupyter Book: one extension in three rooms.

* `widgets/` puts the widgets that notebooks store into static pages, alive without a kernel;
* `notebooks/` changes each notebook once before MyST-NB reads it;
* `pages/` is everything else that a page has: letters, folds, tables, cards, links.

`order.py` holds every priority; `interrupted.py` starts again after a build that did not end.
`_config.yml` names this package as its one local extension.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from . import interrupted, notebooks, pages, widgets


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the three rooms with Sphinx."""
    interrupted.setup(app)
    widgets.setup(app)
    notebooks.setup(app)
    pages.setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
