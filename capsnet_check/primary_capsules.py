"""Is every primary capsule the numbers of one type at one place?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from capsnet_check.calls import CHANGED, Subject, Trouble
from capsnet_check.examination import examine
from capsnet_check.gradients import findings_at_zero
from capsnet_check.recognition import (
    close,
    difference,
    expected,
    factor_words,
    recognise,
    relation_words,
)
from capsnet_check.report import Finding, Report

SIGNATURE = "capsules(features, dim)"


def check_primary_capsules(function: Any, *, strict: bool = False) -> Report:
    """Check that primary capsules are cut, and squashed if at all, as in the paper.

    Args:
        function: ``capsules(features [B, types·dim, H, W], dim) -> [B, types·H·W, dim]``, in any
            order of the capsules, squashed or not; a function or a module.
        strict: refuse squashed capsules: for exercises, whose next line squashes them.

    Returns:
        A `Report`; bugs that it knows: capsule-view, squash-axis, squash-nan.
    """

    def steps() -> Iterator[Finding]:
        subject = Subject(function, SIGNATURE)
        yield from primary_findings(subject, (24, 4, 5), 8)
        subject.gradient((1, 60, 8), torch.ones(1, 24, 4, 5), 8)  # raises where it is cut off
        if strict:
            yield from _early_squash(subject)
            yield from _written_in(subject)
        if subject.wrote:
            yield Finding(None, CHANGED)

    agrees = "Every capsule is the numbers of one type at one place."
    return examine("primary capsules", steps, agrees)


def _early_squash(subject: Subject) -> Iterator[Finding]:
    """Yield a finding where capsules leave the function shorter than they came."""
    ones = torch.ones(1, 24, 4, 5)
    if not close(subject.tensor((1, 60, 8), ones, 8), torch.ones(1, 60, 8).double()):
        text = "It changes the numbers: only their order is asked for. Squash comes afterwards."
        yield Finding(None, text)


def _written_in(subject: Subject) -> Iterator[Finding]:
    """Yield a finding where a function that holds for 60 capsules of 8 has sizes written in."""
    shape = (1, 252, 4)
    try:
        subject.tensor(shape, torch.randn(1, 24, 6, 7), 4)
    except Trouble as trouble:
        text = (
            "With other sizes, and capsules of 4 numbers, it fails: is a size written in? "
            f"{trouble}"
        )
        yield Finding(None, text, failed_call=True)


def primary_findings(
    subject: Subject, shape: Sequence[int], dim: int, *, must_squash: bool = False
) -> Iterator[Finding]:
    """Yield findings about primary capsules.

    Args:
        subject: the function.
        shape: of the features: [channels, height, width].
        dim: numbers of a capsule.
        must_squash: whether they have to be squashed, as in a network on their way to W.
    """
    features = torch.randn(2, *shape, generator=torch.Generator().manual_seed(2))
    capsules = (features[0].numel() // dim, dim)
    output = subject.tensor((2, *capsules), features, dim)
    origin = _origin(subject, shape, dim)
    if origin is None:
        text = (
            "It is not a rearrangement of the features, squashed or not: a number of a capsule "
            "does not come from exactly one channel at one place. (A ReLU, a bias or a second "
            "convolution belongs before it.)"
        )
        yield Finding(None, text)
        return
    channel, place = origin
    yield from _mixed_places(place)

    s = features.double().flatten(2)[:, channel, place]  # [B, N, dim]
    squashed = not close(output, s)
    alone = subject.tensor((1, *capsules), features[:1], dim)
    yield from _squash_findings(
        s, output, depends_on_others=not close(alone, output[:1]), must_squash=must_squash
    )
    if squashed:
        zeros = torch.zeros_like(features)
        yield from findings_at_zero(subject, output.shape, zeros, dim, name="features")


def _mixed_places(place: Tensor) -> Iterator[Finding]:
    """Yield a finding if a capsule reads several places. place: [N, dim]."""
    mixed = (place != place[:, :1]).any(dim=1)
    if mixed.any():
        first = int(mixed.double().argmax())
        text = (
            f"{int(mixed.sum())} of {len(place)} capsules read several places: "
            f"number {first} those at {place[first].tolist()}, row by row."
        )
        yield Finding("capsule-view", text)


def _squash_findings(
    s: Tensor, output: Tensor, *, depends_on_others: bool, must_squash: bool
) -> Iterator[Finding]:
    """Yield what is wrong with the way from s to the output, both [B, N, dim]."""
    squashed = not close(output, s)
    wrong = recognise("squash", [((s,), output)], at_most=2) if squashed else ()
    if depends_on_others and not wrong:
        text = "With a batch of one image it gives other capsules than with several images."
        yield Finding(None, text)
    elif squashed and _is_relu(s, output):
        text = (
            "Not as in the paper: a ReLU after the convolution. It leaves no negative number, "
            "and a capsule's vector may point anywhere."
        )
        yield Finding(None, text)
    elif wrong is None and factor_words([(output, s)]):
        text = "Its numbers are those of the features, multiplied."
        yield Finding(None, text + factor_words([(output, s)]))
    elif wrong is None and relation_words([(output, s)]):
        yield Finding(None, "Expected the features' own numbers." + relation_words([(output, s)]))
    elif wrong is None:
        yield difference("squash", (s,), output)
    elif wrong:
        yield wrong[0].finding()
    elif must_squash and not squashed:
        text = "Not as in the paper: the primary capsules are never squashed on their way to W."
        yield Finding(None, text, topic="unsquashed")


def _is_relu(s: Tensor, output: Tensor) -> bool:
    """Return True if the output is that of a ReLU, squashed or not."""
    return close(output, s.relu()) or close(output, expected("squash", (s.relu(),)))


def _origin(subject: Subject, shape: Sequence[int], dim: int) -> tuple[Tensor, Tensor] | None:
    """Return the channel [N, dim] and the place [N, dim] of each number of each capsule, or None.

    The function is shown features that are zero but for half of the channels, or of the places:
    those whose index has a certain bit, then the others. A squash, along whatever axis, leaves
    zeros zero (or makes them nan).
    """
    channels, places = shape[0], shape[1] * shape[2]

    def nonzero(chosen: Tensor) -> Tensor:
        """Return where the capsules are not zero, for features that are zero where not chosen."""
        numbers = torch.linspace(0.7, 1.3, channels * places).reshape(1, channels, places)
        output = subject((numbers * chosen).reshape(1, *shape), dim)[0]
        return output.detach().double().nan_to_num(0).abs() > 1e-6

    channel = _index(nonzero, channels, axis=1)
    place = _index(nonzero, places, axis=2)
    if channel is None or place is None:
        return None
    numbers = (channel * places + place).flatten().sort().values
    is_rearrangement = torch.equal(numbers, torch.arange(channels * places))
    return (channel, place) if is_rearrangement else None


def _index(nonzero: Callable[[Tensor], Tensor], count: int, axis: int) -> Tensor | None:
    """Return the index on an axis that each number of each capsule comes from, bit by bit."""
    shape = [1, 1, 1]
    shape[axis] = count
    indices = torch.arange(count).reshape(shape)
    result = None
    for bit in range(max(1, (count - 1).bit_length())):
        is_set = (indices >> bit) % 2 == 1
        with_it, without_it = nonzero(is_set), nonzero(~is_set)
        if (with_it == without_it).any():  # of no feature, or of several
            return None
        contribution = with_it.long() << bit
        result = contribution if result is None else result + contribution
    return result
