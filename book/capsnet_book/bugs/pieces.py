"""The pieces of a capsule network, with the lines that people get wrong as arguments.

They are right as they stand; what people write instead is in `deviations`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from capsnet_tutorial.functional import RECONSTRUCTION_WEIGHT

Axes = tuple[int, ...]


def squash(s: Tensor, *, over: Axes = (-1,), unit_over: Axes | None = None, safe: bool = True) -> Tensor:
    """Equation 1.

    Args:
        s: [..., D].
        over: the axes along which a length is measured.
        unit_over: the axes for the length that the direction s / ‖s‖ is divided by, if they are others.
        safe: whether there is a floor under the root.
    """
    square = _square(s, over)  # ‖s‖²
    unit = square if unit_over is None else _square(s, unit_over)
    if safe:
        unit = unit.clamp_min(1e-16)
    return square / (1 + square) * s / unit.sqrt()


def _square(s: Tensor, over: Axes) -> Tensor:
    return (s * s).sum(over, keepdim=True) if over else s * s


def capsules_of_one_place(features: Tensor, dim: int) -> Tensor:
    """[B, types·dim, H, W] -> [B, types·H·W, dim]: a capsule is dim channels at one place."""
    return features.unflatten(1, (-1, dim)).permute(0, 1, 3, 4, 2).flatten(1, 3)


def primary_capsules(
    features: Tensor,
    dim: int,
    *,
    group: Callable[[Tensor, int], Tensor] = capsules_of_one_place,
    over: Axes | None = (-1,),
    safe: bool = True,
) -> Tensor:
    """[B, types·dim, H, W] -> u [B, types·H·W, dim], squashed over the axes ``over``; None: not squashed."""
    u = group(features, dim)
    return u if over is None else squash(u, over=over, safe=safe)


def route(
    u_hat: Tensor,
    iterations: int,
    *,
    couplings: Callable[[Tensor], Tensor] = lambda b: b.softmax(dim=2),
    agreement: Callable[[Tensor], Tensor] = lambda a: a,
    rounds: Callable[[int], int] = lambda r: r,
    heard: Callable[[Tensor, Tensor], Tensor] = lambda s, v: v,
    update: Callable[[Tensor, Tensor], Tensor] = lambda b, a: b + a,
    over: Axes | None = (2,),
    unit_over: Axes | None = None,
    safe: bool = True,
    memory: dict[Any, Tensor] | None = None,
) -> Tensor:
    """Procedure 1.

    Args:
        u_hat: [B, I, J, D].
        iterations: r.
        couplings: c of b, both [B, I, J].
        agreement: what of the agreement a [B, I, J] is used.
        rounds: how many are done of those asked for.
        heard: what of s and v [B, J, D] the predictions are compared with.
        update: the next b of b and a.
        over: axes of s [B, J, D] along which squash measures; None: no squash.
        unit_over: as in `squash`.
        safe: whether squash survives the zero vector.
        memory: where b is kept from call to call.

    Returns:
        [B, J, D].
    """
    b = torch.zeros_like(u_hat[..., 0])
    if memory is not None:
        b = memory.get(b.shape, b).to(b)
    for _ in range(rounds(iterations)):
        c = couplings(b)
        s = (c.unsqueeze(-1) * u_hat).sum(1)
        v = s if over is None else squash(s, over=over, unit_over=unit_over, safe=safe)
        b = update(b, agreement((u_hat * heard(s, v).unsqueeze(1)).sum(-1)))
    if memory is not None:
        memory[b.shape] = b.detach()
    return v


def margin_loss(
    lengths: Tensor,
    labels: Tensor,
    *,
    lengths_of: Callable[[Tensor], Tensor] = lambda lengths: lengths,
    floor: tuple[bool, bool] = (True, True),
    power: tuple[int, int] = (2, 2),
    lambda_: float = 0.5,
    over_classes: Callable[[Tensor], Tensor] = lambda terms: terms.sum(dim=1),
    over_batch: Callable[[Tensor], Tensor] = lambda losses: losses.mean(dim=0),
    factor: float = 1.0,
) -> Tensor:
    """Equation 4. lengths: [B, J]; labels: [B]; floor, power: of the present and the absent classes' margins."""
    lengths = lengths_of(lengths)
    present = F.one_hot(labels, lengths.shape[1]).to(lengths)
    missing = (0.9 - lengths, lengths - 0.1)
    floored = (margin.relu() if zero else margin for margin, zero in zip(missing, floor, strict=True))
    present_term, absent_term = (margin**k for margin, k in zip(floored, power, strict=True))
    terms = present * present_term + lambda_ * (1 - present) * absent_term
    return factor * over_batch(over_classes(terms))


def mask(v: Tensor, labels: Tensor | None = None, *, by_prediction: bool = False) -> Tensor:
    """One capsule of each image is kept: the labelled one if there is a label, or always the longest. v: [B, J, D]."""
    keep = v.norm(dim=-1).argmax(dim=1) if labels is None or by_prediction else labels
    return v * F.one_hot(keep, v.shape[1]).to(v).unsqueeze(-1)


def reconstruction_loss(
    reconstruction: Tensor,
    images: Tensor,
    *,
    over_pixels: Callable[[Tensor], Tensor] = lambda squared: squared.sum(dim=1),
    over_batch: Callable[[Tensor], Tensor] = lambda losses: losses.mean(dim=0),
    weight: float = RECONSTRUCTION_WEIGHT,
) -> Tensor:
    """Section 4.1, the weight included. reconstruction: [B, P]; images: [B, 1, H, W]."""
    squared = (reconstruction - images.flatten(1)).square()
    return weight * over_batch(over_pixels(squared))
