"""The mistakes that public capsule networks make, each with a name, and each runnable by that name.

Everything in this file is wrong on purpose. The checkers (`capsnet_tutorial.check`) recognise a mistake by comparing
a function with these; the tests plant them; the book shows what they do. `variant("routing", "softmax-axis")` is a
routing with that mistake, `variant("routing")` one without any.

Each piece is written once, with an option for everything that is known to go wrong in it. A `Deviation` is a setting
of such an option, with the bug that it amounts to, or with None where it is a fault outside the catalogue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from capsnet_tutorial.errors import expect
from capsnet_tutorial.functional import RECONSTRUCTION_WEIGHT

Axes = tuple[int, ...]


class Bug(NamedTuple):
    """An entry of the catalogue."""

    title: str
    """What is wrong, in a sentence."""
    advice: str
    """What to look for in the code, and what to do."""
    paper: str
    """What the paper says."""


BUGS: dict[str, Bug] = {
    "softmax-axis": Bug(
        "The softmax of the couplings runs over the wrong axis.",
        "Each capsule below shares itself out among the capsules above: for every i, the c_ij sum to 1 over j. If it "
        "no longer learns once the axis is right, look at the start: W drawn with standard deviation 1 saturates the "
        "squash; 0.01 to 0.1 trains.",
        "Equation 3: c_ij = exp(b_ij) / Σ_k exp(b_ik), k over the layer above.",
    ),
    "margin-not-squared": Bug(
        "The margins are not squared.",
        "max(0, m⁺ − ‖v‖) and max(0, ‖v‖ − m⁻) are squared, each by itself.",
        "Equation 4: L_k = T_k max(0, m⁺ − ‖v_k‖)² + λ (1 − T_k) max(0, ‖v_k‖ − m⁻)².",
    ),
    "recon-mean": Bug(
        "The reconstruction loss is a mean over the pixels: 784 times too weak.",
        "Sum the squared differences over an image's pixels, and only then average over the images. 0.0005 was chosen "
        "for the sum.",
        "Section 4.1: the sum of squared differences, scaled down by 0.0005.",
    ),
    "mask-prediction": Bug(
        "The decoder is masked by the prediction although the label is known.",
        "In training keep the capsule of the true label, whichever is longest; only without labels keep the longest. "
        "Otherwise every misread digit teaches the wrong capsule to draw it.",
        "Section 4.1: during training, all but the activity vector of the correct digit capsule are masked out.",
    ),
    "capsule-view": Bug(
        "A capsule mixes numbers from several places of the image.",
        "`.view(B, -1, dim)` on [B, C, H, W] takes neighbours along W. Split the channels first, "
        "[B, types, dim, H, W], then move dim to the end.",
        "Section 4: each primary capsule has 8 convolutional units, which look at one and the same place.",
    ),
    "squash-nan": Bug(
        "The zero vector becomes nan, or its gradient does.",
        "0/0 where the length is divided by, or the square root's infinite slope at 0. The floor belongs under the "
        "root: (s * s).sum(-1, keepdim=True).clamp_min(eps**2).sqrt(). A floor added after the root, or a torch.where "
        "afterwards, mends the value and not the gradient.",
        "Equation 1; at s = 0 its limit is 0.",
    ),
    "squash-axis": Bug(
        "Squash measures the length along the wrong axis.",
        "The length is that of one capsule: along its own numbers, the last axis. With a trailing axis of size 1, "
        "dim=-1 squashes every number by itself.",
        "Equation 1: v_j = ‖s_j‖² / (1 + ‖s_j‖²) · s_j / ‖s_j‖, for each capsule j.",
    ),
    "batch-agreement": Bug(
        "The images of a batch share their routing.",
        "b belongs to one image: its shape is [B, I, J], and nothing in routing is averaged or summed over the batch.",
        "Procedure 1 routes one image: b_ij is 0 at its start.",
    ),
    "stale-logits": Bug(
        "The routing logits survive from call to call.",
        "Start with b = 0 in every call; b is neither a parameter nor an attribute that is written to.",
        "Procedure 1, line 2: for all i and j, b_ij is set to 0.",
    ),
    "lengths-softmax": Bug(
        "A softmax is applied to the lengths before the margin loss.",
        "The lengths are probabilities already, one for each class; they need not sum to 1.",
        "Equation 4 takes ‖v_k‖ itself.",
    ),
    "no-update-rounds": Bug(
        "The logits are not updated, or in one round too few.",
        "With r rounds, the agreement is added to b r − 1 times: once between any two rounds.",
        "Procedure 1, line 7: b_ij becomes b_ij + û_j|i · v_j, in every round.",
    ),
}
"""The catalogue: id to what is wrong."""


class Deviation(NamedTuple):
    """One way of getting a piece wrong: a setting of one option."""

    option: str
    value: Any
    bug: str | None
    """Id of the catalogue; None for a fault that is not in it."""
    says: str
    """What it is, in a few words."""


# --- the pieces, with everything that goes wrong in them


def squash(s: Tensor, *, over: Axes = (-1,), unit_over: Axes | None = None, safe: bool = True) -> Tensor:
    """Equation 1 with the length taken over some axes, and with or without a floor under the root.

    ``unit_over``: the axes of the length that s is divided by, where they are others.
    """
    squared = _squared_length(s, over)
    divisor = squared if unit_over is None else _squared_length(s, unit_over)
    return squared / (1 + squared) * s / (divisor.clamp_min(1e-16) if safe else divisor).sqrt()


def _squared_length(s: Tensor, over: Axes) -> Tensor:
    return (s * s).sum(over, keepdim=True) if over else s * s


def primary_capsules(
    features: Tensor, dim: int, *, mixed: bool = False, over: Axes | None = (-1,), safe: bool = True
) -> Tensor:
    """[B, types·dim, H, W] to [B, types·H·W, dim], squashed; ``mixed`` by a bare view, ``over`` other axes."""
    if mixed:
        u = features.reshape(len(features), -1, dim)
    else:
        u = features.unflatten(1, (-1, dim)).permute(0, 1, 3, 4, 2).flatten(1, 3)
    return u if over is None else squash(u, over=over, safe=safe)


def route(
    u_hat: Tensor,
    iterations: int,
    *,
    softmax_over: Axes = (2,),
    agree: str = "own",
    rounds: str = "all",
    over: Axes | None = (2,),
    unit_over: Axes | None = None,
    safe: bool = True,
    update: str = "added",
    memory: dict[Any, Tensor] | None = None,
) -> Tensor:
    """Procedure 1 with its slips.

    Args:
        u_hat: [B, I, J, D].
        iterations: r.
        softmax_over: axes of b [B, I, J] over which couplings sum to 1; () an axis of size 1: all couplings are 1.
        agree: "own"; "sum" or "mean" over the batch; "first": that of the first image.
        rounds: "all"; "one less"; "one more"; "never": b is not updated.
        over: axes of s [B, J, D] along which squash measures; None: no squash.
        unit_over: as in `squash`.
        safe: whether squash survives the zero vector.
        update: "added" to b; "replaced": b is the last agreement alone.
        memory: where b is kept from call to call.

    Returns:
        [B, J, D].
    """
    b = torch.zeros_like(u_hat[..., 0])
    if memory is not None:
        b = memory.get(b.shape, b).to(b)
    for _ in range({"all": iterations, "one less": max(iterations - 1, 1), "one more": iterations + 1}.get(rounds, 1)):
        if softmax_over:
            weights = (b - b.amax(softmax_over, keepdim=True)).exp()  # logits that are never set back overflow else
            c = weights / weights.sum(softmax_over, keepdim=True)
        else:
            c = torch.ones_like(b)
        s = (c.unsqueeze(-1) * u_hat).sum(1)
        v = s if over is None else squash(s, over=over, unit_over=unit_over, safe=safe)
        a = (u_hat * v.unsqueeze(1)).sum(-1)
        if agree != "own":
            shared = a[:1] if agree == "first" else getattr(a, agree)(0, keepdim=True)
            a = shared.expand_as(a)
        b = a if update == "replaced" else b + a
    if memory is not None:
        memory[b.shape] = b.detach()
    return v


def margin_loss(
    lengths: Tensor,
    labels: Tensor,
    *,
    power: tuple[int, int] = (2, 2),
    softmax: bool = False,
    over_classes: str = "sum",
    over_batch: str = "mean",
    lambda_: float = 0.5,
    factor: float = 1.0,
) -> Tensor:
    """Equation 4 with its slips. lengths: [B, J]; labels: [B]; power: of present and absent margins."""
    if softmax:
        lengths = lengths.softmax(dim=1)
    present = torch.nn.functional.one_hot(labels, lengths.shape[1]).to(lengths)
    present_term, absent_term = (0.9 - lengths).relu() ** power[0], (lengths - 0.1).relu() ** power[1]
    terms = present * present_term + lambda_ * (1 - present) * absent_term
    return factor * getattr(getattr(terms, over_classes)(1), over_batch)(0)


def mask(v: Tensor, labels: Tensor | None = None, *, by: str = "label") -> Tensor:
    """One capsule of each image is kept: the labelled one if there is a label, or always the longest."""
    keep = v.norm(dim=-1).argmax(dim=1) if labels is None or by == "prediction" else labels
    return v * torch.nn.functional.one_hot(keep, v.shape[1]).to(v).unsqueeze(-1)


def reconstruction_loss(
    reconstruction: Tensor,
    images: Tensor,
    *,
    over_pixels: str = "sum",
    over_batch: str = "mean",
    weight: float = RECONSTRUCTION_WEIGHT,
) -> Tensor:
    """Section 4.1 with its slips, the weight included. reconstruction: [B, P]; images: [B, 1, H, W]."""
    squared = (reconstruction - images.flatten(1)).square()
    return weight * getattr(getattr(squared, over_pixels)(1), over_batch)(0)


class Piece(NamedTuple):
    """A piece of the network, and how it is got wrong."""

    function: Callable[..., Tensor]
    deviations: tuple[Deviation, ...]


def _over(option: str, bug: str, says: Mapping[Axes, str]) -> tuple[Deviation, ...]:
    return tuple(Deviation(option, axes, bug, text) for axes, text in says.items())


_UNIT_OVER = _over(
    "unit_over",
    "squash-axis",
    {
        (1,): "the direction is divided by a length over the capsules",
        (0,): "the direction is divided by a length over the batch",
        (2,): "the direction is a capsule's own, the length is not",
    },
)
_UNSAFE = Deviation("safe", False, "squash-nan", "no floor under the root")

PIECES: dict[str, Piece] = {
    "squash": Piece(
        squash,
        (
            *_over(
                "over",
                "squash-axis",
                {
                    (1,): "over the capsules",
                    (0,): "over the batch",
                    (): "every number by itself",
                    (1, 2): "over all numbers of an image",
                    (0, 1): "over the batch and the capsules",
                    (0, 2): "over a capsule's numbers in all images",
                    (0, 1, 2): "over everything",
                },
            ),
            *_UNIT_OVER,
            _UNSAFE,
        ),
    ),
    "primary_capsules": Piece(
        primary_capsules,
        (
            Deviation("mixed", True, "capsule-view", "a bare view"),
            *_over("over", "squash-axis", {(1,): "over the capsules", (): "every number by itself"}),
            _UNSAFE,
        ),
    ),
    "routing": Piece(
        route,
        (
            *_over(
                "softmax_over",
                "softmax-axis",
                {
                    (1,): "over i, the layer below",
                    (0,): "over the batch",
                    (1, 2): "over i and j together",
                    (): "over an axis of size 1, so that every coupling is 1",
                    (0, 1): "over the batch and i",
                    (0, 1, 2): "over everything",
                },
            ),
            Deviation("agree", "mean", "batch-agreement", "the agreement is averaged over the batch"),
            Deviation("agree", "sum", "batch-agreement", "the agreement is summed over the batch"),
            Deviation("agree", "first", "batch-agreement", "the first image's agreement counts for all"),
            Deviation("rounds", "one less", "no-update-rounds", "there is one round too few"),
            Deviation("rounds", "never", "no-update-rounds", "b is never updated: every round has the same couplings"),
            Deviation("rounds", "one more", None, "there is one round too many"),
            *_over(
                "over",
                "squash-axis",
                {
                    (1,): "over the capsules above",
                    (): "every number by itself",
                    (0,): "over the batch",
                    (1, 2): "over all numbers of an image",
                    (0, 1, 2): "over everything",
                },
            ),
            *_UNIT_OVER,
            Deviation("over", None, None, "nothing is squashed"),
            Deviation("update", "replaced", None, "b is replaced by the agreement instead of added to"),
            Deviation("memory", dict, "stale-logits", "b is kept from call to call"),
            _UNSAFE,
        ),
    ),
    "margin_loss": Piece(
        margin_loss,
        (
            Deviation("power", (1, 1), "margin-not-squared", "neither margin is squared"),
            Deviation("power", (1, 2), "margin-not-squared", "the present class's margin is not squared"),
            Deviation("power", (2, 1), "margin-not-squared", "the absent classes' margins are not squared"),
            Deviation("softmax", True, "lengths-softmax", "a softmax of the lengths"),
            Deviation("over_classes", "mean", None, "the mean over the classes instead of their sum"),
            Deviation("over_batch", "sum", None, "the sum over the images instead of their mean"),
            Deviation("lambda_", 1.0, None, "λ is missing"),
            Deviation("factor", 0.5, None, "half of it"),
        ),
    ),
    "mask": Piece(mask, (Deviation("by", "prediction", "mask-prediction", "the longest capsule, label or not"),)),
    "reconstruction_loss": Piece(
        reconstruction_loss,
        (
            Deviation("over_pixels", "mean", "recon-mean", "the mean over the pixels instead of their sum"),
            Deviation("over_batch", "sum", None, "the sum over the images instead of their mean"),
            Deviation("weight", 1.0, None, "0.0005 is missing"),
        ),
    ),
}
"""Every piece that can be checked."""


def variant(piece: str, *bugs: str) -> Callable[..., Tensor]:
    """A fresh function with these bugs and no other, each in the form in which it is met most often.

    Args:
        piece: "squash", "primary_capsules", "routing", "margin_loss", "mask" or "reconstruction_loss".
        bugs: ids of `BUGS` that this piece can have.

    Raises:
        ValueError: no such piece, or a bug that it cannot have.
    """
    expect(piece in PIECES, f"a piece, one of {', '.join(PIECES)}", repr(piece))
    function, deviations = PIECES[piece]
    first = {each.bug: each for each in reversed(deviations) if each.bug}
    for bug in bugs:
        expect(bug in first, f"a bug that {piece} can have, one of {', '.join(reversed(first))}", repr(bug))
    return deviating(function, (first[bug] for bug in bugs))


def deviating(function: Callable[..., Tensor], deviations: Iterable[Deviation]) -> Callable[..., Tensor]:
    """The function with its options set so. A value that is a type is made anew: what a function keeps is its own."""
    settings = {each.option: each.value() if isinstance(each.value, type) else each.value for each in deviations}
    return partial(function, **settings)
