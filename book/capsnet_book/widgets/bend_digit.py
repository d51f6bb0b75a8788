"""BendDigit: a digit bent by hand, read by a capsule network and by a CNN of the same size."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import shared_network

BOUNDS = {"turn": (-90, 90), "shear": (-1, 1), "size": (0.5, 2), "right": (-8, 8), "down": (-8, 8)}
"""How far each slider goes."""


class BendDigit(anywidget.AnyWidget):
    """A digit under five sliders, beside it what two networks say, and under each slider where they go wrong.

    The networks are "small-shifted" and "small-cnn", which saw shifted digits only.

    Args:
        images: digits, [N, 28, 28] or [N, 1, 28, 28], floats in [0, 1] or uint8; or a `Digits`, which brings its
            labels. None: one digit of each class, from the bundled sample.
        labels: the class of each digit, N whole numbers from 0 to 9.
        index: the digit that is shown first, 0 to N - 1.
        bend: turn, shear, size, right and down at first.

    Attributes:
        turn: degrees, anticlockwise.
        shear: how far the top leans to the right, in pixels per pixel of height.
        size: along both axes.
        right: pixels.
        down: pixels.

    Raises:
        ValueError: digits or labels of another shape or out of range, a number out of `BOUNDS`.
    """

    _esm = _parts.module("bend_digit.js")
    _css = _parts.stylesheet("bend_digit.css")

    network = anywidget.WidgetTrait().tag(sync=True)
    cnn = anywidget.WidgetTrait().tag(sync=True)
    images = traitlets.Bytes().tag(sync=True)
    labels = traitlets.List(traitlets.Int()).tag(sync=True)
    index = traitlets.Int(0).tag(sync=True)
    turn = traitlets.Float(0.0).tag(sync=True)
    shear = traitlets.Float(0.0).tag(sync=True)
    size = traitlets.Float(1.0).tag(sync=True)
    right = traitlets.Float(0.0).tag(sync=True)
    down = traitlets.Float(0.0).tag(sync=True)

    def __init__(self, images: Any = None, labels: Any = None, index: int = 0, **bend: float) -> None:
        digits, classes = _parts.digits_to_show(images, labels)
        if unknown := bend.keys() - BOUNDS.keys():
            raise ValueError(f"expected {', '.join(BOUNDS)}; got {', '.join(sorted(unknown))}")
        super().__init__(
            network=shared_network("small-shifted"),
            cnn=shared_network("small-cnn"),
            images=digits.tobytes(),
            labels=classes,
        )
        for name, value in {"index": index, **bend}.items():
            setattr(self, name, value)

    @traitlets.validate("index")
    def _index_is_a_digit(self, proposal: dict) -> int:
        return _parts.index_of_a_digit(self.labels, proposal)

    @traitlets.validate(*BOUNDS)
    def _within_bounds(self, proposal: dict[str, Any]) -> float:
        return _parts.within(BOUNDS, proposal)

    def __repr__(self) -> str:
        digits = "digit" if len(self.labels) == 1 else "digits"
        return f"BendDigit({len(self.labels)} {digits})"
