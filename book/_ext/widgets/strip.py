"""The strip above a chapter: the network's parts as links to the chapters that build them.

`capsnet_book/network.json` has the names of the parts, which of them a chapter highlights, which
chapters build a part, which are also about it, and what is said above a chapter whose network is
another one.
"""

from __future__ import annotations

import json
import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.locale import _

from .sources import WIDGETS

CHAPTER = re.compile(r"^book/chapters/(\d+)-(.+)$")
NETWORK = json.loads((WIDGETS.parent / "network.json").read_text(encoding="utf-8"))


def chapter_name(page: str) -> str:
    """Return a chapter's name, without folder and number; "" for a page that is no chapter."""
    match = CHAPTER.match(page)
    return match[2] if match else ""


def highlighted_parts(page: str) -> list[str]:
    """Return the keys of the parts that a chapter is about; none for the whole network."""
    return NETWORK["chapters"].get(chapter_name(page), [])


def part_name(key: str) -> str:
    """Return the name of a part in the language of the book."""
    name = NETWORK["parts"][key]["name"]
    return _(name)


def strip(app: Sphinx, page: str) -> dict[str, Any]:
    """Return what the template of the strip shows: the parts with links, the chapter's subject."""
    names = sorted(app.env.found_docs)
    chapters = {chapter_name(name): name for name in names if CHAPTER.match(name)}
    highlighted = highlighted_parts(page)
    parts: list[dict[str, Any]] = []
    for key in NETWORK["strip"]:
        part = NETWORK["parts"][key]
        subjects = [*part["built"], *part.get("also", [])]
        links = [link(app, page, chapters[name]) for name in subjects if name in chapters]
        parts.append(
            {
                "key": key,
                "name": part_name(key),
                "shape": part["shape"],
                "lit": key in highlighted,
                "links": links,
            }
        )
    other = NETWORK["others"].get(chapter_name(page))
    subject = _(", ").join(part["name"] for part in parts if part["lit"])
    return {
        "parts": parts,
        "all": not highlighted,
        "lit": " ".join(highlighted),
        "about": subject or _("the whole of it"),
        "other": _(other) if other else "",
    }


def link(app: Sphinx, page: str, chapter: str) -> dict[str, Any]:
    """Return a link to a chapter, by its number and title."""
    match = CHAPTER.match(chapter)
    assert match
    return {
        "title": f"{int(match[1])}. {app.env.titles[chapter].astext()}",
        "address": app.builder.get_relative_uri(page, chapter) or "#",
        "here": chapter == page,
    }
