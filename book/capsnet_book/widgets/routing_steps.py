"""Routing by agreement in steps: three parts, two wholes, votes of two numbers."""

from __future__ import annotations

from typing import Any

import traitlets

from capsnet_book.widgets import _parts

SHAPE = (3, 2, 2)
"""I, J and D_out of the votes: bar, stem and speck; the 7 and the 1; a place in the plane."""


class RoutingSteps(_parts.Widget):
    """Three rounds of routing as arrows and shares that move, beside the lines of Procedure 1.

    In the book the reader's scrolling moves them; buttons and arrow keys do so everywhere.

    Args:
        u_hat: the votes of a bar, a stem and a speck for a 7 and a 1, û [3, 2, 2], or [1, 3, 2, 2]
            with a batch axis.

    Raises:
        ValueError: votes of another shape, nan or infinity.
    """

    _esm = _parts.module("routing_steps.js")
    _css = _parts.stylesheet("routing_steps.css")

    u_hat = traitlets.List(traitlets.Float()).tag(sync=True)

    def __init__(self, u_hat: Any) -> None:
        votes = _parts.numbers("votes", u_hat, SHAPE, (1, *SHAPE))
        super().__init__(u_hat=votes.ravel().tolist())

    def __repr__(self) -> str:
        return "RoutingSteps(3 parts, 2 wholes)"
