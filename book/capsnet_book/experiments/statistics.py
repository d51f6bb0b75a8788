"""How far a difference is to be trusted: its interval, its p, and what remains of p among several questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

CONFIDENCE = 0.95
POWER = 0.8
"""Chance to see the smallest difference that counts as one which could have been seen."""
FEW = 5
"""Fewer seeds carry no small p: see `carried_p`."""
TOO_OFTEN = 5
Numbers = Sequence[float] | np.ndarray
_ROUNDING = 1e-20
"""A variance below this is that of rounding."""


class Difference(NamedTuple):
    """Mean of the second list less that of the first."""

    value: float
    low: float
    """Lower end of the interval that holds the true difference in 95 of 100 such experiments."""
    high: float
    p: float
    """How often equal arms would come out as far apart as these, or farther: 0 to 1."""
    detectable: float
    """The smallest true difference that four such experiments of five would see, at this spread."""

    def times(self, factor: float) -> Difference:
        """The same in another unit."""
        value, low, high, p, detectable = self
        return Difference(factor * value, factor * low, factor * high, p, factor * detectable)


def paired(first: Numbers, second: Numbers) -> Difference | None:
    """Student's t of the differences, place by place.

    Returns:
        None where there is no spread to judge by: fewer than two pairs, or the same difference in all of them.
    """
    if min(len(first), len(second)) < 2:
        return None
    differences = np.subtract(second, first)
    return _judged(float(differences.mean()), [_of_mean(differences)])


def unpaired(first: Numbers, second: Numbers) -> Difference | None:
    """Welch's t: two lists of any lengths, whose spreads may differ.

    Returns:
        None where there is no spread to judge by: fewer than two numbers in a list, or all of each list are the same.
    """
    if min(len(first), len(second)) < 2:
        return None
    return _judged(
        float(np.mean(second) - np.mean(first)), [_of_mean(each) for each in (first, second)]
    )


def two_way(first: ArrayLike, second: ArrayLike, *, in_pairs: bool = True) -> Difference | None:
    """Over seeds and images: both the networks and the images are a sample of many.

    The variance of the mean is that over seeds, plus that over images, less what both count (what is left when seed
    and image are taken out).

    Args:
        first: [S, N], 1 where the network of a seed misreads an image, else 0.
        second: the other arm's, of the same images in the same order.
        in_pairs: both have the same seeds, in the same order; otherwise each arm has seeds of its own.

    Returns:
        Difference of the error rates, from -1 to 1; None for fewer than two seeds or without any spread.
    """
    arms = [np.asarray(each, dtype=float) for each in (first, second)]
    if min(map(len, arms)) < 2:
        return None
    images = arms[1].mean(axis=0) - arms[0].mean(axis=0)
    parts = [_of_mean(images)]
    for sample in [arms[1] - arms[0]] if in_pairs else arms:
        seeds = sample.mean(axis=1)
        rest = sample - seeds[:, None] - sample.mean(axis=0) + sample.mean()
        free = (len(seeds) - 1) * (len(images) - 1)
        parts += [_of_mean(seeds), (-float((rest**2).sum()) / free / rest.size, free)]
    if (
        sum(variance for variance, _ in parts) < max(parts)[0]
    ):  # what is subtracted is an estimate, too
        parts = [max(parts)]
    return _judged(float(arms[1].mean() - arms[0].mean()), parts)


def carried_p(p: float, seeds: int) -> float:
    """Return p as far as so many seeds can carry it: below `FEW` of them `TOO_OFTEN` times p, at most 1.

    With three seeds, Satterthwaite's degrees of freedom make a small p come three to five times too often (simulated,
    with the spreads of these runs); with ten they do not.
    """
    return min(1.0, TOO_OFTEN * p) if seeds < FEW else p


def holm(values: Sequence[float]) -> list[float]:
    """Each p as if it stood alone, so that all together raise a false alarm in 5 of 100 cases at most (Holm, 1979).

    The smallest of m is multiplied by m, the next by m - 1, and so on; none becomes smaller than one before it.
    """
    order = np.argsort(values)
    adjusted = np.empty(len(values))
    adjusted[order] = np.maximum.accumulate(np.sort(values) * np.arange(len(values), 0, -1)).clip(
        max=1
    )
    return adjusted.tolist()


def _of_mean(values: ArrayLike) -> tuple[float, int]:
    """Variance of a mean, and the degrees of freedom that it is known with."""
    many = np.asarray(values, dtype=float)
    return float(many.var(ddof=1)) / len(many), len(many) - 1


def _judged(value: float, parts: Sequence[tuple[float, int]]) -> Difference | None:
    """A value whose variance is the sum of these, with Satterthwaite's degrees of freedom; None of no variance."""
    from scipy import (
        stats,
    )  # here, since it takes a while to import and most of the package does without

    variance = sum(each for each, _ in parts)
    if variance < _ROUNDING:
        return None
    t = stats.t(variance**2 / sum(each**2 / freedom for each, freedom in parts))
    error, most = variance**0.5, float(t.ppf((1 + CONFIDENCE) / 2))
    p, seen = float(2 * t.sf(abs(value) / error)), float(most + t.ppf(POWER))
    return Difference(value, value - most * error, value + most * error, p, seen * error)
