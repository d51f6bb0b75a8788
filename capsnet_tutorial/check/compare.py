"""What a function returned beside what its piece returns: findings, with the smallest example that shows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from capsnet_tutorial.check.calls import Subject, Trouble
from capsnet_tutorial.check.report import Example, Finding, figure
from capsnet_tutorial.check.variants import Deviation, close, expected


class Small(NamedTuple):
    """A small input to show a mistake with."""

    given: str
    arguments: tuple[Any, ...]
    what: str
    """What the output is called."""
    shown: Callable[[Tensor], Tensor] = lambda out: out
    """The output as at most two axes."""
    arrows: bool = False


def of_deviations(
    subject: Subject, piece: str, deviations: Sequence[Deviation], smalls: Sequence[Small]
) -> list[Finding]:
    """A finding for each deviation."""
    example = shortest_example(subject, piece, smalls)
    return [of_deviation(deviation, example) for deviation in deviations]


def of_deviation(deviation: Deviation, example: Example | None = None, line: str = "") -> Finding:
    if deviation.convention:
        return Finding(None, f"Another habit than the paper's: {deviation.description}.", convention=True)
    beginning = "Here" if deviation.bug else "Not as in the paper"
    text = f"{beginning}: {deviation.description}."
    return Finding(deviation.bug, text, example, topic=deviation.option, line=line)


def differs(
    subject: Subject | None,
    piece: str,
    arguments: Sequence[Any],
    came: Tensor,
    smalls: Sequence[Small] = (),
    **options: Any,
) -> Finding:
    """A finding for what no known mistake explains: the first number that differs."""
    wanted = expected(piece, arguments, **options)
    far = (came - wanted).abs() > 2e-4 * wanted.abs() + 1e-5 * wanted.abs().max()
    where = tuple(far.nonzero()[0].tolist()) if came.dim() else ()
    place = f"[{', '.join(map(str, where))}]" if where else ""
    given = ", ".join(f"a tensor of shape {list(x.shape)}" if isinstance(x, Tensor) else repr(x) for x in arguments)
    text = (
        f"It differs from the paper, and not by a mistake of the catalogue. For {given} the first number that differs "
        f"is output{place}: expected {figure(float(wanted[where]))}, came {figure(float(came[where]))}."
    )
    example = shortest_example(subject, piece, smalls) if subject else None
    return Finding(None, text, example, topic="unexplained")


def shortest_example(subject: Subject, piece: str, smalls: Sequence[Small]) -> Example | None:
    """The first of some small inputs on which the function is wrong."""
    for small in smalls:
        wanted = expected(piece, small.arguments)
        try:
            came = subject.tensor(wanted.shape, *small.arguments)
        except Trouble:
            continue
        if not close(came, wanted):
            return Example(small.given, small.what, small.shown(wanted), small.shown(came), small.arrows)
    return None


def nan_at_zero(subject: Subject, shape: Sequence[int], zeros: Tensor, *more: Any, name: str) -> list[Finding]:
    """What the zero vector becomes, and its gradient."""
    value, gradient = subject.gradient(shape, zeros, *more)
    for what, text, found in (
        ("the output", "Zero in, nan out.", value),
        (f"a gradient at {name} = 0", "The value at zero is a number; the gradient is not.", gradient),
    ):
        if not found.isfinite().all():
            shown = found.reshape(-1)[:2]
            return [Finding("squash-nan", text, Example(f"{name} = 0", what, torch.zeros_like(shown), shown))]
    if value.abs().max() > 1e-3:
        came = float(value.flatten()[value.abs().argmax()])
        return [Finding(None, f"For {name} = 0 it returns {figure(came)}; expected 0.")]
    return []
