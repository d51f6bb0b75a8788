"""BendDigit: a digit bent by hand, read by a capsule network and by a CNN of the same size."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import shared_network

BOUNDS = {"turn": (-90, 90), "shear": (-1, 1), "size": (0.5, 2), "right": (-8, 8), "down": (-8, 8)}
"""The range of a slider, by name."""


class BendDigit(_parts.DigitsWidget):
    """A digit under five sliders, two networks' answers, and under a slider where these are wrong.

    The networks are "small-shifted" and "small-cnn", which were trained on shifted digits only.

    Args:
        index: the digit that is shown first, 0 to 9.

    Attributes:
        turn: degrees, anticlockwise.
        shear: how far the top leans to the right, in pixels per pixel of height.
        size: along both axes.
        right: pixels.
        down: pixels.

    Raises:
        ValueError: no such digit, a number out of `BOUNDS`.
    """

    _esm = _parts.module("bend_digit.js")
    _css = _parts.stylesheet("bend_digit.css")

    cnn = anywidget.WidgetTrait().tag(sync=True)
    turn = traitlets.Float(0.0).tag(sync=True)
    shear = traitlets.Float(0.0).tag(sync=True)
    size = traitlets.Float(1.0).tag(sync=True)
    right = traitlets.Float(0.0).tag(sync=True)
    down = traitlets.Float(0.0).tag(sync=True)

    def __init__(self, index: int = 0) -> None:
        digits, classes = _parts.default_digits()
        super().__init__(
            network=shared_network("small-shifted"),
            cnn=shared_network("small-cnn"),
            images=digits.tobytes(),
            labels=classes,
        )
        self.index = index

    @traitlets.validate(*BOUNDS)
    def _within_bounds(self, proposal: dict[str, Any]) -> float:
        name, value = proposal["trait"].name, proposal["value"]
        low, high = BOUNDS[name]
        if not low <= value <= high:
            raise ValueError(f"expected {name} from {low:g} to {high:g}; got {value:g}")
        return float(value)
