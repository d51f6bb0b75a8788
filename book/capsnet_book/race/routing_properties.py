"""What a routing should satisfy before it is worth training, and how it takes votes that are out of the ordinary."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from capsnet_book.experiments.rounds import couplings
from capsnet_tutorial.check.calls import NotWritten, Subject, Trouble
from capsnet_tutorial.functional import capsule_lengths

ROUNDS = 3
SIZES = {"B": 4, "I": 72, "J": 10, "D": 16}
"""Of the votes û [B, I, J, D] that a routing is tried on: those of the small network."""
COLUMNS = 79
_TINY, _HUGE = 1e-20, 1e4
_CLOSE = 1e-4


class Property(NamedTuple):
    """One question to a routing, and its answer."""

    name: str
    holds: bool | None
    """None where there is no right answer."""
    says: str


@dataclass(frozen=True, repr=False)
class Properties:
    """All of them. A routing can be raced unless one of them fails."""

    of: str
    """Name of the routing."""
    found: tuple[Property, ...]

    @property
    def passed(self) -> bool:
        return not self.lacking

    @property
    def lacking(self) -> list[str]:
        """Names of those that fail."""
        return [each.name for each in self.found if each.holds is False]

    def __str__(self) -> str:
        width = max(len(each.name) for each in self.found)
        marks = {True: "yes", False: "NO ", None: "   "}
        lines = [f"{marks[each.holds]} {each.name:<{width}}  {each.says}" for each in self.found]
        return "\n".join(textwrap.fill(line, COLUMNS, subsequent_indent=" " * (width + 6)) for line in lines)

    __repr__ = __str__  # a notebook shows it


def properties(routing: Callable[..., Any], sizes: dict[str, int] | None = None) -> Properties:
    """Ask a routing everything that can be known without training it.

    Args:
        routing: (u_hat [B, I, J, D], iterations) -> v [B, J, D]. If it has a method ``couplings`` with the same
            arguments, which gives c [B, I, J], these are looked at too.
        sizes: of û, if not `SIZES`.

    Returns:
        The answers; after one that says that it cannot be called, none follows.
    """
    name = getattr(routing, "__name__", type(routing).__name__)
    found: list[Property] = []
    try:
        subject = Subject(routing, "route(u_hat, iterations)")
        for each in _asked(subject, {**SIZES, **(sizes or {})}):
            found.append(each)
    except (Trouble, NotWritten) as problem:
        found.append(Property("can be called", False, str(problem) or "It is not written yet."))
    return Properties(name, tuple(found))


def votes(sizes: dict[str, int], seed: int = 0, scale: float = 1.0) -> Tensor:
    """Independent, normally distributed votes [B, I, J, D] of mean length `scale`, nearly."""
    shape = [sizes[axis] for axis in "BIJD"]
    return scale * torch.randn(shape, generator=torch.Generator().manual_seed(seed)) / sizes["D"] ** 0.5


def _asked(subject: Subject, sizes: dict[str, int]) -> Iterator[Property]:
    shape = (sizes["B"], sizes["J"], sizes["D"])
    u_hat = votes(sizes)

    def v(given: Tensor, rounds: int = ROUNDS) -> Tensor:
        return subject.tensor((len(given), *shape[1:]), given, rounds)

    first = v(u_hat)
    yield Property("can be called", True, f"û {list(u_hat.shape)} gives v {list(shape)}.")
    again = _far(v(u_hat), first)
    yield Property("remembers nothing", again < _CLOSE, f"Called again, v changes by {again:.0%}.")
    alone = max(_far(v(u_hat[k : k + 1]), first[k : k + 1]) for k in range(sizes["B"]))
    yield Property("an image alone is as in a batch", alone < _CLOSE, f"Without the others v changes by {alone:.0%}.")
    for axis, dim in (("i", 1), ("j", 2)):
        order = torch.randperm(u_hat.shape[dim], generator=torch.Generator().manual_seed(1))
        expected = first[:, order] if axis == "j" else first
        far = _far(v(u_hat.index_select(dim, order)), expected)
        layer = "below" if axis == "i" else "above"
        says = f"The layer {layer} shuffled, v changes by {far:.0%}."
        yield Property(f"the order of {axis} does not matter", far < _CLOSE, says)
    yield _gradients(subject, u_hat, shape)
    yield from _of_couplings(subject, u_hat)
    longest = float(capsule_lengths(first).max())
    loud = float(capsule_lengths(v(100 * u_hat)).max())
    fits = max(longest, loud) <= 1 + _CLOSE
    yield Property("lengths are from 0 to 1", fits, f"Up to {longest:.2f}; of 100 times as long votes {loud:.2f}.")
    yield from _character(v, sizes, u_hat, first)


def _gradients(subject: Subject, u_hat: Tensor, shape: tuple[int, ...]) -> Property:
    """Finite, of votes that are zero, tiny or huge; and none that is zero where votes are ordinary."""
    name = "gradients are finite"
    for words, factor in (("zero", 0.0), (f"tiny ({_TINY:g})", _TINY), (f"huge ({_HUGE:g})", _HUGE)):
        out, gradient = subject.gradient(shape, factor * u_hat, ROUNDS)
        if not out.isfinite().all() or not gradient.isfinite().all():
            what = "v" if not out.isfinite().all() else "the gradient"
            return Property(name, False, f"For votes that are {words}, {what} is not finite.")
    _, gradient = subject.gradient(shape, u_hat, ROUNDS)
    lacking = int((gradient.abs().amax(dim=(0, 3)) == 0).sum())
    if lacking:
        return Property(name, False, f"{lacking} of {gradient.shape[1] * gradient.shape[2]} û_ij get no gradient.")
    return Property(name, True, f"Where votes are 0, {_TINY:g} or {_HUGE:g} too.")


def _of_couplings(subject: Subject, u_hat: Tensor) -> Iterator[Property]:
    name = "couplings share out"
    offered = Subject(lambda u_hat, iterations: couplings(subject.function, u_hat, iterations), subject.called)
    if offered(u_hat, ROUNDS) is None:
        yield Property(name, None, "It offers none (a method couplings).")
        return
    c = offered.tensor(u_hat.shape[:3], u_hat, ROUNDS)
    I, J = u_hat.shape[1:3]
    over_j, over_i = float((c.sum(dim=2) - 1).abs().max()), float((c.sum(dim=1) - I / J).abs().max())
    sums = [words for far, words in ((over_j, "over j to 1"), (over_i, f"over i to {I / J:g}")) if far < 0.01]
    says = f"From {float(c.min()):.2f} to {float(c.max()):.2f}; they sum " + (" and ".join(sums) or "to nothing fixed")
    yield Property(name, bool(sums) and float(c.min()) > -_CLOSE, f"{says}.")


def _character(
    v: Callable[[Tensor], Tensor], sizes: dict[str, int], u_hat: Tensor, first: Tensor
) -> Iterator[Property]:
    """What has no right answer: the other sign, one loud vote, noise against agreement."""
    turned = v(-u_hat)
    odd = _far(turned, -first) < _CLOSE
    even = _far(turned, first) < _CLOSE
    says = "v turns round with them." if odd else "v stays what it was." if even else "v becomes another."
    yield Property("all votes turned round", None, says)
    agreeing = u_hat.clone()
    agreeing[:, :, 0] = F.normalize(u_hat[:, :1, 0], dim=2)  # all vote alike for the first capsule above
    loud = agreeing.clone()
    loud[:, 0, 0] = -100 * agreeing[:, 0, 0]  # but one, a hundred times as loud as any other
    before, after = v(agreeing), v(loud)
    kept = float(F.cosine_similarity(before[:, 0], after[:, 0], dim=1).mean())
    says = "does not move v" if kept > 0.9 else "turns v" if kept < -0.5 else "moves v"
    count = sizes["I"] - 1
    yield Property("one loud vote", None, f"{count} agree, one opposes 100 times as loud: it {says}.")
    lengths = capsule_lengths(before)
    noise = float(lengths[:, 1:].mean())
    yield Property(
        "agreement beside noise",
        None,
        f"Length of noise {noise:.2f}, of agreement {float(lengths[:, 0].mean()):.2f}.",
    )


def _far(came: Tensor, expected: Tensor) -> float:
    """Distance relative to the length of what was expected."""
    return float((came - expected).norm() / expected.norm().clamp_min(1e-12))
