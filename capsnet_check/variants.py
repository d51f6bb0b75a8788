"""The pieces of a capsule network, with the lines that people get wrong as options.

With its defaults each is the paper's. `deviations` lists the other values that options are known to
take.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from capsnet_tutorial.functional import RECONSTRUCTION_WEIGHT, mask_capsules

Axes = tuple[int, ...]


def _unchanged(tensor: Tensor) -> Tensor:
    return tensor


def _halves(present: Tensor, lambda_: float) -> tuple[Tensor, Tensor]:
    """Return the weights of the margins of the present and of the absent classes."""
    return present, lambda_ * (1 - present)


def squash(  # noqa: PLR0913 (an option for each place that people get wrong)
    s: Tensor,
    *,
    over: Axes | None = (-1,),
    unit_over: Axes | None = None,
    divided: bool = True,
    squashed_length: Callable[[Tensor], Tensor] = lambda square: square / (1 + square),
    of_squares: Callable[..., Tensor] = torch.sum,
    instead: Callable[[Tensor], Tensor] | None = None,
) -> Tensor:
    """Compute equation 1.

    Args:
        s: any shape.
        over: the axes of a length; None: no squash.
        unit_over: the axes of the length in s / ‖s‖, if others.
        divided: whether s is divided by its length.
        squashed_length: from ‖s‖² to ‖v‖.
        of_squares: from the squares to ‖s‖².
        instead: another function of s [..., D]; None: squash.
    """
    if over is None:
        return s
    if instead is not None:
        return instead(s)
    square = of_squares(s * s, over, keepdim=True) if over else s * s
    unit = square if unit_over is None else (s * s).sum(unit_over, keepdim=True)
    length = unit.clamp_min(1e-16).sqrt() if divided else 1
    return squashed_length(square) * s / length


def route(  # noqa: PLR0913 (an option for each line that people get wrong)
    u_hat: Tensor,
    iterations: int,
    *,
    couplings: Callable[[Tensor], Tensor] = lambda b: b.softmax(dim=2),
    agreement: Callable[[Tensor], Tensor] = _unchanged,
    compared: Callable[[Tensor, Tensor], Tensor] = lambda s, v: v,
    update: Callable[[Tensor, Tensor], Tensor] = lambda b, a: b + a,
    returned: Callable[[Tensor, Tensor], Tensor] = lambda s, v: v,
    gathered: Callable[[Tensor], Tensor] = lambda votes: votes.sum(1),
    products: Callable[[Tensor, Tensor], Tensor] = lambda u_hat, v: (u_hat * v).sum(-1),
    copies: int = 1,
    bias: Tensor | None = None,
    **of_squash: Any,
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
        gathered: from the weighed predictions [B, I, J, D] to s.
        products: from û and v [B, 1, J, D] to the agreement.
        copies: how many equal capsules below each of u_hat stands for. 1152 capsules of 12 kinds
            cost what 12 do, since only the softmax has to see them all.
        bias: [J, D], added to s in every round.
        of_squash: the options of `squash`.

    Returns:
        v [B, J, D].
    """
    b = torch.zeros_like(u_hat[..., 0])
    of_squash = {"over": (2,), **of_squash}
    for _ in range(iterations):
        c = copies * couplings(b.repeat_interleave(copies, 1))[:, ::copies]
        s = gathered(c.unsqueeze(-1) * u_hat)
        if bias is not None:
            s = s + bias
        v = squash(s, **of_squash)
        b = update(b, agreement(products(u_hat, compared(s, v).unsqueeze(1))))
    return returned(s, v)


def margin_loss(  # noqa: PLR0913 (an option for each line that people get wrong)
    scores: Tensor,
    labels: Tensor,
    *,
    lengths_of: Callable[[Tensor], Tensor] = _unchanged,
    floor: tuple[bool, bool] = (True, True),
    power: tuple[int, int] = (2, 2),
    lambda_: float = 0.5,
    weights: Callable[[Tensor, float], tuple[Tensor, Tensor]] = _halves,
    margins: tuple[float, float] = (0.9, 0.1),
    direction: tuple[int, int] = (1, 1),
    joined: Callable[[Tensor, Tensor], Tensor] = torch.add,
    over_classes: Callable[[Tensor], Tensor] = lambda terms: terms.sum(dim=1),
    over_batch: Callable[[Tensor], Tensor] = lambda losses: losses.mean(dim=0),
    instead: Callable[[Tensor, Tensor], Tensor] | None = None,
) -> Tensor:
    """Compute equation 4.

    Args:
        scores: lengths [B, J], or capsules [B, J, D] or [B, J, D, 1].
        labels: class numbers [B], or one-hot [B, J].
        lengths_of: from the lengths to what the margins are taken of.
        floor: whether the margins of the present and of the absent classes stop at 0.
        power: of both.
        lambda_: weight of the absent classes.
        weights: from T and λ to the weights of both margins, [B, J].
        margins: m⁺ and m⁻.
        direction: of both; -1 where a difference is taken the other way round.
        joined: from both halves, [B, J], to the terms.
        over_classes: from [B, J] to [B].
        over_batch: from [B] to a scalar.
        instead: another loss of the lengths and T, both [B, J]; None: the margin loss.
    """
    lengths = scores if scores.dim() == 2 else scores.flatten(2).norm(dim=2)
    lengths = lengths_of(lengths)
    one_hot = labels if labels.dim() == 2 else F.one_hot(labels, lengths.shape[1])
    present = one_hot.to(lengths)
    if instead is not None:
        return instead(lengths, present)
    missing = _margin(direction[0] * (margins[0] - lengths), floor[0], power[0])
    exceeding = _margin(direction[1] * (lengths - margins[1]), floor[1], power[1])
    weight_present, weight_absent = weights(present, lambda_)
    terms = joined(weight_present * missing, weight_absent * exceeding)
    return over_batch(over_classes(terms))


def _margin(distance: Tensor, floor: bool, power: int) -> Tensor:
    return (distance.relu() if floor else distance) ** power


def reconstruction_loss(  # noqa: PLR0913 (an option for each place that people get wrong)
    reconstruction: Tensor,
    images: Tensor,
    *,
    distance: Callable[[Tensor, Tensor], Tensor] = lambda drawn, image: (drawn - image).square(),
    over_pixels: Callable[[Tensor], Tensor] = lambda squares: squares.sum(dim=1),
    over_batch: Callable[[Tensor], Tensor] = lambda losses: losses.mean(dim=0),
    weight: float = RECONSTRUCTION_WEIGHT,
) -> Tensor:
    """Compute the loss of section 4.1, the weight included.

    Args:
        reconstruction: [B, P].
        images: [B, 1, H, W].
        distance: from the reconstruction and the image, both [B, P], to [B, P].
        over_pixels: from [B, P] to [B].
        over_batch: from [B] to a scalar.
        weight: 0.0005.
    """
    distances = distance(reconstruction, images.flatten(1))
    return weight * over_batch(over_pixels(distances))


PIECES: dict[str, Callable[..., Tensor]] = {
    "squash": squash,
    "routing": route,
    "margin_loss": margin_loss,
    "mask": mask_capsules,
    "reconstruction_loss": reconstruction_loss,
}
