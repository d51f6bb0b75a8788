"""Two parts to drag, and the wholes that they predict: prediction vectors by hand."""

from __future__ import annotations

import math

import numpy as np
import traitlets

from capsnet_book.widgets import _parts

PARTS = ("triangle", "rectangle")
WHOLES = ("house", "boat")
PLACES = {
    "house": {"triangle": (0, 0.0, 0.4), "rectangle": (0, 0.0, -0.55)},
    "boat": {"triangle": (-90, 0.2, 0.7), "rectangle": (0, 0.0, -0.9)},
}
"""A whole -> a part -> its place there: the angle in degrees, and x, y from the whole's middle."""

_SHAPE = (len(PARTS), len(WHOLES), 4, 4)
_APART = ((25.0, -1.5, 1.1), (-15.0, 1.1, -1.2))


class PartVotes(_parts.Widget):
    """A triangle and a rectangle in the plane, which both predict a house and a boat.

    û_j|i = W_ij u_i, with four numbers a pose: (cos, sin, x, y).

    Attributes:
        weight: W [2, 2, 4, 4], flat, as `prediction_vectors` takes it: triangle and rectangle,
            house and boat, D_in, D_out. It holds the places of both parts in both wholes.
        poses: of the triangle and the rectangle (angle in degrees, x, y); the picture shows -3.4 to
            3.4.

    Raises:
        ValueError: a pose that is not three numbers, nan.
    """

    _esm = _parts.module("part_votes.js")
    _css = _parts.stylesheet("part_votes.css")

    weight = traitlets.List(traitlets.Float()).tag(sync=True)
    places = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True)
    poses = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True)

    def __init__(self) -> None:
        places = [list(map(float, PLACES[whole][part])) for part in PARTS for whole in WHOLES]
        super().__init__(
            weight=_house_and_boat().ravel().tolist(), places=places, poses=list(map(list, _APART))
        )

    @traitlets.validate("poses")
    def _poses_are_two(self, proposal: dict) -> list[list[float]]:
        name = "poses (angle, x, y) of the triangle and the rectangle"
        return _parts.numbers(name, proposal["value"], (len(PARTS), 3)).tolist()

    def __repr__(self) -> str:
        return f"PartVotes(poses={self.poses})"


def _house_and_boat() -> np.ndarray:
    """Return W [2, 2, 4, 4]: for every part and whole, the whole's pose relative to the part."""
    weight = np.zeros(_SHAPE)
    for i, part in enumerate(PARTS):
        for j, whole in enumerate(WHOLES):
            angle, x, y = PLACES[whole][part]
            cos = math.cos(math.radians(-angle))
            sin = math.sin(math.radians(-angle))
            dx = sin * y - cos * x
            dy = -sin * x - cos * y
            matrix = [
                [cos, -sin, 0, 0],
                [sin, cos, 0, 0],
                [dx, -dy, 1, 0],
                [dy, dx, 0, 1],
            ]  # û = matrix · u
            weight[i, j] = np.transpose(matrix)  # the module multiplies from the left, u · W
    return np.round(weight, 12) + 0.0  # no -0.0
