"""Are this squash, this routing, this mask and these losses the paper's?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from capsnet_check.calls import (
    WROTE,
    Subject,
    Trouble,
    arguments_of,
    examined,
    nan_at_zero,
)
from capsnet_check.report import Finding, Report
from capsnet_check.variants import (
    Deviation,
    close,
    differs,
    expected,
    fewest_first,
    recognise,
)


def check_squash(function: Any) -> Report:
    """Is this function squash, equation 1? Names what is wrong.

    Args:
        function: ``squash(s [B, J, D]) -> v [B, J, D]``, a function or a module.

    Returns:
        A `Report`; bugs that it knows: squash-axis, squash-nan.
    """
    agrees = "It is equation 1, the zero vector gives zero, and its gradient is a number."
    return examined("squash", lambda: _squash(Subject(function, "squash(s)")), agrees)


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
    return examined(
        "routing",
        lambda: _routing(Subject(function, "route(u_hat, iterations)")),
        agrees,
        strict=strict,
    )


def check_margin_loss(function: Any, *, strict: bool = False) -> Report:
    """Is this function the margin loss, equation 4? Names what is wrong.

    Args:
        function: ``margin_loss(lengths [B, J], labels [B]) -> scalar``, a function or a module. One that takes more
            goes into a lambda that gives it the rest: nothing but their names would tell which argument is which.
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
    batch = ("reconstruction_loss(reconstruction, images)", drawn, images.reshape(3, 1, 28, 28))
    return examined("reconstruction loss", lambda: _loss(function, *batch), agrees, strict=strict)


def check_mask(function: Any, *, strict: bool = False) -> Report:
    """Does this function keep the labelled capsule, and without labels the longest? Names what is wrong.

    Args:
        function: ``mask(v [B, J, D], labels [B] or None) -> [B, J, D]``, a function or a module.
        strict: refuse one that writes into v, too: for exercises, whose v is used again.

    Returns:
        A `Report`; the bug that it knows: mask-prediction.
    """
    agrees = (
        "With labels it keeps theirs, without it keeps the longest, and only what is kept learns."
    )
    return examined(
        "mask", lambda: _mask(Subject(function, "mask(v, labels)")), agrees, strict=strict
    )


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
    s[1, 2] = 0  # one zero vector among others
    yield from _gradient(subject, "squash", (s,))


def _loss(function: Any, signature: str, *batch: Tensor) -> Iterator[Finding]:
    """On a batch of three, on its first image alone, and by its gradient."""
    subject, piece = Subject(function, signature), signature.partition("(")[0]
    probes = [
        (part, subject.tensor((), *part)) for part in (batch, tuple(each[:1] for each in batch))
    ]
    deviations = recognise(piece, probes)
    if deviations is None:
        arguments, came = next(
            (probe for probe in probes if recognise(piece, [probe], at_most=0) is None), probes[0]
        )
        yield differs(piece, arguments, came)
    else:
        yield from (each.finding() for each in deviations)
        yield from _gradient(subject, piece, batch, *deviations)


def _mask(subject: Subject) -> Iterator[Finding]:
    generator = torch.Generator().manual_seed(5)
    v = torch.randn(4, 10, 16, generator=generator) * torch.rand(4, 10, 1, generator=generator) / 4
    longest = v.norm(dim=-1).argmax(dim=1)
    labels, others = (longest + 3) % 10, (longest + 5) % 10
    if getattr(subject(v, labels), "shape", None) == v[:, 0].shape:
        raise Trouble(
            f"It returns the kept capsule alone; expected {list(v.shape)}, the others' numbers being 0."
        )
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
        yield from _gradient(subject, "mask", (v, labels))


def _gradient(
    subject: Subject, piece: str, arguments: Sequence[Any], *deviations: Deviation
) -> Iterator[Finding]:
    """Whether the gradient is that of the values, which are right but for these deviations."""
    exact = arguments[0].double().requires_grad_()
    values = expected(piece, (exact, *arguments[1:]), deviations)
    came, (wanted,) = (
        subject.gradient(values.shape, *arguments)[1],
        torch.autograd.grad(values.sum(), exact),
    )
    if not came.isfinite().all():
        yield Finding(
            "squash-nan" if piece == "squash" else None,
            "Its gradient is not finite, though its values are.",
        )
    elif ((came - wanted).abs() > 1e-2 * wanted.abs().amax()).any():
        yield Finding(None, "Its gradient is not that of its values: is a part of it detached?")


_SHAPE = (3, 10, 16)


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


def recognised(
    candidates: Sequence[Tensor], u_hat: Tensor, rounds: int, copies: int = 1
) -> Known | None:
    """The fewest known mistakes that give one of these v, and how many rounds: rather those that were asked for."""
    for some in fewest_first("routing", at_most=3):
        tried = (
            (3, 2, 1, *range(4, 11 if not some else 6)) if len(some) < 2 else (max(rounds - 1, 1),)
        )
        for number in dict.fromkeys((rounds, *tried)):
            wanted = expected("routing", (u_hat, number), some, copies=copies)
            for which, came in enumerate(candidates):
                if close(came, wanted):
                    return Known(some, number, which)
    return None


def _routing(subject: Subject) -> Iterator[Finding]:
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
            yield Finding(
                "batch-agreement", "An image's output depends on the images beside it in the batch."
            )
    yield from nan_at_zero(subject, _SHAPE, torch.zeros_like(u_hat), 3, name="û")


def _rounds(subject: Subject, u_hat: Tensor, known: Known, stale: bool) -> Iterator[Finding]:
    """Whether it does as many rounds as it is asked for, and the same for an image alone."""
    if any(
        each.value is torch.ones_like for each in known.deviations
    ):  # couplings that never change: no rounds
        return
    came = {r: _at(subject, u_hat, r) for r in (1, 2, 3, 4)}
    settable = stale or not all(close(each, came[3]) for each in came.values())
    if known.rounds == 1:
        yield Finding(
            "no-update-rounds", "b is never updated: every round has the couplings of the first."
        )
    elif not settable:
        yield Finding(None, f"The number of rounds is written in: {known.rounds}.", convention=True)
    elif known.rounds < 3:
        yield Finding("no-update-rounds", "There is one round too few.")
    elif known.rounds > 3:
        many = "is one round" if known.rounds == 4 else f"are {known.rounds - 3} rounds"
        yield Finding(None, f"Not as in the paper: there {many} too many.")
    for (images, rounds), v in [
        ((1, 3), _at(subject, u_hat[:1], 3)),
        *(((3, r), v) for r, v in came.items()),
    ]:
        done = max(rounds + known.rounds - 3, 1) if settable else known.rounds
        if not stale and not close(
            v, expected("routing", (u_hat[:images], done), known.deviations)
        ):
            given = "a batch of one image" if images == 1 else f"{rounds} rounds"
            yield Finding(
                None,
                f"With {given} it fails, or gives something else than with three images and 3 rounds.",
            )
            return


def _at(subject: Subject, u_hat: Tensor, rounds: int) -> Tensor:
    """v, or nan where the call fails."""
    shape = (len(u_hat), *_SHAPE[1:])
    try:
        return subject.tensor(shape, u_hat, rounds)
    except Trouble:
        return torch.full(shape, torch.nan)
