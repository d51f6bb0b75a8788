"""The reader's drawing, read after one to five rounds of routing, side by side."""

from __future__ import annotations

from typing import Literal

import anywidget
import numpy as np
import traitlets

from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import shared_network
from capsnet_book.widgets.draw_digit import FIRST

MOST = 5
"""Rounds that are shown. One round is even shares: nothing is routed."""

_DISPUTED: tuple[tuple[Literal["train", "test"], int], ...] = (("test", 382), ("test", 442), ("train", 1714))
"""Of the sample's digits, three whose answer depends on the number of rounds: in the first two it comes right, in the
last one it goes wrong. Found by trying all; a test tries these."""


class RoundsOnDrawing(anywidget.AnyWidget):
    """A pad to draw a digit on; lengths, couplings' entropy and drawing of the shipped network after 1 to 5 rounds.

    Args:
        rounds: after how many rounds the ten lengths are shown in full at first, 1 to 5.

    Attributes:
        rounds: after how many they are shown now.
        image: the 28×28 pixels that the network sees, 784 bytes, 0 (paper) to 255 (ink).

    Raises:
        ValueError: another number of rounds, an image of another size.
    """

    _esm = _parts.module("rounds_on_drawing.js")
    _css = _parts.stylesheet("rounds_on_drawing.css")

    network = anywidget.WidgetTrait().tag(sync=True)
    samples = traitlets.Bytes().tag(sync=True)
    labels = traitlets.List(traitlets.Int()).tag(sync=True)
    disputed = traitlets.List(traitlets.Int()).tag(sync=True)
    rounds = traitlets.Int(3).tag(sync=True)
    image = traitlets.Bytes().tag(sync=True, from_json=lambda value, _: bytes(value))  # a memoryview, from the page

    def __init__(self, rounds: int = 3) -> None:
        plain, classes = _parts.one_of_each()
        digits, labels = _disputed()
        super().__init__(
            network=shared_network(),
            samples=np.concatenate([plain, digits]).tobytes(),
            labels=classes + labels,
            disputed=list(range(len(classes), len(classes) + len(labels))),
            image=plain[FIRST].tobytes(),
        )
        if isinstance(rounds, bool) or not isinstance(rounds, int):
            raise ValueError(f"expected rounds as a whole number; got {rounds!r}")
        self.rounds = rounds

    @traitlets.validate("rounds")
    def _rounds_are_shown(self, proposal: dict) -> int:
        if not 1 <= proposal["value"] <= MOST:
            raise ValueError(f"expected rounds from 1 to {MOST}; got {proposal['value']}")
        return proposal["value"]

    @traitlets.validate("image")
    def _image_is_a_digit(self, proposal: dict) -> bytes:
        return _parts.bytes_of_a_digit(proposal)

    def __repr__(self) -> str:
        return f"RoundsOnDrawing(rounds={self.rounds})"


def _disputed() -> tuple[np.ndarray, list[int]]:
    from capsnet_tutorial.data import digits  # here, because it brings torch along

    found = []
    for split, n in _DISPUTED:
        images, labels, _ = digits(split, source="sample")
        found.append(_parts.digits_and_labels(images[[n]], labels[[n]]))
    return np.concatenate([image for image, _ in found]), [label for _, labels in found for label in labels]
