"""Places where a network routes, wherever its W lives.

A coupling is the output of a softmax; what it is first multiplied with is û, and v comes out of the
last use of û. So û can be replaced by predictions of ours, and v be looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from capsnet_check.axes import Axes, axes_of, gathered, spread
from capsnet_check.graph import Graph, memory
from capsnet_check.target import Target
from capsnet_check.trace import Operation, Trace

_SOFTMAXES = {"softmax", "log_softmax", "exp", "sigmoid", "softmin", "sparsemax", "gumbel_softmax"}
_LARGEST = 2**24
"""Whole numbers up to this one are exact in float32: û may have so many numbers to be followed."""
_MOST_CANDIDATES = 12
"""For v: what follows it has other sizes, but for a squash's steps and copies in other layouts."""
_MOST_READINGS = 4
"""Of the axes of û, for one number of capsules above."""


@dataclass(frozen=True)
class Site:
    """One place where a network routes, and one way to read its axes."""

    target: Target
    """With zeros in the priors."""
    priors: tuple[str, ...]
    """Names of the parameters that the first couplings are computed from: learned log priors."""
    couplings: Operation
    """The first softmax."""
    first_use: Operation
    """Where the couplings meet û."""
    producer: Operation
    """The operation that computes û."""
    places: Tensor
    """For each number of û where it meets the couplings, its place in the producer's output."""
    candidates: tuple[int, ...]
    """Indices of operations one of which gives v, the last first."""
    loops: int
    """How often couplings meet û in this line of code."""
    sizes: dict[str, int]
    """Of B, I, J and D."""
    axes: Axes
    """Of û where it meets the couplings."""
    has_merged_axes: bool
    """Whether two axes of û are read as one, as I may be types and places. It may be by chance."""

    def laid_out(self, u_hat: Tensor) -> Tensor:
        """Return û [B, I, J, D] as the network computes it."""
        flat = spread(u_hat, "BIJD", self.axes).flatten()
        in_its_order = flat[self.places.flatten().argsort()]
        return in_its_order.reshape(self.producer.output.shape).to(self.producer.output.dtype)

    def outputs(self, u_hat: Tensor, candidates: Sequence[int]) -> dict[Operation, Tensor]:
        """Return the candidates' outputs as v [B, J, D], the last first, for these predictions."""
        replacements = {self.producer.index: self.laid_out(u_hat)}
        trace = Trace(replacements, keep=candidates, stop=max(candidates))
        self.target.run(trace, grad=u_hat.requires_grad)
        sizes = {symbol: self.sizes[symbol] for symbol in "BJD"}
        outputs = {}
        for operation in reversed(trace.operations):
            readings = axes_of(operation.output.shape, sizes)
            if readings:
                outputs[operation] = gathered(operation.output, readings[0], sizes, "BJD")
        return outputs


class _Meeting(NamedTuple):
    """The place where couplings first meet what an image has changed."""

    couplings: Operation
    first_use: Operation
    votes: Tensor
    """û, as it is there."""
    producer: Operation
    """The operation that computes û."""


def sites_in(graph: Graph) -> Iterator[list[Site]]:
    """Yield every place where a network routes, as the ways to read its axes.

    Couplings that no image has changed yet are those of a first round. Only where there are none,
    others count.
    """
    meetings = list(_meetings(graph))
    first_rounds = [
        meeting for meeting in meetings if memory(meeting.couplings.output) not in graph.of_images
    ]
    by_producer: dict[int, _Meeting] = {}
    for meeting in first_rounds or meetings:
        by_producer.setdefault(meeting.producer.index, meeting)
    for meeting in by_producer.values():
        sites = _sites_at(graph, meeting, [*by_producer])
        if sites:
            yield sites


def _meetings(graph: Graph) -> Iterator[_Meeting]:
    """Yield for each softmax where its output first meets a tensor that depends on the images."""
    batch = len(graph.target.given)
    for couplings in graph.operations:
        if couplings.name not in _SOFTMAXES:
            continue
        first_use, votes = _first_use(graph, couplings)
        if first_use is None or votes is None:
            continue
        producer = graph.producer(votes)
        followable = votes.numel() <= _LARGEST and votes.numel() % batch == 0
        if producer is not None and followable:
            yield _Meeting(couplings, first_use, votes, producer)


def _first_use(graph: Graph, couplings: Operation) -> tuple[Operation | None, Tensor | None]:
    """Return the operation in which couplings first meet a tensor that depends on the images."""
    derived = {memory(tensor) for tensor in couplings.outputs}
    for operation in graph.after(couplings.index):
        if not any(memory(tensor) in derived for tensor in operation.inputs):
            continue
        for tensor in operation.inputs:
            is_other = memory(tensor) not in derived and tensor.is_floating_point()
            if is_other and memory(tensor) in graph.of_images and tensor.dim() > 1:
                return operation, tensor
        derived |= {memory(tensor) for tensor in operation.outputs}
    return None, None


def _sites_at(graph: Graph, meeting: _Meeting, producers: Sequence[int]) -> list[Site]:
    """Return the ways to read a place's axes; none where nothing is summed, or no axes fit."""
    uses = _uses(graph, meeting.producer)
    needed = [
        operation
        for operation in uses
        if operation.index in graph.needed
        and memory(operation.output) not in graph.moved(meeting.producer)
    ]
    sums = _sums_over_capsules(graph, meeting)
    places = _places(graph.target, meeting) if needed and sums else None
    if places is None:
        return []
    loops = sum(
        use.place == meeting.first_use.place and use.name == meeting.first_use.name for use in uses
    )
    priors = graph.parameters_of(meeting.couplings)
    target = graph.target.with_zeros_in(priors) if priors else graph.target
    sites: list[Site] = []
    for s in reversed(sums):  # what is left of two sums, first
        candidates = _candidates(graph, needed[-1], s.numel(), producers)
        if candidates:
            sites += [
                Site(
                    target,
                    tuple(priors),
                    meeting.couplings,
                    meeting.first_use,
                    meeting.producer,
                    places,
                    candidates,
                    loops,
                    sizes,
                    axes,
                    has_merged_axes,
                )
                for sizes in _possible_sizes(graph, meeting, s)
                for axes, has_merged_axes in _readings(meeting.votes.shape, sizes)
            ]
    return sites


def _sums_over_capsules(graph: Graph, meeting: _Meeting) -> list[Tensor]:
    """Return what may be s: the meeting's first result with fewer numbers; [] if there is none.

    Where û has five axes, the next one that is smaller still, too: a sum over places and types may
    go in two steps.
    """
    most = 2 if len(_long_axes(meeting.votes.shape)) == 5 else 1
    sums: list[Tensor] = []
    numbers = meeting.votes.numel()
    for operation in graph.results(meeting.first_use):
        s = operation.output
        if s.numel() >= numbers or numbers % s.numel() != 0:
            continue
        if s.numel() % len(graph.target.given) != 0:
            break
        sums.append(s)
        numbers = s.numel()
        if len(sums) == most:
            break
    return sums


def _long_axes(shape: Sequence[int]) -> list[int]:
    return [size for size in shape if size > 1]


def _readings(shape: Sequence[int], sizes: dict[str, int]) -> list[tuple[Axes, bool]]:
    """Return ways to read the axes of û, and whether two of them are read as one."""
    readings = [(axes, False) for axes in axes_of(shape, sizes)]
    long = _long_axes(shape)
    if not readings and len(long) == len(sizes) + 1:
        for k in range(1, len(long) - 1):
            merged = [*long[:k], long[k] * long[k + 1], *long[k + 2 :]]
            readings += [(axes, True) for axes in axes_of(merged, sizes)]
    return readings[:_MOST_READINGS]


def _uses(graph: Graph, producer: Operation) -> list[Operation]:
    """Return the operations that take û, moved about or not."""
    moved = graph.moved(producer)
    return [
        operation
        for operation in graph.after(producer.index)
        if any(memory(tensor) in moved for tensor in operation.inputs)
    ]


def _candidates(
    graph: Graph, last_use: Operation, numbers: int, producers: Sequence[int]
) -> tuple[int, ...]:
    """Return the operations that may give v, the last first.

    They lie between the last use of û and the operation that computes the next layer's û: an equal
    layer has results of the same size. (Where the next layer shares out v itself, that is v.)
    """
    end = min((index for index in producers if index > last_use.index), default=math.inf)
    of_this_size = [
        operation.index
        for operation in graph.results(last_use)
        if operation.output.numel() == numbers and operation.index <= end
    ]
    returned = [index for index in of_this_size if index in graph.returned]
    candidates = returned or of_this_size
    return tuple(reversed(candidates[-_MOST_CANDIDATES:]))


def _possible_sizes(graph: Graph, meeting: _Meeting, s: Tensor) -> Iterator[dict[str, int]]:
    """Yield sizes of B, I, J and D that fit û, s and the couplings."""
    batch = len(graph.target.given)
    below = meeting.votes.numel() // s.numel()
    above = s.numel() // batch  # J · D
    couplings = meeting.couplings.output
    for J in dict.fromkeys((*s.shape, *meeting.votes.shape, *couplings.shape)):
        if 1 < J < above and above % J == 0 and couplings.numel() % (below * J) == 0:
            yield {"B": batch, "I": below, "J": J, "D": above // J}


def _places(target: Target, meeting: _Meeting) -> Tensor | None:
    """Return where each number of û comes from, found by whole numbers in the place of û."""
    output = meeting.producer.output
    counted = torch.arange(output.numel())
    replacements = {meeting.producer.index: counted.reshape(output.shape).to(output.dtype)}
    trace = Trace(replacements, keep=[meeting.first_use.index], stop=meeting.first_use.index)
    target.run(trace)
    if not trace.operations:
        return None
    position = next(
        index for index, tensor in enumerate(meeting.first_use.inputs) if tensor is meeting.votes
    )
    places = trace.operations[0].inputs[position].long()
    return places if places.flatten().sort().values.equal(counted) else None
