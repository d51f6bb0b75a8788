"""Deviations: what people write instead of a line of `pieces`, and the bug of the catalogue that it amounts to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from capsnet_book.bugs import pieces
from capsnet_book.bugs.catalogue import BUGS
from capsnet_book.bugs.pieces import Axes
from capsnet_tutorial.errors import expect


class Deviation(NamedTuple):
    """Another value for one argument of a piece."""

    option: str
    """Name of the argument."""
    value: Any
    """Its value; a type stands for a new object of it."""
    bug: str | None
    """Id of the catalogue; None for a fault that is not in it."""
    description: str
    """What is wrong, in a few words."""
    convention: bool = False
    """Whether it is a habit that works as well."""


class Piece(NamedTuple):
    """A piece of the network, and how it is got wrong."""

    function: Callable[..., Tensor]
    deviations: tuple[Deviation, ...]


def _over(bug: str, descriptions: Mapping[Axes, str], option: str = "over") -> tuple[Deviation, ...]:
    """Squash along wrong axes."""
    return tuple(Deviation(option, axes, bug, text) for axes, text in descriptions.items())


_UNIT_OVER = _over(
    "squash-axis",
    {
        (1,): "the direction is divided by a length over the capsules",
        (0,): "the direction is divided by a length over the batch",
        (2,): "the direction is a capsule's own, the length is not",
    },
    option="unit_over",
)
_UNSAFE = Deviation("safe", False, "squash-nan", "no floor under the root")

_SQUASH = (
    *_over(
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
)

_PRIMARY_CAPSULES = (
    Deviation("group", lambda features, dim: features.reshape(len(features), -1, dim), "capsule-view", "a bare view"),
    *_over("squash-axis", {(1,): "over the capsules", (): "every number by itself"}),
    _UNSAFE,
)

_ROUTING = (
    Deviation("couplings", lambda b: b.softmax(dim=1), "softmax-axis", "over i, the layer below"),
    Deviation("couplings", lambda b: b.softmax(dim=0), "softmax-axis", "over the batch"),
    Deviation("couplings", lambda b: b.flatten(1).softmax(dim=1).view_as(b), "softmax-axis", "over i and j together"),
    Deviation("couplings", torch.ones_like, "softmax-axis", "over an axis of size 1, so that every coupling is 1"),
    Deviation("couplings", lambda b: b.flatten(0, 1).softmax(dim=0).view_as(b), "softmax-axis", "over the batch and i"),
    Deviation("couplings", lambda b: b.flatten().softmax(dim=0).view_as(b), "softmax-axis", "over everything"),
    Deviation(
        "agreement",
        lambda a: a.mean(dim=0, keepdim=True).expand_as(a),
        "batch-agreement",
        "the agreement is averaged over the batch",
    ),
    Deviation(
        "agreement",
        lambda a: a.sum(dim=0, keepdim=True).expand_as(a),
        "batch-agreement",
        "the agreement is summed over the batch",
    ),
    Deviation(
        "agreement", lambda a: a[:1].expand_as(a), "batch-agreement", "the first image's agreement counts for all"
    ),
    Deviation("rounds", lambda r: max(r - 1, 1), "no-update-rounds", "there is one round too few"),
    Deviation("rounds", lambda r: 1, "no-update-rounds", "b is never updated: every round has the same couplings"),
    Deviation("rounds", lambda r: r + 1, None, "there is one round too many"),
    *_over(
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
    Deviation("heard", lambda s, v: s, None, "the predictions are compared with s, which is not squashed yet"),
    Deviation("update", lambda b, a: a, None, "b is replaced by the agreement instead of added to"),
    Deviation("memory", dict, "stale-logits", "b is kept from call to call"),
    _UNSAFE,
)

_SUMMED = Deviation(
    "over_batch",
    lambda losses: losses.sum(dim=0),
    None,
    "the sum over the images instead of their mean, which is as good where the other loss is summed too",
    convention=True,
)

_MARGIN_LOSS = (
    Deviation("power", (1, 1), "margin-not-squared", "neither margin is squared"),
    Deviation("power", (1, 2), "margin-not-squared", "the present class's margin is not squared"),
    Deviation("power", (2, 1), "margin-not-squared", "the absent classes' margins are not squared"),
    Deviation("floor", (False, False), None, "no margin stops at 0, so what is long or short enough costs again"),
    Deviation("floor", (False, True), None, "the present class's margin does not stop at 0"),
    Deviation("floor", (True, False), None, "the absent classes' margins do not stop at 0"),
    Deviation("lengths_of", lambda lengths: lengths.softmax(dim=1), "lengths-softmax", "a softmax of the lengths"),
    Deviation("lengths_of", torch.square, None, "the lengths are squared inside the margins, ‖v‖² in place of ‖v‖"),
    Deviation("over_classes", lambda terms: terms.mean(dim=1), None, "the mean over the classes instead of their sum"),
    _SUMMED,
    Deviation("lambda_", 1.0, None, "λ is missing"),
    Deviation("factor", 0.5, None, "half of it"),
)

_MASK = (Deviation("by_prediction", True, "mask-prediction", "the longest capsule, label or not"),)

_RECONSTRUCTION_LOSS = (
    Deviation(
        "over_pixels",
        lambda squared: squared.mean(dim=1),
        "recon-mean",
        "the mean over the pixels instead of their sum",
    ),
    _SUMMED,
    Deviation("weight", 1.0, None, "0.0005 is missing"),
)

PIECES: dict[str, Piece] = {
    "squash": Piece(pieces.squash, _SQUASH),
    "primary_capsules": Piece(pieces.primary_capsules, _PRIMARY_CAPSULES),
    "routing": Piece(pieces.route, _ROUTING),
    "margin_loss": Piece(pieces.margin_loss, _MARGIN_LOSS),
    "mask": Piece(pieces.mask, _MASK),
    "reconstruction_loss": Piece(pieces.reconstruction_loss, _RECONSTRUCTION_LOSS),
}
"""Every piece that can be checked."""


def piece_of(bug: str) -> str:
    """The piece that a bug of the catalogue is in: routing, if it can be there.

    Raises:
        ValueError: no such bug.
    """
    expect(bug in BUGS, f"a bug, one of {', '.join(BUGS)}", repr(bug))
    found = [name for name, piece in PIECES.items() if bug in {each.bug for each in piece.deviations}]
    return "routing" if "routing" in found else found[0]


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
    made = deviating(function, (first[bug] for bug in bugs))
    made.__name__ = ", ".join(bugs) or piece  # type: ignore[attr-defined]  # what a weights file calls it
    return made


def deviating(function: Callable[..., Tensor], deviations: Iterable[Deviation]) -> Callable[..., Tensor]:
    """The function with these deviations. A value that is a type is made anew: what a function keeps is its own."""
    settings = {each.option: each.value() if isinstance(each.value, type) else each.value for each in deviations}
    return partial(function, **settings)
