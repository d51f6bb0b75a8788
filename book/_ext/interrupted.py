"""Start from nothing after a build that did not end, or that warned.

Sphinx writes only the pages that have changed since they were written. After an interrupted build
it would leave out those that were written before, and the search would know only the others; after
one with warnings it would not repeat them. So a stamp beside what Sphinx remembers says that a
build is complete: it is removed before a build and written after it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

STAMP = "build-is-complete"


def forget_incomplete_build(app: Sphinx, config: Config) -> None:
    """Delete what Sphinx remembers of a build without the stamp; remove the stamp of others."""
    memory = Path(app.doctreedir)
    stamp = memory / STAMP
    if memory.is_dir() and not stamp.exists():
        shutil.rmtree(memory)
    stamp.unlink(missing_ok=True)


def stamp_complete_build(app: Sphinx, exception: Exception | None) -> None:
    """Write the stamp after a build without errors and warnings."""
    if exception is None and app._warncount == 0:  # Sphinx has no public count
        Path(app.doctreedir, STAMP).touch()


def setup(app: Sphinx) -> None:
    """Register with Sphinx, before it loads what it remembers."""
    app.connect("config-inited", forget_incomplete_build)
    app.connect("build-finished", stamp_complete_build)
