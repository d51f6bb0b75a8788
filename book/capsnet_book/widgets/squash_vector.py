"""A vector to drag, and its squash: equation 1 by hand."""

from __future__ import annotations

import anywidget
import traitlets

from capsnet_book.widgets import _parts


class SquashVector(anywidget.AnyWidget):
    """A vector s in the plane, v = squash(s) in the unit disc, and the curve of their lengths.

    The curve is ‖v‖ = ‖s‖² / (1 + ‖s‖²).

    Attributes:
        s: [x, y], x to the right, y up; by hand, at most 3.6 long.

    Raises:
        ValueError: s is not two finite numbers.
    """

    _esm = _parts.module("squash_vector.js")
    _css = _parts.stylesheet("squash_vector.css")

    s = traitlets.List(traitlets.Float(), default_value=[1.2, 0.9]).tag(sync=True)

    @traitlets.validate("s")
    def _s_is_a_vector(self, proposal: dict) -> list[float]:
        return _parts.numbers("s", proposal["value"], (2,)).tolist()

    def __repr__(self) -> str:
        return f"SquashVector(s={self.s})"
