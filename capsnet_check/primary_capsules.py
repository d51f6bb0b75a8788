"""Is every primary capsule the numbers of one type at one place?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from capsnet_check.calls import Subject, examined, nan_at_zero
from capsnet_check.report import Finding, Report
from capsnet_check.trace import Graph, Trace, axes_of, gathered, memory
from capsnet_check.variants import close, differs, recognise

_SIGNATURE = "capsules(features, dim)"


def check_primary_capsules(function: Any) -> Report:
    """Are these primary capsules cut, and squashed if at all, as in the paper? Names what is wrong.

    Args:
        function: ``capsules(features [B, types·dim, H, W], dim) -> [B, types·H·W, dim]``, in any order of the capsules,
            squashed or not; a function or a module.

    Returns:
        A `Report`; bugs that it knows: capsule-view, squash-axis, squash-nan.
    """
    agrees = "Every capsule is the numbers of one type at one place."
    return examined(
        "primary capsules", lambda: _examine(Subject(function, _SIGNATURE), (24, 4, 5), 8), agrees
    )


def examine_within(
    graph: Graph, to: list[Tensor], end: float, named: dict[str, int]
) -> list[Finding] | str:
    """Findings about the primary capsules of a network, from its last convolutions to these tensors; or why none.

    The convolutions are made to give our features, and u is caught on its way, of these sizes B, I and perhaps D.
    """
    way = graph.on_the_way(to)
    path = [each for each in graph.operations if each.index in way and each.index < end]
    convolutions = [each for each in path if each.name == "conv2d"]
    if not convolutions:
        return "no convolution leads to them"
    last = [
        each
        for each in convolutions
        if memory(each.inputs[0]) == memory(convolutions[-1].inputs[0])
    ]
    maps = [each.outputs[0] for each in last]
    numbers, batch = sum(each.numel() for each in maps), named["B"]
    dim, rest = divmod(numbers, batch * named["I"])
    fits = not rest and named.setdefault("D", dim) == dim
    made = graph.derived(maps, last[0].index)
    u = [
        each
        for each in path
        if each.outputs[0].numel() == numbers and memory(each.outputs[0]) in made
    ]
    axes = axes_of(u[-1].outputs[0].shape, named) if u and fits else []
    channels = [each.shape[1] for each in maps]
    if not axes or dim < 2 or sum(channels) % dim:
        return "it was not found where they are cut out of the last convolution's maps"

    def primary(features: Tensor, dim: int) -> Tensor:
        rows = features if len(features) == batch else features.repeat(batch, 1, 1, 1)[:batch]
        parts = {
            each.index: part.clone()
            for each, part in zip(last, rows.split(channels, dim=1), strict=True)
        }
        trace = Trace(parts, keep=[u[-1].index], stop=u[-1].index)
        graph.target.run(trace, grad=torch.is_grad_enabled())
        return gathered(trace.operations[0].outputs[0], axes[0], named, "BID")[: len(features)]

    cut = (sum(channels), *maps[0].shape[2:])
    report = examined(
        "primary capsules", lambda: _examine(Subject(primary, _SIGNATURE), cut, dim, inside=True)
    )
    if not report.bugs and any(each.topic != "unsquashed" for each in report.findings):
        return "what becomes of the last convolution's maps is no rearrangement and squash"
    return [each for each in report.findings if each.bug or each.topic == "unsquashed"]


def _examine(
    subject: Subject, shape: Sequence[int], dim: int, *, inside: bool = False
) -> list[Finding]:
    """Findings, for features [channels, height, width]; in a network they have to be squashed on their way to W."""
    features = torch.randn(2, *shape, generator=torch.Generator().manual_seed(2))
    capsules = (features[0].numel() // dim, dim)
    came = subject.tensor((2, *capsules), features, dim)
    source = _source(subject, shape, dim)
    if source is None:
        text = "It is not a rearrangement of the features, squashed or not: a number of a capsule does not come from "
        text += "exactly one channel at one place. (A ReLU, a bias or a second convolution belongs before it.)"
        return [Finding(None, text)]
    channel, place = source
    mixed = (place != place[:, :1]).any(dim=1)
    text = f"{int(mixed.sum())} of {len(place)} capsules read several places: "
    text += f"number {int(mixed.double().argmax())} those at {place[mixed][:1].flatten().tolist()}, row by row."
    findings = [Finding("capsule-view", text)] if mixed.any() else []
    s = features.double().flatten(2)[:, channel, place]  # [B, N, dim]
    alone = close(subject.tensor((1, *capsules), features[:1], dim), came[:1])
    squashed = not close(came, s)
    wrong = recognise("squash", [((s,), came)], at_most=2) if squashed else ()
    if not alone and not wrong:
        findings.append(
            Finding(None, "With a batch of one image it gives other capsules than beside others.")
        )
    elif wrong is None:
        findings.append(differs("squash", (s,), came))
    elif wrong:
        findings.append(Finding("squash-axis", f"Here: {wrong[0].description}."))
    elif inside and not squashed:
        text = "Not as in the paper: the primary capsules are never squashed on their way to W."
        findings.append(Finding(None, text, topic="unsquashed"))
    if squashed:
        findings += nan_at_zero(
            subject, came.shape, torch.zeros_like(features), dim, name="features"
        )
    return findings


def _source(subject: Subject, shape: Sequence[int], dim: int) -> tuple[Tensor, Tensor] | None:
    """Where each number of each capsule comes from: channel [N, dim] and place [N, dim], or None.

    Found by showing features that are zero but for half of the channels, or of the places: those whose index has a
    certain bit, then the others. A squash, along whatever axis, leaves zeros zero (or makes them nan).
    """
    found = []
    channels, places = shape[0], shape[1] * shape[2]
    numbers = torch.linspace(0.7, 1.3, channels * places).reshape(1, channels, places)
    for count, axes in ((channels, (1, -1, 1)), (places, (1, 1, -1))):
        index = torch.zeros(channels * places // dim, dim, dtype=torch.long)
        for bit in range(max(1, (count - 1).bit_length())):
            seen = []
            for half in (0, 1):
                chosen = ((torch.arange(count) >> bit) % 2 == half).reshape(axes)
                features = (numbers * chosen).reshape(1, *shape)
                seen.append(subject(features, dim)[0].detach().double().nan_to_num(0).abs() > 1e-6)
            if (seen[0] == seen[1]).any():
                return None
            index += seen[1].long() << bit
        found.append(index)
    channel, place = found
    everything = (channel * places + place).flatten().sort().values
    return (channel, place) if torch.equal(everything, torch.arange(channels * places)) else None
