"""Two parts to drag, and the wholes that each of them predicts. Prediction vectors by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import anywidget
import numpy as np
import traitlets

from capsnet_book.widgets import _parts

PARTS = ("triangle", "rectangle")
WHOLES = ("house", "boat")
PLACES = {
    "house": {"triangle": (0, 0.0, 0.4), "rectangle": (0, 0.0, -0.55)},
    "boat": {"triangle": (-90, 0.2, 0.7), "rectangle": (0, 0.0, -0.9)},
}
"""Where a part stands in a whole: the angle in degrees, and x, y from the whole's middle."""

_SHAPE = (len(PARTS), len(WHOLES), 4, 4)
_APART = ((25.0, -1.5, 1.1), (-15.0, 1.1, -1.2))


class PartVotes(anywidget.AnyWidget):
    """A triangle and a rectangle in the plane. Each predicts a house and a boat: û_j|i = W_ij u_i, with four numbers
    a pose: (cos, sin, x, y).

    Args:
        weight: W, [2, 2, 4, 4], as `prediction_vectors` takes it: triangle and rectangle, house and boat, D_in, D_out.
            None: the matrices that know where a triangle and a rectangle stand in a house and in a boat.
        poses: for the triangle and the rectangle (angle in degrees, x, y); the picture shows -3.4 to 3.4.

    Attributes:
        poses: where the parts are now.

    Raises:
        ValueError: a weight of another shape, a pose that is not three numbers, nan.
    """

    _esm = _parts.module("part_votes.js")
    _css = _parts.stylesheet("part_votes.css")

    weight = traitlets.List(traitlets.Float()).tag(sync=True)
    places = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True)
    poses = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True)

    def __init__(self, weight: Any = None, poses: Sequence[Sequence[float]] = _APART) -> None:
        super().__init__(
            weight=(_house_and_boat() if weight is None else _checked(weight)).ravel().tolist(),
            places=[list(map(float, PLACES[whole][part])) for part in PARTS for whole in WHOLES],
            poses=_poses(poses),
        )

    @traitlets.validate("poses")
    def _poses_are_two(self, proposal: dict) -> list[list[float]]:
        return _poses(proposal["value"])

    def __repr__(self) -> str:
        return f"PartVotes(poses={self.poses})"


def _house_and_boat() -> np.ndarray:
    """W [2, 2, 4, 4]: for every part and whole, where the whole is relative to the part."""
    weight = np.zeros(_SHAPE)
    for i, part in enumerate(PARTS):
        for j, whole in enumerate(WHOLES):
            angle, x, y = PLACES[whole][part]
            cos, sin = _cos_sin(-angle)
            dx, dy = sin * y - cos * x, -sin * x - cos * y
            matrix = [[cos, -sin, 0, 0], [sin, cos, 0, 0], [dx, -dy, 1, 0], [dy, dx, 0, 1]]  # û = matrix · u
            weight[i, j] = np.transpose(matrix)  # the module multiplies from the left, u · W
    return np.round(weight, 12) + 0.0  # no -0.0


def _cos_sin(degrees: float) -> tuple[float, float]:
    radians = math.radians(degrees)
    return math.cos(radians), math.sin(radians)


def _checked(weight: Any) -> np.ndarray:
    try:
        array = np.asarray(weight.detach().cpu() if hasattr(weight, "detach") else weight, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"expected a weight of shape {list(_SHAPE)}; got {type(weight).__name__}") from None
    if array.shape != _SHAPE:
        raise ValueError(f"expected a weight of shape {list(_SHAPE)}; got {list(array.shape)}")
    if not np.isfinite(array).all():
        raise ValueError("expected a weight of finite numbers; got nan or infinity")
    return array


def _poses(poses: Any) -> list[list[float]]:
    if not isinstance(poses, Sequence) or len(poses) != len(PARTS):
        raise ValueError(f"expected two poses (angle, x, y), of the triangle and the rectangle; got {poses!r}")
    return [_parts.finite("a pose", pose, 3) for pose in poses]
