"""Are these the paper's losses?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from capsnet_tutorial.check.calls import Subject, Trouble
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


def check_margin_loss(function: Any, *, strict: bool = False) -> Report:
    """Is this function the margin loss, equation 4? Names what is wrong.

    Args:
        function: ``margin_loss(lengths [B, J], labels [B]) -> scalar``, a function or a module.
        strict: refuse other conventions than the paper's, too: for exercises, which say what they ask for.

    Returns:
        A `Report`; bugs that it knows: margin-not-squared, lengths-softmax.
    """

    def examine(subject: Subject) -> Iterator[Finding]:
        generator = torch.Generator().manual_seed(3)
        lengths = torch.rand(3, 10, generator=generator)
        labels = torch.tensor([int(lengths[0].argmin()), 9, int(lengths[2].argmax())])
        lengths[1, 9], lengths[1, 0] = 0.95, 0.05  # long enough, short enough: their terms are 0
        return _examine(subject, "margin_loss", (lengths, labels), _MARGIN)

    agrees = "It is equation 4, summed over the classes, averaged over the images."
    return examined("margin loss", "margin_loss(lengths, labels)", function, agrees, examine, strict=strict)


def check_reconstruction_loss(function: Any, *, strict: bool = False) -> Report:
    """Is this function the reconstruction loss of section 4.1, the 0.0005 included? Names what is wrong.

    Args:
        function: ``loss(reconstruction [B, 784], images [B, 1, 28, 28]) -> scalar``, a function or a module.
        strict: refuse other conventions than the paper's, too: for exercises, which say what they ask for.

    Returns:
        A `Report`; the bug that it knows: recon-mean.
    """

    def examine(subject: Subject) -> Iterator[Finding]:
        generator = torch.Generator().manual_seed(4)
        arguments = (torch.rand(3, 784, generator=generator), torch.rand(3, 1, 28, 28, generator=generator))
        return _examine(subject, "reconstruction_loss", arguments, _RECONSTRUCTION)

    agrees = "It is the squared difference, summed over the pixels, averaged over the images, times 0.0005."
    called = "reconstruction_loss(reconstruction, images)"
    return examined("reconstruction loss", called, function, agrees, examine, strict=strict)


def _examine(subject: Subject, piece: str, batch: tuple, smalls: tuple[Small, ...]) -> Iterator[Finding]:
    """On a batch of three, on its first image alone, and by its gradient."""
    yield from _accepted(subject, piece, batch)
    probes = [(part, subject.tensor((), *part)) for part in (batch, tuple(each[:1] for each in batch))]
    deviations = recognise(piece, probes)
    if deviations is None:
        arguments, came = next((probe for probe in probes if recognise(piece, [probe], at_most=0) is None), probes[0])
        yield differs(subject, piece, arguments, came, smalls)
    else:
        yield from of_deviations(subject, piece, deviations, smalls)
    if not subject.has_gradient:
        return
    _, gradient = subject.gradient((), *batch)
    if not gradient.isfinite().all():
        yield Finding(None, "Its gradient is not a finite number, although the loss is.")


def _accepted(subject: Subject, piece: str, batch: tuple) -> Iterator[Finding]:
    """Other conventions: one-hot targets, capsules for lengths, a loss for each image. The function is called so."""
    function = subject.function

    def with_one_hot(lengths: Tensor, labels: Tensor) -> Any:
        return function(lengths, torch.nn.functional.one_hot(labels, 10).to(lengths))

    def of_capsules(lengths: Tensor, labels: Tensor) -> Any:
        return function(_as_capsules(lengths), labels)

    def of_capsules_with_one_hot(lengths: Tensor, labels: Tensor) -> Any:
        return function(_as_capsules(lengths), torch.nn.functional.one_hot(labels, 10).to(lengths))

    ways = [(function, "")]
    if piece == "margin_loss":
        ways += [
            (with_one_hot, "It takes one-hot targets."),
            (of_capsules, "It takes the capsules for the lengths."),
            (of_capsules_with_one_hot, "It takes the capsules for the lengths, and one-hot targets."),
        ]
    first: tuple[Any, str] | None = None
    for way, text in ways:
        try:
            subject.function = way
            out = subject(*batch)
        except Trouble:
            continue
        first = first or (way, text)
        images = len(batch[0])
        if isinstance(out, Tensor) and out.numel() == images:
            subject.function = lambda *arguments, way=way: way(*arguments).mean()
            yield Finding(
                None,
                f"{text} It gives a loss for each image, not one for the batch; their mean is judged.".strip(),
                convention=True,
            )
            return
        if isinstance(out, Tensor) and out.numel() == 1:
            if text:
                yield Finding(None, text, convention=True)
            return
    subject.function = first[0] if first else function


def _as_capsules(lengths: Tensor) -> Tensor:
    """Capsules [B, J, 16] of these lengths."""
    return lengths.unsqueeze(-1) * torch.full((16,), 0.25).to(lengths)
