"""Is this routing Procedure 1?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from capsnet_tutorial.check.calls import Subject, Trouble, examined, nan_at_zero
from capsnet_tutorial.check.report import Finding, Report
from capsnet_tutorial.check.variants import Deviation, close, differs, expected, fewest_first

_SHAPE = (3, 10, 16)


def check_routing(function: Any, *, strict: bool = False) -> Report:
    """Is this function routing by agreement, Procedure 1? Names what is wrong.

    Args:
        function: ``route(u_hat [B, I, J, D], iterations) -> v [B, J, D]``, a function or a module. The gradient may
            flow through all rounds or only the last.
        strict: refuse other conventions than the paper's, too: for exercises, which say what they ask for.

    Returns:
        A `Report`; bugs that it knows: softmax-axis, squash-nan, squash-axis, batch-agreement, stale-logits,
        no-update-rounds.
    """
    agrees = "It is Procedure 1, image by image, for 1 to 4 rounds, and a second call gives what the first gave."
    return examined("routing", lambda: _examine(Subject(function, "route(u_hat, iterations)")), agrees, strict=strict)


def predictions(kinds: int, below: int, batch: int = 3, above: int = 10, dim: int = 16) -> Tensor:
    """û [batch, kinds, above, dim] in which some agree: the couplings move a good way in three rounds, and do not
    settle, when each of the kinds stands for below / kinds capsules."""
    generator = torch.Generator().manual_seed(1)
    loudness = torch.linspace(0.2, 1, above).reshape(1, 1, above, 1)
    truth = torch.randn(batch, 1, above, dim, generator=generator) * loudness
    noise = torch.randn(batch, kinds, above, dim, generator=generator)
    return (0.6 * truth + 0.35 * noise) * (12 / below) ** 0.5


class Known(NamedTuple):
    """Procedure 1, or what is known to be wrong with it, that gives certain numbers."""

    deviations: tuple[Deviation, ...]
    rounds: int
    which: int
    """Of the candidates for v, the one that it gives."""


def recognised(candidates: Sequence[Tensor], u_hat: Tensor, rounds: int, copies: int = 1) -> Known | None:
    """The fewest known mistakes that give one of these v, and how many rounds: rather those that were asked for."""
    for some in fewest_first("routing", at_most=3):
        tried = (3, 2, 1, *range(4, 11 if not some else 6)) if len(some) < 2 else (max(rounds - 1, 1),)
        for number in dict.fromkeys((rounds, *tried)):
            wanted = expected("routing", (u_hat, number), some, copies=copies)
            for which, came in enumerate(candidates):
                if close(came, wanted):
                    return Known(some, number, which)
    return None


def _examine(subject: Subject) -> Iterator[Finding]:
    """Findings in the order in which they become certain."""
    u_hat = predictions(12, 12)
    first = subject.tensor(_SHAPE, u_hat, 3)
    stale = not close(subject.tensor(_SHAPE, u_hat, 3), first)
    known = recognised([first], u_hat, 3)
    if stale:
        yield Finding("stale-logits", "A second call with the same input gives another result.")
    if known:
        yield from (each.finding() for each in known.deviations)
        yield from _rounds(subject, u_hat, known, stale)
    else:
        yield differs("routing", (u_hat, 3), first)
        others = torch.cat([u_hat[:1], u_hat[1:].flip(-1)])
        if not close(subject.tensor(_SHAPE, others, 3)[:1], first[:1]):
            yield Finding("batch-agreement", "An image's output depends on the images beside it in the batch.")
    yield from nan_at_zero(subject, _SHAPE, torch.zeros_like(u_hat), 3, name="û")


def _rounds(subject: Subject, u_hat: Tensor, known: Known, stale: bool) -> Iterator[Finding]:
    """Whether it does as many rounds as it is asked for, and the same for an image alone."""
    if any(each.value is torch.ones_like for each in known.deviations):  # couplings that never change: no rounds
        return
    came = {r: _at(subject, u_hat, r) for r in (1, 2, 3, 4)}
    settable = stale or not all(close(each, came[3]) for each in came.values())
    if known.rounds == 1:
        yield Finding("no-update-rounds", "b is never updated: every round has the couplings of the first.")
    elif not settable:
        yield Finding(None, f"The number of rounds is written in: {known.rounds}.", convention=True)
    elif known.rounds < 3:
        yield Finding("no-update-rounds", "There is one round too few.")
    elif known.rounds > 3:
        many = "is one round" if known.rounds == 4 else f"are {known.rounds - 3} rounds"
        yield Finding(None, f"Not as in the paper: there {many} too many.")
    for (images, rounds), v in [((1, 3), _at(subject, u_hat[:1], 3)), *(((3, r), v) for r, v in came.items())]:
        done = max(rounds + known.rounds - 3, 1) if settable else known.rounds
        if not stale and not close(v, expected("routing", (u_hat[:images], done), known.deviations)):
            given = "a batch of one image" if images == 1 else f"{rounds} rounds"
            yield Finding(None, f"With {given} it fails, or gives something else than with three images and 3 rounds.")
            return


def _at(subject: Subject, u_hat: Tensor, rounds: int) -> Tensor:
    """v, or nan where the call fails."""
    shape = (len(u_hat), *_SHAPE[1:])
    try:
        return subject.tensor(shape, u_hat, rounds)
    except Trouble:
        return torch.full(shape, torch.nan)
