"""TurnDial: a digit on a dial, and how far networks follow it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import traitlets

from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import shared_network

LIMIT = 90
"""Degrees to which a digit turns, either way."""

TRAINED = {"small": 12, "small-shifted": 0}
"""The networks that can be shown, and by how many degrees the digits of their training turned."""

OTHERS = {"small-cnn": "cnn", "small-turning": "turning"}
"""The networks that can be compared with them, and the key under which the page knows each."""


class TurnDial(_parts.DigitsWidget):
    """A digit to turn by hand; the reader first says how far its capsule will follow.

    The length of its capsule, and the share that other networks give its class, are drawn over the
    angle while it turns. The capsule is an arrow in the plane in which it moves, and what it draws
    stands beside it.

    Args:
        network: a CapsNet, one of `TRAINED`.
        others: the networks to compare it with, of `OTHERS`.
        index: the digit that is shown first, 0 to 9, unless the page has one of the reader's.

    Attributes:
        turn: degrees, anticlockwise.
        guess: the reader's, in degrees; None before there is one.
        revealed: whether the networks answer.

    Raises:
        ValueError: another network, no such digit, an angle beyond `LIMIT`.
    """

    _esm = _parts.module("turn_dial.js")
    _css = _parts.stylesheet("turn_dial.css")

    # References by key, which the page follows once the reader has guessed.
    others = traitlets.Dict().tag(sync=True)
    trained = traitlets.Int(0).tag(sync=True)
    turn = traitlets.Int(0).tag(sync=True)
    guess = traitlets.Int(None, allow_none=True).tag(sync=True)
    revealed = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self, network: str = "small", others: Sequence[str] = (), *, index: int = 4
    ) -> None:
        unknown = {network} - TRAINED.keys() | set(others) - OTHERS.keys()
        if unknown:
            raise ValueError(
                f"expected a network of {', '.join(TRAINED)}, and others of {', '.join(OTHERS)}; "
                f"got {', '.join(sorted(unknown))}"
            )
        digits, classes = _parts.default_digits()
        super().__init__(
            network=shared_network(network),
            others={OTHERS[name]: _reference(name) for name in others},
            trained=TRAINED[network],
            images=digits.tobytes(),
            labels=classes,
        )
        self.index = index

    @traitlets.validate("turn", "guess")
    def _in_range(self, proposal: dict[str, Any]) -> int | None:
        name, angle = proposal["trait"].name, proposal["value"]
        if angle is not None and not -LIMIT <= angle <= LIMIT:
            raise ValueError(f"expected {name} from {-LIMIT} to {LIMIT}; got {angle}")
        return angle

    def __repr__(self) -> str:
        return f"TurnDial(index={self.index}, turn={self.turn})"


def _reference(name: str) -> str:
    """Return how a trait names the model of a network's weights."""
    return f"anywidget:{shared_network(name).model_id}"
