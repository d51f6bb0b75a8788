"""A layer of capsules, u -> v, as people write it: no adapter."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from capsnet_tutorial.check.calls import Subject
from capsnet_tutorial.check.isolate import CannotFind, CapsuleLayer, layer_alone, with_rounds
from capsnet_tutorial.check.no_gpu import without_cuda
from capsnet_tutorial.check.pieces import examined
from capsnet_tutorial.check.report import Finding, Report, failed
from capsnet_tutorial.check.routing import Probe, examine, predictions


def check_layer(
    layer: nn.Module,
    *,
    weight: str | None = None,
    axes: Mapping[str, str] | None = None,
    iterations: str | None = None,
) -> Report:
    """Does this layer route by agreement, Procedure 1? No adapter: W, the axes and the rounds are found.

    Args:
        layer: a module that owns W and turns u, [B, I, D_in] or the same numbers in another layout, into v.
        weight: the name of W among the layer's parameters, where its size does not tell.
        axes: the order of the axes of "u", "weight" or "v", such as ``{"weight": "J I D_out D_in"}``.
        iterations: the attribute or argument that holds the number of rounds.

    Returns:
        A `Report`; bugs as `check_routing` knows them. A layer whose axes cannot be found is reported, not raised.
    """
    pristine = copy.deepcopy(layer).eval()
    try:
        found = layer_alone(copy.deepcopy(pristine), weight, axes)
    except CannotFind as problem:
        hint = "weight=, axes= and iterations= say what was not found."
        return failed("layer", Finding(None, f"Its routing was not found: {problem}. {hint}", failed_call=True))
    return best_reading([replace(each, module=copy.deepcopy(pristine)) for each in found], iterations)


def best_reading(layers: Sequence[CapsuleLayer], iterations: str | None = None) -> Report:
    """The report of the reading of the axes that needs the fewest known mistakes; the first of equals.

    Where some reading cannot be explained by known mistakes alone, those that can come first; where none can, the one
    with the most.
    """
    reports: list[Report] = []
    for layer in layers:
        report = routing_report(layer, iterations)
        if report:
            return report
        reports.append(report)
    explained = [report for report in reports if all(finding.bug or finding.convention for finding in report.findings)]
    if explained:
        return min(explained, key=lambda report: len(report.bugs))
    return max(reports, key=lambda report: len(report.bugs))


def routing_report(layer: CapsuleLayer, iterations: str | None = None) -> Report:
    """What `check_routing` says of a layer's routing."""
    batch, below = layer.batch, layer.sizes["I"]
    kinds = next(n for n in range(min(12, below), 0, -1) if below % n == 0) if below > 12 else below
    probe_votes = predictions(kinds, below, batch, layer.sizes["J"], layer.sizes["D_out"])
    with without_cuda(), torch.random.fork_rng(devices=[]):
        forgetful = _is_forgetful(layer, probe_votes)
        layer = with_rounds(replace(layer, forgetful=forgetful), iterations)

    def route(u_hat: Tensor, iterations: int) -> Tensor:
        with without_cuda():
            return layer(u_hat, iterations)

    def judge(subject: Subject) -> Iterator[Finding]:
        if not forgetful:
            yield Finding("stale-logits", "A second call with the same input gives another result.")
        for finding in examine(subject, Probe(probe_votes, below // kinds, layer.rounds is not None)):
            if finding.bug is None and finding.topic in ("rounds", "batch of one"):
                finding = replace(finding, convention=True)
            yield finding

    agrees = f"It is Procedure 1, image by image; {_described(layer)}."
    return examined("routing", "route(u_hat, iterations)", route, agrees, judge)


def _is_forgetful(layer: CapsuleLayer, u_hat: Tensor) -> bool:
    """Whether a second call gives what the first gave."""
    tried = replace(layer, module=copy.deepcopy(layer.module))
    try:
        with torch.no_grad():
            first, second = tried(u_hat), tried(u_hat)
    except Exception:
        return True  # told where the routing is examined
    return bool(torch.allclose(first, second, rtol=1e-4, atol=1e-6)) or not bool(first.isfinite().all())


def _described(layer: CapsuleLayer) -> str:
    sizes = layer.sizes
    if layer.weight is None:
        return f"{sizes['I']} capsules below, {sizes['J']} above"
    axes = ", ".join("·".join(group) or "1" for group in layer.weight_axes)
    rounds = f", rounds in `{layer.rounds[1]}`" if layer.rounds else ""
    return f"W is `{layer.weight}` [{axes}]{rounds}"
