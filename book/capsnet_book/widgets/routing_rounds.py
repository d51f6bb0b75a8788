"""Routing by agreement, round by round, on the votes of a real digit: step, play, drag a vote away."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import shared_network

ROUNDS = 10
"""How far the reader can go. The network was trained with three."""

FIRST = 7
"""The digit that is shown at first."""

CLASSES = 10
MOST = 40
"""Digits that one widget takes: their bytes are stored in the notebook."""


class RoutingRounds(anywidget.AnyWidget):
    """Couplings, lengths and votes of one digit in each of ten rounds of routing, computed in the page.

    Args:
        images: digits, [N, 28, 28] or [N, 1, 28, 28], floats in [0, 1] or uint8; or a `Digits`, which brings its
            labels. None: one digit of each class, from the bundled sample.
        labels: the class of each digit, N whole numbers from 0 to 9.
        index: the digit that is shown at first. None: the seventh, or the last if there are fewer.

    Attributes:
        index: the digit that is shown, 0 to N - 1.
        round: the round that is shown, 1 to 10.
        chosen: the class whose votes are shown, 0 to 9; at first the digit's own.

    Raises:
        ValueError: digits or labels of another shape or out of range, more than 40 digits, an index beyond them.
    """

    _esm = _parts.module("routing_rounds.js")
    _css = _parts.stylesheet("routing_rounds.css")

    network = anywidget.WidgetTrait().tag(sync=True)
    images = traitlets.Bytes().tag(sync=True)
    labels = traitlets.List(traitlets.Int()).tag(sync=True)
    index = traitlets.Int(0).tag(sync=True)
    round = traitlets.Int(1).tag(sync=True)
    chosen = traitlets.Int(0).tag(sync=True)

    def __init__(self, images: Any = None, labels: Any = None, index: int | None = None) -> None:
        digits, classes = _parts.digits_to_show(images, labels)
        if len(classes) > MOST:
            raise ValueError(f"expected at most {MOST} digits; got {len(classes)}")
        first = min(FIRST, len(classes) - 1) if index is None else index
        _expect_between("an index", first, 0, len(classes) - 1)
        super().__init__(
            network=shared_network(),
            images=digits.tobytes(),
            labels=classes,
            index=first,
            chosen=classes[first],
        )

    @traitlets.validate("index")
    def _index_is_a_digit(self, proposal: dict) -> int:
        return _expect_between("an index", proposal["value"], 0, len(self.labels) - 1)

    @traitlets.validate("round")
    def _round_exists(self, proposal: dict) -> int:
        return _expect_between("a round", proposal["value"], 1, ROUNDS)

    @traitlets.validate("chosen")
    def _chosen_is_a_class(self, proposal: dict) -> int:
        return _expect_between("a class", proposal["value"], 0, CLASSES - 1)

    def __repr__(self) -> str:
        digits = "digit" if len(self.labels) == 1 else "digits"
        return f"RoutingRounds({len(self.labels)} {digits})"


def _expect_between(what: str, value: Any, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"expected {what} from {low} to {high}; got {value!r}")
    return value
