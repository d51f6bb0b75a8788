"""A network from outside: how it is called, and what shows in what it returns."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from capsnet_check.calls import Looked, Trouble, accepts, called
from capsnet_check.report import Finding
from capsnet_check.trace import Instead, Target, Trace, tensors_in

_LABEL = re.compile(r"label|target|truth|^y$|_y$|one_?hot|class", re.IGNORECASE)
_WAYS = ("numbers", "one-hot", "attribute", "attribute one-hot", "none")


class Network:
    """A network, and how it takes images and labels.

    Args:
        thing: a module or a function.
        images: [B, C, H, W].
        labels: class numbers [B].
        ends: of `Trace`.

    Raises:
        Trouble: it can be called in none of the known ways.
    """

    def __init__(self, thing: Any, images: Tensor, labels: Tensor, ends: float) -> None:
        self.thing, self.ends = thing, ends
        sizes = (
            (name, value)
            for _, name, value in _attributes(thing)
            if type(value) is int and 1 < value <= 512
        )
        batches = [value for name, value in sizes if re.search("batch", name, re.I)]
        ways = [
            way for way in _WAYS if callable(thing) and accepts(thing, 2 if way in _WAYS[:2] else 1)
        ]
        ways = [way for way in ways if "attribute" not in way or _label_attributes(thing)]
        first = Trouble(
            f"Expected a network(images) or network(images, labels); got {type(thing).__name__}."
        )
        for batch in dict.fromkeys((3, *batches, len(images))):
            rows = torch.arange(batch) % len(images)
            self.images, self.labels = images[rows], labels[rows]
            for self.way in ways:
                try:
                    self.returned = self.run()
                    return
                except Trouble as trouble:
                    first = trouble if first.__cause__ is None else first
        raise first

    def target(self, labels: Tensor | None = None) -> Target:
        """The network as it is called, with these labels or its own."""
        labels = self.labels if labels is None else labels
        given = (
            F.one_hot(labels, max(10, int(labels.max()) + 1)).float()
            if "one-hot" in self.way
            else labels
        )

        def call(thing: Any) -> Any:
            if self.way in _WAYS[:2]:
                return thing(self.images.clone(), given)
            if "attribute" in self.way:
                setattr(*_label_attributes(thing)[0], given)
            return thing(self.images.clone())

        return Target(self.thing, call, self.images, self.ends)

    def run(
        self, instead: Instead = None, labels: Tensor | None = None, train: bool = False
    ) -> list[Tensor]:
        """The tensors that it returns, with other numbers in the place of what some operations give.

        Raises:
            Trouble: it fails, or returns none.
        """
        target, given = self.target(labels), f"for images of shape {list(self.images.shape)}"
        thing: Any = target.fresh() if train else None
        for module in thing.modules() if train else ():  # torch's own would do other operations
            module.training = not type(module).__module__.startswith("torch.nn")
        found = tensors_in(called(lambda: target.run(Trace(instead, keep=()), thing=thing), given))
        if not found:
            raise Trouble("It returns nothing; expected capsules [B, J, D] or lengths [B, J].")
        return [each for each in found if each.is_floating_point()]


def _attributes(network: Any) -> list[tuple[nn.Module, str, Any]]:
    modules = network.modules() if isinstance(network, nn.Module) else ()
    return [(module, name, value) for module in modules for name, value in vars(module).items()]


def _label_attributes(network: Any) -> list[tuple[nn.Module, str]]:
    """Attributes that may be there for labels."""
    return [
        (m, n)
        for m, n, value in _attributes(network)
        if _LABEL.search(n) and isinstance(value, Tensor | None)
    ]


def lengths_wrong(network: Network, classes: int) -> Iterator[Finding]:
    """Whether scores [B, J] among what it returns are no lengths: too long, or shares of 1."""
    for scores in (each.squeeze() for each in network.returned):
        if scores.shape != (len(network.images), classes):
            continue
        if not scores.isfinite().all():
            raise Trouble("Its lengths for these images are not finite numbers.")
        if scores.max() > 1 + 1e-3:
            text = f"A class capsule is {float(scores.max()):.3f} long; no squashed vector is longer than 1."
            yield Finding("squash-axis", text)
        elif ((scores.sum(1) - 1).abs() < 1e-4).all() and not ((scores == 0) | (scores == 1)).all():
            yield Finding("lengths-softmax", "The lengths of every image sum to 1.")


def alone_wrong(network: Network) -> Iterator[Finding | Looked]:
    """Whether what comes of a single image keeps the axis of the batch."""
    if len(network.images) != 3:  # it takes batches of its own size only
        return
    yield Looked("batch of one")
    alone = copy.copy(network)
    alone.images, alone.labels = network.images[:1], network.labels[:1]
    for many, one in zip(network.returned, alone.run(), strict=False):
        if many.shape[:1] == (3,) and one.shape != (1, *many.shape[1:]):
            yield Finding(
                None, f"With a batch of one image it returns a tensor of shape {list(one.shape)}."
            )


def remembers(target: Target, instead: Instead = None) -> bool:
    """Whether one and the same copy gives something else when it is called again."""
    thing = target.fresh()
    calls = (
        [each.double() for each in tensors_in(target.run(Trace(instead, keep=()), thing=thing))]
        for _ in range(2)
    )
    same = partial(torch.allclose, rtol=1e-3, atol=1e-5, equal_nan=True)
    return any(
        one.shape != other.shape or not same(one, other) for one, other in zip(*calls, strict=False)
    )


def mask_wrong(
    network: Network, classes: int, long: Mapping[int, Tensor]
) -> Iterator[Finding | Looked]:
    """Whether a network that redraws does so whatever the labels; with ``long``, capsules long enough to show it."""
    size = network.images.numel()
    if not any(each.numel() == size for each in network.returned):
        yield Looked("mask (it redraws nothing)")
        return
    yield Looked("mask")
    if network.way == "none":
        yield Finding(
            "mask-prediction",
            "It reconstructs and is given no label: it can only mask by its prediction.",
        )
        return
    for train in (False, True)[
        : 1 + isinstance(network.thing, nn.Module)
    ]:  # many mask by labels in training alone
        outputs = [
            network.run(long, (network.labels + step) % classes, train) for step in (0, 1, 3)
        ]
        first, *others = [[each for each in out if each.numel() == size] for out in outputs]
        if not all(
            torch.equal(*pair) for each in others for pair in zip(first, each, strict=False)
        ):
            return
    yield Finding("mask-prediction", "With other labels it reconstructs the very same.")
