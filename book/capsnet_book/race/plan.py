"""How long a race trains: as many epochs as fit, the same for all, and what need not be trained once more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from capsnet_book.experiments.plan import Experiments
from capsnet_book.experiments.records import RunRecord
from capsnet_book.experiments.tables import results_of
from capsnet_book.experiments.tasks import TASKS
from capsnet_book.routings.zoo import ZOO
from capsnet_tutorial.augment import Augmentation
from capsnet_tutorial.data import Source
from capsnet_tutorial.errors import expect, expect_count
from capsnet_tutorial.train import Recipe

EPOCHS = (1, 2, 3, 4, 6, 8, 12)
"""Lengths of a race. The records that come with the project are of the longest."""
_MEASURING = 200
"""What it costs to measure a trained network, in training steps."""

_RECORDED = {
    "digits": {name: species.run for name, species in ZOO.items()},
    "pairs": {"paper": "pairs-small", "even": "pairs-small-r1"},
    "affine": {"paper": "affine-small", "even": "affine-small-r1"},
}


@dataclass(frozen=True)
class Plan:
    """What is trained; the same for everyone in the race."""

    task: str
    source: Source
    epochs: float
    seeds: Sequence[int]

    def recipe(self, digits: int, seed: int = 0) -> Recipe:
        """The project's common recipe, that of its records, for so many epochs over so many digits.

        In a short race the average of the weights is over fewer steps: about the last tenth.
        """
        average = min(Recipe.average, 1 - 10 / max(20.0, self.epochs * digits / Recipe.batch_size))
        stop = 99.0 if self.task == "affine" else None  # bent digits are compared at the same accuracy
        shift = Augmentation(shift=TASKS[self.task].shift)
        return Recipe(epochs=self.epochs, seed=seed, average=average, augmentation=shift, stop_at_accuracy=stop)

    @property
    def name(self) -> str:
        """For the folder of runs that several races share."""
        return f"{self.task}-{self.source}-{self.epochs:g}"


def fitting_epochs(minutes: float, seeds: int, batches: int, milliseconds: dict[str, float], recorded: bool) -> float:
    """The longest race that fits into so many minutes.

    Args:
        minutes: for everything.
        seeds: how many.
        batches: steps of an epoch.
        milliseconds: of a step, of "own" and of "paper".
        recorded: whether the paper's need not be trained if the race is of the longest kind.

    Raises:
        ValueError: not even one epoch does.
    """
    expect(minutes > 0, "minutes above 0", f"{minutes:g}")
    expect_count("seeds", seeds)

    def needed(epochs: float) -> float:
        rivals = ["own"] if recorded and epochs == EPOCHS[-1] else ["own", "paper"]
        return sum(milliseconds[name] * (epochs * batches + _MEASURING) * seeds / 60_000 for name in rivals)

    fit = [epochs for epochs in EPOCHS if needed(epochs) <= minutes]
    shortest = min(EPOCHS, key=needed)
    expect(
        bool(fit),
        f"at least {needed(shortest) + 0.05:.1f} minutes for {seeds} seeds of {shortest:g} epoch each: a step takes "
        f"{milliseconds['own']:.0f} ms here and {milliseconds['paper']:.0f} ms with the paper's routing",
        f"{minutes:g}",
    )
    return fit[-1]


def recorded_runs(plan: Plan, training_digits: int) -> dict[str, list[RunRecord]]:
    """Records of the project that were trained just like this, by names of the zoo, of the seeds that are raced."""
    data = {"source": plan.source, "training_digits": training_digits}
    experiments, found = Experiments.read(), {}
    for name, run in _RECORDED[plan.task].items():
        records = [RunRecord.from_dict(result) for result in results_of(experiments, run)]
        alike = [
            each
            for each in records
            if each.recipe.seed in plan.seeds
            and replace(each.recipe, seed=0) == plan.recipe(training_digits)
            and each.data == data
        ]
        if alike:
            found[name] = alike
    return found
