"""The folders and files of the Chinese edition."""

from __future__ import annotations

import re
from pathlib import Path

from _ext.notebook import SUFFIX
from _ext.pages.languages import CHINESE as LANGUAGE

ROOT = Path(__file__).resolve().parents[2]
CATALOGUES = ROOT / "book" / "locales" / LANGUAGE
# The catalogues that belong to no page.
EXTENSIONS, INTERFACE, SETTINGS, WORDS = "extensions", "interface", "settings", "words"
TERMS = CATALOGUES / "terms.csv"

FIGURES = CATALOGUES / "figures"  # pictures by the digests of the English ones
FIGURE_WORDS = FIGURES / "words.json"  # a figure's digest -> its words -> those of its picture
STILLS = CATALOGUES / "stills"  # of stages that wait for a touch

TREE = ROOT / "_build" / LANGUAGE  # the Chinese source
HTML = ROOT / "_build" / "html" / LANGUAGE  # the Chinese pages

PAGE_SUFFIXES = (SUFFIX, ".md")


def pages() -> dict[str, Path]:
    """Return the pages of the book by their catalogue's name: `solutions-04-squash`."""
    contents = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    files = {}
    for page in re.findall(r"(?:root|file): book/(\S+)", contents):
        candidates = [ROOT / "book" / f"{page}{suffix}" for suffix in PAGE_SUFFIXES]
        name = page.removeprefix("chapters/").replace("/", "-")
        files[name] = next(path for path in candidates if path.exists())
    return files


def catalogue_names() -> list[str]:
    """Return the names of all catalogues."""
    return [EXTENSIONS, INTERFACE, SETTINGS, WORDS, *pages()]
