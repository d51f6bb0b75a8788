"""All couplings of the small network on a digit, as a graph whose edges thicken round by round."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import shared_network

ROUNDS = 10
"""Rounds that the page computes; the network was trained with three."""


class CouplingGraph(anywidget.AnyWidget):
    """The 72 capsules below, the 10 above, and an edge for each pair, as thick as its coupling.

    Args:
        images: digits, [N, 28, 28] or [N, 1, 28, 28], floats in [0, 1] or uint8; or a `Digits`, which brings its
            labels. None: one digit of each class, from the bundled sample.
        labels: the class of each digit, N whole numbers from 0 to 9.
        index: the digit that is shown at first, 0 to N - 1.
        round: the round that is shown at first, 1 to 10.

    Attributes:
        index: the digit that is shown.
        round: the round that is shown.

    Raises:
        ValueError: digits or labels of another shape or out of range; an index or a round that there is not.
    """

    _esm = _parts.module("coupling_graph.js")
    _css = _parts.stylesheet("coupling_graph.css")

    network = anywidget.WidgetTrait().tag(sync=True)
    images = traitlets.Bytes().tag(sync=True)
    labels = traitlets.List(traitlets.Int()).tag(sync=True)
    index = traitlets.Int(0).tag(sync=True)
    round = traitlets.Int(3).tag(sync=True)

    def __init__(self, images: Any = None, labels: Any = None, index: int = 0, round: int = 3) -> None:
        digits, classes = _parts.digits_to_show(images, labels)
        super().__init__(network=shared_network(), images=digits.tobytes(), labels=classes)
        for name, value in (("index", index), ("round", round)):
            if not isinstance(value, int) or isinstance(value, bool):
                raise ValueError(f"expected {name} as a whole number; got {value!r}")
            setattr(self, name, value)

    @traitlets.validate("index")
    def _index_is_a_digit(self, proposal: dict) -> int:
        return _parts.index_of_a_digit(self.labels, proposal)

    @traitlets.validate("round")
    def _round_is_computed(self, proposal: dict) -> int:
        if not 1 <= proposal["value"] <= ROUNDS:
            raise ValueError(f"expected a round from 1 to {ROUNDS}; got {proposal['value']}")
        return proposal["value"]

    def __repr__(self) -> str:
        digits = "digit" if len(self.labels) == 1 else "digits"
        return f"CouplingGraph({len(self.labels)} {digits})"
