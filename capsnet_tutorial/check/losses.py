"""Are these the paper's losses?"""

from __future__ import annotations

from typing import Any

import torch

from capsnet_tutorial.check.calls import TIME_LIMIT, Subject
from capsnet_tutorial.check.pieces import Small, differs, examined, of_deviations
from capsnet_tutorial.check.recognise import recognise
from capsnet_tutorial.check.report import Finding, Report

_MARGIN = (
    Small(
        "one image of class 0, lengths 0.5 and 0.3",
        (torch.tensor([[0.5, 0.3]]), torch.tensor([0])),
        "the loss",
    ),
    Small(
        "two images of class 0, lengths 0.5 and 0.3 in both",
        (torch.tensor([[0.5, 0.3]] * 2), torch.tensor([0, 0])),
        "the loss",
    ),
    Small(
        "one image of class 3, all ten lengths 0.6",
        (torch.full((1, 10), 0.6), torch.tensor([3])),
        "the loss",
    ),
)


def _an_image(ink: int, batch: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    """A white page for a reconstruction, and images with so many black pixels."""
    images = torch.zeros(batch, 784)
    images[:, :ink] = 1
    return torch.zeros(batch, 784), images.reshape(batch, 1, 28, 28)


_RECONSTRUCTION = (
    Small("one image with 100 pixels of ink, redrawn as an empty page", _an_image(100), "the loss"),
    Small("two images with 100 pixels of ink, redrawn as empty pages", _an_image(100, 2), "the loss"),
)


def check_margin_loss(function: Any, *, time_limit: float = TIME_LIMIT) -> Report:
    """Is this function the margin loss, equation 4? Names what is wrong.

    Args:
        function: ``margin_loss(lengths [B, J], labels [B]) -> scalar``, a function or a module.
        time_limit: seconds that one call may take.

    Returns:
        A `Report`; bugs that it knows: margin-not-squared, lengths-softmax.
    """

    def examine(subject: Subject) -> list[Finding]:
        generator = torch.Generator().manual_seed(3)
        lengths = torch.rand(3, 10, generator=generator)
        labels = torch.tensor([int(lengths[0].argmin()), 9, int(lengths[2].argmax())])
        lengths[1, 9], lengths[1, 0] = 0.95, 0.05  # long enough, short enough: their terms are 0
        return _examine(subject, "margin_loss", (lengths, labels), _MARGIN)

    agrees = "It is equation 4, summed over the classes, averaged over the images."
    return examined("margin loss", "margin_loss(lengths, labels)", function, agrees, examine, time_limit)


def check_reconstruction_loss(function: Any, *, time_limit: float = TIME_LIMIT) -> Report:
    """Is this function the reconstruction loss of section 4.1, the 0.0005 included? Names what is wrong.

    Args:
        function: ``loss(reconstruction [B, 784], images [B, 1, 28, 28]) -> scalar``, a function or a module.
        time_limit: seconds that one call may take.

    Returns:
        A `Report`; the bug that it knows: recon-mean.
    """

    def examine(subject: Subject) -> list[Finding]:
        generator = torch.Generator().manual_seed(4)
        arguments = (torch.rand(3, 784, generator=generator), torch.rand(3, 1, 28, 28, generator=generator))
        return _examine(subject, "reconstruction_loss", arguments, _RECONSTRUCTION)

    agrees = "It is the squared difference, summed over the pixels, averaged over the images, times 0.0005."
    called = "reconstruction_loss(reconstruction, images)"
    return examined("reconstruction loss", called, function, agrees, examine, time_limit)


def _examine(subject: Subject, piece: str, batch: tuple, smalls: tuple[Small, ...]) -> list[Finding]:
    """On a batch of three, on its first image alone, and by its gradient."""
    probes = [(part, subject.tensor((), *part)) for part in (batch, tuple(each[:1] for each in batch))]
    deviations = recognise(piece, probes)
    if deviations is None:
        arguments, came = next((probe for probe in probes if recognise(piece, [probe], at_most=0) is None), probes[0])
        findings = [differs(subject, piece, arguments, came, smalls)]
    else:
        findings = of_deviations(subject, piece, deviations, smalls)
    _, gradient = subject.gradient((), *batch)
    if not gradient.isfinite().all():
        findings.append(Finding(None, "Its gradient is not a finite number, although the loss is."))
    return findings
