"""A pad to draw a digit on, and the network's answer to it."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import network_of, shared_network

FIRST = 5
"""The digit on the pad before anything is drawn."""


class DrawDigit(anywidget.AnyWidget):
    """A pad whose digit is classified and reconstructed while the reader draws.

    Args:
        model: the network, such as the reader's own, as for `PoseSliders`; None: the one that comes
            with the package.

    Attributes:
        digit: the sample that was put on the pad last; setting it puts one there.
    """

    _esm = _parts.module("draw_digit.js")
    _css = _parts.stylesheet("draw_digit.css")

    network = anywidget.WidgetTrait().tag(sync=True)
    samples = traitlets.Bytes().tag(sync=True)
    digit = traitlets.Int(FIRST, min=0, max=9).tag(sync=True)

    def __init__(self, model: Any = None) -> None:
        digits, _ = _parts.default_digits()
        network = shared_network() if model is None else network_of(model)
        super().__init__(network=network, samples=digits.tobytes())

    def __repr__(self) -> str:
        return "DrawDigit()"
