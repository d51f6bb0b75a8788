"""Gradients of a function under examination: at zero, and beside those of its values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from capsnet_check.calls import Subject
from capsnet_check.deviations import Deviation
from capsnet_check.recognition import expected
from capsnet_check.report import Finding
from capsnet_check.wording import rounded

_SHORT = 1e-3
"""A squash with an epsilon may give this for zero."""
_TOLERANCE = 1e-2
"""Of a gradient, relative to its largest number."""


def findings_at_zero(
    subject: Subject, shape: Sequence[int], zeros: Tensor, *more: Any, name: str
) -> list[Finding]:
    """Return the findings about the output for zeros, and about its gradient there.

    Args:
        subject: the function.
        shape: of its output.
        zeros: its first argument.
        more: its other arguments.
        name: of the first argument, for the sentence.
    """
    value, gradient = subject.gradient(shape, zeros, *more)
    if not value.isfinite().all():
        return [Finding("squash-nan", f"{name} = 0 in, nan out.")]
    if not gradient.isfinite().all():
        text = f"The value at {name} = 0 is a number; the gradient is not."
        return [Finding("squash-nan", text)]
    if value.abs().max() > _SHORT:
        largest = value.flatten()[value.abs().argmax()]
        return [Finding(None, f"For {name} = 0 it returns {rounded(largest)}; expected 0.")]
    return []


def gradient_findings(
    subject: Subject, piece: str, arguments: Sequence[Any], *deviations: Deviation
) -> Iterator[Finding]:
    """Yield a finding unless the gradient is that of the values, right but for these deviations."""
    exact = arguments[0].double().requires_grad_()
    values = expected(piece, (exact, *arguments[1:]), deviations)
    (wanted,) = torch.autograd.grad(values.sum(), exact)
    _, gradient = subject.gradient(values.shape, *arguments)
    if not gradient.isfinite().all():
        bug = "squash-nan" if piece == "squash" else None
        yield Finding(bug, "Its gradient is not finite, though its values are.")
    elif ((gradient - wanted).abs() > _TOLERANCE * wanted.abs().amax()).any():
        text = "Its gradient is not that of its values: is a part of it detached?"
        yield Finding(None, text)
