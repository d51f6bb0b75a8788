"""Two overlapping digits to drag; the page classifies the overlay and draws both. Section 6."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import anywidget
import numpy as np
import traitlets

from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import shared_network

REACH = 4
"""Pixels by which a digit can be moved from the middle; the image is 36 = 28 + 2 × 4 wide."""

NOBODY = -1
"""No class is asked for: the third longest capsule's is drawn beside the two."""

_PER_CLASS = 3

Place = Sequence[int]
"""x0, y0, x1, y1: the places of the two digits, to the right and down from the middle."""


class TwoDigits(_parts.Widget):
    """Two digits over each other, to be dragged, and the answer of the network of pairs.

    Args:
        first: the digit that lies below, of `three_per_class`.
        second: the digit that lies above; None: the first one of another class.
        at: their places.
        cases: a button's name -> (first, second, at).

    Attributes:
        first: a digit, 0 to N - 1.
        second: the other.
        at: four whole numbers from -4 to 4.
        asked: the class that is drawn beside the two, 0 to 9; -1: the third longest.

    Raises:
        ValueError: no such digit, no such class, a place outside.
    """

    _esm = _parts.module("two_digits.js")
    _css = _parts.stylesheet("two_digits.css")

    network = anywidget.WidgetTrait().tag(sync=True)
    images = traitlets.Bytes().tag(sync=True)
    labels = traitlets.List(traitlets.Int()).tag(sync=True)
    first = traitlets.Int(0).tag(sync=True)
    second = traitlets.Int(0).tag(sync=True)
    at = traitlets.List(traitlets.Int()).tag(sync=True)
    asked = traitlets.Int(NOBODY).tag(sync=True)
    cases = traitlets.List(traitlets.Dict()).tag(sync=True)

    def __init__(
        self,
        first: int = 0,
        second: int | None = None,
        at: Place = (-2, -1, 2, 1),
        cases: Mapping[str, tuple[int, int, Place]] | None = None,
    ) -> None:
        digits, classes = three_per_class()
        first = _digit(first, classes)
        if second is None:
            second = next(n for n, label in enumerate(classes) if label != classes[first])
        buttons = []
        for name, (below, above, places) in (cases or {}).items():
            buttons.append(
                {
                    "name": name,
                    "first": _digit(below, classes),
                    "second": _digit(above, classes),
                    "at": _places(places),
                }
            )
        super().__init__(
            network=shared_network("small-pairs"),
            images=digits.tobytes(),
            labels=classes,
            first=first,
            second=second,
            at=list(at),
            cases=buttons,
        )

    @traitlets.validate("first", "second")
    def _digit_is_there(self, proposal: dict) -> int:
        return _digit(proposal["value"], self.labels)

    @traitlets.validate("at")
    def _places_are_inside(self, proposal: dict) -> list[int]:
        return _places(proposal["value"])

    @traitlets.validate("asked")
    def _class_is_known(self, proposal: dict) -> int:
        if not NOBODY <= proposal["value"] <= 9:
            raise ValueError(
                f"expected asked as a class from 0 to 9, or -1 for none; got {proposal['value']}"
            )
        return proposal["value"]

    def __repr__(self) -> str:
        return f"TwoDigits({len(self.labels)} digits)"


def three_per_class() -> tuple[np.ndarray, list[int]]:
    """Return three digits of each class, uint8 [30, 28, 28], and their labels.

    They are the first of the sample's test digits.
    """
    from capsnet_tutorial.data import digits  # here, because it brings torch along

    sample = digits("test", source="sample")
    positions = []
    for label in range(10):
        positions += (sample.labels == label).nonzero().flatten()[:_PER_CLASS].tolist()
    return _parts.pixels(sample.images[positions]), sample.labels[positions].tolist()


def _digit(index: int, labels: Sequence[int]) -> int:
    """Return the index of a digit, or raise `ValueError`."""
    if not 0 <= index < len(labels):
        raise ValueError(f"expected a digit from 0 to {len(labels) - 1}; got {index}")
    return int(index)


def _places(at: Place) -> list[int]:
    """Return four places as whole numbers, or raise `ValueError`."""
    places = list(at)
    are_inside = all(-REACH <= place <= REACH and place == int(place) for place in places)
    if len(places) != 4 or not are_inside:
        expected = f"four whole numbers from {-REACH} to {REACH} as the digits' places"
        raise ValueError(f"expected {expected}; got {places}")
    return [int(place) for place in places]
