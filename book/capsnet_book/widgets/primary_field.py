"""PrimaryField: a digit and the 72 primary capsules: the patch of each, and its eight numbers."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import shared_network

CAPSULES = 72
"""Primary capsules of the small network: 8 types at 3×3 places, types first, then rows, then columns."""


class PrimaryField(anywidget.AnyWidget):
    """The primary capsules of the small network as a field to walk through, above a digit to draw on.

    Args:
        images: digits to choose from, [N, 28, 28] or [N, 1, 28, 28], floats in [0, 1] or uint8; or a `Digits`, which
            brings its labels. None: one digit of each class, from the bundled sample.
        labels: the class of each digit, N whole numbers from 0 to 9.
        index: the digit that is shown at first, 0 to N - 1.
        capsule: the primary capsule that is looked at, i = 9 · type + 3 · row + column, 0 to 71.

    Attributes:
        index, capsule: what is chosen now.

    Raises:
        ValueError: digits, labels, index or capsule of another shape or out of range.
    """

    _esm = _parts.module("primary_field.js")
    _css = _parts.stylesheet("primary_field.css")

    network = anywidget.WidgetTrait().tag(sync=True)
    images = traitlets.Bytes().tag(sync=True)
    labels = traitlets.List(traitlets.Int()).tag(sync=True)
    index = traitlets.Int(3).tag(sync=True)
    capsule = traitlets.Int(58).tag(sync=True)

    def __init__(self, images: Any = None, labels: Any = None, index: int | None = None, capsule: int = 58) -> None:
        digits, classes = _parts.digits_to_show(images, labels)
        first = (3 if images is None else 0) if index is None else index
        _expect_index("index", first, len(classes))
        _expect_index("capsule", capsule, CAPSULES)
        super().__init__(
            network=shared_network(), images=digits.tobytes(), labels=classes, index=first, capsule=capsule
        )

    @traitlets.validate("index")
    def _index_is_a_digit(self, proposal: dict) -> int:
        return _expect_index("index", proposal["value"], len(self.labels))

    @traitlets.validate("capsule")
    def _capsule_is_one(self, proposal: dict) -> int:
        return _expect_index("capsule", proposal["value"], CAPSULES)

    def __repr__(self) -> str:
        return f"PrimaryField({len(self.labels)} digits, capsule={self.capsule})"


def _expect_index(name: str, value: Any, count: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < count:
        raise ValueError(f"expected {name} from 0 to {count - 1}; got {value!r}")
    return value
