"""The state of a training run: everything that changes from step to step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

Network = TypeVar("Network", bound=nn.Module)
Objective = Callable[[Any, Tensor, Tensor], Tensor]
"""The loss: (output of network(images, targets), images, targets) -> a scalar, the mean over the images."""


@dataclass
class History:
    """Steps, seconds and curve of a run: goes into checkpoints and results."""

    step: int = 0
    seconds: float = 0.0
    """Spent on training, evaluation not counted."""
    curve: list[dict[str, float]] = field(default_factory=list)
    """One entry an epoch: epoch, seconds, loss, and the validation error if there is a validation set."""

    @property
    def validation_errors(self) -> list[float]:
        return [point["validation_error"] for point in self.curve if "validation_error" in point]


@dataclass
class TrainingState(Generic[Network]):
    """What the next step depends on, beside the recipe and the data; a checkpoint holds all of it."""

    network: Network
    optimizer: torch.optim.Optimizer
    losses: Tensor
    """Of this epoch's steps, [steps an epoch]."""
    average: Network | None = None
    """Running average of the weights, where the recipe averages."""
    best: Network | None = None
    """The result with the smallest validation error so far, where the recipe has patience."""
    history: History = field(default_factory=History)

    @property
    def result(self) -> Network:
        """The network to use: the average, if there is one."""
        return self.network if self.average is None else self.average

    @property
    def losses_so_far(self) -> Tensor:
        """Losses of this epoch's steps, the last one's included."""
        return self.losses[: (self.history.step - 1) % len(self.losses) + 1]


class Diverged(RuntimeError):
    """The loss or the weights are no longer finite numbers."""

    def __init__(self, why: str, history: History) -> None:
        super().__init__(why)
        self.history = history
        """Of the run, the steps that spoilt it included."""


class OutOfTime(RuntimeError):
    """The run's time limit is over; its checkpoint is written."""
