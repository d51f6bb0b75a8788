"""Two digits on top of each other, to be dragged: the page reads the overlay and draws each on its own. Section 6."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import anywidget
import numpy as np
import traitlets

from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import shared_network

REACH = 4
"""Pixels by which a digit can be moved from the middle; the picture has 36 = 28 + 2 × 4 along a side."""

NOBODY = -1
"""Nobody is asked for: what is drawn beside the two is the class with the third longest capsule."""

_HANDS = 3  # digits of each class

Place = Sequence[int]
"""x0, y0, x1, y1: where the two digits lie, to the right and down from the middle."""


class TwoDigits(anywidget.AnyWidget):
    """Lays two digits over each other, to be dragged, and shows what the network of pairs makes of it.

    Args:
        first: which of the digits, three of each class, lies below.
        second: which lies above. None: the first one of another class, if there is one.
        at: where they lie.
        cases: what the buttons show: a name -> (first, second, at).

    Attributes:
        first: a digit, 0 to N - 1.
        second: the other.
        at: four whole numbers from -4 to 4.
        asked: the class that is drawn beside the two, 0 to 9; -1: the third longest.

    Raises:
        ValueError: digits or labels of another shape or out of range, a digit that is not there, a place outside.
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
        digits, classes = hands_of_each()
        first = _digit(first, classes)
        if second is None:
            second = next((n for n, label in enumerate(classes) if label != classes[first]), first)
        named = [
            {
                "name": name,
                "first": _digit(one, classes),
                "second": _digit(other, classes),
                "at": _places(where),
            }
            for name, (one, other, where) in (cases or {}).items()
        ]
        super().__init__(
            network=shared_network("small-pairs"),
            images=digits.tobytes(),
            labels=classes,
            first=first,
            second=second,
            at=list(at),
            cases=named,
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


def hands_of_each() -> tuple[np.ndarray, list[int]]:
    """Three digits of each class, uint8 [30, 28, 28], and their labels: the sample's first test digits."""
    from capsnet_tutorial.data import digits  # here, because it brings torch along

    sample = digits("test", source="sample")
    chosen = [
        n
        for label in range(10)
        for n in (sample.labels == label).nonzero().flatten()[:_HANDS].tolist()
    ]
    return _parts.pixels(sample.images[chosen]), sample.labels[chosen].tolist()


def _digit(which: int, labels: Sequence[int]) -> int:
    if not 0 <= which < len(labels):
        raise ValueError(f"expected a digit from 0 to {len(labels) - 1}; got {which}")
    return int(which)


def _places(at: Place) -> list[int]:
    places = list(at)
    if len(places) != 4 or any(
        not -REACH <= place <= REACH or place != int(place) for place in places
    ):
        raise ValueError(
            f"expected four whole numbers from {-REACH} to {REACH} as the digits' places; got {places}"
        )
    return [int(place) for place in places]
