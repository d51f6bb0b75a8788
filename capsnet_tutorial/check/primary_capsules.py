"""Is every primary capsule the numbers of one type at one place?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from capsnet_tutorial.check.axes import axes_of, gathered
from capsnet_tutorial.check.calls import Subject, Trouble, examined
from capsnet_tutorial.check.compare import nan_at_zero
from capsnet_tutorial.check.report import Example, Finding, Report
from capsnet_tutorial.check.sites import Site
from capsnet_tutorial.check.trace import Graph, Target, Trace, memory
from capsnet_tutorial.check.variants import close, recognise


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


def check_primary_capsules(function: Any) -> Report:
    """Are these primary capsules cut, and squashed if at all, as in the paper? Names what is wrong.

    Args:
        function: ``capsules(features [B, types·dim, H, W], dim) -> [B, types·H·W, dim]``, in any order of the capsules,
            squashed or not; a function or a module.

    Returns:
        A `Report`; bugs that it knows: capsule-view, squash-axis, squash-nan.
    """
    agrees = "Every capsule is the numbers of one type at one place."
    return examined("primary capsules", "capsules(features, dim)", function, agrees, _examine)


def examine_within(target: Target, graph: Graph, site: Site, sizes: Mapping[str, int]) -> list[Finding] | str:
    """Findings about the primary capsules of a network, from its last convolutions to what û is made of; or why none.

    The convolutions are made to give our features, and u is caught on its way.
    """
    way = graph.on_the_way(site.made.inputs)
    path = [each for each in graph.operations if each.index in way and each.index < site.made.index]
    convolutions = [each for each in path if each.name == "conv2d"]
    if not convolutions:
        return "no convolution leads to them"
    last = [each for each in convolutions if memory(each.inputs[0]) == memory(convolutions[-1].inputs[0])]
    maps = [each.outputs[0] for each in last]
    numbers, batch = sum(each.numel() for each in maps), sizes["B"]
    dim, rest = divmod(numbers, batch * sizes["I"])
    made = graph.derived(maps, last[0].index)
    u = [each for each in path if each.outputs[0].numel() == numbers and memory(each.outputs[0]) in made]
    axes = axes_of(u[-1].outputs[0].shape, {"B": batch, "I": sizes["I"], "D": dim}) if u and not rest else []
    channels = [each.shape[1] for each in maps]
    if not axes or dim < 2 or sum(channels) % dim:
        return "it was not found where they are cut out of the last convolution's maps"

    def primary(features: Tensor, dim: int) -> Tensor:
        rows = features if len(features) == batch else features.repeat(batch, 1, 1, 1)[:batch]
        parts = dict(zip((each.index for each in last), rows.split(channels, dim=1), strict=True))
        instead = {index: (lambda compute, part=part: part.clone()) for index, part in parts.items()}
        trace = Trace(instead, keep=[u[-1].index], stop=u[-1].index)
        target.run(trace, grad=torch.is_grad_enabled())
        named = {"B": batch, "I": sizes["I"], "D": dim}
        return gathered(trace.output(u[-1].index), axes[0], named, "BID")[: len(features)]

    cut = Sizes(sum(channels) // dim, dim, *maps[0].shape[2:])
    report = examined(
        "primary capsules",
        "capsules(features, dim)",
        primary,
        "",
        lambda subject: _examine(subject, (cut,), inside=True),
    )
    if not report.bugs and any(not each.topic for each in report.findings):
        return "what becomes of the last convolution's maps is no rearrangement and squash"
    return [each for each in report.findings if each.bug or each.topic == "unsquashed"]


def _examine(
    subject: Subject, allowed: tuple[Sizes, ...] = (Sizes(3, 8, 4, 5), Sizes(32, 8, 6, 6)), *, inside: bool = False
) -> list[Finding]:
    """Findings; inside a network the capsules have to be squashed on their way to W."""
    sizes, features, came = _first_call(subject, allowed)
    source = _source(subject, sizes)
    if source is None:
        text = "It is not a rearrangement of the features, squashed or not: a number of a capsule does not come from "
        text += "exactly one channel at one place. (A ReLU, a bias or a second convolution belongs before it.)"
        return [Finding(None, text)]
    channel, place = source
    mixed = int((place != place[:, :1]).any(dim=1).sum())
    findings = [_mixed(sizes, place, mixed)] if mixed else []
    s = features.double().flatten(2)[:, channel, place]  # [B, N, dim]
    squashed = not close(came, s)
    wrong = recognise("squash", [((s,), came)], at_most=2) if squashed else ()
    if wrong is None:
        text = "Each number is where it belongs, but it is neither the feature nor squashed along any axis: "
        text += f"output[0, 0, 0] is {float(came[0, 0, 0]):.4f}, made of the feature {float(s[0, 0, 0]):.4f}."
        findings.append(Finding(None, text))
    elif wrong:
        squared = s.square().sum(-1)[0, :4]
        lengths = squared / (1 + squared), came[0, :4].norm(dim=-1)
        example = Example("the first image's first four capsules", "their lengths", *lengths)
        findings.append(Finding("squash-axis", f"Here: {wrong[0].description}.", example))
    elif inside and not squashed:
        text = "Not as in the paper: the primary capsules are never squashed on their way to W."
        findings.append(Finding(None, text, topic="unsquashed"))
    if squashed:
        findings += nan_at_zero(subject, came.shape, torch.zeros_like(features), sizes.dim, name="features")
    if not findings and not close(subject.tensor(sizes.output(1), features[:1], sizes.dim), came[:1]):
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
    numbers = torch.linspace(0.7, 1.3, sizes.channels * sizes.places).reshape(1, sizes.channels, sizes.places)
    for count, shape in ((sizes.channels, (1, -1, 1)), (sizes.places, (1, 1, -1))):
        index = torch.zeros(sizes.output(1)[1:], dtype=torch.long)
        for bit in range(max(1, (count - 1).bit_length())):
            seen = []
            for half in (0, 1):
                chosen = ((torch.arange(count) >> bit) % 2 == half).reshape(shape)
                features = (numbers * chosen).reshape(1, sizes.channels, sizes.height, sizes.width)
                seen.append(subject(features, sizes.dim)[0].detach().double().nan_to_num(0).abs() > 1e-6)
            if (seen[0] == seen[1]).any():
                return None
            index += seen[1].long() << bit
        found.append(index)
    channel, place = found
    everything = (channel * sizes.places + place).flatten().sort().values
    return (channel, place) if torch.equal(everything, torch.arange(sizes.channels * sizes.places)) else None


def _mixed(sizes: Sizes, place: Tensor, count: int) -> Finding:
    capsule = int((place != place[:, :1]).any(dim=1).double().argmax())
    came = place[capsule].double()
    given = f"features of {sizes.height}×{sizes.width} places, counted row by row; capsule {capsule}"
    what = "the place that each of its numbers comes from"
    example = Example(given, what, torch.full_like(came, float(came[0])), came)
    return Finding("capsule-view", f"{count} of {len(place)} capsules read several places.", example)
