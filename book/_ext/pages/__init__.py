"""Everything else on pages: letters, folds, tables, cards, links, languages, search."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from . import (
    cards,
    citations,
    folds,
    formulas,
    languages,
    letters,
    part_drawings,
    prints,
    repository,
    results,
    search,
    sharing,
    tables,
)

TEMPLATES = Path(__file__).parents[1] / "templates"
SCRIPTS = (  # of every page
    "bar.js",
    "guesses.js",
    "landscape.js",
    "language.js",
    "loops.js",
    "reading.js",
)


def add_templates(app: Sphinx, config: Any) -> None:
    """Let Sphinx find the templates of the book."""
    config.templates_path.append(str(TEMPLATES))


def setup(app: Sphinx) -> None:
    """Register each subject with Sphinx."""
    app.connect("config-inited", add_templates)
    formulas.setup(app)
    letters.setup(app)
    repository.setup(app)
    citations.setup(app)
    results.setup(app)
    tables.setup(app)
    languages.setup(app)
    search.setup(app)
    folds.setup(app)
    prints.setup(app)
    cards.setup(app)
    part_drawings.setup(app)
    sharing.setup(app)
    for script in SCRIPTS:
        app.add_js_file(script, loading_method="defer")
