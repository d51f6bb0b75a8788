"""Are these the paper's losses?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import torch
from torch import Tensor

from capsnet_tutorial.check.calls import Subject, Trouble, examined
from capsnet_tutorial.check.compare import Small, differs, of_deviations
from capsnet_tutorial.check.report import Finding, Report
from capsnet_tutorial.check.variants import recognise

_MARGIN = (
    Small("one image of class 0, lengths 0.5 and 0.3", (torch.tensor([[0.5, 0.3]]), torch.tensor([0])), "the loss"),
    Small(
        "two images of class 0, lengths 0.5 and 0.3 in both",
        (torch.tensor([[0.5, 0.3]] * 2), torch.tensor([0, 0])),
        "the loss",
    ),
    Small("one image of class 3, all ten lengths 0.6", (torch.full((1, 10), 0.6), torch.tensor([3])), "the loss"),
)


def _an_image(ink: int, batch: int = 1) -> tuple[Tensor, Tensor]:
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
        yield from _as_it_wants(subject, (lengths, labels), _ways_of_margin_loss(subject.function))
        yield from _examine(subject, "margin_loss", (lengths, labels), _MARGIN)

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
        yield from _as_it_wants(subject, arguments, [("", subject.function)])
        yield from _examine(subject, "reconstruction_loss", arguments, _RECONSTRUCTION)

    agrees = "It is the squared difference, summed over the pixels, averaged over the images, times 0.0005."
    signature = "reconstruction_loss(reconstruction, images)"
    return examined("reconstruction loss", signature, function, agrees, examine, strict=strict)


def _examine(subject: Subject, piece: str, batch: tuple, smalls: tuple[Small, ...]) -> Iterator[Finding]:
    """On a batch of three, on its first image alone, and by its gradient."""
    probes = [(part, subject.tensor((), *part)) for part in (batch, tuple(each[:1] for each in batch))]
    deviations = recognise(piece, probes)
    if deviations is None:
        arguments, came = next((probe for probe in probes if recognise(piece, [probe], at_most=0) is None), probes[0])
        yield differs(subject, piece, arguments, came, smalls)
    else:
        yield from of_deviations(subject, piece, deviations, smalls)
    if not subject.gradient((), *batch)[1].isfinite().all():
        yield Finding(None, "Its gradient is not a finite number, although the loss is.")


def _ways_of_margin_loss(function: Callable[..., Any]) -> list[tuple[str, Callable[..., Any]]]:
    """Other conventions: one-hot targets, capsules for lengths, Keras's order; the plain way first."""
    ways = []
    for keras, capsules, hot in product((False, True), repeat=3):

        def way(
            lengths: Tensor, labels: Tensor, keras: bool = keras, capsules: bool = capsules, hot: bool = hot
        ) -> Any:
            given: list[Tensor] = [
                lengths.unsqueeze(-1) * torch.full((16,), 0.25).to(lengths) if capsules else lengths,
                torch.nn.functional.one_hot(labels, lengths.shape[1]).to(lengths) if hot else labels,
            ]
            return function(*given[:: -1 if keras else 1])

        texts = ["It takes the targets first."] * keras + ["It takes the capsules for the lengths."] * capsules
        ways.append((" ".join([*texts, *["It takes one-hot targets."] * hot]), way))
    return ways


def _as_it_wants(subject: Subject, batch: tuple, ways: list[tuple[str, Callable[..., Any]]]) -> Iterator[Finding]:
    """The function is called in the first way that gives a loss which known mistakes explain, else that gives one.

    A loss for each image is averaged. What is not the plain way is said, as a convention.
    """
    piece = "margin_loss" if len(ways) > 1 else "reconstruction_loss"
    first: tuple[str, Callable[..., Any]] | None = None
    plain = subject.function
    for text, way in ways:
        subject.function = way
        try:
            out = subject(*batch)
        except Trouble:
            continue
        if not isinstance(out, Tensor) or out.numel() not in (1, len(batch[0])):
            continue
        if out.numel() > 1:
            text = f"{text} It gives a loss for each image, not one for the batch; their mean is judged.".strip()
            way = _averaged(way)
        first = first or (text, way)
        loss = out.detach().double().mean()
        if len(ways) == 1 or recognise(piece, [(batch, loss)], at_most=2) is not None:
            first = (text, way)
            break
    subject.function = first[1] if first else plain
    if first and first[0]:
        yield Finding(None, first[0], convention=True)


def _averaged(way: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arguments: way(*arguments).mean()
