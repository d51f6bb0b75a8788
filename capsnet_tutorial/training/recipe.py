"""How a network is trained: everything that can be chosen."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from capsnet_tutorial.augmentation import Augmentation
from capsnet_tutorial.errors import expect, expect_count
from capsnet_tutorial.functional import RECONSTRUCTION_WEIGHT


@dataclass(frozen=True)
class Recipe:
    """Everything that decides how a network is trained; with the data, it decides the result."""

    epochs: float = 10
    """How long to train. Ignored where ``seconds`` is given."""
    seconds: float | None = None
    """Train for so long instead, evaluation not counted; the learning rate follows the clock."""
    batch_size: int = 128
    learning_rate: float = 1e-2
    """At its peak: it rises over the first ``warmup`` of the run and falls along a cosine to zero."""
    warmup: float = 0.3
    betas: tuple[float, float] = (0.9, 0.99)
    average: float = 0.998
    """Decay of the running average of the weights; the average is what is evaluated and saved. 0: none."""
    clip: float | None = None
    """The gradient's largest norm; a longer one is shortened to it. None: as it comes."""
    patience: int | None = None
    """Stop after so many epochs without a smaller validation error, and keep the best weights. None: to the end."""
    stop_at_accuracy: float | None = None
    """Stop after the first epoch whose validation accuracy is at least so many percent. None: to the end."""
    reconstruction_weight: float = RECONSTRUCTION_WEIGHT
    augmentation: Augmentation = field(default_factory=Augmentation)
    precision: str = "fp32"
    """"fp32", or "bf16" for autocast."""
    seed: int = 0

    def __post_init__(self) -> None:
        expect_count("batch_size", self.batch_size)
        for name in ("epochs", "seconds", "learning_rate", "clip"):
            value = getattr(self, name)
            if value is not None:
                expect(value > 0, f"{name} above 0", repr(value))
                expect(value < math.inf, f"{name} to be finite", repr(value))
        expect(0 < self.warmup < 1, "warmup between 0 and 1", repr(self.warmup))
        weight = self.reconstruction_weight
        expect(0 <= weight < math.inf, "reconstruction_weight of at least 0, finite", repr(weight))
        expect(0 <= self.average < 1, "average from 0 to below 1", repr(self.average))
        if self.patience is not None:
            expect_count("patience", self.patience)
            expect(self.seconds is None, "patience in a run of epochs", "a run of seconds, which validates once")
        if self.stop_at_accuracy is not None:
            expect(0 < self.stop_at_accuracy <= 100, "stop_at_accuracy in percent", repr(self.stop_at_accuracy))
            expect(
                self.seconds is None, "stop_at_accuracy in a run of epochs", "a run of seconds, which validates once"
            )
        expect(self.precision in ("fp32", "bf16"), "precision fp32 or bf16", repr(self.precision))

    @classmethod
    def quick(cls, seconds: float) -> Recipe:
        """What serves best when a minute or two is all there is: chosen on the validation digits, on two cores."""
        augmentation = Augmentation(shift=1.0)
        return cls(seconds=seconds, warmup=0.2, average=0.99, augmentation=augmentation)


def one_cycle(share_done: float, warmup: float) -> float:
    """The learning rate as a share of its peak: up from 1/25 along a cosine, then down to zero along another."""
    if share_done < warmup:
        return 1 / 25 + (1 - 1 / 25) * (1 - math.cos(math.pi * share_done / warmup)) / 2
    return (1 + math.cos(math.pi * (share_done - warmup) / (1 - warmup))) / 2
