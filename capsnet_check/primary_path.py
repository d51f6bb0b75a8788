"""The primary capsules of a network, on their way from its last convolutions to the routing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from capsnet_check.axes import Axes, axes_of, gathered
from capsnet_check.calls import Subject
from capsnet_check.examination import examine
from capsnet_check.graph import Graph, memory
from capsnet_check.primary_capsules import SIGNATURE, primary_findings
from capsnet_check.report import Finding, Report
from capsnet_check.trace import Operation, Trace


def findings_on_the_way(
    graph: Graph, to: Sequence[Tensor], end: float, sizes: dict[str, int]
) -> list[Finding] | str:
    """Return findings about the primary capsules on their way to these tensors, or why none.

    The convolutions are made to give features of ours, and u is caught.

    Args:
        graph: of the network.
        to: what is computed from the primary capsules.
        end: index of the operation that they have to come before.
        sizes: of B, I and perhaps D.
    """
    indices = graph.on_the_way(to)
    path = [
        operation
        for operation in graph.operations
        if operation.index in indices and operation.index < end
    ]
    convolutions = _last_convolutions(path)
    if not convolutions:
        return "no convolution leads to them"
    reports = []
    for operation, axes, all_sizes in _cuts(graph, path, convolutions, sizes):
        function = _Within(graph, convolutions, operation, axes, all_sizes)
        reports.append(_report(function))
        if not reports[-1].findings:
            break
    if not reports:
        return "it was not found where they are cut out of the last convolution's maps"

    report = min(reports, key=_distance)
    others = [finding for finding in report.findings if finding.topic != "unsquashed"]
    if not report.bugs and others:
        return "what becomes of the last convolution's maps is no rearrangement and squash"
    return [finding for finding in report.findings if finding.bug or finding.topic == "unsquashed"]


def _last_convolutions(path: Sequence[Operation]) -> list[Operation]:
    """Return the last convolution, and those beside it that take the same input."""
    convolutions = [operation for operation in path if operation.name == "conv2d"]
    if not convolutions:
        return []
    source = memory(convolutions[-1].inputs[0])
    return [operation for operation in convolutions if memory(operation.inputs[0]) == source]


def _distance(report: Report) -> tuple[bool, int]:
    """Return how far a reading of the axes is from a right one: known mistakes before unknown."""
    return bool(report.findings) and not report.bugs, len(report.findings)


def _report(function: _Within) -> Report:
    """Return the report on a part of a network that makes capsules of features."""
    channels = sum(function.channels)
    shape = (channels, *function.convolutions[0].output.shape[2:])
    dim = function.sizes["D"]
    return examine(
        "primary capsules",
        lambda: primary_findings(Subject(function, SIGNATURE), shape, dim, must_squash=True),
    )


def _cuts(
    graph: Graph,
    path: Sequence[Operation],
    convolutions: Sequence[Operation],
    sizes: dict[str, int],
) -> Iterator[tuple[Operation, Axes, dict[str, int]]]:
    """Yield operations that give u, with their axes, and the sizes with D.

    The last one may have laid u out anew, for the next layer: axes that fit by chance do not count
    where those of the operation that computed u fit.
    """
    maps = [operation.output for operation in convolutions]
    numbers = sum(tensor.numel() for tensor in maps)
    dim, rest = divmod(numbers, sizes["B"] * sizes["I"])
    channels = sum(tensor.shape[1] for tensor in maps)
    if rest or sizes.get("D", dim) != dim or dim < 2 or channels % dim:
        return
    sizes = {**sizes, "D": dim}
    derived = graph.derived(maps, convolutions[0].index)
    of_this_size = [
        operation
        for operation in path
        if operation.output.numel() == numbers and memory(operation.output) in derived
    ]
    if not of_this_size:
        return
    last = of_this_size[-1]
    computing = graph.producer(last.output) or last
    for operation in dict.fromkeys((last, computing)):
        for axes in axes_of(operation.output.shape, sizes):
            yield operation, axes, sizes


class _Within:
    """A function capsules(features, dim) that is a part of a network."""

    def __init__(
        self,
        graph: Graph,
        convolutions: Sequence[Operation],
        u: Operation,
        axes: Axes,
        sizes: dict[str, int],
    ) -> None:
        self.target = graph.target
        self.convolutions = convolutions
        self.channels = [operation.output.shape[1] for operation in convolutions]
        self.u = u
        self.axes = axes
        self.sizes = sizes

    def __call__(self, features: Tensor, dim: int) -> Tensor:
        batch = self.sizes["B"]
        rows = features
        if len(features) != batch:
            rows = features.repeat(batch, 1, 1, 1)[:batch]
        parts = rows.split(self.channels, dim=1)
        replacements = {
            operation.index: part.clone()
            for operation, part in zip(self.convolutions, parts, strict=True)
        }
        trace = Trace(replacements, keep=[self.u.index], stop=self.u.index)
        self.target.run(trace, grad=torch.is_grad_enabled())
        u = gathered(trace.operations[0].output, self.axes, self.sizes, "BID")
        return u[: len(features)]
