"""Are these primary capsules made of the channels of one place each?"""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import torch
from torch import Tensor

from capsnet_tutorial.check.calls import Subject, Trouble
from capsnet_tutorial.check.pieces import examined, nan_at_zero
from capsnet_tutorial.check.recognise import close
from capsnet_tutorial.check.report import Example, Finding, Report


def check_primary_capsules(function: Any) -> Report:
    """Does this function cut feature maps into capsules? Names what is wrong.

    The capsules may come in any order, and a type may be any ``dim`` channels, so long as they are the same
    everywhere. They may be squashed or not: some squash here, some in the next line.

    Args:
        function: ``capsules(features [B, types·dim, H, W], dim) -> [B, types·H·W, dim]``, a function or a module.

    Returns:
        A `Report`; bugs that it knows: capsule-view, squash-axis, squash-nan.
    """
    agrees = "Every capsule is the numbers of one type at one place."
    called = "capsules(features, dim)"
    return examined("primary capsules", called, function, agrees, examine)


class Sizes(NamedTuple):
    types: int
    dim: int
    height: int
    width: int

    @property
    def channels(self) -> int:
        return self.types * self.dim

    @property
    def places(self) -> int:
        return self.height * self.width

    def output(self, batch: int) -> tuple[int, int, int]:
        return (batch, self.types * self.places, self.dim)


_SMALL, _PAPER = Sizes(3, 8, 4, 5), Sizes(32, 8, 6, 6)


def examine(
    subject: Subject, allowed: tuple[Sizes, ...] = (_SMALL, _PAPER), *, squashed: bool = False
) -> list[Finding]:
    """Findings; with `squashed` the capsules have to be squashed, as where they reach W in a network."""
    sizes, features, came = _first_call(subject, allowed)
    source = _source(subject, sizes)
    findings: list[Finding] = []
    if source is None:
        return [
            Finding(
                None,
                "It is not a rearrangement of the features, squashed or not: a number of a capsule does not come "
                "from exactly one channel at one place. (A ReLU, a bias or a second convolution belongs before it.)",
            )
        ]
    channel, place = source
    if (place != place[:, :1]).any():
        findings.append(_mixed(sizes, place))
    elif not _is_a_partition(channel, place):
        return [Finding(None, "The capsules of one type take other channels at one place than at another.")]
    kind = _kind_of_squash(features, came, channel, place, mixed=bool(findings))
    if kind is None:
        findings.append(Finding(None, _first_number(features, came, channel, place)))
    elif kind == "wrong axis":
        findings.append(_wrong_axis(features, came, channel, place))
    elif kind == "none" and squashed:
        text = "Not as in the paper: the primary capsules are never squashed on their way to W."
        findings.append(Finding(None, text, topic="unsquashed"))
    if kind != "none":
        findings += nan_at_zero(subject, came.shape, torch.zeros_like(features), sizes.dim, name="features")
    if not findings:
        alone = subject.tensor(sizes.output(1), features[:1], sizes.dim)
        if not close(alone, came[:1]):
            findings.append(Finding(None, "With a batch of one image it gives other capsules than beside others."))
    return findings


def _first_call(subject: Subject, allowed: tuple[Sizes, ...]) -> tuple[Sizes, Tensor, Tensor]:
    """Features and what became of them; of the paper's sizes where the code insists on them."""
    first: Trouble | None = None
    for sizes in allowed:
        generator = torch.Generator().manual_seed(2)
        features = torch.randn(2, sizes.channels, sizes.height, sizes.width, generator=generator)
        try:
            return sizes, features, subject.tensor(sizes.output(2), features, sizes.dim)
        except Trouble as trouble:
            first = first or trouble
    assert first is not None
    raise first


def _source(subject: Subject, sizes: Sizes) -> tuple[Tensor, Tensor] | None:
    """Where each number of each capsule comes from: channel [N, dim] and place [N, dim], or None.

    Found by showing features that are zero but for half of the channels, or of the places: those whose index has a
    certain bit, then the others. A squash, along whatever axis, leaves zeros zero (or makes them nan).
    """
    found = []
    for count, axis in ((sizes.channels, 1), (sizes.places, 2)):
        index = torch.zeros(sizes.output(1)[1:], dtype=torch.long)
        for bit in range(max(1, (count - 1).bit_length())):
            chosen = (torch.arange(count) >> bit) % 2 == 1
            with_bit, without = (_lit(subject, sizes, half, axis) for half in (chosen, ~chosen))
            if (with_bit == without).any():
                return None
            index += with_bit.long() << bit
        found.append(index)
    channel, place = found
    everything = (channel * sizes.places + place).flatten().sort().values
    return (channel, place) if torch.equal(everything, torch.arange(sizes.channels * sizes.places)) else None


def _lit(subject: Subject, sizes: Sizes, chosen: Tensor, axis: int) -> Tensor:
    """Which numbers of the capsules come from the chosen channels (axis 1) or places (axis 2)."""
    numbers = torch.linspace(0.7, 1.3, sizes.channels * sizes.places).reshape(1, sizes.channels, sizes.places)
    shape = [1, -1, 1] if axis == 1 else [1, 1, -1]
    features = (numbers * chosen.reshape(shape)).reshape(1, sizes.channels, sizes.height, sizes.width)
    return subject(features, sizes.dim)[0].detach().double().nan_to_num(0).abs() > 1e-6


def _is_a_partition(channel: Tensor, place: Tensor) -> bool:
    """Whether every place has the same groups of channels, in the same order of a capsule's numbers."""
    groups: dict[int, set[tuple[int, ...]]] = {}
    for row, where in zip(channel.tolist(), place[:, 0].tolist(), strict=True):
        groups.setdefault(where, set()).add(tuple(row))
    return all(each == groups[0] for each in groups.values())


def _kind_of_squash(features: Tensor, came: Tensor, channel: Tensor, place: Tensor, *, mixed: bool) -> str | None:
    """ "none", "right", "wrong axis", or None if it is no squash along any axes."""
    s = features.double().flatten(2)[:, channel, place]  # [B, N, dim]
    if close(came, s):
        return "none"
    # The axes along which a length may have been measured: batch, type, component, row, column; or of the output.
    kind = channel.sort(dim=1).values[:, 0] if not mixed else torch.arange(len(channel))
    labels = {
        "batch": torch.arange(len(s)).reshape(-1, 1, 1).expand_as(s),
        "kind": kind.reshape(1, -1, 1).expand_as(s),
        "component": torch.arange(s.shape[2]).expand_as(s),
        "row": (place // features.shape[3]).expand_as(s),
        "column": (place % features.shape[3]).expand_as(s),
        "channel": channel.expand_as(s),
        "capsule": torch.arange(s.shape[1]).reshape(1, -1, 1).expand_as(s),
    }
    if close(came, _squashed_within(s, [labels["batch"], labels["capsule"]])):
        return "right"
    for count in range(len(labels) + 1):
        for kept in combinations(labels.values(), count):
            if close(came, _squashed_within(s, list(kept))):
                return "wrong axis"
    return None


def _squashed_within(s: Tensor, labels: list[Tensor]) -> Tensor:
    """Squash with the length taken over all numbers that have the same labels."""
    group = torch.zeros(s.shape, dtype=torch.long)
    for label in labels:
        group = group * (int(label.max()) + 1) + label
    _, index = group.flatten().unique(return_inverse=True)
    squared = torch.zeros(int(index.max()) + 1, dtype=s.dtype).index_add(0, index, s.flatten().square())[index]
    return (s.flatten() * squared.sqrt() / (1 + squared)).reshape(s.shape)


def _mixed(sizes: Sizes, place: Tensor) -> Finding:
    capsule = int((place != place[:, :1]).any(dim=1).double().argmax())
    came = place[capsule].double()
    example = Example(
        f"features of {sizes.height}×{sizes.width} places, counted row by row; capsule {capsule}",
        "the place that each of its numbers comes from",
        torch.full_like(came, float(came[0])),
        came,
    )
    share = int((place != place[:, :1]).any(dim=1).sum())
    return Finding("capsule-view", f"{share} of {len(place)} capsules read several places.", example)


def _wrong_axis(features: Tensor, came: Tensor, channel: Tensor, place: Tensor) -> Finding:
    s = features.double().flatten(2)[:, channel, place]
    squared = s.square().sum(-1)
    lengths = (squared / (1 + squared))[0, :4]
    example = Example(
        "the first image's first four capsules", "their lengths", lengths, came[0, :4].norm(dim=-1).reshape(-1)
    )
    return Finding("squash-axis", "Each number is where it belongs; only the length is another's.", example)


def _first_number(features: Tensor, came: Tensor, channel: Tensor, place: Tensor) -> str:
    s = features.double().flatten(2)[:, channel, place]
    return (
        "Each number is where it belongs, but it is neither the feature nor squashed along any axis: "
        f"output[0, 0, 0] is {float(came[0, 0, 0]):.4f}, made of the feature {float(s[0, 0, 0]):.4f}."
    )
