"""Pairs of overlapping digits (MultiMNIST): images, training data, evaluation. Section 6.

A pair is kept as its two layers [2, 36, 36], one digit each, the lower class first. What a network sees is `overlay`
of them; what its decoder shall draw is each layer alone.
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
"""How far each digit of a pair is moved, up to, along both axes. (6 in the authors' code.)"""
_CLASSES = 10


@dataclass
class Pairs:
    """Pairs to train on, made as they are needed: the chosen digit and any digit of another class.

    All chance comes from the generator that `batch` is given, so a step's pairs follow from seed and step alone.
    """

    digits: Digits

    def __post_init__(self) -> None:
        classes = len(self.digits.labels.unique())
        expect(classes > 1, "digits of at least two classes", f"{classes}")

    @property
    def count(self) -> int:
        """As many as there are digits: each is once the chosen one in an epoch."""
        return len(self.digits.labels)

    def batch(
        self, chosen: Tensor, augmentation: Augmentation, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """Layers [B, 2, 36, 36] of the pairs of the chosen digits (int64 [B]), and which classes they are [B, 10]."""
        both = torch.stack([chosen, self._partners(chosen, generator)], dim=1)  # [B, 2]
        labels, order = self.digits.labels[both].sort(dim=1)
        both = both.gather(1, order).flatten()
        layers = augmentation(
            F.pad(self.digits.images[both], (PADDING,) * 4), generator
        )  # [2 B, 1, 36, 36]
        present = torch.zeros(len(chosen), _CLASSES).scatter(1, labels, 1.0)
        return layers.unflatten(0, (-1, 2)).squeeze(2), present

    def _partners(self, chosen: Tensor, generator: torch.Generator) -> Tensor:
        """For each digit another, every one of another class with the same chance: positions, int64 [B]."""
        by_class, first, size = self._classes
        own = self.digits.labels[chosen]
        others = len(by_class) - size[own]
        place = (torch.rand(len(chosen), generator=generator, dtype=torch.float64) * others).long()
        return by_class[
            place + size[own] * (place >= first[own])
        ]  # sorted by class, jump over one's own

    @cached_property
    def _classes(self) -> tuple[Tensor, Tensor, Tensor]:
        """All positions sorted by class; where each class begins among them; its size."""
        size = self.digits.labels.bincount(minlength=_CLASSES)
        return self.digits.labels.argsort(stable=True), size.cumsum(0) - size, size


class PairSet(NamedTuple):
    """Pairs that stay what they are, to measure on."""

    layers: Tensor
    """[N, 2, 36, 36], the lower class first."""
    present: Tensor
    """Which classes, [N, 10], two ones in each row."""

    @property
    def images(self) -> Tensor:
        """What a network sees, [N, 1, 36, 36]."""
        return overlay(self.layers)

    @property
    def labels(self) -> Tensor:
        """The two classes, ascending: int64 [N, 2]."""
        return classes_of(self.present)


def fixed_pairs(digits: Digits, seed: int = 0) -> PairSet:
    """One pair for each digit, the same for the same seed, each digit shifted by up to `SHIFT` pixels."""
    generator = torch.Generator().manual_seed(seed)
    return PairSet(
        *Pairs(digits).batch(torch.arange(len(digits.labels)), Augmentation(shift=SHIFT), generator)
    )


def overlay(layers: Tensor) -> Tensor:
    """Both digits in one picture, their ink added and clipped: [N, 2, H, W] -> [N, 1, H, W]."""
    return layers.sum(dim=1, keepdim=True).clamp(max=1)


def classes_of(present: Tensor) -> Tensor:
    """The two classes of each pair, ascending: [N, 10] of zeros and two ones -> int64 [N, 2]."""
    return present.topk(2, dim=1).indices.sort(dim=1).values


class OnPairs(nn.Module):
    """A network as it trains on pairs: it sees the overlay, and draws each of the two digits on its own.

    The default objective of `fit` then compares each drawing with its own layer; both count in full.
    """

    def __init__(self, network: CapsNet | ConvNet) -> None:
        super().__init__()
        self.network = network
        self.config = network.config

    def forward(self, layers: Tensor, present: Tensor) -> CapsNetOutput | Tensor:
        """Layers [B, 2, H, W] and the classes that are present [B, J] -> the network's output.

        A CapsNet's reconstruction is [B, 2, pixels], one drawing from each of the true classes' capsules. A
        `ConvNet` gives its scores, [B, J].
        """
        images = overlay(layers)
        if isinstance(self.network, ConvNet):
            return self.network(images)
        v = self.network.routed(self.network.primary_capsules(images))
        return CapsNetOutput(v, capsule_lengths(v), drawings(self.network, v, classes_of(present)))


def drawings(network: CapsNet, v: Tensor, classes: Tensor) -> Tensor:
    """What a network draws for each of the classes it is asked for, one at a time.

    Args:
        network: with a decoder.
        v: its class capsules [B, J, D_out].
        classes: int64 [B, K].

    Returns:
        [B, K, pixels].
    """
    return torch.stack(
        [network.decode(mask_capsules(v, asked)) for asked in classes.unbind(dim=1)], dim=1
    )


class PairEvaluation(NamedTuple):
    """What a CapsNet does on pairs."""

    error: float
    """Share of pairs whose two longest capsules are not the two digits'."""
    reconstruction_mse: float
    """Mean squared difference a pixel between a digit alone and its drawing from its own capsule."""
    ink: float
    """Mean sum of the pixels of a digit alone."""
    ink_present: float
    """The same for the drawings of digits that are there."""
    ink_absent: float
    """The same for the drawing of a digit that is not there, drawn at random among the eight."""


def evaluate_pairs(network: CapsNet, pairs: PairSet, seed: int = 0) -> PairEvaluation:
    """Error and drawings of a CapsNet on pairs, in eval mode. The same seed asks for the same absent digits."""
    absent = (
        torch.rand(pairs.present.shape, generator=torch.Generator().manual_seed(seed))
        - pairs.present
    )
    asked = torch.cat(
        [pairs.labels, absent.argmax(dim=1, keepdim=True)], dim=1
    )  # two that are there, one that is not

    def measure(layers: Tensor, classes: Tensor) -> tuple[Tensor, ...]:
        output = network(overlay(layers))
        drawn = drawings(network, output.capsules, classes)  # [B, 3, pixels]
        wrong = (classes_of(output.lengths) != classes[:, :2]).any(dim=1)
        squared = (drawn[:, :2] - layers.flatten(2)).square().mean(dim=(1, 2))
        ink = layers.sum(dim=(1, 2, 3)) / 2
        return wrong, squared, ink, drawn[:, :2].sum(dim=(1, 2)) / 2, drawn[:, 2].sum(dim=1)

    found = over_batches(network, measure, pairs.layers, asked)
    return PairEvaluation(*(each.double().mean().item() for each in found))
