"""The primary capsules of a network, on their way from its last convolutions to the routing."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from capsnet_check.axes import Axes, axes_of, gathered
from capsnet_check.calls import Subject
from capsnet_check.examination import examine
from capsnet_check.graph import Graph, memory
from capsnet_check.primary_capsules import SIGNATURE, primary_findings
from capsnet_check.report import Finding
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
    cut = _cut(graph, path, convolutions, sizes)
    if cut is None:
        return "it was not found where they are cut out of the last convolution's maps"

    operation, axes, sizes = cut
    function = _Within(graph, convolutions, operation, axes, sizes)
    shape = (sum(function.channels), *convolutions[0].output.shape[2:])
    report = examine(
        "primary capsules",
        lambda: primary_findings(Subject(function, SIGNATURE), shape, sizes["D"], must_squash=True),
    )
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


def _cut(
    graph: Graph,
    path: Sequence[Operation],
    convolutions: Sequence[Operation],
    sizes: dict[str, int],
) -> tuple[Operation, Axes, dict[str, int]] | None:
    """Return the operation that gives u, its axes, and the sizes with D; None if not found."""
    maps = [operation.output for operation in convolutions]
    numbers = sum(tensor.numel() for tensor in maps)
    dim, rest = divmod(numbers, sizes["B"] * sizes["I"])
    channels = sum(tensor.shape[1] for tensor in maps)
    if rest or sizes.get("D", dim) != dim or dim < 2 or channels % dim:
        return None
    sizes = {**sizes, "D": dim}
    derived = graph.derived(maps, convolutions[0].index)
    of_this_size = [
        operation
        for operation in path
        if operation.output.numel() == numbers and memory(operation.output) in derived
    ]
    readings = axes_of(of_this_size[-1].output.shape, sizes) if of_this_size else []
    return (of_this_size[-1], readings[0], sizes) if readings else None


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
