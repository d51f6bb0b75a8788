"""TurnDial: a digit on a dial, and how far networks follow it; or a patch and its capsule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import traitlets

from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import shared_network

LIMITS = {"digit": 90, "patch": 180}
"""The things that stand on a dial, and the degrees to which each turns, either way."""

TRAINED = {"small": 12, "small-shifted": 0}
"""The networks that can be shown, and by how many degrees the digits of their training turned."""

OTHERS = {"small-cnn": "cnn", "small-turning": "turning"}
"""The networks that can be compared with them, and the key under which the page knows each."""


class TurnDial(_parts.DigitsWidget):
    """A digit to turn by hand; the reader first says how far its capsule will follow.

    The length of its capsule, and the share that other networks give its class, are drawn over the
    angle while it turns. The capsule is an arrow in the plane in which it moves, and what it draws
    stands beside it.

    ``TurnDial.patch()`` has a patch of chapter 2 on its dial, and no network: a neuron's one number
    and a capsule's arrow are computed from its 9×9 pixels.

    Args:
        network: a CapsNet, one of `TRAINED`.
        others: the networks to compare it with, of `OTHERS`.
        index: the digit that is shown first, 0 to 9, unless the page has one of the reader's.

    Attributes:
        thing: what stands on the dial, one of `LIMITS`.
        turn: degrees; of a digit anticlockwise, of a patch clockwise, as the chapter counts them.
        contrast: of a patch, from 0 to 1.
        guess: the reader's, in degrees; None before there is one.
        revealed: whether the networks answer.

    Raises:
        ValueError: another network, no such digit, an angle beyond its limit, a contrast outside
            [0, 1].
    """

    _esm = _parts.module("turn_dial.js")
    _css = _parts.stylesheet("turn_dial.css")

    # References by key, which the page follows once the reader has guessed.
    others = traitlets.Dict().tag(sync=True)
    trained = traitlets.Int(0).tag(sync=True)
    thing = traitlets.Unicode("digit").tag(sync=True)
    turn = traitlets.Int(0).tag(sync=True)
    contrast = traitlets.Float(1.0).tag(sync=True)
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

    @classmethod
    def patch(cls) -> TurnDial:
        """Return one with a patch on its dial."""
        widget = cls.__new__(cls)
        super(TurnDial, widget).__init__(thing="patch")
        return widget

    @traitlets.validate("turn", "guess")
    def _in_range(self, proposal: dict[str, Any]) -> int | None:
        name, angle = proposal["trait"].name, proposal["value"]
        limit = LIMITS[self.thing]
        if angle is not None and not -limit <= angle <= limit:
            raise ValueError(f"expected {name} from {-limit} to {limit}; got {angle}")
        return angle

    @traitlets.validate("contrast")
    def _contrast_is_a_share(self, proposal: dict[str, Any]) -> float:
        contrast = proposal["value"]
        if not 0 <= contrast <= 1:
            raise ValueError(f"expected contrast from 0 to 1; got {contrast}")
        return contrast

    def __repr__(self) -> str:
        if self.thing == "patch":
            return f"TurnDial.patch(turn={self.turn}, contrast={self.contrast})"
        return f"TurnDial(index={self.index}, turn={self.turn})"


def _reference(name: str) -> str:
    """Return how a trait names the model of a network's weights."""
    return f"anywidget:{shared_network(name).model_id}"
