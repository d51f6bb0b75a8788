"""statistics.py: intervals and p against their definitions, by simulation and by counting."""

from __future__ import annotations

import numpy as np
import pytest
from capsnet_book.experiments.statistics import carried_p, holm, paired, two_way, unpaired
from scipy import stats


def test_sleep_of_ten_patients_as_student_had_it():
    # Student, "The probable error of a mean", 1908: hours of additional sleep under two drugs.
    first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    both = paired(first, second)
    assert both.value == pytest.approx(1.58)
    assert (both.low, both.high) == pytest.approx((0.70, 2.46), abs=0.005)
    assert both.p == pytest.approx(0.00283, abs=1e-5)
    apart = unpaired(first, second)  # Welch, with 17.8 degrees of freedom
    assert (apart.low, apart.high) == pytest.approx((-0.205, 3.365), abs=5e-4)
    assert apart.p == pytest.approx(0.0794, abs=1e-4)


def test_a_difference_that_is_always_the_same_has_no_spread_though_the_lists_have():
    assert paired([0.49, 0.57, 0.55], [0.44, 0.52, 0.50]) is None
    assert unpaired([0.49, 0.57, 0.55], [0.44, 0.52, 0.50]) is not None


def test_two_way_is_mcnemars_where_all_seeds_are_the_same():
    # 30 that only the first misreads, 12 that only the second does, 5 that both do
    tables = np.zeros((2, 2, 10_000))
    tables[0, :, [*range(30), *range(100, 105)]] = 1
    tables[1, :, [*range(50, 62), *range(100, 105)]] = 1
    tables[1, 1, 61] = 0  # else there is no spread over seeds
    difference = two_way(*tables)
    assert difference.value == pytest.approx((11.5 - 30) / 10_000)
    z = (30 - 12) / np.sqrt(30 + 12)  # McNemar, 1947, as a normal deviate
    assert stats.norm.isf(difference.p / 2) == pytest.approx(z, rel=0.04)


@pytest.mark.parametrize("in_pairs", [True, False])
@pytest.mark.parametrize(("of_seeds", "of_images"), [(0.02, 0.0), (0.0, 0.2), (0.02, 0.2)])
def test_the_two_way_interval_holds_the_truth_whether_seeds_or_images_matter(
    of_seeds, of_images, in_pairs
):
    draw = np.random.default_rng(3)
    held, times, seeds, images = 0, 400, (8, 8) if in_pairs else (8, 6), 300
    for _ in range(times):
        harder = of_images * draw.normal(size=images)
        first, second = (
            0.5
            + of_seeds * draw.normal(size=(n, 1))
            + sign * harder
            + 0.3 * draw.normal(size=(n, images))
            for n, sign in zip(seeds, (0, 1), strict=True)
        )
        difference = two_way(first, second, in_pairs=in_pairs)
        held += difference.low <= 0 <= difference.high
    assert 0.92 <= held / times <= 0.99


def test_holm_multiplies_by_how_many_are_left_and_never_falls():
    assert holm([0.01, 0.04, 0.03, 0.005, 0.9]) == pytest.approx([0.04, 0.09, 0.09, 0.025, 0.9])
    assert holm([]) == [] and holm([0.3]) == [0.3]


def test_few_seeds_carry_no_small_p():
    assert carried_p(1e-3, 5) == 1e-3
    assert carried_p(1e-3, 4) == pytest.approx(5e-3)
    assert carried_p(0.3, 3) == 1
