"""Are this squash, this mask and these losses the paper's?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from capsnet_tutorial.check.calls import WROTE, Subject, Trouble, arguments_of, examined, nan_at_zero
from capsnet_tutorial.check.report import Finding, Report
from capsnet_tutorial.check.variants import close, differs, expected, recognise
from capsnet_tutorial.functional import squash


def check_squash(function: Any) -> Report:
    """Is this function squash, equation 1? Names what is wrong.

    Args:
        function: ``squash(s [B, J, D]) -> v [B, J, D]``, a function or a module.

    Returns:
        A `Report`; bugs that it knows: squash-axis, squash-nan.
    """
    agrees = "It is equation 1, the zero vector gives zero, and its gradient is a number."
    return examined("squash", lambda: _squash(Subject(function, "squash(s)")), agrees)


def check_margin_loss(function: Any, *, strict: bool = False) -> Report:
    """Is this function the margin loss, equation 4? Names what is wrong.

    Args:
        function: ``margin_loss(lengths [B, J], labels [B]) -> scalar``, a function or a module.
        strict: refuse other conventions than the paper's, too: for exercises, which say what they ask for.

    Returns:
        A `Report`; bugs that it knows: margin-not-squared, lengths-softmax.
    """
    lengths = torch.rand(3, 10, generator=torch.Generator().manual_seed(3))
    labels = torch.tensor([int(lengths[0].argmin()), 9, int(lengths[2].argmax())])
    lengths[1, 9], lengths[1, 0] = 0.95, 0.05  # long enough, short enough: their terms are 0
    agrees = "It is equation 4, summed over the classes, averaged over the images."
    examine = partial(_loss, function, "margin_loss(lengths, labels)", lengths, labels)
    return examined("margin loss", examine, agrees, strict=strict)


def check_reconstruction_loss(function: Any, *, strict: bool = False) -> Report:
    """Is this function the reconstruction loss of section 4.1, the 0.0005 included? Names what is wrong.

    Args:
        function: ``loss(reconstruction [B, 784], images [B, 1, 28, 28]) -> scalar``, a function or a module.
        strict: refuse other conventions than the paper's, too: for exercises, which say what they ask for.

    Returns:
        A `Report`; the bug that it knows: recon-mean.
    """
    drawn, images = torch.rand(2, 3, 784, generator=torch.Generator().manual_seed(4))
    agrees = "It is the squared difference, summed over the pixels, averaged over the images, times 0.0005."
    signature = "reconstruction_loss(reconstruction, images)"
    examine = partial(_loss, function, signature, drawn, images.reshape(3, 1, 28, 28))
    return examined("reconstruction loss", examine, agrees, strict=strict)


def check_mask(function: Any, *, strict: bool = False) -> Report:
    """Does this function keep the labelled capsule, and without labels the longest? Names what is wrong.

    Args:
        function: ``mask(v [B, J, D], labels [B] or None) -> [B, J, D]``, a function or a module.
        strict: refuse one that writes into v, too: for exercises, whose v is used again.

    Returns:
        A `Report`; the bug that it knows: mask-prediction.
    """
    agrees = "With labels it keeps theirs, without it keeps the longest, and only what is kept learns."
    return examined("mask", lambda: _mask(Subject(function, "mask(v, labels)")), agrees, strict=strict)


def _squash(subject: Subject) -> Iterator[Finding]:
    function = subject.function
    axis = next((name for name in ("dim", "axis") if name in arguments_of(function)), None)
    if axis:  # its default may be another than the last one
        subject.function = lambda s: function(s, **{axis: -1})
    s = torch.randn(3, 10, 16, generator=torch.Generator().manual_seed(0))
    s = s * torch.linspace(0.03, 1.5, 30).reshape(3, 10, 1)
    output = subject.tensor(s.shape, s)
    deviations = recognise("squash", [((s,), output)])
    if deviations is None:
        yield differs("squash", (s,), output)
    else:
        yield from (each.finding() for each in deviations)
    nan = nan_at_zero(subject, s.shape, torch.zeros_like(s), name="s")
    yield from nan
    if deviations != () or nan:
        return
    # The value can be right and the gradient wrong: where something is detached, or where one vector is zero.
    exact = s.double()
    exact[1, 2] = 0
    came = subject.gradient(s.shape, exact.float())[1]
    (wanted,) = torch.autograd.grad(squash(exact.requires_grad_()).sum(), exact)
    if not came.isfinite().all():
        yield Finding("squash-nan", "One zero vector among others gets a gradient of nan.")
    elif ((came - wanted).abs() > 1e-2 * wanted.abs().amax()).any():
        yield Finding(None, "Its values are right and its gradient is not: is a part of it detached?")


def _loss(function: Any, signature: str, *batch: Tensor) -> Iterator[Finding]:
    """On a batch of three, on its first image alone, and by its gradient."""
    subject, piece = Subject(function, signature), signature.partition("(")[0]
    probes = [(part, subject.tensor((), *part)) for part in (batch, tuple(each[:1] for each in batch))]
    deviations = recognise(piece, probes)
    if deviations is None:
        arguments, came = next((probe for probe in probes if recognise(piece, [probe], at_most=0) is None), probes[0])
        yield differs(piece, arguments, came)
    else:
        yield from (each.finding() for each in deviations)
    if not subject.gradient((), *batch)[1].isfinite().all():
        yield Finding(None, "Its gradient is not a finite number, although the loss is.")


def _mask(subject: Subject) -> Iterator[Finding]:
    generator = torch.Generator().manual_seed(5)
    v = torch.randn(4, 10, 16, generator=generator) * torch.rand(4, 10, 1, generator=generator) / 4
    longest = v.norm(dim=-1).argmax(dim=1)
    labels, others = (longest + 3) % 10, (longest + 5) % 10
    if getattr(subject(v, labels), "shape", None) == v[:, 0].shape:
        raise Trouble(f"It returns the kept capsule alone; expected {list(v.shape)}, the others' numbers being 0.")
    labelled = subject.tensor(v.shape, v, labels)
    right = close(labelled, expected("mask", (v, labels)))
    if not right and (labelled == 0).any() and close(labelled, subject.tensor(v.shape, v, others)):
        yield Finding("mask-prediction", "The labels change nothing.")
    elif not right:
        yield differs("mask", (v, labels), labelled)
    if subject.wrote:
        yield Finding(None, WROTE, convention=True)
    try:
        free = subject.tensor(v.shape, v, None)
    except Trouble as trouble:
        text = "It needs labels: without them, for images that are read, it should keep the longest capsule."
        yield Finding(None, f"{text} {trouble}", failed_call=True)
        return
    if not close(free, expected("mask", (v, None))):
        text = "Without labels it should keep the longest capsule of each image."
        yield Finding(None, f"{text} {differs('mask', (v, None), free).text}")
    elif right:
        gradient, kept = subject.gradient(v.shape, v, labels)[1], torch.nn.functional.one_hot(labels, 10).bool()
        if not gradient.isfinite().all() or gradient[~kept].abs().max() > 0 or not (gradient[kept] == 1).all():
            text = "Its values are right and its gradient is not: the kept capsule's should pass unchanged."
            yield Finding(None, text)
