"""The page that a notebook becomes, as the steps of the pass see it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.osutil import relative_uri


@dataclass(frozen=True)
class Page:
    """A page of the book: its name, `book/chapters/06-routing`, in the build of `app`."""

    app: Sphinx
    name: str

    @property
    def env(self) -> Any:
        """The build's environment."""
        return self.app.env

    @property
    def source_folder(self) -> Path:
        """The root of the book's source."""
        return Path(self.app.srcdir)

    @property
    def output_folder(self) -> Path:
        """The root of the built book."""
        return Path(self.app.outdir)

    def address_of(self, file: str) -> str:
        """Return the address, seen from this page, of a file in the built book."""
        return relative_uri(self.app.builder.get_target_uri(self.name), file)
