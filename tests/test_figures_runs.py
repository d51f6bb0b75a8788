"""Figures of the experiments: seeds, verdicts and calibration stand where they were measured."""

from __future__ import annotations

import pytest
from capsnet_book import figures
from capsnet_book.experiments.plan import Claim, Experiments
from capsnet_book.experiments.statistics import Difference
from capsnet_book.experiments.tables import COLUMNS, Numbers, results_of
from capsnet_book.experiments.verdicts import Verdict
from capsnet_book.figures._style import side_by_side

EXPERIMENTS = Experiments.read()
TABLE = EXPERIMENTS.tables["mnist"]


def test_points_stand_at_the_errors_of_the_seeds():
    figure = figures.seed_points(EXPERIMENTS, TABLE)
    (axes,) = figure.axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    for row in TABLE.rows:
        errors = [100 * result["test"]["error"] for result in results_of(EXPERIMENTS, row.run)]
        if not errors:
            assert row.label not in names
            continue
        place = names.index(row.label)
        here = [line for line in axes.lines if {round(y) for y in line.get_ydata()} == {place}]
        filled = [x for line in here if line.get_marker() == "o" for x in line.get_xdata()]
        assert filled == pytest.approx(errors)
        hollow = [x for line in here if line.get_marker() == "D" for x in line.get_xdata()]
        assert hollow == ([float(row.paper.split()[0])] if row.paper else [])


def test_ten_seeds_stay_in_their_row():
    assert side_by_side(1, 0.14) == [0]
    assert side_by_side(3, 0.14) == pytest.approx([-0.14, 0, 0.14])
    assert side_by_side(10, 0.14)[::9] == pytest.approx([-0.3, 0.3])


def verdict(mean: float, difference: Difference | None) -> Verdict:
    claim, column = Claim(f"claim {mean}", "a", "b", "error"), COLUMNS["error"]
    value = difference.value if difference else 0.1
    return Verdict(claim, column, Numbers([mean - value]), Numbers([mean]), difference, "", None, 1.0)


def test_a_verdict_is_drawn_relative_to_the_larger_mean():
    found = [verdict(2.0, Difference(0.5, -0.2, 1.8, 0.2)), verdict(0.5, None)]
    (axes,) = figures.verdict_chart(found).axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["claim 2.0", "claim 0.5"]
    drawn = [(list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines[1:]]
    expected = [([-10, 60], [0, 0]), ([25], [0]), ([60], [0]), ([20], [1])]  # 90 lies beyond the edge
    assert drawn == [(pytest.approx(x), y) for x, y in expected]


def test_reliability_shows_the_shares_of_bins_with_enough_images():
    calibration = {"count": [0, 10, 50, 200], "right": [0, 9, 30, 190], "mean_length": [None, 0.3, 0.6, 0.9]}
    records = [{"calibration": {"test": calibration}}, {}, {"calibration": {"test": calibration}}]
    figure = figures.reliability({"one": records, "other": records[:1]}, {"clean": "test"})
    (axes,) = figure.axes
    lines = [(list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines[1:]]
    assert lines == [([0.6, 0.9], [0.6, 0.95])] * 3
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["one", "other"]
