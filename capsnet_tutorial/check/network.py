"""A whole network as people write it: its layer of capsules, its primary capsules, its losses, and what it shows."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from capsnet_tutorial.check.axes import tensors_in
from capsnet_tutorial.check.behaviour import behaviour
from capsnet_tutorial.check.calls import NotWritten, Subject, Trouble
from capsnet_tutorial.check.isolate import CapsuleLayer, as_told, calls_in, layers_in
from capsnet_tutorial.check.layer import best_reading
from capsnet_tutorial.check.losses_in_network import losses_in
from capsnet_tutorial.check.no_gpu import without_cuda
from capsnet_tutorial.check.pieces import examined
from capsnet_tutorial.check.primary_capsules import Sizes
from capsnet_tutorial.check.primary_capsules import examine as examine_primary
from capsnet_tutorial.check.primary_in_network import primary_function
from capsnet_tutorial.check.report import Finding, Report, judged
from capsnet_tutorial.check.runner import Runner


def examine_network(network: Any, images: Tensor, labels: Tensor, **options: Any) -> Report:
    """The report of a whole network; a module is copied first."""
    findings: list[Finding] = []
    with torch.random.fork_rng(devices=[]):
        try:
            for finding in _examine(network, images, labels, options):
                findings.append(finding)
        except NotWritten:
            return Report(False, written=False)
        except Trouble as trouble:
            findings.append(Finding(None, str(trouble), failed_call=True))
    # a mistake is first once, by the piece that shows it best
    first = {finding.bug: finding for finding in reversed(findings) if finding.bug}
    kept = [finding for finding in findings if not finding.bug or first[finding.bug] is finding]
    return judged("network", kept, "")


def _examine(network: Any, images: Tensor, labels: Tensor, options: Mapping[str, Any]) -> Iterator[Finding]:
    pristine = _copied(network)
    try:
        runner = Runner(_copied(pristine), images, labels)  # tried out on a copy of its own
    except Trouble:
        yield from _before_it_failed(_copied(pristine), images[:3], options)
        raise
    watched, untouched = runner.of(_copied(pristine)), runner.of(_copied(pristine))
    calls = calls_in(watched.network, watched.run) if isinstance(network, nn.Module) else []
    classes = _classes(untouched.run(), runner.batch, int(labels.max()) + 1)
    found = layers_in(calls, runner.batch, classes, options.get("weight"))
    layers = [each for each in found if as_told(each, options.get("axes"))]
    layers = [each for each in layers if each.module is layers[0].module]
    if not layers and (found or any(options.get(name) for name in ("weight", "axes"))):
        yield Finding(None, "No layer of capsules has the weight and the axes that are named.", failed_call=True)
    if layers:
        routing = list(_routing(layers, options.get("iterations")))
        yield from routing
        # A layer that squashes its input itself computes what nothing here explains: then only the catalogue is said.
        explained = all(finding.bug or finding.topic != "unexplained" for finding in routing)
        yield from (each for each in _primary(watched, calls, layers[0]) if each.bug or explained)
    if isinstance(network, nn.Module):
        yield from losses_in(_copied(pristine), layers[0] if layers else None)

    last = runner.of(_copied(pristine))
    last.classes = classes or last.classes
    layer = _in_copy(layers[0], watched.network, last.network) if layers else None
    yield from behaviour(last, layer, classes)


def _before_it_failed(network: Any, images: Tensor, options: Mapping[str, Any]) -> Iterator[Finding]:
    """The routing of a network that cannot be run to its end, if its layer of capsules was reached."""
    if not isinstance(network, nn.Module):
        return

    def run() -> None:
        with suppress(Exception), torch.no_grad(), without_cuda():
            network(images)

    found = layers_in(calls_in(network, run), len(images), None, options.get("weight"))
    layers = [each for each in found if each.module is found[0].module and as_told(each, options.get("axes"))]
    if layers:
        yield from _routing(layers, options.get("iterations"))


def _copied(network: Any) -> Any:
    if not isinstance(network, nn.Module):
        return network
    try:
        return copy.deepcopy(network).eval()
    except Exception:  # an attribute that cannot be copied: a tensor with a graph
        return network.eval()


def _in_copy(layer: CapsuleLayer, network: nn.Module, other: nn.Module) -> CapsuleLayer:
    names = {id(module): name for name, module in network.named_modules()}
    return replace(layer, module=other.get_submodule(names[id(layer.module)]))


def _classes(out: Any, batch: int, at_least: int) -> int | None:
    """How many classes there are, by an output of two axes."""
    for each in tensors_in(out):
        shape = [size for size in each.shape if size != 1]
        if len(shape) == 2 and shape[0] == batch and at_least <= shape[1] <= 100:
            return shape[1]
    return 10 if at_least <= 10 else None


def _routing(layers: Sequence[CapsuleLayer], iterations: str | None) -> Iterator[Finding]:
    report = best_reading([replace(each, module=copy.deepcopy(each.module)) for each in layers], iterations)
    for finding in report.findings:
        yield finding if finding.bug else replace(finding, convention=True)


def _primary(runner: Runner, calls: Sequence, layer: CapsuleLayer) -> Iterator[Finding]:
    made = primary_function(
        runner.network, lambda _: runner.run(grad=torch.is_grad_enabled(), guarded=False), calls, layer
    )
    if made is None:
        return
    primary, (channels, height, width) = made
    dim = layer.sizes["D_in"]
    sizes = Sizes(channels // dim, dim, height, width)

    def judge(subject: Subject) -> list[Finding]:
        return examine_primary(subject, (sizes,), squashed=True)

    report = examined("primary capsules", "capsules(features, dim)", primary, "", judge)
    yield from (finding for finding in report.findings if finding.bug or finding.topic == "unsquashed")
