"""The pieces of a capsule network, with the lines that people get wrong as options.

With its defaults each is the paper's. `deviations` lists the other values that options are known to
take.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from capsnet_tutorial.functional import RECONSTRUCTION_WEIGHT, mask_capsules

Axes = tuple[int, ...]


def _unchanged(tensor: Tensor) -> Tensor:
    return tensor


def squash(
    s: Tensor,
    *,
    over: Axes | None = (-1,),
    unit_over: Axes | None = None,
    divided: bool = True,
) -> Tensor:
    """Compute equation 1.

    Args:
        s: any shape.
        over: the axes of a length; None: no squash.
        unit_over: the axes of the length in s / ‖s‖, if others.
        divided: whether s is divided by its length.
    """
    if over is None:
        return s
    square = (s * s).sum(over, keepdim=True) if over else s * s
    unit = square if unit_over is None else (s * s).sum(unit_over, keepdim=True)
    length = unit.clamp_min(1e-16).sqrt() if divided else 1
    return square / (1 + square) * s / length


def route(  # noqa: PLR0913 (an option for each line that people get wrong)
    u_hat: Tensor,
    iterations: int,
    *,
    couplings: Callable[[Tensor], Tensor] = lambda b: b.softmax(dim=2),
    agreement: Callable[[Tensor], Tensor] = _unchanged,
    compared: Callable[[Tensor, Tensor], Tensor] = lambda s, v: v,
    update: Callable[[Tensor, Tensor], Tensor] = lambda b, a: b + a,
    returned: Callable[[Tensor, Tensor], Tensor] = lambda s, v: v,
    over: Axes | None = (2,),
    unit_over: Axes | None = None,
    copies: int = 1,
    bias: Tensor | None = None,
) -> Tensor:
    """Compute Procedure 1.

    Args:
        u_hat: [B, I, J, D].
        iterations: rounds.
        couplings: from b to c, both [B, I, J].
        agreement: from û · v to what is added to b.
        compared: the one of s and v that û is compared with.
        update: the next b, from b and the agreement.
        returned: the one of s and v that is returned.
        over: as in `squash`.
        unit_over: as in `squash`.
        copies: how many equal capsules below each of u_hat stands for. 1152 capsules of 12 kinds
            cost what 12 do, since only the softmax has to see them all.
        bias: [J, D], added to s in every round.

    Returns:
        v [B, J, D].
    """
    b = torch.zeros_like(u_hat[..., 0])
    for _ in range(iterations):
        c = copies * couplings(b.repeat_interleave(copies, 1))[:, ::copies]
        s = (c.unsqueeze(-1) * u_hat).sum(1)
        if bias is not None:
            s = s + bias
        v = squash(s, over=over, unit_over=unit_over)
        b = update(b, agreement((u_hat * compared(s, v).unsqueeze(1)).sum(-1)))
    return returned(s, v)


def margin_loss(  # noqa: PLR0913 (an option for each line that people get wrong)
    scores: Tensor,
    labels: Tensor,
    *,
    lengths_of: Callable[[Tensor], Tensor] = _unchanged,
    floor: tuple[bool, bool] = (True, True),
    power: tuple[int, int] = (2, 2),
    lambda_: float = 0.5,
    over_classes: Callable[[Tensor], Tensor] = lambda terms: terms.sum(dim=1),
    over_batch: Callable[[Tensor], Tensor] = lambda losses: losses.mean(dim=0),
) -> Tensor:
    """Compute equation 4.

    Args:
        scores: lengths [B, J], or capsules [B, J, D] or [B, J, D, 1].
        labels: class numbers [B], or one-hot [B, J].
        lengths_of: from the lengths to what the margins are taken of.
        floor: whether the margins of the present and of the absent classes stop at 0.
        power: of both.
        lambda_: weight of the absent classes.
        over_classes: from [B, J] to [B].
        over_batch: from [B] to a scalar.
    """
    lengths = scores if scores.dim() == 2 else scores.flatten(2).norm(dim=2)
    lengths = lengths_of(lengths)
    one_hot = labels if labels.dim() == 2 else F.one_hot(labels, lengths.shape[1])
    present = one_hot.to(lengths)
    missing = _margin(0.9 - lengths, floor[0], power[0])
    exceeding = _margin(lengths - 0.1, floor[1], power[1])
    terms = present * missing + lambda_ * (1 - present) * exceeding
    return over_batch(over_classes(terms))


def _margin(distance: Tensor, floor: bool, power: int) -> Tensor:
    return (distance.relu() if floor else distance) ** power


def reconstruction_loss(
    reconstruction: Tensor,
    images: Tensor,
    *,
    over_pixels: Callable[[Tensor], Tensor] = lambda squares: squares.sum(dim=1),
    over_batch: Callable[[Tensor], Tensor] = lambda losses: losses.mean(dim=0),
    weight: float = RECONSTRUCTION_WEIGHT,
) -> Tensor:
    """Compute the loss of section 4.1, the weight included.

    Args:
        reconstruction: [B, P].
        images: [B, 1, H, W].
        over_pixels: from [B, P] to [B].
        over_batch: from [B] to a scalar.
        weight: 0.0005.
    """
    return weight * over_batch(over_pixels((reconstruction - images.flatten(1)).square()))


PIECES: dict[str, Callable[..., Tensor]] = {
    "squash": squash,
    "routing": route,
    "margin_loss": margin_loss,
    "mask": mask_capsules,
    "reconstruction_loss": reconstruction_loss,
}
