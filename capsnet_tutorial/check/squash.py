"""Is this squash equation 1?"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import torch

from capsnet_tutorial.check.calls import Subject, examined
from capsnet_tutorial.check.compare import Small, differs, nan_at_zero, of_deviations
from capsnet_tutorial.check.report import Finding, Report
from capsnet_tutorial.check.variants import close, expected, recognise
from capsnet_tutorial.functional import squash

_S = torch.tensor([[[0.6, 0.8], [2.0, 0.0]]])
_SMALLS = (
    Small("one image, two capsules: s = (0.6, 0.8) and (2, 0)", (_S,), "v", lambda v: v[0], arrows=True),
    Small(
        "two images with one capsule each: s = (0.6, 0.8) and (2, 0)",
        (_S.transpose(0, 1),),
        "v",
        lambda v: v[:, 0],
        arrows=True,
    ),
)


def check_squash(function: Any) -> Report:
    """Is this function squash, equation 1? Names what is wrong.

    Args:
        function: ``squash(s [B, J, D]) -> v [B, J, D]``, a function or a module.

    Returns:
        A `Report`; bugs that it knows: squash-axis, squash-nan.
    """
    agrees = "It is equation 1, the zero vector gives zero, and its gradient is a number."
    return examined("squash", "squash(s)", function, agrees, _examine)


def _examine(subject: Subject) -> Iterator[Finding]:
    _pass_dim(subject)
    generator = torch.Generator().manual_seed(0)
    s = torch.randn(3, 10, 16, generator=generator) * torch.linspace(0.03, 1.5, 30).reshape(3, 10, 1)
    output = subject.tensor(s.shape, s)
    deviations = recognise("squash", [((s,), output)])
    if deviations is None:
        yield differs(subject, "squash", (s,), output, _SMALLS)
    else:
        yield from of_deviations(subject, "squash", deviations, _SMALLS)
    nan = nan_at_zero(subject, s.shape, torch.zeros_like(s), name="s")
    yield from nan
    if deviations != () or nan:
        return
    alone = subject.tensor((1, 10, 16), s[:1])
    if not close(alone, expected("squash", (s[:1],))):
        yield differs(subject, "squash", (s[:1],), alone, _SMALLS)
        return
    one_is_zero = s.clone()
    one_is_zero[1, 2] = 0
    if not subject.gradient(s.shape, one_is_zero)[1].isfinite().all():
        yield Finding("squash-nan", "One zero vector among others gets a gradient of nan.")
        return
    # The value can be right and the gradient wrong, where something is detached.
    exact = s.double().requires_grad_()
    (wanted,) = torch.autograd.grad(squash(exact).sum(), exact)
    if ((subject.gradient(s.shape, s)[1] - wanted).abs() > 1e-2 * wanted.abs().amax()).any():
        yield Finding(None, "Its values are right and its gradient is not: is a part of it detached?")


def _pass_dim(subject: Subject) -> None:
    """A squash with an argument for the axis is asked for the last one: its default may be another."""
    function = subject.function
    target = function.forward if isinstance(function, torch.nn.Module) else function
    try:
        parameters = inspect.signature(target).parameters
    except (TypeError, ValueError):
        return
    name = next((name for name in ("dim", "axis") if name in parameters), None)
    if name is not None:
        subject.function = lambda s: function(s, **{name: -1})
