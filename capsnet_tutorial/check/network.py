"""A whole network as people write it: labels in any form, a fixed batch, any shape of output."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from capsnet_tutorial.check.calls import NotWritten, Subject, Trouble, accepts, called
from capsnet_tutorial.check.isolate import (
    CapsuleLayer,
    calls_in,
    first_tensor,
    gathered,
    layers_in,
    primary_function,
    tensors_in,
    without_cuda,
)
from capsnet_tutorial.check.layer import best_reading
from capsnet_tutorial.check.pieces import examined
from capsnet_tutorial.check.primary_capsules import Sizes
from capsnet_tutorial.check.primary_capsules import examine as examine_primary
from capsnet_tutorial.check.report import Example, Finding, Report, judged

_BATCH = 3
_LABEL = re.compile(r"label|target|truth|^y$|_y$|one_?hot|class", re.IGNORECASE)
_LONG_ENOUGH = 0.7


@dataclass
class Outputs:
    """What a network returned, by what it is."""

    capsules: Tensor | None
    lengths: Tensor | None
    """As returned, [B, J]; or those of the capsules."""
    returned_lengths: Tensor | None
    reconstruction: Tensor | None


class Runner:
    """A network that can be run: how it takes labels and how many images, found by trying.

    Raises:
        Trouble: no way of calling it works.
    """

    def __init__(self, network: Any, images: Tensor, labels: Tensor) -> None:
        self.network = network
        self.images, self.labels = images, labels
        self.classes = max(10, int(labels.max()) + 1)
        self.attribute = _label_attribute(network)
        self.way, self.batch = self._found()

    def _found(self) -> tuple[str, int]:
        ways = []
        if accepts(self.network, 2) and not _second_is_rounds(self.network):
            ways += ["numbers", "one-hot", "one-hot of whole numbers"]
        if accepts(self.network, 1):
            ways += ["attribute", "attribute one-hot"] if self.attribute else []
            ways += ["none"]
        if not ways:
            raise Trouble("Expected a network(images) or network(images, labels).")
        first: Trouble | None = None
        for batch in dict.fromkeys((min(_BATCH, len(self.images)), *_batches(self.network), len(self.images))):
            for way in ways:
                try:
                    self.way, self.batch = way, batch
                    self.run()
                except Trouble as trouble:
                    first = first or trouble
                else:
                    return way, batch
        assert first is not None
        raise first

    def run(
        self, images: Tensor | None = None, labels: Tensor | None = None, *, grad: bool = False, guarded: bool = True
    ) -> Any:
        """What it returns for its batch of the images, or for these."""
        images = repeated(self.images, self.batch) if images is None else images
        labels = repeated(self.labels, len(images)) if labels is None else labels

        def call() -> Any:
            torch.default_generator.manual_seed(0)
            with torch.set_grad_enabled(grad), without_cuda():
                return self._call(images.clone(), labels)

        if not guarded:
            return call()
        return called(call, f"for images of shape {list(images.shape)}")

    def _call(self, images: Tensor, labels: Tensor) -> Any:
        if self.way == "none":
            return self.network(images)
        given = labels
        if "one-hot" in self.way:
            given = torch.nn.functional.one_hot(labels, self.classes)
            given = given if "whole" in self.way else given.float()
        if self.way.startswith("attribute"):
            assert self.attribute is not None
            setattr(*self.attribute, given)
            return self.network(images)
        return self.network(images, given)


def repeated(tensor: Tensor, count: int) -> Tensor:
    """So many of the first rows, from the start again where there are too few."""
    return tensor[torch.arange(count) % len(tensor)]


def _label_attribute(network: Any) -> tuple[Any, str] | None:
    for module in network.modules() if isinstance(network, nn.Module) else ():
        for name, value in vars(module).items():
            if _LABEL.search(name) and (value is None or isinstance(value, Tensor)):
                return module, name
    return None


def _second_is_rounds(network: Any) -> bool:
    target = network.forward if isinstance(network, nn.Module) else network
    with suppress(TypeError, ValueError):
        second = list(inspect.signature(target).parameters.values())[1:2]
        return bool(second) and isinstance(second[0].default, (int, float))
    return False


def _batches(network: Any) -> list[int]:
    """Sizes of a batch that are written into a network."""
    modules = network.modules() if isinstance(network, nn.Module) else ()
    found = [value for each in modules for name, value in vars(each).items() if re.search("batch", name, re.I)]
    return [value for value in found if isinstance(value, int) and not isinstance(value, bool) and 2 <= value <= 512]


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
    runner = Runner(_copied(pristine), images, labels)
    calls: list = []
    if isinstance(network, nn.Module):
        runner.network = _copied(pristine)
        runner.attribute = _label_attribute(runner.network)
        calls = calls_in(runner.network, runner.run)
        runner.network, calls_network = _copied(pristine), runner.network
        runner.attribute = _label_attribute(runner.network)
    classes = _classes(runner.run(), runner.batch, int(labels.max()) + 1)
    layers = layers_in(calls, runner.batch, classes, options.get("weight"))
    layers = [each for each in layers if each.module is layers[0].module]
    if layers:
        yield from _routing(layers, options.get("iterations"))
        calls_runner = copy.copy(runner)
        calls_runner.network, calls_runner.attribute = calls_network, _label_attribute(calls_network)
        yield from _primary(calls_runner, calls, layers[0])

    runner.network = _copied(pristine)
    runner.attribute = _label_attribute(runner.network)
    runner.classes = classes or runner.classes
    layer = _in_copy(layers[0], calls_network, runner.network) if layers else None
    yield from _behaviour(runner, layer, classes)


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
        return examine_primary(subject, (sizes,))

    report = examined("primary capsules", "capsules(features, dim)", primary, "", judge)
    yield from (finding for finding in report.findings if finding.bug)


# --- what the whole shows


def _behaviour(runner: Runner, layer: CapsuleLayer | None, classes: int | None) -> Iterator[Finding]:
    def outputs(*arguments: Tensor, grad: bool = False) -> Outputs:
        return _outputs(runner, layer, classes, arguments, grad)

    first, second = outputs(), outputs()
    if first.lengths is None:
        raise Trouble("Expected capsules [B, J, D] or lengths [B, J] among what the network returns; got neither.")
    if not first.lengths.isfinite().all():
        raise Trouble("Its lengths for these images are not finite numbers.")
    stale = second.lengths is not None and not _same(first.lengths, second.lengths)
    if stale:
        yield Finding("stale-logits", "A second call with the same images gives another result.")
    yield from _lengths(first)

    if first.reconstruction is not None and runner.way == "none":
        yield Finding("mask-prediction", "It reconstructs and is given no label: it can only mask by its prediction.")
    if stale:
        return
    with suppress(Trouble):
        if layer is not None:
            _scale(layer, outputs)
    long, again = outputs(), outputs()
    assert long.lengths is not None
    if float(long.lengths.max()) < 0.01:
        yield Finding(None, f"Its capsules are too short to judge: {float(long.lengths.max()):.1g}.", convention=True)
    elif again.lengths is not None and not _same(long.lengths, again.lengths):  # unseen while they were short
        yield Finding("stale-logits", "A second call with the same images gives another result.")
    else:
        yield from _neighbours(runner, outputs, long)
        yield from _labels(runner, outputs, long)
    yield from _gradients(runner, outputs)


def _outputs(
    runner: Runner, layer: CapsuleLayer | None, classes: int | None, arguments: Sequence[Tensor], grad: bool
) -> Outputs:
    caught: list[Any] = []
    hook = layer.module.register_forward_hook(lambda *each: caught.append(each[-1])) if layer else None
    try:
        out = runner.run(*arguments, grad=grad)
    finally:
        if hook is not None:
            hook.remove()
    if out is None or out is ...:
        raise Trouble("It returns nothing; expected capsules [B, J, D] or lengths [B, J].")
    images = arguments[0] if arguments else repeated(runner.images, runner.batch)
    found = sorted_outputs(out, images, classes)
    if layer is not None and caught and len(images) == runner.batch:
        v = first_tensor(caught[0], len(images) * layer.sizes["J"] * layer.sizes["D_out"])
        if v is not None:
            sizes = {**layer.sizes, "B": len(images)}
            found.capsules = gathered(v, layer.output_axes, sizes, ("B", "J", "D_out"))
    if found.lengths is None and found.capsules is not None:
        found.lengths = torch.linalg.vector_norm(found.capsules, dim=-1)
    return found


def sorted_outputs(out: Any, images: Tensor, classes: int | None) -> Outputs:
    """What a network returned, first apart by names and shapes."""
    found = Outputs(None, None, None, None)
    names = ("capsules", "lengths", "reconstruction")
    named = out if isinstance(out, Mapping) else {key: getattr(out, key, None) for key in names}
    for key in names:
        if isinstance(named.get(key), Tensor):
            setattr(found, key, named[key])
    batch, pixels = len(images), images[0].numel()
    for each in tensors_in(out):
        if not each.is_floating_point() or each.dim() < 1:
            continue
        real = [size for size in each.shape if size != 1]
        if each.shape[0] == batch and each.numel() == batch * pixels:
            found.reconstruction = each if found.reconstruction is None else found.reconstruction
        elif batch > 1 and (not real or batch not in real):
            continue
        elif each.shape[0] == batch and each[0].numel() == classes and not _is_one_hot(each.reshape(batch, -1)):
            found.lengths = each.reshape(batch, -1) if found.lengths is None else found.lengths
        elif each.shape[0] == batch and len([size for size in each.shape[1:] if size != 1]) == 2:
            if found.capsules is None:
                sizes = [size for size in each.shape[1:] if size != 1]
                found.capsules = each.reshape(batch, *sizes)
                if classes in sizes and sizes[0] != classes:
                    found.capsules = found.capsules.transpose(1, 2)
        elif each.shape[0] == batch and each.dim() == 2 and each.shape[1] > 1 and classes is None:
            found.lengths = each if found.lengths is None else found.lengths
    found.returned_lengths = found.lengths
    if found.lengths is None and found.capsules is not None:
        found.lengths = torch.linalg.vector_norm(found.capsules, dim=-1)
    return found


def _is_one_hot(tensor: Tensor) -> bool:
    return bool(((tensor == 0) | (tensor == 1)).all()) and bool((tensor.sum(1) == 1).all())


def _lengths(found: Outputs) -> Iterator[Finding]:
    lengths = found.lengths
    assert lengths is not None
    if lengths.max() > 1 + 1e-3:
        text = f"A class capsule is {float(lengths.max()):.3f} long; no squashed vector is longer than 1."
        yield Finding("squash-axis", text)
    elif found.returned_lengths is not None and lengths.shape[1] > 1 and _sum_to_one(lengths):
        yield Finding("lengths-softmax", "The lengths of every image sum to 1.")


def _sum_to_one(lengths: Tensor) -> bool:
    return bool(((lengths.sum(dim=1) - 1).abs() < 1e-4).all())


def _scale(layer: CapsuleLayer, outputs: Callable[..., Outputs]) -> None:
    """W times what makes the longest capsule about 0.7 long."""
    if layer.weight is None:
        return
    weight = layer.module.get_parameter(layer.weight)
    original = weight.detach().clone()
    best, smallest = 1.0, float("inf")
    low, high = -6.0, 12.0
    with torch.no_grad():
        for _ in range(9):
            middle = (low + high) / 2
            weight.copy_(original * 2**middle)
            capsules = outputs().capsules
            if capsules is None or not capsules.isfinite().all():
                high = middle
                continue
            longest = float(torch.linalg.vector_norm(capsules, dim=-1).max())
            if abs(longest - _LONG_ENOUGH) < smallest:
                best, smallest = 2**middle, abs(longest - _LONG_ENOUGH)
            low, high = (middle, high) if longest < _LONG_ENOUGH else (low, middle)
        weight.copy_(original * best)


def _neighbours(runner: Runner, outputs: Callable[..., Outputs], first: Outputs) -> Iterator[Finding]:
    """Whether an image's lengths depend on the others."""
    images = repeated(runner.images, runner.batch)
    others = torch.cat([images[:1], images[1:].flip(-1) * 0.5])
    swapped = outputs(others)
    assert first.lengths is not None and swapped.lengths is not None
    text = "An image's lengths depend on the images beside it."
    if not _same(first.lengths[:1], swapped.lengths[:1]):
        example = Example("the first image beside others", "lengths", first.lengths[0], swapped.lengths[0])
        yield Finding("batch-agreement", text, example)
        return
    try:
        alone = outputs(images[:1], repeated(runner.labels, 1)).lengths
    except Trouble as trouble:
        yield Finding(None, f"It takes no batch of one image. {trouble}", convention=True)
        return
    if alone is not None and alone.shape == first.lengths[:1].shape and not _same(alone, first.lengths[:1]):
        yield Finding("batch-agreement", text)


def _labels(runner: Runner, outputs: Callable[..., Outputs], first: Outputs) -> Iterator[Finding]:
    if runner.way == "none" or first.reconstruction is None or first.lengths is None:
        return
    images, labels = repeated(runner.images, runner.batch), repeated(runner.labels, runner.batch)
    for step in (1, 3):
        other = outputs(images, (labels + step) % first.lengths.shape[1]).reconstruction
        if other is None or not torch.equal(other, first.reconstruction):
            return
    yield Finding("mask-prediction", "With other labels it reconstructs the very same.")


def _gradients(runner: Runner, outputs: Callable[..., Outputs]) -> Iterator[Finding]:
    """What an empty image does to the gradients of a module."""
    network = runner.network
    if not isinstance(network, nn.Module) or not any(each.requires_grad for each in network.parameters()):
        return
    lengths = outputs(torch.zeros_like(repeated(runner.images, runner.batch)), grad=True).lengths
    if lengths is None:
        return
    if not lengths.isfinite().all():
        yield Finding("squash-nan", "An empty image gives nan.")
        return
    weights = [each for each in network.parameters() if each.requires_grad]
    if not lengths.requires_grad:
        yield Finding(None, "No gradient flows from its lengths to its weights.")
        return
    gradients = torch.autograd.grad(lengths.sum(), weights, allow_unused=True)
    if not all(each is None or each.isfinite().all() for each in gradients):
        yield Finding("squash-nan", "An empty image gives a gradient of nan.")


def _same(one: Tensor, other: Tensor) -> bool:
    return bool(torch.allclose(one.double(), other.double(), rtol=1e-3, atol=1e-4))
