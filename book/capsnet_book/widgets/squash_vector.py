"""A vector to drag, and its squash: equation 1 by hand."""

from __future__ import annotations

import traitlets

from capsnet_book.widgets import _parts

PLACES = 7
"""Lengths at which the reader guesses."""


class SquashVector(_parts.Widget):
    """A vector s in the plane, v = squash(s) in the unit disc, and the curve of their lengths.

    The curve is ‖v‖ = ‖s‖² / (1 + ‖s‖²). It shows once the reader has guessed, or asks for it.

    Attributes:
        s: [x, y], x to the right, y up; by hand, at most 3.6 long.
        guess: the reader's guess of ‖v‖ at seven ‖s‖ from 0 to 3, each from 0 to 1; or none.
        revealed: whether v and the curve show.

    Raises:
        ValueError: s is not two finite numbers, or the guess not seven.
    """

    _esm = _parts.module("squash_vector.js")
    _css = _parts.stylesheet("squash_vector.css")

    s = traitlets.List(traitlets.Float(), default_value=[1.2, 0.9]).tag(sync=True)

    guess = traitlets.List(traitlets.Float()).tag(sync=True)
    revealed = traitlets.Bool(False).tag(sync=True)

    @traitlets.validate("guess")
    def _guess_is_a_line(self, proposal: dict) -> list[float]:
        if not proposal["value"]:
            return []
        return _parts.numbers("guess", proposal["value"], (PLACES,)).tolist()

    @traitlets.validate("s")
    def _s_is_a_vector(self, proposal: dict) -> list[float]:
        return _parts.numbers("s", proposal["value"], (2,)).tolist()

    def __repr__(self) -> str:
        return f"SquashVector(s={self.s})"
