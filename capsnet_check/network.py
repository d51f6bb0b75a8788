"""A whole network, or a layer, as people write it: called under the recorder, judged by what was recorded."""

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
    Network,
    alone_wrong,
    lengths_wrong,
    mask_wrong,
    remembers,
)
from capsnet_check.calls import Looked, NotWritten, Trouble, called, examined
from capsnet_check.primary_capsules import examine_within
from capsnet_check.report import Finding, Report
from capsnet_check.sites import Verdict, declared_rounds, judge, sites_in
from capsnet_check.trace import Graph, Target, Trace, tensors_in
from capsnet_tutorial.errors import expect, expect_floating, expect_tensor


def check_model(network: Any, images: Tensor, labels: Tensor, *, seconds: float = 300) -> Report:
    """Check a capsule network that somebody else wrote, as it is: no adapter.

    Args:
        network: ``network(images [B, C, H, W])`` or ``network(images, labels)``, a module or a function, with labels
            as class numbers, one-hot or an attribute, and any size of batch: returns the class capsules, their
            lengths, a reconstruction, or several of these in any container. A copy is examined in eval mode.
        images: [B, C, H, W], at least two.
        labels: class numbers [B].
        seconds: after so many, no other operation of it is run; what was found by then stands in the report.

    Returns:
        One `Report`. The routing and the primary capsules are found by the operations as they run, and examined by
        themselves, on three images at once; what the network as a whole shows: squash-axis (lengths above 1),
        lengths-softmax (they sum to 1), stale-logits (a second call differs), mask-prediction (the label changes
        nothing, or there is none). It has passed only if the routing was examined, and it lists what was not.

    Raises:
        ValueError: images or labels of another shape.
    """
    network = getattr(network, "_orig_mod", network)  # what torch.compile was given
    expect_floating("images", images)
    expect(
        images.dim() == 4 and len(images) >= 2,
        "at least two images [B, C, H, W]",
        f"shape {list(images.shape)}",
    )
    expect_tensor("labels", labels)
    fits = labels.shape == images.shape[:1] and not labels.is_floating_point()
    expect(fits, f"{len(images)} whole numbers as labels", f"{labels.dtype} {list(labels.shape)}")
    ends = time.monotonic() + seconds
    return examined(
        "network", lambda: _network(network, images.cpu(), labels.cpu(), ends), needed="routing"
    )


def check_layer(layer: Any, u: Tensor | None = None) -> Report:
    """Does this layer route by agreement, Procedure 1? No adapter: W may live anywhere in it.

    Args:
        layer: a module, or a function, that turns u, [B, I, D_in] or the same numbers in another layout, into v.
        u: an example of its input, of at least two images, where the sizes of its parameters do not tell.

    Returns:
        A `Report`; bugs as `check_routing` knows them. It has passed only if the routing was found.
    """
    return examined(
        "layer", lambda: _layer(layer, u), "It is Procedure 1, image by image.", needed="routing"
    )


def _layer(layer: Any, u: Tensor | None) -> Iterator[Finding | Looked]:
    target = _with_input(layer, u)
    yield from _routing(target)
    if remembers(target):
        yield Finding("stale-logits", "A second call with the same input gives another result.")


def _with_input(layer: Any, u: Tensor | None) -> Target:
    """The layer with u, as it is given or in a layout that the sizes of its parameters and attributes allow.

    Raises:
        Trouble: none runs.
    """
    problems = []
    for example in _examples(layer) if u is None else [u.cpu()]:
        target = Target(layer, partial(lambda u, layer: layer(u.clone()), example), example)
        try:
            out = called(target.run, f"for u of shape {list(example.shape)}")
        except Trouble as trouble:
            problems.append(str(trouble))
            continue
        if any(
            each.numel() % len(example) == 0 and each.numel() > len(example)
            for each in tensors_in(out)
        ):
            return target
    hint = "" if u is not None else " Give an example of its input: check_layer(layer, u)."
    raise Trouble(
        f"Its routing was not found: it gives no capsules for u. {problems[0] if problems else ''}{hint}"
    )


def _examples(layer: Any) -> Iterator[Tensor]:
    """u in the layouts that the sizes of parameters and attributes allow; the usual layout first, of all sizes."""
    modules = list(layer.modules()) if isinstance(layer, nn.Module) else []
    sizes = {size for each in (layer.parameters() if modules else ()) for size in each.shape}
    sizes |= {
        value for module in modules for value in vars(module).values() if isinstance(value, int)
    }
    for layout in ("BID", "BDI", "BID1", "BI1D"):
        for capsules, depth in combinations(sorted(sizes - {0, 1}, reverse=True), 2):
            shape = [{"B": 3, "I": capsules, "D": depth, "1": 1}[axis] for axis in layout]
            yield torch.randn(shape, generator=torch.Generator().manual_seed(0))


def _network(thing: Any, images: Tensor, labels: Tensor, ends: float) -> Iterator[Finding | Looked]:
    if thing is ...:
        raise NotWritten
    network = Network(thing, images, labels, ends)
    target = network.target()
    verdicts, graph = yield from _routing(target)
    yield from _primary_capsules(graph, verdicts)
    if losses := [name for name in dir(thing) if "loss" in name.lower()]:
        yield Looked("losses", f"{', '.join(losses)}: each has a checker of its own")
    classes, long = max(2, int(labels.max()) + 1), {}
    if verdicts:
        site = verdicts[-1].site
        classes, long = site.sizes["J"], {site.made.index: verdicts[-1].given}
    yield from lengths_wrong(network, classes)
    if remembers(target) or remembers(target, long):
        yield Finding("stale-logits", "A second call with the same images gives another result.")
    yield Looked("second call")
    yield from mask_wrong(network, classes, long)
    yield from alone_wrong(network)


def _routing(target: Target) -> Generator[Finding | Looked, None, tuple[list[Verdict], Graph]]:
    """Every routing that is found, judged."""
    trace, declared = Trace(), declared_rounds(target.thing)
    graph = Graph(target.run(trace), trace.operations, target)
    verdicts: list[Verdict] = []
    for sites in sites_in(target, graph):
        findings, verdict = judge(
            sites, None if verdicts else declared
        )  # a second routing may have rounds of its own
        yield from findings
        verdicts.append(verdict)
        rounds = f", {verdict.known.rounds} rounds" if verdict.known else ""
        yield Looked(
            f"routing ({verdict.site.sizes['I']} capsules below, {verdict.site.sizes['J']} above{rounds})"
        )
    if not verdicts:
        yield Looked("routing", "no couplings were seen that share out predictions")
    return verdicts, graph


def _primary_capsules(graph: Graph, verdicts: list[Verdict]) -> Iterator[Finding | Looked]:
    """The primary capsules that the first routing takes; without one, those that are returned."""
    known: list[Finding] | str = "their layer was not found"
    if verdicts:
        made, sizes = verdicts[0].site.made, verdicts[0].site.sizes
        known = examine_within(graph, made.inputs, made.index, {"B": sizes["B"], "I": sizes["I"]})
    elif graph.out and graph.out[0].dim() == 3:
        known = examine_within(
            graph, graph.out[:1], math.inf, dict(zip("BID", graph.out[0].shape, strict=True))
        )
    if not isinstance(known, str):
        # What explains the routing no better than "it differs" may be a layer that squashes its input itself.
        yield from (each for each in known if each.bug or not verdicts or verdicts[0].known)
    yield Looked("primary capsules", known if isinstance(known, str) else "")
