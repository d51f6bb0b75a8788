"""Known ways to get a line wrong: other values for the options of the pieces in `variants`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from capsnet_check.report import Finding
from capsnet_tutorial.functional import margin_loss, squash


class Deviation(NamedTuple):
    """Another value for one option of a piece."""

    option: str
    value: Any
    bug: str | None
    """An id of the catalogue; None for a fault that is not in it."""
    description: str
    """The fault in a few words."""
    convention: bool = False
    """Whether it is a habit that works as well."""
    alone: bool = False
    """Whether it is tried by itself only: combinations of slips take time."""

    def finding(self, line: str = "") -> Finding:
        """Return the finding, with the line of code to blame."""
        if self.convention:
            text = f"Not as in the paper, and as good: {self.description}."
        elif self.bug:
            text = f"Here: {self.description}."
        else:
            text = f"Not as in the paper: {self.description}."
        return Finding(self.bug, text, self.convention, topic=self.option, line=line)


def _named(bug: str, option: str, values: dict[str, Any]) -> list[Deviation]:
    """Return the deviations of one bug, from a description to the option's value."""
    return [Deviation(option, value, bug, description) for description, value in values.items()]


def _slips(option: str, values: dict[str, Any]) -> list[Deviation]:
    """Return everyday slips that are not in the catalogue, from a description to the value."""
    return [
        Deviation(option, value, None, description, alone=True)
        for description, value in values.items()
    ]


def _root(squares: Tensor) -> Tensor:
    return squares.clamp_min(1e-16).sqrt()


_OVER = {
    "over the capsules": (1,),
    "over the batch": (0,),
    "every number by itself": (),
    "over all numbers of an image": (1, 2),
    "over everything": (0, 1, 2),
}
_UNIT_OVER = {
    "the direction is divided by a length over the capsules": (1,),
    "the direction is a capsule's own, the length is not": (2,),
}
_SQUASH = [
    *_named("squash-axis", "over", _OVER),
    *_named("squash-axis", "unit_over", _UNIT_OVER),
]

_SQUASHED_LENGTH = {
    "neither length of the fraction is squared: ‖s‖ / (1 + ‖s‖)": (
        lambda square: _root(square) / (1 + _root(square))
    ),
    "a square is missing: ‖s‖ above the line, or ‖s‖² in s / ‖s‖": (
        lambda square: _root(square) / (1 + square)
    ),
    "the length below the line is not squared: 1 + ‖s‖": (
        lambda square: square / (1 + _root(square))
    ),
    "the 1 + is missing, so that every capsule gets the length 1": torch.ones_like,
    "the 1 + is missing, and s is not divided by its length": _root,
    "‖s‖² is not divided by 1 + ‖s‖²": lambda square: square,
    "1 − ‖s‖² below the line, where 1 + ‖s‖² belongs": lambda square: square / (1 - square),
    "the tanh of the length, not ‖s‖² / (1 + ‖s‖²)": lambda square: _root(square).tanh(),
    "0.5 + ‖s‖² below the line, where 1 + ‖s‖² belongs": lambda square: square / (0.5 + square),
    "the root of 1 + ‖s‖² below the line": lambda square: square / (1 + square).sqrt(),
    "‖s‖ / √(1 + ‖s‖²), not ‖s‖² / (1 + ‖s‖²)": (
        lambda square: _root(square) / (1 + square).sqrt()
    ),
    "1 above the line, where ‖s‖² belongs": lambda square: 1 / (1 + square),
    "1 − exp(−‖s‖), not ‖s‖² / (1 + ‖s‖²)": lambda square: 1 - (-_root(square)).exp(),
    "1 − exp(−‖s‖²), not ‖s‖² / (1 + ‖s‖²)": lambda square: 1 - (-square).exp(),
    "a sigmoid of the length, not ‖s‖² / (1 + ‖s‖²)": lambda square: _root(square).sigmoid(),
    "a sigmoid of ‖s‖², not ‖s‖² / (1 + ‖s‖²)": torch.sigmoid,
    "the length is cut at 1, not squashed": lambda square: _root(square).clamp_max(1),
    "‖s‖² is cut at 1, not squashed": lambda square: square.clamp_max(1),
}


def _squared(s: Tensor) -> Tensor:
    return (s * s).sum(dim=-1, keepdim=True)


def _squash_by(square: Tensor, s: Tensor) -> Tensor:
    """Return squash with another number in every place of ‖s‖²."""
    return square / (1 + square) * s / _root(square)


def _without_brackets(s: Tensor) -> Tensor:
    """Return what q / 1 + q * s / length gives, where q is ‖s‖²."""
    square = _squared(s)
    return square + square * s / _root(square)


def _after_a_relu(s: Tensor) -> Tensor:
    """Return squash without its negative numbers."""
    square = _squared(s)
    return square / (1 + square) * s.relu() / _root(square)


def _with_its_length(s: Tensor) -> Tensor:
    """Return squash with a multiplication by ‖s‖ in place of the division."""
    square = _squared(s)
    return square / (1 + square) * s * _root(square)


def _above_a_floor(floor: float) -> Callable[[Tensor], Tensor]:
    """Return squash that divides by the root of at least this number."""

    def squash_above(s: Tensor) -> Tensor:
        square = _squared(s)
        return square / (1 + square) * s / square.clamp_min(floor).sqrt()

    return squash_above


_INSTEAD_OF_SQUASH = {
    "the square of the sum stands for ‖s‖², the sum of the squares": (
        lambda s: _squash_by(s.sum(dim=-1, keepdim=True).square(), s)
    ),
    "the brackets around 1 + ‖s‖² are missing": _without_brackets,
    "a ReLU, so that no number of v is negative": _after_a_relu,
    "a tanh of each number, not a squash of the vector": torch.tanh,
    "a softmax of the numbers, not a squash of the vector": lambda s: s.softmax(dim=-1),
    "a sigmoid of each number, not a squash of the vector": torch.sigmoid,
    "a ReLU, not a squash of the vector": torch.relu,
    "squash is applied twice": lambda s: squash(squash(s)),
    "s is multiplied by its length, not divided by it": _with_its_length,
    "the length stands for ‖s‖², its square": lambda s: _squash_by(_root(_squared(s)), s),
    "the sum of the absolute numbers stands for ‖s‖², the sum of the squares": (
        lambda s: _squash_by(s.abs().sum(dim=-1, keepdim=True), s)
    ),
    "the floor under the root is 1, so vectors shorter than 1 become too short": _above_a_floor(1),
    "the floor under the root is 0.01, so vectors shorter than 0.1 become too short": (
        _above_a_floor(0.01)
    ),
}
_SQUASH_SLIPS = [
    *_slips("squashed_length", _SQUASHED_LENGTH),
    *_slips(
        "of_squares",
        {
            "the mean of the squares stands for ‖s‖², their sum": torch.mean,
            "the largest square stands for ‖s‖², their sum": torch.amax,
        },
    ),
    *_slips("instead", _INSTEAD_OF_SQUASH),
]

NO_COUPLINGS = torch.ones_like
"""Couplings that are 1 whatever b is: there are no rounds to count."""

_COUPLINGS = {
    "over i, the layer below": lambda b: b.softmax(dim=1),
    "over the batch": lambda b: b.softmax(dim=0),
    "over i and j together": lambda b: b.flatten(1).softmax(dim=1).view_as(b),
    "over an axis of size 1, so that every coupling is 1": NO_COUPLINGS,
    "over the batch and i": lambda b: b.flatten(0, 1).softmax(dim=0).view_as(b),
    "over everything": lambda b: b.flatten().softmax(dim=0).view_as(b),
}
_AGREEMENT = {
    "the agreement is averaged over the batch": lambda a: a.mean(0, keepdim=True).expand_as(a),
    "the agreement is summed over the batch": lambda a: a.sum(0, keepdim=True).expand_as(a),
    "the first image's agreement counts for all": lambda a: a[:1].expand_as(a),
}
_ROUTING = [
    *_named("softmax-axis", "couplings", _COUPLINGS),
    Deviation(
        "couplings",
        torch.sigmoid,
        None,
        "a sigmoid in place of the softmax: the shares need not sum to 1",
    ),
    *_named("batch-agreement", "agreement", _AGREEMENT),
    *_SQUASH,
    Deviation("over", None, None, "nothing is squashed"),
    Deviation(
        "compared",
        lambda s, v: s,
        None,
        "the predictions are compared with s, which is not squashed yet",
    ),
    Deviation("returned", lambda s, v: s, None, "it returns s, which is not squashed yet"),
    Deviation("update", lambda b, a: a, None, "b is replaced by the agreement instead of added to"),
    Deviation(
        "update",
        lambda b, a: b - a,
        None,
        "the agreement is subtracted from b instead of added to it",
    ),
    *_slips(
        "couplings",
        {
            "there is no softmax: b, which begins at 0, weighs the votes": lambda b: b,
            "the exponentials of b are not divided by their sum": torch.exp,
            "c is the logarithm of the softmax": lambda b: b.log_softmax(dim=2),
            "two softmaxes, one after the other": lambda b: b.softmax(dim=2).softmax(dim=2),
            "b is halved in the softmax": lambda b: (b / 2).softmax(dim=2),
            "b goes through a tanh before the softmax": lambda b: b.tanh().softmax(dim=2),
            "the exponentials of b are divided by their root of squares, not by their sum": (
                lambda b: F.normalize(b.exp(), dim=2)
            ),
            "each part gives everything to one whole: an argmax in place of the softmax": (
                lambda b: F.one_hot(b.argmax(dim=2), b.shape[2]).to(b)
            ),
            "the shares that a whole gets are divided by their sum": (
                lambda b: b.softmax(dim=2) / b.softmax(dim=2).sum(dim=1, keepdim=True)
            ),
            "the shares are squared": lambda b: b.softmax(dim=2).square(),
        },
    ),
    *_slips(
        "agreement",
        {
            "a ReLU on the agreement: a vote that contradicts must count, too": torch.relu,
            "the agreement has lost its sign": torch.abs,
            "the agreement is squared": torch.square,
            "a tanh on the agreement": torch.tanh,
            "a sigmoid on the agreement": torch.sigmoid,
            "an exponential of the agreement": torch.exp,
            "a softmax of the agreement is added to b": lambda a: a.softmax(dim=2),
            "the agreement is cut to 0 to 1": lambda a: a.clamp(0, 1),
            "half the agreement is added to b": lambda a: a / 2,
            "the agreement is divided by 4, the √D of attention": lambda a: a / 4,
            "a tenth of the agreement is added to b": lambda a: a / 10,
            "the agreement is divided by the number of parts": lambda a: a / a.shape[1],
            "the agreement is averaged over the parts": (
                lambda a: a.mean(dim=1, keepdim=True).expand_as(a)
            ),
        },
    ),
    *_slips(
        "update",
        {
            "twice the agreement is added to b": lambda b, a: b + 2 * a,
            "half of b is forgotten in every round": lambda b, a: b / 2 + a,
            "a ReLU on b, so that no logit is negative": lambda b, a: (b + a).relu(),
            "the agreement is added to c, not to b": lambda b, a: b.softmax(dim=2) + a,
            "b itself goes through the softmax": lambda b, a: (b + a).softmax(dim=2),
            "the agreement is multiplied by the coupling before it is added": (
                lambda b, a: b + b.softmax(dim=2) * a
            ),
        },
    ),
    *_slips("returned", {"v is squashed twice": lambda s, v: squash(v)}),
    *_slips(
        "gathered",
        {
            "the mean over the parts instead of their sum": lambda votes: votes.mean(1),
            "the largest over the parts instead of their sum": lambda votes: votes.amax(1),
            "a ReLU on the sum of the votes": lambda votes: votes.sum(1).relu(),
        },
    ),
    *_slips(
        "products",
        {
            "the agreement is a cosine, without the lengths": (
                lambda u_hat, v: F.cosine_similarity(u_hat, v, dim=-1)
            ),
            "the agreement is a mean of the products instead of their sum": (
                lambda u_hat, v: (u_hat * v).mean(-1)
            ),
            "the agreement is a negative distance": lambda u_hat, v: -(u_hat - v).norm(dim=-1),
            "the agreement is a negative squared distance": (
                lambda u_hat, v: -(u_hat - v).square().sum(dim=-1)
            ),
            "the length of v is added to b, whatever the vote": (
                lambda u_hat, v: v.norm(dim=-1).expand(u_hat.shape[:3])
            ),
            "the length of the vote is added to b, whatever v": (
                lambda u_hat, v: u_hat.norm(dim=-1)
            ),
            "the agreement is a distance: the farther, the more": (
                lambda u_hat, v: (u_hat - v).norm(dim=-1)
            ),
            "û and v are added, not multiplied": lambda u_hat, v: (u_hat + v).sum(dim=-1),
            "the largest of the products instead of their sum": (
                lambda u_hat, v: (u_hat * v).amax(dim=-1)
            ),
            "the votes in the agreement are made 1 long": (
                lambda u_hat, v: (F.normalize(u_hat, dim=-1) * v).sum(dim=-1)
            ),
            "v in the agreement is made 1 long": (
                lambda u_hat, v: (u_hat * F.normalize(v, dim=-1)).sum(dim=-1)
            ),
            "the votes in the agreement are squashed": (
                lambda u_hat, v: (squash(u_hat) * v).sum(dim=-1)
            ),
        },
    ),
    *_SQUASH_SLIPS,
]


def _of_the_longest(lengths: Tensor, present: Tensor) -> Tensor:
    """Return the margin loss with the network's own answers in place of the labels."""
    return margin_loss(lengths, lengths.argmax(dim=1))


def _of_absolute_distances(lengths: Tensor, present: Tensor) -> Tensor:
    """Return the margin loss with absolute values in place of floors and squares."""
    distances = present * (0.9 - lengths).abs() + 0.5 * (1 - present) * (lengths - 0.1).abs()
    return distances.sum(dim=1).mean()


_LAMBDAS = {f"λ is {value}, not 0.5": value for value in (0.05, 0.1, 0.25, 2.0)}
_MARGINS = {
    "0.9 and 0.1 are swapped": (0.1, 0.9),
    "m⁺ is 1, not 0.9": (1.0, 0.1),
    "m⁺ is 0.95, not 0.9": (0.95, 0.1),
    "m⁻ is 0, not 0.1": (0.9, 0.0),
    "m⁻ is 0.05, not 0.1": (0.9, 0.05),
    "m⁻ is 0.2, not 0.1": (0.9, 0.2),
    "the margins are 1 and 0, not 0.9 and 0.1": (1.0, 0.0),
    "both margins are 0.9": (0.9, 0.9),
    "both margins are 0.1": (0.1, 0.1),
    "both margins are 0.5": (0.5, 0.5),
}

_SUMMED = Deviation(
    "over_batch",
    lambda losses: losses.sum(dim=0),
    None,
    "a sum over the images, no mean",
    convention=True,
)
_POWER = {
    "neither margin is squared": (1, 1),
    "the present class's margin is not squared": (1, 2),
    "the absent classes' margins are not squared": (2, 1),
}
_MARGIN_LOSS = [
    *_named("margin-not-squared", "power", _POWER),
    Deviation(
        "floor",
        (False, False),
        None,
        "no margin stops at 0, so what is long or short enough costs again",
    ),
    Deviation("floor", (False, True), None, "the present class's margin does not stop at 0"),
    Deviation("floor", (True, False), None, "the absent classes' margins do not stop at 0"),
    Deviation(
        "lengths_of",
        lambda lengths: lengths.softmax(dim=1),
        "lengths-softmax",
        "a softmax of the lengths",
    ),
    Deviation(
        "lengths_of",
        torch.square,
        None,
        "the lengths are squared inside the margins, ‖v‖² in place of ‖v‖",
    ),
    Deviation(
        "over_classes",
        lambda terms: terms.mean(dim=1),
        None,
        "the mean over the classes instead of their sum",
    ),
    _SUMMED,
    Deviation("lambda_", 1.0, None, "λ is missing"),
    *_slips("power", {"the squares are squared again": (4, 4), "cubes, not squares": (3, 3)}),
    *_slips(
        "lengths_of",
        {
            "a sigmoid of the lengths": torch.sigmoid,
            "the root of the lengths": lambda lengths: lengths.clamp_min(1e-9).sqrt(),
            "the lengths are divided by their sum": (
                lambda lengths: lengths / lengths.sum(dim=1, keepdim=True)
            ),
            "the logarithm of a softmax of the lengths": (
                lambda lengths: lengths.log_softmax(dim=1)
            ),
        },
    ),
    *_slips("lambda_", _LAMBDAS),
    *_slips(
        "weights",
        {
            "λ weighs the class that is there, not the others": lambda T, λ: (λ * T, 1 - T),
            "λ weighs both halves": lambda T, λ: (λ * T, λ * (1 - T)),
            "(1 − T) is forgotten, so that the true class pays for its length, too": (
                lambda T, λ: (T, λ * torch.ones_like(T))
            ),
            "T is forgotten, so that every class pays for being short": (
                lambda T, λ: (torch.ones_like(T), λ * (1 - T))
            ),
            "T and (1 − T) are forgotten": (
                lambda T, λ: (torch.ones_like(T), λ * torch.ones_like(T))
            ),
            "T and (1 − T) are swapped": lambda T, λ: (1 - T, λ * T),
            "the two halves are swapped": lambda T, λ: (λ * (1 - T), T),
            "λ is squared, too": lambda T, λ: (T, λ * λ * (1 - T)),
            "T weighs both halves; the second has (1 − T)": lambda T, λ: (T, λ * T),
            "the labels are one too large: classes are counted from 0": (
                lambda T, λ: (T.roll(-1, 1), λ * (1 - T.roll(-1, 1)))
            ),
            "the number of the class stands for T, which is 1 or 0": (
                lambda T, λ: (T.argmax(1, True), λ * (1 - T.argmax(1, True)))
            ),
            "the half of the absent classes is missing": (lambda T, λ: (T, torch.zeros_like(T))),
            "the half of the class that is there is missing": (
                lambda T, λ: (torch.zeros_like(T), λ * (1 - T))
            ),
            "the second half is subtracted": lambda T, λ: (T, -λ * (1 - T)),
        },
    ),
    *_slips("margins", _MARGINS),
    *_slips(
        "direction",
        {
            "the differences are the other way round": (-1, -1),
            "the present class's difference is the other way round": (-1, 1),
            "the absent classes' difference is the other way round": (1, -1),
        },
    ),
    *_slips("joined", {"the two halves are multiplied by each other": torch.mul}),
    *_slips(
        "over_classes",
        {"the largest over the classes instead of their sum": lambda terms: terms.amax(dim=1)},
    ),
    *_slips(
        "over_batch",
        {
            "the root of the loss": lambda losses: losses.mean(dim=0).sqrt(),
            "the largest over the images, not the mean": torch.amax,
            "the median over the images, not the mean": torch.median,
        },
    ),
    *_slips(
        "instead",
        {
            "that is the cross-entropy of the lengths": F.cross_entropy,
            "that is the mean squared difference of lengths and one-hot labels": F.mse_loss,
            "T is made from the longest capsule, not from the label": _of_the_longest,
            "absolute values in place of floors and squares": _of_absolute_distances,
        },
    ),
]
_PIXELS = {"the mean over the pixels, not the sum": lambda squares: squares.mean(dim=1)}
_RECONSTRUCTION_LOSS = [
    *_named("recon-mean", "over_pixels", _PIXELS),
    _SUMMED,
    Deviation("weight", 1.0, None, "0.0005 is missing"),
    *_slips(
        "distance",
        {
            "absolute differences in place of squares": lambda r, x: (r - x).abs(),
            "the squares are squared again": lambda r, x: (r - x) ** 4,
            "the difference is not squared": lambda r, x: r - x,
            "that is the cross-entropy of the pixels": (
                lambda r, x: F.binary_cross_entropy(r, x, reduction="none")
            ),
            "drawing and image are added, not subtracted": lambda r, x: (r + x).square(),
            "a difference of squares, not the square of the difference": (
                lambda r, x: r.square() - x.square()
            ),
            "a sigmoid of the drawing, which comes out of one already": (
                lambda r, x: (r.sigmoid() - x).square()
            ),
            "the image is divided by 255 once more": lambda r, x: (r - x / 255).square(),
            "a ReLU on the difference: missing ink must cost, too": (
                lambda r, x: (r - x).relu().square()
            ),
            "the image is inverted, ink for paper": lambda r, x: (r - (1 - x)).square(),
            "the image has only 0 and 1": lambda r, x: (r - (x > 0.5).double()).square(),
            "the drawing is rounded to 0 and 1": lambda r, x: (r.round() - x).square(),
            "each difference is weighed by the image's ink": lambda r, x: x * (r - x).square(),
        },
    ),
    *_slips(
        "over_batch",
        {
            "the root of the sum over all images": lambda losses: losses.sum(dim=0).sqrt(),
            "the root of the mean over the images": lambda losses: losses.mean(dim=0).sqrt(),
            "the largest over the images, not the mean": torch.amax,
            "the median over the images, not the mean": torch.median,
        },
    ),
    *_slips(
        "over_pixels",
        {
            "the root of the sum of squares, not the sum": lambda squares: squares.sum(1).sqrt(),
            "the largest difference, not the sum": lambda squares: squares.amax(1),
        },
    ),
]

DEVIATIONS: dict[str, list[Deviation]] = {
    "squash": [
        *_SQUASH,
        Deviation("divided", False, None, "s is not divided by its length ‖s‖"),
        *_SQUASH_SLIPS,
    ],
    "routing": _ROUTING,
    "margin_loss": _MARGIN_LOSS,
    "mask": [],
    "reconstruction_loss": _RECONSTRUCTION_LOSS,
}
