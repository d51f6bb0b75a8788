"""Is this function squash, equation 1?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch

from capsnet_check.calls import Subject, parameters_of
from capsnet_check.examination import examine
from capsnet_check.gradients import findings_at_zero, gradient_findings
from capsnet_check.recognition import close, difference, expected, recognise
from capsnet_check.report import Finding, Report


def check_squash(function: Any) -> Report:
    """Check that a function is squash, equation 1.

    Args:
        function: ``squash(s [B, J, D]) -> v [B, J, D]``, a function or a module.

    Returns:
        A `Report`; bugs that it knows: squash-axis, squash-nan.
    """
    agrees = "It is equation 1. The zero vector gives zero, and the gradient there is a number."
    return examine("squash", lambda: _examine(Subject(function, "squash(s)")), agrees)


def _examine(subject: Subject) -> Iterator[Finding]:
    axis = _axis_name(subject.function)
    any_axis = subject.function
    if axis:  # its default may be another axis than the last
        subject.function = partial(any_axis, **{axis: -1})
    s = torch.randn(3, 10, 16, generator=torch.Generator().manual_seed(0))
    s = s * torch.linspace(0.03, 1.5, 30).reshape(3, 10, 1)
    s[0, 0] *= 0.05 / s[0, 0].norm()  # a short one: is there a floor that it does not reach?
    output = subject.tensor(s.shape, s)
    alone = s[:1, :1]
    probes = [((s,), output), ((alone,), subject.tensor(alone.shape, alone))]
    deviations = recognise("squash", probes)
    if deviations is None:
        yield difference("squash", (s,), output)
    else:
        yield from (deviation.finding() for deviation in deviations)
    at_zero = findings_at_zero(subject, s.shape, torch.zeros_like(s), name="s")
    yield from at_zero
    if deviations == () and not at_zero:
        s[1, 2] = 0  # one zero vector among others
        yield from gradient_findings(subject, "squash", (s,))
    if axis and deviations == ():
        subject.function = partial(any_axis, **{axis: 1})
        yield from _other_axis_findings(subject, axis)


def _axis_name(function: Any) -> str:
    """Return the name of the argument that sets the axis; empty if there is none."""
    names = [name for name in ("dim", "axis") if name in parameters_of(function)]
    return names[0] if names else ""


def _other_axis_findings(subject: Subject, axis: str) -> Iterator[Finding]:
    """Squash capsules whose numbers lie along axis 1, as the function is told."""
    s = torch.randn(3, 16, 10, generator=torch.Generator().manual_seed(1))
    output = subject.tensor(s.shape, s)
    right = expected("squash", (s.transpose(1, 2),)).transpose(1, 2)
    if not close(output, right):
        text = f"Told to squash along {axis}=1, it does not: is the axis written in as -1?"
        yield Finding(None, text)
