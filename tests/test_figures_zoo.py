"""The zoo's figure: seeds and paired differences stand where they were measured."""

from __future__ import annotations

import numpy as np
import pytest
from capsnet_book import figures
from capsnet_book.race.plan import Plan, recorded_runs
from scipy import stats


def test_differences_are_paired_by_seed_with_students_interval():
    runs = recorded_runs(Plan("digits", "mnist", 12, range(10)), 60_000)
    runs = {name: runs[name][:3] for name in ("paper", "even")}
    errors = {name: np.array([100 * each.test["error"] for each in records]) for name, records in runs.items()}
    points, apart = figures.zoo_compared(runs).axes
    for place, values in enumerate(errors.values()):
        drawn = [line.get_xdata() for line in points.lines if round(np.mean(line.get_ydata())) == place]
        assert list(drawn[0]) == pytest.approx(values)
        assert list(drawn[1]) == pytest.approx([values.mean()] * 2)
    differences = errors["even"] - errors["paper"]
    half = stats.t.ppf(0.975, 2) * differences.std(ddof=1) / np.sqrt(3)
    interval, mark, _ = apart.lines
    assert list(interval.get_xdata()) == pytest.approx([differences.mean() - half, differences.mean() + half])
    assert list(mark.get_xdata()) == pytest.approx([differences.mean()])


def test_two_seeds_get_a_hollow_mark_and_no_interval():
    runs = recorded_runs(Plan("digits", "mnist", 12, range(2)), 60_000)
    _, apart = figures.zoo_compared({name: runs[name] for name in ("paper", "even")}, "bent").axes
    (mark, _) = apart.lines
    assert mark.get_markerfacecolor() != mark.get_color()
