"""What a whole network shows from outside, whatever is in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import torch
from torch import Tensor, nn

from capsnet_tutorial.check.calls import Trouble
from capsnet_tutorial.check.isolate import CapsuleLayer
from capsnet_tutorial.check.outputs import Outputs, outputs_of
from capsnet_tutorial.check.report import Example, Finding
from capsnet_tutorial.check.runner import Runner, repeated

_LONG_ENOUGH = 0.7


def behaviour(runner: Runner, layer: CapsuleLayer | None, classes: int | None) -> Iterator[Finding]:
    def outputs(*arguments: Tensor, grad: bool = False) -> Outputs:
        return outputs_of(runner, layer, classes, arguments, grad)

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
