"""The whole network on one stage, at work on a digit, to be looked into and taken apart."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import network_of, shared_network

FIRST = 7
"""The digit that the network reads first."""


class Glass(_parts.Widget):
    """The glass network: draw a digit, take capsules out, cut votes, add rounds, push numbers.

    Args:
        model: the network, such as the reader's own, as for `PoseSliders`; None: the one that comes
            with the package.

    Attributes:
        digit: the sample that was put on the pad last; setting it puts one there.

    Raises:
        ValueError: another network.
    """

    _esm = _parts.module("glass.js")
    _css = _parts.stylesheet("glass.css")

    network = anywidget.WidgetTrait().tag(sync=True)
    samples = traitlets.Bytes().tag(sync=True)
    digit = traitlets.Int(FIRST, min=0, max=9).tag(sync=True)

    def __init__(self, model: Any = None) -> None:
        digits, _ = _parts.default_digits()
        network = shared_network() if model is None else network_of(model)
        super().__init__(network=network, samples=digits.tobytes())

    def __repr__(self) -> str:
        return "Glass()"
