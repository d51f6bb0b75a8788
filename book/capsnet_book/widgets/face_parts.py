"""The parts of a face to drag, a detector that counts them, and capsules that compare them."""

from __future__ import annotations

from typing import Any

import numpy as np
import traitlets

from capsnet_book.widgets import _parts

PARTS = ("left eye", "right eye", "nose", "mouth")

FACE = (
    (-0.38, -0.22, 0.0, 1.0),
    (0.38, -0.22, 0.0, 1.0),
    (0.0, 0.12, 0.0, 1.0),
    (0.0, 0.52, 0.0, 1.0),
)
"""The parts' places in an upright face at the centre: x, y, turn in degrees clockwise, size.

x goes to the right, y downwards. The unit is half the height of the head.
"""

WHOLES = 10
"""A face, and nine other wholes of the same four parts."""

WAVES = (
    (-4.7, -1.2, -1.9, -1.4),
    (-4.0, -2.3, -3.8, -1.7),
    (-4.3, 1.6, -2.6, 4.5),
    (-2.1, 4.0, -0.8, 0.4),
    (4.8, 7.2, 0.4, -2.0),
    (-5.3, 3.0, -2.9, -2.1),
    (3.1, 5.3, 1.8, 4.1),
    (4.2, -1.5, -0.2, -1.3),
)
"""The weights of eight sums of a pose (x, y, a, b); their cosines and sines are its 16 numbers.

They are rounded draws from a normal distribution, so that poses far apart point in unrelated
directions.
"""

VOICE = 2.5
"""The length of one prediction vector."""

REACH = 1.6
"""The radius of the disc that no part leaves, so that the whole can be turned."""
SIZES = (0.5, 1.6)
"""The smallest and the largest size of a part."""


def pose_numbers(poses: Any) -> np.ndarray:
    """Return u = (x, y, size·cos, size·sin) of poses (x, y, turn, size), float32 [..., 4]."""
    x, y, turn, size = np.moveaxis(np.asarray(poses, dtype=float), -1, 0)
    turn = np.deg2rad(turn)
    return np.stack([x, y, size * np.cos(turn), size * np.sin(turn)], axis=-1).astype(np.float32)


def weight() -> np.ndarray:
    """Return W, float32 [I, J, D_in, D_out] = [4, 10, 4, 4], made by hand.

    u W_ij is the pose of whole j if part i, with the pose u, sits in its place there.
    """
    # The inverse of a part's pose within a whole undoes its turn and size, then its place.
    x, y, a, b = np.moveaxis(pose_numbers(_arrangements()).astype(float), -1, 0)  # [I, J] each
    square = a * a + b * b
    cos, sin = a / square, -b / square
    dx = -(cos * x - sin * y)
    dy = -(sin * x + cos * y)
    one, zero = np.ones_like(x), np.zeros_like(x)
    rows = [
        np.stack([one, zero, zero, zero], axis=-1),
        np.stack([zero, one, zero, zero], axis=-1),
        np.stack([dx, dy, cos, sin], axis=-1),
        np.stack([-dy, dx, -sin, cos], axis=-1),
    ]
    return np.stack(rows, axis=-2).astype(np.float32)


def _arrangements() -> np.ndarray:
    """Return the places of the parts in the wholes, [I, J, 4]: the face, the rest spread evenly."""
    # Multiples of irrational numbers, without their whole parts, spread over [0, 1].
    spread = 2 * (np.outer(np.arange(1, 4 * WHOLES - 3), (0.7549, 0.5698, 0.8192)) % 1) - 1
    others = np.column_stack([0.8 * spread[:, :2], 180 * spread[:, 2], np.ones(len(spread))])
    return np.concatenate([[FACE], others.reshape(WHOLES - 1, len(PARTS), 4)]).swapaxes(0, 1)


class FaceParts(_parts.Widget):
    """Four parts to drag, turn and resize, judged by a bag of parts and by a face capsule.

    The bag asks which parts are in the picture, the capsule whether they agree. The prediction
    vectors, the routing and the squash are the book's; the matrices are made by hand, not learned.

    Attributes:
        poses: (x, y, turn in degrees, size) of the left eye, the right eye, the nose and the mouth.
        shown: which of them are in the picture.

    Raises:
        ValueError: not four poses of four finite numbers; a part too far from the centre, or of no
            possible size; not four truth values.
    """

    _esm = _parts.module("face_parts.js")
    _css = _parts.stylesheet("face_parts.css")

    poses = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True)
    shown = traitlets.List(traitlets.Bool()).tag(sync=True)
    weight = traitlets.Bytes(read_only=True).tag(sync=True)
    waves = traitlets.Bytes(read_only=True).tag(sync=True)

    def __init__(self) -> None:
        super().__init__(poses=list(map(list, FACE)), shown=[True] * len(PARTS))
        self.set_trait("weight", weight().tobytes())
        self.set_trait("waves", np.asarray(WAVES, dtype=np.float32).tobytes())

    @traitlets.validate("poses")
    def _poses_are_poses(self, proposal: dict) -> list[list[float]]:
        poses = _parts.numbers(
            "poses (x, y, turn, size) of the four parts", proposal["value"], (len(PARTS), 4)
        ).tolist()
        for part, (x, y, _, size) in zip(PARTS, poses, strict=True):
            if np.hypot(x, y) > REACH + 1e-3:
                raise ValueError(
                    f"expected the {part} within {REACH} of the centre; got ({x:g}, {y:g})"
                )
            if not SIZES[0] <= size <= SIZES[1]:
                raise ValueError(
                    f"expected the {part}'s size from {SIZES[0]} to {SIZES[1]}; got {size:g}"
                )
        return poses

    @traitlets.validate("shown")
    def _shown_are_truths(self, proposal: dict) -> list[bool]:
        if len(proposal["value"]) != len(PARTS):
            raise ValueError(f"expected {len(PARTS)} truth values; got {proposal['value']!r}")
        return proposal["value"]

    def __repr__(self) -> str:
        return f"FaceParts({sum(self.shown)} of {len(PARTS)} parts)"
