"""A step of training: its images, its loss, and the seeds of its random numbers."""

from __future__ import annotations

import hashlib
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, nn

from capsnet_tutorial.functional import at_least_float32
from capsnet_tutorial.images import TrainingData
from capsnet_tutorial.train.distributed import Processes
from capsnet_tutorial.train.recipe import Objective, Recipe


class BatchLoss(nn.Module):
    """The loss of a network on a batch, a scalar.

    Args:
        network: called with images and targets.
        objective: the loss function of its output.
        precision: of the network's arithmetic, as in `Recipe`.
    """

    def __init__(self, network: nn.Module, objective: Objective, precision: str) -> None:
        super().__init__()
        self.network = network
        self.objective = objective
        self.precision = precision

    def forward(self, images: Tensor, targets: Tensor) -> Tensor:
        with self._autocast(images.device):
            output = self.network(images, targets)
        return self.objective(in_float32(output), images, targets)

    def _autocast(self, device: torch.device) -> AbstractContextManager[Any]:
        if self.precision == "fp32":
            return nullcontext()
        return torch.autocast(device.type, torch.bfloat16)


@dataclass(frozen=True)
class StepLoss:
    """The loss of a step.

    The images of a step and all of its random numbers follow from the recipe's seed, the epoch and
    the step's position in the epoch.
    """

    data: TrainingData
    recipe: Recipe
    objective: Objective
    device: torch.device
    processes: Processes

    def of(self, network: nn.Module) -> BatchLoss:
        """Return a network's loss as a module."""
        return BatchLoss(network, self.objective, self.recipe.precision)

    def __call__(self, loss: nn.Module, epoch: int, position: int) -> Tensor:
        """Return the loss in a step: of several processes, that of this one's part.

        Args:
            loss: what `of` returned, maybe wrapped for several processes.
            epoch: counted from 0.
            position: of the step in its epoch, counted from 0.
        """
        seed = self.recipe.seed
        size = self.recipe.batch_size
        order = epoch_order(self.data.count, seed, epoch)
        chosen = order[position * size : (position + 1) * size]
        # + 1, because 0 is the seed of the epoch's order.
        generator = torch.Generator().manual_seed(mixed_seed(seed, epoch, position + 1))
        images, targets = self.data.batch(chosen, self.recipe.augmentation, generator)
        images = self.processes.part(images).to(self.device)
        targets = self.processes.part(targets).to(self.device)
        # For what a network draws itself, such as dropout, in each process something else; the 1
        # of the first process tells this seed from the generator's.
        torch.manual_seed(mixed_seed(seed, epoch, position + 1, 1 + self.processes.rank))
        return loss(images, targets)

    def try_batch(self) -> None:
        """Make a batch of one image, so that bad data end a run before it has written anything."""
        first = torch.zeros(1, dtype=torch.int64)
        self.data.batch(first, self.recipe.augmentation, torch.Generator())


def in_float32(output: Any) -> Any:
    """Return a network's output with its half-precision tensors in float32, ready for the loss.

    Args:
        output: a tensor, or a tuple or list of outputs; anything else is returned as it is.

    Returns:
        The same, a list as a tuple.
    """
    if isinstance(output, (tuple, list)):
        parts = tuple(map(in_float32, output))
        return type(output)(*parts) if hasattr(output, "_fields") else parts
    return at_least_float32(output) if isinstance(output, Tensor) else output


# --- random numbers


@lru_cache(maxsize=1)
def epoch_order(count: int, seed: int, epoch: int) -> Tensor:
    """Return the order in which an epoch sees the examples: their numbers, int64 [count]."""
    generator = torch.Generator().manual_seed(mixed_seed(seed, epoch, 0))
    return torch.randperm(count, generator=generator)


def mixed_seed(*numbers: int) -> int:
    """Return one seed for several numbers, far from the seeds of their neighbours."""
    digest = hashlib.sha256(repr(numbers).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1  # 63 bits fit a signed integer


def chance_restored(device: torch.device) -> AbstractContextManager[None]:
    """Return a context that restores the states of PyTorch's global random numbers on exit."""
    return torch.random.fork_rng([device] if device.type == "cuda" else [])
