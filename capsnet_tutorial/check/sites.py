"""Where a network routes: its prediction vectors û and its outputs v, wherever W lives.

A coupling is the output of a softmax; what it is first multiplied with is û, and what comes out of the last use of û
is v. So û can be replaced by predictions of ours, and v compared with Procedure 1 and with the ways in which it is
known to be got wrong.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from capsnet_tutorial.check.axes import Axes, axes_of, gathered, spread
from capsnet_tutorial.check.compare import of_deviation
from capsnet_tutorial.check.report import Finding
from capsnet_tutorial.check.routing import predictions
from capsnet_tutorial.check.trace import Graph, Operation, Target, Trace, memory
from capsnet_tutorial.check.variants import Deviation, close, expected, fewest_first

_SOFTMAXES = {"softmax", "log_softmax", "exp", "sigmoid", "softmin", "sparsemax", "gumbel_softmax"}
_ROUNDS = re.compile(r"iter|round|routing|num_rout|^r$|steps", re.IGNORECASE)
_EXACT = 2**24  # the whole numbers that float32 can hold
_FINALS = 12


@dataclass(frozen=True)
class Reading:
    """How the axes of a routing are read."""

    sizes: dict[str, int]
    votes: Axes
    """Of û where it meets the couplings."""


@dataclass(frozen=True)
class Site:
    """One place where a network routes."""

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
    readings: tuple[Reading, ...]
    loops: int
    """How often couplings meet û in this line of code."""

    def changed(self, u_hat: Tensor, reading: Reading) -> Tensor:
        """û [B, I, J, D] as the network computes it."""
        flat = spread(u_hat, "BIJD", reading.votes).flatten()
        return flat[self.where.flatten().argsort()].reshape(self.made.outputs[0].shape)


def sites_in(target: Target, graph: Graph, classes: int | None) -> Iterator[Site]:
    """Every place where couplings that no image has changed meet something that an image has; else the others."""
    batch = len(target.given)
    found = list(_meetings(graph))
    fixed = [pair for pair in found if memory(pair[0].outputs[0]) not in graph.of_images]
    known: set[int] = set()
    for couplings, meeting, votes in fixed or found:
        made = graph.maker(votes)
        if made is None or made.index in known or votes.numel() > _EXACT or votes.numel() % batch:
            continue
        known.add(made.index)
        site = _site(target, graph, batch, classes, (couplings, meeting, votes, made))
        if site is not None:
            yield site


def _meetings(graph: Graph) -> Iterator[tuple[Operation, Operation, Tensor]]:
    """Each softmax, where its output first meets what an image has changed and it has not, and that."""
    for couplings in graph.operations:
        if couplings.name not in _SOFTMAXES:
            continue
        known = {memory(each) for each in couplings.outputs}
        for operation in graph.after(couplings.index):
            if not any(memory(each) in known for each in operation.inputs):
                continue
            others = [each for each in operation.inputs if memory(each) not in known and each.is_floating_point()]
            votes = [each for each in others if memory(each) in graph.of_images and each.dim() > 1]
            if votes:
                yield couplings, operation, votes[0]
                break
            known |= {memory(each) for each in operation.outputs}


def _site(
    target: Target,
    graph: Graph,
    batch: int,
    classes: int | None,
    found: tuple[Operation, Operation, Tensor, Operation],
) -> Site | None:
    couplings, meeting, votes, made = found
    numbers = votes.numel()
    derived = graph.derived(meeting.outputs, meeting.index)
    for operation in (meeting, *graph.after(meeting.index)):
        s = operation.outputs[0]
        if memory(s) in derived and s.is_floating_point() and s.numel() < numbers and numbers % s.numel() == 0:
            break
    else:
        return None
    if s.numel() % batch:
        return None
    readings = tuple(_readings(votes, couplings.outputs[0], s, batch, classes))
    moved = graph.moved(made)
    all_uses = [each for each in graph.after(made.index) if any(memory(x) in moved for x in each.inputs)]
    uses = [each for each in all_uses if each.index in graph.needed and memory(each.outputs[0]) not in moved]
    if not readings or not uses:
        return None
    results = graph.derived(uses[-1].outputs, uses[-1].index)
    finals = [
        each.index
        for each in graph.operations
        if each.index >= uses[-1].index
        and memory(each.outputs[0]) in results
        and each.outputs[0].numel() == s.numel()
        and each.outputs[0].is_floating_point()
    ]
    where = _places(target, made, meeting, votes)
    if where is None or not finals:
        return None
    loops = sum(each.place == meeting.place and each.name == meeting.name for each in all_uses)
    return Site(couplings, meeting, made, where, tuple(finals[: -_FINALS - 1 : -1]), readings, loops)


def _places(target: Target, made: Operation, meeting: Operation, votes: Tensor) -> Tensor | None:
    """Where each number of û comes from: û is replaced by whole numbers, and they are looked for."""
    output = made.outputs[0]
    trace = Trace(
        {made.index: lambda compute: torch.arange(output.numel()).reshape(output.shape).to(output.dtype)},
        keep=[meeting.index],
        stop=meeting.index,
    )
    target.run(trace)
    if not trace.operations:
        return None
    position = next(k for k, each in enumerate(meeting.inputs) if each is votes)
    where = trace.operations[0].inputs[position].long()
    return where if where.flatten().sort().values.equal(torch.arange(output.numel())) else None


def _readings(votes: Tensor, c: Tensor, s: Tensor, batch: int, classes: int | None) -> Iterator[Reading]:
    below, above = votes.numel() // s.numel(), s.numel() // batch
    numbers = dict.fromkeys([classes, *s.shape, *votes.shape, *c.shape])
    for classes_ in numbers:
        if classes_ is None or classes_ < 2 or above % classes_ or above == classes_ or c.numel() % (below * classes_):
            continue
        sizes = {"B": batch, "I": below, "J": classes_, "D": above // classes_}
        for axes in axes_of(votes.shape, sizes)[:4]:
            yield Reading(sizes, axes)


# --- the routing of a place


@dataclass(frozen=True)
class Verdict:
    """What is known of a routing."""

    reading: Reading
    deviations: tuple[Deviation, ...] | None
    """That explain it; None: nothing does."""
    rounds: int
    final: int
    """The operation that gives v."""
    given: Tensor
    """The predictions that were put in the place of û, as the network has them."""


def judged(target: Target, site: Site, declared: int | None) -> tuple[list[Finding], Verdict]:
    """What is wrong with the routing, by the reading of its axes that needs the fewest known mistakes."""
    verdicts = []
    for reading in site.readings:
        verdict = _recognised(target, site, reading, declared)
        verdicts.append(verdict)
        if verdict.deviations == ():
            break
    verdict = min(verdicts, key=lambda each: 99 if each.deviations is None else len(each.deviations))
    line = site.couplings.line
    findings: list[Finding] = []
    if verdict.deviations is None:
        text = "Its routing differs from Procedure 1, and not by mistakes of the catalogue alone."
        findings.append(Finding(None, text, topic="unexplained", line=site.meeting.line))
        if _shares_sum_over(target, site, verdict.reading) == "I":
            findings.append(Finding("softmax-axis", "Here: over i, the layer below.", line=line))
    for deviation in verdict.deviations or ():
        findings.append(of_deviation(deviation, line=line if deviation.option == "couplings" else ""))
    if verdict.deviations is not None:
        findings += _rounds(site, verdict.rounds, declared)
    return findings + _at_zero(target, site, verdict), verdict


def _recognised(target: Target, site: Site, reading: Reading, declared: int | None) -> Verdict:
    sizes = reading.sizes
    kinds = next(n for n in range(min(12, sizes["I"]), 0, -1) if sizes["I"] % n == 0)
    copies = sizes["I"] // kinds
    u_hat = predictions(kinds, sizes["I"], sizes["B"], sizes["J"], sizes["D"])
    given = site.changed(u_hat.repeat_interleave(copies, 1), reading).to(site.made.outputs[0].dtype)
    trace = Trace({site.made.index: lambda compute: given}, keep=site.finals)
    target.run(trace)
    came = {}
    for operation in trace.operations:
        for axes in axes_of(operation.outputs[0].shape, {symbol: sizes[symbol] for symbol in "BJD"})[:1]:
            came[operation.index] = gathered(operation.outputs[0].detach().double().cpu(), axes, sizes, "BJD")
    orders = list(dict.fromkeys([declared or 3, 3, 2, 1, 4, 5]))
    for at in range(4):
        for some in fewest_first("routing", at, at, without="rounds"):
            for rounds in orders if at < 2 else orders[:1]:
                wanted = expected("routing", (u_hat, rounds), some, copies=copies)
                for index in site.finals:
                    if index in came and close(came[index], wanted):
                        return Verdict(reading, some, rounds, index, given)
    return Verdict(reading, None, 0, site.finals[0], given)


def _shares_sum_over(target: Target, site: Site, reading: Reading) -> str:
    """The symbol over which the couplings of an even round sum to 1: "I", "J" or neither."""
    c = site.couplings.outputs[0].detach().double()
    c = c.exp() if site.couplings.name == "log_softmax" else c
    sizes = {**reading.sizes, "K": c.numel() // (reading.sizes["I"] * reading.sizes["J"])}
    for axes in axes_of(c.shape, {symbol: sizes[symbol] for symbol in "IJK" if sizes[symbol] > 1}):
        symbols = "IJK" if sizes["K"] > 1 else "IJ"
        shares = gathered(c, axes, sizes, symbols)
        for axis, symbol in enumerate("IJ"):
            if sizes["I"] != sizes["J"] and torch.allclose(shares.sum(axis), torch.ones(()).double(), atol=1e-4):
                return symbol
    return ""


def _rounds(site: Site, rounds: int, declared: int | None) -> list[Finding]:
    """Whether as many rounds are done as are declared, or as the loop is gone through."""
    line = site.meeting.line
    if declared is None and rounds < site.loops <= 10:
        text = f"Its loop is gone through {site.loops} times, and v is that of {rounds} round{'s' * (rounds > 1)}."
        return [Finding("no-update-rounds", text, line=line)]
    if declared is not None and rounds < declared:
        text = f"It is set to {declared} rounds, and v is that of {rounds}."
        return [Finding("no-update-rounds", text, line=line)]
    if declared is not None and rounds > declared:
        text = f"Not as in the paper: it is set to {declared} rounds, and v is that of {rounds}."
        return [Finding(None, text, topic="rounds", line=line)]
    return []


def _at_zero(target: Target, site: Site, verdict: Verdict) -> list[Finding]:
    """What û = 0 becomes, and its gradient."""
    zero = torch.zeros_like(site.made.outputs[0]).detach().requires_grad_()
    trace = Trace({site.made.index: lambda compute: zero * 1}, keep=[verdict.final], stop=verdict.final)
    target.run(trace, grad=True)
    v = trace.output(verdict.final)
    if not v.isfinite().all():
        return [Finding("squash-nan", "û = 0 in, nan out.", line=trace.operations[0].line)]
    if not v.requires_grad:
        return [Finding(None, "No gradient flows from v to û: nothing below it could learn.")]
    (gradient,) = torch.autograd.grad(v.sum(), zero, allow_unused=True)
    if gradient is not None and not gradient.isfinite().all():
        text = "û = 0 gives v = 0, and a gradient of nan."
        return [Finding("squash-nan", text, line=trace.operations[0].line)]
    return []


def declared_rounds(target: Target) -> int | None:
    """The number of rounds that a module says it does: of an attribute that changes how much is computed, or of an
    argument's default."""
    if not isinstance(target.thing, nn.Module):
        return None
    plain = Trace(keep=())
    target.run(plain)
    for path, module in target.thing.named_modules():
        if type(module).__module__.startswith("torch."):
            continue
        for name, value in vars(module).items():
            if not _ROUNDS.search(name) or not _is_count(value):
                continue
            changed = target.fresh()
            setattr(changed.get_submodule(path), name, value + 2)
            trace = Trace(keep=())
            try:
                target.run(trace, thing=changed)
            except Exception:
                continue
            if trace.count != plain.count:
                return value
        for parameter in inspect.signature(module.forward).parameters.values():
            if _ROUNDS.search(parameter.name) and _is_count(parameter.default):
                return int(parameter.default)
    return None


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 10
