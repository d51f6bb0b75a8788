"""What the sixteen numbers of a digit capsule mean: vary them and look, or vary the digit and measure.

The first is section 5.1 of the paper. The second turns "dimension 7 seems to be rotation" into a number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from capsnet_tutorial.augmentation import Pose, thicken, transform
from capsnet_tutorial.errors import expect
from capsnet_tutorial.model import CapsNet

OFFSETS = torch.arange(-5, 6) / 20
"""How far the paper moves each number: from −0.25 to 0.25 by steps of 0.05."""


class Change(NamedTuple):
    """A known change of a digit, by a known amount."""

    name: str
    unit: str
    amounts: Tensor
    """From one extreme to the other, evenly spaced, as much to either side of "unchanged"."""
    apply: Callable[[Tensor, float], Tensor]
    """images [N, 1, 28, 28], amount -> images."""


def _amounts(reach: float) -> Tensor:
    return torch.arange(-3, 4) * (reach / 3)


CHANGES = (
    Change("rotation", "degrees", _amounts(20.0), lambda x, a: transform(x, Pose(rotation=a))),
    Change("shear", "pixels per pixel", _amounts(0.3), lambda x, a: transform(x, Pose(shear=a))),
    Change("scale", "share", _amounts(0.2), lambda x, a: transform(x, Pose(scale_x=1 + a, scale_y=1 + a))),
    Change("thickness", "of 3×3 dilation", _amounts(0.6), thicken),
    Change("shift x", "pixels", _amounts(2.0), lambda x, a: transform(x, Pose(shift_x=a))),
    Change("shift y", "pixels", _amounts(2.0), lambda x, a: transform(x, Pose(shift_y=a))),
)
"""The changes that the book measures the pose with."""


@torch.no_grad()
def poses(model: CapsNet, images: Tensor, labels: Tensor) -> Tensor:
    """The pose of each digit: the capsule of its true class, [N, D_out].

    Args:
        model: in eval mode.
        images: [N, 1, 28, 28].
        labels: integers [N].
    """
    expect(len(images) == len(labels), f"{len(images)} labels", f"{len(labels)}")
    return model(images, labels).capsules[torch.arange(len(labels)), labels]


@torch.no_grad()
def draw(model: CapsNet, pose: Tensor, label: int) -> Tensor:
    """Decode poses of one class: [..., D_out] -> images [..., 28, 28]."""
    config = model.config
    expect(0 <= label < config.classes, f"a class from 0 to {config.classes - 1}", f"{label}")
    expect(pose.shape[-1] == config.class_dim, f"poses of {config.class_dim} numbers", f"{pose.shape[-1]}")
    capsules = pose.new_zeros(pose.numel() // config.class_dim, config.classes, config.class_dim)
    capsules[:, label] = pose.reshape(-1, config.class_dim)
    return model.decode(capsules).reshape(*pose.shape[:-1], config.image_size, config.image_size)


def traverse(model: CapsNet, pose: Tensor, label: int, offsets: Tensor = OFFSETS) -> Tensor:
    """Redraw a digit with one number of its pose moved at a time. Section 5.1.

    Args:
        model: in eval mode.
        pose: [D_out].
        label: the class whose capsule it is.
        offsets: [K], what is added to the number.

    Returns:
        [D_out, K, 28, 28]: row d has number d moved.
    """
    moved = pose + offsets[None, :, None] * torch.eye(len(pose))[:, None, :]  # [D_out, K, D_out]
    return draw(model, moved, label)


def responses(model: CapsNet, images: Tensor, labels: Tensor, change: Change) -> Tensor:
    """Poses of digits that are changed by each of the amounts: [amounts, N, D_out]."""
    return torch.stack([poses(model, change.apply(images, float(amount)), labels) for amount in change.amounts])


def follow(amounts: Tensor, response: Tensor) -> Tensor:
    """How strongly each dimension follows a change: the correlation within digits, pooled over them.

    What a dimension is for the unchanged digit is taken off first. 1 or −1: it moves in proportion to
    the amount, by the same step for every digit. 0: it does not care, or moves one way for one digit
    and the other way for the next.

    Args:
        amounts: [T].
        response: [T, N, D_out], as `responses` gives it.

    Returns:
        [D_out], from −1 to 1.
    """
    a = (amounts - amounts.mean())[:, None, None]  # [T, 1, 1]
    p = response - response.mean(dim=0)  # [T, N, D_out]
    digits = response.shape[1]
    together = (a * p).sum(dim=(0, 1))
    alone = (digits * a.square().sum()).sqrt() * p.square().sum(dim=(0, 1)).sqrt()
    return together / alone.clamp_min(1e-12)


def readout(amounts: Tensor, response: Tensor) -> float:
    """How well the amount can be read from all numbers of the pose at once: R² on digits not fitted to.

    A linear readout is fitted to every other digit by least squares and tried on the rest.

    Args:
        amounts: [T].
        response: [T, N, D_out].

    Returns:
        1 if the pose tells the amount exactly; 0 if it says nothing.
    """
    a = (amounts - amounts.mean())[:, None].expand(response.shape[:2]).double()  # [T, N]
    p = (response - response.mean(dim=0)).double()
    fitted, tried = slice(0, None, 2), slice(1, None, 2)
    weights = torch.linalg.lstsq(p[:, fitted].flatten(0, 1), a[:, fitted].flatten().unsqueeze(1)).solution
    guess = (p[:, tried] @ weights).squeeze(2)
    return float(1 - (a[:, tried] - guess).square().sum() / a[:, tried].square().sum())
