"""Training data: what `fit` asks of it, which examples a step takes, and the check of all of them beforehand."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Protocol

import torch
from torch import Tensor

from capsnet_tutorial.augment import Augmentation
from capsnet_tutorial.errors import expect
from capsnet_tutorial.training.recipe import Recipe


class TrainingData(Protocol):
    """What a network can be trained on; `Digits` is one."""

    @property
    def count(self) -> int:
        """How many examples there are."""

    def batch(self, chosen: Tensor, augmentation: Augmentation, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """The chosen examples (int64 [B], from 0 to count - 1): images [B, …] and targets [B, …].

        All chance comes from the generator.
        """


def check_values(data: TrainingData, classes: int | None) -> None:
    """Look at every example once, not augmented, so that no training step has to.

    Args:
        data: to be trained on.
        classes: how many the network knows, if it is one that knows classes.

    Raises:
        ValueError: images that are no finite floating-point numbers, labels that are not whole numbers from 0 to
            ``classes`` - 1, or targets that are not finite.
    """
    generator = torch.Generator().manual_seed(0)
    for chosen in torch.arange(data.count).split(1000):
        images, targets = data.batch(chosen, Augmentation(shift=0), generator)
        expect(images.is_floating_point(), "images in floating point", f"{images.dtype}")
        expect(bool(images.isfinite().all()), "finite images", "nan or infinity among the pixels")
        expect(bool(targets.isfinite().all()), "finite targets", "nan or infinity among them")
        if classes is not None and targets.dim() == 1:
            expect(not targets.is_floating_point(), "integer labels", f"{targets.dtype}")
            low, high = int(targets.min()), int(targets.max())
            expect(low >= 0 and high < classes, f"labels from 0 to {classes - 1}", f"{low} to {high}")


def batch_of(data: TrainingData, recipe: Recipe, epoch: int, position: int) -> tuple[Tensor, Tensor]:
    """Images of one step, augmented, and their targets: they follow from the seed, the epoch and the place in it."""
    order = _order(data.count, recipe.seed, epoch)
    chosen = order[position * recipe.batch_size :][: recipe.batch_size]
    generator = torch.Generator().manual_seed(mixed_seed(recipe.seed, epoch, position + 1))
    return data.batch(chosen, recipe.augmentation, generator)


def mixed_seed(*numbers: int) -> int:
    """One seed from several numbers, far from the seeds of their neighbours."""
    return int.from_bytes(hashlib.sha256(repr(numbers).encode()).digest()[:8], "big") >> 1


@lru_cache(maxsize=1)
def _order(count: int, seed: int, epoch: int) -> Tensor:
    return torch.randperm(count, generator=torch.Generator().manual_seed(mixed_seed(seed, epoch, 0)))
