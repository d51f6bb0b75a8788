"""A small drawing for each part of the network, in the lines of the emblems.

It stands in the strip where the network does not run yet (`templates/strip.html`), and at a
chapter's foot where its part stands.
"""

from __future__ import annotations

from itertools import product
from typing import Any

from sphinx.application import Sphinx

from .emblems import arrows, lines, seven, svg

SIDE = 54
PLACES = (9, 27, 45)  # of capsules, both ways


def image() -> str:
    """Draw a handwritten 7."""
    return lines("wide", seven(21, 16))


def maps() -> str:
    """Draw sixteen small maps."""
    cuts = [f"M{at} 6v42M6 {at}h42" for at in (6, 16.5, 27, 37.5, 48)]
    return lines("quiet", *cuts)


def primary() -> str:
    """Draw nine capsules as arrows."""
    turns = ((5, -3), (4, 4), (-5, 2), (5, 1), (2, -5), (4, 4), (-3, -5), (5, -2), (3, 5))
    places = product(PLACES, PLACES)
    capsules = [
        (x - right, y - down, 2 * right, 2 * down)
        for (y, x), (right, down) in zip(places, turns, strict=True)
    ]
    return arrows("accent", *capsules)


def predictions() -> str:
    """Draw the votes of three capsules for three classes."""
    votes = [f"M6 {start}C27 {start} 27 {end} 48 {end}" for start in PLACES for end in PLACES]
    chosen = [f"M6 {start}C27 {start} 27 27 48 27" for start in PLACES]
    return lines("quiet", *votes) + lines("accent", *chosen)


def classes() -> str:
    """Draw the lengths of ten class capsules."""
    lengths = (5, 8, 4, 7, 5, 9, 4, 40, 6, 5)
    shorter = [f"M8 {6 + 4.6 * n}h{length}" for n, length in enumerate(lengths) if length < 40]
    return lines("", *shorter) + lines("wide accent", "M8 38.2h40")


def reconstruction() -> str:
    """Draw a 7 as the network does, without a bar."""
    return lines("thick accent", "M19 16h17l-10 23")


DRAWINGS = {
    "image": image,
    "maps": maps,
    "primary": primary,
    "predictions": predictions,
    "classes": classes,
    "reconstruction": reconstruction,
}


def part_drawing(key: str) -> str:
    """Return the drawing of a part of the network as an SVG; `key` as in network.json."""
    return svg(DRAWINGS[key](), SIDE, SIDE)


def add_drawings(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Give the template of the strip the drawings by their keys."""
    context["part_drawings"] = {key: part_drawing(key) for key in DRAWINGS}


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("html-page-context", add_drawings)
