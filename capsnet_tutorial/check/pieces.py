"""What the checkers of single pieces have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import torch
from capsnet_book.bugs import Deviation
from torch import Tensor

from capsnet_tutorial.check.calls import NotWritten, Subject, Trouble, numbers
from capsnet_tutorial.check.recognise import close, right
from capsnet_tutorial.check.report import Example, Finding, Report, figure, judged


class Small(NamedTuple):
    """A small input to show a mistake with."""

    given: str
    arguments: tuple[Any, ...]
    what: str
    """What the output is called."""
    shown: Callable[[Tensor], Tensor] = lambda out: out
    """The output as at most two axes."""
    arrows: bool = False


def examined(
    checked: str,
    called: str,
    function: Any,
    agrees: str,
    examine: Callable[[Subject], Iterable[Finding]],
    *,
    strict: bool = False,
) -> Report:
    """The report of an examination; what it found before a call failed is kept.

    The reader's random numbers go on as if nothing had been called. `strict` as in `judged`.
    """
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        findings: list[Finding] = []
        try:
            subject = Subject(function, called)
            for finding in examine(subject):
                findings.append(finding)
            if not subject.has_gradient:
                text = "NumPy knows no gradient: the values alone are judged."
                findings.append(Finding(None, text, convention=True))
        except NotWritten:
            return Report(False, checked=checked, written=False)
        except Trouble as trouble:
            findings.append(Finding(None, str(trouble), failed_call=True))
    return judged(checked, findings, agrees, strict=strict)


def of_deviations(
    subject: Subject, piece: str, deviations: Sequence[Deviation], smalls: Sequence[Small]
) -> list[Finding]:
    """A finding for each deviation."""
    shown = shortest_example(subject, piece, smalls)
    return [_of_deviation(each, shown) for each in deviations]


def _of_deviation(deviation: Deviation, shown: Example | None) -> Finding:
    if deviation.convention:
        return Finding(None, f"Another habit than the paper's: {deviation.description}.", convention=True)
    said = "Here" if deviation.bug else "Not as in the paper"
    return Finding(deviation.bug, f"{said}: {deviation.description}.", shown, topic=deviation.option)


def differs(
    subject: Subject,
    piece: str,
    arguments: Sequence[Any],
    came: Tensor,
    smalls: Sequence[Small],
    expected: Tensor | None = None,
) -> Finding:
    """A finding for what nothing in the catalogue explains: the first number that differs."""
    expected = right(piece, arguments) if expected is None else expected
    where = _first_difference(came, expected)
    place = f"[{', '.join(map(str, where))}]" if where else ""
    given = ", ".join(
        f"a tensor of shape {list(each.shape)}" if isinstance(each, Tensor) else repr(each) for each in arguments
    )
    text = (
        f"It differs from the paper, and not by a mistake of the catalogue. For {given} the first number that differs "
        f"is output{place}: expected {figure(float(expected[where]))}, came {figure(float(came[where]))}."
    )
    return Finding(None, text, shortest_example(subject, piece, smalls), topic="unexplained")


def shortest_example(subject: Subject, piece: str, smalls: Sequence[Small]) -> Example | None:
    """The first of some small inputs on which the function is wrong."""
    for small in smalls:
        expected = right(piece, small.arguments)
        try:
            came = subject.tensor(expected.shape, *small.arguments)
        except Trouble:
            continue
        if not close(came, expected):
            return Example(small.given, small.what, small.shown(expected), small.shown(came), small.arrows)
    return None


def nan_at_zero(subject: Subject, shape: Sequence[int], zeros: Tensor, *more: Any, name: str) -> list[Finding]:
    """What the zero vector becomes, and its gradient."""
    if subject.has_gradient:
        value, gradient = subject.gradient(shape, zeros, *more)
    else:
        value = numbers(subject(zeros, *more), shape, f"{name} = 0", finite=False)
        gradient = torch.zeros_like(zeros)
    if not value.isfinite().all():
        shown = value.reshape(-1)[:2]
        example = Example(f"{name} = 0", "the output", torch.zeros_like(shown), shown)
        return [Finding("squash-nan", "Zero in, nan out.", example)]
    if not gradient.isfinite().all():
        shown = gradient.reshape(-1)[:2]
        example = Example(f"{name} = 0", f"a gradient at {name} = 0", torch.zeros_like(shown), shown)
        return [Finding("squash-nan", "The value at zero is a number; the gradient is not.", example)]
    if value.abs().max() > 1e-3:
        came = float(value.flatten()[value.abs().argmax()])
        return [Finding(None, f"For {name} = 0 it returns {figure(came)}; expected 0.")]
    return []


def unequal(piece: str, subject: Subject, arguments: Sequence[Any]) -> Tensor | None:
    """What the function returns for these arguments if that is not right."""
    expected = right(piece, arguments)
    came = subject.tensor(expected.shape, *arguments)
    return None if close(came, expected) else came


def _first_difference(came: Tensor, expected: Tensor) -> tuple[int, ...]:
    if not came.dim():
        return ()
    far = (came - expected).abs() > 2e-4 * expected.abs() + 1e-5 * expected.abs().max()
    return tuple(far.nonzero()[0].tolist())
