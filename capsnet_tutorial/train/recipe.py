"""What decides a training beside network and data: the recipe, its schedule, the loss function."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from torch import Tensor, nn

from capsnet_tutorial import functional
from capsnet_tutorial.augment import Augmentation, option
from capsnet_tutorial.errors import InputError, expect, expect_count, is_number
from capsnet_tutorial.functional import RECONSTRUCTION_WEIGHT
from capsnet_tutorial.layers import RoutedCapsules
from capsnet_tutorial.model import named_output

USUAL_RATE = 1e-2
"""Learning rate at its peak, where the recipe names none."""
MOST_VOTERS = 320
"""Capsules below for each one above with which the usual rate was seen to learn: 3200 / 10."""
Objective = Callable[[Any, Tensor, Tensor], Tensor]
"""The loss function: (output of network(images, targets), images, targets) -> mean loss."""


@dataclass(frozen=True)
class Recipe:
    """Hyperparameters of a training: with the network and the data, they decide the result."""

    epochs: float = option(10.0, "how often to see each image; ignored where seconds are given")
    seconds: float | None = option(
        None, "train for so long; warmup is then 0.2, average 0.99, shift 1, unless given"
    )
    batch_size: int = option(128, "images a step")
    learning_rate: float | None = option(
        None,
        "at its peak, between a rise and a fall to zero, both along cosines; without one 0.01, or "
        "less where more than 320 capsules vote for each class",
    )
    warmup: float = option(0.3, "share of the run in which the rate rises")
    betas: tuple[float, float] = (0.9, 0.99)
    average: float = option(
        0.998, "decay of the average of the weights, which is saved; less in a short run; 0: none"
    )
    stop_at_accuracy: float | None = option(
        None, "percent of the validation images right, to stop at"
    )
    reconstruction_weight: float = option(
        RECONSTRUCTION_WEIGHT, "of the reconstruction loss beside the margin loss"
    )
    augmentation: Augmentation = field(default_factory=Augmentation)
    precision: Literal["fp32", "bf16"] = option(
        "fp32", "of the network's arithmetic; bf16 by autocast"
    )
    seed: int = option(0, "of every random choice")

    def __post_init__(self) -> None:
        expect_count("batch_size", self.batch_size)
        rate = self.learning_rate
        weight = self.reconstruction_weight
        accuracy = self.stop_at_accuracy
        is_augmentation = isinstance(self.augmentation, Augmentation)
        checks = [
            ("epochs above 0, finite", self.epochs, _is_above_0(self.epochs)),
            ("seconds above 0, finite", self.seconds, _is_none_or_above_0(self.seconds)),
            ("learning_rate above 0, finite", rate, _is_none_or_above_0(rate)),
            ("warmup between 0 and 1", self.warmup, _is_share(self.warmup) and self.warmup > 0),
            ("betas as two numbers from 0 to below 1", self.betas, _are_betas(self.betas)),
            ("average from 0 to below 1", self.average, _is_share(self.average)),
            (
                "reconstruction_weight of at least 0, finite",
                weight,
                is_number(weight) and weight >= 0,
            ),
            ("stop_at_accuracy in percent", accuracy, _is_none_or_percent(accuracy)),
            ("augmentation as an Augmentation", self.augmentation, is_augmentation),
            ("precision fp32 or bf16", self.precision, self.precision in ("fp32", "bf16")),
            ("seed as a whole number of 64 bits", self.seed, _is_seed(self.seed)),
        ]
        for wanted, value, is_met in checks:
            expect(is_met, wanted, repr(value))
        is_consistent = accuracy is None or self.seconds is None
        wanted = "stop_at_accuracy in a run of epochs"
        expect(is_consistent, wanted, "a run of seconds, validated once")

    def for_network(self, network: nn.Module) -> Recipe:
        """Return the recipe with a learning rate: its own, or `usual_rate` of a network."""
        if self.learning_rate is not None:
            return self
        return replace(self, learning_rate=usual_rate(network))

    @classmethod
    def quick(cls, seconds: float) -> Recipe:
        """Return a recipe for a minute or two on two cores.

        Its values were chosen by the error on the validation digits.
        """
        return cls(seconds=seconds, warmup=0.2, average=0.99, augmentation=Augmentation(shift=1.0))


def _is_above_0(value: Any) -> bool:
    """Return whether a value is a finite number above 0."""
    return is_number(value) and value > 0


def _is_none_or_above_0(value: Any) -> bool:
    """Return whether a value is None, or a finite number above 0."""
    return value is None or _is_above_0(value)


def _is_none_or_percent(value: Any) -> bool:
    """Return whether a value is None, or a number above 0, at most 100."""
    return value is None or (_is_above_0(value) and value <= 100)


def _is_share(value: Any) -> bool:
    """Return whether a value is a number from 0 to below 1."""
    return is_number(value) and 0 <= value < 1


def _are_betas(value: Any) -> bool:
    """Return whether a value is a sequence of two numbers from 0 to below 1."""
    is_pair = isinstance(value, Sequence) and len(value) == 2
    return is_pair and all(_is_share(beta) for beta in value)


def _is_seed(value: Any) -> bool:
    """Return whether a value is a whole number that PyTorch takes as a seed."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return is_whole and -(2**63) <= value < 2**63


def usual_rate(network: nn.Module) -> float:
    """Return the learning rate for a network where the recipe names none: 0.01, or less.

    A step of Adam changes each weight by as much as the rate, so it changes s in proportion to
    I / J. With 3,200 capsules below two, all class capsules can become 1 long within a few steps at
    0.01. Squash is flat there, and learning ends. So the rate falls as J / I beyond 320 capsules
    below for each above. Of six trainings with 3,200 below two, all learned with this rate, and one
    did not at 0.01: results/sizes.json, which ``python -m benchmarks.sizes`` makes.
    """
    voters = [
        layer.weight.shape[0] / layer.weight.shape[1]  # I / J
        for layer in network.modules()
        if isinstance(layer, RoutedCapsules)
    ]
    return USUAL_RATE * min(1.0, MOST_VOTERS / max(voters, default=1.0))


@dataclass(frozen=True)
class Schedule:
    """Length of a run, its learning rate and the decay of its average, step by step.

    In the methods ``step`` and ``seconds`` are the steps taken and the seconds spent so far.
    """

    recipe: Recipe
    examples: int
    """Size of the training set. An epoch leaves out the incomplete last batch."""

    def __post_init__(self) -> None:
        wanted = f"at least one batch of {self.recipe.batch_size} images"
        expect(self.steps_per_epoch > 0, wanted, f"{self.examples}")

    @property
    def steps_per_epoch(self) -> int:
        """Whole batches in the training set."""
        return self.examples // self.recipe.batch_size

    @property
    def total_steps(self) -> int:
        """Steps of a run of epochs."""
        return math.ceil(self.recipe.epochs * self.steps_per_epoch)

    def share_done(self, step: int, seconds: float) -> float:
        """Return the share of the run that is over: 0 at its beginning, 1 at its end."""
        if self.recipe.seconds is None:
            return step / self.total_steps
        return seconds / self.recipe.seconds

    def learning_rate(self, step: int, seconds: float) -> float:
        """Return the learning rate of the next step.

        Raises:
            ValueError: the recipe names no rate; `Recipe.for_network` gives it one.
        """
        peak = self.recipe.learning_rate
        if peak is None:
            raise InputError("expected a recipe with a rate, as of Recipe.for_network; got none")
        return peak * one_cycle(self.share_done(step, seconds), self.recipe.warmup)

    def decay(self, step: int) -> float:
        """Return the decay of the average at the next step: 0 at the first, a copy of the weights.

        An average with decay d reaches back over about 1 / (1 - d) steps. In a run of epochs that
        is at most an eighth of the run, or ten steps if that is more: an average over the untrained
        weights of the beginning would be worse than the last weights.
        """
        if step == 0:
            return 0.0
        if self.recipe.seconds is not None:
            return self.recipe.average
        return min(self.recipe.average, max(0.9, 1 - 8 / self.total_steps))


def one_cycle(share_done: float, warmup: float) -> float:
    """Return the learning rate as a share of its peak.

    It rises from 1/25 to 1 along a cosine, then falls to 0 along another.

    Args:
        share_done: of the run, from 0 to 1.
        warmup: share of the run in which the rate rises, between 0 and 1.
    """
    if share_done < warmup:
        return 1 / 25 + (1 - 1 / 25) * (1 - math.cos(math.pi * share_done / warmup)) / 2
    return (1 + math.cos(math.pi * (share_done - warmup) / (1 - warmup))) / 2


def paper_objective(
    reconstruction_weight: float = RECONSTRUCTION_WEIGHT,
    margin_loss: Callable[..., Tensor] = functional.margin_loss,
    reconstruction_loss: Callable[..., Tensor] = functional.reconstruction_loss,
) -> Objective:
    """Return the paper's loss function: margin loss plus the weighted reconstruction loss.

    At weight 0, or without a reconstruction, the reconstruction loss is not computed.
    """

    def objective(output: Any, images: Tensor, targets: Tensor) -> Tensor:
        output = named_output(output)
        margin = margin_loss(output.lengths, targets)
        if not reconstruction_weight or output.reconstruction is None:
            return margin
        return margin + reconstruction_weight * reconstruction_loss(output.reconstruction, images)

    return objective
