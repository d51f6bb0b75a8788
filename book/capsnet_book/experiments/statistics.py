"""How far a difference is to be trusted: its interval, its p, and what remains of p among many claims."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

CONFIDENCE = 0.95
_ROUNDING = 1e-9
"""Differences that spread less than this, relative to what is compared, are all the same."""


class Difference(NamedTuple):
    """Mean of the second list less that of the first."""

    value: float
    low: float
    """Lower end of the interval that holds the true difference in 95 of 100 such experiments."""
    high: float
    p: float
    """How often equal arms would come out as far apart as these, or farther: 0 to 1."""

    @property
    def reach(self) -> float:
        """The largest difference, either way, that the interval allows."""
        return max(abs(self.low), abs(self.high))


def paired(first: Sequence[float], second: Sequence[float]) -> Difference | None:
    """Student's t of the differences, place by place.

    Returns:
        None where there is no spread to judge by: fewer than two pairs, or the same difference in all of them.
    """
    from scipy import stats  # here, since it takes a while to import and most of the package does without

    differences = np.subtract(second, first)
    if len(differences) < 2 or _is_constant(differences, [*first, *second]):
        return None
    return _difference(stats.ttest_1samp(differences, 0.0), float(differences.mean()))


def unpaired(first: Sequence[float], second: Sequence[float]) -> Difference | None:
    """Welch's t: two lists of any lengths, whose spreads may differ.

    Returns:
        None where there is no spread to judge by: fewer than two numbers in a list, or all of each list are the same.
    """
    from scipy import stats

    if min(len(first), len(second)) < 2 or all(_is_constant(each, each) for each in (first, second)):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # one of the lists may well be the same number thrice
        test = stats.ttest_ind(second, first, equal_var=False)
    return _difference(test, float(np.mean(second) - np.mean(first)))


def over_images(first: Sequence[Collection[int]], second: Sequence[Collection[int]], images: int) -> Difference | None:
    """The same networks on other images: Student's t of the differences, image by image.

    Args:
        first: for each network of one arm, which images it reads wrongly.
        second: those of the other arm; all read the same images.
        images: how many these are.

    Returns:
        Difference of the arms' mean error rates, from -1 to 1; None if no network of one arm answers otherwise.
    """
    rates = np.zeros((2, images))
    for rate, arm in zip(rates, (first, second), strict=True):
        for wrong in arm:
            rate[list(wrong)] += 1 / len(arm)
    return paired(rates[0].tolist(), rates[1].tolist())


def holm(values: Sequence[float]) -> list[float]:
    """Each p as if it stood alone, so that all together raise a false alarm in 5 of 100 cases at most (Holm, 1979).

    The smallest of m is multiplied by m, the next by m - 1, and so on; none becomes smaller than one before it.
    """
    adjusted = [0.0] * len(values)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        largest = max(largest, min(1.0, (len(values) - rank) * values[place]))
        adjusted[place] = largest
    return adjusted


def _difference(test: Any, value: float) -> Difference:
    interval = test.confidence_interval(CONFIDENCE)
    return Difference(value, float(interval.low), float(interval.high), float(test.pvalue))


def _is_constant(values: Sequence[float] | np.ndarray, scale: Sequence[float]) -> bool:
    return float(np.ptp(values)) <= _ROUNDING * max(map(abs, scale), default=0.0)
