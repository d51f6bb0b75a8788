"""The pieces of a capsule network with the lines that people get wrong as options, and what they write there instead.

A checker compares what a function returns with its piece as it should be, then with each wrong option, then with two
and more of them together: the fewest that explain the numbers are named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations, product
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from capsnet_check.report import Finding, described, rounded
from capsnet_tutorial.functional import RECONSTRUCTION_WEIGHT, mask_capsules


def squash(
    s: Tensor,
    *,
    over: tuple[int, ...] | None = (-1,),
    unit_over: tuple[int, ...] | None = None,
    divided: bool = True,
) -> Tensor:
    """Equation 1; over: axes of a length, None for no squash; unit_over: of the length in s / ‖s‖, if others."""
    if over is None:
        return s
    square = (s * s).sum(over, keepdim=True) if over else s * s
    unit = square if unit_over is None else (s * s).sum(unit_over, keepdim=True)
    return square / (1 + square) * s / (unit.clamp_min(1e-16).sqrt() if divided else 1)


def route(
    u_hat: Tensor,
    iterations: int,
    *,
    couplings: Callable[[Tensor], Tensor] = lambda b: b.softmax(dim=2),
    agreement: Callable[[Tensor], Tensor] = lambda a: a,
    heard: Callable[[Tensor, Tensor], Tensor] = lambda s, v: v,
    update: Callable[[Tensor, Tensor], Tensor] = lambda b, a: b + a,
    returned: Callable[[Tensor, Tensor], Tensor] = lambda s, v: v,
    over: tuple[int, ...] | None = (2,),
    unit_over: tuple[int, ...] | None = None,
    copies: int = 1,
) -> Tensor:
    """Procedure 1. û [B, I, J, D] -> v [B, J, D].

    Each capsule below stands for so many ``copies``: 1152 capsules of 12 kinds cost what 12 do, since only the softmax
    has to see them all.
    """
    b = torch.zeros_like(u_hat[..., 0])
    for _ in range(iterations):
        c = copies * couplings(b.repeat_interleave(copies, 1))[:, ::copies]
        s = (c.unsqueeze(-1) * u_hat).sum(1)
        v = squash(s, over=over, unit_over=unit_over)
        b = update(b, agreement((u_hat * heard(s, v).unsqueeze(1)).sum(-1)))
    return returned(s, v)


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
) -> Tensor:
    """Equation 4. lengths: [B, J]; labels: [B]; floor, power: of the present and the absent classes' margins."""
    lengths = lengths_of(lengths)
    present = F.one_hot(labels, lengths.shape[1]).to(lengths)
    missing = (0.9 - lengths, lengths - 0.1)
    floored = (
        margin.relu() if zero else margin for margin, zero in zip(missing, floor, strict=True)
    )
    present_term, absent_term = (margin**k for margin, k in zip(floored, power, strict=True))
    return over_batch(over_classes(present * present_term + lambda_ * (1 - present) * absent_term))


def reconstruction_loss(
    reconstruction: Tensor,
    images: Tensor,
    *,
    over_pixels: Callable[[Tensor], Tensor] = lambda squared: squared.sum(dim=1),
    over_batch: Callable[[Tensor], Tensor] = lambda losses: losses.mean(dim=0),
    weight: float = RECONSTRUCTION_WEIGHT,
) -> Tensor:
    """Section 4.1, the weight included. reconstruction: [B, P]; images: [B, 1, H, W]."""
    return weight * over_batch(over_pixels((reconstruction - images.flatten(1)).square()))


class Deviation(NamedTuple):
    """Another value for one option of a piece."""

    option: str
    value: Any
    bug: str | None
    """Id of the catalogue; None for a fault that is not in it."""
    description: str
    """What is wrong, in a few words."""
    convention: bool = False
    """Whether it is a habit that works as well."""

    def finding(self, line: str = "") -> Finding:
        """What is said of it, with the line of code that is to blame."""
        beginning = (
            "Here" if self.bug else "Not as in the paper" + ", and as good" * self.convention
        )
        return Finding(
            self.bug,
            f"{beginning}: {self.description}.",
            self.convention,
            topic=self.option,
            line=line,
        )


def _named(bug: str, option: str, values: dict[str, Any]) -> list[Deviation]:
    """The deviations of one bug, from what is wrong to the option's value."""
    return [Deviation(option, value, bug, description) for description, value in values.items()]


_SQUASH = [
    *_named("squash-axis", "over", {
        "over the capsules": (1,),
        "over the batch": (0,),
        "every number by itself": (),
        "over all numbers of an image": (1, 2),
        "over everything": (0, 1, 2),
    }),
    *_named("squash-axis", "unit_over", {
        "the direction is divided by a length over the capsules": (1,),
        "the direction is a capsule's own, the length is not": (2,),
    }),
]  # fmt: skip
_ROUTING = [
    *_named("softmax-axis", "couplings", {
        "over i, the layer below": lambda b: b.softmax(dim=1),
        "over the batch": lambda b: b.softmax(dim=0),
        "over i and j together": lambda b: b.flatten(1).softmax(dim=1).view_as(b),
        "over an axis of size 1, so that every coupling is 1": torch.ones_like,
        "over the batch and i": lambda b: b.flatten(0, 1).softmax(dim=0).view_as(b),
        "over everything": lambda b: b.flatten().softmax(dim=0).view_as(b),
    }),
    Deviation("couplings", torch.sigmoid, None, "a sigmoid in place of the softmax: the shares sum to nothing"),
    *_named("batch-agreement", "agreement", {
        "the agreement is averaged over the batch": lambda a: a.mean(dim=0, keepdim=True).expand_as(a),
        "the agreement is summed over the batch": lambda a: a.sum(dim=0, keepdim=True).expand_as(a),
        "the first image's agreement counts for all": lambda a: a[:1].expand_as(a),
    }),
    *_SQUASH,
    Deviation("over", None, None, "nothing is squashed"),
    Deviation("heard", lambda s, v: s, None, "the predictions are compared with s, which is not squashed yet"),
    Deviation("returned", lambda s, v: s, None, "it returns s, which is not squashed yet"),
    Deviation("update", lambda b, a: a, None, "b is replaced by the agreement instead of added to"),
    Deviation("update", lambda b, a: b - a, None, "the agreement is subtracted from b instead of added to it"),
]  # fmt: skip
_SUMMED = Deviation(
    "over_batch", lambda losses: losses.sum(dim=0), None, "a sum over the images, no mean", True
)
_MARGIN = [
    *_named("margin-not-squared", "power", {
        "neither margin is squared": (1, 1),
        "the present class's margin is not squared": (1, 2),
        "the absent classes' margins are not squared": (2, 1),
    }),
    Deviation("floor", (False, False), None, "no margin stops at 0, so what is long or short enough costs again"),
    Deviation("floor", (False, True), None, "the present class's margin does not stop at 0"),
    Deviation("floor", (True, False), None, "the absent classes' margins do not stop at 0"),
    Deviation("lengths_of", lambda lengths: lengths.softmax(dim=1), "lengths-softmax", "a softmax of the lengths"),
    Deviation("lengths_of", torch.square, None, "the lengths are squared inside the margins, ‖v‖² in place of ‖v‖"),
    Deviation("over_classes", lambda terms: terms.mean(dim=1), None, "the mean over the classes instead of their sum"),
    _SUMMED,
    Deviation("lambda_", 1.0, None, "λ is missing"),
]  # fmt: skip
_RECONSTRUCTION = [
    *_named(
        "recon-mean",
        "over_pixels",
        {"the mean over the pixels, not the sum": lambda each: each.mean(dim=1)},
    ),
    _SUMMED,
    Deviation("weight", 1.0, None, "0.0005 is missing"),
]

PIECES: dict[str, tuple[Callable[..., Tensor], list[Deviation]]] = {
    "squash": (
        squash,
        [*_SQUASH, Deviation("divided", False, None, "s is not divided by its length ‖s‖")],
    ),
    "routing": (route, _ROUTING),
    "margin_loss": (margin_loss, _MARGIN),
    "mask": (mask_capsules, []),
    "reconstruction_loss": (reconstruction_loss, _RECONSTRUCTION),
}


def expected(
    piece: str, arguments: Sequence[Any], deviations: Sequence[Deviation] = (), **options: Any
) -> Tensor:
    """What a piece returns, with these deviations, in float64."""
    exact = [
        each.double() if isinstance(each, Tensor) and each.is_floating_point() else each
        for each in arguments
    ]
    return partial(PIECES[piece][0], **{each.option: each.value for each in deviations}, **options)(
        *exact
    )


def close(came: Tensor, wanted: Tensor) -> bool:
    """Whether two tensors agree to what float32 and any epsilon up to 1e-7 leave."""
    return bool(((came - wanted).abs() <= 2e-4 * wanted.abs() + 1e-5 * wanted.abs().max()).all())


def fewest_first(piece: str, at_most: int) -> Iterator[tuple[Deviation, ...]]:
    """Every combination of a piece's deviations, with at most one setting an option."""
    options: dict[str, list[Deviation]] = {}
    for each in PIECES[piece][1]:
        options.setdefault(each.option, []).append(each)
    for count in range(min(at_most, len(options)) + 1):
        for chosen in combinations(options.values(), count):
            yield from product(*chosen)


def recognise(
    piece: str, probes: Sequence[tuple[Sequence[Any], Tensor]], at_most: int = 4
) -> tuple[Deviation, ...] | None:
    """The fewest deviations that explain what came for each of the arguments; () if right, None if none do.

    Args:
        probes: pairs of arguments and of what came.
    """
    for some in fewest_first(piece, at_most):
        if all(close(came, expected(piece, arguments, some)) for arguments, came in probes):
            return some
    return None


def differs(piece: str, arguments: Sequence[Any], came: Tensor) -> Finding:
    """A finding for what no known mistake explains: the number that is furthest off."""
    wanted = expected(piece, arguments)
    worst = int((came - wanted).abs().nan_to_num(torch.inf).argmax())
    where = tuple(int(each) for each in torch.unravel_index(torch.tensor(worst), came.shape))
    place = f"[{', '.join(map(str, where))}]" if where else ""
    text = (
        f"It differs from the paper, and not by a mistake of the catalogue. For {described(arguments)} the number "
        f"furthest off is output{place}: expected {rounded(wanted[where])}, came {rounded(came[where])}."
    )
    return Finding(None, text, topic="unexplained")
