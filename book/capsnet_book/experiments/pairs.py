"""Pairs of overlapping digits (MultiMNIST): images, training data, evaluation. Section 6.

A pair is stored as two layers [2, 36, 36] of one digit each, the lower class first. A network's
input is their `overlay`; its decoder's targets are the single layers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from capsnet_book.experiments.cnn import ConvNet
from capsnet_tutorial.augment import Augmentation
from capsnet_tutorial.data import Digits
from capsnet_tutorial.errors import expect
from capsnet_tutorial.functional import capsule_lengths, mask_capsules
from capsnet_tutorial.model import CapsNet, CapsNetOutput
from capsnet_tutorial.train import over_batches

PADDING = 4
"""Pixels on every side: 28×28 becomes 36×36."""
SHIFT = 4
"""The largest shift of a digit along both axes, in pixels; 6 in the authors' code."""
_CLASSES = 10


@dataclass
class Pairs:
    """Pairs to train on, made on demand: a chosen digit and any digit of another class.

    All chance comes from the generator of `batch`: a step's pairs follow from seed and step.
    """

    digits: Digits

    def __post_init__(self) -> None:
        classes = len(self.digits.labels.unique())
        expect(classes > 1, "digits of at least two classes", f"{classes}")

    @property
    def count(self) -> int:
        """The number of digits: every digit is chosen once in an epoch."""
        return len(self.digits.labels)

    def batch(
        self, chosen: Tensor, augmentation: Augmentation, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """Return the layers [B, 2, 36, 36] of chosen digits (int64 [B]) and their partners.

        Also return their classes, multi-hot [B, 10].
        """
        both = torch.stack([chosen, self._partners(chosen, generator)], dim=1)  # [B, 2]
        labels, order = self.digits.labels[both].sort(dim=1)
        both = both.gather(1, order).flatten()
        padded = F.pad(self.digits.images[both], (PADDING,) * 4)
        layers = augmentation(padded, generator)  # [2 B, 1, 36, 36]
        present = torch.zeros(len(chosen), _CLASSES).scatter(1, labels, 1.0)
        return layers.unflatten(0, (-1, 2)).squeeze(2), present

    def _partners(self, chosen: Tensor, generator: torch.Generator) -> Tensor:
        """Return for each digit the position of another, int64 [B].

        All digits of other classes have the same chance.
        """
        by_class, first, size = self._classes
        label = self.digits.labels[chosen]
        others = len(by_class) - size[label]
        place = (torch.rand(len(chosen), generator=generator, dtype=torch.float64) * others).long()
        skipped = size[label] * (place >= first[label])  # the digits of the same class
        return by_class[place + skipped]

    @cached_property
    def _classes(self) -> tuple[Tensor, Tensor, Tensor]:
        """All positions sorted by class; the place where each class begins; its size."""
        by_class = self.digits.labels.argsort(stable=True)
        size = self.digits.labels.bincount(minlength=_CLASSES)
        return by_class, size.cumsum(0) - size, size


class PairSet(NamedTuple):
    """Fixed pairs, to measure on."""

    layers: Tensor
    """[N, 2, 36, 36], the lower class first."""
    present: Tensor
    """The classes, multi-hot [N, 10]: two ones in each row."""

    @property
    def images(self) -> Tensor:
        """The networks' input, [N, 1, 36, 36]."""
        return overlay(self.layers)

    @property
    def labels(self) -> Tensor:
        """The two classes, ascending: int64 [N, 2]."""
        return classes_of(self.present)


def fixed_pairs(digits: Digits, seed: int = 0) -> PairSet:
    """Return one pair for each digit, both shifted by up to `SHIFT` pixels; a seed fixes them."""
    generator = torch.Generator().manual_seed(seed)
    every = torch.arange(len(digits.labels))
    layers, present = Pairs(digits).batch(every, Augmentation(shift=SHIFT), generator)
    return PairSet(layers, present)


def overlay(layers: Tensor) -> Tensor:
    """Add the ink of both digits and clip it: [N, 2, H, W] -> [N, 1, H, W]."""
    return layers.sum(dim=1, keepdim=True).clamp(max=1)


def classes_of(present: Tensor) -> Tensor:
    """Return the two classes of each pair, ascending: multi-hot [N, 10] -> int64 [N, 2]."""
    return present.topk(2, dim=1).indices.sort(dim=1).values


class OnPairs(nn.Module):
    """A network for training on pairs: its input is the overlay, and it reconstructs both digits.

    The default objective of `fit` then compares each reconstruction with its layer; both count in
    full.
    """

    def __init__(self, network: CapsNet | ConvNet) -> None:
        super().__init__()
        self.network = network
        self.config = network.config

    def forward(self, layers: Tensor, present: Tensor) -> CapsNetOutput | Tensor:
        """Return the network's output for layers [B, 2, H, W] and their classes [B, J].

        A CapsNet's reconstruction is [B, 2, pixels], one from each of the true classes' capsules. A
        `ConvNet` returns scores, [B, J].
        """
        images = overlay(layers)
        if isinstance(self.network, ConvNet):
            return self.network(images)
        v = self.network.routed(self.network.primary_capsules(images))
        return CapsNetOutput(v, capsule_lengths(v), drawings(self.network, v, classes_of(present)))


def drawings(network: CapsNet, v: Tensor, classes: Tensor) -> Tensor:
    """Return the reconstruction from each of K classes' capsules alone.

    Args:
        network: with a decoder.
        v: its class capsules [B, J, D_out].
        classes: int64 [B, K].

    Returns:
        [B, K, pixels].
    """
    masked = [mask_capsules(v, labels) for labels in classes.unbind(dim=1)]
    return torch.stack([network.decode(capsules) for capsules in masked], dim=1)


class PairEvaluation(NamedTuple):
    """Errors and ink of a CapsNet on pairs."""

    error: float
    """Share of pairs whose two longest capsules are not the two digits'."""
    reconstruction_mse: float
    """Mean squared difference a pixel between a digit alone and its capsule's reconstruction."""
    ink: float
    """Mean sum of the pixels of a digit alone."""
    ink_present: float
    """The same for the reconstructions of present digits."""
    ink_absent: float
    """The same for the reconstruction of an absent digit, one of the eight by chance."""


def evaluate_pairs(network: CapsNet, pairs: PairSet, seed: int = 0) -> PairEvaluation:
    """Measure a CapsNet on pairs, in eval mode; a seed fixes the absent digits."""
    chance = torch.rand(pairs.present.shape, generator=torch.Generator().manual_seed(seed))
    absent = (chance - pairs.present).argmax(dim=1, keepdim=True)
    three = torch.cat([pairs.labels, absent], dim=1)  # two present classes, one absent

    def measure(layers: Tensor, classes: Tensor) -> tuple[Tensor, ...]:
        output = network(overlay(layers))
        is_wrong = (classes_of(output.lengths) != classes[:, :2]).any(dim=1)
        reconstructions = drawings(network, output.capsules, classes)  # [B, 3, pixels]
        present = reconstructions[:, :2]
        error = (present - layers.flatten(2)).square().mean(dim=(1, 2))
        ink = layers.sum(dim=(1, 2, 3)) / 2
        ink_present = present.sum(dim=(1, 2)) / 2
        return is_wrong, error, ink, ink_present, reconstructions[:, 2].sum(dim=1)

    measured = over_batches(network, measure, pairs.layers, three)
    return PairEvaluation(*(values.double().mean().item() for values in measured))
