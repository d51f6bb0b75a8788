"""Digits bent by random affine maps, to test networks trained on shifted ones. Section 5.2.

The paper tests on affNIST: MNIST's test digits on 40×40 pixels, turned, sheared and scaled a
little. This is a set of that kind, made here from a seed: turned by up to 20 degrees, sheared by up
to 0.2, scaled by 0.8 to 1.2 along either axis. The digits lie in the same places as in training, so
that only their shape is new.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from capsnet_book.experiments.cnn import scores_of
from capsnet_tutorial.augment import Augmentation, Pose, transform
from capsnet_tutorial.data import Digits

PADDING = 6
"""Pixels on every side: 28×28 becomes 40×40."""
SHIFT = 6
"""The largest shift there along both axes, in pixels: anywhere on the canvas."""


def on_canvas(digits: Digits) -> Digits:
    """Return digits in the middle of a canvas of 40×40; in training, augmentation moves them."""
    return digits._replace(images=F.pad(digits.images, (PADDING,) * 4))


def shifted(digits: Digits, shift: float) -> Digits:
    """Shift every digit by up to so many pixels, the same at every call."""
    return _moved(digits, Augmentation(shift=shift))


def bent(digits: Digits, shift: float) -> Digits:
    """Turn, shear and scale every digit as in affNIST, and shift it; the same at every call."""
    return _moved(digits, Augmentation(shift=shift, rotation=20, scale=0.2, shear=0.2))


def _moved(digits: Digits, augmentation: Augmentation) -> Digits:
    return digits._replace(images=augmentation(digits.images, torch.Generator().manual_seed(0)))


class Sweep(NamedTuple):
    """A way to bend a digit, and ascending amounts of it."""

    name: str
    unit: str
    amounts: Sequence[float]
    pose: Callable[[float], Pose]


SWEEPS = (
    Sweep("turn", "degrees", range(-90, 91, 15), lambda x: Pose(rotation=x)),
    Sweep("shear", "pixels a row", [k / 4 for k in range(-4, 5)], lambda x: Pose(shear=x)),
    Sweep("size", "times", [k / 4 for k in range(2, 9)], lambda x: Pose(scale_x=x, scale_y=x)),
    Sweep("shift", "pixels", range(-8, 9, 2), lambda x: Pose(shift_x=x)),
)
"""One change at a time, up to amounts at which every network fails."""


def read_right(network: nn.Module, digits: Digits, sweep: Sweep) -> Tensor:
    """Return which digits a network reads right, amount by amount: bool [amounts, N].

    Args:
        network: a CapsNet or a CNN, on any device.
        digits: N upright ones.
        sweep: the way to bend them.
    """
    right = []
    for amount in sweep.amounts:
        scores = scores_of(network, transform(digits.images, sweep.pose(amount)))
        right.append(scores.argmax(dim=1) == digits.labels)
    return torch.stack(right)
