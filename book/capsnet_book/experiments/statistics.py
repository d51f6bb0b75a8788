"""How far a difference is to be trusted: its interval, its p, and what remains of p among several questions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

CONFIDENCE = 0.95
POWER = 0.8
"""Chance to see the smallest difference that counts as one which could have been seen."""
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
    error: float
    """Standard error of the value."""
    freedom: float
    """Degrees of freedom of Student's t."""

    @property
    def reach(self) -> float:
        """The largest difference, either way, that the interval allows."""
        return max(abs(self.low), abs(self.high))

    @property
    def detectable(self) -> float:
        """The smallest true difference that four such experiments of five would see, at this spread."""
        from scipy import stats

        t = stats.t(self.freedom)
        return float(self.error * (t.ppf((1 + CONFIDENCE) / 2) + t.ppf(POWER)))

    def times(self, factor: float) -> Difference:
        """The same in another unit."""
        value, low, high, p, error, freedom = self
        return Difference(factor * value, factor * low, factor * high, p, factor * error, freedom)


def paired(first: Sequence[float], second: Sequence[float]) -> Difference | None:
    """Student's t of the differences, place by place.

    Returns:
        None where there is no spread to judge by: fewer than two pairs, or the same difference in all of them.
    """
    differences = np.subtract(second, first)
    if len(differences) < 2 or _is_constant(differences, [*first, *second]):
        return None
    error = float(differences.std(ddof=1) / np.sqrt(len(differences)))
    return _difference(float(differences.mean()), error, len(differences) - 1)


def unpaired(first: Sequence[float], second: Sequence[float]) -> Difference | None:
    """Welch's t: two lists of any lengths, whose spreads may differ.

    Returns:
        None where there is no spread to judge by: fewer than two numbers in a list, or all of each list are the same.
    """
    if min(len(first), len(second)) < 2 or all(_is_constant(each, each) for each in (first, second)):
        return None
    parts = [float(np.var(each, ddof=1)) / len(each) for each in (first, second)]
    return _difference(float(np.mean(second) - np.mean(first)), *_sum_of(parts, (len(first) - 1, len(second) - 1)))


def two_way(first: ArrayLike, second: ArrayLike, *, in_pairs: bool = True) -> Difference | None:
    """Over seeds and images: both the networks and the images are a sample of many.

    The variance of the mean is that over seeds, plus that over images, less what both count (what is left when seed
    and image are taken out); t has Satterthwaite's degrees of freedom.

    Args:
        first: [S, N], 1 where the network of a seed misreads an image, else 0.
        second: the other arm's, of the same images in the same order.
        in_pairs: both have the same seeds, in the same order; otherwise each arm has seeds of its own.

    Returns:
        Difference of the error rates, from -1 to 1; None for fewer than two seeds or without any spread.
    """
    arms = [np.asarray(each, dtype=float) for each in (first, second)]
    if min(map(len, arms)) < 2 or all(_is_constant(arm.mean(axis=1), [1.0]) for arm in arms):
        return None
    value = float(arms[1].mean() - arms[0].mean())
    images = arms[1].mean(axis=0) - arms[0].mean(axis=0)
    parts = [float(images.var(ddof=1)) / len(images)]
    freedom: list[float] = [len(images) - 1]
    for sample in [arms[1] - arms[0]] if in_pairs else arms:
        seeds = sample.mean(axis=1)
        rest = sample - seeds[:, None] - sample.mean(axis=0) + sample.mean()
        free = (len(seeds) - 1) * (len(images) - 1)
        parts += [float(seeds.var(ddof=1)) / len(seeds), -float((rest**2).sum()) / free / rest.size]
        freedom += [len(seeds) - 1, free]
    if sum(parts) < max(parts):  # what is subtracted is an estimate, too
        largest = parts.index(max(parts))
        parts, freedom = [parts[largest]], [freedom[largest]]
    return _difference(value, *_sum_of(parts, freedom))


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


def _sum_of(variances: Sequence[float], freedom: Sequence[float]) -> tuple[float, float]:
    """Standard error and Satterthwaite's degrees of freedom of a sum of variances."""
    total = sum(variances)
    return float(np.sqrt(total)), total**2 / sum(v**2 / f for v, f in zip(variances, freedom, strict=True))


def _difference(value: float, error: float, freedom: float) -> Difference:
    from scipy import stats  # here, since it takes a while to import and most of the package does without

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        t: Any = stats.t(freedom)
        reach = float(t.ppf((1 + CONFIDENCE) / 2)) * error
        return Difference(value, value - reach, value + reach, float(2 * t.sf(abs(value) / error)), error, freedom)


def _is_constant(values: ArrayLike, scale: Sequence[float]) -> bool:
    return float(np.ptp(values)) <= _ROUNDING * max(map(abs, scale), default=0.0)
