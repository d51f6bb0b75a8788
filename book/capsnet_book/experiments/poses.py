"""The meaning of a class capsule's sixteen numbers, by varying them and by bending the digit.

Varied and decoded they are section 5.1 of the paper. Measured while the digit is bent, they turn
"dimension 7 seems to be rotation" into a number.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from capsnet_tutorial.augment import Pose, transform
from capsnet_tutorial.errors import expect
from capsnet_tutorial.model import CapsNet

OFFSETS = torch.arange(-5, 6) / 20
"""The paper's offsets of a number: from −0.25 to 0.25 by steps of 0.05."""


class Change(NamedTuple):
    """A known change of a digit, by a known amount."""

    name: str
    unit: str
    reach: float
    """The largest amount to either side of "unchanged"."""

    @property
    def amounts(self) -> Tensor:
        """Seven amounts from one extreme to the other, the fourth of them zero."""
        return torch.arange(-3, 4) * (self.reach / 3)

    def apply(self, images: Tensor, amount: float) -> Tensor:
        """Apply this change alone: images [N, 1, 28, 28] -> [N, 1, 28, 28]."""
        amounts = torch.zeros(len(images), len(CHANGES))
        amounts[:, CHANGES.index(self)] = amount
        return apply_changes(images, amounts)


CHANGES = (
    Change("rotation", "degrees", 20.0),
    Change("shear", "pixels per pixel", 0.3),
    Change("scale", "share", 0.2),
    Change("thickness", "of a 3×3 dilation", 0.6),
    Change("shift x", "pixels", 2.0),
    Change("shift y", "pixels", 2.0),
)
"""The changes by which the book measures a pose."""


def thicken(images: Tensor, amount: float | Tensor) -> Tensor:
    """Make strokes thicker (above 0, up to 1) or thinner (below 0, down to -1).

    At 1 every pixel takes the largest value among its 3×3 neighbours, at -1 the smallest; between
    them a mixture with the image itself.
    """
    amount = torch.as_tensor(amount, dtype=images.dtype)
    amount = amount.to(images.device).expand(len(images)).view(-1, 1, 1, 1)
    thick = F.max_pool2d(images, 3, stride=1, padding=1)
    thin = -F.max_pool2d(-images, 3, stride=1, padding=1)
    return images + amount.clamp_min(0) * (thick - images) - amount.clamp_max(0) * (thin - images)


def apply_changes(images: Tensor, amounts: Tensor) -> Tensor:
    """Apply all changes at once.

    Args:
        images: [N, 1, 28, 28].
        amounts: [N, 6], in the order of `CHANGES`.
    """
    rotation, shear, scale, thickness, shift_x, shift_y = amounts.unbind(dim=1)
    return transform(
        thicken(images, thickness), Pose(rotation, 1 + scale, 1 + scale, shear, shift_x, shift_y)
    )


@torch.no_grad()
def poses(model: CapsNet, images: Tensor, labels: Tensor) -> Tensor:
    """Return the pose of each digit: the capsule of its true class, [N, D_out].

    Args:
        model: in eval mode.
        images: [N, 1, 28, 28].
        labels: integers [N].
    """
    expect(len(images) == len(labels), f"{len(images)} labels", f"{len(labels)}")
    return model(images, labels).capsules[torch.arange(len(labels), device=labels.device), labels]


@torch.no_grad()
def draw(model: CapsNet, pose: Tensor, label: int) -> Tensor:
    """Decode poses of one class: [..., D_out] -> images [..., 28, 28]."""
    config = model.config
    expect(0 <= label < config.classes, f"a class from 0 to {config.classes - 1}", f"{label}")
    expect(
        pose.shape[-1] == config.class_dim,
        f"poses of {config.class_dim} numbers",
        f"{pose.shape[-1]}",
    )
    capsules = pose.new_zeros(pose.numel() // config.class_dim, config.classes, config.class_dim)
    capsules[:, label] = pose.reshape(-1, config.class_dim)
    return model.decode(capsules).reshape(*pose.shape[:-1], *config.image_shape[1:])


def traverse(model: CapsNet, pose: Tensor, label: int, offsets: Tensor = OFFSETS) -> Tensor:
    """Reconstruct a digit with one number of its pose moved at a time. Section 5.1.

    Args:
        model: in eval mode.
        pose: [D_out].
        label: the class of the capsule.
        offsets: [K], added to the number.

    Returns:
        [D_out, K, 28, 28]: row d has number d moved.
    """
    directions = torch.eye(len(pose)).to(pose)[:, None, :]  # [D_out, 1, D_out]
    moved = pose + offsets.to(pose)[None, :, None] * directions  # [D_out, K, D_out]
    return draw(model, moved, label)


def responses(model: CapsNet, images: Tensor, labels: Tensor, change: Change) -> Tensor:
    """Return the poses of digits under one change, for each of its amounts: [7, N, D_out]."""
    changed = [change.apply(images, float(amount)) for amount in change.amounts]
    return torch.stack([poses(model, pictures, labels) for pictures in changed])


def mixed_responses(
    model: CapsNet, images: Tensor, labels: Tensor, times: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Return the poses of digits under all changes at once, by random amounts within their reach.

    Returns:
        The amounts [times, N, 6] and the poses [times, N, D_out].
    """
    reach = torch.tensor([change.reach for change in CHANGES])
    amounts = (2 * torch.rand(times, len(images), len(CHANGES), generator=generator) - 1) * reach
    changed = [apply_changes(images, some) for some in amounts]
    return amounts, torch.stack([poses(model, pictures, labels) for pictures in changed])


def follow(amounts: Tensor, response: Tensor) -> Tensor:
    """Return how strongly each dimension follows a change: its correlation within digits.

    A digit's own average is subtracted first, and the correlation is pooled over the digits. At 1
    or −1 a dimension moves in proportion to the amount, by the same step for every digit; at 0 it
    does not move, or in opposite directions for different digits.

    Args:
        amounts: [T], or [T, N] where each digit is changed by amounts of its own.
        response: [T, N, D_out].

    Returns:
        [D_out], from −1 to 1.
    """
    a, p = _within_digits(amounts, response)
    together = (a.unsqueeze(2) * p).sum(dim=(0, 1))
    alone = a.square().sum().sqrt() * p.square().sum(dim=(0, 1)).sqrt()
    return (together / alone.clamp_min(1e-12)).to(response.dtype)


def readout(amounts: Tensor, response: Tensor) -> float:
    """Return how well all numbers of the pose predict the amount: R² on digits not fitted to.

    A weighted sum of the numbers is fitted to every other digit by least squares, and tested on the
    rest.

    Args:
        amounts: [T] or [T, N], as for `follow`.
        response: [T, N, D_out].

    Returns:
        1 for an exact prediction, 0 for one that is no better than the mean.
    """
    a, p = _within_digits(amounts, response)
    a_fit, a_test = a[:, 0::2], a[:, 1::2]
    p_fit, p_test = p[:, 0::2], p[:, 1::2]
    fit = torch.linalg.lstsq(p_fit.flatten(0, 1), a_fit.flatten().unsqueeze(1))
    prediction = (p_test @ fit.solution).squeeze(2)
    return float(1 - (a_test - prediction).square().sum() / a_test.square().sum())


def _within_digits(amounts: Tensor, response: Tensor) -> tuple[Tensor, Tensor]:
    """Return amounts [T, N] and poses [T, N, D_out] minus each digit's average, in float64.

    They are on the CPU: some devices have no float64.
    """
    a = amounts if amounts.dim() == 2 else amounts.unsqueeze(1).expand(response.shape[:2])
    a = a.cpu().double()
    p = response.cpu().double()
    return a - a.mean(dim=0), p - p.mean(dim=0)
