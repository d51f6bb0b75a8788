"""Differences between two arms: interval, p, and Holm's correction for several questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

CONFIDENCE = 0.95
POWER = 0.8
"""Chance of seeing the difference that `Difference.detectable` names."""
FEW = 5
"""Below this number of seeds a small p is not to be trusted: see `carried_p`."""
TOO_OFTEN = 5
Numbers = Sequence[float] | np.ndarray
_ROUNDING = 1e-20
"""A variance below this is due to rounding."""


class Difference(NamedTuple):
    """The mean of the second list minus that of the first."""

    value: float
    low: float
    """Lower end of the interval that holds the true difference in 95 of 100 such experiments."""
    high: float
    p: float
    """Probability that equal arms are as far apart as these, or farther, 0 to 1."""
    detectable: float
    """The smallest true difference that four of five such experiments would see."""

    def times(self, factor: float) -> Difference:
        """Return the difference in another unit."""
        value, low, high, p, detectable = self
        return Difference(factor * value, factor * low, factor * high, p, factor * detectable)


def paired(first: Numbers, second: Numbers) -> Difference | None:
    """Compare pairs of numbers, by Student's t of their differences.

    Returns:
        None without a spread: fewer than two pairs, or the same difference in all of them.
    """
    if min(len(first), len(second)) < 2:
        return None
    differences = np.subtract(second, first)
    return _difference(float(differences.mean()), [_variance_of_mean(differences)])


def unpaired(first: Numbers, second: Numbers) -> Difference | None:
    """Compare two lists of any lengths, whose spreads may differ, by Welch's t.

    Returns:
        None without a spread: fewer than two numbers in a list, or equal numbers in both lists.
    """
    if min(len(first), len(second)) < 2:
        return None
    value = float(np.mean(second) - np.mean(first))
    return _difference(value, [_variance_of_mean(first), _variance_of_mean(second)])


def two_way(first: ArrayLike, second: ArrayLike, *, in_pairs: bool = True) -> Difference | None:
    """Compare error rates over seeds and images: both are samples of many.

    The variance of the mean is that over seeds plus that over images, minus the variance that both
    count (the one that is left when the means of seed and image are subtracted).

    Args:
        first: [S, N], 1 where the network of a seed misreads an image, else 0.
        second: the other arm's, of the same images in the same order.
        in_pairs: whether both have the same seeds, in the same order.

    Returns:
        Difference of the error rates, from -1 to 1; None for fewer than two seeds or without any
        spread.
    """
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if min(len(first), len(second)) < 2:
        return None
    by_image = second.mean(axis=0) - first.mean(axis=0)
    variances = [_variance_of_mean(by_image)]
    for sample in [second - first] if in_pairs else [first, second]:
        by_seed = sample.mean(axis=1)
        residual = sample - by_seed[:, None] - sample.mean(axis=0) + sample.mean()
        freedom = (len(by_seed) - 1) * (len(by_image) - 1)
        counted_twice = float((residual**2).sum()) / freedom / residual.size
        variances += [_variance_of_mean(by_seed), (-counted_twice, freedom)]
    # The subtracted variance is an estimate as well, and may be too large.
    largest = max(variances)
    if sum(variance for variance, _ in variances) < largest[0]:
        variances = [largest]
    return _difference(float(second.mean() - first.mean()), variances)


def carried_p(p: float, seeds: int) -> float:
    """Return p, multiplied by `TOO_OFTEN` below `FEW` seeds, and at most 1.

    With three seeds, Satterthwaite's degrees of freedom make a small p three to five times too
    frequent (simulated, with the spreads of these runs); with ten they do not.
    """
    return min(1.0, TOO_OFTEN * p) if seeds < FEW else p


def holm(values: Sequence[float]) -> list[float]:
    """Adjust each p so that all together raise a false alarm in 5 of 100 cases at most.

    Holm, 1979: the smallest of m is multiplied by m, the next by m - 1, and so on; none becomes
    smaller than one before it.
    """
    order = np.argsort(values)
    multiplied = np.sort(values) * np.arange(len(values), 0, -1)
    adjusted = np.empty(len(values))
    adjusted[order] = np.maximum.accumulate(multiplied).clip(max=1)
    return adjusted.tolist()


def _variance_of_mean(values: ArrayLike) -> tuple[float, int]:
    """Return the variance of a mean, and its degrees of freedom."""
    sample = np.asarray(values, dtype=float)
    return float(sample.var(ddof=1)) / len(sample), len(sample) - 1


def _difference(value: float, variances: Sequence[tuple[float, int]]) -> Difference | None:
    """Return a difference whose variance is a sum, with Satterthwaite's degrees of freedom.

    Args:
        value: of the difference.
        variances: terms of the sum, and the degrees of freedom of each.

    Returns:
        None if the sum is no larger than rounding.
    """
    from scipy import stats  # here: it is slow to import, and most of the package does without

    total = sum(variance for variance, _ in variances)
    if total < _ROUNDING:
        return None
    freedom = total**2 / sum(variance**2 / degrees for variance, degrees in variances)
    t = stats.t(freedom)
    error = total**0.5
    half_width = float(t.ppf((1 + CONFIDENCE) / 2))
    p = float(2 * t.sf(abs(value) / error))
    detectable = float(half_width + t.ppf(POWER))
    return Difference(
        value,
        low=value - half_width * error,
        high=value + half_width * error,
        p=p,
        detectable=detectable * error,
    )
