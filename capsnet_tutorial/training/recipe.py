"""How a network is trained: everything that can be chosen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from capsnet_tutorial.augment import Augmentation
from capsnet_tutorial.errors import expect, expect_count, expect_fields
from capsnet_tutorial.functional import RECONSTRUCTION_WEIGHT

RETIRED = ("clip", "routing_gradient")
"""Fields of recipes in older records; all of those that are kept had no ``clip``."""


def _choice(default: Any, description: str) -> Any:
    """A field that `capsnet train` has an option for; the description is the option's help."""
    return field(default=default, metadata={"help": description})


@dataclass(frozen=True)
class Recipe:
    """Everything that decides how a network is trained; with the data, it decides the result."""

    epochs: float = _choice(10.0, "how often to see each image; ignored where seconds are given")
    seconds: float | None = _choice(
        None, "train for so long instead, evaluation not counted; the rate follows the clock"
    )
    batch_size: int = _choice(128, "images a step")
    learning_rate: float = _choice(1e-2, "at its peak, between a rise and a fall to zero, both along cosines")
    warmup: float = _choice(0.3, "share of the run in which the rate rises")
    betas: tuple[float, float] = (0.9, 0.99)
    average: float = _choice(0.998, "decay of the weights' running average, which is evaluated and saved; 0 for none")
    patience: int | None = _choice(
        None, "epochs without a smaller validation error to stop after, with the best weights"
    )
    stop_at_accuracy: float | None = _choice(None, "percent of the validation images right, to stop at")
    reconstruction_weight: float = _choice(RECONSTRUCTION_WEIGHT, "of the reconstruction loss beside the margin loss")
    augmentation: Augmentation = field(default_factory=Augmentation)
    precision: Literal["fp32", "bf16"] = _choice("fp32", "of the network's arithmetic; bf16 by autocast")
    seed: int = _choice(0, "of every random choice")

    def __post_init__(self) -> None:
        expect_count("batch_size", self.batch_size)
        for name in ("epochs", "seconds", "learning_rate"):
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
        """A recipe for a minute or two: chosen on the validation digits, on two cores."""
        return cls(seconds=seconds, warmup=0.2, average=0.99, augmentation=Augmentation(shift=1.0))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Recipe:
        """The inverse of `dataclasses.asdict`, from JSON; of older records, what is `RETIRED` is left out."""
        known = {name: value for name, value in dict(values).items() if name not in RETIRED}
        expect_fields(cls, known)
        expect_fields(Augmentation, known.get("augmentation", {}))
        augmentation = Augmentation(**known.pop("augmentation", {}))
        betas = tuple(known.pop("betas", cls.betas))
        return cls(**known, augmentation=augmentation, betas=betas)  # type: ignore[arg-type]


def one_cycle(share_done: float, warmup: float) -> float:
    """Learning rate as a share of its peak: up from 1/25 along a cosine, then down to zero along another."""
    if share_done < warmup:
        return 1 / 25 + (1 - 1 / 25) * (1 - math.cos(math.pi * share_done / warmup)) / 2
    return (1 + math.cos(math.pi * (share_done - warmup) / (1 - warmup))) / 2
