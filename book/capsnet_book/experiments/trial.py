"""The verdict on routing as a table: what three rounds bring, in training and at inference.

*In training*: networks trained with three rounds against networks trained with one, all of them
read with one round, so that only what they learned differs. *At inference*: the networks trained
with three rounds, read with one round and with three.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from capsnet_book.experiments.plan import Experiments
from capsnet_book.experiments.records import stored
from capsnet_book.experiments.statistics import Difference, paired, two_way
from capsnet_book.experiments.tables import results_by_seed
from capsnet_book.experiments.verdicts import wrong_after

CLUTTER = "6"
"""Parts of no whole in the scenes with true poses."""


class Test(NamedTuple):
    """One row of the trial: what is read, and by which networks."""

    task: str
    network: str
    one_round: str
    """The run that was trained with one round."""
    three_rounds: str
    """The run that was trained with three."""
    split: str
    """A key of the records' ``wrong_after``."""


TESTS = (
    Test("straight digits", "small", "fresh-r1", "fresh-r3", "test"),
    Test("straight digits", "the paper's size", "fresh-paper-r1", "fresh-paper-r3", "test"),
    Test("bent digits", "small", "fresh-r1", "fresh-r3", "test_bent"),
    Test("bent digits", "the paper's size", "fresh-paper-r1", "fresh-paper-r3", "test_bent"),
    Test("digits in noise", "small", "fresh-r1", "fresh-r3", "test_noisy"),
    Test("digits in noise", "the paper's size", "fresh-paper-r1", "fresh-paper-r3", "test_noisy"),
    Test("overlapping digits", "small", "fresh-pairs-r1", "fresh-pairs-r3", "test"),
    Test(
        "overlapping digits",
        "the paper's size",
        "fresh-paper-pairs-r1",
        "fresh-paper-pairs-r3",
        "test",
    ),
)


class Effect(NamedTuple):
    """What one change does to the errors, in per cent of the images."""

    before: float
    after: float
    difference: Difference | None
    """Of the errors before less those after, in points; None where it is the same in each seed."""

    def __str__(self) -> str:
        if self.difference is None or self.difference.low <= 0 <= self.difference.high:
            return "no difference seen"
        word = "fewer" if self.after < self.before else "more"
        share = abs(self.before - self.after) / self.before
        return f"{share:.0%} {word}: {self.before:.2f} → {self.after:.2f} %"


class Row(NamedTuple):
    """A row of the table."""

    task: str
    network: str
    seeds: int
    in_training: Effect
    at_inference: Effect

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """Return the row as the table shows it."""
        return self.task, self.network, str(self.in_training), str(self.at_inference)


def trial(experiments: Experiments) -> list[Row]:
    """Return the rows of the trial: digits from the runs' records, pictures, true poses."""
    digits = [_row_of_digits(experiments, test) for test in TESTS]
    return [*digits, _row_of_pictures(), _row_of_true_poses()]


def _row_of_digits(experiments: Experiments, test: Test) -> Row:
    never = results_by_seed(experiments, test.one_round)
    always = results_by_seed(experiments, test.three_rounds)
    seeds = sorted(never.keys() & always.keys())

    def errors(results: dict[int, dict], rounds: int) -> np.ndarray:
        """Return what is misread with so many rounds, [S, 10000]."""
        wrong = [wrong_after(results[seed], test.split, rounds) for seed in seeds]
        return np.array(wrong, dtype=float)

    learned = errors(always, rounds=1)
    return Row(
        test.task,
        test.network,
        len(seeds),
        in_training=_effect_over_images(errors(never, rounds=1), learned),
        at_inference=_effect_over_images(learned, errors(always, rounds=3)),
    )


def _effect_over_images(before: np.ndarray, after: np.ndarray) -> Effect:
    """Return an effect whose interval holds the luck of the seeds and of the images."""
    difference = two_way(after, before)
    points = None if difference is None else difference.times(100)
    return Effect(100 * float(before.mean()), 100 * float(after.mean()), points)


def _row_of_pictures() -> Row:
    """Return the row of drawn pictures in noise."""

    def errors(run: dict, rounds: int) -> float:
        return run["noisy_after"][rounds - 1]

    return _row_over_seeds("a bar and a wedge, in noise", "small", "pictures", "capsnet", errors)


def _row_of_true_poses() -> Row:
    """Return the row of scenes at new angles, in clutter."""

    def errors(run: dict, rounds: int) -> float:
        return run["errors"]["new"][CLUTTER][rounds - 1]

    task = "parts with true poses, in clutter"
    return _row_over_seeds(task, "pose matrices", "viewpoints", "matrices", errors)


def _row_over_seeds(
    task: str, network: str, record: str, arm: str, errors: Callable[[dict, int], float]
) -> Row:
    """Return a row whose intervals hold the luck of the seeds.

    Args:
        task: as the table names it.
        network: as the table names it.
        record: whose runs are of the arms `<arm>-r1` and `<arm>-r3`.
        arm: what they are called without their rounds.
        errors: (run, rounds) -> the share misread with so many rounds.
    """

    def by_seed(trained_with: int, rounds: int) -> list[float]:
        runs = [run for run in stored(record)["runs"] if run["arm"] == f"{arm}-r{trained_with}"]
        return [errors(run, rounds) for run in sorted(runs, key=lambda run: run["seed"])]

    never = by_seed(1, 1)
    learned = by_seed(3, 1)
    routed = by_seed(3, 3)
    return Row(
        task,
        network,
        len(never),
        in_training=_effect_over_seeds(never, learned),
        at_inference=_effect_over_seeds(learned, routed),
    )


def _effect_over_seeds(before: Sequence[float], after: Sequence[float]) -> Effect:
    difference = paired(after, before)
    points = None if difference is None else difference.times(100)
    return Effect(100 * float(np.mean(before)), 100 * float(np.mean(after)), points)
