"""A network that can be run, whatever form it wants its labels in and however many images."""

from __future__ import annotations

import copy
import inspect
import re
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn

from capsnet_tutorial.check.calls import Trouble, accepts, called
from capsnet_tutorial.check.no_gpu import without_cuda

_BATCH = 3
_LABEL = re.compile(r"label|target|truth|^y$|_y$|one_?hot|class", re.IGNORECASE)


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

    def of(self, network: Any) -> Runner:
        """One that calls another copy of the network in the same way."""
        other = copy.copy(self)
        other.network, other.attribute = network, _label_attribute(network)
        return other

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
        return called(call, f"for images of shape {list(images.shape)}", of_labels=self.way != "none")

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
