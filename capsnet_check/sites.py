"""Where a network routes, wherever its W lives, and whether that is Procedure 1.

A coupling is the output of a softmax; what it is first multiplied with is û, and what comes out of the last use of û
is v. So û can be replaced by predictions of ours, and v compared with Procedure 1 and with the ways in which it is
known to be got wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from capsnet_check.calls import Subject, Trouble, arguments_of, nan_at_zero
from capsnet_check.pieces import Known, predictions, recognised
from capsnet_check.report import Finding
from capsnet_check.trace import (
    Axes,
    Graph,
    Operation,
    Target,
    Trace,
    axes_of,
    gathered,
    memory,
    spread,
)

_SOFTMAXES = {"softmax", "log_softmax", "exp", "sigmoid", "softmin", "sparsemax", "gumbel_softmax"}
_ROUNDS = re.compile(r"iter|round|^(num_|n_)?routings?$|^r$", re.IGNORECASE)
_EXACT = 2**24  # the whole numbers that float32 can hold
_FINALS = 12


@dataclass(frozen=True)
class Site:
    """One place where a network routes, and one way to read its axes."""

    target: Target
    couplings: Operation
    """The first softmax."""
    meeting: Operation
    """Where the couplings meet û."""
    made: Operation
    """What computed û."""
    where: Tensor
    """For each number of û where it meets the couplings, its place in what computed it."""
    finals: tuple[int, ...]
    """Operations one of which gives v, the last first."""
    loops: int
    """How often couplings meet û in this line of code."""
    sizes: dict[str, int]
    """Of B, I, J and D."""
    votes: Axes
    """Of û where it meets the couplings."""

    def laid_out(self, u_hat: Tensor) -> Tensor:
        """û [B, I, J, D] as the network computes it."""
        flat = spread(u_hat, "BIJD", self.votes).flatten()
        return (
            flat[self.where.flatten().argsort()]
            .reshape(self.made.outputs[0].shape)
            .to(self.made.outputs[0].dtype)
        )

    def outputs(self, u_hat: Tensor, finals: Sequence[int]) -> dict[Operation, Tensor]:
        """What these operations give, as v [B, J, D], the last first, with predictions of ours in the place of û."""
        given = self.laid_out(u_hat)
        trace = Trace({self.made.index: given}, keep=finals, stop=max(finals))
        self.target.run(trace, grad=u_hat.requires_grad)
        found, sizes = {}, {symbol: self.sizes[symbol] for symbol in "BJD"}
        for operation in trace.operations[::-1]:
            for axes in axes_of(operation.outputs[0].shape, sizes)[:1]:
                found[operation] = gathered(operation.outputs[0], axes, sizes, "BJD")
        return found


def sites_in(target: Target, graph: Graph) -> Iterator[list[Site]]:
    """Every place where couplings that no image has changed meet something that an image has; else the others.

    Of each place the ways to read its axes.
    """
    found = list(_meetings(graph))
    fixed = [pair for pair in found if memory(pair[0].outputs[0]) not in graph.of_images]
    known: set[int] = set()
    for couplings, meeting, votes in fixed or found:
        made = graph.maker(votes)
        if (
            made is None
            or made.index in known
            or votes.numel() > _EXACT
            or votes.numel() % len(target.given)
        ):
            continue
        known.add(made.index)
        if sites := _readings(target, graph, couplings, meeting, votes, made):
            yield sites


def _meetings(graph: Graph) -> Iterator[tuple[Operation, Operation, Tensor]]:
    """Each softmax, where its output first meets what an image has changed and it has not, and that."""
    for couplings in (each for each in graph.operations if each.name in _SOFTMAXES):
        known = {memory(each) for each in couplings.outputs}
        for operation in graph.after(couplings.index):
            if not any(memory(each) in known for each in operation.inputs):
                continue
            others = [
                each
                for each in operation.inputs
                if memory(each) not in known and each.is_floating_point()
            ]
            votes = [each for each in others if memory(each) in graph.of_images and each.dim() > 1]
            if votes:
                yield couplings, operation, votes[0]
                break
            known |= {memory(each) for each in operation.outputs}


def _readings(
    target: Target,
    graph: Graph,
    couplings: Operation,
    meeting: Operation,
    votes: Tensor,
    made: Operation,
) -> list[Site]:
    """The ways to read a place's axes; none where nothing is summed up after the meeting, or no axes fit."""
    numbers, batch = votes.numel(), len(target.given)
    sums = (each.outputs[0] for each in _results(graph, meeting))
    s = next(
        (each for each in sums if each.numel() < numbers and numbers % each.numel() == 0), None
    )
    if s is None or s.numel() % batch:
        return []
    moved = graph.moved(made)
    all_uses = [
        each for each in graph.after(made.index) if any(memory(x) in moved for x in each.inputs)
    ]
    uses = [
        each
        for each in all_uses
        if each.index in graph.needed and memory(each.outputs[0]) not in moved
    ]
    where = _places(target, made, meeting, votes) if uses else None
    if where is None:
        return []
    large = [
        each.index for each in _results(graph, uses[-1]) if each.outputs[0].numel() == s.numel()
    ]
    finals = [
        index for index in large if index in graph.returned
    ] or large  # no copy beside the way
    loops = sum(each.place == meeting.place and each.name == meeting.name for each in all_uses)
    if not finals:
        return []
    place = partial(
        Site, target, couplings, meeting, made, where, tuple(finals[: -_FINALS - 1 : -1]), loops
    )
    below, above, shares = numbers // s.numel(), s.numel() // batch, couplings.outputs[0]
    sites = []
    for J in dict.fromkeys((*s.shape, *votes.shape, *shares.shape)):
        if 1 < J < above and above % J == 0 and shares.numel() % (below * J) == 0:
            sizes = {"B": batch, "I": below, "J": J, "D": above // J}
            sites += [place(sizes, axes) for axes in axes_of(votes.shape, sizes)[:4]]
    return sites


def _results(graph: Graph, first: Operation) -> Iterator[Operation]:
    """An operation, and those after it whose numbers are computed from its own."""
    derived = graph.derived(first.outputs, first.index)
    for operation in (first, *graph.after(first.index)):
        if memory(operation.outputs[0]) in derived and operation.outputs[0].is_floating_point():
            yield operation


def _places(target: Target, made: Operation, meeting: Operation, votes: Tensor) -> Tensor | None:
    """Where each number of û comes from: û is replaced by whole numbers, and they are looked for."""
    counted = torch.arange(made.outputs[0].numel())
    given = counted.reshape(made.outputs[0].shape).to(made.outputs[0].dtype)
    trace = Trace({made.index: given}, keep=[meeting.index], stop=meeting.index)
    target.run(trace)
    if not trace.operations:
        return None
    position = next(k for k, each in enumerate(meeting.inputs) if each is votes)
    where = trace.operations[0].inputs[position].long()
    return where if where.flatten().sort().values.equal(counted) else None


class Verdict(NamedTuple):
    """What is known of a routing."""

    site: Site
    known: Known | None
    """What explains it; None: nothing does."""
    final: Operation | None
    """What gives v."""
    given: Tensor
    """The predictions that were put in the place of û, as the network has them."""


def judge(sites: Sequence[Site], declared: int | None) -> tuple[list[Finding], Verdict]:
    """What is wrong with the routing, by the reading of its axes that needs the fewest known mistakes."""
    verdicts = [_verdict(site, declared) for site in sites]
    verdict = min(verdicts, key=lambda each: len(each.known.deviations) if each.known else 99)
    site, known = verdict.site, verdict.known
    findings: list[Finding] = []
    if known is None:
        text = "Its routing differs from Procedure 1, and not by mistakes of the catalogue alone."
        findings.append(Finding(None, text, topic="unexplained", line=site.meeting.line))
    else:
        at = {"couplings": site.couplings.line}
        findings += [each.finding(at.get(each.option, "")) for each in known.deviations]
        findings += _rounds(site, known.rounds, declared)
    return findings + _at_zero(verdict), verdict


def _verdict(site: Site, declared: int | None) -> Verdict:
    sizes = site.sizes
    kinds = next(n for n in range(min(12, sizes["I"]), 0, -1) if sizes["I"] % n == 0)
    copies = sizes["I"] // kinds
    u_hat = predictions(kinds, sizes["I"], sizes["B"], sizes["J"], sizes["D"])
    repeated = u_hat.repeat_interleave(copies, 1)
    came = site.outputs(repeated, site.finals)
    known = recognised(
        [each.detach().double().cpu() for each in came.values()], u_hat, declared or 3, copies
    )
    final = [*came][known.which if known else 0] if came else None
    return Verdict(site, known, final, site.laid_out(repeated))


def _rounds(site: Site, rounds: int, declared: int | None) -> list[Finding]:
    """Whether as many rounds are done as are declared, or as the loop is gone through."""
    asked = f"It is set to {declared} rounds"
    if declared is None:
        declared, asked = (
            site.loops if rounds < site.loops <= 10 else rounds,
            f"Its loop goes {site.loops} times round",
        )
    if rounds == declared:
        return []
    text = f"{asked}, and v is that of {rounds}."
    return [
        Finding("no-update-rounds" if rounds < declared else None, text, line=site.meeting.line)
    ]


def _at_zero(verdict: Verdict) -> list[Finding]:
    """What û = 0 becomes, and its gradient."""
    site, final, sizes = verdict.site, verdict.final, verdict.site.sizes
    if final is None:
        return []

    def routed(u_hat: Tensor) -> Tensor:
        return next(iter(site.outputs(u_hat, [final.index]).values()))

    shape = [sizes[symbol] for symbol in "BJD"]
    zeros = torch.zeros([sizes[symbol] for symbol in "BIJD"])
    try:
        found = nan_at_zero(Subject(routed, "v(u_hat)"), shape, zeros, name="û")
    except Trouble as trouble:
        found = [Finding(None, f"v of û = 0. {trouble}")]
    return [replace(each, line=final.line) for each in found]


def declared_rounds(network: Any) -> int | None:
    """The number of rounds that a module says it does, in an attribute or an argument's default."""
    for module in network.modules() if isinstance(network, nn.Module) else ():
        defaults = {name: each.default for name, each in arguments_of(module).items()}
        for name, value in {**vars(module), **defaults}.items():
            if _ROUNDS.search(name) and type(value) is int and 1 <= value <= 100:
                return value
    return None
