"""Routing by agreement to touch: parts whose votes can be pulled, and all that follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets

from capsnet_book.widgets import _parts
from capsnet_book.widgets._network import shared_network

SCENES = ("camps", "shout", "tight", "noise", "digit", "given")
"""Two camps, one shouts, tight or loud, pure noise, a digit's votes, and the notebook's own."""
RULES = ("product", "direction", "nearness", "attention", "wrong")
"""Agreement as a scalar product, as direction alone, as nearness (EM), of every vote with every
other, once (self-attention); and the softmax's wrong axis."""
STRENGTHS = (0.25, 1.0, 4.0)
ROUNDS = 10
_SEVEN = 7  # among the default digits


class PullVotes(_parts.Widget):
    """Votes of parts for two or three wholes, arrows to pull; shares, ribbons and lengths follow.

    Args:
        u_hat: votes û [I, J, 2] of 2 to 12 parts for 2 or 3 wholes; none for the scenes alone.
        names: of the J wholes.
        scene: one of `SCENES`; "given" is there where votes are.
        rule: one of `RULES`.
        round: 1 to `ROUNDS`.
        strength: what agreement is multiplied by, one of `STRENGTHS`.

    Attributes:
        pulled: the scene whose votes the reader has pulled, and these votes; empty before.
        addressed: whether the page's address holds scene, rule, round and strength.

    Raises:
        ValueError: votes of another shape, nan, a wrong number of names, an unknown scene, rule,
            round or strength.
    """

    _esm = _parts.module("pull_votes.js")
    _css = _parts.stylesheet("pull_votes.css")

    # A reference that the page follows when the reader asks for a digit's votes.
    network = traitlets.Dict().tag(sync=True)
    digit = traitlets.Bytes().tag(sync=True)
    given = traitlets.List().tag(sync=True)
    names = traitlets.List(traitlets.Unicode()).tag(sync=True)
    scene = traitlets.Unicode("camps").tag(sync=True)
    rule = traitlets.Unicode("product").tag(sync=True)
    round = traitlets.Int(3).tag(sync=True)
    strength = traitlets.Float(1.0).tag(sync=True)
    pulled = traitlets.Dict().tag(sync=True)
    addressed = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self, u_hat: Any = None, names: Sequence[str] = (), *, scene: str = "", **settings: Any
    ) -> None:
        digits, _ = _parts.default_digits()
        votes = [] if u_hat is None else _votes(u_hat)
        if votes and len(names) != len(votes[0]):
            raise ValueError(f"expected {len(votes[0])} names of wholes; got {list(names)}")
        super().__init__(
            network={"network": f"anywidget:{shared_network().model_id}"},
            digit=digits[_SEVEN].tobytes(),
            given=votes,
            names=list(names),
            scene=scene or ("given" if votes else "camps"),
            **settings,
        )

    @traitlets.validate("scene", "rule", "round", "strength")
    def _is_known(self, proposal: dict[str, Any]) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        known: dict[str, Sequence[Any]] = {
            "scene": SCENES,
            "rule": RULES,
            "round": range(1, ROUNDS + 1),
            "strength": STRENGTHS,
        }
        if value not in known[name]:
            choices = ", ".join(map(str, known[name]))
            raise ValueError(f"expected {name} as one of {choices}; got {value}")
        return value

    def __repr__(self) -> str:
        return f"PullVotes(scene={self.scene!r}, rule={self.rule!r}, round={self.round})"


def _votes(u_hat: Any) -> list[list[list[float]]]:
    """Return votes [I, J, 2] as lists, rounded as the page rounds what is pulled."""
    shape = np.shape(u_hat)
    sizes = [(parts, wholes, 2) for parts in range(2, 13) for wholes in (2, 3)]
    if shape not in sizes:
        raise ValueError(
            f"expected votes of shape [I, J, 2], 2 to 12 parts for 2 or 3 wholes; got {list(shape)}"
        )
    return np.round(_parts.numbers("votes", u_hat, shape), 4).tolist()
