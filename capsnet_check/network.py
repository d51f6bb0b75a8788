"""A whole network, or a layer, as people write it: no adapter."""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator
from functools import partial
from itertools import combinations
from typing import Any

import torch
from torch import Tensor, nn

from capsnet_check.behaviour import (
    batch_of_one_findings,
    is_stateful,
    length_findings,
    mask_findings,
)
from capsnet_check.calling import Network
from capsnet_check.calls import NotWritten, Trouble, called
from capsnet_check.examination import examine
from capsnet_check.graph import Graph
from capsnet_check.judgement import Verdict, declared_rounds, judge
from capsnet_check.primary_path import findings_on_the_way
from capsnet_check.report import Coverage, Finding, Report
from capsnet_check.sites import sites_in
from capsnet_check.target import Target
from capsnet_check.trace import Trace, tensors_in
from capsnet_tutorial.errors import expect, expect_floating, expect_tensor

_STALE = "A second call with the same {} gives another result."


def check_model(network: Any, images: Tensor, labels: Tensor, *, seconds: float = 300) -> Report:
    """Check a capsule network that somebody else wrote, as it is: no adapter.

    The routing and the primary capsules are found by the operations as they run, and examined by
    themselves, on three images at once. The outputs show squash-axis (lengths above 1),
    lengths-softmax (they sum to 1), stale-logits (a second call differs) and mask-prediction (the
    label changes nothing, or there is none).

    Args:
        network: ``network(images [B, C, H, W])`` or ``network(images, labels)``, a module or a
            function, with labels as class numbers or one-hot, as the second argument, by name or
            in an attribute, and any size of batch: returns the class capsules, their lengths, a
            reconstruction, or several of these in any container. A copy is examined in eval mode.
        images: [B, C, H, W], at least two.
        labels: class numbers [B].
        seconds: after so many, no other operation of it is run; earlier findings stand in the
            report.

    Returns:
        One `Report`. It has passed only if the routing was examined, and lists what was not.

    Raises:
        ValueError: images or labels of another shape.
    """
    network = getattr(network, "_orig_mod", network)  # inside what torch.compile returns
    expect_floating("images", images)
    enough = images.dim() == 4 and len(images) >= 2
    expect(enough, "at least two images [B, C, H, W]", f"shape {list(images.shape)}")
    expect_tensor("labels", labels)
    fits = labels.shape == images.shape[:1] and not labels.is_floating_point()
    expect(fits, f"{len(images)} whole numbers as labels", f"{labels.dtype} {list(labels.shape)}")
    ends = time.monotonic() + seconds
    return examine(
        "network",
        lambda: _examine_network(network, _of_its_type(network, images), labels.cpu(), ends),
        needed="routing",
    )


def _of_its_type(network: Any, images: Tensor) -> Tensor:
    """Return images on the CPU, in float64 for a network of such numbers."""
    parameters = network.parameters() if isinstance(network, nn.Module) else ()
    is_double = any(parameter.dtype == torch.float64 for parameter in parameters)
    return images.cpu().double() if is_double else images.cpu()


def check_layer(layer: Any, u: Tensor | None = None) -> Report:
    """Check that a layer routes by agreement, Procedure 1. No adapter: W may live anywhere in it.

    Args:
        layer: a module, or a function, that turns u, [B, I, D_in] or the same numbers in another
            layout, into v.
        u: an example of its input, of at least two images, where the sizes of its parameters do
            not tell.

    Returns:
        A `Report`; bugs as `check_routing` knows them. It has passed only if the routing was found.
    """
    return examine(
        "layer",
        lambda: _examine_layer(layer, u),
        "It is Procedure 1, image by image.",
        needed="routing",
    )


def _examine_layer(layer: Any, u: Tensor | None) -> Iterator[Finding | Coverage]:
    target = _with_input(layer, u)
    yield from _examine_routings(target)
    if is_stateful(target):
        yield Finding("stale-logits", _STALE.format("input"))


def _with_input(layer: Any, u: Tensor | None) -> Target:
    """Return the layer with u, as given or in a layout that its sizes allow.

    Raises:
        Trouble: none runs; with the error of the layout that came farthest.
    """
    failures: list[tuple[int, str]] = []
    for example in _examples(layer) if u is None else [u.cpu()]:
        target = _target(layer, example)
        trace = Trace(keep=())
        given = f"for u of shape {list(example.shape)}"
        try:
            target, out = called(partial(target.first_call, trace), given)
        except Trouble as trouble:
            failures.append((trace.count, str(trouble)))
            continue
        if any(_may_be_capsules(tensor, len(example)) for tensor in tensors_in(out)):
            return target
    reason = max(failures, key=lambda failure: failure[0])[1] if failures else ""
    hint = "" if u is not None else " Give an example of its input: check_layer(layer, u)."
    raise Trouble(f"Its routing was not found: it gives no capsules for u. {reason}{hint}")


def _target(layer: Any, u: Tensor) -> Target:
    return Target(layer, lambda layer: layer(u.clone()), u)


def _may_be_capsules(tensor: Tensor, batch: int) -> bool:
    return tensor.numel() % batch == 0 and tensor.numel() > batch


def _examples(layer: Any) -> Iterator[Tensor]:
    """Yield u in the layouts that sizes of parameters and attributes allow, the usual one first."""
    sizes: set[int] = set()
    for module in layer.modules() if isinstance(layer, nn.Module) else ():
        sizes.update(value for value in vars(module).values() if isinstance(value, int))
        for parameter in module.parameters(recurse=False):
            sizes.update(() if nn.parameter.is_lazy(parameter) else parameter.shape)
    possible = sorted((size for size in sizes if size > 1), reverse=True)
    for layout in ("BID", "BDI", "BID1", "BI1D"):
        for capsules, depth in combinations(possible, 2):
            size = {"B": 3, "I": capsules, "D": depth, "1": 1}
            shape = [size[axis] for axis in layout]
            yield torch.randn(shape, generator=torch.Generator().manual_seed(0))


def _examine_network(
    thing: Any, images: Tensor, labels: Tensor, ends: float
) -> Iterator[Finding | Coverage]:
    if thing is ...:
        raise NotWritten
    network = Network(thing, images, labels, ends)
    verdicts, graph = yield from _examine_routings(network.target())
    yield from _examine_primary_capsules(graph, verdicts)
    losses = [name for name in dir(thing) if "loss" in name.lower()]
    if losses:
        yield Coverage("losses", f"{', '.join(losses)}: each has a checker of its own")

    classes = max(2, int(labels.max()) + 1)
    long: dict[int, Tensor] = {}
    if verdicts:
        site = verdicts[-1].site
        classes = site.sizes["J"]
        long = {site.producer.index: verdicts[-1].replacement}
        network.give_labels_of(classes)
    yield from length_findings(network, classes)
    target = network.target()
    if is_stateful(target) or is_stateful(target, long):
        yield Finding("stale-logits", _STALE.format("images"))
    yield Coverage("second call")
    yield from mask_findings(network, classes, long)
    yield from batch_of_one_findings(network)


def _examine_routings(
    target: Target,
) -> Generator[Finding | Coverage, None, tuple[list[Verdict], Graph]]:
    """Judge every routing that is found; return the verdicts and the graph."""
    declared = declared_rounds(target.thing)
    graph = Graph.of(target)
    verdicts: list[Verdict] = []
    for sites in sites_in(graph):
        findings, verdict = judge(sites, declared)
        declared = []  # a second routing may have rounds of its own
        if verdict.may_be_misread:
            yield Coverage("routing", "it is not known which axes of û are capsules")
            continue
        yield from findings
        verdicts.append(verdict)
        sizes = verdict.site.sizes
        counts = [f"{sizes['I']} capsules below", f"{sizes['J']} above"]
        if verdict.explanation:
            counts.append(f"{verdict.explanation.rounds} rounds")
        if verdict.site.priors:
            priors = ", ".join(verdict.site.priors)
            counts.append(f"with 0 for its learned log priors {priors}")
        yield Coverage(f"routing ({', '.join(counts)})")
    if not verdicts:
        yield Coverage("routing", "no couplings were seen that share out predictions")
    return verdicts, graph


def _examine_primary_capsules(
    graph: Graph, verdicts: list[Verdict]
) -> Iterator[Finding | Coverage]:
    """Examine the capsules that the first routing takes; without one, those that are returned."""
    findings: list[Finding] | str = "their layer was not found"
    if verdicts:
        producer = verdicts[0].site.producer
        sizes = {symbol: verdicts[0].site.sizes[symbol] for symbol in "BI"}
        findings = findings_on_the_way(graph, producer.inputs, producer.index, sizes)
    elif graph.out and graph.out[0].dim() == 3:
        batch, capsules, dim = graph.out[0].shape
        sizes = {"B": batch, "I": capsules, "D": dim}
        findings = findings_on_the_way(graph, graph.out[:1], math.inf, sizes)
    if isinstance(findings, str):
        yield Coverage("primary capsules", findings)
        return
    unexplained = bool(verdicts) and verdicts[0].explanation is None
    for finding in findings:
        # A routing that nothing explains may belong to a layer that squashes its input itself.
        if finding.bug or not unexplained:
            yield finding
    yield Coverage("primary capsules")
