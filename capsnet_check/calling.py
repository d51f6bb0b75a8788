"""The ways to call a network with images and labels."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from enum import Enum
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from capsnet_check.calls import Trouble, accepts, called, parameters_of
from capsnet_check.target import Target
from capsnet_check.trace import Replacements, Trace, tensors_in

_LABEL = re.compile(r"label|target|truth|^y(_|$)|_y$|one_?hot|class", re.IGNORECASE)
_USUAL_CLASSES = 10
_MOST_CLASSES = 1000
_LARGEST_BATCH = 512


class CallStyle(Enum):
    """The ways in which a network takes labels, in the order in which they are tried."""

    NUMBERS = "class numbers"
    ONE_HOT = "one-hot labels"
    KEYWORD = "class numbers by keyword"
    KEYWORD_ONE_HOT = "one-hot labels by keyword"
    ATTRIBUTE = "class numbers in an attribute"
    ATTRIBUTE_ONE_HOT = "one-hot labels in an attribute"
    NO_LABELS = "no labels"

    @property
    def has_argument(self) -> bool:
        """Whether labels are the second argument."""
        return self in (CallStyle.NUMBERS, CallStyle.ONE_HOT)

    @property
    def has_keyword(self) -> bool:
        """Whether labels are an argument that is given by its name alone."""
        return self in (CallStyle.KEYWORD, CallStyle.KEYWORD_ONE_HOT)

    @property
    def has_attribute(self) -> bool:
        """Whether labels are written into an attribute."""
        return self in (CallStyle.ATTRIBUTE, CallStyle.ATTRIBUTE_ONE_HOT)

    @property
    def is_one_hot(self) -> bool:
        """Whether labels are one-hot."""
        return self.name.endswith("ONE_HOT")

    def fits(self, thing: Any) -> bool:
        """Return True if a thing may be called so, by its arguments and attributes."""
        if not callable(thing):
            return False
        if self.has_keyword:
            return any(accepts(thing, 1, name) for name in _label_keywords(thing))
        if not accepts(thing, 2 if self.has_argument else 1):
            return False
        return not self.has_attribute or bool(_label_attributes(thing))


class Network:
    """A network, and a way to call it that works.

    Args:
        thing: a module or a function.
        images: [B, C, H, W].
        labels: class numbers [B].
        ends: as in `Trace`.

    Raises:
        Trouble: it can be called in none of the known ways; with the error of the way that came
            farthest.
    """

    style: CallStyle
    images: Tensor
    labels: Tensor
    classes: int
    """The number of classes that labels are given for."""
    returned: list[Tensor]
    """The tensors of floating-point numbers that it returns."""

    def __init__(self, thing: Any, images: Tensor, labels: Tensor, ends: float) -> None:
        self.thing = thing
        self.ends = ends
        self.given_labels = labels
        self.styles = [style for style in CallStyle if style.fits(thing)]
        with_labels = [style for style in self.styles if style != CallStyle.NO_LABELS]
        usual = max(_USUAL_CLASSES, int(labels.max()) + 1)
        failures: list[tuple[int, Trouble]] = []
        for styles, classes in ((self.styles, [usual]), (with_labels, _sizes_in(thing))):
            for batch in dict.fromkeys((3, *_batch_sizes(thing), len(images))):
                rows = torch.arange(batch) % len(images)
                self.images = images[rows]
                self.given_labels = labels[rows]
                if self._call_in_some_style(styles, classes, failures):
                    return
        if failures:
            raise max(failures, key=lambda failure: failure[0])[1]
        raise Trouble(
            f"Expected a network(images) or network(images, labels); got {type(thing).__name__}."
        )

    @property
    def may_take_labels(self) -> bool:
        """Whether there may be an argument or an attribute for labels."""
        return self.styles != [CallStyle.NO_LABELS] or len(parameters_of(self.thing)) > 1

    def give_labels_of(self, classes: int) -> None:
        """Give labels of so many classes from now on, if it takes such; else leave all as it is."""
        styles = [style for style in self.styles if style != CallStyle.NO_LABELS]
        if self.style in styles:
            styles.remove(self.style)
            styles.insert(0, self.style)
        before = copy.copy(vars(self))
        if not self._call_in_some_style(styles, [classes], []):
            vars(self).update(before)

    def _call_in_some_style(
        self, styles: list[CallStyle], classes: list[int], failures: list[tuple[int, Trouble]]
    ) -> bool:
        """Set style, labels and output to the first that work; collect (progress, trouble)."""
        for style in styles:
            for number in classes:
                self.style = style
                self.classes = number
                self.labels = self.given_labels % number
                trace = Trace(keep=())
                try:
                    target, out = self._called(partial(self.target().first_call, trace))
                    self.returned = _floating(out)
                except Trouble as trouble:
                    failures.append((trace.count, trouble))
                else:
                    self.thing = target.thing
                    return True
        return False

    def target(self, labels: Tensor | None = None) -> Target:
        """Return the network as it is called, with these class numbers or its own."""
        labels = self.labels if labels is None else labels
        if self.style.is_one_hot:
            labels = F.one_hot(labels, self.classes).float()

        def call(thing: Any) -> Any:
            if self.style.has_argument:
                return thing(self.images.clone(), labels)
            if self.style.has_keyword:
                return thing(self.images.clone(), **{_label_keywords(thing)[0]: labels})
            if self.style.has_attribute:
                setattr(*_label_attributes(thing)[0], labels)
            return thing(self.images.clone())

        return Target(self.thing, call, self.images, self.ends)

    def run(
        self,
        replacements: Replacements | None = None,
        labels: Tensor | None = None,
        *,
        train: bool = False,
    ) -> list[Tensor]:
        """Return the tensors of floating-point numbers that it returns.

        Args:
            replacements: what operations give instead.
            labels: class numbers; None: its own.
            train: whether its own modules are in training mode. PyTorch's never are: dropout and
                batch norm would do other operations.

        Raises:
            Trouble: it fails, or returns none.
        """
        target = self.target(labels)
        thing = target.fresh()
        if train:
            for module in thing.modules():
                module.training = not type(module).__module__.startswith("torch.nn")
        trace = Trace(replacements, keep=())
        return _floating(self._called(lambda: target.run(trace, thing=thing)))

    def _called(self, call: Any) -> Any:
        return called(call, f"for images of shape {list(self.images.shape)}")


def _floating(out: Any) -> list[Tensor]:
    """Return the tensors of floating-point numbers in an output."""
    tensors = tensors_in(out)
    if not tensors:
        raise Trouble("It returns nothing; expected capsules [B, J, D] or lengths [B, J].")
    return [tensor for tensor in tensors if tensor.is_floating_point()]


def _attributes(network: Any) -> Iterator[tuple[nn.Module, str, Any]]:
    """Yield every attribute of every module: (module, name, value)."""
    for module in network.modules() if isinstance(network, nn.Module) else ():
        for name, value in vars(module).items():
            yield module, name, value


def _label_keywords(network: Any) -> list[str]:
    """Return the names of arguments that are given by name alone, and may be there for labels."""
    return [
        name
        for name, parameter in parameters_of(network).items()
        if parameter.kind is parameter.KEYWORD_ONLY and _LABEL.search(name)
    ]


def _label_attributes(network: Any) -> list[tuple[nn.Module, str]]:
    """Return the attributes that may be there for labels."""
    return [
        (module, name)
        for module, name, value in _attributes(network)
        if _LABEL.search(name) and isinstance(value, Tensor | None)
    ]


def _batch_sizes(network: Any) -> list[int]:
    """Return the sizes of a batch that attributes name."""
    return [
        value
        for _, name, value in _attributes(network)
        if re.search("batch", name, re.IGNORECASE)
        and type(value) is int
        and 1 < value <= _LARGEST_BATCH
    ]


def _sizes_in(network: Any) -> list[int]:
    """Return the sizes of parameters and attributes that may be the number of classes."""
    sizes = {value for _, _, value in _attributes(network) if type(value) is int}
    if isinstance(network, nn.Module):
        for parameter in network.parameters():
            if not nn.parameter.is_lazy(parameter):
                sizes.update(parameter.shape)
    return sorted(size for size in sizes if 1 < size <= _MOST_CLASSES)
